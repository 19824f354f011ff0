//! Random guarded-command programs in the native language: two processes with two locations each.
//!
//! A family says what its programs are made of. Its processes write different variables, so that
//! they can move together without contradicting each other. Every program is small enough to be
//! explored, whatever a test pretends about it.

use std::fmt::Write as _;

use crate::Random;

/// What one process of a family is made of.
#[derive(Clone, Copy, Debug)]
pub struct ProcessPart {
    /// Guards and communications, each as it stands before the effect.
    pub guards: &'static [&'static str],
    /// Effects.
    pub effects: &'static [&'static str],
}

/// What a family of programs is made of.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFamily {
    /// Everything before the processes.
    pub declarations: &'static str,
    /// The processes `P` and `Q`.
    pub parts: [ProcessPart; 2],
    /// Conditions, to be used as invariants or as predicates.
    pub conditions: &'static [&'static str],
    /// What may be asked to happen again and again.
    pub goals: &'static [&'static str],
}

const NUMBER_GUARDS: &[&str] = &[
    "when x < y",
    "when x == 0",
    "when x + y >= 3",
    "when y != 2",
    "when flag",
    "when x <= 1 || !flag",
    "",
];

const NUMBER_CONDITIONS: &[&str] = &[
    "x < y",
    "x == 0",
    "x + y >= 3",
    "y == 2",
    "x <= y + 1",
    "2 * x == y",
    "x == 3 && y > 0",
    "flag && x > 1",
    "flag || x <= y",
];

/// A process that writes the second number and the flag.
const SECOND_OF_NUMBERS: ProcessPart = ProcessPart {
    guards: NUMBER_GUARDS,
    effects: &[
        "y := 3 - y",
        "y := x; flag := !flag",
        "flag := x < y",
        "y := choose v in 0..3 where v >= x",
        "y := choose v in 0..3 where (v + x) % 2 == 1 && v > x",
        "skip",
    ],
};

/// Two numbers and a flag.
pub const NUMBERS: ProgramFamily = ProgramFamily {
    declarations: "var x, y : 0..3 = 0\nvar flag : bool\n",
    parts: [
        ProcessPart {
            guards: NUMBER_GUARDS,
            effects: &[
                "x := y",
                "x := if x < 3 then x + 1 else 0",
                "x, y := y, x",
                "x := choose 0..3",
                "if x < 2 { x := x + 1 } else { y := 0 }",
                "skip",
            ],
        },
        SECOND_OF_NUMBERS,
    ],
    conditions: NUMBER_CONDITIONS,
    goals: &["P @ b", "x == 0", "y > x", "flag"],
};

/// The same, with processes that move together.
pub const SYNCHRONOUS: ProgramFamily = ProgramFamily {
    declarations: "synchronous\nvar x, y : 0..3 = 0\nvar flag : bool\n",
    parts: [
        ProcessPart {
            guards: NUMBER_GUARDS,
            effects: &[
                "x := y",
                "x := if x < 3 then x + 1 else 0",
                "x := 3 - x",
                "x := choose 0..3",
                "skip",
            ],
        },
        SECOND_OF_NUMBERS,
    ],
    conditions: NUMBER_CONDITIONS,
    goals: &["P @ b", "x == 0", "y > x", "flag"],
};

/// An array and an index.
pub const ARRAYS: ProgramFamily = ProgramFamily {
    declarations: "var t : array[0..1] of 0..3 = [0, 1]\nvar i : 0..1 = 0\n",
    parts: [
        ProcessPart {
            guards: &[
                "when t[i] > 1",
                "when t[0] < t[1]",
                "when forall j in 0..1: t[j] <= 2",
                "when i == 0",
                "",
            ],
            effects: &[
                "t[i] := 3 - t[i]",
                "t[0], t[1] := t[1], t[0]",
                "t[1 - i] := t[i]",
                "t[i] := choose 0..3",
                "t[i] := choose v in 0..3 where v > t[1 - i]",
                "for j in 0..1 { if t[j] < 3 { t[j] := t[j] + 1 } }",
            ],
        },
        ProcessPart {
            guards: &["when t[0] != t[1]", "when i != 1", "when t[i] < 3", ""],
            effects: &[
                "i := if t[0] < t[1] then 0 else 1",
                "i := 1 - i",
                "i := choose 0..1",
                "skip",
            ],
        },
    ],
    conditions: &[
        "t[0] < t[1]",
        "t[i] == 0",
        "t[0] + t[1] >= 3",
        "exists j in 0..1: t[j] == 2",
        "t[1] <= t[0] + 1",
        "t[1 - i] > 1",
    ],
    goals: &["Q @ b", "t[1] == 0", "i == 1"],
};

/// A buffered channel and a rendezvous.
pub const CHANNELS: ProgramFamily = ProgramFamily {
    declarations: "chan c[1] of 0..3\nchan meet of 0..3\nvar x, y : 0..3 = 0\n",
    parts: [
        ProcessPart {
            guards: &[
                "c ! x",
                "c ? x",
                "meet ! x",
                "meet ! y",
                "meet ? x",
                "when empty(c)",
                "when x != y",
                "",
            ],
            effects: &[
                "x := 3 - x",
                "x := if x < 3 then x + 1 else 0",
                "x := choose v in 0..3 where v >= y",
                "skip",
            ],
        },
        ProcessPart {
            guards: &[
                "c ! y",
                "c ? y",
                "c ? (y)",
                "meet ? y",
                "meet ? (y)",
                "meet ! y",
                "when x < y",
                "",
            ],
            effects: &["y := 3 - y", "y := choose 0..3", "skip"],
        },
    ],
    conditions: &[
        "x < y",
        "x == 0",
        "x + y >= 3",
        "y == 2",
        "2 * x == y",
        "x <= y + 1",
    ],
    goals: &["empty(c)", "P @ b", "x == y"],
};

