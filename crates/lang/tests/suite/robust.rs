//! No text makes the front end panic, overflow the stack or run forever.

use crate::support::{load, show};
use source::Options;

/// A linear congruential generator: reproducible and without dependencies.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

const EXAMPLE: &str = "
const N = 2 // size
param M
enum Color { red, green }
record Msg { kind: Color, seq: 0..3 }
var m : Msg = Msg(red, 1)
var a, b : array[0..N-1] of bool = [i in 0..N-1: i == 0]
var n : int = -3
init a[0] -> b[0]
def f(x) = x + (sum i in 0..N-1: if a[i] then 1 else 0)
chan c[4] of (Color, 0..3)
chan r for i in 0..1 of bool
event go(0..N-1)
fairness weak+annotated
weak fair process P(id in 0..N-1) {
    var x : 0..3 = id
    init idle
    from idle, busy {
        strong fair choice enter(j in 0..N-1 where j != id) when f(x) > 0 c ! (red, x) { x := choose 0..3 where x != 2; for k in 0..1 { a[k] := !a[k] } } -> busy
        fair leave c ? (red, x) { let y = x; if y == 0 { skip } else { assert y > 0 } } -> idle
        sing sync go(id) { m.seq, n := x, n - 1; a := b } /* c */
    }
}
process Q { get r[0] ? _  put r[1] ! true }
assume []<> P[0].enter -> <>[] !(Q.get || enabled(go(1)))
property p under strong-global: always (exists i in 0..N-1 where i != M: P[i] @ idle U P[i].x == 0)
invariant v: forall i, j in 0..1: P[i].enter(1) -> a[i] <-> b[j]
reachable z: m.kind == green && moves(P[0]) && len(c) < 4
deadlockfree
";

#[test]
fn the_example_is_right() {
    let options = Options {
        defines: vec![("M".to_owned(), "1".to_owned())],
        ..Options::default()
    };
    let loaded = load(EXAMPLE, &options);
    assert_eq!(show(&loaded), "");
    assert!(loaded.model.is_some());
}

#[test]
fn truncation_at_every_byte() {
    for end in 0..EXAMPLE.len() {
        let Some(text) = EXAMPLE.get(..end) else {
            continue;
        };
        let loaded = load(text, &Options::default());
        let failed = loaded
            .diagnostics
            .iter()
            .any(|d| d.severity == base::Severity::Error);
        assert_eq!(loaded.model.is_none(), failed);
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(7);
    for _ in 0..2000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        let _ = load(&String::from_utf8_lossy(&bytes), &Options::default());
    }
}

/// Words of the example in any order, and the example with a few words replaced.
#[test]
fn token_soup() {
    let mut words: Vec<&str> = EXAMPLE
        .split_inclusive(&[' ', '\n', '(', ')', '[', ']', '.'])
        .collect();
    words.extend([
        "{",
        "}",
        "\n}\n",
        "->",
        "process",
        "property q: ",
        "99999999999",
        "1000000..9999999999 ",
    ]);
    let mut random = Random(11);
    for _ in 0..3000 {
        let length = random.below(60);
        let soup: String = (0..length)
            .map(|_| words[random.below(words.len())])
            .collect();
        let _ = load(&soup, &Options::default());
    }
    for _ in 0..3000 {
        let mut changed = words.clone();
        for _ in 0..=random.below(3) {
            let (from, to) = (random.below(words.len()), random.below(words.len()));
            changed[to] = words[from];
        }
        let _ = load(&changed.concat(), &Options::default());
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    let loaded = load(text, &Options::default());
    loaded.diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("!", ""),
        ("-", ""),
        ("[]", ""),
        ("a[", "]"),
        ("f(", ")"),
    ] {
        let text = format!("property p: {}x{}", open.repeat(n), close.repeat(n));
        assert_eq!(codes(&text), ["too-deep"], "{open}");
    }
    let blocks = format!("process P {{ a {{ {} }} }}", "if true {".repeat(n));
    assert_eq!(codes(&blocks)[0], "too-deep");
    let implications = format!("property p: {} true", "true ->".repeat(n));
    assert_eq!(codes(&implications), ["too-deep"]);
    let branches = format!("process P {{ a {{ {} }} }}", "if true { } else ".repeat(n));
    assert_eq!(codes(&branches)[0], "too-deep");
    assert!(!codes(&format!("const A = 1{}", ".a".repeat(n))).is_empty());
}

