//! Statements that are steps by themselves.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, Expr, Owner, Place, Setting, Stmt, StmtKind, Sync};
use source::Variation;

use crate::ast::{self, ExprKind, VarRef};
use crate::flow::{Element, ElementKind, Leaf};
use crate::symbols::{Context, Ty};

use super::channels::add;
use super::expr::{Val, Who, read_global};
use super::message::Manner;
use super::storage::CellInit;
use super::{Lowering, Storage, all};

/// One way of executing a statement.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) guard: Expr,
    pub(super) sync: Sync,
    pub(super) effect: Vec<Stmt>,
    /// Below zero: possible only if nothing else is.
    pub(super) priority: i8,
}

impl Variant {
    /// Nothing but a guard.
    pub(super) fn when(guard: Expr) -> Self {
        Self {
            guard,
            sync: Sync::Internal,
            effect: Vec::new(),
            priority: 0,
        }
    }

    /// A run-time error.
    pub(super) fn failing(guard: Expr, message: String, span: Span) -> Self {
        Self {
            effect: vec![Stmt::new(StmtKind::Fail(message), span)],
            ..Self::when(guard)
        }
    }

    /// When it is possible, as far as the process can tell: a rendezvous counts as impossible and
    /// nothing has timed out, as for Spin's `else`.
    pub(super) fn visible_guard(&self) -> Expr {
        match self.sync {
            Sync::Internal if self.priority == 0 => self.guard.clone(),
            Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } | Sync::Event { .. } => {
                Expr::Bool(false)
            }
        }
    }
}

