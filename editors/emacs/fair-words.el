;;; fair-words.el --- Words of Fairground models  -*- lexical-binding: t; -*-
;; Made of crates/studio/web/words.js by editors/vscode/scripts/grammar.mjs.
(defconst fair-keywords '("abstract" "assert" "assume" "chan" "choice" "choose" "const" "deadlockfree" "def" "delay" "else" "end" "enum" "event" "expect" "fair" "fairness" "for" "from" "if" "in" "init" "inter" "interference" "invariant" "leads" "let" "minus" "of" "param" "process" "property" "reachable" "record" "set" "skip" "strong" "subset" "sync" "synchronous" "system" "then" "timer" "to" "type" "under" "union" "var" "view" "weak" "when" "where" "with"))
(defconst fair-operators '("A" "E" "F" "G" "R" "U" "W" "X" "abs" "always" "and" "count" "deadlock" "empty" "enabled" "eventually" "exists" "expired" "forall" "full" "historically" "iff" "implies" "len" "max" "min" "mod" "moves" "next" "not" "off" "once" "or" "previously" "release" "since" "sum" "unless" "until" "weakuntil"))
(defconst fair-types '("any" "array" "bool" "int" "nat" "option" "seq" "set"))
(defconst fair-constants '("false" "true"))
(provide 'fair-words)
;;; fair-words.el ends here
