//! Random programs.

use super::{
    Binder, Block, Channel, ChannelDecl, Communication, Def, Exp, Initial, Manner, Op, Pattern,
    Process, Program, QuantifierWord, Step, Stmt, Ty, Variable,
};
use crate::Random;

const LOCATIONS: [&str; 3] = ["idle", "busy", "done"];
const ARITHMETIC: [Op; 5] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod];
const COMPARISONS: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
const CONNECTIVES: [Op; 4] = [Op::And, Op::Or, Op::Implies, Op::Iff];

/// A random program.
pub fn random_program(random: &mut Random) -> Program {
    let synchronous = random.chance(15);
    let mut generator = Generator {
        random,
        synchronous,
        process: None,
        numbers: Vec::new(),
        truths: Vec::new(),
        n_names: 0,
        with_defs: false,
        several: false,
        n_locations: [0; 2],
    };
    generator.n_locations = [0; 2].map(|_: usize| generator.random.below(4));
    generator.program()
}

struct Generator<'r> {
    random: &'r mut Random,
    synchronous: bool,
    /// The process whose text is being made: 0 is the family `P`, 1 is `Q`.
    process: Option<usize>,
    /// Bound names that are numbers.
    numbers: Vec<String>,
    /// Bound names that are truth values.
    truths: Vec<String>,
    n_names: usize,
    /// Can steps communicate more than once, and look into channels?
    several: bool,
    /// Are the definitions known here?
    with_defs: bool,
    /// How many locations the processes have; none means that they do not speak of them.
    n_locations: [usize; 2],
}

