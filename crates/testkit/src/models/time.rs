//! What decides which steps exist and when: priorities, control, timers.

use base::Span;
use model::{
    Access, ArrayType, Atom, AtomMeaning, BinaryOp, Expr, Initial, Owner, ProcessId, Scalar,
    Setting, Stmt, StmtKind, Timer, Type, VarId, Variable,
};

use super::{Generator, X, place};

impl Generator<'_> {
    /// Priorities, and a process with control.
    pub(super) fn add_rulers(&mut self) {
        if self.random.chance(25) {
            let processes = self.parts.processes.iter_mut();
            for step in processes.flat_map(|process| &mut process.steps) {
                step.priority = self.random.below(3) as i8 - 1;
            }
        }
        if self.random.chance(if self.is_rich() { 25 } else { 10 }) {
            self.add_control();
        }
    }

    fn add_control(&mut self) {
        let control = VarId::new(self.parts.vars.len());
        self.parts.control = Some(control);
        let n_instances = self.parts.processes.iter().map(|process| {
            let index = process.index.map_or((0, 0), |range| (range.lo, range.hi));
            index.1 - index.0 + 1
        });
        let n_instances: i64 = n_instances.sum();
        self.parts.vars.push(Variable {
            name: "control".into(),
            ty: Type::Scalar(Scalar::Range(-1, n_instances)),
            owner: None,
            initial: if self.random.chance(30) {
                Initial::Any
            } else {
                Initial::Values(vec![Expr::Int(-1)])
            },
            span: Span::nowhere(),
        });

        for process in &mut self.parts.processes {
            for step in &mut process.steps {
                // Sometimes it is kept, whichever process has it.
                if self.random.chance(70) {
                    let value = if self.random.chance(40) {
                        -1
                    } else {
                        self.random.below(n_instances as usize) as i64
                    };
                    let take = StmtKind::Assign(place(control, None, vec![]), Expr::Int(value));
                    step.effect.push(Stmt::new(take, Span::nowhere()));
                }
            }
        }
    }

    /// A shared timer and one of each member of the family, abstract or not.
    pub(super) fn add_timers(&mut self) {
        let is_abstract = self.random.chance(70);
        for owner in [None, Some(ProcessId(0))] {
            let var = VarId::new(self.parts.vars.len());
            let array = Type::Array(Box::new(ArrayType {
                lo: 0,
                len: 2,
                element: Type::Scalar(Scalar::Int),
            }));
            let (ty, n_cells) = match (owner, self.is_rich()) {
                (None, true) => (array, 2),
                _ => (Type::Scalar(Scalar::Int), 1),
            };
            self.parts.vars.push(Variable {
                name: format!("t{}", var.0),
                ty,
                owner,
                initial: Initial::Values(vec![Expr::Int(-1); n_cells]),
                span: Span::nowhere(),
            });
            self.parts.timers.push(Timer {
                var,
                threshold: is_abstract.then(|| 1 + self.random.below(2) as i64),
                limit: 3,
                any: None,
                stretched_from: None,
            });
            for process in 0..self.n_processes() {
                for step in 0..self.parts.processes[process].steps.len() {
                    self.use_timer(var, n_cells, process, step);
                }
            }
        }

        self.parts.add_clock(Span::nowhere());
        self.add_timer_atoms();
    }

    /// What can be said for certain of the timer that belongs to no process, and that it is set.
    fn add_timer_atoms(&mut self) {
        let timer = &self.parts.timers[0];
        if timer.threshold.is_none() {
            return;
        }
        let var = timer.var;
        let path = match self.parts.vars[var.index()].ty {
            Type::Array(_) => vec![Access::Index(Expr::Int(0))],
            Type::Scalar(_) | Type::Record(_) => vec![],
        };
        let value = Expr::Int(self.random.below(3) as i64);
        let ops = [BinaryOp::Le, BinaryOp::Eq];
        let op = *self.random.pick(&ops);
        let comparison = Expr::binary(op, Expr::Read(place(var, None, path)), value);
        let certainly = AtomMeaning::Certainly(comparison, self.random.chance(50));

        let before = self.parts.vars[..var.index()].iter();
        let n_cells = before.map(|variable| {
            let n_copies = variable.owner.map_or(1, |owner| {
                let index = self.parts.processes[owner.index()].index;
                index.map_or(1, |range| (range.hi - range.lo + 1) as usize)
            });
            n_copies * variable.ty.n_cells(&self.parts.records)
        });

        let set = AtomMeaning::TimerSet(n_cells.sum());

        for (name, meaning) in [("certain", certainly), ("set", set)] {
            self.parts.atoms.push(Atom {
                name: name.into(),
                meaning,
                span: Span::nowhere(),
            });
        }
    }

    /// Lets a step set a timer or wait for it.
    fn use_timer(&mut self, var: VarId, n_cells: usize, process: usize, step: usize) {
        let owner = match (self.parts.vars[var.index()].owner, process) {
            (None, _) => None,
            (Some(_), 0) => Some(Owner::Own),
            (Some(_), _) => Some(Owner::Indexed(Box::new(Expr::Int(0)))),
        };
        let index = Expr::Read(place(X, None, vec![]));
        let path = match n_cells {
            1 => vec![],
            _ => vec![Access::Index(Expr::binary(
                BinaryOp::Mod,
                index,
                Expr::Int(2),
            ))],
        };

        let timer = place(var, owner, path);
        let is_abstract = self
            .parts
            .timers
            .last()
            .is_some_and(|t| t.threshold.is_some());
        let setting = match self.random.below(4) {
            0 if is_abstract => Setting::Any,
            1 => Setting::To(Expr::Int(-1)),
            2 => Setting::To(Expr::Int(1 + self.random.below(2) as i64)),
            _ => Setting::To(Expr::Read(place(X, None, vec![]))),
        };

        let step = &mut self.parts.processes[process].steps[step];
        if self.random.chance(40) {
            let set = StmtKind::SetTimer(timer.clone(), setting);
            step.effect.push(Stmt::new(set, Span::nowhere()));
        }
        if self.random.chance(40) {
            let expired = Expr::binary(BinaryOp::Eq, Expr::Read(timer), Expr::Int(0));
            let guard = std::mem::replace(&mut step.guard, Expr::Bool(true));
            step.guard = Expr::all([guard, expired]);
        }
    }
}
