//! Path quantifiers over unbounded data: the abstract state graph as a may/must system.
//!
//! Every step of the abstraction is *free*. A step is *constrained* if the solver proves that all
//! states which its source describes have such a step ([`Abstraction::must_reach`]); without an
//! answer it is only free. Propositions are exact. The answer is three-valued (D. Dams, R. Gerth,
//! O. Grumberg, "Fair model checking of abstractions", VCL 2000), and "holds" and "violated" both
//! transfer.
//!
//! A position is an abstract state with what is true of the step that led to it: step propositions,
//! and which subjects of fairness were served. So fairness conditions are Boolean combinations of
//! "infinitely often" over propositions of positions; only enabledness may be unknown.

use std::collections::BTreeMap;

use abstraction::predicate::{
    AbstractGraph, Abstraction, AtomTerm, Content, Goal, Halt, Origin, show,
};
use base::{AtomId, FairnessKind, Route, Span};
use evidence::{UnknownReason, Verdict};
use logic::{CtlStar, Ltl, MayMustProperty, NamedProperty, Property};
use model::{Assumption, Condition, ConditionKind, MayMust, MayMustParts, Proposition, Subject};
use rustc_hash::FxHashMap;
use smt::Term;

use super::outcome;
use super::refinement::Round;
use super::setup::{Check, Letters};
use crate::Outcome;
use crate::branching::check_may_must;

/// Suggestions beyond this number do not help.
const MAX_SUGGESTIONS: usize = 3;

/// Answers a formula of CTL*.
pub(super) fn check(check: &Check<'_>, property: &NamedProperty, formula: &CtlStar) -> Outcome {
    if check.fairness.kind == FairnessKind::StrongGlobal || check.fairness.timers {
        let why = "strong global fairness and t-fairness are not properties of abstract steps, so \
                   path quantifiers under them are not decided by predicate abstraction";
        return check.unsupported(why);
    }
    let mut abstraction = check.abstraction();
    let (graph, n_rounds) = match explored(check, &mut abstraction) {
        Ok(explored) => explored,
        Err(verdict) => return outcome(check.fairness, verdict),
    };
    let Some(letters) = Letters::new(check, &abstraction.domain) else {
        return check.unsupported("a proposition is not expressible");
    };
    let conditions = check.model.fairness_conditions(check.fairness);
    let mut builder = MayMustBuilder {
        check,
        abstraction: &mut abstraction,
        graph: &graph,
        letters: &letters,
        conditions: &conditions,
        unproved: Vec::new(),
    };
    let (parts, uncertain) = builder.build();
    let suggestions = builder.suggestions();
    let question = MayMustProperty {
        system: 0,
        formula: formula.clone(),
        fairness: premise(check, &conditions),
    };
    let mut outcome = answer(check, property, &question, parts, &uncertain);
    check.describe(&mut outcome, &abstraction, &graph, n_rounds, &[]);
    if let Verdict::Unknown(UnknownReason::AbstractionTooCoarse) = outcome.verdict
        && !suggestions.is_empty()
    {
        let remark = "predicates that tell such states apart, for an `abstract` block";
        outcome
            .remarks
            .push(format!("{remark}: {}", suggestions.join("; ")));
    }
    outcome
}

/// The whole abstract graph, and how often predicates were added to exclude run-time errors.
fn explored(
    check: &Check<'_>,
    abstraction: &mut Abstraction<'_>,
) -> Result<(AbstractGraph, usize), Verdict> {
    let goal = Goal {
        is_reached: &|_, _| false,
        deadlock: false,
        complete: true,
    };
    let mut graph = AbstractGraph::default();
    let mut is_complete = false;
    let mut is_error = false;

    let ((verdict, _), n_refinements) = check.refine(|round| {
        let (explored, halt) = abstraction.explore(&goal, &check.plan.budget);
        graph = explored;
        match halt {
            None => {
                is_complete = true;
                Round::Decided(Verdict::Holds { witness: None }, None)
            }
            Some(halt) => {
                is_error = matches!(halt, Halt::Failure(..));
                check.judge_halt(halt, abstraction, round)
            }
        }
    });

    if is_complete {
        return Ok((graph, n_refinements));
    }
    if !is_error && matches!(verdict, Verdict::Unknown(_)) {
        return Err(verdict);
    }
    let why = "a run-time error is not excluded; check an invariant to see it";
    Err(Verdict::Unknown(UnknownReason::Unsupported(why.to_owned())))
}

