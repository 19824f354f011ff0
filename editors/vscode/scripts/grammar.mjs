// Writes TextMate grammars from the words that the studio colours texts by.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "../../../crates/studio/web/words.js");
const code = readFileSync(source, "utf8");
const languages = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);

/** A pattern that matches exactly these words. */
function anyOf(words) {
  const escaped = [...words].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return `(?<![\\p{L}\\p{N}_'])(?:${escaped.sort().join("|")})(?![\\p{L}\\p{N}_'])`;
}

/** The grammar of a language with these words. */
export function grammar(name, table) {
  return {
    $schema: "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
    name,
    scopeName: `source.${name}`,
    patterns: [
      { name: `comment.line.double-slash.${name}`, match: "//.*$" },
      { name: `comment.block.${name}`, begin: "/\\*", end: "\\*/" },
      { name: `string.quoted.double.${name}`, begin: '"', end: '"|$' },
      { name: `meta.preprocessor.${name}`, match: "^\\s*#\\s*\\w+" },
      { name: `keyword.control.${name}`, match: anyOf(table.keywords) },
      { name: `storage.type.${name}`, match: anyOf(table.types) },
      { name: `constant.language.${name}`, match: anyOf(table.atoms) },
      { name: `keyword.operator.word.${name}`, match: anyOf(table.operators) },
      { name: `constant.numeric.${name}`, match: "(?<![\\p{L}_])\\d[\\d_]*" },
      { name: `keyword.operator.${name}`, match: "->|:=|<->|\\|\\||&&|=>|==|!=|<=|>=|\\[\\]|<>|\\.\\.|[!?@+\\-*/%<>=|&]" },
    ],
  };
}

const folder = join(here, "../syntaxes");
mkdirSync(folder, { recursive: true });
for (const name of ["fair", "promela", "csp"]) {
  writeFileSync(join(folder, `${name}.tmLanguage.json`), JSON.stringify(grammar(name, languages[name]), null, 2));
}

// Vim reads a list of words, and so does Emacs.
const vim = (group, words) => `syntax keyword ${group} ${[...words].sort().join(" ")}`;
writeFileSync(
  join(here, "../../vim/syntax/fair.vim"),
  `" Made of crates/studio/web/words.js by editors/vscode/scripts/grammar.mjs.
if exists("b:current_syntax")
  finish
endif
syntax iskeyword @,48-57,_,'
${vim("fairKeyword", languages.fair.keywords)}
${vim("fairOperator", languages.fair.operators)}
${vim("fairType", [...languages.fair.types].filter((word) => !languages.fair.keywords.has(word)))}
${vim("fairBoolean", languages.fair.atoms)}
syntax match fairNumber /\\<\\d\\+\\>/
syntax match fairComment "//.*$"
syntax region fairComment start="/\\*" end="\\*/"
highlight default link fairKeyword Keyword
highlight default link fairOperator Operator
highlight default link fairType Type
highlight default link fairBoolean Boolean
highlight default link fairNumber Number
highlight default link fairComment Comment
let b:current_syntax = "fair"
`,
);
const lisp = (words) => [...words].sort().map((word) => `"${word}"`).join(" ");
writeFileSync(
  join(here, "../../emacs/fair-words.el"),
  `;;; fair-words.el --- Words of Fairground models  -*- lexical-binding: t; -*-
;; Made of crates/studio/web/words.js by editors/vscode/scripts/grammar.mjs.
(defconst fair-keywords '(${lisp(languages.fair.keywords)}))
(defconst fair-operators '(${lisp(languages.fair.operators)}))
(defconst fair-types '(${lisp(languages.fair.types)}))
(defconst fair-constants '(${lisp(languages.fair.atoms)}))
(provide 'fair-words)
;;; fair-words.el ends here
`,
);
