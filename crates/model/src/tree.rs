//! The one traversal of the model's trees.
//!
//! What is directly inside of expressions, places, communications and statements is written down
//! here, once for reading and once for rebuilding, by the same text. Every constructor is
//! destructured with all of its fields, so that the compiler asks for a decision when one is added.
//! Owners, indices and channels are positions like any other: an analysis that asks "does it
//! mention", "what does it read" or "replace" cannot forget them.
//!
//! *Operands* are what is directly inside, *walks* visit everything at any depth. Binders do not hide
//! anything: every binder of a model has an id of its own, and [`Expr::binder`] and
//! [`StmtKind::binder`] tell which one a node binds.

use crate::{
    Access, AtomMeaning, BoundId, ChannelRef, Expr, Initial, ModelParts, Owner, Parameter, Pattern,
    Place, Setting, Step, Stmt, StmtKind, Sync,
};

/// Defines the functions that visit what is directly inside, for shared or exclusive references.
macro_rules! operands {
    (
        $life:lifetime, [$($mut:tt)?],
        expr $expr:ident, place $place:ident, owner $owner:ident, access $access:ident,
        channel $channel:ident, pattern $pattern:ident, sync $sync:ident, setting $setting:ident,
        statement $statement:ident, bodies $bodies:ident, sequence $sequence:ident, atom $atom:ident, initial $initial:ident,
        parameter $parameter:ident, step $step:ident, parts $parts:ident
    ) => {
        fn $expr<$life>(
            expr: &$life $($mut)? Expr,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match expr {
                Expr::Int(_) | Expr::Bool(_) | Expr::Enum(_, _) | Expr::Bound(_) => {}
                Expr::Read(place) => $place(place, visit),
                Expr::Not(inner) | Expr::Neg(inner) => visit(inner),
                Expr::Wrap { bits: _, signed: _, inner } => visit(inner),
                Expr::Binary(_, left, right) => {
                    visit(left);
                    visit(right);
                }
                Expr::Ite(condition, then, otherwise) => {
                    visit(condition);
                    visit(then);
                    visit(otherwise);
                }
                Expr::Quantified { quantifier: _, bound: _, lo, hi, body } => {
                    visit(lo);
                    visit(hi);
                    visit(body);
                }
                Expr::At { process: _, owner, locations: _ } => $owner(owner, visit),
                Expr::Length(channel) => $channel(channel, visit),
            }
        }

        fn $place<$life>(
            place: &$life $($mut)? Place,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            let Place { var: _, owner, path } = place;
            if let Some(owner) = owner {
                $owner(owner, visit);
            }
            for access in path {
                $access(access, visit);
            }
        }

        fn $owner<$life>(
            owner: &$life $($mut)? Owner,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match owner {
                Owner::Own | Owner::Single => {}
                Owner::Indexed(index) => visit(index),
            }
        }

        fn $access<$life>(
            access: &$life $($mut)? Access,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match access {
                Access::Index(index) => visit(index),
                Access::Field(_) => {}
            }
        }

        fn $channel<$life>(
            channel: &$life $($mut)? ChannelRef,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            let ChannelRef { channel: _, index } = channel;
            if let Some(index) = index {
                visit(index);
            }
        }

        fn $pattern<$life>(
            pattern: &$life $($mut)? Pattern,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match pattern {
                Pattern::Match(value) => visit(value),
                Pattern::Store(place) => $place(place, visit),
                Pattern::Ignore => {}
            }
        }

        fn $sync<$life>(
            sync: &$life $($mut)? Sync,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match sync {
                Sync::Internal => {}
                Sync::Send { channel, payload } => {
                    $channel(channel, visit);
                    payload.into_iter().for_each(visit);
                }
                Sync::Receive { channel, patterns } => {
                    $channel(channel, visit);
                    for pattern in patterns {
                        $pattern(pattern, visit);
                    }
                }
                Sync::Event { event: _, arguments } => arguments.into_iter().for_each(visit),
            }
        }

        fn $setting<$life>(
            setting: &$life $($mut)? Setting,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match setting {
                Setting::To(value) => visit(value),
                Setting::Any => {}
            }
        }

        /// The expressions of the statement itself, not those of statements inside.
        fn $statement<$life>(
            statement: &$life $($mut)? StmtKind,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match statement {
                StmtKind::Assign(place, value) => {
                    $place(place, visit);
                    visit(value);
                }
                StmtKind::If(condition, _, _) | StmtKind::While(condition, _) => visit(condition),
                StmtKind::For(_, lo, hi, _) => {
                    visit(lo);
                    visit(hi);
                }
                StmtKind::Choose(_, lo, hi, condition) => {
                    visit(lo);
                    visit(hi);
                    visit(condition);
                }
                StmtKind::Assert(value) | StmtKind::Let(_, value) | StmtKind::Set(_, value) => {
                    visit(value);
                }
                StmtKind::SetTimer(place, setting) => {
                    $place(place, visit);
                    $setting(setting, visit);
                }
                StmtKind::Fail(_) | StmtKind::Tick | StmtKind::Exhausted => {}
            }
        }

        /// The statements directly inside.
        fn $bodies<$life>(
            statement: &$life $($mut)? StmtKind,
            visit: &mut dyn FnMut(&$life $($mut)? Vec<Stmt>),
        ) {
            match statement {
                StmtKind::If(_, then, otherwise) => {
                    visit(then);
                    visit(otherwise);
                }
                StmtKind::For(_, _, _, body) | StmtKind::While(_, body) => visit(body),
                StmtKind::Assign(_, _)
                | StmtKind::Choose(_, _, _, _)
                | StmtKind::Assert(_)
                | StmtKind::Let(_, _)
                | StmtKind::Set(_, _)
                | StmtKind::SetTimer(_, _)
                | StmtKind::Fail(_)
                | StmtKind::Tick
                | StmtKind::Exhausted => {}
            }
        }

        /// The outermost expressions of statements at any depth, in the order of the text.
        fn $sequence<$life>(
            statements: &$life $($mut)? [Stmt],
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            for inner in statements {
                let Stmt { kind, span: _ } = inner;
                match kind {
                    StmtKind::If(condition, then, otherwise) => {
                        visit(condition);
                        $sequence(then, visit);
                        $sequence(otherwise, visit);
                    }
                    StmtKind::For(_, lo, hi, body) => {
                        visit(lo);
                        visit(hi);
                        $sequence(body, visit);
                    }
                    StmtKind::While(condition, body) => {
                        visit(condition);
                        $sequence(body, visit);
                    }
                    StmtKind::Assign(_, _)
                    | StmtKind::Choose(_, _, _, _)
                    | StmtKind::Assert(_)
                    | StmtKind::Let(_, _)
                    | StmtKind::Set(_, _)
                    | StmtKind::SetTimer(_, _)
                    | StmtKind::Fail(_)
                    | StmtKind::Tick
                    | StmtKind::Exhausted => $statement(kind, visit),
                }
            }
        }

        fn $atom<$life>(
            atom: &$life $($mut)? AtomMeaning,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match atom {
                AtomMeaning::State(expr) | AtomMeaning::Certainly(expr, _) => visit(expr),
                AtomMeaning::Taken(_)
                | AtomMeaning::Enabled(_)
                | AtomMeaning::Deadlock
                | AtomMeaning::TimerSet(_) => {}
            }
        }

        fn $initial<$life>(
            initial: &$life $($mut)? Initial,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            match initial {
                Initial::Values(values) => values.into_iter().for_each(visit),
                Initial::Any => {}
            }
        }

        fn $parameter<$life>(
            parameter: &$life $($mut)? Parameter,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            let Parameter { bound: _, lo, hi } = parameter;
            visit(lo);
            visit(hi);
        }

        /// The outermost expressions of a step, those of its effect included.
        fn $step<$life>(
            step: &$life $($mut)? Step,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            let Step {
                name: _,
                label: _,
                parameters,
                condition,
                source: _,
                target: _,
                guard,
                sync,
                effect,
                priority: _,
                span: _,
            } = step;
            for parameter in parameters {
                $parameter(parameter, visit);
            }
            visit(condition);
            visit(guard);
            $sync(sync, visit);
            $sequence(effect, visit);
        }

        /// The outermost expressions of a model.
        fn $parts<$life>(
            parts: &$life $($mut)? ModelParts,
            visit: &mut dyn FnMut(&$life $($mut)? Expr),
        ) {
            let ModelParts {
                enums: _,
                records: _,
                vars,
                channels: _,
                events: _,
                processes,
                composition: _,
                init,
                atoms,
                annotations: _,
                interferences: _,
                assumptions: _,
                fairness: _,
                bounds: _,
                bound_types: _,
                shown: _,
                systems: _,
                control: _,
                timers: _,
                clock: _,
            } = parts;
            for variable in vars {
                $initial(&$($mut)? variable.initial, visit);
            }
            for process in processes {
                for step in &$($mut)? process.steps {
                    $step(step, visit);
                }
            }
            for condition in init {
                visit(condition);
            }
            for atom in atoms {
                $atom(&$($mut)? atom.meaning, visit);
            }
        }
    };
}

