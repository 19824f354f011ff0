//! Expressions of models as solver terms, with the conditions under which they have a value.

use base::Span;
use model::{
    Access, BinaryOp, BoundId, ChannelRef, EVERY_INDEX, Expr, InstanceId, Model, Owner, Place,
    Quantifier, Type,
};
use smt::{Sort, Term};

use super::program::{Content, Refusal, StateVar};

/// How many cells a reading or writing with a computed index may concern.
const MAX_CHOICES: usize = 512;

/// How many instances a quantifier may have.
const MAX_INSTANCES: i64 = 4096;

/// A term, and when the expression that it stands for has a value.
#[derive(Clone, Debug)]
pub(crate) struct Valued {
    pub(crate) term: Term,
    pub(crate) ok: Term,
}

impl Valued {
    fn plain(term: Term) -> Self {
        let ok = Term::Bool(true);
        Self { term, ok }
    }
}

/// What a place names.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A variable of the program.
    Var(usize),
    /// An element of an array without bounds.
    Element(usize, Term),
}

/// Where a place may be, each under a condition; and when it exists.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) choices: Vec<(Term, Target)>,
    pub(crate) ok: Term,
}

/// In whose name and in which symbolic state expressions are read.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) instance: Option<InstanceId>,
    pub(crate) bounds: Vec<(BoundId, Term)>,
    /// The present value of every variable of the program.
    pub(crate) values: Vec<Term>,
}

impl Scene {
    /// The state before anything has happened.
    pub(crate) fn new(
        vars: &[StateVar],
        instance: Option<InstanceId>,
        bindings: &[(BoundId, i64)],
    ) -> Self {
        let bind = |(bound, value): &(BoundId, i64)| (*bound, Term::Int(i128::from(*value)));
        Self {
            instance,
            bounds: bindings.iter().map(bind).collect(),
            values: vars.iter().map(StateVar::term).collect(),
        }
    }

    fn bound(&self, bound: BoundId) -> Option<&Term> {
        let found = self.bounds.iter().rev().find(|(name, _)| *name == bound);
        found.map(|(_, term)| term)
    }
}

/// Translates expressions of one model.
pub(crate) struct Translator<'m> {
    pub(crate) model: &'m Model,
    pub(crate) vars: &'m [StateVar],
    /// What messages point at.
    pub(crate) span: Span,
}

type Translated<T> = Result<T, Refusal>;

