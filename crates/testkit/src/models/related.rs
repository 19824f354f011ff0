//! Random texts about processes that know each other: matrices, sets, maps, sequences, bags, options
//! and messages of processes, loops over processes, and processes for pairs of them.

use std::fmt::Write as _;

use crate::Random;

/// What is remembered, and what can be asked about it and done to it. `E` and `F` stand for processes.
struct Memory {
    declaration: &'static str,
    questions: &'static [&'static str],
    /// Under which condition which effect is possible.
    effects: &'static [(&'static str, &'static str)],
    /// Communications; they may store into `got`.
    talks: &'static [&'static str],
}

/// Without condition.
const ALWAYS: &str = "true";

/// What stands in for a condition, and for an effect or communication, that is left out.
const NEUTRAL: [&str; 2] = [ALWAYS, "skip"];

/// Names that are declared outside of processes.
const GLOBAL: [&str; 10] = [
    "N", "mat", "grp", "fun", "que", "opt", "Msg", "net", "bag_", "mail",
];

/// What all processes can see.
const SHARED: [Memory; 8] = [
    Memory {
        declaration: "var mat : array[1..N] of array[1..N] of bool",
        questions: &[
            "mat[E][F]",
            "(exists k in 1..N: mat[k][E])",
            "(count k in 1..N: mat[E][k]) == 1",
        ],
        effects: &[
            (ALWAYS, "mat[E][F] := !mat[E][F]"),
            (ALWAYS, "for k in 1..N { mat[E][k] := mat[k][F] }"),
            (ALWAYS, "for k in P { if k != E { mat[k][E] := true } }"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var grp : set of 1..N",
        questions: &[
            "E in grp",
            "size(grp) == 1",
            "(forall k in grp: k == E)",
            "grp subset {E, F}",
            "(exists h in subsets(grp): size(h) == 2)",
        ],
        effects: &[
            (ALWAYS, "grp := grp union {E}"),
            (ALWAYS, "grp := grp minus {E}"),
            (ALWAYS, "grp := {E, F}"),
            (ALWAYS, "grp := { k in 1..N where k != E }"),
            (ALWAYS, "grp := { k for k in grp where k != E } union {F}"),
            (
                "!empty(grp)",
                "let k = choose v in grp; grp := grp minus {k}",
            ),
            (
                "E in grp",
                "let k = any v in grp where v != F; grp := grp inter {k}",
            ),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var fun : map[1..N] of 1..N = {1: 2}",
        questions: &[
            "E in fun",
            "(E in fun && fun[E] == F)",
            "size(fun) == 2",
            "E in keys(fun)",
        ],
        effects: &[
            (ALWAYS, "fun[E] := F"),
            ("E in fun", "fun := remove(fun, E)"),
            ("F in fun", "fun[E] := fun[F]"),
            (ALWAYS, "fun := { k in 1..N where k != E: E }"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var que : seq[2] of 1..N",
        questions: &[
            "(!empty(que) && head(que) == E)",
            "E in que",
            "len(que) == 1",
            "que == [E, F]",
        ],
        effects: &[
            ("!full(que)", "que := append(que, E)"),
            ("!empty(que)", "que := tail(que)"),
            ("len(que) == 2", "que[1] := E"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var opt : option of 1..N",
        questions: &[
            "opt == some(E)",
            "opt == none",
            "(opt != none && value(opt) != E)",
        ],
        effects: &[(ALWAYS, "opt := some(E)"), (ALWAYS, "opt := none")],
        talks: &[],
    },
    Memory {
        declaration: "record Msg { by: 1..N, to: 1..N }\nvar net : set of Msg",
        questions: &["Msg(E, F) in net", "(exists g in net: g.by == E)"],
        effects: &[
            (ALWAYS, "net := net union {Msg(E, F)}"),
            (ALWAYS, "net := { g in net where g.to != E }"),
            (
                ALWAYS,
                "for k in 1..N { if k != E { net := net union {Msg(E, k)} } }",
            ),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var bag_ : bag[2] of 1..N",
        questions: &["copies(bag_, E) == 1", "E in bag_", "full(bag_)"],
        effects: &[
            ("!full(bag_)", "bag_ := add(bag_, E)"),
            ("E in bag_", "bag_ := remove(bag_, E)"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "chan mail[1] for k in 1..N of 1..N\nchan board[2] of 1..N",
        questions: &["len(board) == 1", "empty(mail[E])", "full(board)"],
        effects: &[],
        talks: &[
            "mail[E] ! F",
            "board ! E",
            "mail[E] ? got",
            "mail[E] ? (F)",
            "mail[E] ? <got>",
            "board ?? got",
            "board ?? (E)",
            "mail[E] ? got; board ! got",
            "for k in 1..N where k != E: mail[k] ! E",
        ],
    },
];

/// What each process has for itself.
const OWN: [Memory; 3] = [
    Memory {
        declaration: "var mine : set of 1..N",
        questions: &["E in mine", "empty(mine)", "(exists k in mine: k != i)"],
        effects: &[
            (ALWAYS, "mine := mine union {E}"),
            (
                ALWAYS,
                "for k in mine { if k != E { mine := mine minus {k} } }",
            ),
            (ALWAYS, "mine := P[E].mine"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var friend : 1..N = any",
        questions: &["friend == E", "P[friend] @ l1"],
        effects: &[
            (ALWAYS, "friend := E"),
            (ALWAYS, "friend := P[friend].friend"),
        ],
        talks: &[],
    },
    Memory {
        declaration: "var tired : bool = false",
        questions: &["tired", "P[E].tired"],
        effects: &[(ALWAYS, "tired := !tired")],
        talks: &[],
    },
];

/// What processes for pairs say about each other.
const LINKS: &str = "forall k, l in 1..N: !(Link[k][l].used && Link[l][k].used)";

/// All that random texts about processes that know each other are made of, `E` and `F` standing for
/// processes.
#[must_use]
pub fn related_constructs() -> Vec<&'static str> {
    let memories = || SHARED.iter().chain(&OWN);
    let questions = memories().flat_map(|memory| memory.questions);
    let effects = memories().flat_map(|memory| memory.effects);
    let talks = memories().flat_map(|memory| memory.talks);
    let effects = effects.map(|(_, effect)| effect);
    questions
        .chain(effects)
        .chain(talks)
        .copied()
        .chain([LINKS])
        .collect()
}

/// A random model of processes that know each other.
pub struct RelatedText {
    /// What is declared outside of processes.
    pub shared: String,
    /// The processes and questions.
    pub rest: String,
    /// What it is made of, in order of appearance.
    pub constructs: Vec<&'static str>,
}

impl RelatedText {
    /// The text in one piece.
    #[must_use]
    pub fn whole(&self) -> String {
        format!("{}{}", self.shared, self.rest)
    }

    /// The text with what is declared outside of processes in a file of its own, of which it has a copy
    /// with a name.
    #[must_use]
    pub fn with_copy_of(&self, file: &str) -> String {
        let mut text = format!("import \"{file}\" as sh\n");
        let mut word = String::new();
        for letter in self.rest.chars().chain([' ']) {
            if letter.is_alphanumeric() || letter == '_' {
                word.push(letter);
                continue;
            }
            if GLOBAL.contains(&word.as_str()) || word == "board" {
                text.push_str("sh.");
            }
            text.push_str(&word);
            text.push(letter);
            word.clear();
        }
        text
    }
}

/// A random model as a text: a family of processes, and perhaps one for each pair of them, that are
/// told apart by how they are related only. In every tenth model something else tells them apart, too.
pub fn related_text(random: &mut Random) -> String {
    related_model(random, None).whole()
}

/// The same in pieces, without one of its constructs if that is asked for.
pub fn related_model(random: &mut Random, without: Option<usize>) -> RelatedText {
    let n = 2 + random.below(2);
    let mut declarations = format!("const N = {n}\n");
    let mut shared: Vec<&Memory> = Vec::new();
    for _ in 0..1 + random.below(2) {
        let memory = random.pick(&SHARED);
        if !shared.iter().any(|m| m.declaration == memory.declaration) {
            let _ = writeln!(declarations, "{}", memory.declaration);
            shared.push(memory);
        }
    }
    let own = random.pick(&OWN);
    let has_links = random.chance(15);

    let mut writer = Writer {
        odd: if random.chance(10) { 15 } else { 0 },
        random,
        text: String::new(),
        shared,
        own,
        constructs: Vec::new(),
        without,
    };
    writer.processes();
    if has_links {
        writer.links();
    }
    writer.questions();
    RelatedText {
        shared: declarations,
        rest: writer.text,
        constructs: writer.constructs,
    }
}

struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    /// How often, in percent, a process is named by its number.
    odd: usize,
    shared: Vec<&'static Memory>,
    own: &'static Memory,
    constructs: Vec<&'static str>,
    /// The construct that is left out.
    without: Option<usize>,
}

impl Writer<'_> {
    /// Notes a construct; says whether it is to be left out.
    fn is_left_out(&mut self, construct: &'static str) -> bool {
        self.constructs.push(construct);
        self.without == Some(self.constructs.len() - 1)
    }

    fn processes(&mut self) {
        let fairness = *self.random.pick(&["", "", "weak fair ", "strong fair "]);

        let own = self.own.declaration;
        let talks = self.shared.iter().any(|memory| !memory.talks.is_empty());
        let got = if talks {
            "    var got : 1..N = i\n"
        } else {
            ""
        };

        let _ = writeln!(
            self.text,
            "{fairness}process P(i in 1..N) {{\n    {own}\n{got}    init l0"
        );

        for location in 0..2 {
            let _ = writeln!(self.text, "    from l{location} {{");
            for name in ["a", "b"].iter().take(1 + self.random.below(2)) {
                self.step(name);
            }
            self.text.push_str("    }\n");
        }

        self.text.push_str("}\n");
    }

    fn step(&mut self, name: &str) {
        let (parameters, names): (&str, &[&str]) = match (name, self.random.chance(50)) {
            ("a", _) => ("", &["i"]),
            (_, true) => ("(j in 1..N where j != i)", &["i", "j"]),
            (_, false) => ("(j in 1..N)", &["i", "j", "j"]),
        };
        let memory = if self.random.chance(40) {
            self.own
        } else {
            *self.random.pick(&self.shared)
        };
        // The same names in condition and effect, so that the effect is possible.
        let (one, other) = (self.process(names), self.process(names));
        let named = |text: &str| text.replace('E', &one).replace('F', &other);
        let (condition, action) = self.action(memory);
        let (condition, action) = (named(condition), named(&action));
        let guard = if self.random.chance(40) {
            let own = self.random.chance(30);
            format!(" && {}", self.question(names, own))
        } else {
            String::new()
        };
        let target = self.random.below(2);
        let _ = writeln!(
            self.text,
            "        {name}{parameters} when {condition}{guard} {action} -> l{target}"
        );
    }

    /// A condition, and a communication or effect.
    fn action(&mut self, memory: &'static Memory) -> (&'static str, String) {
        let [always, nothing] = NEUTRAL;
        let talks = memory.talks;

        if !talks.is_empty() {
            let talk = *self.random.pick(talks);
            let is_left_out = self.is_left_out(talk);
            let nothing = format!("{{ {nothing} }}");
            return (
                always,
                if is_left_out {
                    nothing
                } else {
                    talk.to_owned()
                },
            );
        }

        let (condition, effect) = *self.random.pick(memory.effects);
        let is_left_out = self.is_left_out(effect);
        let effect = if is_left_out { nothing } else { effect };
        (condition, format!("{{ {effect} }}"))
    }

    /// Processes for pairs of processes.
    fn links(&mut self) {
        let names = ["x", "y"];
        let guard = self.question(&names, false);
        let is_left_out = self.is_left_out(LINKS);
        let question = if is_left_out { NEUTRAL[0] } else { LINKS };
        let _ = writeln!(
            self.text,
            "process Link(x, y in 1..N) {{\n    var used : bool = false\n    \
             use when !used && x != y && {guard} {{ used := true }}\n    \
             drop when used && !Link[y][x].used {{ used := false }}\n}}\n\
             invariant linked: {question}"
        );
    }

    fn process(&mut self, names: &[&str]) -> String {
        if self.random.chance(self.odd) {
            "1".to_owned()
        } else {
            (*self.random.pick(names)).to_owned()
        }
    }

    fn question(&mut self, names: &[&str], own: bool) -> String {
        let memory = if own {
            self.own
        } else {
            *self.random.pick(&self.shared)
        };
        let question = *self.random.pick(memory.questions);
        let is_left_out = self.is_left_out(question);
        let named = question.replace('E', &self.process(names));
        let named = named.replace('F', &self.process(names));
        let is_negated = self.random.chance(30);
        if is_left_out {
            NEUTRAL[0].to_owned()
        } else if is_negated {
            format!("!({named})")
        } else {
            named
        }
    }

    fn questions(&mut self) {
        let (one, other) = (
            self.question(&["u"], false),
            self.question(&["u", "w"], false),
        );
        let _ = writeln!(
            self.text,
            "invariant p: forall u in 1..N: {one}\n\
             reachable r: exists u, w in 1..N where u != w: {other}\n\
             property e: always eventually exists u in 1..N: P[u] @ l1\n\
             property t: (always eventually exists u in 1..N: P[u].a) -> \
             eventually forall u, w in 1..N: {other}\n\
             deadlockfree"
        );
    }
}
