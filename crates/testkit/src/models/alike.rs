//! Families of processes that are mostly alike, and values that are mostly not read again.

use base::{AtomId, Span};
use model::{
    Access, Annotation, AnnotationKind, ArrayType, Assumption, Atom, AtomMeaning, BinaryOp,
    BoundId, Channel, ChannelId, ChannelRef, Composition, Event, EventId, Expr, IndexRange,
    Initial, LocationId, ModelParts, Owner, Parameter, Pattern, Place, Process, ProcessId,
    Quantifier, Scalar, Step, StepPattern, Stmt, StmtKind, Sync, Target, Type, VarId, Variable,
};

use crate::Random;

use super::place;

/// A counter.
const X: VarId = VarId(0);
/// A flag for each process of the family.
const FLAG: VarId = VarId(1);
/// A process of the family, or none.
const WHO: VarId = VarId(2);
/// A number that each process of the family has for itself.
const OWN: VarId = VarId(3);
/// A process of the family that each of them knows.
const FRIEND: VarId = VarId(4);
/// A number that is written more often than read.
const SCRATCH: VarId = VarId(5);

const FAMILY: ProcessId = ProcessId(0);
const SINGLE: ProcessId = ProcessId(1);

/// A model with a family of processes that can often be exchanged, and another process.
pub(super) fn parts(random: &mut Random) -> ModelParts {
    let mut alike = Alike {
        n: 2 + random.below(2) as i64,
        odd: *random.pick(&[0, 5, 15]),
        random,
        parts: ModelParts::default(),
        own: None,
        others: Vec::new(),
    };
    alike.fill();
    alike.parts
}

struct Alike<'r> {
    random: &'r mut Random,
    parts: ModelParts,
    /// How many processes the family has.
    n: i64,
    /// How often, in percent, something tells processes apart.
    odd: usize,
    /// The index of the process that is being made, if it is the family.
    own: Option<BoundId>,
    /// Other names for indices of the family.
    others: Vec<BoundId>,
}

