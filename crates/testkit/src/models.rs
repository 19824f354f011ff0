use base::{Fairness, Span};
use model::{
    Access, ArrayType, BinaryOp, BoundId, Channel, ChannelId, ChannelRef, Composition, Event,
    EventId, Expr, IndexRange, Initial, LocationId, Model, ModelParts, Owner, Parameter, Pattern,
    Place, Process, ProcessId, Scalar, Step, Stmt, StmtKind, Sync, Type, VarId, Variable,
};

use crate::Random;

mod alike;
mod atoms;
mod communication;
mod expr;
mod extras;
mod related;
mod time;

pub use communication::communicating_text;
use extras::Extras;
pub use related::{RelatedText, related_constructs, related_model, related_text};

/// What random models may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelShape {
    /// Few states: for the oracle.
    Tiny,
    /// Every construct of the model, and run-time errors: for comparing step relations.
    Rich,
    /// Rich, and numbers without bounds: other routes than explicit search answer questions about
    /// such models.
    Wide,
    /// Several processes that do not have much to do with each other: for reductions.
    Loose,
    /// Processes of a family that can often be exchanged, and values that are often not read again:
    /// for reductions.
    Alike,
}

/// A random model. Its atoms are four state propositions, two step propositions, one `enabled`
/// proposition and deadlock, in this order; models with timers have more.
pub fn random_model(random: &mut Random, shape: ModelShape) -> Model {
    if shape == ModelShape::Alike {
        let parts = alike::parts(random);
        return parts.finish().expect("random models are well formed");
    }

    let mut generator = Generator {
        random,
        shape,
        parts: ModelParts::default(),
        process: ProcessId(0),
        bounds: Vec::new(),
        data: 0,
        plans: Vec::new(),
        extras: Extras::default(),
    };

    generator.fill();
    generator
        .parts
        .finish()
        .expect("random models are well formed")
}

const X: VarId = VarId(0);
const ARRAY: VarId = VarId(1);
const LOCAL: VarId = VarId(2);

struct Generator<'r> {
    random: &'r mut Random,
    shape: ModelShape,
    parts: ModelParts,
    process: ProcessId,
    bounds: Vec<BoundId>,
    /// How often, in percent, a step of a loose model reads or writes variables.
    data: usize,
    /// What is fixed about each process before the first of them is made.
    plans: Vec<Plan>,
    /// The variables that not every model has.
    extras: Extras,
}

/// What is fixed about a process from the start, so that others can speak of it.
#[derive(Clone, Copy)]
struct Plan {
    n_locations: usize,
    index: Option<IndexRange>,
}

