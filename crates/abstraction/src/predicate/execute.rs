//! Commands by symbolic execution. What they do together is in `teams.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::Span;
use model::{CommandId, Composition, InstanceId, Model, Stmt, StmtKind, Sync};
use smt::{Interval, Sort, Term};

use super::program::{Content, Failure, Local, Program, Refusal, Transition, variables, within};
use super::symbolic::{Resolved, Scene, Target, Translator, as_bool, as_int};

/// How often a loop may be unfolded.
const MAX_ROUNDS: i128 = 4096;

/// Where steps exist only if others do not, a step of its own tells nothing.
fn refuse_rulers(model: &Model) -> Result<(), Refusal> {
    let steps = model.parts().processes.iter().flat_map(|p| &p.steps);
    let mut ruled = steps.filter(|step| step.priority != 0);
    let span = match (ruled.next(), model.parts().control) {
        (Some(step), _) => step.span,
        (None, Some(_)) => Span::nowhere(),
        (None, None) => return Ok(()),
    };
    let message = "steps with priorities, such as the passing of time".to_owned();
    Err(Refusal { message, span })
}

/// The model as a program.
///
/// # Errors
/// Something in it cannot be expressed.
pub fn program_of(model: &Model) -> Result<Program, Refusal> {
    refuse_rulers(model)?;
    let vars = variables(model);
    let mut builder = ProgramBuilder {
        model,
        vars: &vars,
        transitions: Vec::new(),
        failures: Vec::new(),
        n_locals: 0,
    };

    let init = builder.init()?;
    match model.parts().composition {
        Composition::Interleaving => builder.interleaving()?,
        Composition::Synchronous => builder.synchronous()?,
    }

    let ProgramBuilder {
        transitions,
        failures,
        ..
    } = builder;
    Ok(Program {
        init,
        transitions,
        failures,
        vars,
    })
}

pub(super) struct ProgramBuilder<'m> {
    pub(super) model: &'m Model,
    pub(super) vars: &'m [super::program::StateVar],
    pub(super) transitions: Vec<Transition>,
    pub(super) failures: Vec<Failure>,
    n_locals: usize,
}

/// A way through an effect, all branches together.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) scene: Scene,
    pub(super) written: BTreeSet<usize>,
    /// The conditions on chosen values.
    pub(super) condition: Term,
    /// When an error has happened.
    pub(super) fails: Term,
    pub(super) locals: Vec<Local>,
    /// Is there a choice for every state? Only choices from constant ranges without conditions
    /// are known to be possible.
    pub(super) is_total: bool,
}

/// What one command contributes.
pub(super) struct Member {
    pub(super) command: CommandId,
    /// Location, guard, and room or a message in a buffered channel.
    pub(super) enabled: Term,
    pub(super) path: Path,
}