/// A violation counts only in an initial state that certainly describes one of the model.
fn answer(
    check: &Check<'_>,
    property: &NamedProperty,
    question: &MayMustProperty,
    parts: MayMustParts,
    uncertain: &[u32],
) -> Outcome {
    let ask = |parts: MayMustParts| {
        let asked = NamedProperty {
            property: Property::MayMust(question.clone()),
            ..property.clone()
        };
        let mut extended = check.model.parts().clone();
        let system: MayMust = parts.finish().expect("nodes are states");
        extended.systems = vec![system];
        let model = extended
            .finish()
            .expect("a system can stand beside a model");
        let mut outcome = check_may_must(&model, &asked, question, check.plan);
        outcome.route = Route::Predicate;
        outcome.fairness = check.fairness;
        outcome
    };

    if uncertain.is_empty() {
        return ask(parts);
    }
    let mut certain = parts.clone();
    certain.initial.retain(|state| !uncertain.contains(state));

    let of_certain = ask(certain);
    if let Verdict::Violated(_) = of_certain.verdict {
        return of_certain;
    }
    let mut of_all = ask(parts);
    if let Verdict::Violated(_) = of_all.verdict {
        of_all.verdict = Verdict::Unknown(UnknownReason::AbstractionTooCoarse);
        of_all
            .remarks
            .push("whether the initial state of a violation exists is not known".to_owned());
    }

    of_all
}

/// The atoms of a condition, after those of the model: its subject is served, and enabled.
fn condition_atoms(check: &Check<'_>, number: usize) -> (AtomId, AtomId) {
    let first = check.model.parts().atoms.len() + 2 * number;
    (AtomId::new(first), AtomId::new(first + 1))
}

/// Which runs are fair.
fn premise(check: &Check<'_>, conditions: &[Condition]) -> Ltl {
    let infinitely = |inner: Ltl| Ltl::always(Ltl::eventually(inner));
    let mut parts = Vec::new();
    for (number, condition) in conditions.iter().enumerate() {
        let (taken, enabled) = condition_atoms(check, number);
        let (taken, enabled) = (Ltl::atom(taken), Ltl::atom(enabled));
        parts.push(match condition.kind {
            ConditionKind::Weak => infinitely(Ltl::or([taken, Ltl::not(enabled)])),
            ConditionKind::Strong => Ltl::implies(infinitely(enabled), infinitely(taken)),
            ConditionKind::Unconditional => infinitely(taken),
        });
    }
    let assumptions = check.model.parts().assumptions.iter();
    parts.extend(assumptions.map(assumed));
    Ltl::and(parts)
}

fn assumed(assumption: &Assumption) -> Ltl {
    let literal = |atom: &AtomId, sign: &bool| {
        if *sign {
            Ltl::atom(*atom)
        } else {
            Ltl::not(Ltl::atom(*atom))
        }
    };
    match assumption {
        Assumption::Infinitely(atom, sign) => Ltl::always(Ltl::eventually(literal(atom, sign))),
        Assumption::Eventually(atom, sign) => Ltl::eventually(Ltl::always(literal(atom, sign))),
        Assumption::All(parts) => Ltl::and(parts.iter().map(assumed)),
        Assumption::Any(parts) => Ltl::or(parts.iter().map(assumed)),
    }
}

/// What is true of the step that led to a position: the step propositions, then the conditions.
type Entered = Vec<bool>;

/// Steps of an abstract state that no predicate tells apart: where they lead.
struct Bundle {
    target: usize,
    entered: Entered,
    is_constrained: bool,
}

