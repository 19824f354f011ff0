//! A case as a text of the native language, as far as that can say the same.
//!
//! What only importers write (priorities, loops with a condition, control, bit operations) and
//! timers have no text here. Expressions are written with all their parentheses.

use std::fmt::Write as _;

use logic::Property;
use model::{
    Access, Annotation, Assumption, AtomMeaning, BinaryOp, BoundId, ChannelRef, Composition, Expr,
    Initial, ModelParts, Owner, Parameter, Pattern, Place, Process, ProcessId, Quantifier, Scalar,
    Step, StepPattern, Stmt, StmtKind, Sync, Target, Type,
};

use crate::Case;

/// The text of a case; nothing if the native language cannot say it.
#[must_use]
pub fn native_text(case: &Case) -> Option<String> {
    let printer = Printer {
        parts: case.model.parts(),
    };
    printer.text(case)
}

struct Printer<'m> {
    parts: &'m ModelParts,
}

impl Printer<'_> {
    fn text(&self, case: &Case) -> Option<String> {
        let parts = self.parts;
        let is_plain = parts.control.is_none()
            && parts.timers.is_empty()
            && parts.clock.is_none()
            && parts.enums.is_empty()
            && parts.records.is_empty();
        if !is_plain {
            return None;
        }
        let mut out = String::new();
        if parts.composition == Composition::Synchronous {
            out += "synchronous\n";
        }
        for variable in parts.vars.iter().filter(|v| v.owner.is_none()) {
            let _ = writeln!(out, "{}", self.variable(variable)?);
        }
        self.declare_communication(&mut out)?;
        for condition in &parts.init {
            let _ = writeln!(out, "init {}", self.condition(condition)?);
        }
        for (position, process) in parts.processes.iter().enumerate() {
            out += &self.process(ProcessId::new(position), process)?;
        }

        // Propositions are definitions, so that formulas stay readable.
        for (number, atom) in parts.atoms.iter().enumerate() {
            let meaning = match &atom.meaning {
                AtomMeaning::State(expr) => self.condition(expr)?,
                AtomMeaning::Taken(pattern) => self.pattern(pattern)?,
                AtomMeaning::Enabled(pattern) => format!("enabled({})", self.pattern(pattern)?),
                AtomMeaning::Deadlock => "deadlock".to_owned(),
                AtomMeaning::Certainly(..) | AtomMeaning::TimerSet(_) => return None,
            };
            let _ = writeln!(out, "def p{number} = {meaning}");
        }

        for (by, with) in &parts.interferences {
            let (by, with) = (self.pattern(by)?, self.pattern(with)?);
            let _ = writeln!(out, "interference {by} with {with}");
        }
        for assumption in &parts.assumptions {
            let _ = writeln!(out, "assume {}", assumed(assumption));
        }
        let names = |atom: base::AtomId| format!("p{}", atom.index());
        let (word, formula) = match &case.property.property {
            Property::Ltl(formula) => ("property", formula.display(&names).to_string()),
            Property::Invariant(good) => ("invariant", good.display(&names).to_string()),
            Property::Reachable(goal) => ("reachable", goal.display(&names).to_string()),
            Property::DeadlockFree => ("property", "deadlockfree".to_owned()),
            Property::CtlStar(formula) => ("property", formula.text(&names)),
            Property::Never(_) | Property::MayMust(_) => return None,
        };

        let _ = writeln!(out, "{word} q under {}: {formula}", case.fairness.name());
        Some(out)
    }

    fn variable(&self, variable: &model::Variable) -> Option<String> {
        let (scalar, is_array) = match &variable.ty {
            Type::Scalar(scalar) => (*scalar, false),
            Type::Array(array) => match array.element {
                Type::Scalar(scalar) => (scalar, true),
                Type::Array(_) | Type::Record(_) => return None,
            },
            Type::Record(_) => return None,
        };

        let initial = match &variable.initial {
            Initial::Any => "any".to_owned(),
            Initial::Values(values) => {
                let values: Option<Vec<String>> = values
                    .iter()
                    .map(|value| self.typed(value, scalar))
                    .collect();
                let values = values?.join(", ");
                if is_array {
                    format!("[{values}]")
                } else {
                    values
                }
            }
        };

        let ty = match &variable.ty {
            Type::Array(array) => {
                let last = array.lo + array.len as i64 - 1;
                format!("array[{}..{last}] of {}", array.lo, scalar_name(scalar)?)
            }
            Type::Scalar(_) | Type::Record(_) => scalar_name(scalar)?,
        };

        Some(format!("var {} : {ty} = {initial}", variable.name))
    }

    fn declare_communication(&self, out: &mut String) -> Option<()> {
        for channel in &self.parts.channels {
            let payload: Option<Vec<String>> = channel
                .payload
                .iter()
                .map(|scalar| scalar_name(*scalar))
                .collect();
            let many = channel.indices.map(|(lo, hi)| format!(" for {lo}..{hi}"));
            let (name, capacity) = (&channel.name, channel.capacity);
            let (many, payload) = (many.unwrap_or_default(), payload?.join(", "));
            let _ = writeln!(out, "chan {name}[{capacity}]{many} of ({payload})");
        }

        for (number, event) in self.parts.events.iter().enumerate() {
            let steps = self
                .parts
                .processes
                .iter()
                .flat_map(|process| &process.steps);
            let n_arguments = steps.filter_map(|step| match &step.sync {
                Sync::Event { event, arguments } if event.index() == number => {
                    Some(arguments.len())
                }
                Sync::Event { .. } | Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } => {
                    None
                }
            });
            let types = vec!["0..99"; n_arguments.max().unwrap_or(0)];
            let types = if types.is_empty() {
                String::new()
            } else {
                format!("({})", types.join(", "))
            };
            let _ = writeln!(out, "event {}{types}", event.name);
        }

        Some(())
    }

    fn process(&self, id: ProcessId, process: &Process) -> Option<String> {
        let mut out = String::new();
        let annotations: Vec<&Annotation> = self.parts.annotations.iter().collect();
        let own = |target: &Target| *target == Target::Process(id);
        let fair = prefix(&annotations, &own, "")?;
        let index = process.index.map(|range| {
            format!(
                "({} in {}..{})",
                bound_name(range.bound),
                range.lo,
                range.hi
            )
        });

        let index = index.unwrap_or_default();
        let _ = writeln!(out, "{fair}process {}{index} {{", process.name);
        for variable in self.parts.vars.iter().filter(|v| v.owner == Some(id)) {
            let _ = writeln!(out, "    {}", self.variable(variable)?);
        }
        let starts = process.initial.iter();
        let starts: Vec<&str> = starts
            .map(|location| process.locations[location.index()].as_str())
            .collect();
        let _ = writeln!(out, "    init {}", starts.join(", "));

        for (location, name) in process.locations.iter().enumerate() {
            let _ = writeln!(out, "    from {name} {{");
            for (number, step) in process.steps.iter().enumerate() {
                if step.source.index() == location {
                    let text = self.step(id, process, number, step)?;
                    let _ = writeln!(out, "        {text}");
                }
            }
            let _ = writeln!(out, "    }}");
        }

        out += "}\n";
        Some(out)
    }

    fn step(&self, id: ProcessId, process: &Process, number: usize, step: &Step) -> Option<String> {
        if step.priority != 0 || step.label.is_some() {
            return None;
        }
        let annotations: Vec<&Annotation> = self.parts.annotations.iter().collect();
        if annotations
            .iter()
            .any(|a| matches!(a.target, Target::Event(_)))
        {
            return None;
        }

        // The annotation of an action stands at its first step.
        let is_first = process.steps.iter().position(|s| s.name == step.name) == Some(number);
        let action = |target: &Target| is_first && *target == Target::Action(id, step.name.clone());
        let choice = |target: &Target| *target == Target::Choice(id, number);
        let fair = match (
            prefix(&annotations, &action, "")?,
            prefix(&annotations, &choice, "choice ")?,
        ) {
            (fair, none) if none.is_empty() => fair,
            (none, fair) if none.is_empty() => fair,
            _ => return None,
        };

        let mut text = format!("{fair}{}", step.name);
        if !step.parameters.is_empty() {
            let binder = |parameter: &Parameter| {
                let (lo, hi) = (self.number(&parameter.lo)?, self.number(&parameter.hi)?);
                Some(format!("{} in {lo}..{hi}", bound_name(parameter.bound)))
            };
            let binders: Option<Vec<String>> = step.parameters.iter().map(binder).collect();
            let condition = self.condition(&step.condition)?;
            let _ = write!(text, "({} where {condition})", binders?.join(", "));
        } else if step.condition != Expr::Bool(true) {
            return None;
        }

        if step.guard != Expr::Bool(true) {
            let _ = write!(text, " when {}", self.condition(&step.guard)?);
        }
        text += &self.communication(&step.sync)?;
        if !step.effect.is_empty() {
            let _ = write!(text, " {{ {} }}", self.statements(&step.effect)?);
        }
        let target = &process.locations[step.target.index()];
        Some(format!("{text} -> {target}"))
    }

    fn communication(&self, sync: &Sync) -> Option<String> {
        Some(match sync {
            Sync::Internal => String::new(),
            Sync::Event { event, arguments } => {
                let name = &self.parts.events[event.index()].name;
                let values: Option<Vec<String>> = arguments
                    .iter()
                    .map(|argument| self.number(argument))
                    .collect();
                let values = values?;
                if values.is_empty() {
                    format!(" sync {name}")
                } else {
                    format!(" sync {name}({})", values.join(", "))
                }
            }
            Sync::Send { channel, payload } => {
                let types = &self.parts.channels[channel.channel.index()].payload;
                let values = payload.iter().zip(types);
                let values: Option<Vec<String>> = values
                    .map(|(value, scalar)| self.typed(value, *scalar))
                    .collect();
                format!(" {} ! ({})", self.channel(channel)?, values?.join(", "))
            }
            Sync::Receive { channel, patterns } => {
                let types = &self.parts.channels[channel.channel.index()].payload;
                let received = |(pattern, scalar): (&Pattern, &Scalar)| match pattern {
                    Pattern::Ignore => Some("_".to_owned()),
                    Pattern::Store(place) => self.place(place),
                    Pattern::Match(value) => Some(format!("({})", self.typed(value, *scalar)?)),
                };
                let patterns = patterns.iter().zip(types);
                let patterns: Option<Vec<String>> = patterns.map(received).collect();
                let patterns = patterns?;
                // Around a single component parentheses would ask for equality.
                match patterns.as_slice() {
                    [single] => format!(" {} ? {single}", self.channel(channel)?),
                    _ => format!(" {} ? ({})", self.channel(channel)?, patterns.join(", ")),
                }
            }
        })
    }

    fn statements(&self, statements: &[Stmt]) -> Option<String> {
        let texts: Option<Vec<String>> = statements
            .iter()
            .map(|statement| self.statement(&statement.kind))
            .collect();
        Some(texts?.join("; "))
    }

    fn statement(&self, statement: &StmtKind) -> Option<String> {
        Some(match statement {
            StmtKind::Assign(place, value) => {
                let value = self.typed(value, self.type_of(place)?)?;
                format!("{} := {value}", self.place(place)?)
            }
            StmtKind::If(condition, yes, no) => {
                let condition = self.condition(condition)?;
                let (yes, no) = (self.statements(yes)?, self.statements(no)?);
                format!("if {condition} {{ {yes} }} else {{ {no} }}")
            }
            StmtKind::For(bound, lo, hi, body) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                let body = self.statements(body)?;
                format!("for {} in {lo}..{hi} {{ {body} }}", bound_name(*bound))
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                let name = bound_name(*bound);
                let condition = self.condition(condition)?;
                format!("let {name} = choose {name} in {lo}..{hi} where {condition}")
            }
            StmtKind::Assert(condition) => format!("assert {}", self.condition(condition)?),
            StmtKind::Let(bound, value) => {
                let value = self.any(value)?;
                format!("let {} = {value}", bound_name(*bound))
            }
            StmtKind::Set(..)
            | StmtKind::While(..)
            | StmtKind::Fail(_)
            | StmtKind::SetTimer(..)
            | StmtKind::Tick
            | StmtKind::Exhausted => return None,
        })
    }

    fn type_of(&self, place: &Place) -> Option<Scalar> {
        let mut ty = &self.parts.vars[place.var.index()].ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(_), Type::Array(array)) => ty = &array.element,
                (Access::Index(_) | Access::Field(_), _) => return None,
            }
        }
        match ty {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Array(_) | Type::Record(_) => None,
        }
    }

    fn place(&self, place: &Place) -> Option<String> {
        let variable = &self.parts.vars[place.var.index()];
        let mut text = match (&place.owner, variable.owner) {
            (None | Some(Owner::Own), _) => variable.name.clone(),
            (Some(Owner::Single), Some(process)) => {
                format!(
                    "{}.{}",
                    self.parts.processes[process.index()].name,
                    variable.name
                )
            }
            (Some(Owner::Indexed(index)), Some(process)) => {
                let name = &self.parts.processes[process.index()].name;
                format!("{name}[{}].{}", self.number(index)?, variable.name)
            }
            (Some(Owner::Single | Owner::Indexed(_)), None) => return None,
        };

        for access in &place.path {
            match access {
                Access::Index(index) => {
                    let _ = write!(text, "[{}]", self.number(index)?);
                }
                Access::Field(_) => return None,
            }
        }

        Some(text)
    }

    fn channel(&self, channel: &ChannelRef) -> Option<String> {
        let name = &self.parts.channels[channel.channel.index()].name;
        match &channel.index {
            Some(index) => Some(format!("{name}[{}]", self.number(index)?)),
            None => Some(name.clone()),
        }
    }

    fn pattern(&self, pattern: &StepPattern) -> Option<String> {
        if let (Some(event), None, None) = (pattern.event, pattern.process, &pattern.action) {
            let name = &self.parts.events[event.index()].name;
            return match &pattern.arguments {
                Some(values) if !values.is_empty() => Some(format!("{name}({})", list(values))),
                Some(_) | None => Some(name.clone()),
            };
        }
        let process = &self.parts.processes[pattern.process?.index()].name;
        let index = pattern
            .index
            .map(|index| format!("[{index}]"))
            .unwrap_or_default();
        let action = pattern.action.as_deref().unwrap_or("*");
        if pattern.event.is_some() || pattern.arguments.as_ref().is_some_and(|a| !a.is_empty()) {
            return None;
        }
        Some(format!("{process}{index}.{action}"))
    }

    /// A value for a cell of this type.
    fn typed(&self, expr: &Expr, scalar: Scalar) -> Option<String> {
        // shape: initial values of Booleans may be written as numbers; everything else is printed.
        if let (Scalar::Bool, Expr::Int(value)) = (scalar, expr) {
            return Some((*value != 0).to_string());
        }
        match scalar {
            Scalar::Bool => self.condition(expr),
            Scalar::Range(..) | Scalar::Int | Scalar::Enum(..) => self.number(expr),
        }
    }

    fn condition(&self, expr: &Expr) -> Option<String> {
        if self.is_condition(expr) {
            self.any(expr)
        } else {
            None
        }
    }

    fn number(&self, expr: &Expr) -> Option<String> {
        if self.is_condition(expr) {
            None
        } else {
            self.any(expr)
        }
    }

    /// Is it a Boolean expression?
    fn is_condition(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Bool(_) | Expr::Not(_) | Expr::At { .. } => true,
            Expr::Int(_)
            | Expr::Enum(..)
            | Expr::Bound(_)
            | Expr::Neg(_)
            | Expr::Length(_)
            | Expr::Wrap { .. } => false,
            Expr::Read(place) => self.type_of(place) == Some(Scalar::Bool),
            Expr::Ite(_, yes, _) => self.is_condition(yes),
            Expr::Quantified { quantifier, .. } => *quantifier != Quantifier::Sum,
            Expr::Binary(op, ..) => match op {
                BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Implies
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => true,
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
                | BinaryOp::Shr => false,
            },
        }
    }

    fn any(&self, expr: &Expr) -> Option<String> {
        Some(match expr {
            Expr::Int(value) if *value < 0 => format!("(0 - {})", value.unsigned_abs()),
            Expr::Int(value) => value.to_string(),
            Expr::Bool(value) => value.to_string(),
            // The native language cannot write these, so such a model is not compared.
            Expr::Enum(..) | Expr::Wrap { .. } => return None,
            Expr::Read(place) => self.place(place)?,
            Expr::Bound(bound) => bound_name(*bound),
            Expr::Not(inner) => format!("(!({}))", self.condition(inner)?),
            Expr::Neg(inner) => format!("(-({}))", self.number(inner)?),
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.any(left)?, self.any(right)?);
                format!("({left} {} {right})", operator(*op)?)
            }
            Expr::Ite(condition, yes, no) => {
                let condition = self.condition(condition)?;
                format!(
                    "(if {condition} then {} else {})",
                    self.any(yes)?,
                    self.any(no)?
                )
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => {
                let word = match quantifier {
                    Quantifier::Forall => "forall",
                    Quantifier::Exists => "exists",
                    Quantifier::Sum if self.is_condition(body) => "count",
                    Quantifier::Sum => "sum",
                };
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                format!(
                    "({word} {} in {lo}..{hi}: {})",
                    bound_name(*bound),
                    self.any(body)?
                )
            }
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let process = &self.parts.processes[process.index()];
                let who = match owner {
                    Owner::Own => String::new(),
                    Owner::Single => process.name.clone(),
                    Owner::Indexed(index) => format!("{}[{}]", process.name, self.number(index)?),
                };
                let names: Vec<&str> = locations
                    .iter()
                    .map(|l| process.locations[l.index()].as_str())
                    .collect();
                format!("({who} @ {{{}}})", names.join(", "))
            }
            Expr::Length(channel) => format!("len({})", self.channel(channel)?),
        })
    }
}

