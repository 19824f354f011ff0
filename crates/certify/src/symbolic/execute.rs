//! Guards and effects as terms: what crate `model` computes from one state, for all states at once.
//!
//! Line by line the meaning is that of `eval.rs` and `execute.rs` there, but for integers, which are
//! those of mathematics. Instead of one value there is a term; instead of branches of an execution
//! there is the condition [`Execution::alive`] under which it gets this far, and instead of a run-time
//! error the condition [`Execution::error`] under which there is one somewhere on the way. A value that
//! is chosen is a constant about which only its bounds and its condition are known.
//!
//! What a state consists of is the matter of a [`Memory`].

use base::AtomId;
use logic::{Ltl, Op};
use model::{
    AtomMeaning, BinaryOp, BoundId, Expr, LocationId, ModelParts, OPEN_VALUES, Owner, Place,
    ProcessId, Quantifier, Stmt, StmtKind,
};

use super::script::{Script, Term};

/// More alternatives or iterations are not written down.
pub(crate) const MAX_CASES: i128 = 2_000;

/// Why something is not expressed.
pub(crate) type Refusal = String;

/// What a state consists of, as terms.
pub(crate) trait Memory: Clone {
    /// The model, or what all instances have in common.
    fn parts(&self) -> &ModelParts;

    /// The content of a place.
    fn read(execution: &mut Execution<Self>, place: &Place) -> Result<Term, Refusal>;

    /// Stores a number.
    fn store(execution: &mut Execution<Self>, place: &Place, value: &Term) -> Result<(), Refusal>;

    /// Is a process at one of the locations?
    fn at(
        execution: &mut Execution<Self>,
        process: ProcessId,
        owner: &Owner,
        locations: &[LocationId],
    ) -> Result<Term, Refusal>;

    /// A quantified expression whose range is not one of constants.
    fn open_range(
        execution: &mut Execution<Self>,
        quantifier: Quantifier,
        range: (BoundId, &Term, &Term),
        body: &Expr,
    ) -> Result<Term, Refusal>;

    /// A loop whose range is not one of constants.
    fn open_loop(
        execution: &mut Execution<Self>,
        range: (BoundId, &Term, &Term),
        body: &[Stmt],
    ) -> Result<(), Refusal>;

    /// A comparison that is not expressed by its operands, if it is one.
    fn special(
        execution: &mut Execution<Self>,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<Term>, Refusal>;

    /// What is stored after one of two sequences.
    fn merge(script: &mut Script, condition: &Term, then: &Self, otherwise: &Self) -> Self;
}

/// An execution from any state.
#[derive(Clone)]
pub(crate) struct Execution<M> {
    pub(crate) memory: M,
    pub(crate) script: Script,
    pub(crate) alive: Term,
    pub(crate) error: Term,
    pub(crate) bounds: Vec<(BoundId, Term)>,
}

impl<M: Memory> Execution<M> {
    pub(crate) fn new(memory: M, script: Script) -> Self {
        Self {
            memory,
            script,
            alive: Term::bool(true),
            error: Term::bool(false),
            bounds: Vec::new(),
        }
    }

    /// Where this is not so, and the execution gets this far, there is a run-time error.
    pub(crate) fn require(&mut self, condition: &Term) {
        let fails = self.script.not(condition);
        let fails = self.script.and(&self.alive, &fails);
        self.error = self.script.or(&self.error, &fails);
    }

    /// Does something that happens only under a condition.
    pub(crate) fn under<T>(
        &mut self,
        condition: &Term,
        act: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let before = self.alive.clone();
        self.alive = self.script.and(&before, condition);
        let result = act(self);
        self.alive = before;
        result
    }

    pub(crate) fn truth(&mut self, expr: &Expr) -> Result<Term, Refusal> {
        let term = self.eval(expr)?;
        Ok(self.script.truth(&term))
    }

