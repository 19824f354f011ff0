//! Random texts in the native language about channels, rendezvous, events and fair steps: what
//! random model parts have too little of.

use std::fmt::Write as _;

use crate::Random;

/// A random model as a text: three kinds of processes that talk over buffered channels (one of them
/// an array), a rendezvous and an event, with invariants, goals and formulas that ask the channels,
/// and with fair steps.
pub fn communicating_text(random: &mut Random) -> String {
    let capacity = 1 + random.below(2);
    let mut text = format!(
        "record Pair {{ lo: 0..1, hi: bool }}\n\
         chan c[{capacity}] of 0..1\n\
         chan d[1] for i in 0..1 of (0..1, bool)\n\
         chan meet of 0..1\n\
         event go\n\
         var x, y : 0..1 = {}\n\
         var a : bool[2] = false\n\
         var m : array[0..1] of array[0..1] of 0..1 = 0\n\
         var r : Pair = Pair(0, false)\n",
        random.pick(&["0", "any"])
    );
    for process in ["P", "Q", "R"] {
        add_process(random, process, &mut text);
    }
    add_questions(random, &mut text);
    text
}

fn add_process(random: &mut Random, name: &str, text: &mut String) {
    let n_locations = 1 + random.below(3);

    let annotation = if random.chance(15) {
        fairness(random)
    } else {
        ""
    };

    let index = if name == "P" { "(i in 0..1)" } else { "" };
    let _ = writeln!(text, "{annotation}process {name}{index} {{\n    init l0");

    for location in 0..3 {
        let _ = writeln!(text, "    from l{location} {{");
        if location < n_locations {
            for position in 0..1 + random.below(2) {
                let place = StepPlace {
                    location,
                    position,
                    n_locations,
                };
                add_step(random, name, &place, text);
            }
        }
        text.push_str("    }\n");
    }

    text.push_str("}\n");
}

/// Where a step stands in its process.
struct StepPlace {
    location: usize,
    /// Its number among the steps of the location.
    position: usize,
    /// The locations that it may lead to.
    n_locations: usize,
}

fn add_step(random: &mut Random, process: &str, place: &StepPlace, text: &mut String) {
    // Every process has a step `a`, so that questions can name it.
    let name = if place.location + place.position == 0 {
        "a"
    } else {
        *random.pick(&["a", "b", "c"])
    };

    let annotation = match random.below(10) {
        0 => fairness(random),
        1 => "strong fair choice ",
        2 => "weak fair choice ",
        _ => "",
    };

    let _ = write!(text, "        {annotation}{name}");
    if random.chance(40) {
        let _ = write!(text, " when {}", condition(random, 2));
    }
    if random.chance(70) {
        let _ = write!(text, " {}", communication(random, process));
    }
    if random.chance(35) {
        let _ = write!(text, " {{ {} }}", effect(random));
    }
    let _ = writeln!(text, " -> l{}", random.below(place.n_locations));
}

fn fairness(random: &mut Random) -> &'static str {
    ["weak fair ", "strong fair "][random.below(2)]
}

fn communication(random: &mut Random, process: &str) -> String {
    let value = value(random);
    let pattern = match random.below(4) {
        0 => "_".to_owned(),
        1 => format!("({value})"),
        2 => "x".to_owned(),
        _ => "m[x][y]".to_owned(),
    };

    let which = random.pick(&["0", "1", "x", "1 - y"]);
    // One side of most talks belongs to one process, so that something happens.
    let sends = if random.chance(70) {
        process == "P"
    } else {
        random.chance(50)
    };

    match (random.below(4), sends) {
        (0, true) => format!("c ! {value}"),
        (0, false) => format!("c ? {pattern}"),
        (1, true) => format!("d[{which}] ! ({value}, a[x])"),
        (1, false) => format!(
            "d[{which}] ? ({}, {})",
            random.pick(&["_", "x", "(y)"]),
            random.pick(&["_", "a[x]", "(r.hi)", "true"])
        ),
        (2, true) => format!("meet ! {value}"),
        (2, false) => format!("meet ? {pattern}"),
        _ => "sync go".to_owned(),
    }
}

fn value(random: &mut Random) -> String {
    let values = ["0", "1", "x", "1 - y", "m[x][0]", "r.lo", "len(d[x])"];
    (*random.pick(&values)).to_owned()
}

fn condition(random: &mut Random, depth: usize) -> String {
    if depth > 0 && random.chance(35) {
        let (left, right) = (condition(random, depth - 1), condition(random, depth - 1));
        return format!("({left} {} {right})", random.pick(&["&&", "||"]));
    }

    let conditions = [
        "empty(c)",
        "!empty(c)",
        "full(c)",
        "!full(c)",
        "len(c) == 1",
        "len(d[x]) == 0",
        "full(d[1])",
        "len(d[0]) + len(d[1]) < 2",
        "x == y",
        "x == 1",
        "a[y]",
        "m[x][y] == 0",
        "r.lo == 1",
        "r.hi",
        "(Q @ l0)",
        "(R @ l1)",
        "(P[x] @ l1)",
        "(forall i in 0..1: a[i] || m[i][x] == 0)",
        "(exists i in 0..1: P[i] @ l0 && full(d[i]))",
    ];

    (*random.pick(&conditions)).to_owned()
}

fn effect(random: &mut Random) -> String {
    let effects = [
        "x := 1 - x",
        "y := x",
        "a[x] := !a[x]",
        "a := false",
        "m[x][y] := 1 - m[y][x]",
        "r.lo := x",
        "r := Pair(y, a[x])",
        "x := choose 0..1",
        "y := choose v in 0..1 where v != x",
        "let z = choose v in x..x where v == y; y := 1 - z",
        "let n = len(c); if n == 1 { x := 0 }",
        "if full(c) { y := 0 } else { a[y] := true }",
        "for i in 0..1 { a[i] := m[i][x] == 1 }",
    ];
    (*random.pick(&effects)).to_owned()
}

fn add_questions(random: &mut Random, text: &mut String) {
    let kinds = [
        "none",
        "annotated",
        "annotated",
        "weak-process",
        "strong-process",
        "weak",
        "strong",
    ];

    let _ = writeln!(text, "invariant inv: {}", condition(random, 1));
    let _ = writeln!(text, "reachable re: {}", condition(random, 1));
    let _ = writeln!(text, "property alw: [] ({})", condition(random, 1));
    for name in ["often", "finally", "leads"] {
        let (p, q) = (proposition(random), proposition(random));
        let formula = match name {
            "often" => format!("[]<> ({p}) && (<>[] ({q}) || []<> !({q}))"),
            "finally" => format!("<>[] ({p})"),
            _ => format!("[]<> ({p}) -> []<> ({q})"),
        };
        let kind = random.pick(&kinds);
        let _ = writeln!(text, "property {name} under {kind}: {formula}");
    }
}

fn proposition(random: &mut Random) -> String {
    match random.below(4) {
        0 => {
            let steps = ["P[0].a", "Q.a", "R.a", "moves(R)", "moves(P[1])", "P.a"];
            (*random.pick(&steps)).to_owned()
        }
        1 => {
            let steps = ["P[0].a", "Q.a", "R.a", "R.*", "P.a"];
            format!("enabled({})", random.pick(&steps))
        }
        _ => condition(random, 0),
    }
}