impl Generator<'_> {
    fn n_processes(&self) -> usize {
        match self.shape {
            ModelShape::Tiny | ModelShape::Rich | ModelShape::Wide | ModelShape::Alike => 2,
            ModelShape::Loose => 4,
        }
    }

    fn is_loose(&self) -> bool {
        self.shape == ModelShape::Loose
    }

    fn is_rich(&self) -> bool {
        matches!(self.shape, ModelShape::Rich | ModelShape::Wide)
    }

    fn fill(&mut self) {
        if self.is_loose() {
            self.data = *self.random.pick(&[5, 20, 50]);
        }
        self.add_plans();
        self.add_variables();
        self.add_extras();
        if self.is_rich() && self.random.chance(25) {
            self.parts.composition = Composition::Synchronous;
        } else if self.random.chance(40) {
            self.add_channels();
        }

        self.parts.events.push(Event {
            name: "go".into(),
            span: Span::nowhere(),
        });
        for position in 0..self.n_processes() {
            self.process = ProcessId::new(position);
            let process = self.process(position);
            self.parts.processes.push(process);
        }

        self.add_atoms();
        self.add_fairness();
        self.add_rulers();
        if self.parts.composition == Composition::Interleaving && self.random.chance(20) {
            self.add_timers();
        }
        if self.random.chance(20) {
            self.bounds.clear();
            let constraint = self.condition(2, false);
            self.parts.init.push(constraint);
        }
        if self.random.chance(10) {
            let names = ["none", "weak", "strong-process+annotated", "annotated"];
            let name = names[self.random.below(names.len())];
            self.parts.fairness = Fairness::parse(name);
        }
    }

    /// How many locations the processes have, and which of them are families.
    fn add_plans(&mut self) {
        let has_two_families = self.random.chance(25);
        for position in 0..self.n_processes() {
            let n_locations = 1 + self.random.below(if self.is_loose() { 4 } else { 3 });
            // The first process is a family, so that indices and local variables are exercised.
            let is_family = position == 0 || (position == 1 && has_two_families);
            let index = is_family.then(|| {
                let lo = position as i64;
                let hi = lo + i64::from(self.random.chance(40));
                let bound = self.bound("id");
                IndexRange { bound, lo, hi }
            });
            self.plans.push(Plan { n_locations, index });
        }
    }

    fn add_variables(&mut self) {
        let top = if self.is_rich() { 3 } else { 1 };
        let range = Type::Scalar(Scalar::Range(0, top));
        let array = Type::Array(Box::new(ArrayType {
            lo: 1,
            len: 2,
            element: Type::Scalar(Scalar::Bool),
        }));
        let any = |random: &mut Random, n: usize| {
            if random.chance(25) {
                Initial::Any
            } else {
                Initial::Values(vec![Expr::Int(0); n])
            }
        };

        for (name, ty, owner, n_cells) in [
            ("x", range.clone(), None, 1),
            ("a", array, None, 2),
            ("l", range, Some(ProcessId(0)), 1),
        ] {
            let initial = any(self.random, n_cells);
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
        self.parts.channels = vec![
            Channel {
                name: "buffer".into(),
                indices: Some((0, 1)),
                capacity: 1 + self.random.below(2),
                payload: vec![Scalar::Range(0, 1), Scalar::Bool],
                span: Span::nowhere(),
            },
            Channel {
                name: "meet".into(),
                indices: None,
                capacity: 0,
                payload: vec![Scalar::Range(0, 1)],
                span: Span::nowhere(),
            },
        ];
    }

    fn bound(&mut self, name: &str) -> BoundId {
        self.parts.bounds.push(name.to_owned());
        BoundId::new(self.parts.bounds.len() - 1)
    }

    fn process(&mut self, position: usize) -> Process {
        let Plan { n_locations, index } = self.plans[position];
        let locations = (0..n_locations).map(|i| format!("l{i}")).collect();
        let mut process = Process::new(&format!("P{position}"), locations, vec![], Span::nowhere());

        self.bounds.clear();
        process.index = index;
        self.bounds.extend(index.map(|range| range.bound));

        if self.random.chance(15) {
            process.initial = (0..n_locations).map(LocationId::new).collect();
        }

        let mut n_steps = 1 + self.random.below(3);

        if self.is_loose() && self.random.chance(90 - self.data) {
            n_steps = self.random.below(2);
            self.go_round(&mut process);
        }

        for _ in 0..n_steps {
            let step = self.step(n_locations);
            process.steps.push(step);
        }

        process
    }

    /// Steps that make the process go round, meeting its neighbours on the way.
    fn go_round(&mut self, process: &mut Process) {
        let n_locations = process.locations.len();
        let n_processes = self.n_processes();
        for source in 0..n_locations {
            let name = ["a", "b", "c"][source % 3];
            let target = LocationId::new((source + 1) % n_locations);
            let mut step = Step::new(name, LocationId::new(source), target, Span::nowhere());
            if source < 2 {
                let meeting = (self.process.index() + source) % n_processes;
                step.sync = Sync::Event {
                    event: EventId(0),
                    arguments: vec![Expr::Int(2 + meeting as i64)],
                };
            }
            process.steps.push(step);
        }
        process.initial = vec![LocationId::new(self.random.below(n_locations))];
    }

    fn step(&mut self, n_locations: usize) -> Step {
        let outer = self.bounds.len();
        let name = *self.random.pick(&["a", "b", "c"]);
        let [source, target] = [0, 1].map(|_| LocationId::new(self.random.below(n_locations)));
        let mut step = Step::new(name, source, target, Span::nowhere());
        if self.random.chance(18) {
            self.add_parameters(&mut step);
        }
        step.guard = match self.random.below(3) {
            0 => Expr::Bool(true),
            _ if self.is_loose() && !self.random.chance(self.data) => Expr::Bool(true),
            _ => self.condition(2, true),
        };
        if self.parts.composition == Composition::Interleaving {
            step.sync = self.sync();
        }
        // shape: only steps without partners have labels.
        if matches!(step.sync, Sync::Internal) && self.random.chance(5) {
            step.label = Some("shared".into());
        }
        step.effect = self.effect(2);
        self.bounds.truncate(outer);
        step
    }

    /// One action for each value of a parameter, or for each pair of values that fit together.
    fn add_parameters(&mut self, step: &mut Step) {
        let first = self.bound("k");
        let (lo, hi) = (Expr::Int(0), Expr::Int(1));
        step.parameters.push(Parameter {
            bound: first,
            lo,
            hi,
        });
        self.bounds.push(first);

        if self.random.chance(30) {
            let second = self.bound("j");
            let lo = if self.random.chance(50) {
                Expr::Bound(first)
            } else {
                Expr::Int(0)
            };
            let hi = Expr::Int(1);
            step.parameters.push(Parameter {
                bound: second,
                lo,
                hi,
            });
            self.bounds.push(second);
        }

        if self.random.chance(40) {
            let bound = *self.random.pick(&self.bounds);
            let ops = [BinaryOp::Ne, BinaryOp::Le, BinaryOp::Gt];
            let op = *self.random.pick(&ops);
            step.condition = Expr::binary(op, Expr::Bound(bound), Expr::Bound(first));
            if bound == first {
                step.condition = Expr::binary(op, Expr::Bound(first), Expr::Int(0));
            }
        }
    }

    fn sync(&mut self) -> Sync {
        let has_channels = !self.parts.channels.is_empty();
        let channel = self.random.below(2);
        let index = (channel == 0).then(|| Box::new(self.expr(1, true)));
        let n_components = if channel == 0 { 2 } else { 1 };
        let reference = ChannelRef {
            channel: ChannelId::new(channel),
            index: index.map(|index| {
                if self.is_rich() {
                    index
                } else {
                    Box::new(Expr::Int(0))
                }
            }),
        };

        if self.is_loose() && self.random.chance(60 - self.data) {
            // Pairs of neighbours meet: the event of a process, or of the next.
            let process = self.process.index();
            let meeting = (process + self.random.below(2)) % self.n_processes();
            return Sync::Event {
                event: EventId(0),
                arguments: vec![Expr::Int(2 + meeting as i64)],
            };
        }

        match self.random.below(10) {
            0 | 1 if has_channels => Sync::Send {
                channel: reference,
                payload: (0..n_components).map(|i| self.payload(i)).collect(),
            },
            2 | 3 if has_channels => Sync::Receive {
                channel: reference,
                patterns: (0..n_components).map(|i| self.pattern(i)).collect(),
            },
            4 => {
                let argument = match self.bounds.last() {
                    Some(bound) if self.random.chance(40) => Expr::Bound(*bound),
                    _ => Expr::Int(self.random.below(2) as i64),
                };
                let (event, arguments) = (EventId(0), vec![argument]);
                Sync::Event { event, arguments }
            }
            _ => Sync::Internal,
        }
    }

    fn payload(&mut self, component: usize) -> Expr {
        match component {
            0 => Expr::Int(self.random.below(2) as i64),
            _ => self.condition(1, true),
        }
    }

    fn pattern(&mut self, component: usize) -> Pattern {
        match (self.random.below(3), component) {
            (0, 0) => Pattern::Match(Expr::Int(self.random.below(2) as i64)),
            (1, 0) => Pattern::Store(place(X, None, vec![])),
            (0, _) if self.random.chance(30) => Pattern::Match(self.condition(0, true)),
            (1, _) => Pattern::Store(self.element()),
            _ => Pattern::Ignore,
        }
    }

    fn element(&mut self) -> Place {
        let index = if self.is_rich() {
            self.expr(1, true)
        } else {
            Expr::Int(1 + self.random.below(2) as i64)
        };
        place(ARRAY, None, vec![Access::Index(index)])
    }

    fn effect(&mut self, depth: usize) -> Vec<Stmt> {
        let mut n_statements = self.random.below(3);
        if self.is_loose() && !self.random.chance(self.data) {
            n_statements = 0;
        }
        (0..n_statements).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        if depth > 0 && self.is_rich() && self.random.chance(12) {
            return self.counted_loop(depth);
        }
        if self.random.chance(25)
            && let Some(kind) = self.extra_assignment()
        {
            return Stmt::new(kind, Span::nowhere());
        }

        let kind = match self.random.below(if depth == 0 { 5 } else { 10 }) {
            0..=2 => StmtKind::Assign(place(X, None, vec![]), self.small_value()),
            3 => {
                let element = self.element();
                StmtKind::Assign(element, self.condition(1, true))
            }
            4 if self.process == ProcessId(0) => {
                let local = place(LOCAL, Some(Owner::Own), vec![]);
                StmtKind::Assign(local, self.small_value())
            }
            5 => {
                let condition = self.condition(1, true);
                StmtKind::If(condition, self.effect(depth - 1), self.effect(depth - 1))
            }
            6 if self.is_rich() => {
                let bound = self.bound("i");
                let hi = self.expr(1, true);
                self.bounds.push(bound);
                let body = self.effect(depth - 1);
                self.bounds.pop();
                StmtKind::For(bound, Expr::Int(0), hi, body)
            }
            7 => {
                let bound = self.bound("c");
                let condition = self.condition(1, true);
                self.bounds.push(bound);
                StmtKind::Choose(bound, Expr::Int(0), Expr::Int(1), condition)
            }
            8 if self.is_rich() && self.random.chance(10) => {
                StmtKind::Assert(self.condition(2, true))
            }
            9 if self.is_rich() && self.random.chance(20) => {
                if self.random.chance(50) {
                    StmtKind::Fail("wrong".into())
                } else {
                    StmtKind::Exhausted
                }
            }
            _ => StmtKind::Assign(place(X, None, vec![]), Expr::Int(0)),
        };

        // shape: the generator makes no other statement that binds a name for those after it.
        let scoped = matches!(kind, StmtKind::Choose(..));
        if scoped {
            // A name chosen here is not known behind an enclosing block; forgetting it at once is
            // simpler than tracking blocks.
            self.bounds.pop();
        }

        Stmt::new(kind, Span::nowhere())
    }

    /// A name that is bound, read, counted up and forgotten behind the loop.
    fn counted_loop(&mut self, depth: usize) -> Stmt {
        let plain = |kind| Stmt::new(kind, Span::nowhere());
        let counter = self.bound("n");
        let start = self.expr(1, true);
        self.bounds.push(counter);

        let bound = || Expr::Bound(counter);
        let mut body = self.effect(depth - 1);
        let next = Expr::binary(BinaryOp::Add, bound(), Expr::Int(1));
        body.push(plain(StmtKind::Set(counter, next)));

        // Loops without end are tried elsewhere: the reference semantics takes its time for them.
        let below = Expr::binary(BinaryOp::Lt, bound(), self.expr(1, true));
        let small = Expr::binary(BinaryOp::Le, bound(), Expr::Int(2));
        let condition = Expr::all([small, below]);
        let value = if self.random.chance(50) {
            let n_values = if self.is_rich() { 4 } else { 2 };
            Expr::binary(BinaryOp::Mod, bound(), Expr::Int(n_values))
        } else {
            self.small_value()
        };

        let last = StmtKind::Assign(place(X, None, vec![]), value);
        self.bounds.pop();
        let sequence = vec![
            plain(StmtKind::Let(counter, start)),
            plain(StmtKind::While(condition, body)),
            plain(last),
        ];
        plain(StmtKind::If(Expr::Bool(true), sequence, vec![]))
    }
}

fn place(var: VarId, owner: Option<Owner>, path: Vec<Access>) -> Place {
    Place { var, owner, path }
}
