//! The constructs of properties.

use base::{Fairness, FairnessKind};
use logic::{CtlStar, CtlStarBuilder, Ltl, NeverClaim, Op, PathQuantifier, Property};

/// The kind of a property.
pub(super) fn kind(property: &Property) -> &'static str {
    match property {
        Property::Ltl(_) => "Property::Ltl",
        Property::Invariant(_) => "Property::Invariant",
        Property::Reachable(_) => "Property::Reachable",
        Property::DeadlockFree => "Property::DeadlockFree",
        Property::CtlStar(_) => "Property::CtlStar",
        Property::Never(_) => "Property::Never",
        Property::MayMust(_) => "Property::MayMust",
    }
}

/// All constructs of a property.
pub(super) fn names(property: &Property) -> Vec<&'static str> {
    let mut names = vec![kind(property)];
    names.extend(parts(property).into_iter().map(|(name, _)| name));
    names
}

pub(super) fn of_fairness(fairness: Fairness) -> Vec<&'static str> {
    let Fairness {
        kind,
        annotated,
        timers,
    } = fairness;
    let whole = match kind {
        FairnessKind::None => None,
        FairnessKind::Just => Some("FairnessKind::Just"),
        FairnessKind::WeakProcess => Some("FairnessKind::WeakProcess"),
        FairnessKind::StrongProcess => Some("FairnessKind::StrongProcess"),
        FairnessKind::Weak => Some("FairnessKind::Weak"),
        FairnessKind::Strong => Some("FairnessKind::Strong"),
        FairnessKind::StrongGlobal => Some("FairnessKind::StrongGlobal"),
    };
    let annotated = annotated.then_some("fairness: annotated");
    let timers = timers.then_some("fairness: timers");
    [whole, annotated, timers].into_iter().flatten().collect()
}

/// Every part of a property, with the properties that have something simpler in its place.
pub(super) fn parts(property: &Property) -> Vec<(&'static str, Vec<Property>)> {
    let of_path = |formula: &Ltl, wrap: &dyn Fn(Ltl) -> Property| {
        let parts = of_formula(formula).into_iter();
        parts
            .map(|(name, others)| (name, others.into_iter().map(wrap).collect()))
            .collect()
    };
    match property {
        Property::Ltl(formula) => of_path(formula, &Property::Ltl),
        Property::Invariant(formula) => of_path(formula, &Property::Invariant),
        Property::Reachable(formula) => of_path(formula, &Property::Reachable),
        Property::DeadlockFree => {
            let anything = Property::Invariant(Ltl::tt());
            vec![("Property::DeadlockFree", vec![anything])]
        }
        Property::Never(claim) => of_claim(claim),
        Property::CtlStar(formula) => of_state_formula(formula),
        Property::MayMust(_) => vec![],
    }
}

fn of_op(op: &Op) -> &'static str {
    match op {
        Op::True => "Op::True",
        Op::False => "Op::False",
        Op::Atom(_) => "Op::Atom",
        Op::Not(_) => "Op::Not",
        Op::And(_) => "Op::And",
        Op::Or(_) => "Op::Or",
        Op::Implies(..) => "Op::Implies",
        Op::Iff(..) => "Op::Iff",
        Op::Next(_) => "Op::Next",
        Op::Until(..) => "Op::Until",
        Op::WeakUntil(..) => "Op::WeakUntil",
        Op::Release(..) => "Op::Release",
        Op::StrongRelease(..) => "Op::StrongRelease",
        Op::Eventually(_) => "Op::Eventually",
        Op::Always(_) => "Op::Always",
        Op::Previously(_) => "Op::Previously",
        Op::Since(..) => "Op::Since",
    }
}