operands! {
    'e, [],
    expr expr, place place, owner owner, access access, channel channel, pattern pattern,
    sync sync, setting setting, statement statement, bodies bodies, sequence sequence, atom atom, initial initial,
    parameter parameter, step step, parts parts
}

operands! {
    'e, [mut],
    expr expr_mut, place place_mut, owner owner_mut, access access_mut, channel channel_mut,
    pattern pattern_mut, sync sync_mut, setting setting_mut, statement statement_mut,
    bodies bodies_mut, sequence sequence_mut, atom atom_mut, initial initial_mut, parameter parameter_mut,
    step step_mut, parts parts_mut
}

/// The functions that every type with expressions inside has.
macro_rules! has_operands {
    ($ty:ty, $shared:ident, $exclusive:ident) => {
        impl $ty {
            /// Visits the expressions directly inside, in the order of the text.
            pub fn for_each_operand<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
                $shared(self, visit);
            }

            /// Visits the expressions directly inside, in the order of the text, to change them.
            pub fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
                $exclusive(self, visit);
            }

            /// The expressions directly inside, in the order of the text.
            #[must_use]
            pub fn operands(&self) -> Vec<&Expr> {
                let mut operands = Vec::new();
                $shared(self, &mut |operand| operands.push(operand));
                operands
            }

            /// A copy in which every expression directly inside is replaced.
            #[must_use]
            pub fn map_operands(&self, replace: &mut dyn FnMut(&Expr) -> Expr) -> Self {
                let mut copy = self.clone();
                $exclusive(&mut copy, &mut |operand| *operand = replace(operand));
                copy
            }
        }
    };
}

