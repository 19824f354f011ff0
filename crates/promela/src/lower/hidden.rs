//! `hidden` variables: values that are not kept from one step to the next.
//!
//! Spin leaves hidden variables out of the state, whatever they are used for. That is right only if
//! no step reads what an earlier one wrote: if a variable is never read, or read only inside a
//! `d_step` that has written it before. Then it is set back at the end of every step that writes
//! it, so states are not told apart by it. Any other hidden variable stays part of the state, with
//! a warning.

use std::collections::BTreeMap;

use base::Diagnostic;
use model::{Place, Step, Stmt, StmtKind, Sync, VarId};

use crate::ast::{Argument, VarRef};
use crate::flow::{ElementKind, Flow, Leaf};
use crate::symbols::Ty;

use super::expr::Who;
use super::storage::CellInit;
use super::{Extra, Lowering, Storage, Unit};

impl Lowering<'_> {
    /// Finds the hidden variables that no state needs to remember.
    pub(super) fn find_temporaries(&mut self, extras: &[Extra]) {
        for var in 0..self.symbols.vars.len() {
            let described = &self.symbols.vars[var];
            let is_plain = !matches!(described.ty, Ty::Chan | Ty::Timer);
            if !described.hidden || described.owner.is_some() || !is_plain {
                continue;
            }
            let span = described.span;
            if self.is_temporary(var, extras) {
                self.special.temporaries.push(var);
            } else {
                let message = "this variable carries values from one step to another, so it is \
                               part of the state although it is `hidden`";
                let help = "write it before it is read in the same `d_step`, or drop `hidden`";
                self.say(Diagnostic::warning("hidden", span, message).help(help));
            }
        }
    }

    fn is_temporary(&mut self, var: usize, extras: &[Extra]) -> bool {
        if self.is_observed(var, extras) {
            return false;
        }
        let described = &self.symbols.vars[var];
        let is_scalar = described.length.is_none() && !matches!(described.ty, Ty::Struct(_));
        let units: Vec<Unit> = self.units.clone();
        units.iter().all(|unit| {
            let reads = self.readers(&unit.flow, var);
            let outside = |element: &usize| !unit.flow.elements[*element].in_d_step;
            reads.is_empty()
                || (is_scalar
                    && !reads.iter().any(outside)
                    && self.is_written_first(&unit.flow, var, &reads))
        })
    }

    /// Do formulas or other declarations mention it? Claims and traces are not looked into: they
    /// may.
    fn is_observed(&mut self, var: usize, extras: &[Extra]) -> bool {
        let program = self.program;
        if !program.claims.is_empty() || !program.traces.is_empty() {
            return true;
        }
        let provided = program.processes.iter().filter_map(|p| p.provided.as_ref());
        let formulas = program.formulas.iter().map(|formula| &formula.body);
        let extras = extras.iter().map(|extra| &extra.formula);
        let exprs: Vec<_> = provided.chain(formulas).chain(extras).collect();
        let context = Who::no_process().context;
        let before = std::mem::take(&mut self.symbols.vars[var].read);
        for expr in exprs {
            self.use_of_expr(expr, context, &mut super::usage::Flows::default());
        }
        let inits: Vec<_> = self.symbols.vars.iter().map(|v| v.init.clone()).collect();
        for init in inits {
            if let crate::ast::Init::Value(value) = init {
                self.use_of_expr(&value, context, &mut super::usage::Flows::default());
            }
        }
        std::mem::replace(&mut self.symbols.vars[var].read, before)
    }

    /// The elements that read a variable.
    fn readers(&mut self, flow: &Flow, var: usize) -> Vec<usize> {
        let before = self.symbols.vars[var].clone();
        let mut found = Vec::new();
        for (position, element) in flow.elements.iter().enumerate() {
            if let ElementKind::Leaf(leaf) = &element.kind {
                self.symbols.vars[var].read = false;
                self.use_of_leaf(leaf, element.context, &mut super::usage::Flows::default());
                if self.symbols.vars[var].read {
                    found.push(position);
                }
            }
        }
        self.symbols.vars[var].read = before.read;
        self.symbols.vars[var].written = before.written;
        found
    }

    /// Is the variable certainly written in every `d_step` before it is read there?
    fn is_written_first(&self, flow: &Flow, var: usize, reads: &[usize]) -> bool {
        let starts = (0..flow.elements.len()).filter_map(|at| flow.d_step_start(at));
        starts.into_iter().all(|start| {
            // The greatest solution: locations that every path reaches after a write.
            let mut written: BTreeMap<usize, bool> = BTreeMap::from([(start, false)]);
            let mut open = vec![start];
            while let Some(location) = open.pop() {
                for exit in flow.exits(location) {
                    let after = written[&location] || self.writes(flow, exit.element, var);
                    let Some(target) = exit.target.filter(|at| flow.elements[*at].in_d_step) else {
                        continue;
                    };
                    match written.get(&target) {
                        Some(known) if !known || after => {}
                        _ => {
                            written.insert(target, after);
                            open.push(target);
                        }
                    }
                }
            }
            written.iter().all(|(location, is_written)| {
                let exits = flow.exits(*location);
                *is_written || !exits.iter().any(|exit| reads.contains(&exit.element))
            })
        })
    }

    fn writes(&self, flow: &Flow, element: usize, var: usize) -> bool {
        let context = flow.elements[element].context;
        let is_it = |written: &VarRef| {
            written.parts.len() == 1
                && self.symbols.lookup(&written.parts[0].name, context) == Some(var)
        };
        match &flow.elements[element].kind {
            ElementKind::Leaf(Leaf::Assign(written, _)) => is_it(written),
            ElementKind::Leaf(Leaf::Receive { arguments, .. }) => arguments
                .iter()
                .any(|argument| matches!(argument, Argument::Store(written) if is_it(written))),
            _ => false,
        }
    }

    /// Sets back the temporary variables that a step writes.
    pub(super) fn forget_temporaries(&mut self, step: &mut Step) {
        for var in self.special.temporaries.clone() {
            let Storage::State(id) = self.storage[var] else {
                continue;
            };
            if !changes(&step.effect, id) && !receives(&step.sync, id) {
                continue;
            }
            let described = self.symbols.vars[var].clone();
            let who = Who::no_process();
            for cell in self.init_cells(described.ty, described.length, &described.init) {
                let value = match &cell.init {
                    CellInit::Value(expr) => {
                        let value = self.value(expr, &who);
                        self.fitted(value, cell.ty, expr.span)
                    }
                    _ => model::Expr::Int(0),
                };
                let place = Place {
                    var: id,
                    owner: None,
                    path: cell.path,
                };
                let reset = StmtKind::Assign(place, value);
                step.effect.push(Stmt::new(reset, step.span));
            }
        }
    }
}

/// Does a receive store into the variable?
fn receives(sync: &Sync, var: VarId) -> bool {
    sync.stored().into_iter().any(|place| place.var == var)
}

/// Do the statements assign to the variable?
fn changes(effect: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    Stmt::walk_all(effect, &mut |statement| {
        found |= statement.written().is_some_and(|place| place.var == var);
    });
    found
}
