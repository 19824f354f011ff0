//! Which values variables and messages can have.
//!
//! Promela declares bytes, and most of them hold a few values: what they never hold takes no room in
//! a state. An interval for each variable is worked out without looking at the order of steps
//! (P. and R. Cousot, "Abstract interpretation", POPL 1977, doi:10.1145/512950.512973, with
//! intervals): it contains the initial values and, in turn, every value that some command may
//! assign, given the intervals of what it reads, as far as its guard and the conditions around the
//! assignment let them be: `x < 9` and then `x := x + 1` stores at most 9. What still grows after some
//! rounds grows to the next power of two, which takes the same bits, or becomes the whole type.
//! The components of messages have intervals of what is sent.
//!
//! All elements of an array, and the copies of a variable in all instances of a process, share an
//! interval. Nothing of this is used where processes may be exchanged for each other: see
//! `elimination.rs`.

use model::{
    Access, BinaryOp, BoundId, CommandId, Expr, Model, Place, Quantifier, Scalar, Stmt, StmtKind,
    Sync, Type,
};
use rustc_hash::FxHashMap;

/// From the least to the greatest value.
pub(crate) type Range = (i64, i64);

/// Nothing is known.
const ANY: Range = (i64::MIN, i64::MAX);

/// What grows in more rounds than this is widened.
const MAX_ROUNDS: usize = 6;

/// What is widened ends at the greatest number of so many bits, or before its complement.
const WIDTHS: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32];

/// Intervals that contain all values of reachable states.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    /// By cell.
    pub(crate) cells: Vec<Range>,
    /// By channel and component of its messages.
    pub(crate) messages: Vec<Vec<Range>>,
}

impl Ranges {
    /// Everything that the types admit.
    pub(crate) fn of_types(model: &Model) -> Self {
        let bounds =
            |channel: &model::Channel| channel.payload.iter().map(|ty| ty.bounds()).collect();
        Self {
            cells: model.cells().iter().map(|cell| cell.ty.bounds()).collect(),
            messages: model.parts().channels.iter().map(bounds).collect(),
        }
    }
}

/// What the values are in. Commands that are never executed do not count.
pub(crate) fn ranges(model: &Model, never_executed: &[bool]) -> Ranges {
    let mut analysis = Analysis::new(model);
    analysis.start();
    let mut is_stable = false;
    while !is_stable {
        analysis.n_rounds += 1;
        analysis.has_grown = false;
        for (position, never) in never_executed.iter().enumerate() {
            if !never {
                analysis.command(position);
            }
        }
        is_stable = !analysis.has_grown;
    }

    let range = |cell: usize| {
        let leaf = analysis.leaf_by_cell[cell] as usize;
        analysis.ranges[leaf].unwrap_or(analysis.types[leaf])
    };
    Ranges {
        cells: (0..model.cells().len()).map(range).collect(),
        messages: analysis.kept_messages(),
    }
}

struct Analysis<'m> {
    model: &'m Model,
    /// For every variable and offset within it, which interval is its own.
    shapes: Vec<Vec<u32>>,
    leaf_by_cell: Vec<u32>,
    /// By leaf: the type, and what was found so far.
    types: Vec<Range>,
    ranges: Vec<Option<Range>>,
    /// By channel and component.
    messages: Vec<Vec<Option<Range>>>,
    /// What names stand for, by command.
    names: FxHashMap<(usize, BoundId), Range>,
    /// What is known of places where the analysis is: what conditions say, and no write has changed.
    facts: Vec<(&'m Place, Range)>,
    n_rounds: usize,
    has_grown: bool,
}