impl Alike<'_> {
    fn fill(&mut self) {
        self.add_variables();
        if self.random.chance(15) {
            self.parts.composition = Composition::Synchronous;
        } else if self.random.chance(40) {
            self.add_channels();
        }

        self.parts.events.push(Event {
            name: "go".into(),
            span: Span::nowhere(),
        });

        let own = self.bound("id");
        self.own = Some(own);
        let n_locations = 2 + self.random.below(2);
        let mut family = self.process("P", n_locations);
        let (lo, hi) = (0, self.n - 1);
        family.index = Some(IndexRange { bound: own, lo, hi });
        self.parts.processes.push(family);
        self.own = None;

        let n_locations = 1 + self.random.below(2);
        let single = self.process("Q", n_locations);
        self.parts.processes.push(single);
        self.add_atoms();
        self.add_fairness();
        if self.random.chance(10) {
            let constraint = self.condition(1);
            self.parts.init.push(constraint);
        }
    }

    fn add_variables(&mut self) {
        let number = Type::Scalar(Scalar::Range(0, 1));
        let index = Type::Scalar(Scalar::Range(0, self.n - 1 + self.random.below(2) as i64));
        let flags = Type::Array(Box::new(ArrayType {
            lo: 0,
            len: self.n as usize,
            element: Type::Scalar(Scalar::Bool),
        }));
        let variables = [
            ("x", number.clone(), None),
            ("flag", flags, None),
            ("who", index.clone(), None),
            ("own", number.clone(), Some(FAMILY)),
            ("friend", index, Some(FAMILY)),
            ("scratch", number, self.random.chance(50).then_some(FAMILY)),
        ];

        for (name, ty, owner) in variables {
            let n_cells = ty.n_cells(&[]);
            // Among indices no value is alike to all, but every one of them is.
            let initial = if self.random.chance(if ty_is_index(&ty) { 60 } else { 20 }) {
                Initial::Any
            } else {
                Initial::Values(vec![Expr::Int(0); n_cells])
            };
            self.parts.vars.push(Variable {
                name: name.into(),
                ty,
                owner,
                initial,
                span: Span::nowhere(),
            });
        }
    }

    fn add_channels(&mut self) {
        let index = Scalar::Range(0, self.n - 1);
        let channel = |name: &str, indices, capacity| Channel {
            name: name.into(),
            indices,
            capacity,
            payload: vec![index],
            span: Span::nowhere(),
        };
        self.parts.channels = vec![
            channel("post", Some((0, self.n - 1)), 1),
            channel("meet", None, 0),
            channel("board", None, 2),
        ];
    }

    fn bound(&mut self, name: &str) -> BoundId {
        self.parts.bounds.push(name.to_owned());
        BoundId::new(self.parts.bounds.len() - 1)
    }

    fn process(&mut self, name: &str, n_locations: usize) -> Process {
        let locations = (0..n_locations).map(|i| format!("l{i}")).collect();
        let mut process = Process::new(name, locations, vec![], Span::nowhere());
        let n_steps = n_locations + self.random.below(2);
        for position in 0..n_steps {
            let source = if position < n_locations {
                position
            } else {
                self.random.below(n_locations)
            };
            let step = self.step(source, n_locations);
            process.steps.push(step);
        }
        process
    }

    fn step(&mut self, source: usize, n_locations: usize) -> Step {
        let name = *self.random.pick(&["a", "b", "c"]);
        let target = LocationId::new(self.random.below(n_locations));
        let mut step = Step::new(name, LocationId::new(source), target, Span::nowhere());
        if self.random.chance(25) {
            let bound = self.bound("k");
            step.parameters.push(Parameter {
                bound,
                lo: Expr::Int(0),
                hi: Expr::Int(self.n - 1),
            });
            self.others.push(bound);
        }

        if self.random.chance(60) {
            step.guard = self.condition(2);
        }
        if self.parts.composition == Composition::Interleaving {
            step.sync = self.sync();
        }
        step.effect = self.effect(2);
        if self.random.chance(5) {
            step.priority = 1;
        }
        self.others.clear();
        step
    }

    fn sync(&mut self) -> Sync {
        if self.random.chance(10) {
            let arguments = vec![self.known_index()];
            return Sync::Event {
                event: EventId(0),
                arguments,
            };
        }

        if self.parts.channels.is_empty() || self.random.chance(60) {
            return Sync::Internal;
        }
        let channel = self.random.below(3);
        let index = (channel == 0).then(|| Box::new(self.known_index()));
        let channel = ChannelRef {
            channel: ChannelId::new(channel),
            index,
        };

        if self.random.chance(50) {
            Sync::Send {
                channel,
                payload: vec![self.known_index()],
            }
        } else {
            let pattern = match self.random.below(3) {
                0 => Pattern::Match(self.known_index()),
                1 => Pattern::Store(self.index_place()),
                _ => Pattern::Ignore,
            };
            Sync::Receive {
                channel,
                patterns: vec![pattern],
            }
        }
    }

    /// An index that does not depend on the state.
    fn known_index(&mut self) -> Expr {
        let mut names = self.others.clone();
        names.extend(self.own);
        if names.is_empty() || self.random.chance(self.odd) {
            Expr::Int(self.random.below(self.n as usize) as i64)
        } else {
            Expr::Bound(*self.random.pick(&names))
        }
    }

    fn index_place(&mut self) -> Place {
        if self.own.is_some() && self.random.chance(50) {
            place(FRIEND, Some(Owner::Own), vec![])
        } else {
            place(WHO, None, vec![])
        }
    }

    fn index(&mut self) -> Expr {
        if self.random.chance(40) {
            Expr::Read(self.index_place())
        } else {
            self.known_index()
        }
    }

    fn scratch(&self) -> Option<Place> {
        let owner = self.parts.vars[SCRATCH.index()].owner;
        match (owner, self.own) {
            (Some(_), None) => None,
            (Some(_), Some(_)) => Some(place(SCRATCH, Some(Owner::Own), vec![])),
            (None, _) => Some(place(SCRATCH, None, vec![])),
        }
    }

    fn flag(&mut self, index: Expr) -> Place {
        place(FLAG, None, vec![Access::Index(index)])
    }

    /// An index that is in range for the flags.
    fn flag_index(&mut self) -> Expr {
        if self.random.chance(75) {
            self.known_index()
        } else {
            self.index()
        }
    }

    fn number(&mut self) -> Expr {
        let scratch = self.scratch();
        match self.random.below(8) {
            0 | 1 => Expr::Read(place(X, None, vec![])),
            2 | 3 if self.own.is_some() => Expr::Read(place(OWN, Some(Owner::Own), vec![])),
            4 if scratch.is_some() => Expr::Read(scratch.expect("it is there")),
            5 if self.random.chance(self.odd) => match self.own {
                Some(own) => Expr::binary(BinaryOp::Mod, Expr::Bound(own), Expr::Int(2)),
                None => Expr::Int(0),
            },
            _ => Expr::Int(self.random.below(2) as i64),
        }
    }

    fn condition(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.random.chance(40) {
            return match self.random.below(4) {
                0 => Expr::not(self.condition(depth - 1)),
                1 => self.quantified(depth - 1),
                _ => {
                    let ops = [BinaryOp::And, BinaryOp::Or, BinaryOp::Implies];
                    let op = *self.random.pick(&ops);
                    Expr::binary(op, self.condition(depth - 1), self.condition(depth - 1))
                }
            };
        }

        match self.random.below(6) {
            0 | 1 if self.own.is_some() || !self.others.is_empty() => {
                let index = self.flag_index();
                Expr::Read(self.flag(index))
            }
            2 if self.own.is_some() || !self.others.is_empty() => {
                let ops = [BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt];
                let n_ops = if self.random.chance(self.odd) { 4 } else { 3 };
                let op = ops[self.random.below(n_ops)];
                Expr::binary(op, self.index(), self.index())
            }
            3 => self.quantified(1),
            4 => Expr::binary(BinaryOp::Eq, self.count(), Expr::Int(1)),
            _ => {
                let ops = [BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ge];
                let op = *self.random.pick(&ops);
                Expr::binary(op, self.number(), self.number())
            }
        }
    }

    fn quantified(&mut self, depth: usize) -> Expr {
        let bound = self.bound("q");
        self.others.push(bound);
        let body = if self.random.chance(40) {
            at(bound, self.random.below(2))
        } else {
            self.condition(depth)
        };
        self.others.pop();
        let kinds = [Quantifier::Forall, Quantifier::Exists];
        let body = match (self.own, self.random.chance(40)) {
            (Some(own), true) => {
                let other = Expr::binary(BinaryOp::Ne, Expr::Bound(bound), Expr::Bound(own));
                Expr::binary(BinaryOp::Implies, other, body)
            }
            _ => body,
        };
        let quantifier = *self.random.pick(&kinds);
        self.over_family(quantifier, bound, body)
    }

    fn over_family(&mut self, quantifier: Quantifier, bound: BoundId, body: Expr) -> Expr {
        let last = self.n - 1 - i64::from(self.random.chance(self.odd));
        Expr::Quantified {
            quantifier,
            bound,
            lo: Box::new(Expr::Int(0)),
            hi: Box::new(Expr::Int(last)),
            body: Box::new(body),
        }
    }

    /// How many flags are set.
    fn count(&mut self) -> Expr {
        let bound = self.bound("s");
        let flag = Expr::Read(self.flag(Expr::Bound(bound)));
        self.over_family(Quantifier::Sum, bound, flag)
    }

    fn effect(&mut self, depth: usize) -> Vec<Stmt> {
        let n_statements = self.random.below(3);
        let n_names = self.others.len();
        let mut statements = Vec::new();
        for _ in 0..n_statements {
            let kind = self.statement(depth);
            statements.push(Stmt::new(kind, Span::nowhere()));
        }
        self.others.truncate(n_names);
        statements
    }

    fn statement(&mut self, depth: usize) -> StmtKind {
        match self.random.below(if depth == 0 { 7 } else { 10 }) {
            0 => StmtKind::Assign(place(X, None, vec![]), self.number()),
            1 if self.own.is_some() => {
                let own = place(OWN, Some(Owner::Own), vec![]);
                StmtKind::Assign(own, self.number())
            }
            1 | 2 => {
                let index = self.flag_index();
                StmtKind::Assign(self.flag(index), self.condition(0))
            }
            3 | 4 => StmtKind::Assign(self.index_place(), self.index()),
            5 | 6 => match self.scratch() {
                Some(scratch) => StmtKind::Assign(scratch, self.number()),
                None => StmtKind::Assign(place(X, None, vec![]), Expr::Int(0)),
            },
            7 => {
                let condition = self.condition(1);
                StmtKind::If(condition, self.effect(depth - 1), self.effect(depth - 1))
            }
            8 => {
                let bound = self.bound("c");
                let (lo, hi) = (Expr::Int(0), Expr::Int(self.n - 1));
                self.others.push(bound);
                StmtKind::Choose(bound, lo, hi, self.condition(0))
            }
            _ => {
                let bound = self.bound("i");
                self.others.push(bound);
                let body = self.effect(depth - 1);
                self.others.pop();
                StmtKind::For(bound, Expr::Int(0), Expr::Int(self.n - 1), body)
            }
        }
    }

    fn add_atoms(&mut self) {
        let mut meanings = Vec::new();
        for _ in 0..4 {
            let one = Expr::Int(self.random.below(self.n as usize) as i64);
            let condition = match self.random.below(100) {
                0..5 => Expr::Read(self.flag(one)),
                5..10 => Expr::binary(BinaryOp::Eq, Expr::Read(place(WHO, None, vec![])), one),
                _ => self.condition(2),
            };
            meanings.push(AtomMeaning::State(condition));
        }

        let index = self.random.chance(20).then_some(0);
        for name in ["a", "b"] {
            meanings.push(AtomMeaning::Taken(StepPattern {
                action: Some(name.into()),
                index,
                ..StepPattern::default()
            }));
        }

        meanings.push(AtomMeaning::Enabled(StepPattern {
            process: Some(*self.random.pick(&[FAMILY, SINGLE])),
            ..StepPattern::default()
        }));
        meanings.push(AtomMeaning::Deadlock);

        let atom = |(position, meaning)| Atom {
            name: format!("p{position}"),
            meaning,
            span: Span::nowhere(),
        };
        self.parts.atoms = meanings.into_iter().enumerate().map(atom).collect();
    }

    fn add_fairness(&mut self) {
        if self.random.chance(50) {
            let kinds = [AnnotationKind::Weak, AnnotationKind::Strong];
            let process = *self.random.pick(&[FAMILY, SINGLE]);
            let target = match self.random.below(3) {
                0 => Target::Process(process),
                1 => Target::Action(process, "a".into()),
                _ => Target::Choice(process, 0),
            };
            self.parts.annotations.push(Annotation {
                kind: *self.random.pick(&kinds),
                target,
                span: Span::nowhere(),
            });
        }

        if self.random.chance(20) {
            let atom = AtomId::new(self.random.below(8));
            let value = self.random.chance(70);
            self.parts.assumptions.push(if self.random.chance(50) {
                Assumption::Infinitely(atom, value)
            } else {
                Assumption::Eventually(atom, value)
            });
        }
    }
}

/// Is the process of the family with this index at this location?
fn at(bound: BoundId, location: usize) -> Expr {
    Expr::At {
        process: FAMILY,
        owner: Owner::Indexed(Box::new(Expr::Bound(bound))),
        locations: vec![LocationId::new(location)],
    }
}

fn ty_is_index(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::Range(0, hi)) if *hi > 1)
}