impl Generator<'_> {
    fn program(&mut self) -> Program {
        self.several = self.random.chance(40);
        let vars = self.variables();
        let f = self.fresh();
        self.numbers.push(f.clone());

        let f_body = self.number(2);
        self.numbers.clear();
        let defs = vec![
            Def {
                name: "twice",
                parameters: vec![f],
                body: f_body,
            },
            Def {
                name: "calm",
                parameters: vec![],
                body: self.condition(2),
            },
        ];

        self.with_defs = true;
        let mut init = Vec::new();
        if self.random.chance(25) {
            init.push(self.condition(2));
        }
        let processes = vec![self.process(0), self.process(1)];
        let questions = (0..3).map(|_| self.condition(3)).collect();
        let channels = if self.synchronous { vec![] } else { channels() };
        let events = if self.synchronous {
            vec![]
        } else {
            vec![("go", false), ("pass", true)]
        };
        Program {
            n: 2,
            synchronous: self.synchronous,
            vars,
            init,
            defs,
            channels,
            events,
            processes,
            questions,
        }
    }

    fn variables(&mut self) -> Vec<Variable> {
        let number = || Ty::Range(0, 2);
        let array = |lo, element| Ty::Array(lo, lo + 1, Box::new(element));
        let two = |a: Exp, b: Exp| Exp::List(vec![a, b]);
        let list = [
            ("x", number(), Exp::Int(1)),
            ("y", Ty::Range(-1, 2), Exp::Minus(Box::new(Exp::Int(1)))),
            ("b", Ty::Bool, Exp::Bool(true)),
            ("c", Ty::Color, name("green")),
            (
                "m",
                Ty::Message,
                Exp::Call("Message", vec![Exp::Int(1), Exp::Bool(true)]),
            ),
            (
                "a",
                array(1, Ty::Bool),
                two(Exp::Bool(true), Exp::Bool(false)),
            ),
            (
                "g",
                array(0, number()),
                Exp::Comprehension("i0".into(), 0, 1, Box::new(name("i0"))),
            ),
            ("t", array(0, array(0, Ty::Bool)), Exp::Bool(false)),
        ];

        let mut vars = Vec::new();
        for (name, ty, value) in list {
            let is_small = matches!(ty, Ty::Bool | Ty::Range(..) | Ty::Color);
            let initial = match self.random.below(6) {
                0 if is_small && self.random.chance(40) => Initial::Any,
                1 | 2 => Initial::Default,
                _ => Initial::Value(value),
            };
            vars.push(Variable { name, ty, initial });
        }

        vars
    }

    fn process(&mut self, position: usize) -> Process {
        self.process = Some(position);
        let is_family = position == 0;
        let locations = self.locations(position);
        let mut initial = vec![locations[0]];
        if locations.len() > 1 && self.random.chance(20) {
            initial.push(locations[1]);
        }
        let vars = vec![Variable {
            name: "z",
            ty: Ty::Range(0, 2),
            initial: if is_family && self.random.chance(50) {
                Initial::Value(name("id"))
            } else {
                Initial::Default
            },
        }];

        let own = name("z");
        // A definition must not need itself.
        self.with_defs = false;

        let mine = Def {
            name: "mine",
            parameters: vec![],
            body: Exp::Binary(Op::Gt, Box::new(own), Box::new(self.number(1))),
        };
        self.with_defs = true;

        let mut blocks = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let sources = if self.random.chance(20) || locations == ["main"] {
                None
            } else {
                let first = self.random.below(locations.len());
                let mut sources = vec![locations[first]];
                if locations.len() > 1 && self.random.chance(25) {
                    sources.push(locations[(first + 1) % locations.len()]);
                }
                Some(sources)
            };
            let steps = (0..1 + self.random.below(2))
                .map(|_| self.step(&locations))
                .collect();
            blocks.push(Block { sources, steps });
        }

        self.process = None;
        Process {
            name: ["P", "Q"][position],
            index: is_family.then_some(("id", 0, 1)),
            vars,
            defs: vec![mine],
            locations,
            initial,
            blocks,
        }
    }

    fn step(&mut self, locations: &[&'static str]) -> Step {
        let mut parameters = Vec::new();
        if self.random.chance(20) {
            let first = self.fresh();
            let condition = self.random.chance(40).then(|| {
                let op = self.comparison();
                Exp::Binary(op, Box::new(name(&first)), Box::new(Exp::Int(1)))
            });
            self.numbers.push(first.clone());
            parameters.push(Binder {
                names: vec![first],
                lo: Exp::Int(0),
                hi: name("N"),
                condition,
            });
        }

        let guards = (0..self.random.below(3))
            .map(|_| self.condition(2))
            .collect();
        let communication = if self.synchronous {
            Communication::Alone
        } else {
            self.communication()
        };
        let more = self.more_communications(&communication);
        let effect = self.effect(2);
        self.numbers.clear();
        self.truths.clear();

        // Steps with one name have as many parameters.
        let name = if parameters.is_empty() {
            ["enter", "leave", "work"][self.random.below(3)]
        } else {
            "pick"
        };

        Step {
            name,
            parameters,
            guards,
            communication,
            more,
            effect,
            target: (locations != ["main"] && self.random.chance(70))
                .then(|| locations[self.random.below(locations.len())]),
        }
    }

    fn communication(&mut self) -> Communication {
        let static_number = |me: &mut Self| match me.process {
            Some(0) if me.random.chance(60) => name("id"),
            _ => Exp::Int(me.random.below(2) as i64),
        };

        match self.random.below(12) {
            0 => Communication::Event("go", vec![]),
            1 => Communication::Event("pass", vec![static_number(self)]),
            2 | 3 => {
                let number = self.small_number();
                let payload = vec![number, self.condition(1)];
                Communication::Send(plain("q"), payload)
            }
            4 | 5 => {
                let patterns = vec![self.number_pattern(), self.truth_pattern()];
                Communication::Receive(plain("q"), patterns, self.manner())
            }
            6 => Communication::Send(plain("meet"), vec![self.small_number()]),
            7 => {
                let patterns = vec![self.number_pattern()];
                Communication::Receive(plain("meet"), patterns, Manner::default())
            }
            8 if self.several && self.random.chance(40) => self.broadcast(),
            8 => {
                let ring = self.ring();
                Communication::Send(ring, vec![self.condition(1)])
            }
            9 => {
                let ring = self.ring();
                let patterns = vec![self.truth_pattern()];
                Communication::Receive(ring, patterns, self.manner())
            }
            _ => Communication::Alone,
        }
    }

    fn manner(&mut self) -> Manner {
        Manner {
            is_any: self.several && self.random.chance(30),
            is_peek: self.several && self.random.chance(20),
        }
    }

    /// Through all channels of an array.
    fn broadcast(&mut self) -> Communication {
        let ring = Channel {
            name: "ring",
            index: Some(Box::new(name("j"))),
        };
        let inner = if self.random.chance(70) {
            Communication::Send(ring, vec![self.condition(1)])
        } else {
            Communication::Receive(ring, vec![self.truth_pattern()], self.manner())
        };
        Communication::ForEach("j", 0, 1, Box::new(inner))
    }

    /// What follows in the same step, unless the first communication needs a partner.
    fn more_communications(&mut self, first: &Communication) -> Vec<Communication> {
        let has_room = |c: &Communication| match c {
            Communication::Send(channel, _) | Communication::Receive(channel, ..) => {
                channel.name != "meet"
            }
            Communication::ForEach(..) => true,
            Communication::Alone | Communication::Event(..) => false,
        };
        let mut more = Vec::new();
        while self.several && has_room(first) && more.len() < 3 && self.random.chance(40) {
            let next = self.communication();
            more.extend(Some(next).filter(has_room));
        }
        more
    }

    fn ring(&mut self) -> Channel {
        let index = if self.random.chance(50) {
            Exp::Int(self.random.below(2) as i64)
        } else {
            modulo(self.number(0), 2)
        };
        Channel {
            name: "ring",
            index: Some(Box::new(index)),
        }
    }

    fn number_pattern(&mut self) -> Pattern {
        match self.random.below(4) {
            0 => Pattern::Ignore,
            1 => Pattern::Equal(self.number(1)),
            2 => Pattern::Store(name("x")),
            _ => Pattern::Store(index(name("g"), Exp::Int(self.random.below(2) as i64))),
        }
    }

    fn truth_pattern(&mut self) -> Pattern {
        match self.random.below(4) {
            0 => Pattern::Ignore,
            1 => Pattern::Equal(self.condition(1)),
            2 => Pattern::Store(name("b")),
            _ => Pattern::Store(Exp::Field(Box::new(name("m")), "on")),
        }
    }

    /// A number from 0 to 2, mostly.
    fn small_number(&mut self) -> Exp {
        let value = self.number(2);
        if self.random.chance(10) {
            value
        } else {
            modulo(value, 3)
        }
    }

    fn effect(&mut self, depth: usize) -> Vec<Stmt> {
        let (numbers, truths) = (self.numbers.clone(), self.truths.clone());
        let n_stmts = self.random.below(3);
        let stmts = (0..n_stmts).map(|_| self.stmt(depth)).collect();
        self.numbers = numbers;
        self.truths = truths;
        stmts
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        let n_kinds = if depth == 0 { 9 } else { 12 };
        match self.random.below(n_kinds) {
            0 => Stmt::Assign(
                vec![name("x"), name("b")],
                vec![self.small_number(), self.condition(1)],
            ),
            1 => {
                // Whole arrays.
                let (a, t) = (name("a"), name("t"));
                match self.random.below(4) {
                    0 => Stmt::Assign(vec![a], vec![self.condition(1)]),
                    1 => {
                        let both = vec![self.condition(1), self.condition(1)];
                        Stmt::Assign(vec![a], vec![Exp::List(both)])
                    }
                    2 => Stmt::Assign(vec![index(t, Exp::Int(0))], vec![self.condition(0)]),
                    _ => {
                        let bound = self.fresh();
                        self.numbers.push(bound.clone());
                        let body = self.small_number();
                        self.numbers.pop();
                        let value = Exp::Comprehension(bound, 0, 1, Box::new(body));
                        Stmt::Assign(vec![name("g")], vec![value])
                    }
                }
            }
            2 => match self.random.below(4) {
                0 => Stmt::Choose(name("x"), None, Ty::Range(0, 2), Some(self.condition(1))),
                1 => {
                    let bound = self.fresh();
                    self.numbers.push(bound.clone());
                    let condition = self.condition(1);
                    self.numbers.pop();
                    Stmt::Choose(name("x"), Some(bound), Ty::Range(0, 2), Some(condition))
                }
                2 => Stmt::Choose(name("c"), None, Ty::Color, None),
                _ => {
                    let bound = self.fresh();
                    self.truths.push(bound.clone());
                    Stmt::LetChoose(bound, Ty::Bool)
                }
            },
            3 => {
                let value = self.number(2);
                let bound = self.fresh();
                self.numbers.push(bound.clone());
                Stmt::Let(bound, value)
            }
            4 if self.random.chance(25) => Stmt::Assert(self.condition(2)),
            4 => Stmt::Skip,
            9 => {
                let condition = self.condition(2);
                let then = self.effect(depth - 1);
                Stmt::If(condition, then, self.effect(depth - 1))
            }
            10 => {
                let bound = self.fresh();
                let hi = self.number(1);
                self.numbers.push(bound.clone());
                let body = self.effect(depth - 1);
                self.numbers.retain(|known| *known != bound);
                Stmt::For(bound, Exp::Int(0), modulo(hi, 3), body)
            }
            _ => {
                let (place, value) = self.assignment();
                Stmt::Assign(vec![place], vec![value])
            }
        }
    }

    fn assignment(&mut self) -> (Exp, Exp) {
        match self.random.below(8) {
            0 => (name("x"), self.small_number()),
            1 => {
                let value = self.small_number();
                let one = Box::new(Exp::Int(1));
                (name("y"), Exp::Binary(Op::Sub, Box::new(value), one))
            }
            2 => (name("z"), self.small_number()),
            3 => (name("c"), name(super::COLORS[self.random.below(3)])),
            4 => (Exp::Field(Box::new(name("m")), "low"), self.small_number()),
            5 => {
                let position = modulo(self.number(1), 2);
                let one = Box::new(Exp::Int(1));
                let position = Exp::Binary(Op::Add, Box::new(position), one);
                (index(name("a"), position), self.condition(1))
            }
            6 => {
                let inner = modulo(index(name("g"), Exp::Int(0)), 2);
                let row = index(name("t"), inner);
                let column = Exp::Int(self.random.below(2) as i64);
                (index(row, column), self.condition(1))
            }
            _ => {
                let position = if self.random.chance(10) {
                    self.number(1)
                } else {
                    modulo(self.number(1), 2)
                };
                (index(name("g"), position), self.small_number())
            }
        }
    }

    fn comparison(&mut self) -> Op {
        COMPARISONS[self.random.below(COMPARISONS.len())]
    }

    fn number(&mut self, depth: usize) -> Exp {
        if depth == 0 || self.random.chance(25) {
            return match self.random.below(9) {
                0 => name("x"),
                1 => name("y"),
                2 if self.process.is_some() => name("z"),
                3 if self.process == Some(0) => name("id"),
                4 if !self.numbers.is_empty() => name(&self.random.pick(&self.numbers).clone()),
                5 => Exp::Field(Box::new(name("m")), "low"),
                6 => index(name("g"), Exp::Int(self.random.below(2) as i64)),
                7 if !self.synchronous && self.with_defs => Exp::Channel("len", plain("q")),
                _ => Exp::Int(self.random.below(4) as i64),
            };
        }

        match self.random.below(8) {
            0 => Exp::Minus(Box::new(self.number(depth - 1))),
            1 => {
                let condition = self.condition(depth - 1);
                let then = self.number(depth - 1);
                Exp::If(
                    Box::new(condition),
                    Box::new(then),
                    Box::new(self.number(depth - 1)),
                )
            }
            2 => {
                let word = ["min", "max"][self.random.below(2)];
                let both = vec![self.number(depth - 1), self.number(depth - 1)];
                Exp::Call(word, both)
            }
            3 if self.with_defs => Exp::Call("twice", vec![self.number(depth - 1)]),
            3 => Exp::Call("abs", vec![self.number(depth - 1)]),
            4 => {
                let kind = [QuantifierWord::Count, QuantifierWord::Sum][self.random.below(2)];
                self.quantified(kind, depth)
            }
            _ => {
                let op = ARITHMETIC[self.random.below(ARITHMETIC.len())];
                let left = self.number(depth - 1);
                let right = match op {
                    Op::Div | Op::Mod if self.random.chance(90) => {
                        Exp::Int(1 + self.random.below(3) as i64)
                    }
                    _ => self.number(depth - 1),
                };
                Exp::Binary(op, Box::new(left), Box::new(right))
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Exp {
        if depth == 0 {
            return self.fact();
        }
        match self.random.below(8) {
            0..=2 => {
                let op = self.comparison();
                let left = self.number(depth - 1);
                Exp::Binary(op, Box::new(left), Box::new(self.number(depth - 1)))
            }
            3 | 4 => {
                let op = CONNECTIVES[self.random.below(CONNECTIVES.len())];
                let left = self.condition(depth - 1);
                Exp::Binary(op, Box::new(left), Box::new(self.condition(depth - 1)))
            }
            5 => Exp::Not(Box::new(self.condition(depth - 1))),
            6 => {
                let kind = [QuantifierWord::Forall, QuantifierWord::Exists][self.random.below(2)];
                self.quantified(kind, depth)
            }
            _ => self.fact(),
        }
    }

    fn locations(&self, process: usize) -> Vec<&'static str> {
        match self.n_locations[process] {
            0 => vec!["main"],
            n => LOCATIONS[..n].to_vec(),
        }
    }

    /// Where a process is, or the one that is speaking.
    fn whereabouts(&mut self) -> Exp {
        let own = self.process.filter(|_| self.random.chance(50));
        let process = own.unwrap_or(self.random.below(2));
        let all = self.locations(process);
        let mut locations = vec![all[self.random.below(all.len())]];
        if all.len() > 1 && self.random.chance(30) {
            let other = all[self.random.below(all.len())];
            if other != locations[0] {
                locations.push(other);
            }
        }
        let whose = match (own, process) {
            (Some(_), _) => None,
            (None, 0) => Some(("P", Some(self.random.below(2) as i64))),
            (None, _) => Some(("Q", None)),
        };
        Exp::At(whose, locations)
    }

    fn fact(&mut self) -> Exp {
        let channels = !self.synchronous && self.with_defs;
        match self.random.below(12) {
            9 | 10 if self.with_defs => self.whereabouts(),
            0 => name("b"),
            1 => index(name("a"), Exp::Int(1 + self.random.below(2) as i64)),
            2 => {
                let row = index(name("t"), Exp::Int(self.random.below(2) as i64));
                index(row, Exp::Int(self.random.below(2) as i64))
            }
            3 => {
                let color = name(super::COLORS[self.random.below(3)]);
                let op = [Op::Eq, Op::Ne][self.random.below(2)];
                Exp::Binary(op, Box::new(name("c")), Box::new(color))
            }
            4 => Exp::Field(Box::new(name("m")), "on"),
            5 if self.with_defs => name("calm"),
            6 if self.process.is_some() && self.with_defs => name("mine"),
            7 if !self.truths.is_empty() => name(&self.random.pick(&self.truths).clone()),
            8 if channels => {
                let word = ["empty", "full"][self.random.below(2)];
                let channel = if self.random.chance(50) {
                    plain("q")
                } else {
                    Channel {
                        name: "ring",
                        index: Some(Box::new(Exp::Int(self.random.below(2) as i64))),
                    }
                };
                Exp::Channel(word, channel)
            }
            _ => Exp::Bool(self.random.chance(50)),
        }
    }

    fn quantified(&mut self, kind: QuantifierWord, depth: usize) -> Exp {
        let n_names = 1 + self.random.below(2);
        let names: Vec<String> = (0..n_names).map(|_| self.fresh()).collect();

        let known = self.numbers.len();
        self.numbers.extend(names.iter().cloned());

        let condition = self.random.chance(30).then(|| self.condition(1));
        let body = match kind {
            QuantifierWord::Sum => self.number(depth - 1),
            QuantifierWord::Forall | QuantifierWord::Exists | QuantifierWord::Count => {
                self.condition(depth - 1)
            }
        };

        self.numbers.truncate(known);

        let binder = Binder {
            names,
            lo: Exp::Int(0),
            hi: Exp::Int(1),
            condition,
        };
        Exp::Quantified(kind, vec![binder], Box::new(body))
    }

    fn fresh(&mut self) -> String {
        self.n_names += 1;
        format!("i{}", self.n_names)
    }
}

fn channels() -> Vec<ChannelDecl> {
    let channel = |name, capacity, indices, payload| ChannelDecl {
        name,
        capacity,
        indices,
        payload,
    };
    vec![
        channel("q", 1, None, vec![Ty::Range(0, 2), Ty::Bool]),
        channel("meet", 0, None, vec![Ty::Range(0, 2)]),
        channel("ring", 2, Some((0, 1)), vec![Ty::Bool]),
    ]
}

fn name(text: &str) -> Exp {
    Exp::Name(text.to_owned())
}

fn index(array: Exp, position: Exp) -> Exp {
    Exp::Index(Box::new(array), Box::new(position))
}

fn modulo(value: Exp, divisor: i64) -> Exp {
    Exp::Binary(Op::Mod, Box::new(value), Box::new(Exp::Int(divisor)))
}

fn plain(name: &'static str) -> Channel {
    Channel { name, index: None }
}
