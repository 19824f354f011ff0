//! Families of formulas, written for this comparison: what people decide with WS1S, in sizes.

use std::fmt::Write as _;

/// Formulas that differ in size only.
pub(super) struct Family {
    pub(super) name: &'static str,
    /// What a member says.
    pub(super) about: &'static str,
    pub(super) sizes: &'static [u64],
    pub(super) text: fn(u64) -> String,
}

/// All of them. The first size of each is the quick one.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "sum",
        about: "binary addition of n numbers is associative",
        sizes: &[6, 7, 8],
        text: sum,
    },
    Family {
        name: "coins",
        about: "n and n + 2 together make every number from (n - 1)(n + 1) on",
        sizes: &[29, 65, 125],
        text: coins,
    },
    Family {
        name: "from_end",
        about: "the n-th letter from the end of a string has one value (M2L-Str)",
        sizes: &[12, 14, 15],
        text: from_end,
    },
    Family {
        name: "horn",
        about: "2n random Horn clauses over n sets that move one position",
        sizes: &[12, 14, 16, 18],
        text: horn,
    },
    Family {
        name: "count",
        about: "n different elements and n ascending elements are the same",
        sizes: &[9, 10, 11],
        text: count,
    },
    Family {
        name: "periodic",
        about: "sets with the periods n and n + 2 meet",
        sizes: &[9, 11, 13],
        text: periodic,
    },
    Family {
        name: "register",
        about: "a feedback shift register of n cells is deterministic",
        sizes: &[7, 8, 9],
        text: register,
    },
    Family {
        name: "regions",
        about: "between two elements of different regions of an array lies one of n borders",
        sizes: &[9, 10, 11],
        text: regions,
    },
    Family {
        name: "window",
        about: "a sliding window of n cells delivers what was sent",
        sizes: &[7, 8, 9],
        text: window,
    },
    Family {
        name: "blocks",
        about: "a word and its complement are not both made of blocks of length n",
        sizes: &[12, 13, 14],
        text: blocks,
    },
];

/// Formulas whose quantifiers can be pushed in, where MONA's automata explode.
pub(super) const PUSHED: &[Family] = &[
    Family {
        name: "independent",
        about: "n nested quantifiers of which each pair is independent of the others",
        sizes: &[10, 20, 40],
        text: independent,
    },
    Family {
        name: "chain",
        about: "n nested quantifiers over a chain of subsets",
        sizes: &[16, 40],
        text: chain,
    },
];

const PLUS: &str = "pred plus(var2 A, B, C) = ex2 K: 0 notin K
  & (all1 p: (p in C <=> (p in A <=> (p in B <=> p in K))))
  & (all1 p: (p + 1 in K <=> (p in A & p in B | p in A & p in K | p in B & p in K)));
";

