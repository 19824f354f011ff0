//! Terms as locations: names that depend on data become slots.

use base::Span;
use model::VarId;

use super::lexer::Name;
use super::ranges::{Interval, join};
use super::term::{Arg, Env, Machine, Origin, Slot, Term, TermId};

impl Machine<'_> {
    /// Numbers the slots of a term by their position; says where each gets its value from.
    pub(crate) fn settle(&mut self, id: TermId) -> (TermId, Vec<Origin>) {
        let mut origins = Vec::new();
        let id = self.settle_term(id, &mut origins);
        (id, origins)
    }

    fn settle_term(&mut self, id: TermId, origins: &mut Vec<Origin>) -> TermId {
        let settled = match self.get(id) {
            Term::Stop | Term::Skip => return id,
            Term::Call(process, arguments) => {
                let decl = &self.scope.processes[process];
                let names: Vec<Name> = decl.parameters.iter().map(|p| p.text.clone()).collect();
                let arguments = names.iter().zip(arguments);
                let arguments = arguments
                    .map(|(name, arg)| self.settle_arg(process, name, arg, origins))
                    .collect();
                Term::Call(process, arguments)
            }
            Term::Text(text, env) => Term::Text(text, self.settle_env(&env, origins)),
            Term::Seq(a, b) => {
                let a = self.settle_term(a, origins);
                Term::Seq(a, self.settle_term(b, origins))
            }
            Term::Interrupt(a, b) => {
                let a = self.settle_term(a, origins);
                Term::Interrupt(a, self.settle_term(b, origins))
            }
            Term::Hide(a, set) => Term::Hide(self.settle_term(a, origins), set),
            Term::Atomic(a) => Term::Atomic(self.settle_term(a, origins)),
            Term::Choice(kind, list) => {
                let list = list.iter().map(|id| self.settle_term(*id, origins));
                Term::Choice(kind, list.collect())
            }
            Term::Interleave(list) => {
                let list = list.iter().map(|id| self.settle_term(*id, origins));
                Term::Interleave(list.collect())
            }
            Term::Parallel(list) => {
                let list = list.iter();
                let list = list.map(|(id, set)| (self.settle_term(*id, origins), *set));
                Term::Parallel(list.collect())
            }
        };

        self.term(settled)
    }

    fn settle_env(&mut self, env: &Env, origins: &mut Vec<Origin>) -> Env {
        let settle = |(name, arg): &(Name, Arg)| {
            let arg = self.settle_arg(env.def, name, arg.clone(), origins);
            (name.clone(), arg)
        };
        let values = env.values.iter().map(settle).collect();
        Env::new(env.def, values)
    }

    fn settle_arg(&mut self, def: usize, name: &Name, arg: Arg, origins: &mut Vec<Origin>) -> Arg {
        let origin = match arg {
            Arg::Const(value, _) if self.ranges.is_data(def, name) => Origin::Const(value),
            Arg::Const(..) => return arg,
            Arg::Slot(slot) => Origin::Slot(slot),
            Arg::Bound(bound) => Origin::Bound(bound),
            Arg::Lazy(expr, env) => return Arg::Lazy(expr, self.settle_env(&env, origins)),
            Arg::Array(cells) => {
                let cells = cells.iter();
                let cells = cells.map(|cell| self.settle_arg(def, name, cell.clone(), origins));
                return Arg::Array(cells.collect());
            }
        };

        // Arguments with the same origin share a slot, so that equal states stay equal.
        let shared = |known: &Origin| *known == origin && !matches!(known, Origin::Const(_));
        let slot = origins.iter().position(shared).unwrap_or_else(|| {
            origins.push(origin.clone());
            origins.len() - 1
        });

        let values = self.ranges.of_name(def, name);
        let values = values.unwrap_or(super::ranges::FULL);
        self.use_slot(slot, name, values);
        Arg::Slot(u16::try_from(slot).unwrap_or(u16::MAX))
    }

    /// Makes sure that the slot exists and holds all these values.
    fn use_slot(&mut self, slot: usize, name: &Name, values: Interval) {
        while self.slots.len() <= slot {
            let position = self.slots.len();
            let taken = |text: &str| {
                let mut names = self.slots.iter();
                names.any(|slot| self.parts.vars[slot.var.index()].name == text)
            };
            let name = if taken(name) {
                format!("{name}_{position}")
            } else {
                name.to_string()
            };
            let var = VarId::new(self.parts.vars.len());
            self.parts.vars.push(model::Variable {
                name,
                ty: model::Type::Scalar(model::Scalar::Int),
                owner: Some(self.process),
                initial: model::Initial::Values(vec![model::Expr::Int(0)]),
                span: Span::nowhere(),
            });
            self.slots.push(Slot {
                var,
                values: (0, 0),
            });
        }

        let slot = &mut self.slots[slot];
        slot.values = join(slot.values, values);
    }
}
