//! Guards and effects as terms: what crate `model` computes from one state, for all states at once.
//!
//! Line by line the meaning is that of `eval.rs` and `execute.rs` there, but for integers, which are
//! those of mathematics. Instead of one value there is a term; instead of branches of an execution
//! there is the condition [`Execution::alive`] under which it gets this far, and instead of a run-time
//! error the condition [`Execution::error`] under which there is one somewhere on the way. A value that
//! is chosen is a constant about which only its bounds and its condition are known.

use base::AtomId;
use logic::{Ltl, Op};
use model::{
    Access, AtomMeaning, BinaryOp, BoundId, Command, CommandId, Expr, InstanceId, Model, Owner,
    Place, ProcessId, Quantifier, Stmt, StmtKind, Type,
};

use super::script::{Script, Term};

/// More alternatives or iterations are not written down.
const MAX_CASES: i128 = 2_000;

/// Why something is not expressed.
pub(super) type Refusal = String;

/// An execution from any state.
#[derive(Clone)]
pub(super) struct Execution<'m> {
    pub(super) model: &'m Model,
    pub(super) script: Script,
    /// Numbers.
    pub(super) cells: Vec<Term>,
    /// Numbers.
    pub(super) locations: Vec<Term>,
    pub(super) alive: Term,
    pub(super) error: Term,
    bounds: Vec<(BoundId, Term)>,
    instance: Option<InstanceId>,
}

impl<'m> Execution<'m> {
    pub(super) fn new(
        model: &'m Model,
        script: Script,
        cells: Vec<Term>,
        locations: Vec<Term>,
    ) -> Self {
        Self {
            model,
            script,
            cells,
            locations,
            alive: Term::bool(true),
            error: Term::bool(false),
            bounds: Vec::new(),
            instance: None,
        }
    }

    /// Takes a step, as far as its guard.
    pub(super) fn guard(&mut self, id: CommandId) -> Result<(), Refusal> {
        let Command {
            instance, bindings, ..
        } = &self.model.commands()[id.index()];
        let step = self.model.step_of(id);
        let known = bindings
            .iter()
            .map(|(bound, value)| (*bound, Term::int((*value).into())));
        self.bounds = known.collect();
        self.instance = Some(*instance);

        let source = Term::int(step.source.index() as i128);
        let location = self.locations[instance.index()].clone();
        self.alive = self.script.compare("=", &location, &source);
        let guard = self.truth(&step.guard)?;
        self.alive = self.script.and(&self.alive, &guard);
        Ok(())
    }

    /// The rest of the step.
    pub(super) fn effect(&mut self, id: CommandId) -> Result<(), Refusal> {
        let instance = self.model.commands()[id.index()].instance;
        let step = self.model.step_of(id);
        self.run(&step.effect)?;
        self.locations[instance.index()] = Term::int(step.target.index() as i128);
        Ok(())
    }

    /// Where this is not so, and the execution gets this far, there is a run-time error.
    fn require(&mut self, condition: &Term) {
        let fails = self.script.not(condition);
        let fails = self.script.and(&self.alive, &fails);
        self.error = self.script.or(&self.error, &fails);
    }

