// Colours for the three languages: words, numbers, comments, strings and operators.

import { StreamLanguage } from "/vendor/vendor.js";

const words = (text) => new Set(text.split(/\s+/));

const fair = {
  keywords: words(`abstract const param type enum record chan event synchronous process fairness assume property
    invariant reachable deadlockfree var init def timer fair weak strong from when where sync choose let if then else
    for in assert skip set under choice system of view expect`),
  operators: words(`always eventually next until release unless weakuntil forall exists count sum and or not implies
    iff mod min max abs len empty full enabled moves deadlock expired off G F X U W R A E`),
  types: words("bool int array any"),
  atoms: words("true false"),
};

const promela = {
  keywords: words(`active assert atomic break c_code d_step do else eval fi goto hidden if init inline ltl never notrace
    od of priority printf proctype provided return run select show skip timeout trace typedef unless xr xs for in`),
  operators: words("always eventually until weakuntil stronguntil release implies equivalent next len empty full nempty nfull enabled pc_value X U W V"),
  types: words("bit bool byte chan int mtype pid short unsigned"),
  atoms: words("true false np_ _ _pid _nr_pr _last"),
};

const csp = {
  keywords: words(`var define enum channel hvar import alphabet atomic if ifa ifb case default else while assert
    deadlockfree divergencefree deterministic nonterminating reaches refines with min max interrupt tau Skip Stop call wf sf`),
  operators: words("F G X U R V call"),
  types: words("int bool"),
  atoms: words("true false"),
};

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