/// Every subformula with the formulas that have a constant or one of its operands in its place.
fn of_formula(formula: &Ltl) -> Vec<(&'static str, Vec<Ltl>)> {
    let mut others = match formula.op() {
        Op::True => vec![Ltl::ff()],
        Op::False => vec![Ltl::tt()],
        _ => vec![Ltl::tt(), Ltl::ff()],
    };
    others.extend(formula.operands().into_iter().cloned());
    let mut found = vec![(of_op(formula.op()), others)];
    for (number, operand) in formula.operands().into_iter().enumerate() {
        for (name, others) in of_formula(operand) {
            let rebuild = |other| with_operand(formula, number, other);
            found.push((name, others.into_iter().map(rebuild).collect()));
        }
    }
    found
}

fn with_operand(formula: &Ltl, number: usize, operand: Ltl) -> Ltl {
    let mut operands: Vec<Ltl> = formula.operands().into_iter().cloned().collect();
    operands[number] = operand;

    let mut rest = operands.iter().cloned();
    let mut next = || rest.next().expect("as many as before");

    match formula.op() {
        Op::True | Op::False | Op::Atom(_) => formula.clone(),
        Op::Not(_) => Ltl::not(next()),
        Op::And(_) => Ltl::and(operands),
        Op::Or(_) => Ltl::or(operands),
        Op::Implies(..) => Ltl::implies(next(), next()),
        Op::Iff(..) => Ltl::iff(next(), next()),
        Op::Next(_) => Ltl::next(next()),
        Op::Until(..) => Ltl::until(next(), next()),
        Op::WeakUntil(..) => Ltl::weak_until(next(), next()),
        Op::Release(..) => Ltl::release(next(), next()),
        Op::StrongRelease(..) => Ltl::strong_release(next(), next()),
        Op::Eventually(_) => Ltl::eventually(next()),
        Op::Always(_) => Ltl::always(next()),
        Op::Previously(_) => Ltl::previously(next()),
        Op::Since(..) => Ltl::since(next(), next()),
    }
}

fn of_claim(claim: &NeverClaim) -> Vec<(&'static str, Vec<Property>)> {
    let mut found = Vec::new();
    for (number, state) in claim.states.iter().enumerate() {
        let mut other = claim.clone();
        other.states[number].accepting = !state.accepting;
        found.push(("claim: accepting state", vec![Property::Never(other)]));
        for edge in 0..state.edges.len() {
            let mut other = claim.clone();
            other.states[number].edges.remove(edge);
            found.push(("claim: edge", vec![Property::Never(other)]));
        }
    }
    found
}

fn of_state_formula(formula: &CtlStar) -> Vec<(&'static str, Vec<Property>)> {
    let mut found = Vec::new();
    let rebuild = |number: usize, quantifier: PathQuantifier, path: Ltl| {
        let mut builder = CtlStarBuilder::default();
        let mut atoms: Vec<Ltl> = Vec::new();
        for (position, part) in formula.quantified().iter().enumerate() {
            let (quantifier, path) = if position == number {
                (quantifier, path.clone())
            } else {
                (part.quantifier, part.path.clone())
            };
            let path = renamed(&path, &atoms);
            atoms.push(builder.quantify(quantifier, path));
        }
        let root = renamed(formula.root(), &atoms);
        Some(Property::CtlStar(builder.finish(root).ok()?))
    };

    for (number, part) in formula.quantified().iter().enumerate() {
        let (name, other) = match part.quantifier {
            PathQuantifier::All => ("PathQuantifier::All", PathQuantifier::Exists),
            PathQuantifier::Exists => ("PathQuantifier::Exists", PathQuantifier::All),
        };
        let turned = rebuild(number, other, part.path.clone());
        found.push((name, turned.into_iter().collect()));
        for (name, others) in of_formula(&part.path) {
            let rebuilt = others.into_iter();
            let others = rebuilt.filter_map(|path| rebuild(number, part.quantifier, path));
            found.push((name, others.collect()));
        }
    }

    found
}

/// Equal quantified formulas become one, so their numbers may change.
fn renamed(path: &Ltl, atoms: &[Ltl]) -> Ltl {
    path.map_atoms(&|atom| match CtlStar::as_quantified(atom) {
        Some(number) => atoms[number].clone(),
        None => Ltl::atom(atom),
    })
}
