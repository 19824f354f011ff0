//! Processes that are created by others, and end.
//!
//! All members of such a family are in the model. One that does not exist is at its initial location
//! with the initial values of its variables, so states with the same processes are equal, and its
//! variable `created` is false. Every guard of its steps asks for that variable, and so does every
//! question where it is. Creating a process sets the variable; a step to `end` resets everything.

use base::{Diagnostic, Span};
use model::{
    BinaryOp, Expr, Initial, LocationId, Owner, Place, ProcessId, Quantifier, Scalar, Setting,
    Step, Stmt, StmtKind, Sync, Type, VarId, Variable,
};

use super::Lowerer;
use super::access::with_indices;
use super::effect::{Sink, cells_of};
use super::names::{Local, Ty, Value, bare};
use super::updates::Store;
use crate::ast::{self, Ident, ProcessDecl, Spawn, StepDecl};
use crate::parser::END;

impl<'a> Lowerer<'a> {
    /// Declares the variable that says whether a process exists.
    pub(super) fn declare_created(
        &mut self,
        decl: &'a ProcessDecl,
        created: &'a Ident,
        id: ProcessId,
    ) {
        let description = &self.parts.processes[id.index()];
        let is_open = |range: model::IndexRange| model::as_open_end(range.hi).is_some();
        let wrong = if description.initial.len() > 1 {
            let help = "name one location after `init`, and let its steps lead to the others";
            Some(("a process that is created starts at one location", help))
        } else if description.locations.iter().any(|name| name == "absent") {
            let help = "give the location another name";
            Some(("`absent` is where processes are that do not exist", help))
        } else if description.index.is_some_and(is_open) {
            let help = "give the parameter a value: `-D N=3`";
            Some((
                "the number of processes that can be created must be known",
                help,
            ))
        } else {
            None
        };
        if let Some((message, help)) = wrong {
            self.report(Diagnostic::error("spawned", decl.span, message).help(help));
        }

        for variable in self.parts.vars.iter().filter(|var| var.owner == Some(id)) {
            if variable.initial == Initial::Any {
                let message = "a process that is created starts with certain values";
                let help = format!(
                    "let the step that creates it choose: `let v = choose …; spawn {} with {} = v`",
                    decl.name.text, variable.name
                );
                let diagnostic = Diagnostic::error("spawned", variable.span, message);
                self.diagnostics.push(diagnostic.help(help));
            }
        }

        let var = VarId::new(self.parts.vars.len());
        self.parts.vars.push(Variable {
            name: created.text.clone(),
            ty: Type::Scalar(Scalar::Bool),
            owner: Some(id),
            initial: Initial::Values(vec![Expr::Bool(false)]),
            span: created.span,
        });
        self.declare_local(id, created, Local::Var(var));
        // Every step reads it.
        self.uses.read(var);
        self.processes[id.index()].created = Some(var);
        self.parts.shown.presence.push((id, var));
    }

    /// Does this process exist? Nothing if it always does.
    pub(super) fn existence(&self, id: ProcessId, owner: Owner) -> Option<Expr> {
        let var = self.processes[id.index()].created?;
        Some(Expr::Read(created_place(var, owner)))
    }

    /// Only creation and `-> end` change whether a process exists.
    pub(super) fn check_not_existence(&mut self, value: &Value, span: Span) -> Option<()> {
        // shape: nothing else is a single cell of a variable.
        let Value::Scalar(Expr::Read(place), _) = value else {
            return Some(());
        };
        let mut created = self.processes.iter().filter_map(|process| process.created);
        if !created.any(|var| var == place.var) {
            return Some(());
        }
        let message = "whether a process has been created cannot be assigned";
        let help = "write `spawn P` to create a process, and `-> end` where it ends";
        self.report(Diagnostic::error("not-assignable", span, message).help(help));
        None
    }

    /// Is this target the end of a process that was created?
    pub(super) fn is_end(&self, id: ProcessId, target: &Ident) -> bool {
        let info = &self.processes[id.index()];
        target.text == END && info.created.is_some() && !info.locations.contains_key(END)
    }