impl Lowering<'_> {
    /// The ways of executing an element that is a step by itself.
    pub(super) fn variants(&mut self, element: &Element, who: &Who) -> Vec<Variant> {
        let span = element.span;
        let who = Who {
            context: element.context,
            ..who.clone()
        };
        self.pitfalls.clear();
        let found = match &element.kind {
            ElementKind::Leaf(leaf) => self.leaf(leaf, span, &who, element.in_d_step),
            _ => Some(vec![Variant::when(Expr::Bool(true))]),
        };
        let mut found = found.unwrap_or_default();
        for (when, message) in std::mem::take(&mut self.pitfalls) {
            for variant in &mut found {
                variant.guard = all([Expr::not(when.clone()), variant.guard.clone()]);
            }
            found.push(Variant::failing(when, message, span));
        }
        found.retain(|variant| variant.guard != Expr::Bool(false));
        found
    }

    fn leaf(
        &mut self,
        leaf: &Leaf,
        span: Span,
        who: &Who,
        in_d_step: bool,
    ) -> Option<Vec<Variant>> {
        Some(match leaf {
            Leaf::Condition(expr) => match &expr.kind {
                ExprKind::Run { .. } => {
                    self.refuse_in_d_step(in_d_step, expr.span)?;
                    vec![self.run(expr, None, who)?]
                }
                _ => self.waiting(expr, who, in_d_step),
            },
            Leaf::Assign(var, value) => match &value.kind {
                ExprKind::Run { .. } => {
                    self.refuse_in_d_step(in_d_step, value.span)?;
                    vec![self.run(value, Some(var), who)?]
                }
                _ => vec![self.assignment(var, value, span, who)?],
            },
            Leaf::SetTimer(timer, value) => vec![self.set_timer(timer, value, span, who)?],
            Leaf::SetPriority(pid, value) => vec![self.set_priority(pid, value, span, who)],
            Leaf::Clear(var) => vec![self.clear(*var, span, who)],
            Leaf::Send {
                channel,
                arguments,
                sorted,
            } => self.send(channel, arguments, *sorted, span, who)?,
            Leaf::Receive {
                channel,
                arguments,
                any,
                peek,
            } => {
                let manner = Manner {
                    any: *any,
                    peek: *peek,
                };
                self.receive(channel, arguments, manner, span, who)?
            }
            // Its guard depends on the other statements of its selection.
            Leaf::Else => vec![Variant::when(Expr::Bool(true))],
            Leaf::Assert(expr) if self.variations.contains(&Variation::WithoutAssertions) => {
                // What cannot be evaluated is an error even so.
                self.condition(expr, who);
                vec![Variant::when(Expr::Bool(true))]
            }
            Leaf::Assert(expr) => {
                let condition = self.condition(expr, who);
                vec![Variant {
                    effect: vec![Stmt::new(StmtKind::Assert(condition), span)],
                    ..Variant::when(Expr::Bool(true))
                }]
            }
            Leaf::Print(_) => vec![Variant::when(Expr::Bool(true))],
        })
    }

    fn refuse_in_d_step(&mut self, in_d_step: bool, span: Span) -> Option<()> {
        if in_d_step {
            let message = "`run` cannot stand in a `d_step`";
            let diagnostic = Diagnostic::error("run-in-d_step", span, message);
            self.say(diagnostic.help("use `atomic`, which may start processes"));
            return None;
        }
        Some(())
    }

    /// A condition; with `timeout` in it also one that waits for all other processes.
    fn waiting(&mut self, expr: &ast::Expr, who: &Who, in_d_step: bool) -> Vec<Variant> {
        let mut variants = vec![Variant::when(self.condition(expr, who))];
        if mentions_timeout(expr) && !in_d_step {
            let timed_out = Who {
                timeout: true,
                ..who.clone()
            };
            variants.push(Variant {
                priority: -1,
                ..Variant::when(self.condition(expr, &timed_out))
            });
        }
        variants
    }

    fn assignment(
        &mut self,
        var: &VarRef,
        value: &ast::Expr,
        span: Span,
        who: &Who,
    ) -> Option<Variant> {
        let name = &*var.parts[0].name;
        if name == "_" {
            self.value(value, who);
            return Some(Variant::when(Expr::Bool(true)));
        }

        if matches!(name, "_pid" | "_nr_pr" | "_last") {
            self.error(
                "wrong-type",
                var.span,
                format!("`{name}` cannot be assigned to"),
            );
            return None;
        }

        if name == "_priority" {
            return self.assign_priority(value, span, who);
        }
        if self.symbols.mtypes.contains_key(name) {
            let message = format!("`{name}` is a constant");
            self.error("wrong-type", var.span, message);
            return None;
        }

        let found = self.place(var, who)?;
        if found.ty == Ty::Timer {
            let message = "a timer is set with `set(t, e)`";
            self.error("wrong-type", span, message);
            return None;
        }
        if let Ty::Struct(_) = found.ty {
            let message = "structures are assigned field by field";
            self.error("wrong-type", span, message);
            return None;
        }

        let value_span = value.span;
        let value = self.value(value, who);
        let value = self.fitted(value, found.ty, value_span);
        let place = self.model_place(&found, who)?;
        Some(Variant {
            effect: vec![Stmt::new(StmtKind::Assign(place, value), span)],
            ..Variant::when(Expr::Bool(true))
        })
    }

    /// A declaration after the first statement. Of an array Spin clears the first element, of a
    /// structure nothing.
    fn clear(&mut self, var: usize, span: Span, who: &Who) -> Variant {
        let described = &self.symbols.vars[var];
        let path = match (described.ty, described.length) {
            (Ty::Struct(_), _) => return Variant::when(Expr::Bool(true)),
            (_, None) => Vec::new(),
            (_, Some(_)) => vec![Access::Index(Expr::Int(0))],
        };
        let effect = match self.storage[var] {
            Storage::Constant => Vec::new(),
            Storage::State(id) => {
                let place = Place {
                    var: id,
                    owner: self.symbols.vars[var].owner.map(|_| who.owner.clone()),
                    path,
                };
                vec![Stmt::new(StmtKind::Assign(place, Expr::Int(0)), span)]
            }
        };

        Variant {
            effect,
            ..Variant::when(Expr::Bool(true))
        }
    }

    /// `run P(…)`: the next process number becomes a process.
    fn run(&mut self, call: &ast::Expr, result: Option<&VarRef>, who: &Who) -> Option<Variant> {
        let ExprKind::Run {
            name,
            arguments,
            priority,
        } = &call.kind
        else {
            return None;
        };

        let span = call.span;
        let callee = self.proctype(name)?;
        let range = self.population.ranges[callee]?;
        let values = self.written_out(arguments, who)?;
        let targets = self.parameter_cells(callee);

        if targets.len() != values.len() {
            let message = format!(
                "`{name}` takes {} arguments, but {} are given",
                targets.len(),
                values.len()
            );
            let declared = self.program.processes[callee].span;
            let diagnostic = Diagnostic::error("wrong-arguments", span, message);
            self.say(diagnostic.label(declared, "declared here"));
            return None;
        }

        let stmt = |kind| Stmt::new(kind, span);
        let pid = self.bound("pid");
        let number = Expr::Bound(pid);
        let child = Who {
            context: who.context,
            owner: self.member(callee, number.clone()),
            pid: Some(number.clone()),
            timeout: false,
        };

        // The new process has the next number. If no number is left, the bound on processes was too
        // small, which is not a property of the model.
        let mut effect = vec![stmt(StmtKind::Let(pid, self.n_processes()))];
        let too_many = Expr::binary(BinaryOp::Gt, number.clone(), Expr::Int(range.hi));
        let exhausted = vec![stmt(StmtKind::Exhausted)];
        effect.push(stmt(StmtKind::If(too_many, exhausted, Vec::new())));

        for ((var, path, ty), (value, span)) in targets.into_iter().zip(values) {
            let value = self.fitted(value, ty, span);
            if let Storage::State(var) = self.storage[var] {
                let place = Place {
                    var,
                    owner: Some(child.owner.clone()),
                    path,
                };
                effect.push(stmt(StmtKind::Assign(place, value)));
            }
        }

        effect.extend(self.creation(callee, &child, span));
        if let Some(alive) = self.alive_place(callee, child.owner.clone()) {
            effect.push(stmt(StmtKind::Assign(alive, Expr::Bool(true))));
        }
        if let Some(place) = self.priority_place(callee, child.owner.clone()) {
            let value = self.given_priority(priority.as_deref());
            effect.push(stmt(StmtKind::Assign(place, Expr::Int(value))));
        }

        // The number is stored after the arguments, which may read the variable that it goes to.
        if let Some(result) = result {
            let found = self.place(result, who)?;
            let value = self.fitted(Val::new(number.clone(), (0, 255)), found.ty, span);
            let place = self.model_place(&found, who)?;
            effect.push(stmt(StmtKind::Assign(place, value)));
        }

        let n_processes = self
            .special
            .n_processes
            .expect("it changes where there is `run`");
        let place = Place {
            var: n_processes,
            owner: None,
            path: Vec::new(),
        };
        effect.push(stmt(StmtKind::Assign(
            place,
            add(read_global(n_processes), 1),
        )));
        Some(Variant {
            effect,
            ..Variant::when(Expr::Bool(true))
        })
    }

    /// The member of a family with this process number.
    pub(super) fn member(&self, proctype: usize, pid: Expr) -> Owner {
        if self.program.processes[proctype].is_init {
            Owner::Single
        } else {
            Owner::Indexed(Box::new(pid))
        }
    }

    /// The cells of the parameters, structures written out.
    fn parameter_cells(&self, proctype: usize) -> Vec<(usize, Vec<Access>, Ty)> {
        let mut cells = Vec::new();
        for &parameter in &self.parameters[proctype] {
            let var = &self.symbols.vars[parameter];
            for cell in self.init_cells(var.ty, None, &ast::Init::Zero) {
                cells.push((parameter, cell.path, cell.ty));
            }
        }
        cells
    }

    /// Gives the local variables of a new process their initial values. They are zero before.
    fn creation(&mut self, proctype: usize, child: &Who, span: Span) -> Vec<Stmt> {
        let mut effect = Vec::new();
        for index in 0..self.symbols.vars.len() {
            let var = self.symbols.vars[index].clone();
            let Storage::State(id) = self.storage[index] else {
                continue;
            };
            if var.owner != Some(proctype) || var.is_parameter || !var.at_creation {
                continue;
            }
            let who = Who {
                context: Context {
                    scope: var.scope,
                    order: var.order,
                    owner: var.owner,
                },
                ..child.clone()
            };
            let cells = self.init_cells(var.ty, var.length, &var.init);
            for (position, cell) in cells.into_iter().enumerate() {
                let value = match &cell.init {
                    CellInit::Zero => continue,
                    CellInit::Value(expr) => {
                        let value = self.value(expr, &who);
                        self.fitted(value, cell.ty, expr.span)
                    }
                    CellInit::Channel(_) => self.own_channel(index, position, &who),
                };
                let place = Place {
                    var: id,
                    owner: Some(who.owner.clone()),
                    path: cell.path,
                };
                effect.push(Stmt::new(StmtKind::Assign(place, value), span));
            }
        }

        effect
    }

    fn own_channel(&self, var: usize, cell: usize, who: &Who) -> Expr {
        let in_struct = self.symbols.vars[var].ty != Ty::Chan;
        let fits =
            |group: &super::Group| group.var == var && (!in_struct || group.cell == Some(cell));
        let index = if in_struct { 0 } else { cell as i64 };
        let group = self.groups.iter().position(fits);
        group.map_or(Expr::Int(0), |group| {
            self.channel_number(group, Expr::Int(index), who.pid.as_ref())
        })
    }

    /// The end of a process: its number becomes free and nothing of it is left.
    pub(super) fn death(&mut self, proctype: usize, who: &Who, span: Span) -> Variant {
        let pid = who.pid.clone().expect("a process has a number");
        let n_processes = self
            .special
            .n_processes
            .expect("it changes where processes end");
        let guard = Expr::binary(BinaryOp::Eq, read_global(n_processes), add(pid.clone(), 1));
        let mut effect = self.empty_channels(proctype, &pid, span);

        for index in 0..self.symbols.vars.len() {
            let var = self.symbols.vars[index].clone();
            let Storage::State(id) = self.storage[index] else {
                continue;
            };
            if var.owner != Some(proctype) {
                continue;
            }
            for cell in self.init_cells(var.ty, var.length, &ast::Init::Zero) {
                let place = Place {
                    var: id,
                    owner: Some(who.owner.clone()),
                    path: cell.path,
                };
                let reset = match cell.ty {
                    Ty::Timer => StmtKind::SetTimer(place, Setting::To(Expr::Int(-1))),
                    _ => StmtKind::Assign(place, Expr::Int(0)),
                };
                effect.push(Stmt::new(reset, span));
            }
        }

        if let Some(alive) = self.alive_place(proctype, who.owner.clone()) {
            effect.push(Stmt::new(StmtKind::Assign(alive, Expr::Bool(false)), span));
        }
        if let Some(place) = self.priority_place(proctype, who.owner.clone()) {
            effect.push(Stmt::new(StmtKind::Assign(place, Expr::Int(0)), span));
        }
        let place = Place {
            var: n_processes,
            owner: None,
            path: Vec::new(),
        };
        let fewer = StmtKind::Assign(place, add(read_global(n_processes), -1));
        effect.push(Stmt::new(fewer, span));
        Variant {
            effect,
            ..Variant::when(guard)
        }
    }
}

/// Is `timeout` in the expression?
fn mentions_timeout(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Timeout => true,
        ExprKind::Unary(_, inner) => mentions_timeout(inner),
        ExprKind::Binary(_, left, right) => mentions_timeout(left) || mentions_timeout(right),
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().any(|part| mentions_timeout(part)),
        _ => false,
    }
}
