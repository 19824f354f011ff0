//! Properties of infinite runs.
//!
//! An abstract lasso may be a run of the model, may be impossible, or may be possible any finite
//! number of times but not forever. The three are told apart in this order: a concrete lasso is
//! looked for, the stem with one round of the loop is replayed and refuted, an expression is looked
//! for that decreases along the loop, and a set of states that the loop never leaves. What survives
//! is unrolled a little further.

use abstraction::predicate::{
    AbstractGraph, AbstractPath, Abstraction, Effect, Goal, has_endless_choices,
};
use base::FairnessKind;
use evidence::{UnknownReason, Verdict, ViolationKind};
use logic::Ltl;
use model::{Condition, ConditionKind, Subject};
use omega::Automaton;
use smt::Term;

use super::concrete::Replayed;
use super::invariant::runs_of;
use super::product::{AbstractLasso, Product, Ranked};
use super::refinement::Round;
use super::safety::PATIENT_ROUNDS;
use super::setup::{Check, Letters};
use crate::Outcome;
use crate::fairness::assuming;

/// How often a loop is unrolled in search of a contradiction or a concrete lasso.
const MAX_UNROLLED: usize = 3;

/// The same where nothing else helps: what oscillates may take a few rounds to leave the loop.
const MAX_UNROLLED_AT_LAST: usize = 6;

impl Check<'_> {
    pub(super) fn ltl(&self, formula: &Ltl) -> Outcome {
        let negation = match logic::translate(&Ltl::not(formula.clone())) {
            Ok(automaton) => automaton,
            Err(error) => return self.unsupported(&error.to_string()),
        };
        let automaton = assuming(negation, &self.model.parts().assumptions);
        let mut search = LivenessSearch {
            check: self,
            abstraction: self.abstraction(),
            automaton,
            conditions: self.conditions(),
            rankings: Vec::new(),
            proposed: Vec::new(),
            graph: AbstractGraph::default(),
            n_product_states: 0,
            not_endless: None,
            proof: None,
        };

        let (decided, n_refinements) = self.refine(|round| search.round(round));

        let mut outcome = self.outcome(decided);
        if outcome.holds() {
            outcome.proof = search.proof.take();
        }
        self.describe(
            &mut outcome,
            &search.abstraction,
            &search.graph,
            n_refinements,
            &search.rankings,
        );
        outcome.stats.n_product_states = Some(search.n_product_states as u64);
        search.describe_fairness(&mut outcome);
        if let (Verdict::Unknown(_), Some(why)) = (&outcome.verdict, &search.not_endless) {
            let remark = format!("a loop was not proved to go on forever: {why}");
            outcome.remarks.push(remark);
        }

        outcome
    }

    /// The conditions that may be carried over. Runs that are fair in the strong global sense are
    /// fair to every action in the strong sense, and only that is used of it.
    fn conditions(&self) -> Vec<Condition> {
        let mut fairness = self.fairness;
        if fairness.kind == FairnessKind::StrongGlobal {
            fairness.kind = FairnessKind::Strong;
        }
        self.model.fairness_conditions(fairness)
    }
}

pub(super) struct LivenessSearch<'a> {
    pub(super) check: &'a Check<'a>,
    pub(super) abstraction: Abstraction<'a>,
    automaton: Automaton,
    conditions: Vec<Condition>,
    rankings: Vec<Term>,
    /// Expressions that may become rankings.
    proposed: Vec<Term>,
    graph: AbstractGraph,
    n_product_states: usize,
    /// Why a loop that may go on forever was not proved to.
    pub(super) not_endless: Option<String>,
    /// Why there is no run that breaks the property.
    proof: Option<certify::Proof>,
}

/// What became of a lasso.
enum Treated {
    /// An expression decreases along it.
    Ranked(Term),
    /// There is an answer, or there are new predicates.
    Answered(Round),
    /// Nothing was found.
    Open,
}

