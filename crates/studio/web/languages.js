// Colours for the three languages: words, numbers, comments, strings and operators.

import { StreamLanguage } from "/vendor/vendor.js";
import { csp, fair, promela } from "/words.js";

function language(table) {
  return StreamLanguage.define({
    startState: () => ({ comment: false }),
    token(stream, state) {
      if (state.comment) {
        if (stream.skipTo("*/")) stream.match("*/"), (state.comment = false);
        else stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (stream.match("//")) return stream.skipToEnd(), "comment";
      if (stream.match("/*")) return (state.comment = true), "comment";
      if (stream.sol() && stream.match("#")) {
        if (!stream.match(/^(define|include|if|ifdef|ifndef|else|endif|undef|assert|import|alphabet)\b/)) return "meta";
        return "meta";
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
      if (stream.match(/^\d+/)) return "number";
      const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u);
      if (word) {
        if (table.keywords.has(word[0])) return "keyword";
        if (table.types.has(word[0])) return "typeName";
        if (table.atoms.has(word[0])) return "atom";
        if (table.operators.has(word[0])) return "operatorKeyword";
        return stream.match(/^\s*@/, false) || stream.match(/^\[[^\]]*\]\s*@/, false) ? "className" : "variableName";
      }
      if (stream.match(/^(->|:=|\|\||&&|<->|=>|==|!=|<=|>=|\[\]|<>|\.\.|::|[!?@+\-*/%<>=|&])/)) return "operator";
      stream.next();
      return "punctuation";
    },
    languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
  });
}

const table = { fair: language(fair), promela: language(promela), csp: language(csp) };

/** The language of a file, by its name. */
export function languageOf(path) {
  if (/\.(pml|promela|prm)$/.test(path)) return table.promela;
  if (/\.csp$/.test(path)) return table.csp;
  return table.fair;
}