    /// The process does not exist any more: all is as it was before it was created.
    pub(super) fn end_of(
        &mut self,
        id: ProcessId,
        decl: &'a StepDecl,
        effect: &mut Vec<Stmt>,
    ) -> Option<LocationId> {
        if decl.delay.is_some() {
            let message = "a step that takes time leads to a location";
            let help = "let it lead to a location that another step leaves for `end`";
            self.report(Diagnostic::error("spawned", decl.span, message).help(help));
            return None;
        }

        let stmt = |kind| Stmt::new(kind, decl.span);
        for var in (0..self.parts.vars.len()).map(VarId::new) {
            let variable = &self.parts.vars[var.index()];
            // shape: `any` has been reported.
            let Initial::Values(values) = &variable.initial else {
                continue;
            };
            if variable.owner != Some(id) {
                continue;
            }

            let (ty, values) = (variable.ty.clone(), values.clone());
            let is_timer = self.parts.timers.iter().any(|timer| timer.var == var);
            let whole = Place {
                var,
                owner: Some(Owner::Own),
                path: Vec::new(),
            };
            let cells = cells_of(&whole, &ty, &self.parts.records);
            for ((place, _), value) in cells.into_iter().zip(values) {
                let value = self.copy_of(&value);
                effect.push(stmt(if is_timer {
                    StmtKind::SetTimer(place, Setting::To(value))
                } else {
                    StmtKind::Assign(place, value)
                }));
            }
        }
        self.parts.processes[id.index()].initial.first().copied()
    }

    /// `spawn P with x = e`: binds the index of the new process, if it has one.
    pub(super) fn spawn(
        &mut self,
        name: &str,
        spawn: &'a Spawn,
        out: &mut Vec<Stmt>,
    ) -> Option<(Option<model::BoundId>, Ty)> {
        let (id, var) = self.spawned_process(spawn)?;
        self.creates = Some(spawn.span);
        let (_, indices) = with_indices(&spawn.process);
        let description = &self.parts.processes[id.index()];
        let is_chosen =
            indices.is_empty() && description.index.is_some() && description.dimensions.is_empty();

        let (owner, bound) = if is_chosen {
            let bound = self.first_absent(id, var, name, &mut Sink::new(spawn.span, out))?;
            (Owner::Indexed(Box::new(Expr::Bound(bound))), Some(bound))
        } else {
            self.certain_process(var, name, spawn, out)?
        };
        self.given_values(id, &owner, spawn, out)?;
        let exists = StmtKind::Assign(created_place(var, owner), Expr::Bool(true));
        out.push(Stmt::new(exists, spawn.span));

        let types = &self.processes[id.index()].index_types;
        Some((bound, types.first().copied().unwrap_or_default()))
    }

    /// The process that is named, and the variable that says whether it exists.
    fn spawned_process(&mut self, spawn: &'a Spawn) -> Option<(ProcessId, VarId)> {
        let span = spawn.process.span;
        let (base, _) = with_indices(&spawn.process);
        let Some(id) = self.process_named(base) else {
            let message = "only processes can be created";
            let help = "write `spawn P` for a family `spawned process P(i in 1..3) { … }`";
            self.report(Diagnostic::error("not-a-process", span, message).help(help));
            return None;
        };

        let Some(var) = self.processes[id.index()].created else {
            let name = &self.parts.processes[id.index()].name;
            let message = format!("the processes `{name}` exist from the start");
            let help = format!("declare them by `spawned process {name}`");
            let diagnostic = Diagnostic::error("spawned", span, message);
            let declared = self.parts.processes[id.index()].span;
            self.report(diagnostic.label(declared, "declared here").help(help));
            return None;
        };

        // Creating a process reads whether it exists and then writes it.
        self.uses.read(var);
        self.uses.turn_into_write(var);
        Some((id, var))
    }