impl LivenessSearch<'_> {
    fn round(&mut self, round: usize) -> Round {
        let goal = Goal {
            is_reached: &|_, _| false,
            deadlock: false,
            complete: true,
        };
        let (graph, halt) = self.abstraction.explore(&goal, &self.check.plan.budget);
        self.graph = graph;
        if let Some(halt) = halt {
            return self.check.judge_halt(halt, &mut self.abstraction, round);
        }
        let mut ranked = Vec::new();
        for rank in &self.rankings {
            ranked.push(Ranked::new(&mut self.abstraction, &self.graph, rank));
        }

        // New rankings need no new exploration.
        loop {
            let Some(letters) = Letters::new(self.check, &self.abstraction.domain) else {
                let why = "a proposition is not expressible".to_owned();
                return Round::undecided(UnknownReason::Unsupported(why));
            };
            let product = self.product(&letters, &ranked, None);
            let (lasso, n_nodes) = product.find_lasso();
            let runs = match lasso {
                None => runs_of(self.check, &product, &self.rankings),
                Some(_) => None,
            };
            self.n_product_states = n_nodes;
            let Some(lasso) = lasso else {
                self.proof = runs.map(certify::Proof::Graph);
                return Round::Decided(Verdict::Holds { witness: None }, None);
            };

            let mut treated = self.treat(&lasso, round);
            if matches!(treated, Treated::Open) {
                treated = self.treat_others(&letters, &ranked, round);
            }
            match treated {
                Treated::Ranked(rank) => {
                    ranked.push(Ranked::new(&mut self.abstraction, &self.graph, &rank));
                    self.rankings.push(rank);
                }
                Treated::Answered(round) => return round,
                Treated::Open => return self.separate_at_last(round),
            }
        }
    }

    fn product<'s>(
        &'s self,
        letters: &'s Letters,
        rankings: &'s [Ranked],
        through: Option<usize>,
    ) -> Product<'s, 's> {
        Product {
            abstraction: &self.abstraction,
            graph: &self.graph,
            automaton: &self.automaton,
            letters,
            conditions: &self.conditions,
            rankings,
            through,
        }
    }

    /// Everything that may decide a lasso, exclude it or tell its states apart.
    fn treat(&mut self, lasso: &AbstractLasso, round: usize) -> Treated {
        let path = self.path(lasso, 1);
        let start = self.transitions(&lasso.stem).len();
        self.check.remember(&self.abstraction, &path, Some(start));
        if let Some(decided) = self.replay(lasso, 1, round) {
            return Treated::Answered(decided);
        }
        if let Some(rank) = self.ranking_for(lasso) {
            return Treated::Ranked(rank);
        }
        if self.bound_ranking(lasso, round) {
            return Treated::Answered(Round::Refined);
        }
        let phases = self.phases(lasso);
        if let [rank] = phases.as_slice()
            && self.is_ranking(lasso, rank)
        {
            return Treated::Ranked(rank.clone());
        }
        if let Some(decided) = self.endless(lasso) {
            return Treated::Answered(decided);
        }

        // What holds in all reachable states may be missing, or the loop has phases.
        let n_before = self.abstraction.domain.predicates.len();
        if self.abstraction.find_facts() || self.separate_phases(phases, round) {
            self.abstraction.refine(n_before);
            return Treated::Answered(Round::Refined);
        }
        for n_rounds in 2..=MAX_UNROLLED {
            if let Some(decided) = self.replay(lasso, n_rounds, round) {
                return Treated::Answered(decided);
            }
        }
        if let Some(decided) = self.replay_observed(lasso, round) {
            return Treated::Answered(decided);
        }
        for n_rounds in MAX_UNROLLED + 1..=MAX_UNROLLED_AT_LAST {
            if let Some(decided) = self.replay(lasso, n_rounds, round) {
                return Treated::Answered(decided);
            }
        }
        self.peak_for(lasso).map_or(Treated::Open, Treated::Ranked)
    }

    /// The same for other lassos: for each transition one that takes it again and again.
    fn treat_others(&mut self, letters: &Letters, ranked: &[Ranked], round: usize) -> Treated {
        for transition in 0..self.abstraction.program.transitions.len() {
            let product = self.product(letters, ranked, Some(transition));
            let (Some(lasso), _) = product.find_lasso() else {
                continue;
            };
            match self.treat(&lasso, round) {
                Treated::Open => {}
                treated => return treated,
            }
        }
        Treated::Open
    }

    /// Expressions that fall one after the other along a loop.
    fn phases(&self, lasso: &AbstractLasso) -> Vec<Term> {
        let mut steps = Vec::new();
        for (state, position) in &lasso.cycle {
            let edge = self.graph.edges[*state][*position];
            let Some(transition) = edge.transition else {
                return Vec::new();
            };
            let (source, target) = (&self.graph.states[*state], &self.graph.states[edge.target]);
            steps.push((&**source, transition, &**target));
        }
        self.abstraction.phases_of(&steps).unwrap_or_default()
    }

    /// Adds which phase of a loop a state belongs to. Says whether that is new.
    fn separate_phases(&mut self, phases: Vec<Term>, round: usize) -> bool {
        let mut is_new = false;
        for rank in &phases {
            is_new |= self.abstraction.bound_from_below(rank, round);
        }
        self.proposed.extend(phases);
        is_new
    }

    pub(super) fn transitions(&self, edges: &[(usize, usize)]) -> Vec<usize> {
        let transition =
            |(state, edge): &(usize, usize)| self.graph.edges[*state][*edge].transition;
        edges.iter().filter_map(transition).collect()
    }

    /// Looks for a concrete lasso, then for a contradiction; nothing if neither is found.
    fn replay(&mut self, lasso: &AbstractLasso, n_rounds: usize, round: usize) -> Option<Round> {
        let path = self.path(lasso, n_rounds);
        match self.replay_path(&path, lasso, &[]) {
            Err(decided) => Some(decided),
            Ok(false) => None,
            Ok(true) => {
                let end = self.end_of(lasso);
                match self.check.learn(&path, &end, &mut self.abstraction, round) {
                    Round::Refined => Some(Round::Refined),
                    // Perhaps a ranking helps where predicates do not.
                    Round::Decided(..) => None,
                }
            }
        }
    }

    /// The same, with all that the abstract states say. The steps alone may be possible where the
    /// propositions of the property, or what is enabled, are not as the lasso has them.
    fn replay_observed(&mut self, lasso: &AbstractLasso, round: usize) -> Option<Round> {
        for n_rounds in 1..=MAX_UNROLLED {
            let path = self.path(lasso, n_rounds);
            let observed = self.abstraction.observed(&path);
            let whole: Vec<Term> = observed.iter().cloned().map(Term::and).collect();
            match self.replay_path(&path, lasso, &whole) {
                Err(decided) => return Some(decided),
                Ok(false) => {}
                Ok(true) => {
                    let end = self.end_of(lasso);
                    let n_before = self.abstraction.domain.predicates.len();
                    if round > PATIENT_ROUNDS {
                        self.abstraction.learn_eliminations(round);
                        self.abstraction.learn_distances(&path, round);
                    }
                    if self.abstraction.domain.predicates.len() > n_before {
                        self.abstraction.refine(n_before);
                        return Some(Round::Refined);
                    }
                    let refined = self
                        .abstraction
                        .learn_observed(&path, &end, observed, round);
                    let learned = self.check.learned(refined, n_before, &mut self.abstraction);
                    if let Round::Refined = learned {
                        return Some(learned);
                    }
                }
            }
        }

        None
    }

    /// What the last state of a lasso must satisfy.
    fn end_of(&self, lasso: &AbstractLasso) -> Term {
        if self.transitions(&lasso.cycle).is_empty() {
            self.abstraction.deadlock_condition()
        } else {
            Term::Bool(true)
        }
    }

    /// Is a path impossible, which starts with the stem of a lasso and goes on with its loop?
    /// A violation if a concrete lasso is found.
    fn replay_path(
        &mut self,
        path: &AbstractPath,
        lasso: &AbstractLasso,
        observed: &[Term],
    ) -> Result<bool, Round> {
        let start = self.transitions(&lasso.stem).len();
        let end = self.end_of(lasso);
        let looping = (path.transitions.as_slice(), start);
        let check = self.check;
        // Where infinitely many values are chosen, no lasso takes every step again and again.
        let may_be_fair = check.fairness.kind != FairnessKind::StrongGlobal
            || !has_endless_choices(self.abstraction.program);
        if may_be_fair
            && let Replayed::Real(found) =
                check.replay_loop(&mut self.abstraction, looping, observed, &end)
        {
            let (trace, sample) = *found;
            let kind = ViolationKind::FairLoop;
            if let Some((verdict, found)) = check.confirmed(kind, trace, sample) {
                return Err(Round::Decided(verdict, Some(found)));
            }
        }
        let replayed = check.replay(&mut self.abstraction, &path.transitions, observed, &end);
        Ok(matches!(replayed, Replayed::Spurious))
    }

    /// The lasso as a path, with the loop taken so many times.
    pub(super) fn path(&self, lasso: &AbstractLasso, n_rounds: usize) -> AbstractPath {
        let mut path = AbstractPath {
            states: Vec::new(),
            transitions: Vec::new(),
        };
        let rounds = lasso.cycle.repeat(n_rounds);
        let edges: Vec<(usize, usize)> = [lasso.stem.as_slice(), &rounds].concat();
        let first = edges.first().map_or(0, |(state, _)| *state);
        path.states.push(self.graph.states[first].clone());
        for (state, position) in edges {
            let edge = self.graph.edges[state][position];
            if let Some(transition) = edge.transition {
                path.transitions.push(transition);
                path.states.push(self.graph.states[edge.target].clone());
            }
        }
        path
    }

    /// Expressions that may decrease along a loop.
    fn candidates(&self, lasso: &AbstractLasso) -> Vec<Term> {
        let mut transitions = self.transitions(&lasso.cycle);
        transitions.sort_unstable();
        transitions.dedup();
        let mut candidates = self.abstraction.ranking_candidates(&transitions);
        candidates.extend(self.proposed.iter().cloned());
        candidates
    }

    /// What the steps of a loop do to an expression; nothing if one of them is idle.
    fn effects(&mut self, lasso: &AbstractLasso, rank: &Term) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (state, position) in &lasso.cycle {
            let edge = self.graph.edges[*state][*position];
            let Some(transition) = edge.transition else {
                return Vec::new();
            };
            let (source, target) = (&self.graph.states[*state], &self.graph.states[edge.target]);
            let effect = self.abstraction.effect(rank, source, transition, target);
            effects.push(effect);
            if effect == Effect::Increasing {
                break;
            }
        }
        effects
    }

    /// An expression that decreases somewhere on the loop and increases nowhere on it.
    fn ranking_for(&mut self, lasso: &AbstractLasso) -> Option<Term> {
        let candidates = self.candidates(lasso);
        let mut candidates = candidates.into_iter();
        candidates.find(|rank| self.is_ranking(lasso, rank))
    }

    /// What only facts bound, or the greater of two expressions, if that decreases.
    fn peak_for(&mut self, lasso: &AbstractLasso) -> Option<Term> {
        let candidates = self.candidates(lasso);
        let transitions = self.transitions(&lasso.cycle);
        let mut peaks = self
            .abstraction
            .peaks_of(&candidates, &transitions)
            .into_iter();
        peaks.find(|rank| self.is_ranking(lasso, rank))
    }

    fn is_ranking(&mut self, lasso: &AbstractLasso, rank: &Term) -> bool {
        let effects = self.effects(lasso, rank);
        effects.contains(&Effect::Decreasing)
            && !effects.contains(&Effect::Increasing)
            && !self.rankings.contains(rank)
    }

    fn stays_bounded(&mut self, lasso: &AbstractLasso, rank: &Term) -> bool {
        lasso.cycle.iter().all(|(state, position)| {
            let edge = self.graph.edges[*state][*position];
            edge.transition.is_some_and(|transition| {
                let (source, target) =
                    (&self.graph.states[*state], &self.graph.states[edge.target]);
                self.abstraction
                    .stays_bounded(rank, source, transition, target)
            })
        })
    }

    /// If an expression becomes smaller along the loop, but may be negative, it becomes a predicate
    /// that it is not.
    fn bound_ranking(&mut self, lasso: &AbstractLasso, round: usize) -> bool {
        for rank in self.candidates(lasso) {
            let effects = self.effects(lasso, &rank);
            if effects.contains(&Effect::Falling)
                && !effects.contains(&Effect::Increasing)
                && self.stays_bounded(lasso, &rank)
            {
                let n_before = self.abstraction.domain.predicates.len();
                if self.abstraction.bound_from_below(&rank, round) {
                    self.abstraction.refine(n_before);
                    return true;
                }
            }
        }
        false
    }

    /// If a fairness condition is not kept exactly, predicates are added so that it is; else those
    /// that the samples suggest.
    fn separate_at_last(&mut self, round: usize) -> Round {
        let transitions: Vec<usize> = (0..self.abstraction.commands.len())
            .filter(|t| !self.abstraction.enabledness_is_exact(*t))
            .filter(|t| self.conditions.iter().any(|c| self.concerns(c, *t)))
            .collect();
        let n_before = self.abstraction.domain.predicates.len();
        let program = self.abstraction.program;
        let mut n_added = self.abstraction.domain.add_guards_of(program, &transitions);
        if n_added == 0 {
            n_added = self.abstraction.find_relations(round);
        }
        if n_added > 0 {
            self.abstraction.refine(n_before);
            return Round::Refined;
        }
        let reason = match self.abstraction.questions.gave_up() {
            Some(_) => UnknownReason::SolverGaveUp,
            None => UnknownReason::AbstractionTooCoarse,
        };
        Round::undecided(reason)
    }

    pub(super) fn concerns(&self, condition: &Condition, transition: usize) -> bool {
        let description = &self.abstraction.program.transitions[transition];
        match &condition.subject {
            Subject::Process(instance) => description.movers.contains(instance),
            Subject::Action(action) => description.actions.contains(action),
            Subject::Choice(command) => description.commands.contains(command),
            Subject::Timer(_) => unreachable!("models with timers are refused"),
            Subject::Team(_) => unreachable!("justness is refused"),
        }
    }

    /// Says which conditions were carried over, and which not.
    fn describe_fairness(&self, outcome: &mut Outcome) {
        for condition in &self.conditions {
            let own = 0..self.abstraction.commands.len();
            let inexact = own
                .filter(|t| self.concerns(condition, *t))
                .any(|t| !self.abstraction.enabledness_is_exact(t));
            if inexact && condition.kind != ConditionKind::Unconditional {
                let name = self.check.model.subject_name(&condition.subject);
                outcome.remarks.push(format!(
                    "fairness of {name} is used only where it is certainly enabled: when it is enabled is not kept exactly"
                ));
            }
        }
    }
}
