//! The rewriting rules of the binary temporal operators; see `simplify.rs` for their sources.

use crate::arena::{Arena, Form, FormId};

impl Arena {
    /// `a U b`.
    pub(crate) fn until(&mut self, a: FormId, b: FormId) -> FormId {
        if self.shape(b).eventual || a == FormId::FALSE || self.implies(a, b) {
            return b;
        }
        if self.covers(a, b) {
            return self.eventually(b);
        }
        if let Some(moved) = self.both_next(a, b, Self::until) {
            return moved;
        }
        // `X a U b` is `b || X(b M a)`.
        if let &Form::Next(inner) = self.form(a) {
            let later = self.strong_release(b, inner);
            let later = self.next(later);
            return self.or(vec![b, later]);
        }

        match self.form(b).clone() {
            Form::Until(c, _) if self.implies(a, c) => return b,
            Form::Or(parts) => {
                // `a U (b || []a)` is `a W b`.
                let forever = self.always(a);
                if parts.contains(&forever) {
                    let rest = parts.into_iter().filter(|&part| part != forever);
                    let rest = self.or(rest.collect());
                    return self.weak_until(a, rest);
                }
                // An eventual disjunct holds now if it ever does.
                if let Some(moved) = self.move_out(b, |s| s.eventual, |me, b| me.until(a, b)) {
                    return moved;
                }
            }
            Form::And(_) => {
                if let Some(moved) = self.move_out(b, |s| s.suspendable(), |me, b| me.until(a, b)) {
                    return moved;
                }
            }
            _ => {}
        }

        let a = self.without_operands_of_or(a, b);
        self.intern(Form::Until(a, b))
    }

    /// `a R b`, dual to `a U b`.
    pub(crate) fn release(&mut self, a: FormId, b: FormId) -> FormId {
        if self.shape(b).universal || a == FormId::TRUE || self.implies(b, a) {
            return b;
        }
        if self.excludes(b, a) {
            return self.always(b);
        }
        if let Some(moved) = self.both_next(a, b, Self::release) {
            return moved;
        }
        // `X a R b` is `b && X(b W a)`.
        if let &Form::Next(inner) = self.form(a) {
            let later = self.weak_until(b, inner);
            let later = self.next(later);
            return self.and(vec![b, later]);
        }

        match self.form(b).clone() {
            Form::Release(c, _) if self.implies(c, a) => return b,
            Form::And(parts) => {
                // `a R (b && <>a)` is `a M b`.
                let some_time = self.eventually(a);
                if parts.contains(&some_time) {
                    let rest = parts.into_iter().filter(|&part| part != some_time);
                    let rest = self.and(rest.collect());
                    return self.strong_release(a, rest);
                }
                if let Some(moved) = self.move_out(b, |s| s.universal, |me, b| me.release(a, b)) {
                    return moved;
                }
            }
            Form::Or(_) => {
                if let Some(moved) = self.move_out(b, |s| s.suspendable(), |me, b| me.release(a, b))
                {
                    return moved;
                }
            }
            _ => {}
        }

        let a = self.without_operands_of_and(a, b);
        self.intern(Form::Release(a, b))
    }

    /// `a W b`.
    pub(crate) fn weak_until(&mut self, a: FormId, b: FormId) -> FormId {
        if a == FormId::FALSE || self.implies(a, b) {
            return b;
        }
        if b == FormId::FALSE {
            return self.always(a);
        }
        if self.covers(a, b) {
            return FormId::TRUE;
        }
        if self.shape(a).universal {
            return self.or(vec![a, b]);
        }
        if self.shape(b).eventual {
            let always = self.always(a);
            return self.or(vec![always, b]);
        }
        if let Some(moved) = self.both_next(a, b, Self::weak_until) {
            return moved;
        }
        // `X a W b` is `b || X(b R a)`.
        if let &Form::Next(inner) = self.form(a) {
            let later = self.release(b, inner);
            let later = self.next(later);
            return self.or(vec![b, later]);
        }

        match self.form(b).clone() {
            Form::WeakUntil(c, _) if self.implies(a, c) => return b,
            Form::Or(_) => {
                if let Some(moved) =
                    self.move_out(b, |s| s.suspendable(), |me, b| me.weak_until(a, b))
                {
                    return moved;
                }
            }
            _ => {}
        }

        let a = self.without_operands_of_or(a, b);
        self.intern(Form::WeakUntil(a, b))
    }

    /// `a M b`, dual to `a W b`.
    pub(crate) fn strong_release(&mut self, a: FormId, b: FormId) -> FormId {
        if a == FormId::TRUE || self.implies(b, a) {
            return b;
        }
        if b == FormId::TRUE {
            return self.eventually(a);
        }
        if self.excludes(b, a) {
            return FormId::FALSE;
        }
        if self.shape(a).eventual {
            return self.and(vec![a, b]);
        }
        if self.shape(b).universal {
            let eventually = self.eventually(a);
            return self.and(vec![eventually, b]);
        }
        if let Some(moved) = self.both_next(a, b, Self::strong_release) {
            return moved;
        }
        // `X a M b` is `b && X(b U a)`.
        if let &Form::Next(inner) = self.form(a) {
            let later = self.until(b, inner);
            let later = self.next(later);
            return self.and(vec![b, later]);
        }

        match self.form(b).clone() {
            Form::StrongRelease(c, _) if self.implies(c, a) => return b,
            Form::And(_) => {
                if let Some(moved) =
                    self.move_out(b, |s| s.suspendable(), |me, b| me.strong_release(a, b))
                {
                    return moved;
                }
            }
            _ => {}
        }

        let a = self.without_operands_of_and(a, b);
        self.intern(Form::StrongRelease(a, b))
    }

    /// Is it obvious that one of the two always holds?
    fn covers(&mut self, a: FormId, b: FormId) -> bool {
        let not_b = self.negate(b);
        self.implies(not_b, a)
    }

    /// `X a op X b` is `X (a op b)`.
    fn both_next(
        &mut self,
        a: FormId,
        b: FormId,
        operator: fn(&mut Self, FormId, FormId) -> FormId,
    ) -> Option<FormId> {
        let (Form::Next(a), Form::Next(b)) = (self.form(a), self.form(b)) else {
            return None;
        };
        let (a, b) = (*a, *b);
        let inner = operator(self, a, b);
        Some(self.next(inner))
    }

    /// Moves operands of a certain shape out of the right operand.
    fn move_out(
        &mut self,
        b: FormId,
        wanted: impl Fn(crate::arena::Shape) -> bool,
        operator: impl Fn(&mut Self, FormId) -> FormId,
    ) -> Option<FormId> {
        let (junction, mut outside, rest) = self.split(b, wanted)?;
        let inside = operator(self, rest);
        outside.push(inside);
        Some(self.junction(junction, outside))
    }

    /// `(a || b) U b` is `a U b`: the left operand matters only where the right one fails.
    fn without_operands_of_or(&mut self, a: FormId, b: FormId) -> FormId {
        let Form::Or(parts) = self.form(a).clone() else {
            return a;
        };
        let mut kept = parts;
        kept.retain(|&part| !self.implies(part, b));
        self.or(kept)
    }

    /// `(a && b) R b` is `a R b`: the left operand matters only where the right one holds.
    fn without_operands_of_and(&mut self, a: FormId, b: FormId) -> FormId {
        let Form::And(parts) = self.form(a).clone() else {
            return a;
        };
        let mut kept = parts;
        kept.retain(|&part| !self.implies(b, part));
        self.and(kept)
    }
}