fn list(n: u64, separator: &str, item: impl Fn(u64) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

fn sum(n: u64) -> String {
    let numbers = list(n, ", ", |i| format!("A{i}"));
    let from_left = list(n - 1, ", ", |i| format!("S{}", i + 1));
    let from_right = list(n - 1, ", ", |i| format!("T{i}"));
    let mut all = vec!["plus(A0, A1, S1)".to_owned()];
    all.extend((2..n).map(|i| format!("plus(S{}, A{i}, S{i})", i - 1)));
    all.push(format!("plus(A{}, A{}, T{})", n - 2, n - 1, n - 2));
    all.extend((0..n - 2).map(|i| format!("plus(A{i}, T{}, T{i})", i + 1)));
    format!(
        "ws1s;\n{PLUS}var2 {numbers}, {from_left}, {from_right};\n{} => S{} = T0;\n",
        all.join(" & "),
        n - 1
    )
}

/// `Y = k X`, by doubling and adding.
fn times(name: &str, k: u64) -> String {
    let bits: Vec<u64> = (0..64).filter(|bit| k >> bit & 1 == 1).collect();

    let double = |i: u64| match i {
        0 => "X".to_owned(),
        _ => format!("D{i}"),
    };

    let top = bits[bits.len() - 1];
    let mut vars: Vec<String> = (1..=top).map(double).collect();

    let shift = |i: u64| {
        let (from, to) = (double(i - 1), double(i));
        format!("(0 notin {to} & all1 p: p + 1 in {to} <=> p in {from})")
    };
    let mut all: Vec<String> = (1..=top).map(shift).collect();

    let mut total = double(bits[0]);
    for (index, &bit) in bits.iter().enumerate().skip(1) {
        all.push(format!("plus({total}, {}, R{index})", double(bit)));
        total = format!("R{index}");
        vars.push(total.clone());
    }

    let (vars, all) = (vars.join(", "), all.join(" & "));
    format!("pred {name}(var2 X, Y) = ex2 {vars}: {all} & Y = {total};\n")
}

fn coins(n: u64) -> String {
    let (first, second) = (times("first", n), times("second", n + 2));
    let bound = (n - 1) * (n + 1);
    format!(
        "ws1s;\n{PLUS}{first}{second}\
         pred made(var2 T) = ex2 I, J, U, V: first(I, U) & second(J, V) & plus(U, V, T);\n\
         var2 T;\n(ex2 R: plus(pconst({bound}), R, T)) => made(T);\n"
    )
}

fn from_end(n: u64) -> String {
    format!(
        "m2l-str;\nvar2 X, Y;\n\
         pred last(var1 p) = ~ex1 q: p < q;\n\
         pred letter(var2 Z) = ex1 p, q: p in Z & q = p + {n} & last(q);\n\
         (all1 p: p in X <=> p notin Y) & letter(X) => ~letter(Y);\n"
    )
}

/// Numbers that look random and are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn horn(n: u64) -> String {
    let mut numbers = Numbers(2);
    let sets = list(n, ", ", |i| format!("X{i}"));
    let mut text = format!("ws1s;\nvar2 {sets};\n0 in X0 & 0 in X1");
    for _ in 0..2 * n {
        let [a, b, c] = [0; 3].map(|_| numbers.below(n));
        let _ = write!(text, "\n& (all1 p: p in X{a} & p in X{b} => p + 1 in X{c})");
    }
    let all = list(n, " & ", |i| format!("p in X{i}"));
    let _ = writeln!(text, "\n& ~(ex1 p: {all});");
    text
}

fn count(n: u64) -> String {
    let vars = list(n, ", ", |i| format!("x{i}"));
    let inside = list(n, " & ", |i| format!("x{i} in X"));
    let ascending = list(n - 1, " & ", |i| format!("x{i} < x{}", i + 1));
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| format!("x{i} ~= x{j}")));
    let different = pairs.collect::<Vec<_>>().join(" & ");
    format!(
        "ws1s;\nvar2 X;\n(ex1 {vars}: {ascending} & {inside}) <=> (ex1 {vars}: {different} & {inside});\n"
    )
}

fn periodic(n: u64) -> String {
    let period = |set: &str, n: u64| {
        format!(
            "0 in {set} & (all1 q: 0 < q & q < {n} => q notin {set}) \
             & (all1 q: q + {n} in D => (q in {set} <=> q + {n} in {set}))"
        )
    };
    let (first, second) = (period("X", n), period("Y", n + 2));
    format!(
        "ws1s;\nvar2 D, X, Y;\n(all1 p: p + 1 in D => p in D) & {first} & {second}\n\
         & (ex1 q: 0 < q & q in D & q in X & q in Y);\n"
    )
}

fn register(n: u64) -> String {
    let feedback = |set: &str| {
        format!("(all1 p: p + {n} in D => (p + {n} in {set} <=> ~(p in {set} <=> p + 1 in {set})))")
    };
    let (first, second) = (feedback("X"), feedback("Y"));
    format!(
        "ws1s;\nvar2 D, X, Y;\n(all1 p: p + 1 in D => p in D) & {first} & {second}\n\
         & (all1 p: p < {n} => (p in X <=> p in Y)) => (all1 p: p in D => (p in X <=> p in Y));\n"
    )
}