has_operands!(Expr, expr, expr_mut);
has_operands!(Place, place, place_mut);
has_operands!(Owner, owner, owner_mut);
has_operands!(Access, access, access_mut);
has_operands!(ChannelRef, channel, channel_mut);
has_operands!(Pattern, pattern, pattern_mut);
has_operands!(Sync, sync, sync_mut);
has_operands!(Setting, setting, setting_mut);
has_operands!(StmtKind, statement, statement_mut);
has_operands!(AtomMeaning, atom, atom_mut);
has_operands!(Initial, initial, initial_mut);
has_operands!(Parameter, parameter, parameter_mut);
has_operands!(Step, step, step_mut);
has_operands!(ModelParts, parts, parts_mut);

impl Expr {
    /// Visits the expression and everything inside, outer ones first.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        visit(self);
        self.for_each_operand(&mut |operand| operand.walk(visit));
    }

    /// Visits the expression and everything inside to change it, inner ones first.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        self.for_each_operand_mut(&mut |operand| operand.walk_mut(visit));
        visit(self);
    }

    /// Does the expression or something inside satisfy the condition?
    pub fn any(&self, holds: &mut dyn FnMut(&Self) -> bool) -> bool {
        holds(self) || self.operands().into_iter().any(|inner| inner.any(holds))
    }

    /// The name that the expression binds in its last operand.
    #[must_use]
    pub fn binder(&self) -> Option<BoundId> {
        match self {
            Self::Quantified { bound, .. } => Some(*bound),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Enum(..)
            | Self::Read(_)
            | Self::Bound(_)
            | Self::Not(_)
            | Self::Neg(_)
            | Self::Binary(..)
            | Self::Ite(..)
            | Self::At { .. }
            | Self::Length(_)
            | Self::Wrap { .. } => None,
        }
    }

    /// The name that the expression consists of.
    #[must_use]
    pub fn as_bound(&self) -> Option<BoundId> {
        match self {
            Self::Bound(bound) => Some(*bound),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Enum(..)
            | Self::Read(_)
            | Self::Not(_)
            | Self::Neg(_)
            | Self::Binary(..)
            | Self::Ite(..)
            | Self::Quantified { .. }
            | Self::At { .. }
            | Self::Length(_)
            | Self::Wrap { .. } => None,
        }
    }

    /// The value of a literal.
    #[must_use]
    pub fn as_literal(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Enum(_, value) => Some(i64::from(*value)),
            Self::Read(_)
            | Self::Bound(_)
            | Self::Not(_)
            | Self::Neg(_)
            | Self::Binary(..)
            | Self::Ite(..)
            | Self::Quantified { .. }
            | Self::At { .. }
            | Self::Length(_)
            | Self::Wrap { .. } => None,
        }
    }

    /// Is it the literal with this truth value?
    #[must_use]
    pub fn is_bool(&self, value: bool) -> bool {
        *self == Self::Bool(value)
    }

    /// The place whose content the expression is.
    #[must_use]
    pub fn as_read(&self) -> Option<&Place> {
        match self {
            Self::Read(place) => Some(place),
            Self::Int(_)
            | Self::Bool(_)
            | Self::Enum(..)
            | Self::Bound(_)
            | Self::Not(_)
            | Self::Neg(_)
            | Self::Binary(..)
            | Self::Ite(..)
            | Self::Quantified { .. }
            | Self::At { .. }
            | Self::Length(_)
            | Self::Wrap { .. } => None,
        }
    }

    /// Visits every place that is read, those in indices included.
    pub fn for_each_read<'e>(&'e self, visit: &mut dyn FnMut(&'e Place)) {
        self.walk(&mut |inner| {
            if let Some(place) = inner.as_read() {
                visit(place);
            }
        });
    }

    /// Does the name occur? Whether it is bound inside does not matter: binders are unique.
    #[must_use]
    pub fn mentions(&self, bound: BoundId) -> bool {
        self.any(&mut |inner| inner.as_bound() == Some(bound))
    }

    /// Does the value depend on the state: on variables, locations or channels?
    #[must_use]
    pub fn mentions_state(&self) -> bool {
        self.any(&mut |inner| match inner {
            Self::Read(_) | Self::At { .. } | Self::Length(_) => true,
            Self::Int(_)
            | Self::Bool(_)
            | Self::Enum(..)
            | Self::Bound(_)
            | Self::Not(_)
            | Self::Neg(_)
            | Self::Binary(..)
            | Self::Ite(..)
            | Self::Quantified { .. }
            | Self::Wrap { .. } => false,
        })
    }
}