/// Names of binders are unique by their numbers.
fn bound_name(bound: BoundId) -> String {
    format!("v{}", bound.index())
}

fn scalar_name(scalar: Scalar) -> Option<String> {
    match scalar {
        Scalar::Bool => Some("bool".to_owned()),
        Scalar::Range(lo, hi) => Some(format!("{lo}..{hi}")),
        Scalar::Int => Some("int".to_owned()),
        Scalar::Enum(..) => None,
    }
}

fn operator(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Add => Some("+"),
        BinaryOp::Sub => Some("-"),
        BinaryOp::Mul => Some("*"),
        BinaryOp::Div => Some("/"),
        BinaryOp::Mod => Some("%"),
        BinaryOp::And => Some("&&"),
        BinaryOp::Or => Some("||"),
        BinaryOp::Implies => Some("implies"),
        BinaryOp::Eq => Some("=="),
        BinaryOp::Ne => Some("!="),
        BinaryOp::Lt => Some("<"),
        BinaryOp::Le => Some("<="),
        BinaryOp::Gt => Some(">"),
        BinaryOp::Ge => Some(">="),
        BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
    }
}

/// The words for the annotation of a target: none, or one. Nothing if there are several.
fn prefix(
    annotations: &[&Annotation],
    is_meant: &dyn Fn(&Target) -> bool,
    choice: &str,
) -> Option<String> {
    let mut meant = annotations
        .iter()
        .filter(|annotation| is_meant(&annotation.target));
    let Some(annotation) = meant.next() else {
        return Some(String::new());
    };
    if meant.next().is_some() {
        return None;
    }
    Some(format!("{} {choice}", annotation.kind.words()))
}

fn assumed(assumption: &Assumption) -> String {
    let literal = |atom: &base::AtomId, value: bool| {
        let sign = if value { "" } else { "!" };
        format!("{sign}p{}", atom.index())
    };
    let joined = |parts: &[Assumption], operator: &str, empty: &str| {
        if parts.is_empty() {
            return empty.to_owned();
        }
        let parts: Vec<String> = parts
            .iter()
            .map(|part| format!("({})", assumed(part)))
            .collect();
        parts.join(operator)
    };
    match assumption {
        Assumption::Infinitely(atom, value) => format!("[]<> {}", literal(atom, *value)),
        Assumption::Eventually(atom, value) => format!("<>[] {}", literal(atom, *value)),
        Assumption::All(parts) => joined(parts, " && ", "true"),
        Assumption::Any(parts) => joined(parts, " || ", "false"),
    }
}

fn list(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    values.join(", ")
}