fn regions(n: u64) -> String {
    let borders = list(n, ", ", |i| format!("i{i}"));
    let ascending = list(n - 1, " & ", |i| format!("i{i} <= i{}", i + 1));
    let region = |i: u64| {
        let inside = if i.is_multiple_of(2) { "in" } else { "notin" };
        let between = format!("i{i} <= p & p < i{}", i + 1);
        format!(
            "(all1 p: {between} => p {inside} A) & (all1 p: {between} => (p in A <=> p notin B))"
        )
    };
    let regions = list(n - 1, "\n& ", region);
    let border = list(n, " | ", |i| format!("r = i{i}"));
    format!(
        "ws1s;\nvar1 {borders};\nvar2 A, B;\n{ascending}\n& {regions}\n\
         => (all1 p, q: i0 <= p & p < q & q < i{} & p in A & q in B => (ex1 r: p <= r & r <= q & ({border})));\n",
        n - 1
    )
}

fn window(n: u64) -> String {
    format!(
        "ws1s;\nvar2 S, R, D, E;\n\
         (all1 p: p + 1 in D => p in D) & (all1 p: p + 1 in E => p in E) & E sub D\n\
         & (all1 p: p + {n} in D => p in E) & (all1 p: p in E => (p in S <=> p in R))\n\
         & (all1 p: p + {n} in S => p in R)\n\
         => (all1 p: p + {n} in D => (p in S <=> p in R))\n\
         & (all1 p, q: p in S & q = p + {n} & q in S => p in R);\n"
    )
}

fn blocks(n: u64) -> String {
    format!(
        "ws1s;\nvar2 X, D;\n\
         pred good(var2 X, D) = ex2 Z: Z sub D\n\
         & (all1 p, q: p in Z & q in Z & p < q => p + {n} <= q)\n\
         & (all1 p: p in D & (all1 z: z in Z => z > p | z + {n} <= p) => p notin X)\n\
         & (all1 z: z in Z => z in X & z + {} in X);\n\
         (all1 p: p + 1 in D => p in D) & good(X, D) & good(D \\ X, D) => empty(D);\n",
        n - 1
    )
}

fn independent(n: u64) -> String {
    let vars = list(n, ", ", |i| format!("X{i}, Y{i}"));
    let pair = |i: u64| {
        let shift = i % 3 + 1;
        format!("(all1 p: p in X{i} <=> p + {shift} in Y{i}) & {i} in X{i}")
    };
    format!("ws1s;\nex2 {vars}: {};\n", list(n, " & ", pair))
}

fn chain(n: u64) -> String {
    let vars = list(n, ", ", |i| format!("X{i}"));
    let step = |i: u64| format!("X{i} sub X{} & {i} notin X{i} & {i} in X{}", i + 1, i + 1);
    format!("ws1s;\nex2 {vars}: {};\n", list(n - 1, "\n& ", step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_sizes_grow() {
        let families: Vec<&Family> = FAMILIES.iter().chain(PUSHED).collect();
        for (index, family) in families.iter().enumerate() {
            assert!(family.sizes.is_sorted_by(|a, b| a < b), "{}", family.name);
            assert!(
                families[..index].iter().all(|f| f.name != family.name),
                "{} is there twice",
                family.name
            );
        }
    }

    #[test]
    fn texts_are_reproducible() {
        for family in FAMILIES.iter().chain(PUSHED) {
            let n = family.sizes[0];
            let text = (family.text)(n);
            assert_eq!(text, (family.text)(n));
            let balance =
                |open: char, close: char| text.matches(open).count() == text.matches(close).count();
            assert!(balance('(', ')'), "{text}");
        }
    }

    #[test]
    fn multiples_are_sums_of_doubles() {
        assert_eq!(
            times("five", 5),
            "pred five(var2 X, Y) = ex2 D1, D2, R1: \
             (0 notin D1 & all1 p: p + 1 in D1 <=> p in X) & \
             (0 notin D2 & all1 p: p + 1 in D2 <=> p in D1) & plus(X, D2, R1) & Y = R1;\n"
        );
    }
}
