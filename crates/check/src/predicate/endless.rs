//! Violations whose data grows forever.
//!
//! No lasso shows them. A stem and some rounds are found as a concrete run; a recurrent set, proved
//! with the solver, says that there is always one more round like them; the judge of evidence looks
//! at the rounds themselves. What the set must keep apart from the guards: the atoms of the property
//! and of the assumptions at every position of a round, and of every fairness condition whose
//! subject the loop does not take that it is disabled where it has to be.

use abstraction::predicate::{
    AtomTerm, Change, Content, N_ROUNDS, Recurrence, Rounds, concretize, show,
};
use base::FairnessKind;
use evidence::{Endless, Trace, ViolationKind};
use model::{Condition, ConditionKind};
use smt::{Sort, Term};

use super::liveness::LivenessSearch;
use super::product::AbstractLasso;
use super::refinement::Round;

/// How many passes of the abstract loop are taken together as one round, at most.
const MAX_PASSES: usize = 2;

impl LivenessSearch<'_> {
    /// A violation, if the loop of an abstract lasso can be proved to go on forever.
    pub(super) fn endless(&mut self, lasso: &AbstractLasso) -> Option<Round> {
        let stem = self.transitions(&lasso.stem);
        let cycle = self.transitions(&lasso.cycle);
        if !self.may_grow(&cycle) {
            return None;
        }
        let choices: &[bool] = if self.has_choices(&cycle) {
            &[true, false]
        } else {
            &[true]
        };
        let mut reason = None;

        for n_passes in 1..=MAX_PASSES {
            let cycle = cycle.repeat(n_passes);
            let path = self.path(lasso, n_passes * N_ROUNDS);
            // What the abstract states say may be too much, or just what makes it a violation.
            for observed in [self.abstraction.observed(&path), Vec::new()] {
                for &same_choices in choices {
                    match self.endless_rounds((&stem, &cycle), &observed, same_choices) {
                        Ok(decided) => return Some(decided),
                        Err(why) => reason = reason.or(Some(why)),
                    }
                }
            }
        }

        self.not_endless = reason;
        None
    }

    /// Does some step change a number without bounds? Without that, states return.
    fn may_grow(&self, cycle: &[usize]) -> bool {
        let program = self.abstraction.program;
        let is_unbounded = |var: &usize| {
            let description = &program.vars[*var];
            let (low, high) = description.interval;
            description.sort == Sort::Int && (low.is_none() || high.is_none())
        };
        cycle
            .iter()
            .any(|t| program.transitions[*t].updates.keys().any(is_unbounded))
    }

    fn has_choices(&self, cycle: &[usize]) -> bool {
        let transitions = &self.abstraction.program.transitions;
        cycle.iter().any(|t| !transitions[*t].locals.is_empty())
    }

    fn endless_rounds(
        &mut self,
        (stem, cycle): (&[usize], &[usize]),
        observed: &[Vec<Term>],
        same_choices: bool,
    ) -> Result<Round, String> {
        let rounds = self
            .abstraction
            .rounds((stem, cycle), observed, same_choices)
            .ok_or_else(|| format!("no run with {N_ROUNDS} rounds was found"))?;
        let demands = self.demands(&rounds)?;
        let recurrence = self.abstraction.recur(&rounds, &demands)?;
        let grows = |(_, change): &(usize, Change)| matches!(change, Change::By(_));
        if self.check.fairness.kind == FairnessKind::StrongGlobal
            && !recurrence.changes.iter().any(grows)
        {
            return Err("it is not known that every state is visited finitely often".to_owned());
        }

        let program = self.abstraction.program;
        let found = concretize(
            self.check.model,
            program,
            &rounds.execution,
            &rounds.solution,
            &mut self.abstraction.questions,
        );

        let concrete = found.ok_or("its data does not fit into a sample")?;
        let all = stem.iter().chain(cycle.iter().cycle());
        let all = all.take(stem.len() + N_ROUNDS * cycle.len());
        let trace = Trace {
            states: concrete.states,
            steps: all.map(|t| self.check.step(program, *t).into()).collect(),
            loop_start: None,
        };
        let kind = ViolationKind::Endless(Box::new(Endless {
            start: stem.len(),
            length: cycle.len(),
            recurrent: recurrence.set.iter().map(|fact| self.fact(fact)).collect(),
            changes: self.described_changes(&recurrence),
        }));

        match self.check.confirmed(kind, trace, concrete.model) {
            Some((verdict, found)) => Ok(Round::Decided(verdict, Some(found))),
            None => Err("its rounds do not confirm it".to_owned()),
        }
    }

    /// What every round has to keep besides the guards.
    fn demands(&self, rounds: &Rounds) -> Result<Vec<(usize, Term)>, String> {
        let mut demands = Vec::new();
        let mut atoms: Vec<_> = self.check.setup.atoms.iter().collect();
        atoms.sort_unstable_by_key(|(atom, _)| **atom);
        for position in 0..rounds.cycle.len() {
            for (_, meaning) in &atoms {
                let AtomTerm::State(term) = meaning else {
                    continue;
                };
                let literal = if self.is_true(rounds, position, term) {
                    term.clone()
                } else {
                    Term::not(term.clone())
                };
                demands.push((position, literal));
            }
        }

        let conditions = self.check.model.fairness_conditions(self.check.fairness);
        for condition in &conditions {
            self.demand_fairness(rounds, condition, &mut demands)?;
        }
        Ok(demands)
    }

    fn is_true(&self, rounds: &Rounds, position: usize, term: &Term) -> bool {
        let at = rounds.start + position;
        let term = rounds.execution.at(self.abstraction.program, at, term);
        rounds.solution.bool(&term) == Some(true)
    }

    fn demand_fairness(
        &self,
        rounds: &Rounds,
        condition: &Condition,
        demands: &mut Vec<(usize, Term)>,
    ) -> Result<(), String> {
        if rounds.cycle.iter().any(|t| self.concerns(condition, *t)) {
            return Ok(());
        }
        let own = 0..self.abstraction.program.transitions.len();
        let own = own.filter(|t| self.concerns(condition, *t));
        let disabled = Term::and(own.map(|t| self.abstraction.disabled(t)));
        let mut positions = 0..rounds.cycle.len();
        let is_disabled = |position: &usize| self.is_true(rounds, *position, &disabled);
        let found: Vec<usize> = match condition.kind {
            ConditionKind::Unconditional => Vec::new(),
            ConditionKind::Weak => positions.find(is_disabled).into_iter().collect(),
            ConditionKind::Strong if positions.all(|p| is_disabled(&p)) => {
                (0..rounds.cycle.len()).collect()
            }
            ConditionKind::Strong => Vec::new(),
        };

        if found.is_empty() {
            let name = evidence::condition_name(self.check.model, condition);
            return Err(format!("it is not known to be fair: {name}"));
        }

        demands.extend(
            found
                .into_iter()
                .map(|position| (position, disabled.clone())),
        );
        Ok(())
    }

    /// A fact of a recurrent set, with names for locations where it is about one.
    fn fact(&self, fact: &Term) -> String {
        let program = self.abstraction.program;
        if let Term::Eq(linear) = fact
            && let mut terms = linear.terms()
            && let (Some((Term::Var(name, _), factor)), None) = (terms.next(), terms.next())
            && let Some(var) = program.var_named(name)
            && let Content::Location(instance) = program.vars[var].content
        {
            let model = self.check.model;
            let number = usize::try_from(-linear.offset() * factor).unwrap_or_default();
            let locations = &model.process_of(instance).locations;
            if let Some(location) = locations.get(number) {
                return format!("{} @ {location}", model.instance_name(instance));
            }
        }
        show(fact)
    }

    fn described_changes(&self, recurrence: &Recurrence) -> Vec<String> {
        let program = self.abstraction.program;
        let change = |(var, change): &(usize, Change)| {
            let name = &program.vars[*var].name;
            match change {
                Change::By(number) if *number > 0 => format!("{name} grows by {number}"),
                Change::By(number) => format!("{name} falls by {}", number.unsigned_abs()),
                Change::To(term) => format!("{name} becomes {}", show(term)),
            }
        };
        let choice = |(position, name, value): &(usize, std::sync::Arc<str>, Term)| {
            let name = name.split('!').next().unwrap_or_default();
            let step = position + 1;
            format!("step {step} of the round chooses {name} = {}", show(value))
        };
        let changes = recurrence.changes.iter().map(change);
        changes
            .chain(recurrence.choices.iter().map(choice))
            .collect()
    }
}