    pub(crate) fn eval(&mut self, expr: &Expr) -> Result<Term, Refusal> {
        Ok(match expr {
            Expr::Int(value) => Term::int((*value).into()),
            Expr::Bool(value) => Term::bool(*value),
            Expr::Enum(_, variant) => Term::int((*variant).into()),
            Expr::Read(place) => M::read(self, place)?,
            Expr::Bound(bound) => self.bound(*bound)?.clone(),
            Expr::Not(inner) => {
                let inner = self.truth(inner)?;
                self.script.not(&inner)
            }
            Expr::Neg(inner) => {
                let inner = self.eval(inner)?;
                self.script.arithmetic("-", &Term::int(0), &inner)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right)?,
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.truth(condition)?;
                let not = self.script.not(&condition);
                let then = self.under(&condition, |this| this.eval(then))?;
                let otherwise = self.under(&not, |this| this.eval(otherwise))?;
                self.script.ite(&condition, &then, &otherwise)
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => self.quantified(*quantifier, (*bound, lo, hi), body)?,
            Expr::At {
                process,
                owner,
                locations,
            } => M::at(self, *process, owner, locations)?,
            Expr::Length(_) => return Err("channels are not expressed".to_owned()),
            Expr::Wrap { .. } => return Err("words of few bits are not expressed".to_owned()),
        })
    }

