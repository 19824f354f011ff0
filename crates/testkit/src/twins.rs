//! One random system in three languages: the native one, Promela and CSP#.
//!
//! The systems keep to what all three can say in one step: processes with locations, conditions and
//! assignments on shared variables with few values, messages through a buffer, and handshakes. Each
//! text has the same states, steps and movers, so that counts and verdicts can be compared; only the
//! names of actions differ, so notions of fairness about actions cannot.

use std::fmt::Write as _;

use crate::Random;

/// Shared variables have the values from 0 to this.
const TOP: usize = 2;

/// A system and formulas about it.
#[derive(Clone, Debug)]
pub struct Twin {
    capacity: usize,
    initial: Vec<usize>,
    processes: Vec<Process>,
    formulas: Vec<Formula>,
}

#[derive(Clone, Debug)]
struct Process {
    n_locations: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    source: usize,
    target: usize,
    /// Conditions that hold together.
    guard: Vec<Comparison>,
    kind: StatementKind,
}

#[derive(Clone, Debug)]
enum StatementKind {
    /// A variable becomes another one plus a number.
    Assign(usize, usize, usize),
    /// A number goes into the buffer.
    Send(usize),
    /// The oldest number in the buffer is this one.
    Receive(usize),
    /// A number is handed over. Without a guard, because Promela has none here.
    Offer(usize),
    /// This number is taken over.
    Accept(usize),
}

#[derive(Clone, Copy, Debug)]
struct Comparison {
    variable: usize,
    is_equal: bool,
    value: usize,
}

#[derive(Clone, Debug)]
enum Formula {
    Atom(Comparison),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Next(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
}

/// A random system with formulas.
pub fn random_twin(random: &mut Random) -> Twin {
    let n_variables = 2;
    let n_processes = 2 + random.below(2);
    let processes = (0..n_processes).map(|_| process(random, n_variables));
    let processes = processes.collect();
    Twin {
        capacity: 1 + random.below(2),
        initial: (0..n_variables).map(|_| random.below(TOP + 1)).collect(),
        processes,
        formulas: (0..4).map(|_| formula(random, n_variables, 3)).collect(),
    }
}

impl Twin {
    /// How many formulas there are; each text asks them in the same order.
    #[must_use]
    pub fn n_formulas(&self) -> usize {
        self.formulas.len()
    }

    /// The system in the native language.
    #[must_use]
    pub fn native(&self) -> String {
        let mut text = String::new();
        for (number, value) in self.initial.iter().enumerate() {
            let _ = writeln!(text, "var x{number} : 0..{TOP} = {value}");
        }
        let _ = writeln!(
            text,
            "chan c[{}] of 0..{TOP}\nchan r of 0..{TOP}",
            self.capacity
        );

        for (number, process) in self.processes.iter().enumerate() {
            let _ = writeln!(text, "process P{number} {{\n    init l0");
            for location in 0..process.n_locations {
                let _ = writeln!(text, "    from l{location} {{");
                for (position, step) in process.steps_from(location) {
                    let guard = step.guard_text("when ", "");
                    let what = match step.kind {
                        StatementKind::Assign(to, from, more) => {
                            format!("{{ x{to} := (x{from} + {more}) % {} }}", TOP + 1)
                        }
                        StatementKind::Send(value) => format!("c ! {value}"),
                        StatementKind::Receive(value) => format!("c ? ({value})"),
                        StatementKind::Offer(value) => format!("r ! {value}"),
                        StatementKind::Accept(value) => format!("r ? ({value})"),
                    };
                    let target = step.target;
                    let _ = writeln!(text, "        s{position} {guard} {what} -> l{target}");
                }
                let _ = writeln!(text, "    }}");
            }
            let _ = writeln!(text, "}}");
        }

        for (number, formula) in self.formulas.iter().enumerate() {
            let _ = writeln!(text, "property p{number}: {}", formula.text(&plain));
        }
        text
    }

    /// The system in Promela.
    #[must_use]
    pub fn promela(&self) -> String {
        let mut text = String::new();
        for (number, value) in self.initial.iter().enumerate() {
            let _ = writeln!(text, "byte x{number} = {value};");
        }
        let _ = writeln!(
            text,
            "chan c = [{}] of {{ byte }};\nchan r = [0] of {{ byte }};",
            self.capacity
        );

        for (number, process) in self.processes.iter().enumerate() {
            let _ = writeln!(text, "active proctype P{number}() {{");
            for location in 0..process.n_locations {
                let steps = process.steps_from(location);
                if steps.is_empty() {
                    let _ = writeln!(text, "l{location}: (false);");
                    continue;
                }
                let _ = writeln!(text, "l{location}: if");
                for (_, step) in steps {
                    let guard = step.guard_text("", " && ");
                    let what = match step.kind {
                        StatementKind::Assign(to, from, more) => format!(
                            "d_step {{ {guard}true -> x{to} = (x{from} + {more}) % {} }}",
                            TOP + 1
                        ),
                        StatementKind::Send(value) => {
                            format!("d_step {{ {guard}nfull(c) -> c!{value} }}")
                        }
                        StatementKind::Receive(value) => {
                            format!("d_step {{ {guard}c?[{value}] -> c?{value} }}")
                        }
                        StatementKind::Offer(value) => format!("r!{value}"),
                        StatementKind::Accept(value) => format!("r?{value}"),
                    };
                    let _ = writeln!(text, "    :: {what}; goto l{}", step.target);
                }
                let _ = writeln!(text, "    fi;");
            }
            let _ = writeln!(text, "}}");
        }

        for (number, formula) in self.formulas.iter().enumerate() {
            let _ = writeln!(text, "ltl p{number} {{ {} }}", formula.text(&plain));
        }
        text
    }