    /// The first member of a family that does not exist.
    fn first_absent(
        &mut self,
        id: ProcessId,
        var: VarId,
        name: &str,
        out: &mut Sink<'_>,
    ) -> Option<model::BoundId> {
        let range = self.parts.processes[id.index()].index?;
        let all = self.all_created(var, (range.lo, Expr::Int(range.hi)));
        let family = &self.parts.processes[id.index()].name;
        let message = format!("all processes `{family}` have been created already");
        let fail = vec![out.statement(StmtKind::Fail(message))];
        out.push(StmtKind::If(all, fail, Vec::new()));

        let bound = self.fresh_bound(name);
        let absent = created_place(var, Owner::Indexed(Box::new(Expr::Bound(bound))));
        let before = Expr::binary(BinaryOp::Sub, Expr::Bound(bound), Expr::Int(1));
        let others = self.all_created(var, (range.lo, before));
        let condition = Expr::all([Expr::not(Expr::Read(absent)), others]);
        let (lo, hi) = (Expr::Int(range.lo), Expr::Int(range.hi));
        out.push(StmtKind::Choose(bound, lo, hi, condition));
        Some(bound)
    }

    fn all_created(&mut self, var: VarId, (lo, hi): (i64, Expr)) -> Expr {
        self.over_members(Quantifier::Forall, var, (lo, hi))
    }

    /// What becomes of the truth values that say which members of a family exist.
    fn over_members(&mut self, quantifier: Quantifier, var: VarId, range: (i64, Expr)) -> Expr {
        let bound = self.fresh_bound("other");
        let owner = Owner::Indexed(Box::new(Expr::Bound(bound)));
        Expr::Quantified {
            quantifier,
            bound,
            lo: Box::new(Expr::Int(range.0)),
            hi: Box::new(range.1),
            body: Box::new(Expr::Read(created_place(var, owner))),
        }
    }

    /// The process that is named with its indices, or is the only one.
    fn certain_process(
        &mut self,
        var: VarId,
        name: &str,
        spawn: &'a Spawn,
        out: &mut Vec<Stmt>,
    ) -> Option<(Owner, Option<model::BoundId>)> {
        let span = spawn.span;
        let (_, owner) = self.process_reference(&spawn.process)?;
        let (owner, bound) = match owner? {
            Owner::Indexed(index) => {
                let bound = self.fresh_bound(name);
                let stmt = self.remember(bound, *index, span);
                out.push(stmt);
                (Owner::Indexed(Box::new(Expr::Bound(bound))), Some(bound))
            }
            owner @ (Owner::Single | Owner::Own) => (owner, None),
        };

        let exists = Expr::Read(created_place(var, owner.clone()));
        let message = "a process that exists is created once more".to_owned();
        let fail = vec![Stmt::new(StmtKind::Fail(message), span)];
        out.push(Stmt::new(StmtKind::If(exists, fail, Vec::new()), span));
        Some((owner, bound))
    }

    /// What the variables of the new process start with.
    fn given_values(
        &mut self,
        id: ProcessId,
        owner: &Owner,
        spawn: &'a Spawn,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let mut stores = Vec::new();
        for (name, value) in &spawn.values {
            let locals = &self.processes[id.index()].locals;
            let is_meant = |local: &(&&str, _)| bare(local.0) == name.text;
            let found = locals.iter().find(is_meant);
            let created = self.processes[id.index()].created;
            let Some((declared, (Local::Var(var), _))) = found else {
                self.report_unknown_variable(id, name);
                return None;
            };
            let var = *var;
            self.resolution.found(&name.text, declared);
            let place = Place {
                var,
                owner: Some(owner.clone()),
                path: Vec::new(),
            };
            self.check_no_timer(&place, name.span)?;

            // The variable that says whether a process exists is changed by `spawn` alone.
            if created == Some(var) {
                let read = Value::Scalar(Expr::Read(place), Ty::Bool);
                return self.check_not_existence(&read, name.span);
            }

            self.uses.read(var);
            self.uses.turn_into_write(var);
            let ty = self.parts.vars[var.index()].ty.clone();
            let mut values = Vec::new();
            self.stored_values(value, &ty, &mut values)?;
            let cells = cells_of(&place, &ty, &self.parts.records);
            for ((cell, _), value) in cells.into_iter().zip(values) {
                stores.push(Store::of(cell, value));
            }
        }
        self.store_all(stores, spawn.span, out);
        Some(())
    }