struct MayMustBuilder<'a, 'c, 'p> {
    check: &'a Check<'c>,
    abstraction: &'a mut Abstraction<'p>,
    graph: &'a AbstractGraph,
    letters: &'a Letters,
    conditions: &'a [Condition],
    /// What a state must satisfy to have a step that is not constrained.
    unproved: Vec<Term>,
}

impl MayMustBuilder<'_, '_, '_> {
    /// The system, and the initial states of which it is not known whether they describe any.
    fn build(&mut self) -> (MayMustParts, Vec<u32>) {
        let step_atoms = self.step_atoms();
        let bundles: Vec<Vec<Bundle>> = (0..self.graph.states.len())
            .map(|state| self.bundles(state, &step_atoms))
            .collect();
        let (mut initial, mut uncertain) = (Vec::new(), Vec::new());
        let nothing = self.entered(None, &step_atoms);
        let mut positions = Positions::default();

        for state in 0..self.graph.n_initial {
            let exists = self
                .abstraction
                .describes_initial(&self.graph.states[state]);
            if exists == Some(false) {
                continue;
            }
            let number = positions.number((state, nothing.clone()));
            initial.push(number);
            if exists.is_none() {
                uncertain.push(number);
            }
        }

        let (mut free, mut constrained) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < positions.all.len() {
            let source = at as u32;
            for bundle in &bundles[positions.all[at].0] {
                let target = positions.number((bundle.target, bundle.entered.clone()));
                free.push((source, target));
                if bundle.is_constrained {
                    constrained.push((source, target));
                }
            }
            at += 1;
        }

        let names = positions.all.iter();
        let parts = MayMustParts {
            name: "predicates".to_owned(),
            states: names.map(|(state, _)| self.name(*state)).collect(),
            initial,
            propositions: self.propositions(&positions.all, &step_atoms),
            free,
            constrained,
            span: Span::nowhere(),
        };

        (parts, uncertain)
    }

    fn step_atoms(&self) -> Vec<(AtomId, Vec<bool>)> {
        let atoms = self.check.setup.atoms.iter();
        let taken = atoms.filter_map(|(atom, meaning)| match meaning {
            AtomTerm::Taken(set) => Some((*atom, set.clone())),
            AtomTerm::State(_) => None,
        });
        let mut taken: Vec<(AtomId, Vec<bool>)> = taken.collect();
        taken.sort_unstable_by_key(|(atom, _)| *atom);
        taken
    }

    fn entered(&self, transition: Option<usize>, atoms: &[(AtomId, Vec<bool>)]) -> Entered {
        let of_atoms = atoms
            .iter()
            .map(|(_, set)| transition.is_some_and(|t| set[t]));
        let of_conditions = self.conditions.iter();
        let of_conditions = of_conditions
            .map(|condition| transition.is_some_and(|t| self.serves(&condition.subject, t)));
        of_atoms.chain(of_conditions).collect()
    }

    fn serves(&self, subject: &Subject, transition: usize) -> bool {
        let description = &self.abstraction.program.transitions[transition];
        match subject {
            Subject::Process(instance) => description.movers.contains(instance),
            Subject::Action(action) => description.actions.contains(action),
            Subject::Choice(command) => description.commands.contains(command),
            Subject::Timer(_) | Subject::Team(_) => false,
        }
    }

    fn bundles(&mut self, state: usize, step_atoms: &[(AtomId, Vec<bool>)]) -> Vec<Bundle> {
        let mut ways: BTreeMap<(usize, Entered), (Vec<usize>, bool)> = BTreeMap::new();
        for edge in &self.graph.edges[state] {
            let entered = self.entered(edge.transition, step_atoms);
            let way = ways.entry((edge.target, entered)).or_default();
            match edge.transition {
                Some(transition) => way.0.push(transition),
                None => way.1 = true,
            }
        }

        let mut bundles = Vec::new();
        for ((target, entered), (transitions, idle)) in ways {
            let (from, to) = (&self.graph.states[state], &self.graph.states[target]);
            let is_constrained = self.abstraction.must_reach(from, &transitions, to, idle);
            if !is_constrained {
                let needed = self.abstraction.reaching(&transitions, to, idle);
                self.unproved.push(needed);
            }
            bundles.push(Bundle {
                target,
                entered,
                is_constrained,
            });
        }

        bundles
    }

    /// The propositions of the model, then two for each condition.
    fn propositions(
        &mut self,
        positions: &[(usize, Entered)],
        step_atoms: &[(AtomId, Vec<bool>)],
    ) -> Vec<Proposition> {
        let model = self.check.model;
        let mut propositions = Vec::new();
        for (number, description) in model.parts().atoms.iter().enumerate() {
            let atom = AtomId::new(number);
            let place = step_atoms.iter().position(|(other, _)| *other == atom);
            let is_asked = self.check.setup.atoms.contains_key(&atom);
            let value = |(state, entered): &(usize, Entered)| match place {
                Some(place) => Some(entered[place]),
                None => {
                    is_asked.then(|| self.letters.holds(atom, &self.graph.states[*state], None))
                }
            };
            propositions.push(Proposition {
                name: description.name.clone(),
                values: positions.iter().map(value).collect(),
            });
        }

        for (number, condition) in self.conditions.iter().enumerate() {
            let place = step_atoms.len() + number;
            let subject = match &condition.subject {
                Subject::Process(instance) => model.instances()[instance.index()].name.clone(),
                Subject::Action(action) => model.action_name(*action).to_owned(),
                Subject::Choice(_) | Subject::Timer(_) | Subject::Team(_) => {
                    format!("choice {number}")
                }
            };
            propositions.push(Proposition {
                name: format!("taken({subject})"),
                values: positions.iter().map(|p| Some(p.1[place])).collect(),
            });
            let enabled = self.enabled(&condition.subject);
            propositions.push(Proposition {
                name: format!("enabled({subject})"),
                values: positions.iter().map(|p| enabled[p.0]).collect(),
            });
        }

        propositions
    }

    /// Where a subject is enabled, by abstract state.
    fn enabled(&mut self, subject: &Subject) -> Vec<Option<bool>> {
        let all = 0..self.abstraction.program.transitions.len();
        let own: Vec<usize> = all.filter(|t| self.serves(subject, *t)).collect();
        let states = self.graph.states.iter();
        states
            .map(|state| self.abstraction.enabledness(&own, state))
            .collect()
    }

    /// An abstract state in words.
    fn name(&self, state: usize) -> String {
        let Self {
            check, abstraction, ..
        } = self;
        let (program, domain) = (abstraction.program, &abstraction.domain);
        let mut parts = Vec::new();
        for (slot, value) in self.graph.states[state].iter().enumerate() {
            let var = domain.kept.get(slot).map(|(var, _)| &program.vars[*var]);
            parts.push(match var.map(|var| &var.content) {
                Some(Content::Location(instance)) => {
                    let locations = &check.model.process_of(*instance).locations;
                    let name = &check.model.instances()[instance.index()].name;
                    format!("{name} @ {}", locations[*value as usize])
                }
                _ => show(&domain.describe(program, slot, *value)),
            });
        }
        parts.join(", ")
    }

    /// Predicates that are not there and would tell states with a step from those without.
    fn suggestions(&self) -> Vec<String> {
        let mut domain = self.abstraction.domain.clone();
        let n_before = domain.predicates.len();
        for term in &self.unproved {
            domain.add_atoms(term, &Origin::Model);
        }
        let new = domain.predicates[n_before..].iter();
        let shown = new.map(|predicate| format!("`{}`", show(&predicate.term)));
        shown.take(MAX_SUGGESTIONS).collect()
    }
}

/// Positions, numbered.
#[derive(Default)]
struct Positions {
    all: Vec<(usize, Entered)>,
    numbers: FxHashMap<(usize, Entered), u32>,
}

impl Positions {
    fn number(&mut self, position: (usize, Entered)) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(position.clone()).or_insert(next);
        if number == next {
            self.all.push(position);
        }
        number
    }
}
