//! Making a case with a finding small: parts of the model are dropped and expressions replaced by
//! smaller ones, as long as it still shows what it showed.
//!
//! This is greedy: every way of making the model a little smaller is tried in turn, large parts
//! first, until none of them keeps the finding (A. Zeller, R. Hildebrandt, "Simplifying and isolating
//! failure-inducing input", IEEE Transactions on Software Engineering 28, 2002, section 4, without
//! its subsets).

use logic::{Ltl, Op, Property};
use model::{Assumption, Expr, ModelParts, ProcessId, Step, Sync, Target};

use crate::Case;

/// How often a smaller case is tried at most.
const MAX_TRIALS: usize = 4_000;

/// A case as small as can be found of which the same is shown.
#[must_use]
pub fn minimise(case: &Case, is_shown: &dyn Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut n_trials = 0;
    loop {
        let size_of_best = size(&best);
        let smaller = smaller_cases(&best).into_iter().find(|candidate| {
            n_trials += 1;
            n_trials <= MAX_TRIALS && size(candidate) < size_of_best && is_shown(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// How large a case is: what is written down about it.
#[must_use]
pub fn size(case: &Case) -> usize {
    let text = format!("{:?}{:?}", case.model.parts(), case.property.property);
    let names = text.split(|c: char| !c.is_alphanumeric());
    names.filter(|name| !name.is_empty()).count()
}

/// All ways of making a case a little smaller, large steps first.
fn smaller_cases(case: &Case) -> Vec<Case> {
    let parts = case.model.parts();
    let mut smaller: Vec<ModelParts> = Vec::new();
    let mut edit = |change: &dyn Fn(&mut ModelParts)| {
        let mut changed = parts.clone();
        change(&mut changed);
        smaller.push(changed);
    };

    // Processes lose all steps, then single ones; nothing that others refer to is removed.
    for process in 0..parts.processes.len() {
        if !parts.processes[process].steps.is_empty() {
            edit(&|parts| drop_steps(parts, process, None));
        }
    }

    for process in 0..parts.processes.len() {
        for step in 0..parts.processes[process].steps.len() {
            edit(&|parts| drop_steps(parts, process, Some(step)));
        }
    }

    edit(&|parts| parts.annotations.clear());
    edit(&|parts| parts.interferences.clear());
    edit(&|parts| parts.assumptions.clear());
    edit(&|parts| parts.init.clear());
    for annotation in 0..parts.annotations.len() {
        edit(&|parts| drop(parts.annotations.remove(annotation)));
    }
    for assumption in 0..parts.assumptions.len() {
        edit(&|parts| drop(parts.assumptions.remove(assumption)));
    }

    // Families become smaller, channels hold less, processes start in one place.
    for process in 0..parts.processes.len() {
        edit(&|parts| {
            if let Some(range) = &mut parts.processes[process].index {
                range.hi = range.hi.min(range.lo);
            }
        });
        edit(&|parts| parts.processes[process].initial.truncate(1));
    }

    for process in 0..parts.processes.len() {
        for step in 0..parts.processes[process].steps.len() {
            for change in STEP_CHANGES {
                edit(&|parts| change(&mut parts.processes[process].steps[step]));
            }
            let n_statements = parts.processes[process].steps[step].effect.len();
            for statement in 0..n_statements {
                edit(&|parts| {
                    drop(
                        parts.processes[process].steps[step]
                            .effect
                            .remove(statement),
                    );
                });
            }
            for guard in simpler(&parts.processes[process].steps[step].guard) {
                edit(&|parts| parts.processes[process].steps[step].guard = guard.clone());
            }
        }
    }

    for (atom, expr) in state_atoms(parts) {
        for expr in simpler(&expr) {
            edit(&|parts| {
                parts.atoms[atom].meaning = model::AtomMeaning::State(expr.clone());
            });
        }
    }

    let remade = |parts: ModelParts| {
        let model = parts.finish().ok()?;
        Some(Case {
            model,
            ..case.clone()
        })
    };

    let mut cases: Vec<Case> = smaller.into_iter().filter_map(remade).collect();
    for property in simpler_properties(&case.property.property) {
        let mut simpler = case.clone();
        simpler.property.property = property;
        cases.push(simpler);
    }
    if let Some(unused) = without_unused(case) {
        cases.push(unused);
    }
    cases
}

const STEP_CHANGES: [fn(&mut Step); 5] = [
    |step| step.effect.clear(),
    |step| step.guard = Expr::Bool(true),
    |step| step.sync = Sync::Internal,
    |step| step.priority = 0,
    |step| step.target = step.source,
];

/// Removes all steps of a process, or one. Annotations follow the steps they stand at.
fn drop_steps(parts: &mut ModelParts, process: usize, step: Option<usize>) {
    match step {
        Some(step) => drop(parts.processes[process].steps.remove(step)),
        None => parts.processes[process].steps.clear(),
    }
    let id = ProcessId::new(process);
    parts.annotations.retain_mut(|annotation| {
        let Target::Choice(owner, number) = &mut annotation.target else {
            return true;
        };
        match step {
            _ if *owner != id => true,
            None => false,
            Some(removed) if *number == removed => false,
            Some(removed) => {
                *number -= usize::from(*number > removed);
                true
            }
        }
    });
}

fn state_atoms(parts: &ModelParts) -> Vec<(usize, Expr)> {
    let atoms = parts.atoms.iter().enumerate();
    let state = atoms.filter_map(|(position, atom)| match &atom.meaning {
        model::AtomMeaning::State(expr) => Some((position, expr.clone())),
        model::AtomMeaning::Taken(_)
        | model::AtomMeaning::Enabled(_)
        | model::AtomMeaning::Deadlock
        | model::AtomMeaning::Certainly(..)
        | model::AtomMeaning::TimerSet(_) => None,
    });
    state.collect()
}

/// Smaller conditions: constants and parts.
fn simpler(expr: &Expr) -> Vec<Expr> {
    let mut all = match expr {
        Expr::Not(inner) => vec![(**inner).clone()],
        Expr::Binary(op, left, right) => {
            use model::BinaryOp::{And, Implies, Or};
            match op {
                And | Or | Implies => vec![(**left).clone(), (**right).clone()],
                _ => Vec::new(),
            }
        }
        Expr::Bool(_) => return Vec::new(),
        Expr::Int(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::Neg(_)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => Vec::new(),
    };

    all.extend([true, false].map(Expr::Bool));
    all
}

fn simpler_properties(property: &Property) -> Vec<Property> {
    match property {
        Property::Ltl(formula) => simpler_formulas(formula)
            .into_iter()
            .map(Property::Ltl)
            .collect(),
        Property::Invariant(formula) => simpler_formulas(formula)
            .into_iter()
            .map(Property::Invariant)
            .collect(),
        Property::Reachable(formula) => simpler_formulas(formula)
            .into_iter()
            .map(Property::Reachable)
            .collect(),
        Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => Vec::new(),
    }
}

/// The operands of a formula, and the formula with one operand made smaller.
fn simpler_formulas(formula: &Ltl) -> Vec<Ltl> {
    let operands: Vec<Ltl> = formula.operands().into_iter().cloned().collect();
    let mut all = operands.clone();
    for (position, operand) in operands.iter().enumerate() {
        for smaller in simpler_formulas(operand) {
            let mut changed = operands.clone();
            changed[position] = smaller;
            all.extend(rebuilt(formula, changed));
        }
    }
    all
}

fn rebuilt(formula: &Ltl, mut operands: Vec<Ltl>) -> Option<Ltl> {
    let mut next = || operands.remove(0);
    Some(match formula.op() {
        Op::True | Op::False | Op::Atom(_) => return None,
        Op::Not(_) => Ltl::not(next()),
        Op::And(_) => Ltl::and(operands),
        Op::Or(_) => Ltl::or(operands),
        Op::Implies(..) => Ltl::implies(next(), next()),
        Op::Iff(..) => Ltl::iff(next(), next()),
        Op::Next(_) => Ltl::next(next()),
        Op::Until(..) => Ltl::until(next(), next()),
        Op::Eventually(_) => Ltl::eventually(next()),
        Op::Always(_) => Ltl::always(next()),
        Op::Release(..) => Ltl::release(next(), next()),
        Op::StrongRelease(..) => Ltl::strong_release(next(), next()),
        Op::WeakUntil(..) => Ltl::weak_until(next(), next()),
        Op::Previously(_) => Ltl::previously(next()),
        Op::Since(..) => Ltl::since(next(), next()),
    })
}

/// The case with the atoms that nothing mentions made trivial.
fn without_unused(case: &Case) -> Option<Case> {
    let used = match &case.property.property {
        Property::Ltl(f) | Property::Invariant(f) | Property::Reachable(f) => f.atoms(),
        Property::DeadlockFree => Vec::new(),
        Property::CtlStar(_) | Property::Never(_) | Property::MayMust(_) => return None,
    };
    let mut parts = case.model.parts().clone();
    let mut assumed = Vec::new();
    for assumption in &parts.assumptions {
        add_atoms(assumption, &mut assumed);
    }
    for (position, atom) in parts.atoms.iter_mut().enumerate() {
        let id = base::AtomId::new(position);
        if !used.contains(&id) && !assumed.contains(&id) {
            atom.meaning = model::AtomMeaning::State(Expr::Bool(true));
        }
    }

    let model = parts.finish().ok()?;
    Some(Case {
        model,
        ..case.clone()
    })
}

fn add_atoms(assumption: &Assumption, atoms: &mut Vec<base::AtomId>) {
    match assumption {
        Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => atoms.push(*atom),
        Assumption::All(parts) | Assumption::Any(parts) => {
            for part in parts {
                add_atoms(part, atoms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::answer::ask;
    use crate::{Answer, random_case};

    use super::*;

    #[test]
    fn what_is_made_small_still_shows_the_same() {
        let is_violated =
            |case: &Case| ask(&case.model, &case.property, &case.plan()).0 == Answer::Violated;
        let cases = (0..40).map(random_case);
        let violated: Vec<Case> = cases.filter(is_violated).take(6).collect();
        assert_eq!(violated.len(), 6);

        let (mut before, mut after) = (0, 0);
        for case in violated {
            let small = minimise(&case, &is_violated);
            assert!(is_violated(&small), "{}", case.name);
            assert!(size(&small) <= size(&case), "{}", case.name);
            before += size(&case);
            after += size(&small);
        }
        // How small a single model can be made depends on what it violates.
        assert!(3 * after < 2 * before, "{before} to {after}");
    }
}
