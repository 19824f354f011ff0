//! Steps of processes: parameters, guards, communication, annotations.

use base::Diagnostic;
use model::{
    Access, Annotation, Expr, LocationId, Owner, Parameter, Pattern, Place, ProcessId, Step, Sync,
    Target, Type,
};

use super::Lowerer;
use super::expr::names_of;
use super::names::{Binding, Global, Ty};
use crate::ast::{self, Communication, Ident, PatternExpr, ProcessDecl, Sources, StepDecl};

impl<'a> Lowerer<'a> {
    /// All steps of a process, and its fairness annotations.
    pub(super) fn steps_of(&mut self, decl: &'a ProcessDecl, id: ProcessId) {
        self.process = Some(id);
        let bindings = self.processes[id.index()].indices.clone();
        self.scope.extend(bindings);
        for def in &decl.defs {
            self.check_definition(def);
        }

        if let Some(mark) = &decl.fairness {
            self.parts.annotations.push(Annotation {
                kind: mark.kind,
                target: Target::Process(id),
                span: mark.span,
            });
        }

        for block in &decl.blocks {
            let sources = self.sources(id, &block.sources);
            for step in &block.steps {
                for source in &sources {
                    self.add_step(id, step, *source);
                }
            }
        }

        self.scope.clear();
        self.process = None;
    }

    fn sources(&mut self, id: ProcessId, sources: &'a Sources) -> Vec<LocationId> {
        // Those that delays add are not meant.
        let n_locations = self.processes[id.index()].locations.len();
        match sources {
            Sources::Named(names) => names.iter().filter_map(|n| self.location(id, n)).collect(),
            Sources::All => (0..n_locations).map(LocationId::new).collect(),
            Sources::Implicit => vec![LocationId(0)],
        }
    }

    fn add_step(&mut self, id: ProcessId, decl: &'a StepDecl, source: LocationId) {
        let n_bound = self.scope.len();
        let step = self.step(id, decl, source);
        self.scope.truncate(n_bound);

        let Some(step) = step else {
            return;
        };
        let steps = &mut self.parts.processes[id.index()].steps;
        steps.push(step);

        let Some(mark) = &decl.fairness else {
            return;
        };
        let target = if mark.choice {
            Target::Choice(id, steps.len() - 1)
        } else if self.annotated.insert((id, &decl.name.text, mark.kind)) {
            Target::Action(id, decl.name.text.clone())
        } else {
            return;
        };

        self.parts.annotations.push(Annotation {
            kind: mark.kind,
            target,
            span: mark.span,
        });
    }

    fn step(&mut self, id: ProcessId, decl: &'a StepDecl, source: LocationId) -> Option<Step> {
        self.creates = None;
        let parameters = self.parameters(decl);
        let mut guards: Vec<_> = decl
            .guards
            .iter()
            .map(|guard| self.bool_expr(guard))
            .collect();

        let exchange = self.exchange(decl);
        let has_exchange = exchange.is_some();
        let exchange = exchange.unwrap_or_default();
        let mut effect = exchange.effect;
        let mut done = self.statements(&decl.effect, &mut effect);
        let waits = decl
            .delay
            .as_ref()
            .map(|delay| self.delay(delay, &mut effect));
        if let Some(None) = waits {
            done = None;
        }

        let target = match &decl.target {
            None => Some(source),
            Some(name) if self.is_end(id, name) => self.end_of(id, decl, &mut effect),
            Some(name) => self.location(id, name),
        };

        // Failures count from here on: before, all parts are translated, so that all errors are reported.
        let (parameters, condition, members) = parameters?;
        guards.splice(0..0, members.into_iter().map(Some));
        guards.splice(0..0, self.existence(id, Owner::Own).map(Some));
        guards.extend(exchange.guards.into_iter().map(Some));
        done.filter(|()| has_exchange)?;

        let mut target = target?;
        if let Some(Some(timer)) = waits {
            target = self.add_delay(id, decl, (timer, target));
        }
        let step = Step {
            parameters,
            condition,
            guard: Expr::all(guards.into_iter().collect::<Option<Vec<_>>>()?),
            sync: exchange.sync.unwrap_or(Sync::Internal),
            effect,
            ..Step::new(&decl.name.text, source, target, decl.span)
        };

        self.check_step_is_exact(&step)?;
        self.check_creation(id, &step)?;
        Some(step)
    }