    fn report_unknown_variable(&mut self, id: ProcessId, name: &Ident) {
        let process = &self.parts.processes[id.index()].name;
        let message = format!("`{process}` has no variable `{}`", name.text);
        let vars = self.parts.vars.iter().filter(|var| var.owner == Some(id));
        let names = vars.map(|var| var.name.as_str());
        let meant = base::closest_name(&name.text, names).map(str::to_owned);
        self.report_with_guess("unknown-member", name.span, message, meant);
    }

    /// Processes that move together do not see what the others create, so two could create one.
    pub(super) fn check_creation(&mut self, id: ProcessId, step: &Step) -> Option<()> {
        let (has_partners, is_event) = match &step.sync {
            Sync::Internal => (false, false),
            Sync::Send { channel, .. } | Sync::Receive { channel, .. } => {
                let channel = &self.parts.channels[channel.channel.index()];
                (channel.capacity == 0, false)
            }
            Sync::Event { .. } => (true, true),
        };
        let is_synchronous = self.parts.composition == model::Composition::Synchronous;

        let (span, message, help) = match (self.creates, self.existence(id, Owner::Own)) {
            (Some(span), _) if has_partners || is_synchronous => (
                span,
                "a step that other processes take part in cannot create processes",
                "let another step create them, before or after this one",
            ),
            (_, Some(_)) if is_event => (
                step.span,
                "a process that may not exist cannot take part in an event, which needs all its processes",
                "use a channel",
            ),
            (_, Some(_)) if is_synchronous => (
                step.span,
                "in a synchronous model all processes exist from the start",
                "leave out `spawned`, or `synchronous`",
            ),
            _ => return Some(()),
        };
        // A step that starts at several locations is wrong once.
        let is_said = |said: &Diagnostic| said.code == "spawned" && said.labels[0].span == span;
        if !self.diagnostics.iter().any(is_said) {
            self.report(Diagnostic::error("spawned", span, message).help(help));
        }
        None
    }

    /// Does the index of a new process fit where it is stored?
    pub(super) fn check_index_type(
        &mut self,
        ty: Ty,
        wanted: Option<Ty>,
        span: Span,
    ) -> Option<()> {
        let Some(wanted) = wanted.filter(|wanted| *wanted != ty) else {
            return Some(());
        };
        let (wanted, found) = (self.ty_name(wanted), self.ty_name(ty));
        let message = format!("expected {wanted}, but the index of the process is {found}");
        self.report(Diagnostic::error("type-mismatch", span, message));
        None
    }

    /// `size(P)`, `empty(P)`, `full(P)`: how many processes of a family exist.
    pub(super) fn function_of_family(
        &mut self,
        name: &str,
        arguments: &'a [ast::Expr],
    ) -> Option<Option<Value>> {
        let [argument] = arguments else {
            return None;
        };

        let id = self.process_named(argument)?;
        let var = self.processes[id.index()].created?;
        let range = self.parts.processes[id.index()].index?;
        let members = (range.lo, Expr::Int(range.hi));

        Some(Some(match name {
            "size" => Value::Scalar(self.over_members(Quantifier::Sum, var, members), Ty::Int),
            "empty" => {
                let some = self.over_members(Quantifier::Exists, var, members);
                Value::Scalar(Expr::not(some), Ty::Bool)
            }
            "full" => Value::Scalar(self.all_created(var, members), Ty::Bool),
            _ => return None,
        }))
    }
}

fn created_place(var: VarId, owner: Owner) -> Place {
    Place {
        var,
        owner: Some(owner),
        path: Vec::new(),
    }
}
