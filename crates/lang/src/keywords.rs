//! The words of the language, for editors.

/// Words that have a meaning of their own, everywhere or in some places.
pub(crate) const KEYWORDS: &[&str] = &[
    "abstract",
    "always",
    "and",
    "any",
    "array",
    "as",
    "assert",
    "assume",
    "bag",
    "bool",
    "chan",
    "choice",
    "choose",
    "const",
    "count",
    "deadlock",
    "deadlockfree",
    "def",
    "delay",
    "else",
    "enabled",
    "end",
    "enum",
    "event",
    "eventually",
    "exists",
    "expect",
    "expired",
    "fair",
    "fairness",
    "false",
    "for",
    "forall",
    "frame",
    "from",
    "historically",
    "holds",
    "if",
    "iff",
    "implies",
    "import",
    "in",
    "init",
    "int",
    "inter",
    "interference",
    "invariant",
    "just",
    "leads",
    "let",
    "map",
    "minus",
    "mod",
    "moves",
    "nat",
    "next",
    "not",
    "of",
    "off",
    "once",
    "only",
    "option",
    "or",
    "param",
    "previously",
    "process",
    "property",
    "ranking",
    "reachable",
    "record",
    "release",
    "seq",
    "set",
    "since",
    "skip",
    "spawn",
    "spawned",
    "strong",
    "subset",
    "subsets",
    "sum",
    "sync",
    "synchronous",
    "system",
    "then",
    "timer",
    "to",
    "true",
    "type",
    "under",
    "union",
    "unknown",
    "unless",
    "until",
    "var",
    "view",
    "violated",
    "weak",
    "weakuntil",
    "when",
    "where",
    "with",
];

#[cfg(test)]
mod tests {
    #[test]
    fn all_reserved_words_are_listed() {
        for word in crate::parser::reserved_words() {
            assert!(super::KEYWORDS.contains(&word), "`{word}` is missing");
        }
        assert!(super::KEYWORDS.is_sorted());
    }

    /// What is coloured in the studio and in editors.
    #[test]
    fn all_words_are_coloured() {
        let words = include_str!("../../studio/web/words.js");
        let fair = words.split("export const promela").next();
        let is_letter = |c: char| c.is_alphabetic();
        let coloured: Vec<&str> = fair.unwrap_or("").split(|c| !is_letter(c)).collect();
        for word in super::KEYWORDS {
            assert!(coloured.contains(word), "`{word}` is not in `words.js`");
        }
    }

    #[test]
    fn all_words_are_in_the_index_of_the_manual() {
        let manual = include_str!("../../../docs/reference/language.md");
        let (_, index) = manual.split_once("## Index").expect("there is an index");
        for word in super::KEYWORDS {
            let entry = format!("| `{word}` |");
            assert!(index.contains(&entry), "`{word}` is not in the index");
        }
    }
}
