" Made of crates/studio/web/words.js by editors/vscode/scripts/grammar.mjs.
if exists("b:current_syntax")
  finish
endif
syntax iskeyword @,48-57,_,'
syntax keyword fairKeyword abstract as assert assume chan choice choose const deadlockfree def delay else end enum event expect fair fairness for frame from holds if import in init inter interference invariant just leads let minus of only param process property ranking reachable record set skip spawn spawned strong subset subsets sync synchronous system then timer to type under union unknown var view violated weak when where with
syntax keyword fairOperator A E F G R U W X abs always and count deadlock empty enabled eventually exists expired forall full historically iff implies len max min mod moves next not off once or previously release since sum unless until weakuntil
syntax keyword fairType any array bag bool int map nat option seq
syntax keyword fairBoolean false true
syntax match fairNumber /\<\d\+\>/
syntax match fairComment "//.*$"
syntax region fairComment start="/\*" end="\*/"
highlight default link fairKeyword Keyword
highlight default link fairOperator Operator
highlight default link fairType Type
highlight default link fairBoolean Boolean
highlight default link fairNumber Number
highlight default link fairComment Comment
let b:current_syntax = "fair"