impl<'m> Analysis<'m> {
    fn new(model: &'m Model) -> Self {
        let parts = model.parts();
        let mut n_leaves = 0;
        let shape = |ty: &Type| shape(model, ty, &mut n_leaves);
        let shapes: Vec<Vec<u32>> = parts.vars.iter().map(|var| &var.ty).map(shape).collect();
        let components = |channel: &model::Channel| vec![None; channel.payload.len()];

        let leaf = |(position, cell): (usize, &model::Cell)| {
            let first = model.first_cell(cell.var, cell.instance);
            shapes[cell.var.index()][position - first]
        };
        let leaf_by_cell: Vec<u32> = model.cells().iter().enumerate().map(leaf).collect();
        let mut types = vec![(0, 0); n_leaves as usize];
        for (cell, leaf) in model.cells().iter().zip(&leaf_by_cell) {
            types[*leaf as usize] = cell.ty.bounds();
        }

        Self {
            model,
            shapes,
            leaf_by_cell,
            types,
            ranges: vec![None; n_leaves as usize],
            messages: parts.channels.iter().map(components).collect(),
            names: FxHashMap::default(),
            facts: Vec::new(),
            n_rounds: 0,
            has_grown: false,
        }
    }

    /// The initial values; everything for what other rules change.
    fn start(&mut self) {
        let parts = self.model.parts();
        for cell in 0..self.model.cells().len() {
            let initial = self.model.initial_value(cell).ok().flatten();
            let initial = initial.map_or(ANY, |value| (value, value));
            self.add(self.leaf_by_cell[cell], initial);
        }
        let others = parts.timers.iter().map(|timer| timer.var);
        for var in others.chain(parts.control) {
            for offset in 0..self.shapes[var.index()].len() {
                self.add(self.shapes[var.index()][offset], ANY);
            }
        }
    }

    /// By channel and component: what channels may hold. Sending what does not fit the type is a
    /// run-time error, and channels are empty at first.
    fn kept_messages(&self) -> Vec<Vec<Range>> {
        let kept = |(ty, sent): (&Scalar, &Option<Range>)| {
            let bounds = ty.bounds();
            let kept = sent.map_or((bounds.0, bounds.0), |sent| meet(sent, bounds));
            if kept.0 > kept.1 {
                (bounds.0, bounds.0)
            } else {
                kept
            }
        };
        let channels = self.model.parts().channels.iter().zip(&self.messages);
        channels
            .map(|(channel, sent)| channel.payload.iter().zip(sent).map(kept).collect())
            .collect()
    }

    /// A leaf may have these values, as far as they fit its type.
    fn add(&mut self, leaf: u32, (lo, hi): Range) {
        let leaf = leaf as usize;
        let (least, greatest) = self.types[leaf];
        let (lo, hi) = (lo.max(least), hi.min(greatest));
        if lo > hi {
            // Storing any of them is a run-time error.
            return;
        }
        let found = self.ranges[leaf];
        let joined = found.map_or((lo, hi), |found| join(found, (lo, hi)));
        if found != Some(joined) {
            self.has_grown = true;
            self.ranges[leaf] = Some(self.widened(found, joined, self.types[leaf]));
        }
    }

    /// What becomes of an interval that has grown. Each bound is moved a few times at most.
    fn widened(&self, before: Option<Range>, joined: Range, (least, greatest): Range) -> Range {
        let Some(before) = before.filter(|_| self.n_rounds > MAX_ROUNDS) else {
            return joined;
        };
        let tops = || WIDTHS.iter().map(|width| (1_i64 << width) - 1);
        let bottom = |lo: i64| match lo {
            0.. => Some(0),
            _ => tops().map(|top| !top).find(|bottom| *bottom <= lo),
        };
        let top = |hi: i64| tops().find(|top| *top >= hi);
        let (lo, hi) = joined;
        let lower = if lo < before.0 { bottom(lo) } else { Some(lo) };
        let upper = if hi > before.1 { top(hi) } else { Some(hi) };
        (
            lower.unwrap_or(least).max(least),
            upper.unwrap_or(greatest).min(greatest),
        )
    }