/// Two events.
pub const EVENTS: ProgramFamily = ProgramFamily {
    declarations: "event go\nevent stop\nvar x, y : 0..3 = 0\n",
    parts: [
        ProcessPart {
            guards: &[
                "sync go",
                "sync stop",
                "when x < y sync go",
                "when y == 0",
                "",
            ],
            effects: &[
                "x := if x < 3 then x + 1 else 0",
                "x := 3 - y",
                "x := choose 0..3",
                "skip",
            ],
        },
        ProcessPart {
            guards: &[
                "sync go",
                "sync stop",
                "when x != y sync stop",
                "when x < 2",
                "",
            ],
            effects: &["y := x", "y := 3 - y", "skip"],
        },
    ],
    conditions: &[
        "x < y",
        "x <= 2",
        "x + y < 6",
        "2 * x == y",
        "x == 3 && y > 0",
    ],
    goals: &["go", "stop", "x == 0", "Q @ b"],
};

impl ProgramFamily {
    /// The declarations and the processes of a random program.
    #[must_use]
    pub fn program(&self, random: &mut Random) -> String {
        let mut text = self.declarations.to_owned();
        for (process, part) in ["P", "Q"].iter().zip(&self.parts) {
            let _ = writeln!(text, "process {process} {{\n    init a");
            for (from, to) in [("a", "b"), ("b", "a")] {
                let _ = writeln!(text, "    from {from} {{");
                for step in ["s", "t"] {
                    let (guard, effect) = (random.pick(part.guards), random.pick(part.effects));
                    let target = if random.chance(33) { from } else { to };
                    let _ = writeln!(text, "        {step} {guard} {{ {effect} }} -> {target}");
                }
                text.push_str("    }\n");
            }
            text.push_str("}\n");
        }
        text
    }

    /// The same with properties of all kinds.
    #[must_use]
    pub fn with_properties(&self, random: &mut Random) -> String {
        let mut text = self.program(random);
        let (condition, goal) = (random.pick(self.conditions), random.pick(self.goals));
        let _ = writeln!(text, "property never: always !({condition})");
        let _ = writeln!(text, "property live: always (Q @ a -> eventually ({goal}))");
        let _ = writeln!(text, "property recurs: always eventually ({goal})");
        text.push_str("deadlockfree\n");
        text
    }

    /// The same with predicates, and a property that needs none.
    #[must_use]
    pub fn with_predicates(&self, random: &mut Random) -> String {
        let mut text = self.program(random);
        text.push_str("abstract only {\n");
        for name in ["p", "q", "r"] {
            let _ = writeln!(text, "    {name}: {}", random.pick(self.conditions));
        }
        text.push_str("}\nproperty nothing: always true\n");
        text
    }
}

/// A process over unbounded integers that has exactly one step in every state, and the goals of
/// its properties `recurs0`, `recurs1`, ... (always eventually) and `settles0`, ... (eventually
/// always).
#[must_use]
pub fn growing_program(random: &mut Random) -> (String, Vec<&'static str>) {
    const CONDITIONS: [&str; 8] = [
        "x < y",
        "x <= 4",
        "x == y",
        "y > 3",
        "x % 2 == 0",
        "x <= y + 2",
        "x + y < 6",
        "true",
    ];

    const EFFECTS: [&str; 11] = [
        "x := x + 1",
        "x := x + 1",
        "y := y + 1",
        "x := x + 2",
        "x := x - 1",
        "y := y - 1",
        "x, y := x + 1, y + 1",
        "y := x",
        "x := 0",
        "x, y := 0, y + 1",
        "skip",
    ];

    const GOALS: [&str; 7] = [
        "x == 0",
        "x < y",
        "P @ b",
        "x + y == 2",
        "y >= 0",
        "x > 10",
        "x == y",
    ];

    // Guards at a location exclude each other, so that there is one step in every state and a goal
    // that fails fails on the only run.
    let mut text = String::from("var x, y : int = 0\nprocess P {\n    init a\n");
    for (from, to) in [("a", "b"), ("b", "a")] {
        let condition = random.pick(&CONDITIONS);
        let _ = writeln!(text, "    from {from} {{");
        for (step, guard) in [
            ("s", format!("({condition})")),
            ("t", format!("!({condition})")),
        ] {
            let effect = random.pick(&EFFECTS);
            let target = if random.chance(33) { from } else { to };
            let _ = writeln!(
                text,
                "        {step} when {guard} {{ {effect} }} -> {target}"
            );
        }
        text.push_str("    }\n");
    }

    text.push_str("}\n");
    let goals: Vec<&str> = (0..2).map(|_| *random.pick(&GOALS)).collect();
    for (number, goal) in goals.iter().enumerate() {
        let _ = writeln!(text, "property recurs{number}: always eventually ({goal})");
        let _ = writeln!(text, "property settles{number}: eventually always ({goal})");
    }

    (text, goals)
}