impl Translator<'_> {
    pub(crate) fn refuse<T>(&self, message: impl Into<String>) -> Translated<T> {
        Err(Refusal {
            message: message.into(),
            span: self.span,
        })
    }

    /// A term that must have a value in every state.
    pub(crate) fn certain(&self, expr: &Expr, scene: &mut Scene) -> Translated<Term> {
        let valued = self.value(expr, scene)?;
        match valued.ok {
            Term::Bool(true) => Ok(valued.term),
            _ => self.refuse("this may have no value"),
        }
    }

    /// A Boolean term.
    pub(crate) fn truth(&self, expr: &Expr, scene: &mut Scene) -> Translated<Valued> {
        let Valued { term, ok } = self.value(expr, scene)?;
        let term = as_bool(term);
        Ok(Valued { term, ok })
    }

    /// An integer term.
    pub(crate) fn number(&self, expr: &Expr, scene: &mut Scene) -> Translated<Valued> {
        let Valued { term, ok } = self.value(expr, scene)?;
        let term = as_int(term);
        Ok(Valued { term, ok })
    }

    /// A term of whatever sort the expression has.
    pub(crate) fn value(&self, expr: &Expr, scene: &mut Scene) -> Translated<Valued> {
        match expr {
            Expr::Int(value) => Ok(Valued::plain(Term::Int(i128::from(*value)))),
            Expr::Bool(value) => Ok(Valued::plain(Term::Bool(*value))),
            Expr::Enum(_, variant) => Ok(Valued::plain(Term::Int(i128::from(*variant)))),
            Expr::Bound(bound) => match scene.bound(*bound) {
                Some(term) => Ok(Valued::plain(term.clone())),
                None => self.refuse("a name has no value here"),
            },
            Expr::Read(place) => self.read(place, scene),
            Expr::Not(inner) => {
                let Valued { term, ok } = self.truth(inner, scene)?;
                let term = Term::not(term);
                Ok(Valued { term, ok })
            }
            Expr::Neg(inner) => {
                let Valued { term, ok } = self.number(inner, scene)?;
                let term = Term::sub(Term::Int(0), term);
                Ok(Valued { term, ok })
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right, scene),
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.truth(condition, scene)?;
                let then = self.value(then, scene)?;
                let otherwise = self.value(otherwise, scene)?;
                Ok(choose(condition, then, otherwise))
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => self.quantified(*quantifier, *bound, (lo, hi), body, scene),
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let (instances, ok) = self.owners(*process, owner, scene)?;
                let mut parts = Vec::new();
                for (condition, instance) in instances {
                    let position = self.find(&Content::Location(instance));
                    let here = |location: &model::LocationId| {
                        let number = Term::Int(i128::from(location.0));
                        Term::eq(scene.values[position].clone(), number)
                    };
                    let there = Term::or(locations.iter().map(here));
                    parts.push(Term::and([condition, there]));
                }
                let term = Term::or(parts);
                Ok(Valued { term, ok })
            }
            Expr::Wrap { .. } => self.refuse("a value is cut to some bits"),
            Expr::Length(channel) => {
                let single = self.single_channel(channel, scene)?;
                // Nothing ever waits in a channel without room, so it has no variable.
                if self.model.parts().channels[channel.channel.index()].capacity == 0 {
                    return Ok(Valued::plain(Term::Int(0)));
                }
                let position = self.find(&Content::Length(single));
                Ok(Valued::plain(scene.values[position].clone()))
            }
        }
    }

    pub(crate) fn find(&self, content: &Content) -> usize {
        let found = self.vars.iter().position(|var| var.content == *content);
        found.expect("the model has such a variable")
    }

    /// Channels are named by constants once parameters have values.
    pub(crate) fn single_channel(
        &self,
        channel: &ChannelRef,
        scene: &mut Scene,
    ) -> Translated<usize> {
        let first = self.model.first_single_channel(channel.channel);
        let declared = &self.model.parts().channels[channel.channel.index()];
        let (Some(index), Some((lo, hi))) = (&channel.index, declared.indices) else {
            return Ok(first);
        };
        match self.number(index, scene)?.term {
            Term::Int(value) if (i128::from(lo)..=i128::from(hi)).contains(&value) => {
                Ok(first + usize::try_from(value - i128::from(lo)).expect("checked"))
            }
            _ => self.refuse("a channel is chosen by an index that depends on the state"),
        }
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        scene: &mut Scene,
    ) -> Translated<Valued> {
        let a = self.value(left, scene)?;
        let b = self.value(right, scene)?;
        let both = Term::and([a.ok.clone(), b.ok.clone()]);
        let (term, ok) = match op {
            BinaryOp::And | BinaryOp::Implies | BinaryOp::Or => {
                let (x, y) = (as_bool(a.term), as_bool(b.term));
                // The right side counts only if the left side does not decide.
                let decided = match op {
                    BinaryOp::Or => x.clone(),
                    _ => Term::not(x.clone()),
                };
                let ok = Term::and([a.ok, Term::or([decided, b.ok])]);
                let term = match op {
                    BinaryOp::And => Term::and([x, y]),
                    BinaryOp::Or => Term::or([x, y]),
                    _ => Term::implies(x, y),
                };
                (term, ok)
            }
            BinaryOp::Eq => (self.equal(a.term, b.term)?, both),
            BinaryOp::Ne => (Term::not(self.equal(a.term, b.term)?), both),
            BinaryOp::Lt => (Term::lt(as_int(a.term), as_int(b.term)), both),
            BinaryOp::Le => (Term::le(as_int(a.term), as_int(b.term)), both),
            BinaryOp::Gt => (Term::lt(as_int(b.term), as_int(a.term)), both),
            BinaryOp::Ge => (Term::le(as_int(b.term), as_int(a.term)), both),
            BinaryOp::Add => (Term::add([as_int(a.term), as_int(b.term)]), both),
            BinaryOp::Sub => (Term::sub(as_int(a.term), as_int(b.term)), both),
            BinaryOp::Mul => match Term::mul(&as_int(a.term), &as_int(b.term)) {
                Some(term) => (term, both),
                None => return self.refuse("a product of two variables is not linear"),
            },
            BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => return self.refuse("an operator that only imported languages have"),
            BinaryOp::Div | BinaryOp::Mod => match as_int(b.term) {
                Term::Int(0) => (Term::Int(0), Term::Bool(false)),
                Term::Int(divisor) if divisor > 0 => {
                    let dividend = as_int(a.term);
                    let term = match op {
                        BinaryOp::Div => Term::div(dividend, divisor),
                        _ => Term::rem(dividend, divisor),
                    };
                    (term, both)
                }
                _ => return self.refuse("a division by anything but a positive constant"),
            },
        };

        Ok(Valued { term, ok })
    }

    fn equal(&self, a: Term, b: Term) -> Translated<Term> {
        match (a.sort(), b.sort()) {
            (Sort::Array, Sort::Array) => Ok(Term::eq(a, b)),
            (Sort::Array, _) | (_, Sort::Array) => {
                self.refuse("a whole array is compared with a single value")
            }
            (Sort::Bool, _) | (_, Sort::Bool) => Ok(Term::iff(as_bool(a), as_bool(b))),
            (Sort::Int, Sort::Int) => Ok(Term::eq(a, b)),
        }
    }

    fn quantified(
        &self,
        quantifier: Quantifier,
        bound: BoundId,
        (lo, hi): (&Expr, &Expr),
        body: &Expr,
        scene: &mut Scene,
    ) -> Translated<Valued> {
        let (lo, hi) = (self.number(lo, scene)?, self.number(hi, scene)?);
        let (Term::Int(lo), Term::Int(hi)) = (lo.term, hi.term) else {
            return self.refuse("a quantifier ranges between bounds that depend on the state");
        };
        if hi - lo >= i128::from(MAX_INSTANCES) {
            return self.refuse("a quantifier has too many instances");
        }

        // From the last instance to the first, because later ones count only if earlier ones do
        // not decide.
        let mut term = match quantifier {
            Quantifier::Forall => Term::Bool(true),
            Quantifier::Exists => Term::Bool(false),
            Quantifier::Sum => Term::Int(0),
        };

        let mut ok = Term::Bool(true);
        for value in (lo..=hi).rev() {
            scene.bounds.push((bound, Term::Int(value)));
            let instance = self.value(body, scene);
            scene.bounds.pop();
            let instance = instance?;
            (term, ok) = match quantifier {
                Quantifier::Forall => {
                    let here = as_bool(instance.term);
                    let later = Term::or([Term::not(here.clone()), ok]);
                    (Term::and([here, term]), Term::and([instance.ok, later]))
                }
                Quantifier::Exists => {
                    let here = as_bool(instance.term);
                    let later = Term::or([here.clone(), ok]);
                    (Term::or([here, term]), Term::and([instance.ok, later]))
                }
                Quantifier::Sum => (
                    Term::add([as_int(instance.term), term]),
                    Term::and([instance.ok, ok]),
                ),
            };
        }

        Ok(Valued { term, ok })
    }

    fn read(&self, place: &Place, scene: &mut Scene) -> Translated<Valued> {
        let Resolved { choices, ok } = self.resolve(place, scene)?;
        let content = |target: &Target| match target {
            Target::Var(var) => scene.values[*var].clone(),
            Target::Element(var, index) => Term::select(scene.values[*var].clone(), index.clone()),
        };
        let mut choices = choices.into_iter().rev();
        let Some((_, last)) = choices.next() else {
            return self.refuse("an index that no element has");
        };
        let mut term = content(&last);
        for (condition, target) in choices {
            term = Term::ite(condition, content(&target), term);
        }
        Ok(Valued { term, ok })
    }

    fn owners(
        &self,
        process: model::ProcessId,
        owner: &Owner,
        scene: &mut Scene,
    ) -> Translated<(Vec<(Term, InstanceId)>, Term)> {
        let alone = |instance| (vec![(Term::Bool(true), instance)], Term::Bool(true));
        match owner {
            Owner::Own => match scene.instance {
                Some(instance) => Ok(alone(instance)),
                None => self.refuse("a variable of a process that is not named"),
            },
            Owner::Single => {
                let instance = self.model.instance_of(process, None);
                Ok(alone(instance.expect("it exists")))
            }
            Owner::Indexed(index) => {
                let index = self.number(index, scene)?;
                let mut choices = Vec::new();
                let mut exists = Vec::new();
                for (position, instance) in self.model.instances().iter().enumerate() {
                    let (true, Some(number)) = (instance.process == process, instance.index) else {
                        continue;
                    };
                    let here = Term::eq(index.term.clone(), Term::Int(i128::from(number)));
                    if here != Term::Bool(false) {
                        exists.push(here.clone());
                        choices.push((here, InstanceId::new(position)));
                    }
                }
                let ok = Term::and([index.ok, Term::or(exists)]);
                Ok((choices, ok))
            }
        }
    }

    /// The variables that a place may name.
    pub(crate) fn resolve(&self, place: &Place, scene: &mut Scene) -> Translated<Resolved> {
        let variable = &self.model.parts().vars[place.var.index()];
        let (starts, mut ok) = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => {
                let (instances, ok) = self.owners(process, owner, scene)?;
                let first = |(condition, instance): (Term, InstanceId)| {
                    (condition, self.model.first_cell(place.var, Some(instance)))
                };
                (instances.into_iter().map(first).collect::<Vec<_>>(), ok)
            }
            _ => {
                let cell = self.model.first_cell(place.var, None);
                (vec![(Term::Bool(true), cell)], Term::Bool(true))
            }
        };

        // Invariant: the conditions of `choices` exclude each other, and one of them holds where
        // `ok` does.
        let mut choices = starts;
        let mut ty = &variable.ty;
        let records = &self.model.parts().records;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) if model::is_unbounded_array(array) => {
                    return self.resolve_open(choices, ok, index, scene);
                }
                (Access::Index(index), Type::Array(array)) => {
                    let index = self.number(index, scene)?;
                    let stride = array.element.n_cells(records);
                    let mut next = Vec::new();
                    let mut exists = Vec::new();
                    for offset in 0..array.len {
                        let number = Term::Int(i128::from(array.lo) + offset as i128);
                        let here = Term::eq(index.term.clone(), number);
                        if here == Term::Bool(false) {
                            continue;
                        }
                        exists.push(here.clone());
                        for (condition, cell) in &choices {
                            let both = Term::and([condition.clone(), here.clone()]);
                            next.push((both, cell + offset * stride));
                        }
                    }
                    ok = Term::and([ok, index.ok, Term::or(exists)]);
                    choices = next;
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    let skip: usize = skipped.map(|(_, ty)| ty.n_cells(records)).sum();
                    choices.iter_mut().for_each(|(_, cell)| *cell += skip);
                    ty = &fields[*field].1;
                }
                _ => return self.refuse("an access that does not fit the type"),
            }
            if choices.len() > MAX_CHOICES {
                return self.refuse("an index that depends on the state has too many values");
            }
        }

        let as_var = |(condition, cell)| {
            let var = self.find(&Content::Cell(cell));
            (condition, Target::Var(var))
        };
        let choices = choices.into_iter().map(as_var).collect();
        Ok(Resolved { choices, ok })
    }

    /// An element, or all elements, of an array without bounds.
    fn resolve_open(
        &self,
        choices: Vec<(Term, usize)>,
        ok: Term,
        index: &Expr,
        scene: &mut Scene,
    ) -> Translated<Resolved> {
        let index = if *index == Expr::Int(EVERY_INDEX) {
            None
        } else {
            Some(self.number(index, scene)?)
        };
        let element = |(condition, cell): (Term, usize)| {
            let is_it = |var: &StateVar| matches!(var.content, Content::Array(_, c) if c == cell);
            let var = self.vars.iter().position(is_it).expect("it is a variable");
            let target = match &index {
                None => Target::Var(var),
                Some(index) => Target::Element(var, index.term.clone()),
            };
            (condition, target)
        };
        let choices = choices.into_iter().map(element).collect();
        let ok = Term::and([
            ok,
            index.as_ref().map_or(Term::Bool(true), |i| i.ok.clone()),
        ]);
        Ok(Resolved { choices, ok })
    }
}

fn choose(condition: Valued, then: Valued, otherwise: Valued) -> Valued {
    let ok = Term::and([
        condition.ok,
        Term::ite(condition.term.clone(), then.ok, otherwise.ok),
    ]);
    let (a, b) = match (then.term.sort(), otherwise.term.sort()) {
        (Sort::Bool, _) | (_, Sort::Bool) => (as_bool(then.term), as_bool(otherwise.term)),
        _ => (then.term, otherwise.term),
    };
    let term = Term::ite(condition.term, a, b);
    Valued { term, ok }
}

/// Truth values are 1 and 0 where numbers are wanted.
pub(crate) fn as_int(term: Term) -> Term {
    match term.sort() {
        Sort::Bool => Term::ite(term, Term::Int(1), Term::Int(0)),
        _ => term,
    }
}

/// Numbers are true unless they are zero.
pub(crate) fn as_bool(term: Term) -> Term {
    match term.sort() {
        Sort::Int => Term::not(Term::eq(term, Term::Int(0))),
        _ => term,
    }
}