    /// The parameters, the condition on them, and guards: that a parameter is an element of a set that
    /// depends on the state. Leaves their names in scope.
    fn parameters(&mut self, decl: &'a StepDecl) -> Option<(Vec<Parameter>, Expr, Vec<Expr>)> {
        let mut parameters = Vec::new();
        let (mut conditions, mut guards) = (Vec::new(), Vec::new());
        let mut ok = true;
        for (name, binder, is_last) in names_of(&decl.parameters) {
            let Some((ranges, binding)) = self.ranges_of(name, &binder.lo, &binder.hi) else {
                // One mistake gives one error: what the name stands for is not asked again.
                let bound = self.fresh_bound(name);
                self.scope.push(Binding::bound(name, bound, Ty::Int));
                ok = false;
                continue;
            };
            self.scope.push(binding);
            for (bound, lo, hi) in ranges {
                ok &= self.check_stateless(&lo, &binder.lo).is_some();
                ok &= self.check_stateless(&hi, &binder.hi).is_some();
                parameters.push(Parameter { bound, lo, hi });
            }

            if let Some(condition) = binder.condition.as_ref().filter(|_| is_last) {
                let is_from_set = match &binder.lo.kind {
                    ast::ExprKind::First(domain) => {
                        self.set_of_subsets(domain).is_some() || self.shape_of(domain).is_some()
                    }
                    _ => false,
                };
                match self.bool_expr(condition) {
                    Some(member) if is_from_set => guards.push(member),
                    Some(other) if self.check_stateless(&other, condition).is_some() => {
                        conditions.push(other);
                    }
                    _ => ok = false,
                }
            }
        }

        ok.then(|| (parameters, Expr::all(conditions), guards))
    }

    /// What is part of the name of an action must not depend on the state.
    fn check_stateless(&mut self, lowered: &Expr, expr: &ast::Expr) -> Option<()> {
        if !lowered.mentions_state() {
            return Some(());
        }
        let message = "this is part of the name of an action, so it must not depend on the state";
        self.report(
            Diagnostic::error("state-in-action-name", expr.span, message)
                .help("conditions on the state belong after `when`"),
        );
        None
    }

    /// A communication with a partner, or through a channel of the model.
    pub(super) fn communication(&mut self, communication: &'a Communication) -> Option<Sync> {
        match communication {
            // Each of them is dealt with.
            Communication::ForEach(..) => None,
            Communication::Event(event, arguments) => self.event_sync(event, arguments),
            Communication::Send(channel, payload) => {
                let channel = self.channel_reference(channel)?;
                let types = self.channel_types[channel.channel.index()].clone();
                self.check_arity(types.len(), payload.len(), payload[0].span)?;
                let mut values = Vec::new();
                let mut ok = true;
                for (expr, ty) in payload.iter().zip(&types) {
                    ok &= self.stored_values(expr, ty, &mut values).is_some();
                }
                let payload = values;
                ok.then_some(Sync::Send { channel, payload })
            }
            Communication::Receive(channel_expr, patterns, _) => {
                let channel = self.channel_reference(channel_expr)?;
                let types = self.channel_types[channel.channel.index()].clone();
                self.check_arity(types.len(), patterns.len(), channel_expr.span)?;
                let mut lowered = Vec::new();
                let mut ok = true;
                for (pattern, ty) in patterns.iter().zip(&types) {
                    ok &= self.patterns(pattern, ty, &mut lowered).is_some();
                }
                let patterns = lowered;
                ok.then_some(Sync::Receive { channel, patterns })
            }
        }
    }

    pub(super) fn check_arity(
        &mut self,
        wanted: usize,
        found: usize,
        span: base::Span,
    ) -> Option<()> {
        if wanted == found {
            return Some(());
        }
        let message = format!("messages of this channel have {wanted} component(s), not {found}");
        self.report(Diagnostic::error("message-arity", span, message));
        None
    }

