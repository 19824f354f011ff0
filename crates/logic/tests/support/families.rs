//! Formulas that the literature compares translations on, and how large automata are.
//!
//! Formulas are text that both `fair ltl` and `ltl2tgba` read. The names are those of `genltl`, which is
//! where other papers look them up:
//!
//! - `and-…`, `or-…`, `u-…`, `r-…`, `gh-…`: J. Geldenhuys, H. Hansen, *Larger Automata and Less Work for LTL
//!   Model Checking*, SPIN 2006, <https://doi.org/10.1007/11691617_4>; with K. Rozier, M. Vardi, *LTL
//!   Satisfiability Checking*, SPIN 2007, <https://doi.org/10.1007/978-3-540-73370-6_11> (`rv-…`);
//! - `ccj-…`: J. Cichoń, A. Czubak, A. Jasiński, *Minimal Büchi Automata for Certain Classes of LTL
//!   Formulas*, DepCoS 2009, <https://doi.org/10.1109/DepCoS-RELCOMEX.2009.31>;
//! - `go-theta`: P. Gastin, D. Oddoux, *Fast LTL to Büchi Automata Translation*, CAV 2001,
//!   <https://doi.org/10.1007/3-540-44585-4_6>;
//! - `kv-psi`: O. Kupferman, M. Vardi, *From Linear Time to Branching Time*, ACM TOCL 6(2), 2005,
//!   <https://doi.org/10.1145/1055686.1055689>; `kr-n`: O. Kupferman, A. Rosenberg, *The Blow-Up in
//!   Translating LTL to Deterministic Automata*, MoChArt 2010, <https://doi.org/10.1007/978-3-642-20674-0_6>;
//! - `ms-…`: D. Müller, S. Sickert, *LTL to Deterministic Emerson-Lei Automata*, GandALF 2017,
//!   <https://doi.org/10.4204/EPTCS.256.13>;
//! - `sejk-…`: S. Sickert, J. Esparza, S. Jaax, J. Křetínský, *Limit-Deterministic Büchi Automata for
//!   Linear Temporal Logic*, CAV 2016, <https://doi.org/10.1007/978-3-319-41540-6_17>;
//! - `tv-…`: D. Tabakov, M. Vardi, *Optimized Temporal Monitors for SystemC*, RV 2010,
//!   <https://doi.org/10.1007/978-3-642-16612-9_33>;
//! - `fxg-or`, `gxf-and`, `gf-…`: generalizations of single formulas of other lists.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::{AddAssign, RangeInclusive};

use omega::{Automaton, Edge};

/// A list of formulas, or one formula for each size.
pub struct Family {
    pub name: &'static str,
    pub formulas: Vec<String>,
}

/// How large automata are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Size {
    pub n_states: usize,
    /// Edges that differ in their guards only count once, as they do in Spot.
    pub n_edges: usize,
    pub n_nondeterministic: usize,
}

impl Size {
    pub fn of(automaton: &Automaton) -> Self {
        let ends = |edges: &Vec<Edge>| {
            let ends: BTreeSet<_> = edges
                .iter()
                .map(|edge| (edge.target, &edge.marks))
                .collect();
            ends.len()
        };
        let is_choice = |edges: &Vec<Edge>| {
            let pairs = edges.iter().enumerate();
            let mut pairs = pairs.flat_map(|(i, one)| edges[..i].iter().map(move |two| (one, two)));
            pairs.any(|(one, two)| {
                let differ = (one.target, &one.marks) != (two.target, &two.marks);
                differ && !excludes(one, two)
            })
        };
        let is_deterministic =
            automaton.initial.len() <= 1 && !automaton.edges.iter().any(is_choice);
        Self {
            n_states: automaton.n_states(),
            n_edges: automaton.edges.iter().map(ends).sum(),
            n_nondeterministic: usize::from(!is_deterministic),
        }
    }
}

fn excludes(one: &Edge, two: &Edge) -> bool {
    let literals = |edge: &Edge| edge.guard.literals().to_vec();
    let others = literals(two);
    literals(one)
        .iter()
        .any(|&(atom, value)| others.contains(&(atom, !value)))
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.n_states += other.n_states;
        self.n_edges += other.n_edges;
        self.n_nondeterministic += other.n_nondeterministic;
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            n_states,
            n_edges,
            n_nondeterministic,
        } = self;
        write!(f, "{n_states:5} {n_edges:6} {n_nondeterministic:3}")
    }
}