impl Owner {
    /// The index of the instance, if it is named by one.
    #[must_use]
    pub fn index(&self) -> Option<&Expr> {
        match self {
            Self::Indexed(index) => Some(index),
            Self::Own | Self::Single => None,
        }
    }
}

impl Access {
    /// The index, if it is the way into an array.
    #[must_use]
    pub fn index(&self) -> Option<&Expr> {
        match self {
            Self::Index(index) => Some(index),
            Self::Field(_) => None,
        }
    }
}

impl Pattern {
    /// Where the component of the message is stored.
    #[must_use]
    pub fn stored(&self) -> Option<&Place> {
        match self {
            Self::Store(place) => Some(place),
            Self::Match(_) | Self::Ignore => None,
        }
    }

    /// What the component of the message must equal.
    #[must_use]
    pub fn matched(&self) -> Option<&Expr> {
        match self {
            Self::Match(value) => Some(value),
            Self::Store(_) | Self::Ignore => None,
        }
    }
}

impl Sync {
    /// The places that a received message is stored in.
    #[must_use]
    pub fn stored(&self) -> Vec<&Place> {
        match self {
            Self::Receive { patterns, .. } => patterns.iter().filter_map(Pattern::stored).collect(),
            Self::Internal | Self::Send { .. } | Self::Event { .. } => Vec::new(),
        }
    }

