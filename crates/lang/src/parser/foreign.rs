//! Words and signs of other languages, and what is written here instead.

/// Words that can stand where a step or statement begins in another language, whether they can name
/// a step here, and what is written here.
const WORDS: [(&str, bool, &str); 23] = [
    ("atomic", false, ATOMIC),
    ("d_step", false, ATOMIC),
    (
        "goto",
        false,
        "the target of a step follows an arrow: `name { effect } -> location`",
    ),
    ("while", false, REPEAT),
    ("do", true, REPEAT),
    ("od", false, REPEAT),
    ("loop", true, REPEAT),
    ("repeat", true, REPEAT),
    ("if", false, CHOICE),
    ("fi", false, CHOICE),
    ("elif", false, CHOICE),
    ("elseif", false, CHOICE),
    ("either", true, CHOICE),
    ("case", true, CHOICE),
    (
        "await",
        true,
        "what a step waits for follows `when`: `name when condition { effect }`",
    ),
    (
        "break",
        true,
        "a step leaves for a location: `name -> location`",
    ),
    (
        "return",
        true,
        "a step leaves for a location: `name -> location`",
    ),
    ("location", true, LOCATION),
    ("locations", true, LOCATION),
    ("state", true, LOCATION),
    ("states", true, LOCATION),
    (
        "printf",
        false,
        "a model prints nothing; traces show all values",
    ),
    (
        "var",
        false,
        "variables are declared in a process or outside of all processes; `let x = …` names a value in an effect",
    ),
];

const ATOMIC: &str = "every step is atomic, so leave the word out; what belongs together stands in one effect: `name { x := 1; y := 2 }`";

const REPEAT: &str = "a process repeats by going back to a location (`name -> location`); `for i in lo..hi { … }` repeats within one step";

const CHOICE: &str = "a choice between steps is several steps with guards (`a when x`, `b when !x`); within an effect it is `if condition { … } else { … }`";

const LOCATION: &str =
    "locations are not declared: `init`, `from` and `->` name them, as in `init idle`";

/// Words that begin declarations in other languages, and what is written here.
const DECLARATIONS: [(&str, &str); 16] = [
    (
        "proctype",
        "a process is declared by `process P { … }` or `process P(i in 1..3) { … }`",
    ),
    (
        "active",
        "a process is declared by `process P { … }` or `process P(i in 1..3) { … }`",
    ),
    (
        "thread",
        "a process is declared by `process P { … }` or `process P(i in 1..3) { … }`",
    ),
    (
        "module",
        "a model is one file of declarations without a frame around it",
    ),
    (
        "MODULE",
        "a model is one file of declarations without a frame around it",
    ),
    (
        "EXTENDS",
        "nothing has to be imported for numbers, arrays and sets; other files are imported by `import \"file.fair\"`",
    ),
    (
        "include",
        "other files are imported by `import \"file.fair\"`",
    ),
    (
        "INSTANCE",
        "other files are imported by `import \"file.fair\" as name with K = 3`",
    ),
    ("VARIABLE", "variables are declared by `var x : 0..3 = 0`"),
    ("VARIABLES", "variables are declared by `var x : 0..3 = 0`"),
    ("CONSTANT", "constants are declared by `const N = 3`"),
    ("CONSTANTS", "constants are declared by `const N = 3`"),
    (
        "mtype",
        "enumerations are declared by `enum Kind { data, ack }`",
    ),
    ("byte", "variables are declared by `var x : 0..255 = 0`"),
    ("ltl", "formulas are asked for by `property name: formula`"),
    (
        "let",
        "constants are declared by `const N = 3`, abbreviations by `def half = N / 2`",
    ),
];

/// What to write instead of a word where a step or statement begins.
pub(super) fn instead_of_word(word: &str) -> Option<&'static str> {
    let entry = WORDS.iter().find(|entry| entry.0 == word)?;
    Some(entry.2)
}

/// Can the word not name a step?
pub(super) fn is_foreign(word: &str) -> bool {
    WORDS.iter().any(|entry| entry.0 == word && !entry.1)
}

/// What to write instead of a word where a declaration begins.
pub(super) fn instead_of_declaration(word: &str) -> Option<&'static str> {
    let entry = DECLARATIONS.iter().find(|entry| entry.0 == word)?;
    Some(entry.1)
}

/// What to write instead of an operator before its operand.
pub(super) fn instead_of_prefix(word: &str) -> Option<&'static str> {
    Some(match word {
        "globally" | "henceforth" | "box" => "always",
        "finally" | "future" | "diamond" => "eventually",
        "never" => "always !",
        "nexttime" => "next",
        _ => return None,
    })
}

/// What to write instead of an operator between two operands.
pub(super) fn instead_of_operator(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "|" | "\\/" => "||",
        "&" | "/\\" => "&&",
        "<>" | "/=" | "#" => "!=",
        "=" | ":=" => "==",
        "=<" => "<=",
        "~>" | "-->" | "leadsto" | "leads_to" => "leads to",
        _ => return None,
    })
}