/// The formulas of a file, one in each line.
fn list(name: &'static str, text: &str) -> Family {
    let formulas = text.lines().filter(|line| !line.starts_with('#'));
    Family {
        name,
        formulas: formulas.map(str::to_owned).collect(),
    }
}

/// The lists of formulas that others have compared translations on; see there for their sources.
pub fn lists() -> Vec<Family> {
    vec![
        list("dwyer", include_str!("../patterns/dwyer.ltl")),
        list(
            "etessami-holzmann",
            include_str!("../patterns/etessami-holzmann.ltl"),
        ),
        list(
            "somenzi-bloem",
            include_str!("../patterns/somenzi-bloem.ltl"),
        ),
        list("liberouter", include_str!("../patterns/liberouter.ltl")),
        list("beem", include_str!("../patterns/beem.ltl")),
    ]
}

/// The lists and all families, each up to a size that takes seconds at most.
pub fn families() -> Vec<Family> {
    let family =
        |name: &'static str, sizes: RangeInclusive<usize>, make: fn(usize) -> String| Family {
            name,
            formulas: sizes.map(make).collect(),
        };
    let mut all = lists();
    all.extend([
        family("and-f", 1..=7, |n| join(" && ", n, |i| format!("F p{i}"))),
        family("and-fg", 1..=8, |n| {
            join(" && ", n, |i| format!("F G p{i}"))
        }),
        family("and-gf", 1..=8, |n| {
            join(" && ", n, |i| format!("G F p{i}"))
        }),
        family("ccj-alpha", 1..=5, |n| both(n, ordered)),
        family("ccj-beta", 1..=8, |n| {
            both(n, |p, n| format!("F({})", row(p, n, "&&")))
        }),
        family("ccj-beta-prime", 1..=8, |n| {
            both(n, |p, n| format!("F({})", shifted(p, n, " && ")))
        }),
        family("fxg-or", 1..=5, |n| {
            format!("F({})", nested(n, "||", "X G"))
        }),
        family("gxf-and", 1..=5, |n| {
            format!("G({})", nested(n, "&&", "X F"))
        }),
        family("gf-equiv", 1..=5, |n| {
            format!("({}) <-> G F z", again("a", n, " && "))
        }),
        family("gf-equiv-xn", 1..=6, |n| {
            format!("G F(a <-> {})", next("a", n))
        }),
        family("gf-implies", 1..=5, |n| {
            format!("({}) -> G F z", again("a", n, " && "))
        }),
        family("gf-implies-xn", 1..=8, |n| {
            format!("G F(a -> {})", next("a", n))
        }),
        family("gh-q", 1..=6, |n| {
            join(" && ", n, |i| format!("(F p{i} || G p{})", i + 1))
        }),
        family("gh-r", 1..=6, |n| {
            join(" && ", n, |i| format!("(G F p{i} || F G p{})", i + 1))
        }),
        family("go-theta", 1..=8, |n| {
            format!("!(({}) -> G(q -> F r))", again("p", n, " && "))
        }),
        family("kr-n", 1..=2, kupferman_rosenberg),
        family("kv-psi", 1..=2, kupferman_vardi),
        family("ms-example", 1..=4, |n| {
            format!("G F({}) && {}", conjunction(n), ordered("b", n))
        }),
        family("ms-phi-h", 0..=3, |n| join(" || ", n + 1, phi_h)),
        family("ms-phi-r", 0..=3, |n| phi_rs(n, true)),
        family("ms-phi-s", 0..=3, |n| phi_rs(n, false)),
        family("or-fg", 1..=8, |n| join(" || ", n, |i| format!("F G p{i}"))),
        family("or-g", 1..=7, |n| join(" || ", n, |i| format!("G p{i}"))),
        family("or-gf", 1..=8, |n| join(" || ", n, |i| format!("G F p{i}"))),
        family("r-left", 2..=8, |n| left(n, "R")),
        family("r-right", 2..=12, |n| right(n, "R")),
        family("rv-counter", 2..=6, |n| counter(n, false)),
        family("rv-counter-linear", 2..=6, |n| counter(n, true)),
        family("rv-counter-carry", 2..=5, carry_counter),
        family("sejk-f", 1..=3, |n| limits(n, 2)),
        family("sejk-j", 1..=4, |n| {
            format!("({}) -> ({})", again("a", n, " && "), again("b", n, " && "))
        }),
        family("sejk-k", 1..=4, |n| {
            join(" && ", n, |i| format!("(G F a{i} || F G b{i})"))
        }),
        family("tv-f1", 1..=6, |n| {
            format!("G(p -> ({}))", shifted("q", n, " || "))
        }),
        family("tv-f2", 1..=6, |n| {
            format!("G(p -> ({}))", row("q", n, "||"))
        }),
        family("tv-g1", 1..=6, |n| {
            format!("G(p -> ({}))", shifted("q", n, " && "))
        }),
        family("tv-g2", 1..=6, |n| {
            format!("G(p -> ({}))", row("q", n, "&&"))
        }),
        family("tv-uu", 1..=5, untils),
        family("u-left", 2..=8, |n| left(n, "U")),
        family("u-right", 2..=12, |n| right(n, "U")),
    ]);
    all
}

