//! Whatever the text, loading comes to an end without a panic.

use crate::support::load_with;

/// A small generator of pseudo-random numbers: SplitMix (G. Steele, D. Lea, C. Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

const WORDS: [&str; 72] = [
    "P",
    "Q",
    "x",
    "a",
    "c",
    "0",
    "1",
    "2",
    "P",
    "Q",
    "a",
    "->",
    "->",
    "->",
    "=",
    "=",
    ";",
    ";",
    ";",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "|||",
    "||",
    "[]",
    "<>",
    "[*]",
    "interrupt",
    "\\",
    "Skip",
    "Stop",
    "if",
    "ifa",
    "ifb",
    "else",
    "case",
    "default",
    ":",
    "atomic",
    "assert",
    "var",
    "channel",
    "#",
    "define",
    "assert",
    "alphabet",
    "enum",
    ".",
    "..",
    "!",
    "?",
    "@",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "&&",
    "|=",
    "deadlockfree",
    "refines",
    "reaches",
    "tau",
    "wf",
    "while",
    "call",
    "\"a\"",
];

#[test]
fn token_soup_does_not_panic() {
    let mut random = Random(1);
    for _ in 0..4000 {
        let n = 1 + random.below(60);
        let words: Vec<&str> = (0..n).map(|_| WORDS[random.below(WORDS.len())]).collect();
        load_with(&words.join(" "), 30);
    }
}

#[test]
fn damaged_models_do_not_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/csp");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());

    let mut random = Random(2);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable");
        let tokens: Vec<&str> = text.split_inclusive([' ', '\n', '.', ';', '(']).collect();
        for _ in 0..25 {
            let mut damaged: Vec<&str> = tokens.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                match random.below(3) {
                    0 => {
                        damaged.remove(at);
                    }
                    1 => damaged.insert(at, WORDS[random.below(WORDS.len())]),
                    _ => damaged[at] = WORDS[random.below(WORDS.len())],
                }
            }
            load_with(&damaged.concat(), 30);
        }
    }
}

#[test]
fn deep_texts_are_refused() {
    for open in ["(", "a{if (x == 0) {", "[x == 1 && (", "if (x == 0) {"] {
        let text = format!("var x = 0; P = {}", open.repeat(2000));
        let loaded = load_with(&text, 0);
        assert!(loaded.content.is_none());
    }
    let chain = format!("P = {} Stop; #assert P deadlockfree;", "a -> ".repeat(1500));
    assert_eq!(load_with(&chain, 0).diagnostics[0].code, "too-deep");
    let sum = format!(
        "var x = 0; P = e{{x = {} 1;}} -> Stop; #assert P deadlockfree;",
        "1 + ".repeat(3000)
    );
    assert_eq!(load_with(&sum, 0).diagnostics[0].code, "too-deep");
}