    /// Does something that happens only under a condition.
    fn under<T>(
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

    pub(super) fn truth(&mut self, expr: &Expr) -> Result<Term, Refusal> {
        let term = self.eval(expr)?;
        Ok(self.script.truth(&term))
    }

    fn eval(&mut self, expr: &Expr) -> Result<Term, Refusal> {
        Ok(match expr {
            Expr::Int(value) => Term::int((*value).into()),
            Expr::Bool(value) => Term::bool(*value),
            Expr::Enum(_, variant) => Term::int((*variant).into()),
            Expr::Read(place) => self.read(place)?,
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
            } => {
                let mut is_there = Term::bool(false);
                for (condition, instance) in self.instances(*process, owner)? {
                    for location in locations {
                        let at = self.locations[instance.index()].clone();
                        let at =
                            (self.script).compare("=", &at, &Term::int(location.index() as i128));
                        let both = self.script.and(&condition, &at);
                        is_there = self.script.or(&is_there, &both);
                    }
                }
                is_there
            }
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

    /// The values between two constants.
    fn range(&mut self, lo: &Expr, hi: &Expr) -> Result<std::ops::RangeInclusive<i128>, Refusal> {
        let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);
        match (lo.known, hi.known) {
            (Some(lo), Some(hi)) if hi - lo < MAX_CASES => Ok(lo..=hi),
            (Some(_), Some(_)) => Err("a range is too large".to_owned()),
            _ => Err("ranges that depend on the state are not expressed".to_owned()),
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        (bound, lo, hi): (BoundId, &Expr, &Expr),
        body: &Expr,
    ) -> Result<Term, Refusal> {
        let mut so_far = match quantifier {
            Quantifier::Forall => Term::bool(true),
            Quantifier::Exists => Term::bool(false),
            Quantifier::Sum => Term::int(0),
        };
        for value in self.range(lo, hi)? {
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

    /// Which of some numbers a term is; a run-time error if it is none of them.
    fn cases(
        &mut self,
        term: &Term,
        lo: i128,
        n_values: usize,
    ) -> Result<Vec<(Term, usize)>, Refusal> {
        if n_values as i128 > MAX_CASES {
            return Err("a range is too large".to_owned());
        }
        let mut cases = Vec::new();
        let mut is_one = Term::bool(false);
        for offset in 0..n_values {
            let value = Term::int(lo + offset as i128);
            let condition = self.script.compare("=", term, &value);
            if condition.known != Some(0) {
                is_one = self.script.or(&is_one, &condition);
                cases.push((condition, offset));
            }
        }
        self.require(&is_one);
        Ok(cases)
    }

    fn instances(
        &mut self,
        process: ProcessId,
        owner: &Owner,
    ) -> Result<Vec<(Term, InstanceId)>, Refusal> {
        let one = |instance: Option<InstanceId>| {
            let instance = instance.ok_or_else(|| "a process is missing".to_owned())?;
            Ok(vec![(Term::bool(true), instance)])
        };
        match owner {
            Owner::Own => one(self.instance),
            Owner::Single => one(self.model.instance_of(process, None)),
            Owner::Indexed(index) => {
                let index = self.eval(index)?;
                let family = &self.model.parts().processes[process.index()];
                let range = family
                    .index
                    .ok_or_else(|| "a process has no index".to_owned())?;
                let n_values = usize::try_from(i128::from(range.hi) - i128::from(range.lo) + 1);
                let mut found = Vec::new();
                for (condition, offset) in
                    self.cases(&index, range.lo.into(), n_values.unwrap_or(0))?
                {
                    let instance = self
                        .model
                        .instance_of(process, Some(range.lo + offset as i64));
                    found.push((
                        condition,
                        instance.ok_or_else(|| "a process is missing".to_owned())?,
                    ));
                }
                Ok(found)
            }
        }
    }

    /// The cells that a place may name, each with its condition.
    fn cells_of(&mut self, place: &Place) -> Result<Vec<(Term, usize)>, Refusal> {
        let model = self.model;
        let variable = &model.parts().vars[place.var.index()];
        let mut found = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => {
                let instances = self.instances(process, owner)?.into_iter();
                let first = |instance| model.first_cell(place.var, Some(instance));
                instances
                    .map(|(condition, i)| (condition, first(i)))
                    .collect()
            }
            _ => vec![(Term::bool(true), model.first_cell(place.var, None))],
        };

        let records = &model.parts().records;
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let index = self.eval(index)?;
                    let n_cells = array.element.n_cells(records);
                    let cases = self.cases(&index, array.lo.into(), array.len)?;
                    let mut refined = Vec::new();
                    for (condition, first) in &found {
                        for (here, offset) in &cases {
                            let both = self.script.and(condition, here);
                            refined.push((both, first + offset * n_cells));
                        }
                    }
                    found = refined;
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let n_before: usize = fields[..*field]
                        .iter()
                        .map(|(_, ty)| ty.n_cells(records))
                        .sum();
                    found.iter_mut().for_each(|(_, cell)| *cell += n_before);
                    ty = &fields[*field].1;
                }
                _ => return Err("a path does not fit its type".to_owned()),
            }
        }
        Ok(found)
    }

    fn read(&mut self, place: &Place) -> Result<Term, Refusal> {
        let mut value = Term::int(0);
        for (condition, cell) in self.cells_of(place)? {
            let there = self.cells[cell].clone();
            value = self.script.ite(&condition, &there, &value);
        }
        Ok(value)
    }

    fn store(&mut self, place: &Place, value: &Term) -> Result<(), Refusal> {
        let value = self.script.number(value);
        for (condition, cell) in self.cells_of(place)? {
            let bounds = self.model.cells()[cell].ty.bounds();
            let fits = self.script.within(&value, bounds);
            self.under(&condition, |this| {
                this.require(&fits);
                Ok(())
            })?;
            let before = self.cells[cell].clone();
            self.cells[cell] = self.script.ite(&condition, &value, &before);
        }
        Ok(())
    }

    fn run(&mut self, statements: &[Stmt]) -> Result<(), Refusal> {
        statements.iter().try_for_each(|s| self.run_one(&s.kind))
    }

    fn run_one(&mut self, statement: &StmtKind) -> Result<(), Refusal> {
        match statement {
            StmtKind::Assign(place, value) => {
                let value = self.eval(value)?;
                self.store(place, &value)
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.truth(condition)?;
                self.run_either(&condition, then, otherwise)
            }
            StmtKind::For(bound, lo, hi, body) => {
                for value in self.range(lo, hi)? {
                    self.bounds.push((*bound, Term::int(value)));
                    self.run(body)?;
                }
                Ok(())
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);
                let chosen = self.script.fresh();
                let above = self.script.compare("<=", &lo, &chosen);
                let below = self.script.compare("<=", &chosen, &hi);
                let inside = self.script.and(&above, &below);
                self.alive = self.script.and(&self.alive, &inside);
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
        let (cells, bounds, alive) = (self.cells.clone(), self.bounds.clone(), self.alive.clone());
        self.alive = self.script.and(&alive, condition);
        self.run(then)?;
        let then_cells = std::mem::replace(&mut self.cells, cells);
        let n_bounds = bounds.len();
        let then_bounds = std::mem::replace(&mut self.bounds, bounds);
        let other_alive = self.script.and(&alive, &not);
        let then_alive = std::mem::replace(&mut self.alive, other_alive);
        self.run(otherwise)?;

        self.alive = self.script.or(&then_alive, &self.alive);
        for (cell, then) in then_cells.iter().enumerate() {
            let otherwise = self.cells[cell].clone();
            self.cells[cell] = self.script.ite(condition, then, &otherwise);
        }
        // Names that were bound in a branch are not known behind it.
        self.bounds.truncate(n_bounds);
        for (position, (_, then)) in then_bounds.iter().take(n_bounds).enumerate() {
            let otherwise = self.bounds[position].1.clone();
            self.bounds[position].1 = self.script.ite(condition, then, &otherwise);
        }
        Ok(())
    }

    /// A formula without temporal operators, in the state.
    pub(super) fn formula(&mut self, formula: &Ltl) -> Result<Term, Refusal> {
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

    fn atom(&mut self, atom: AtomId) -> Result<Term, Refusal> {
        match &self.model.parts().atoms[atom.index()].meaning {
            AtomMeaning::State(expr) => self.truth(expr),
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => {
                Err("only propositions about values and locations are expressed".to_owned())
            }
        }
    }
}

/// Can the statements be executed whatever is chosen?
pub(super) fn never_rejects(statements: &[Stmt]) -> bool {
    statements.iter().all(|statement| match &statement.kind {
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