/// `part(1) sign … sign part(n)`.
fn join(sign: &str, n: usize, part: impl Fn(usize) -> String) -> String {
    (1..=n).map(part).collect::<Vec<_>>().join(sign)
}

fn again(atom: &str, n: usize, sign: &str) -> String {
    join(sign, n, |i| format!("G F {atom}{i}"))
}

fn both(n: usize, part: fn(&str, usize) -> String) -> String {
    format!("{} && {}", part("p", n), part("q", n))
}

/// `X X … atom` with this many operators.
fn next(atom: &str, n: usize) -> String {
    format!("{}{atom}", "X ".repeat(n))
}

/// One after the other, at the same position or later.
fn ordered(atom: &str, n: usize) -> String {
    let last = format!("F {atom}{n}");
    (1..n)
        .rev()
        .fold(last, |inner, i| format!("F({atom}{i} && {inner})"))
}

/// `p && X(p && X(…))`.
fn row(atom: &str, n: usize, sign: &str) -> String {
    (1..n).fold(atom.to_owned(), |inner, _| {
        format!("{atom} {sign} X({inner})")
    })
}

/// `p && X p && X X p …`.
fn shifted(atom: &str, n: usize, sign: &str) -> String {
    join(sign, n, |i| next(atom, i - 1))
}

/// `p0 sign operator(p1 sign operator(…))`.
fn nested(n: usize, sign: &str, operator: &str) -> String {
    (0..n).rev().fold(format!("p{n}"), |inner, i| {
        format!("p{i} {sign} {operator}({inner})")
    })
}

/// `a1 && X(a2 && …)`.
fn conjunction(n: usize) -> String {
    (1..n)
        .rev()
        .fold(format!("a{n}"), |inner, i| format!("a{i} && X({inner})"))
}

fn phi_h(number: usize) -> String {
    let sign = if number % 2 == 1 { "" } else { "!" };
    format!("F G({sign}a || {})", next("b", number - 1))
}

fn phi_rs(n: usize, rabin: bool) -> String {
    let (inner, outer) = if rabin { ("&&", "||") } else { ("||", "&&") };
    let top = format!("(F G a{n} {inner} G F b{n})");
    if n == 0 {
        return top;
    }
    format!("(({}) {outer} {top})", phi_rs(n - 1, !rabin))
}

fn left(n: usize, operator: &str) -> String {
    (2..=n).fold("p1".to_owned(), |inner, i| {
        format!("({inner}) {operator} p{i}")
    })
}

fn right(n: usize, operator: &str) -> String {
    (1..n).rev().fold(format!("p{n}"), |inner, i| {
        format!("p{i} {operator} ({inner})")
    })
}

fn untils(n: usize) -> String {
    let mut formula = format!("p{}", n + 1);
    for i in (1..=n).rev() {
        formula = format!("p{i} U ({formula})");
        if i > 1 {
            formula = format!("p{i} && ({formula})");
        }
    }
    format!("G(p1 -> ({formula}))")
}