    fn command(&mut self, position: usize) {
        let step = self.model.step_of(CommandId::new(position));
        self.facts.clear();
        if !self.assume(position, &step.guard, true) {
            return;
        }
        match &step.sync {
            Sync::Internal | Sync::Event { .. } => {}
            Sync::Send { channel, payload } => {
                let channel = channel.channel.index();
                for (component, expr) in payload.iter().enumerate() {
                    let sent = self.value(position, expr);
                    let known = self.messages[channel][component];
                    let joined = known.map_or(sent, |known| join(known, sent));
                    if known != Some(joined) {
                        self.has_grown = true;
                        let widened = self.widened(known, joined, ANY);
                        self.messages[channel][component] = Some(widened);
                    }
                }
            }
            Sync::Receive { channel, patterns } => {
                let channel = channel.channel.index();
                for (component, pattern) in patterns.iter().enumerate() {
                    // What was never sent is never received.
                    if let Some(sent) = self.messages[channel][component]
                        && let Some(place) = pattern.stored()
                    {
                        self.add(self.leaf(place), sent);
                    }
                }
                for place in step.sync.stored() {
                    self.forget_written(place);
                }
            }
        }
        self.statements(position, &step.effect);
    }

    fn statements(&mut self, command: usize, statements: &'m [Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Assign(place, value) => {
                    let value = self.value(command, value);
                    self.add(self.leaf(place), value);
                    self.forget_written(place);
                }
                StmtKind::Let(name, value) | StmtKind::Set(name, value) => {
                    let value = self.value(command, value);
                    self.bind(command, *name, value);
                }
                StmtKind::Choose(name, lo, hi, _) => {
                    let (lo, hi) = (self.value(command, lo).0, self.value(command, hi).1);
                    self.bind(command, *name, (lo, hi));
                }
                StmtKind::For(name, lo, hi, body) => {
                    let (lo, hi) = (self.value(command, lo).0, self.value(command, hi).1);
                    self.bind(command, *name, (lo, hi));
                    self.repeated(command, None, body);
                }
                StmtKind::If(condition, then, otherwise) => {
                    self.branches(command, condition, [then, otherwise]);
                }
                StmtKind::While(condition, body) => self.repeated(command, Some(condition), body),
                // Timers have all values of their types.
                StmtKind::SetTimer(..) | StmtKind::Tick => self.facts.clear(),
                StmtKind::Assert(_) | StmtKind::Fail(_) | StmtKind::Exhausted => {}
            }
        }
    }

    /// What is executed while a condition is true: perhaps after it was executed before.
    fn repeated(&mut self, command: usize, condition: Option<&'m Expr>, body: &'m [Stmt]) {
        self.facts.clear();
        if condition.is_none_or(|condition| self.assume(command, condition, true)) {
            self.statements(command, body);
        }
        self.facts.clear();
    }

    /// What is executed if a condition is true, and what if it is false. Behind it, what was known
    /// before is known if neither has changed it.
    fn branches(&mut self, command: usize, condition: &'m Expr, bodies: [&'m [Stmt]; 2]) {
        let mut kept = self.facts.clone();
        let before = kept.clone();
        for (body, truth) in bodies.into_iter().zip([true, false]) {
            self.facts.clone_from(&before);
            if self.assume(command, condition, truth) {
                self.statements(command, body);
                kept.retain(|fact| self.facts.contains(fact));
            }
        }
        self.facts = kept;
    }

    /// From here on the expression has this truth value. Is that possible, as far as is known?
    fn assume(&mut self, command: usize, expr: &'m Expr, truth: bool) -> bool {
        match expr {
            Expr::Not(inner) => self.assume(command, inner, !truth),
            Expr::Binary(BinaryOp::And, left, right) if truth => {
                self.assume(command, left, true) && self.assume(command, right, true)
            }
            Expr::Binary(BinaryOp::Or, left, right) if !truth => {
                self.assume(command, left, false) && self.assume(command, right, false)
            }
            Expr::Binary(BinaryOp::Implies, left, right) if !truth => {
                self.assume(command, left, true) && self.assume(command, right, false)
            }
            Expr::Binary(op, left, right) => {
                let ranges = [self.value(command, left), self.value(command, right)];
                let Some([lower, upper]) = compared(*op, truth, ranges) else {
                    return true;
                };
                self.learn(left, lower) && self.learn(right, upper)
            }
            Expr::Read(_) => self.learn(expr, (i64::from(truth), i64::from(truth))),
            // These say nothing of a single place.
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Bound(_)
            | Expr::Neg(_)
            | Expr::Ite(..)
            | Expr::Quantified { .. }
            | Expr::Wrap { .. }
            | Expr::At { .. }
            | Expr::Length(_) => true,
        }
    }

    /// The expression has a value among these; if it is a place, that is remembered.
    fn learn(&mut self, expr: &'m Expr, values: Range) -> bool {
        if let Some(place) = expr.as_read() {
            // Only writes and binders change which place is meant.
            let is_fixed = |expr: &Expr| match expr {
                Expr::At { .. } | Expr::Length(_) => false,
                Expr::Int(_)
                | Expr::Bool(_)
                | Expr::Enum(..)
                | Expr::Read(_)
                | Expr::Bound(_)
                | Expr::Not(_)
                | Expr::Neg(_)
                | Expr::Binary(..)
                | Expr::Ite(..)
                | Expr::Quantified { .. }
                | Expr::Wrap { .. } => true,
            };
            let mut is_kept = true;
            place.for_each_operand(&mut |index| is_kept &= !index.any(&mut |e| !is_fixed(e)));
            if is_kept {
                self.facts.push((place, values));
            }
        }
        values.0 <= values.1
    }

    /// A place is written: of it, and of what may be found by it, nothing is known.
    fn forget_written(&mut self, written: &Place) {
        let is_other = |place: &Place| {
            let mut is_other = place.var != written.var;
            place.for_each_operand(&mut |index| {
                index.for_each_read(&mut |read| is_other &= read.var != written.var);
            });
            is_other
        };
        self.facts.retain(|(place, _)| is_other(place));
    }

    /// A name of a command may stand for these values; there may be none.
    fn bind(&mut self, command: usize, name: BoundId, values: Range) {
        if values.0 > values.1 {
            return;
        }
        let is_other = |place: &Place| {
            let mut is_other = true;
            place.for_each_operand(&mut |index| is_other &= !index.mentions(name));
            is_other
        };
        self.facts.retain(|(place, _)| is_other(place));
        let known = self.names.get(&(command, name)).copied();
        let joined = known.map_or(values, |known| join(known, values));
        if known != Some(joined) {
            self.has_grown = true;
            let widened = self.widened(known, joined, ANY);
            self.names.insert((command, name), widened);
        }
    }

    /// Which interval a place belongs to. Elements of arrays share it, so indices do not matter.
    fn leaf(&self, place: &Place) -> u32 {
        let parts = self.model.parts();
        let mut ty = &parts.vars[place.var.index()].ty;
        let mut offset = 0;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(_), Type::Array(array)) => ty = &array.element,
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &parts.records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    offset += skipped
                        .map(|(_, ty)| ty.n_cells(&parts.records))
                        .sum::<usize>();
                    ty = &fields[*field].1;
                }
                _ => unreachable!("front ends check that accesses fit the type"),
            }
        }
        self.shapes[place.var.index()][offset]
    }

    /// An interval with all values of an expression of a command.
    fn value(&self, command: usize, expr: &Expr) -> Range {
        match expr {
            Expr::Int(value) => (*value, *value),
            Expr::Bool(value) => (i64::from(*value), i64::from(*value)),
            Expr::Enum(_, value) => (i64::from(*value), i64::from(*value)),
            Expr::Read(place) => {
                let leaf = self.leaf(place) as usize;
                let any = self.ranges[leaf].unwrap_or(self.types[leaf]);
                let facts = self.facts.iter().filter(|(known, _)| *known == place);
                let (lo, hi) = facts.fold(any, |all, (_, fact)| meet(all, *fact));
                // Nothing can be here as far as is known; what is not empty is easier to go on with.
                if lo > hi { any } else { (lo, hi) }
            }
            Expr::Bound(name) => self.name(command, *name),
            Expr::Not(_) | Expr::At { .. } => (0, 1),
            Expr::Neg(inner) => {
                let (lo, hi) = self.value(command, inner);
                match (hi.checked_neg(), lo.checked_neg()) {
                    (Some(lo), Some(hi)) => (lo, hi),
                    _ => ANY,
                }
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.value(command, left), self.value(command, right));
                binary(*op, left, right).unwrap_or(ANY)
            }
            Expr::Ite(_, then, otherwise) => {
                join(self.value(command, then), self.value(command, otherwise))
            }
            Expr::Quantified { quantifier, .. } => match quantifier {
                Quantifier::Forall | Quantifier::Exists => (0, 1),
                Quantifier::Sum => ANY,
            },
            Expr::Length(channel) => {
                let channel = &self.model.parts().channels[channel.channel.index()];
                (0, channel.capacity as i64)
            }
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => {
                let values = self.value(command, inner);
                let unused = 64 - bits;
                let kept = |value: i64| jit::wrap(value, unused, *signed) == value;
                if kept(values.0) && kept(values.1) {
                    values
                } else if *signed {
                    (i64::MIN >> unused, i64::MAX >> unused)
                } else {
                    (0, (u64::MAX >> unused) as i64)
                }
            }
        }
    }

    fn name(&self, command: usize, name: BoundId) -> Range {
        let bindings = &self.model.commands()[command].bindings;
        let known = bindings.iter().find(|(bound, _)| *bound == name);
        let known = known.map(|(_, value)| (*value, *value));
        let found = self.names.get(&(command, name)).copied();
        match (known, found) {
            // A name may be bound again.
            (Some(known), Some(found)) => join(known, found),
            (known, found) => known.or(found).unwrap_or(ANY),
        }
    }
}

