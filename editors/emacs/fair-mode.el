;;; fair-mode.el --- Mode for models of Fairground  -*- lexical-binding: t; -*-

;; Put this folder on `load-path' and write (require 'fair-mode).
;; With Emacs 29 or later, M-x eglot starts the language server `fair lsp'.

;;; Code:

(require 'fair-words)

(defvar fair-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?' "w" table)
    table))

(defvar fair-font-lock-keywords
  `((,(regexp-opt fair-keywords 'words) . font-lock-keyword-face)
    (,(regexp-opt fair-types 'words) . font-lock-type-face)
    (,(regexp-opt fair-constants 'words) . font-lock-constant-face)
    (,(regexp-opt fair-operators 'words) . font-lock-builtin-face)))

;;;###autoload
(define-derived-mode fair-mode prog-mode "Fair"
  "Mode for models of Fairground."
  (setq-local font-lock-defaults '(fair-font-lock-keywords))
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local indent-tabs-mode nil))

;;;###autoload
(define-derived-mode fair-promela-mode prog-mode "Promela"
  "Mode for models in Promela that the language server of Fairground looks at."
  :syntax-table fair-mode-syntax-table
  (setq-local comment-start "/* ")
  (setq-local comment-end " */"))

;;;###autoload
(define-derived-mode fair-csp-mode prog-mode "CSP#"
  "Mode for models in CSP# that the language server of Fairground looks at."
  :syntax-table fair-mode-syntax-table
  (setq-local comment-start "// ")
  (setq-local comment-end ""))

;;;###autoload
(progn
  (add-to-list 'auto-mode-alist '("\\.fair\\'" . fair-mode))
  (add-to-list 'auto-mode-alist '("\\.\\(pml\\|promela\\|prm\\)\\'" . fair-promela-mode))
  (add-to-list 'auto-mode-alist '("\\.csp\\'" . fair-csp-mode)))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '((fair-mode fair-promela-mode fair-csp-mode) . ("fair" "lsp"))))

(provide 'fair-mode)
;;; fair-mode.el ends here