    fn event_sync(&mut self, name: &'a Ident, arguments: &'a [ast::Expr]) -> Option<Sync> {
        let event = match self.global(&name.text) {
            Some(Global::Event(event)) => event,
            Some(Global::Broken) => return None,
            other => {
                let events = self.parts.events.iter().map(|event| event.name.as_str());
                let meant = base::closest_name(&name.text, events).map(str::to_owned);
                let message = match other {
                    Some(other) => format!("`{}` is {}, not an event", name.text, other.describe()),
                    None => format!("there is no event `{}`", name.text),
                };
                let mut diagnostic = Diagnostic::error("unknown-event", name.span, message);
                diagnostic = match meant {
                    Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                    None => diagnostic.help(format!("declare it with `event {}`", name.text)),
                };
                self.report(diagnostic);
                return None;
            }
        };

        let types = self.event_types[event.index()].clone();
        if types.len() != arguments.len() {
            let (wanted, found) = (types.len(), arguments.len());
            let message = format!("`{}` has {wanted} argument(s), {found} given", name.text);
            self.report(Diagnostic::error("wrong-arguments", name.span, message));
            return None;
        }

        let mut lowered = Vec::new();
        for (argument, ty) in arguments.iter().zip(types) {
            let value = self.value_for(argument, ty)?;
            self.check_stateless(&value, argument)?;
            lowered.push(value);
        }

        let arguments = lowered;
        Some(Sync::Event { event, arguments })
    }

    /// The patterns for all cells of a component of a message.
    pub(super) fn patterns(
        &mut self,
        pattern: &'a PatternExpr,
        ty: &Type,
        out: &mut Vec<Pattern>,
    ) -> Option<()> {
        if let Type::Scalar(scalar) = ty {
            out.push(self.pattern(pattern, *scalar)?);
            return Some(());
        }

        match pattern {
            PatternExpr::Ignore => {
                let n_cells = ty.n_cells(&self.parts.records);
                out.extend((0..n_cells).map(|_| Pattern::Ignore));
            }
            PatternExpr::Plain(expr) if self.is_variable(expr) => {
                let (place, found) = self.place(expr)?;
                if found != *ty {
                    let message = "this variable has another type than the message";
                    self.report(Diagnostic::error("type-mismatch", expr.span, message));
                    return None;
                }
                if moves_itself(&place) {
                    let message = "where the message is stored depends on what is stored";
                    let help = "receive it into another variable, and assign that";
                    let diagnostic = Diagnostic::error("moving-target", expr.span, message);
                    self.report(diagnostic.help(help));
                    return None;
                }
                let cells = super::effect::cells_of(&place, ty, &self.parts.records);
                out.extend(cells.into_iter().map(|(place, _)| Pattern::Store(place)));
            }
            PatternExpr::Plain(expr) | PatternExpr::Equal(expr) => {
                let mut values = Vec::new();
                self.cell_values(expr, ty, &mut values)?;
                out.extend(values.into_iter().map(Pattern::Match));
            }
        }
        Some(())
    }

    fn pattern(&mut self, pattern: &'a PatternExpr, ty: model::Scalar) -> Option<Pattern> {
        match pattern {
            PatternExpr::Ignore => Some(Pattern::Ignore),
            PatternExpr::Equal(expr) => self.value_for(expr, ty).map(Pattern::Match),
            PatternExpr::Plain(expr) if self.is_variable(expr) => {
                let (place, target) = self.scalar_place(expr)?;
                let (stored, sent) = (super::types::ty_of(target), super::types::ty_of(ty));
                if stored != sent {
                    let (stored, sent) = (self.ty_name(stored), self.ty_name(sent));
                    let message =
                        format!("the message has {sent} here, the variable holds {stored}");
                    self.report(Diagnostic::error("type-mismatch", expr.span, message));
                    return None;
                }
                Some(Pattern::Store(place))
            }
            PatternExpr::Plain(expr) => self.value_for(expr, ty).map(Pattern::Match),
        }
    }
}

/// May storing to a part of the place change which place it is?
fn moves_itself(place: &Place) -> bool {
    // shape: only what is read of the variable itself matters.
    let is_own = |inner: &Expr| matches!(inner, Expr::Read(read) if read.var == place.var);
    place.path.iter().any(|access| match access {
        Access::Index(index) => index.any(&mut |inner| is_own(inner)),
        Access::Field(_) => false,
    })
}