#[test]
fn allowed_nesting_is_accepted() {
    let text = format!("property p: {}true{}", "(".repeat(180), ")".repeat(180));
    assert_eq!(codes(&text), [""; 0]);
    let text = format!("var x : bool = true\nproperty p: {}x", "!".repeat(180));
    assert_eq!(codes(&text), [""; 0]);
}

#[test]
fn long_chains_are_accepted() {
    let n = 20_000;
    for chain in [" + x", " - x"] {
        let text = format!("var x : 0..1 = 0\nproperty p: x{} == 0", chain.repeat(n));
        assert_eq!(codes(&text), [""; 0], "{chain}");
    }
    for chain in [" && x == 0", " || x == 1", " && <> x == 0"] {
        let text = format!("var x : 0..1 = 0\nproperty p: x == 0{}", chain.repeat(n));
        let loaded = load(&text, &Options::default());
        assert!(loaded.model.is_some(), "{chain}: {}", show(&loaded));
    }
}

#[test]
fn exploding_definitions_are_refused() {
    let mut text = "var x : 0..1 = 0\ndef d0 = x\n".to_owned();
    for n in 1..60 {
        text += &format!("def d{n} = d{} + d{}\n", n - 1, n - 1);
    }
    assert!(codes(&text).contains(&"too-large"));

    let mut doubling = "def d0(k) = k\n".to_owned();
    for n in 1..60 {
        doubling += &format!("def d{n}(k) = d{}(k + k)\n", n - 1);
    }
    assert_eq!(
        codes(&format!("{doubling}const A = 1\nproperty p: d50(A) > 0")),
        [""; 0]
    );

    let unknown = format!("{doubling}var x : 0..1\nproperty p: d50(x) > 0");
    assert_eq!(codes(&unknown), ["too-large"]);
    let mut chain = "var x : 0..1 = 0\ndef d0 = x\n".to_owned();
    for n in 1..50_000 {
        chain += &format!("def d{n} = d{}\n", n - 1);
    }
    chain += "property p: d49999 == 0\n";
    assert!(codes(&chain).contains(&"too-large"));
}

#[test]
fn large_ranges_are_refused() {
    let texts = [
        "var a : array[0..9999999] of bool = false",
        "var a : bool[1000][1000][1000] = false",
        "process P(i in 0..99999999) { a { skip } }",
        "property p: exists i in 0..99999999: <> i == 0",
        "property p: always (exists i in 0..99999999: i == 0)",
        "const A = count i in 0..999999: exists j in 0..999999: i == j",
        "process P { a(i, j in 0..99999) { skip } }",
        "var x : 0..1 = 0\nproperty p: forall i, j, k in 0..999: <> x == i",
        "chan c[99999999999] of bool",
    ];
    for text in texts {
        assert_eq!(codes(text).len(), 1, "{text}: {:?}", codes(text));
    }
}

#[test]
fn large_files_are_read_quickly() {
    let junk = [
        "a & ",
        "process P { a [ \n",
        "}",
        "def x = y\n",
        "/* ",
        "[",
        "a\n",
        "when a -> b ",
    ];
    for piece in junk {
        let text = piece.repeat(1_000_000 / piece.len());
        let loaded = load(&text, &Options::default());
        assert!(
            loaded.model.is_none() && loaded.diagnostics.len() <= 21,
            "{piece}"
        );
    }
}

#[test]
fn large_models_are_read_quickly() {
    let n = 20_000;
    let mut text = "process P {\ninit s0\n".to_owned();
    for i in 0..n {
        let next = (i + 1) % n;
        text += &format!("from s{i} {{ weak fair a{i} -> s{next} }}\n");
    }
    text += "}\nproperty p: <> P @ s1\n";
    let loaded = load(&text, &Options::default());
    assert_eq!(show(&loaded), "");
    assert_eq!(loaded.model.map(|model| model.actions().len()), Some(n));
}