    /// The channel of a communication.
    #[must_use]
    pub fn channel(&self) -> Option<&ChannelRef> {
        match self {
            Self::Send { channel, .. } | Self::Receive { channel, .. } => Some(channel),
            Self::Internal | Self::Event { .. } => None,
        }
    }
}

impl AtomMeaning {
    /// The expression that a proposition about states evaluates.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr> {
        self.operands().into_iter().next()
    }
}

impl StmtKind {
    /// Visits the sequences of statements directly inside.
    pub fn for_each_body<'e>(&'e self, visit: &mut dyn FnMut(&'e Vec<Stmt>)) {
        bodies(self, visit);
    }

    /// Visits the sequences of statements directly inside, to change them.
    pub fn for_each_body_mut(&mut self, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
        bodies_mut(self, visit);
    }

    /// Visits the statement and all statements inside, in the order of the text.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        visit(self);
        self.for_each_body(&mut |body| {
            for statement in body {
                statement.kind.walk(visit);
            }
        });
    }

    /// The name that the statement binds: a loop for its body, others for what follows.
    #[must_use]
    pub fn binder(&self) -> Option<BoundId> {
        match self {
            Self::For(bound, ..) | Self::Choose(bound, ..) | Self::Let(bound, _) => Some(*bound),
            Self::Assign(..)
            | Self::If(..)
            | Self::Assert(_)
            | Self::Set(..)
            | Self::While(..)
            | Self::Fail(_)
            | Self::SetTimer(..)
            | Self::Tick
            | Self::Exhausted => None,
        }
    }

    /// The place that the statement itself writes.
    #[must_use]
    pub fn written(&self) -> Option<&Place> {
        match self {
            Self::Assign(place, _) | Self::SetTimer(place, _) => Some(place),
            Self::If(..)
            | Self::For(..)
            | Self::Choose(..)
            | Self::Assert(_)
            | Self::Let(..)
            | Self::Set(..)
            | Self::While(..)
            | Self::Fail(_)
            | Self::Tick
            | Self::Exhausted => None,
        }
    }
}

impl Stmt {
    /// Visits all statements of a sequence, at any depth, in the order of the text.
    pub fn walk_all<'e>(statements: &'e [Self], visit: &mut dyn FnMut(&'e StmtKind)) {
        for statement in statements {
            statement.kind.walk(visit);
        }
    }

    /// Visits the outermost expressions of all statements of a sequence, at any depth.
    pub fn for_each_expr<'e>(statements: &'e [Self], visit: &mut dyn FnMut(&'e Expr)) {
        sequence(statements, visit);
    }

    /// Visits the outermost expressions of all statements of a sequence, at any depth, to change them.
    pub fn for_each_expr_mut(statements: &mut [Self], visit: &mut dyn FnMut(&mut Expr)) {
        sequence_mut(statements, visit);
    }
}

impl Step {
    /// Visits every place that the step itself writes. Time that passes writes timers as well.
    pub fn for_each_written<'e>(&'e self, visit: &mut dyn FnMut(&'e Place)) {
        self.sync.stored().into_iter().for_each(&mut *visit);
        Stmt::walk_all(&self.effect, &mut |statement| {
            statement.written().into_iter().for_each(&mut *visit);
        });
    }
}