    fn bound(&self, bound: BoundId) -> Result<&Term, Refusal> {
        let found = self.bounds.iter().rev().find(|(known, _)| *known == bound);
        let found = found.ok_or_else(|| "a name is not bound".to_owned())?;
        Ok(&found.1)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Term, Refusal> {
        if let Some(truth) = M::special(self, op, left, right)? {
            return Ok(truth);
        }
        let a = self.eval(left)?;
        // The right operand is looked at only if it matters.
        if let BinaryOp::And | BinaryOp::Or | BinaryOp::Implies = op {
            let a = self.script.truth(&a);
            let not_a = self.script.not(&a);
            let matters = if op == BinaryOp::Or { &not_a } else { &a };
            let b = self.under(matters, |this| this.truth(right))?;
            return Ok(match op {
                BinaryOp::And => self.script.and(&a, &b),
                BinaryOp::Or => self.script.or(&a, &b),
                _ => self.script.or(&not_a, &b),
            });
        }

        let b = self.eval(right)?;
        let script = &mut self.script;
        Ok(match op {
            BinaryOp::Add => script.arithmetic("+", &a, &b),
            BinaryOp::Sub => script.arithmetic("-", &a, &b),
            BinaryOp::Mul => script.arithmetic("*", &a, &b),
            // Of SMT-LIB, too, the remainder is never negative.
            BinaryOp::Div | BinaryOp::Mod => {
                let is_zero = script.compare("=", &b, &Term::int(0));
                let is_other = script.not(&is_zero);
                self.require(&is_other);
                if op == BinaryOp::Mod && b.known.is_none() {
                    return Ok(self.script.remainder(&a, &b));
                }
                let operator = if op == BinaryOp::Div { "div" } else { "mod" };
                self.script.arithmetic(operator, &a, &b)
            }
            BinaryOp::Eq => script.compare("=", &a, &b),
            BinaryOp::Ne => {
                let same = script.compare("=", &a, &b);
                script.not(&same)
            }
            BinaryOp::Lt => script.compare("<", &a, &b),
            BinaryOp::Le => script.compare("<=", &a, &b),
            BinaryOp::Gt => script.compare("<", &b, &a),
            BinaryOp::Ge => script.compare("<=", &b, &a),
            BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => return Err("operators on bits are not expressed".to_owned()),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => unreachable!("done above"),
        })
    }

    /// The values between two constants, if they are such.
    fn range(lo: &Term, hi: &Term) -> Result<Option<std::ops::RangeInclusive<i128>>, Refusal> {
        match (lo.known, hi.known) {
            (Some(lo), Some(hi)) if hi - lo < MAX_CASES => Ok(Some(lo..=hi)),
            (Some(_), Some(_)) => Err("a range is too large".to_owned()),
            _ => Ok(None),
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        (bound, lo, hi): (BoundId, &Expr, &Expr),
        body: &Expr,
    ) -> Result<Term, Refusal> {
        let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);

        let Some(values) = Self::range(&lo, &hi)? else {
            return M::open_range(self, quantifier, (bound, &lo, &hi), body);
        };

        let mut so_far = match quantifier {
            Quantifier::Forall => Term::bool(true),
            Quantifier::Exists => Term::bool(false),
            Quantifier::Sum => Term::int(0),
        };

        for value in values {
            // Quantifiers stop early: an instance after the decisive one may fail.
            let matters = match quantifier {
                Quantifier::Forall => so_far.clone(),
                Quantifier::Exists => self.script.not(&so_far),
                Quantifier::Sum => Term::bool(true),
            };
            self.bounds.push((bound, Term::int(value)));
            let instance = self.under(&matters, |this| this.eval(body))?;
            self.bounds.pop();

            so_far = match quantifier {
                Quantifier::Sum => self.script.arithmetic("+", &so_far, &instance),
                Quantifier::Forall => {
                    let truth = self.script.truth(&instance);
                    self.script.and(&so_far, &truth)
                }
                Quantifier::Exists => {
                    let truth = self.script.truth(&instance);
                    self.script.or(&so_far, &truth)
                }
            };
        }

        Ok(so_far)
    }

    pub(crate) fn run(&mut self, statements: &[Stmt]) -> Result<(), Refusal> {
        statements.iter().try_for_each(|s| self.run_one(&s.kind))
    }

    fn run_one(&mut self, statement: &StmtKind) -> Result<(), Refusal> {
        match statement {
            StmtKind::Assign(place, value) => {
                let value = self.eval(value)?;
                let value = self.script.number(&value);
                M::store(self, place, &value)
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.truth(condition)?;
                self.run_either(&condition, then, otherwise)
            }
            StmtKind::For(bound, lo, hi, body) => {
                let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);
                let Some(values) = Self::range(&lo, &hi)? else {
                    return M::open_loop(self, (*bound, &lo, &hi), body);
                };
                for value in values {
                    self.bounds.push((*bound, Term::int(value)));
                    self.run(body)?;
                }
                Ok(())
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);
                let chosen = self.script.fresh();
                // Nothing is known about the values of a type that is left open, and integers have
                // no end.
                let is_open = hi.known == Some(i128::from(OPEN_VALUES) - 1);
                if !is_open && lo.known != Some(i128::from(i64::MIN)) {
                    let above = self.script.compare("<=", &lo, &chosen);
                    self.alive = self.script.and(&self.alive, &above);
                }
                if !is_open && hi.known != Some(i128::from(i64::MAX)) {
                    let below = self.script.compare("<=", &chosen, &hi);
                    self.alive = self.script.and(&self.alive, &below);
                }
                self.bounds.push((*bound, chosen));
                let condition = self.truth(condition)?;
                self.alive = self.script.and(&self.alive, &condition);
                Ok(())
            }
            StmtKind::Assert(condition) => {
                let condition = self.truth(condition)?;
                self.require(&condition);
                Ok(())
            }
            StmtKind::Let(bound, value) => {
                let value = self.eval(value)?;
                self.bounds.push((*bound, value));
                Ok(())
            }
            StmtKind::Set(bound, value) => {
                let value = self.eval(value)?;
                let mut known = self.bounds.iter_mut().rev();
                let found = known.find(|(known, _)| known == bound);
                found.ok_or_else(|| "a name is not bound".to_owned())?.1 = value;
                Ok(())
            }
            StmtKind::Fail(_) | StmtKind::Exhausted => {
                self.require(&Term::bool(false));
                Ok(())
            }
            StmtKind::While(..) => Err("loops are not expressed".to_owned()),
            StmtKind::SetTimer(..) | StmtKind::Tick => Err("timers are not expressed".to_owned()),
        }
    }