impl ProgramBuilder<'_> {
    pub(super) fn translator(&self, span: Span) -> Translator<'_> {
        Translator {
            model: self.model,
            vars: self.vars,
            span,
        }
    }

    fn init(&self) -> Result<Term, Refusal> {
        let nowhere = Span::nowhere();
        let mut parts = Vec::new();
        for var in self.vars {
            let equals = |value: i64| match var.sort {
                Sort::Bool if value != 0 => var.term(),
                Sort::Bool => Term::not(var.term()),
                _ => Term::eq(var.term(), Term::Int(i128::from(value))),
            };
            match &var.content {
                Content::Location(instance) => {
                    let starts = self.model.initial_locations(instance.index());
                    parts.push(Term::or(starts.iter().map(|l| equals(i64::from(l.0)))));
                }
                Content::Cell(cell) => match self.model.initial_value(*cell) {
                    Ok(Some(value)) => parts.push(equals(value)),
                    Ok(None) => parts.push(within(&var.term(), var.sort, var.interval)),
                    Err(error) => {
                        return Err(Refusal {
                            message: format!("an initial value is wrong: {}", error.kind),
                            span: error.span,
                        });
                    }
                },
                // More initial states than there are; a run from one of these is found out.
                Content::Array(..) => {}
                Content::Length(_) | Content::Slot(..) => parts.push(equals(0)),
            }
        }

        for constraint in &self.model.parts().init {
            let translator = self.translator(nowhere);
            let mut scene = Scene::new(self.vars, None, &[]);
            let valued = translator.truth(constraint, &mut scene)?;
            if valued.ok != Term::Bool(true) {
                return translator.refuse("an initial constraint that may have no value");
            }
            parts.push(valued.term);
        }

        Ok(Term::and(parts))
    }

    /// Location, guard and channel of a command, and when its guard has no value.
    pub(super) fn enabledness(&self, id: CommandId) -> Result<(Term, Term), Refusal> {
        let command = &self.model.commands()[id.index()];
        let step = self.model.step_of(id);
        let translator = self.translator(step.span);
        let mut scene = Scene::new(self.vars, Some(command.instance), &command.bindings);
        let at = self.at(command.instance, step.source);
        let guard = translator.truth(&step.guard, &mut scene)?;
        let fails = Term::and([at.clone(), Term::not(guard.ok)]);
        let channel = self.channel_allows(&translator, step, &mut scene)?;
        Ok((Term::and([at, guard.term, channel]), fails))
    }

    pub(super) fn interval_of(&self, name: &str) -> Interval {
        let found = self.vars.iter().find(|var| &*var.name == name);
        found.map_or((None, None), |var| var.interval)
    }

    fn at(&self, instance: InstanceId, location: model::LocationId) -> Term {
        let translator = self.translator(Span::nowhere());
        let var = translator.find(&Content::Location(instance));
        Term::eq(self.vars[var].term(), Term::Int(i128::from(location.0)))
    }

    pub(super) fn member(
        &mut self,
        id: CommandId,
        handed: Option<&(Vec<Term>, usize)>,
        is_handshake: bool,
    ) -> Result<Member, Refusal> {
        let command = &self.model.commands()[id.index()];
        let step = self.model.step_of(id).clone();
        let (mut enabled, fails) = self.enabledness(id)?;
        if fails != Term::Bool(false) {
            self.failures.push(Failure {
                condition: fails,
                locals: Vec::new(),
            });
        }

        let mut path = Path {
            scene: Scene::new(self.vars, Some(command.instance), &command.bindings),
            written: BTreeSet::new(),
            condition: Term::Bool(true),
            fails: Term::Bool(false),
            locals: Vec::new(),
            is_total: true,
        };

        match (&step.sync, handed) {
            (Sync::Receive { channel, patterns }, Some((message, sent_on))) => {
                let translator = self.translator(step.span);
                let single = translator.single_channel(channel, &mut path.scene)?;
                let mut parts = vec![enabled, Term::Bool(single == *sent_on)];
                for (pattern, value) in patterns.iter().zip(message) {
                    if let Some(expected) = pattern.matched() {
                        let expected = translator.certain(expected, &mut path.scene)?;
                        parts.push(same(value.clone(), expected));
                    }
                }
                enabled = Term::and(parts);
                self.store_message(patterns, message, &mut path, step.span)?;
            }
            _ if is_handshake => {}
            _ => self.communicate(&step, &mut path)?,
        }

        self.run(&step.effect, &mut path)?;
        let instance = self.model.commands()[id.index()].instance;
        let location = self
            .translator(step.span)
            .find(&Content::Location(instance));
        path.scene.values[location] = Term::Int(i128::from(step.target.0));
        path.written.insert(location);
        Ok(Member {
            command: id,
            enabled,
            path,
        })
    }

    fn run(&mut self, statements: &[Stmt], path: &mut Path) -> Result<(), Refusal> {
        for statement in statements {
            self.run_one(statement, path)?;
        }
        Ok(())
    }

    fn run_one(&mut self, statement: &Stmt, path: &mut Path) -> Result<(), Refusal> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Assign(place, value) => {
                let value = self.translator(span).value(value, &mut path.scene)?;
                path.fail_unless(value.ok);
                self.store(place, value.term, path, span)
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.translator(span).truth(condition, &mut path.scene)?;
                path.fail_unless(condition.ok);

                // Both branches are executed symbolically and merged: one command stays one
                // transition.
                let mut yes = path.clone();
                let mut no = path.clone();
                self.run(then, &mut yes)?;
                self.run(otherwise, &mut no)?;
                path.merge(&condition.term, yes, no);
                Ok(())
            }
            StmtKind::For(bound, lo, hi, body) => {
                let translator = self.translator(span);
                let lo = translator.number(lo, &mut path.scene)?.term;
                let hi = translator.number(hi, &mut path.scene)?.term;
                let (Term::Int(lo), Term::Int(hi)) = (lo, hi) else {
                    return translator.refuse("a loop between bounds that depend on the state");
                };

                // Loops are unrolled, so their bounds must be constants, and close together.
                if hi - lo >= MAX_ROUNDS {
                    return translator.refuse("a loop with too many rounds");
                }
                for value in lo..=hi {
                    path.scene.bounds.push((*bound, Term::Int(value)));
                    self.run(body, path)?;
                }
                Ok(())
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let translator = self.translator(span);
                let low = translator.value(lo, &mut path.scene)?;
                let high = translator.value(hi, &mut path.scene)?;
                path.fail_unless(Term::and([low.ok.clone(), high.ok.clone()]));
                let value = if low.term == high.term {
                    low.term
                } else {
                    self.local(bound, as_int(low.term), as_int(high.term), path)
                };
                path.scene.bounds.push((*bound, value));
                let condition = self.translator(span).truth(condition, &mut path.scene)?;
                path.fail_unless(condition.ok);

                // Not every value may satisfy the condition, so the command can be disabled by its
                // choice.
                if condition.term != Term::Bool(true) {
                    path.is_total = false;
                }
                path.condition = Term::and([path.condition.clone(), condition.term]);
                Ok(())
            }
            StmtKind::Assert(condition) => {
                let condition = self.translator(span).truth(condition, &mut path.scene)?;
                path.fail_unless(Term::and([condition.ok, condition.term]));
                Ok(())
            }
            StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::While(..)
            | StmtKind::Fail(_)
            | StmtKind::Exhausted => {
                let refusal = "a statement that only imported languages have";
                self.translator(span).refuse(refusal)
            }
            StmtKind::SetTimer(..) | StmtKind::Tick => self.translator(span).refuse("a timer"),
        }
    }

    /// A fresh value between two bounds.
    fn local(&mut self, bound: &model::BoundId, lo: Term, hi: Term, path: &mut Path) -> Term {
        let name = &self.model.parts().bounds[bound.index()];
        let name: Arc<str> = Arc::from(format!("{name}!{}", self.n_locals));
        self.n_locals += 1;

        let constant = |term: &Term| match term {
            Term::Int(value) => Some(*value),
            _ => None,
        };
        let open = i128::from(model::OPEN_VALUES) - 1;
        let is_open = hi == Term::Int(open);
        let is_endless = hi == Term::Int(i128::from(i64::MAX));
        let has_least = !is_open && lo != Term::Int(i128::from(i64::MIN));
        let has_greatest = !is_open && !is_endless;
        let interval: Interval = (
            constant(&lo).filter(|_| has_least),
            constant(&hi).filter(|_| has_greatest),
        );
        let term = Term::Var(Arc::clone(&name), Sort::Int);
        let mut parts = Vec::new();
        if has_least {
            parts.push(Term::le(lo.clone(), term.clone()));
        }
        if has_greatest {
            parts.push(Term::le(term.clone(), hi.clone()));
        }

        let is_possible = matches!((&lo, &hi), (Term::Int(lo), Term::Int(hi)) if lo <= hi);
        path.is_total &= is_possible;
        path.condition = Term::and([path.condition.clone(), Term::and(parts)]);
        path.locals.push(Local {
            name,
            sort: Sort::Int,
            interval,
            endless: is_endless.then_some(*bound),
        });
        term
    }

    pub(super) fn store(
        &self,
        place: &model::Place,
        value: Term,
        path: &mut Path,
        span: Span,
    ) -> Result<(), Refusal> {
        let translator = self.translator(span);
        let Resolved { choices, ok } = translator.resolve(place, &mut path.scene)?;
        path.fail_unless(ok);
        for (condition, target) in choices {
            let (var, new) = match target {
                Target::Var(var) if self.vars[var].sort == Sort::Array => {
                    (var, self.whole_array(value.clone(), path, span)?)
                }
                Target::Var(var) => {
                    let description = &self.vars[var];
                    let new = coerce(value.clone(), description.sort);
                    if new.sort() != description.sort {
                        return translator.refuse("a whole array is stored into a single cell");
                    }
                    let fits = within(&new, description.sort, description.interval);
                    path.fail_unless(Term::implies(condition.clone(), fits));
                    (var, new)
                }
                Target::Element(var, index) => {
                    let new = as_int(value.clone());
                    if new.sort() != Sort::Int {
                        return translator.refuse("a whole array is stored into one element");
                    }
                    // The interval of an array is that of its elements.
                    let fits = within(&new, Sort::Int, self.vars[var].interval);
                    path.fail_unless(Term::implies(condition.clone(), fits));
                    let old = path.scene.values[var].clone();
                    (var, Term::store(old, index, new))
                }
            };
            let old = path.scene.values[var].clone();
            path.scene.values[var] = Term::ite(condition, new, old);
            path.written.insert(var);
        }

        Ok(())
    }

    /// What all elements are assigned: another array, or a choice for each of them.
    fn whole_array(&self, value: Term, path: &mut Path, span: Span) -> Result<Term, Refusal> {
        if value.sort() == Sort::Array {
            return Ok(value);
        }
        let is_local = |local: &&Local| matches!(&value, Term::Var(name, _) if *name == local.name);
        let Some(local) = path.locals.iter().find(is_local) else {
            let translator = self.translator(span);
            return translator
                .refuse("an array without bounds can only be copied or chosen as a whole");
        };
        let endless = local.endless;
        let name: Arc<str> = Arc::from(format!("{} everywhere", local.name));
        let term = Term::Var(Arc::clone(&name), Sort::Array);
        if !path.locals.iter().any(|local| local.name == name) {
            path.locals.push(Local {
                name,
                sort: Sort::Array,
                interval: (None, None),
                endless,
            });
        }
        Ok(term)
    }
}