/// Which interval each cell of a type belongs to.
fn shape(model: &Model, ty: &Type, n_leaves: &mut u32) -> Vec<u32> {
    match ty {
        Type::Scalar(_) => {
            *n_leaves += 1;
            vec![*n_leaves - 1]
        }
        Type::Array(array) => shape(model, &array.element, n_leaves).repeat(array.len),
        Type::Record(record) => {
            let fields = &model.parts().records[record.index()].fields;
            let leaves = fields.iter().map(|(_, ty)| shape(model, ty, n_leaves));
            leaves.collect::<Vec<_>>().concat()
        }
    }
}

fn join(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

fn meet(a: Range, b: Range) -> Range {
    (a.0.max(b.0), a.1.min(b.1))
}

/// Which values two numbers have that compare like this, or do not; nothing if it says nothing. An
/// interval without values says that they cannot.
fn compared(op: BinaryOp, truth: bool, [a, b]: [Range; 2]) -> Option<[Range; 2]> {
    let less = |a: Range, b: Range, gap: i64| {
        let below = (a.0, a.1.min(b.1.saturating_sub(gap)));
        let above = (b.0.max(a.0.saturating_add(gap)), b.1);
        (below, above)
    };
    // What is not one of the ends is not left out.
    let other = |a: Range, b: Range| {
        let at_lo = b == (a.0, a.0);
        let at_hi = b == (a.1, a.1);
        (
            a.0.saturating_add(at_lo.into()),
            a.1.saturating_sub(at_hi.into()),
        )
    };
    let ((a, b), is_swapped) = match (op, truth) {
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => ((meet(a, b), meet(a, b)), false),
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => ((other(a, b), other(b, a)), false),
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (less(a, b, 1), false),
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (less(a, b, 0), false),
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (less(b, a, 1), true),
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (less(b, a, 0), true),
        (
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies,
            _,
        ) => return None,
    };
    Some(if is_swapped { [b, a] } else { [a, b] })
}

/// The values of an operator; nothing if they are not known. Where it fails there is none.
fn binary(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    let are_natural = a.0 >= 0 && b.0 >= 0;
    match op {
        BinaryOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        BinaryOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        BinaryOp::Mul if are_natural => Some((a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?)),
        BinaryOp::Div | BinaryOp::Quot if are_natural => Some((0, a.1)),
        // A remainder is below the divisor, and not above what is divided.
        BinaryOp::Mod | BinaryOp::Rem if are_natural => Some((0, a.1.min((b.1 - 1).max(0)))),
        BinaryOp::BitAnd if are_natural => Some((0, a.1.min(b.1))),
        BinaryOp::BitOr | BinaryOp::BitXor if are_natural => {
            let n_unused = (a.1 | b.1).leading_zeros();
            Some((0, u64::MAX.checked_shr(n_unused).unwrap_or(0) as i64))
        }
        BinaryOp::Shr if are_natural => Some((0, a.1)),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Implies
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => Some((0, 1)),
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
    }
}