    /// Both branches, each under its condition; then the values of the one that was taken.
    fn run_either(
        &mut self,
        condition: &Term,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), Refusal> {
        let not = self.script.not(condition);
        let (memory, bounds) = (self.memory.clone(), self.bounds.clone());
        let alive = self.alive.clone();
        self.alive = self.script.and(&alive, condition);
        self.run(then)?;
        let then_memory = std::mem::replace(&mut self.memory, memory);
        let n_bounds = bounds.len();
        let then_bounds = std::mem::replace(&mut self.bounds, bounds);
        let other_alive = self.script.and(&alive, &not);
        let then_alive = std::mem::replace(&mut self.alive, other_alive);
        self.run(otherwise)?;

        self.alive = self.script.or(&then_alive, &self.alive);
        self.memory = M::merge(&mut self.script, condition, &then_memory, &self.memory);
        // Names that were bound in a branch are not known behind it.
        self.bounds.truncate(n_bounds);
        for (position, (_, then)) in then_bounds.iter().take(n_bounds).enumerate() {
            let otherwise = self.bounds[position].1.clone();
            self.bounds[position].1 = self.script.ite(condition, then, &otherwise);
        }
        Ok(())
    }

    /// A formula without temporal operators, in the state.
    pub(crate) fn formula(&mut self, formula: &Ltl) -> Result<Term, Refusal> {
        let all = |this: &mut Self, parts: &[Ltl]| -> Result<Vec<Term>, Refusal> {
            parts.iter().map(|part| this.formula(part)).collect()
        };
        Ok(match formula.op() {
            Op::True => Term::bool(true),
            Op::False => Term::bool(false),
            Op::Atom(atom) => self.atom(*atom)?,
            Op::Not(inner) => {
                let inner = self.formula(inner)?;
                self.script.not(&inner)
            }
            Op::And(parts) => {
                let parts = all(self, parts)?;
                let and = |a: Term, b: &Term| self.script.and(&a, b);
                parts.iter().fold(Term::bool(true), and)
            }
            Op::Or(parts) => {
                let parts = all(self, parts)?;
                let or = |a: Term, b: &Term| self.script.or(&a, b);
                parts.iter().fold(Term::bool(false), or)
            }
            Op::Implies(a, b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                let not_a = self.script.not(&a);
                self.script.or(&not_a, &b)
            }
            Op::Iff(a, b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                self.script.compare("=", &a, &b)
            }
            Op::Next(_)
            | Op::Until(..)
            | Op::WeakUntil(..)
            | Op::Release(..)
            | Op::StrongRelease(..)
            | Op::Eventually(_)
            | Op::Always(_)
            | Op::Previously(_)
            | Op::Since(..) => return Err("the formula is not about single states".to_owned()),
        })
    }

    pub(crate) fn atom(&mut self, atom: AtomId) -> Result<Term, Refusal> {
        match self.memory.parts().atoms[atom.index()].meaning.clone() {
            AtomMeaning::State(expr) => self.truth(&expr),
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => {
                Err("only propositions about values and locations are expressed".to_owned())
            }
        }
    }

    /// The text that asks for an error, or for getting this far without what is demanded.
    pub(crate) fn breaks(mut self, demanded: &Term) -> String {
        let not = self.script.not(demanded);
        let breaks = self.script.and(&self.alive, &not);
        let wrong = self.script.or(&self.error, &breaks);
        self.script.asked(&wrong)
    }
}

/// Can the statements be executed whatever is chosen?
pub(crate) fn never_rejects(statements: &[Stmt]) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        StmtKind::Choose(_, Expr::Int(lo), Expr::Int(hi), Expr::Bool(true)) => lo <= hi,
        StmtKind::Choose(..) | StmtKind::While(..) => false,
        StmtKind::If(_, then, otherwise) => never_rejects(then) && never_rejects(otherwise),
        StmtKind::For(_, _, _, body) => never_rejects(body),
        StmtKind::Assign(..)
        | StmtKind::Assert(_)
        | StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::Fail(_)
        | StmtKind::SetTimer(..)
        | StmtKind::Tick
        | StmtKind::Exhausted => true,
    })
}