impl Path {
    fn fail_unless(&mut self, ok: Term) {
        let fails = Term::and([self.condition.clone(), Term::not(ok)]);
        self.fails = Term::or([self.fails.clone(), fails]);
    }

    fn merge(&mut self, condition: &Term, yes: Self, no: Self) {
        let pick = |a: Term, b: Term| Term::ite(condition.clone(), a, b);
        let values = yes.scene.values.into_iter().zip(no.scene.values);
        self.scene.values = values.map(|(a, b)| pick(a, b)).collect();
        self.written.extend(yes.written);
        self.written.extend(no.written);
        self.condition = pick(yes.condition, no.condition);
        self.fails = pick(yes.fails, no.fails);
        self.is_total = yes.is_total && no.is_total;
        for local in yes.locals.into_iter().chain(no.locals) {
            if !self.locals.contains(&local) {
                self.locals.push(local);
            }
        }
    }
}

pub(super) fn coerce(term: Term, sort: Sort) -> Term {
    match sort {
        Sort::Bool => as_bool(term),
        Sort::Int => as_int(term),
        Sort::Array => term,
    }
}

pub(super) fn same(a: Term, b: Term) -> Term {
    match (a.sort(), b.sort()) {
        (Sort::Bool, _) | (_, Sort::Bool) => Term::iff(as_bool(a), as_bool(b)),
        _ => Term::eq(a, b),
    }
}
