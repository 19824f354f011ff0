;;; emacs.el --- What Emacs makes of `fair lsp', in batch mode: see run.sh.  -*- lexical-binding: t; -*-

(require 'eglot)

(defun trial-wait (what is-done)
  "Wait until IS-DONE, or fail and say WHAT."
  (let ((n 0))
    (while (not (funcall is-done))
      (when (> (setq n (1+ n)) 200) (error "%s: nothing after 20 s" what))
      (accept-process-output nil 0.1))))

(defun trial-go (text)
  "Move to TEXT; its line."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0))
  (line-number-at-pos))

(defun trial (file mode declared used hover renamed)
  "Try FILE, which opens in MODE; the name at USED is DECLARED, and HOVER and RENAMED are to appear."
  (find-file (expand-file-name file (getenv "TRIAL")))
  (unless (eq major-mode mode) (error "%s opens in %s" file major-mode))
  ;; What `eglot-ensure' waits for happens after a command.
  (run-hooks 'post-command-hook)
  (trial-wait (concat file ": the server") #'eglot-current-server)

  (let ((line (trial-go declared)) said)
    (trial-go used)
    (setq said (format "%S" (jsonrpc-request (eglot-current-server) :textDocument/hover
                                             (eglot--TextDocumentPositionParams))))
    (unless (string-search hover said) (error "%s: hovering says %s" file said))
    (call-interactively #'xref-find-definitions)
    (unless (= (line-number-at-pos) line) (error "%s: definition in line %d" file (line-number-at-pos)))
    (trial-go used)
    (eglot-rename "renamed")
    (trial-go renamed)
    (when (eq mode 'fair-mode)
      (forward-line 1)
      (insert "var spaced:0..1=0\n")
      (eglot-format-buffer)
      (trial-go "var spaced : 0..1 = 0")))

  (flymake-mode 1)
  (goto-char (point-max))
  (insert "?\n")
  (eglot--signal-textDocument/didChange)
  (flymake-start)
  (trial-wait (concat file ": diagnostics") #'flymake-diagnostics)
  (message "%s: hover, definition, renaming, diagnostics" file)
  (set-buffer-modified-p nil))

(setq eglot-sync-connect t eglot-confirm-server-edits nil eglot-confirm-server-initiated-edits nil
      xref-prompt-for-identifier nil)
(trial "toggle.fair" 'fair-mode "var x" "x == 1" "0..1" "var renamed : 0..1")
(trial "alternating_bit.pml" 'fair-promela-mode "byte sent, received" "received == sent" "byte"
       "byte sent, renamed;")
(trial "milner.csp" 'fair-csp-mode "Ready(i) =" "Ready(i);" "process Ready(i)" "renamed(i) = a.i")
;;; emacs.el ends here