    /// The system in CSP#.
    #[must_use]
    pub fn csp(&self) -> String {
        let mut text = String::new();
        for (number, value) in self.initial.iter().enumerate() {
            let _ = writeln!(text, "var x{number}:{{0..{TOP}}} = {value};");
        }
        let _ = writeln!(text, "channel c {};\nchannel r 0;", self.capacity);
        for variable in 0..self.initial.len() {
            for value in 0..=TOP {
                let _ = writeln!(text, "#define eq{variable}_{value} x{variable} == {value};");
                let _ = writeln!(text, "#define ne{variable}_{value} x{variable} != {value};");
            }
        }

        for (number, process) in self.processes.iter().enumerate() {
            for location in 0..process.n_locations {
                let choices = process
                    .steps_from(location)
                    .into_iter()
                    .map(|(position, step)| {
                        let guard = step.guard_text("[", "] ");
                        let what = match step.kind {
                            StatementKind::Assign(to, from, more) => format!(
                                "p{number}_s{position}{{x{to} = (x{from} + {more}) % {};}}",
                                TOP + 1
                            ),
                            StatementKind::Send(value) => format!("c!{value}"),
                            StatementKind::Receive(value) => format!("c?{value}"),
                            StatementKind::Offer(value) => format!("r!{value}"),
                            StatementKind::Accept(value) => format!("r?{value}"),
                        };
                        format!("({guard}{what} -> P{number}_l{}())", step.target)
                    });
                let choices: Vec<String> = choices.collect();
                let body = if choices.is_empty() {
                    "Stop".to_owned()
                } else {
                    choices.join(" [] ")
                };
                let _ = writeln!(text, "P{number}_l{location}() = {body};");
            }
        }

        let all = (0..self.processes.len()).map(|number| format!("P{number}_l0()"));
        let all: Vec<String> = all.collect();
        let _ = writeln!(text, "System() = {};", all.join(" ||| "));
        for formula in &self.formulas {
            let _ = writeln!(text, "#assert System() |= {};", formula.text(&defined));
        }
        text
    }
}

impl Process {
    fn steps_from(&self, location: usize) -> Vec<(usize, &Step)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| step.source == location).collect()
    }
}

impl Step {
    /// The guard between two texts; nothing if there is none.
    fn guard_text(&self, before: &str, after: &str) -> String {
        if self.guard.is_empty() {
            return String::new();
        }
        let parts: Vec<String> = self.guard.iter().map(plain).collect();
        format!("{before}{}{after}", parts.join(" && "))
    }
}

impl Formula {
    fn text(&self, atom: &dyn Fn(&Comparison) -> String) -> String {
        let unary = |op: &str, a: &Self| format!("({op} {})", a.text(atom));
        let binary =
            |op: &str, a: &Self, b: &Self| format!("({} {op} {})", a.text(atom), b.text(atom));
        match self {
            Self::Atom(comparison) => atom(comparison),
            Self::Not(a) => unary("!", a),
            Self::And(a, b) => binary("&&", a, b),
            Self::Or(a, b) => binary("||", a, b),
            Self::Implies(a, b) => binary("->", a, b),
            Self::Always(a) => unary("[]", a),
            Self::Eventually(a) => unary("<>", a),
            Self::Next(a) => unary("X", a),
            Self::Until(a, b) => binary("U", a, b),
        }
    }
}

fn plain(comparison: &Comparison) -> String {
    let op = if comparison.is_equal { "==" } else { "!=" };
    format!("(x{} {op} {})", comparison.variable, comparison.value)
}

/// In CSP# formulas are about names.
fn defined(comparison: &Comparison) -> String {
    let word = if comparison.is_equal { "eq" } else { "ne" };
    format!("{word}{}_{}", comparison.variable, comparison.value)
}

fn process(random: &mut Random, n_variables: usize) -> Process {
    let n_locations = 1 + random.below(3);
    let n_steps = 1 + random.below(4);
    let step = |random: &mut Random| {
        let kind = match random.below(8) {
            0 => StatementKind::Send(random.below(2)),
            1 => StatementKind::Receive(random.below(2)),
            2 => StatementKind::Offer(random.below(2)),
            3 => StatementKind::Accept(random.below(2)),
            _ => StatementKind::Assign(
                random.below(n_variables),
                random.below(n_variables),
                random.below(TOP + 1),
            ),
        };
        let n_guards = match kind {
            StatementKind::Offer(_) | StatementKind::Accept(_) => 0,
            StatementKind::Assign(..) | StatementKind::Send(_) | StatementKind::Receive(_) => {
                random.below(3)
            }
        };
        Step {
            source: random.below(n_locations),
            target: random.below(n_locations),
            guard: (0..n_guards)
                .map(|_| comparison(random, n_variables))
                .collect(),
            kind,
        }
    };

    Process {
        n_locations,
        steps: (0..n_steps).map(|_| step(random)).collect(),
    }
}

fn comparison(random: &mut Random, n_variables: usize) -> Comparison {
    Comparison {
        variable: random.below(n_variables),
        is_equal: random.chance(50),
        value: random.below(TOP + 1),
    }
}

fn formula(random: &mut Random, n_variables: usize, depth: usize) -> Formula {
    if depth == 0 {
        return Formula::Atom(comparison(random, n_variables));
    }
    let next = |random: &mut Random| Box::new(formula(random, n_variables, depth - 1));
    match random.below(10) {
        0 => Formula::Not(next(random)),
        1 => Formula::And(next(random), next(random)),
        2 => Formula::Or(next(random), next(random)),
        3 => Formula::Implies(next(random), next(random)),
        4 | 5 => Formula::Always(next(random)),
        6 | 7 => Formula::Eventually(next(random)),
        8 => Formula::Next(next(random)),
        _ => Formula::Until(next(random), next(random)),
    }
}
