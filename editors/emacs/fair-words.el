;;; fair-words.el --- Words of Fairground models  -*- lexical-binding: t; -*-
;; Made of crates/studio/web/words.js by editors/vscode/scripts/grammar.mjs.
(defconst fair-keywords '("abstract" "as" "assert" "assume" "chan" "choice" "choose" "const" "deadlockfree" "def" "delay" "else" "end" "enum" "event" "expect" "fair" "fairness" "for" "frame" "from" "holds" "if" "import" "in" "init" "inter" "interference" "invariant" "just" "leads" "let" "minus" "of" "only" "param" "process" "property" "ranking" "reachable" "record" "set" "skip" "spawn" "spawned" "strong" "subset" "subsets" "sync" "synchronous" "system" "then" "timer" "to" "type" "under" "union" "unknown" "var" "view" "violated" "weak" "when" "where" "with"))
(defconst fair-operators '("A" "E" "F" "G" "R" "U" "W" "X" "abs" "always" "and" "count" "deadlock" "empty" "enabled" "eventually" "exists" "expired" "forall" "full" "historically" "iff" "implies" "len" "max" "min" "mod" "moves" "next" "not" "off" "once" "or" "previously" "release" "since" "sum" "unless" "until" "weakuntil"))
(defconst fair-types '("any" "array" "bag" "bool" "int" "map" "nat" "option" "seq" "set"))
(defconst fair-constants '("false" "true"))
(provide 'fair-words)
;;; fair-words.el ends here