fn limits(n: usize, distance: usize) -> String {
    let first = format!("G F a0 U {}", next("b", distance));
    (1..=n).fold(first, |inner, i| format!("G F a{i} U G({inner})"))
}

/// The marker, the initial bits: what both counters share.
fn counter_frame(n: usize, linear: bool) -> String {
    let marker = if linear {
        let inner = (1..n).fold("m".to_owned(), |inner, _| format!("!m && X({inner})"));
        format!("X({inner})")
    } else {
        let zeros: String = (1..n).map(|i| format!("{} && ", next("!m", i))).collect();
        format!("{zeros}{}", next("m", n))
    };
    let zero = if linear {
        row("!b", n, "&&")
    } else {
        shifted("!b", n, " && ")
    };
    format!("m && G(m -> ({marker})) && {zero}")
}

/// Counts in binary, the least significant bit first, `n` bits one after the other.
fn counter(n: usize, linear: bool) -> String {
    let frame = counter_frame(n, linear);
    let both_next = |a: &str, b: &str| {
        if linear {
            format!("X({a} && ({b}))")
        } else {
            format!("(X {a} && X({b}))")
        }
    };
    let same = format!("(!m && (b <-> {})) U m", next("b", n));
    let rest = both_next(&next("b", n - 1), &same);
    let flip = format!(
        "(b && !m && {}) U (m || (!m && !b && {rest}))",
        next("!b", n)
    );
    let carry = both_next(&next("!b", n - 1), &flip);
    format!("{frame} && G((m && !b) -> {rest}) && G((m && b) -> {carry})")
}

/// The same with an atom for the carry.
fn carry_counter(n: usize) -> String {
    let frame = counter_frame(n, false);
    let (set, unset) = (next("b", n), next("!b", n));
    format!(
        "{frame} && G((m && !b) -> (!c && {set})) && G((m && b) -> (c && {unset})) \
         && G((!c && X !m) -> (X !c && (X b <-> X {set}))) \
         && G(c -> ((X !b -> (X !c && X {set})) && (X b -> (X c && X {unset}))))"
    )
}

fn exclusive(atoms: &[String]) -> String {
    let pairs = (0..atoms.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let pairs: Vec<String> = pairs
        .map(|(i, j)| format!("!({} && {})", atoms[i], atoms[j]))
        .collect();
    format!("G({})", pairs.join(" && "))
}

fn kupferman_vardi(n: usize) -> String {
    let copies = (0..n).fold("X G c".to_owned(), |inner, _| {
        format!("X((a || b) && {inner})")
    });
    let bit = |atom: &str, i: usize| format!("({0} && G(d -> {0}))", next(atom, i));
    let bits = join(" && ", n, |i| {
        format!("({} || {})", bit("a", i), bit("b", i))
    });
    let atoms = ["a", "b", "c", "d"].map(str::to_owned);
    format!(
        "(!d U (d && {copies})) && F(c && {bits} && {}) && {}",
        next("c", n + 1),
        exclusive(&atoms)
    )
}

fn kupferman_rosenberg(n: usize) -> String {
    let order: String = (1..n)
        .map(|i| format!("((a{i} || b{i}) -> X(a{0} || b{0})) && ", i + 1))
        .collect();
    let repeat = |atom: &str, i: usize| format!("({atom}{i} && F(d && F {atom}{i}))");
    let repeats = join(" || ", n, |i| {
        format!("{} || {}", repeat("a", i), repeat("b", i))
    });
    let any = join(" || ", n, |i| format!("a{i} || b{i}"));
    let mutex = join(" && ", n, |i| format!("(a{i} -> !b{i})"));
    format!(
        "c && X(a1 || b1 || d) && G({order}true) && G((a{n} || b{n}) -> X(c && X(a1 || b1 || d || G c))) \
         && (!d U (d && X((a1 || b1) && {}))) && F(c && X(!c && (({repeats}) U c))) \
         && G((c || d) -> !({any})) && G(c -> !d) && G({mutex})",
        next("G c", n)
    )
}
