//! The route for families of any number of processes: an abstraction by way of WS1S proves, small
//! instances refute.
//!
//! *Holds* means for every value of the parameter; it comes from the abstraction alone. *Violated*
//! comes from the explicit route on the smallest instance that has a violation, validated like any
//! other. The abstraction is tried coarse, then fine. Unless that is forbidden, what is proved is
//! compared with the explicit route on small instances. Numbers in the text make small instances
//! special, so both go beyond all of them where the instances are small enough.

mod instances;
mod told;

use std::collections::BTreeMap;

use abstraction::parameterized::{
    Abstraction, Asked, Depth, Detail, Facts, Level, Obstacle, Sample, Selection, System,
    Uncounted, about_each, abstraction, core_model, facts, induction_steps, visits, with_one_range,
    without_counters, without_negatives,
};
use base::{AtomId, Budget, Diagnostic, Fairness, FairnessKind, NoProgress, Progress, Route, Span};
use evidence::{UnknownReason, Verdict};
use logic::{NamedProperty, Property};
use model::{Assumption, Model, Scope, Template};

use self::instances::{Effort, beyond_constants, comparison, listed, reached};
use crate::certificate::family_proof;
use crate::{Bug, Outcome, Plan, Reductions, reduction};

/// Instances up to this number of processes are searched for violations before a proof is tried.
const MAX_TRIED: i64 = 3;

/// Instances up to this number of processes are searched for violations.
const MAX_SEARCHED: i64 = 5;

/// Instances up to this number of processes are compared with a proof.
const MAX_COMPARED: i64 = 4;

/// Instances up to this number of processes are compared with a proof as long as they are cheap.
const MAX_CHEAPLY_COMPARED: i64 = 6;

/// Instances with more states than this are not searched to the end.
const MAX_STATES: u64 = 300_000;

/// States of instances up to this number of processes propose facts.
const MAX_SAMPLED: i64 = 5;

/// An attempt that is not the last one may keep so many states of automata, and so many bytes.
const TRIAL_STATES: u64 = 60_000;
const TRIAL_BYTES: u64 = 256 << 20;

/// So many facts are named in a report.
const MAX_SHOWN: usize = 6;

/// The instance of a template for a value of its parameter, with the property; nothing if the
/// template makes no sense for it.
pub type Instances<'a> = &'a dyn Fn(i64) -> Option<(Model, NamedProperty)>;

/// A question about all instances of a template.
#[derive(Clone, Copy)]
pub struct ForAll<'a> {
    /// The template.
    pub template: &'a Template,
    /// The property; its atoms are those of the template.
    pub property: &'a NamedProperty,
    /// What is special about it.
    pub scope: &'a Scope,
    /// The instances.
    pub instances: Instances<'a>,
    /// Compare what is proved with small instances?
    pub cross_check: bool,
}

/// What came out for all instances.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict. A violation is one of the instance below.
    pub outcome: Outcome,
    /// The value of the parameter for which the property is violated.
    pub instance: Option<i64>,
    /// What the proof needs: rankings, then fairness conditions, in the user's words.
    pub needs: Vec<String>,
}

/// The fairness under which a property of a template is checked; see
/// [`crate::effective_fairness`].
#[must_use]
pub fn template_fairness(
    template: &Template,
    property: &NamedProperty,
    asked_for: Option<Fairness>,
) -> Fairness {
    let annotated = Fairness {
        kind: FairnessKind::None,
        annotated: !template.parts.annotations.is_empty(),
        timers: false,
    };
    asked_for
        .or(property.fairness)
        .or(template.parts.fairness)
        .unwrap_or(annotated)
}

/// Checks a property of all instances of a template.
///
/// # Errors
/// Evidence was found to be wrong.
///
/// # Panics
/// If an instance contradicts a proof. Both are bugs of the tool.
pub fn check_for_all(
    question: &ForAll<'_>,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Answer, Bug> {
    let fairness = template_fairness(question.template, question.property, plan.fairness);

    // Most violations show on very few processes, long before a proof has failed.
    let mut searching = Proving::new(question, &[], plan, fairness);
    if let Some(answer) = searching.violation(MAX_TRIED, MAX_TRIED, progress)? {
        return Ok(answer);
    }

    let (mut template, mut scope) = (question.template.clone(), question.scope.clone());
    let mut is_rewritten = false;
    for rewrite in [with_one_range, without_negatives] {
        if let Some(rewritten) = rewrite(&template, &scope) {
            (template, scope) = rewritten;
            is_rewritten = true;
        }
    }
    let question = ForAll {
        template: &template,
        scope: &scope,
        ..*question
    };
    let mut failure = None;
    let uncounted = without_counters(question.template, question.scope);
    let questions = uncounted.iter().map(Some).chain([None]);
    for replaced in questions {
        let asked = match replaced {
            None => question,
            Some(Uncounted {
                template, scope, ..
            }) => ForAll {
                template,
                scope,
                ..question
            },
        };
        let counters = replaced.map_or(&[][..], |replaced| &replaced.facts);
        let mut proving = Proving::new(&asked, counters, plan, fairness);
        proving.is_trial = replaced.is_some();
        proving.is_rewritten = is_rewritten || replaced.is_some();
        let (reason, warnings) = match proving.prove() {
            Attempt::Proved(needs) => return proving.compare(needs, progress),
            Attempt::Failed(reason, warnings) => (reason, warnings),
        };
        let found = proving.prove_by_induction(&reason);
        if let Some(needs) = found.or_else(|| proving.prove_of_each(&reason)) {
            return proving.compare(needs, progress);
        }
        // An abstract run says most; a claim about a counter that may fail is not the user's.
        let says_more = |(known, suspects): (&UnknownReason, &Vec<Diagnostic>)| {
            let is_run = *known == UnknownReason::AbstractionTooCoarse;
            (is_run && suspects.is_empty(), is_run)
        };
        let found = (reason, warnings, proving.remarks, proving.stats);
        let is_better = failure.as_ref().is_none_or(|known: &(_, _, _, _)| {
            says_more((&found.0, &found.1)) >= says_more((&known.0, &known.1))
        });
        if is_better {
            failure = Some(found);
        }
    }

    let (reason, warnings, remarks, stats) = failure.expect("the question was asked");
    searching.remarks = remarks;
    searching.stats = stats;
    searching.refute(reason, warnings, progress)
}

/// How an abstraction is tried: what is kept of the control, with which facts, and of fields.
type Try = (Level, Option<Depth>, Detail);

/// What became of the attempt to prove a property.
enum Attempt {
    /// It holds, and what the proof needs.
    Proved(Vec<String>),
    Failed(UnknownReason, Vec<Diagnostic>),
}

struct Proving<'a> {
    question: &'a ForAll<'a>,
    /// What variables that were replaced count.
    counters: &'a [String],
    plan: &'a Plan,
    fairness: Fairness,
    remarks: Vec<String>,
    /// The least value of the parameter that was not looked at.
    next_value: i64,
    /// Values of the parameter for which no violation was found.
    satisfied: Vec<i64>,
    /// States of small instances.
    samples: Option<Vec<Sample>>,
    /// What was proved of all reachable states.
    facts: BTreeMap<(Detail, Depth), Facts>,
    /// Where the last abstraction suspects a run-time error.
    suspects: Vec<Span>,
    /// Reductions of the searches of abstractions.
    reduced: Reductions,
    /// Values of the parameter for which a search agrees with the proof.
    agreeing: Vec<i64>,
    /// What a certificate is made of.
    proof: Option<certify::Proof>,
    stats: engine::Stats,
    /// Is it about a process and its neighbours, of which much is assumed?
    is_step: bool,
    /// Will the question be asked again in another way?
    is_trial: bool,
    /// Is the template another one than that of the text?
    is_rewritten: bool,
}

impl<'a> Proving<'a> {
    fn new(
        question: &'a ForAll<'a>,
        counters: &'a [String],
        plan: &'a Plan,
        fairness: Fairness,
    ) -> Self {
        Self {
            question,
            counters,
            plan,
            fairness,
            remarks: Vec::new(),
            next_value: 0,
            satisfied: Vec::new(),
            samples: None,
            facts: BTreeMap::new(),
            suspects: Vec::new(),
            reduced: Reductions::NONE,
            agreeing: Vec::new(),
            proof: None,
            stats: engine::Stats::default(),
            is_step: false,
            is_trial: false,
            is_rewritten: false,
        }
    }

    /// Induction over the index of the process that the question is about, where the abstraction alone
    /// does not suffice. No certificate is made of it.
    fn prove_by_induction(&mut self, reason: &UnknownReason) -> Option<Vec<String>> {
        let is_apt = *reason == UnknownReason::AbstractionTooCoarse
            && !self.question.scope.hints.only
            && !self.is_safety();
        if !is_apt {
            return None;
        }
        let question = self.question;
        let property = &question.property.property;
        for step in induction_steps(question.template, question.scope, property) {
            let named = NamedProperty {
                property: step.property.clone(),
                ..question.property.clone()
            };
            let asked = ForAll {
                template: &step.template,
                property: &named,
                scope: &step.scope,
                ..*question
            };
            let mut proving = Proving::new(&asked, self.counters, self.plan, self.fairness);
            proving.is_step = true;
            proving.samples = self.samples.take();
            let attempt = proving.prove();
            self.samples = proving.samples.take();
            if let Attempt::Proved(mut needs) = attempt {
                needs.push(step.name.clone());
                self.remarks = std::mem::take(&mut proving.remarks);
                self.stats = proving.stats;
                return Some(needs);
            }
        }
        None
    }

    /// What is true of all processes from some time on, asked of each by itself. No certificate is made
    /// of it.
    fn prove_of_each(&mut self, reason: &UnknownReason) -> Option<Vec<String>> {
        let question = self.question;
        let is_apt = *reason == UnknownReason::AbstractionTooCoarse && !question.scope.hints.only;
        let property = &question.property.property;
        let step = about_each(question.template, question.scope, property).filter(|_| is_apt)?;

        let named = NamedProperty {
            property: step.property.clone(),
            ..question.property.clone()
        };
        let asked = ForAll {
            template: &step.template,
            property: &named,
            scope: &step.scope,
            ..*question
        };
        let mut proving = Proving::new(&asked, self.counters, self.plan, self.fairness);
        proving.is_trial = true;
        proving.samples = self.samples.take();
        let found = match proving.prove() {
            Attempt::Proved(needs) => Some(needs),
            Attempt::Failed(reason, _) => proving.prove_by_induction(&reason),
        };
        self.samples = proving.samples.take();

        let mut needs = found?;
        needs.push(step.name);
        self.remarks = std::mem::take(&mut proving.remarks);
        self.stats = proving.stats;
        Some(needs)
    }

    fn prove(&mut self) -> Attempt {
        let property = &self.question.property.property;
        let atoms = match property {
            Property::Ltl(formula) if formula.has_past() => {
                let why = "formulas with past operators are decided for given numbers of processes";
                return Attempt::Failed(UnknownReason::Unsupported(why.to_owned()), Vec::new());
            }
            Property::Ltl(formula) | Property::Invariant(formula) => formula.atoms(),
            Property::DeadlockFree => Vec::new(),
            Property::Reachable(_)
            | Property::CtlStar(_)
            | Property::Never(_)
            | Property::MayMust(_) => {
                let why = "only invariants, deadlock-freedom and formulas of LTL can be proved for all numbers of processes";
                return Attempt::Failed(UnknownReason::Unsupported(why.to_owned()), Vec::new());
            }
        };

        let atoms = with_assumed(&self.question.template.parts.assumptions, atoms);
        let asked = Asked {
            template: self.question.template,
            scope: self.question.scope,
            atoms: &atoms,
            fairness: self.fairness,
            span: self.question.property.span,
            detail: Detail::default(),
            facts: None,
        };
        let attempts = self.attempts();
        let mut remarks = Vec::new();
        let mut stopped = None;
        for (number, (level, depth, detail)) in attempts.iter().enumerate() {
            let is_last = number + 1 == attempts.len() && !self.has_fields();
            let asked = Asked {
                detail: *detail,
                ..asked
            };
            let budget = self.share(is_last);
            let found = match depth {
                None => abstraction(&asked, *level, &budget),
                Some(depth) => self.facts(&asked, *depth, &budget).and_then(|facts| {
                    let facts = Some(&facts);
                    abstraction(&Asked { facts, ..asked }, *level, &budget)
                }),
            };
            match found {
                Err(Obstacle::Unknown(unknown)) => stopped = Some(Obstacle::Unknown(unknown)),
                Err(obstacle) => return failed(obstacle),
                Ok(mut found) => match self.decide_with_visits(&asked, &mut found, &budget) {
                    Ok(needed) => {
                        // Certificates are about the text.
                        if !self.is_rewritten {
                            self.proof =
                                family_proof(self.question, self.fairness, &found, &needed);
                        }
                        return Attempt::Proved(names(&found, &needed));
                    }
                    Err(why) => remarks = why,
                },
            }
        }

        // What a finished attempt says is more useful than that another one was stopped.
        if let (Some(obstacle), true) = (stopped, remarks.is_empty()) {
            return failed(obstacle);
        }
        self.remarks.append(&mut remarks);
        let why = "it cannot be excluded that this fails: an index or value out of range";
        let suspects = self.suspects.iter();
        let warnings = suspects.map(|span| Diagnostic::warning("may-fail", *span, why));
        Attempt::Failed(UnknownReason::AbstractionTooCoarse, warnings.collect())
    }

    /// Cheap abstractions first. An author who says what is to be kept gets just that.
    fn attempts(&self) -> Vec<Try> {
        if self.has_fields() {
            return self.attempts_with_fields();
        }
        let plain = |(level, depth)| (level, depth, Detail::default());
        if self.question.scope.hints.only {
            return vec![plain((Level::Coarse, None))];
        }
        let attempts = if self.is_step {
            vec![
                (Level::Coarse, Some(Depth::Pairs)),
                (Level::Coarse, Some(Depth::Triples)),
                (Level::Coarse, Some(Depth::Neighbours)),
            ]
        } else if self.is_safety() {
            vec![
                (Level::Bare, Some(Depth::Pairs)),
                (Level::Coarse, None),
                (Level::Bare, Some(Depth::Triples)),
                (Level::Fine, None),
                (Level::Coarse, Some(Depth::Pairs)),
                (Level::Bare, Some(Depth::Neighbours)),
                (Level::Bare, Some(Depth::Parts)),
                (Level::Coarse, Some(Depth::Triples)),
                (Level::Fine, Some(Depth::Pairs)),
            ]
        } else {
            vec![
                (Level::Coarse, None),
                (Level::Coarse, Some(Depth::Pairs)),
                (Level::Fine, None),
                (Level::Fine, Some(Depth::Pairs)),
                (Level::Coarse, Some(Depth::Triples)),
                (Level::Coarse, Some(Depth::Neighbours)),
                (Level::Fine, Some(Depth::Triples)),
            ]
        };
        attempts.into_iter().map(plain).collect()
    }

    /// Every condition on the indices that all processes have is a set more, and every index of a
    /// distinguished process a position, so one thing is added at a time.
    fn attempts_with_fields(&self) -> Vec<Try> {
        if self.question.scope.hints.only {
            return vec![(Level::Coarse, None, Detail::All)];
        }
        let known = (Level::Coarse, None, Detail::Distinguished);
        if self.is_safety() {
            vec![
                known,
                (Level::Bare, Some(Depth::Pairs), Detail::Guards),
                (Level::Bare, Some(Depth::Pairs), Detail::All),
            ]
        } else {
            vec![known, (Level::Coarse, Some(Depth::Pairs), Detail::Guards)]
        }
    }

    fn has_fields(&self) -> bool {
        System::new(self.question.template).is_ok_and(|system| !system.fields.is_empty())
    }

    fn is_safety(&self) -> bool {
        !matches!(self.question.property.property, Property::Ltl(_))
    }

    /// What an attempt may spend: the last one everything, so that others get their turn.
    fn share(&self, is_last: bool) -> Budget {
        let budget = self.plan.budget.clone();
        if is_last && !self.is_step && !self.is_trial {
            return budget;
        }
        let bytes = budget
            .max_memory()
            .map_or(TRIAL_BYTES, |most| most.min(TRIAL_BYTES));
        budget
            .with_trial_states(TRIAL_STATES)
            .with_max_memory(bytes)
    }

    /// Facts of all reachable states, proved once for each depth.
    fn facts(
        &mut self,
        asked: &Asked<'_>,
        depth: Depth,
        budget: &Budget,
    ) -> Result<Facts, Obstacle> {
        if self.samples.is_none() {
            self.samples = Some(self.sampled());
        }
        let samples = self.samples.as_deref().unwrap_or_default();
        // Without samples all depths propose the same.
        let depth = if samples.is_empty() {
            Depth::Pairs
        } else {
            depth
        };
        if let Some(known) = self.facts.get(&(asked.detail, depth)) {
            return Ok(known.clone());
        }
        let found = facts(asked, samples, depth, budget)?;
        self.facts.insert((asked.detail, depth), found.clone());
        Ok(found)
    }

    /// States of small instances, breadth first.
    fn sampled(&self) -> Vec<Sample> {
        let Ok(system) = System::new(self.question.template) else {
            return Vec::new();
        };
        let mut samples = Vec::new();
        for value in 0..=MAX_SAMPLED {
            let Some((model, _)) = (self.question.instances)(value) else {
                continue;
            };
            for state in reached(&model) {
                samples.extend(Sample::new(&system, &model, value, &state));
            }
        }
        samples
    }

    /// What the proof on this abstraction needs, or why there is none. What fair runs visit is looked
    /// for only where nothing else suffices.
    fn decide_with_visits(
        &mut self,
        asked: &Asked<'_>,
        found: &mut Abstraction,
        budget: &Budget,
    ) -> Result<Selection, Vec<String>> {
        let decided = self.decide(found);
        if decided.is_ok() || self.is_safety() {
            return decided;
        }
        // Without an answer in time there are none, and the question is as open as before.
        found.visits = visits(asked, found, budget).unwrap_or_default();
        if found.visits.is_empty() {
            return decided;
        }
        self.decide(found)
    }

    /// What the proof on this abstraction needs, or why there is none.
    fn decide(&mut self, abstraction: &Abstraction) -> Result<Selection, Vec<String>> {
        let nothing = Selection::uniform(abstraction, false);
        self.stats.n_states = abstraction.graph.states.len() as u64;
        self.stats.n_transitions = abstraction.graph.edges.len() as u64;
        self.suspects.clone_from(&abstraction.suspects);
        if !abstraction.graph.failing_starts.is_empty() {
            return Err(vec![
                "some instance may have no initial state, because an initial value does not exist or does not fit"
                    .to_owned(),
            ]);
        }

        if abstraction.graph.initial.is_empty() {
            self.remarks
                .push("no instance has an initial state, so everything holds of them".to_owned());
            return Ok(nothing);
        }
        if !abstraction.graph.failures.is_empty() {
            return Err(vec![
                "the abstraction cannot exclude a run-time error of the model (an index or value out of range)"
                    .to_owned(),
            ]);
        }

        if self.question.property.property == Property::DeadlockFree {
            return if abstraction.graph.deadlocks.is_empty() {
                self.note_basis(abstraction);
                Ok(nothing)
            } else {
                let mut lines = self.deadlocks(abstraction);
                lines.extend(told::refuted(&abstraction.refuted));
                Err(lines)
            };
        }

        let everything = Selection::uniform(abstraction, true);
        let needed = if self.holds(abstraction, &nothing).is_ok() {
            nothing
        } else if let Err(mut lines) = self.holds(abstraction, &everything) {
            lines.extend(told::refuted(&abstraction.refuted));
            let refused = abstraction.refused.iter();
            lines.extend(refused.map(|refused| format!("not used: {refused}")));
            return Err(lines);
        } else {
            self.minimal(abstraction, everything)
        };

        self.note_basis(abstraction);
        Ok(needed)
    }

    /// Does the property hold of the abstraction under the selected conditions? If not, what the
    /// abstraction does instead.
    fn holds(
        &mut self,
        abstraction: &Abstraction,
        selection: &Selection,
    ) -> Result<(), Vec<String>> {
        let question = self.question;
        let assumptions = &question.template.parts.assumptions;
        let property = &question.property.property;
        let (parts, property) = core_model(abstraction, selection, property, assumptions);
        let model = parts
            .finish()
            .expect("an abstract model has nothing to be wrong about");
        let named = NamedProperty {
            property,
            fairness: None,
            ..question.property.clone()
        };
        let none = Fairness::default();
        let outcome = reduction::check(&model, &named, none, self.plan, &mut NoProgress);
        self.reduced = self.reduced.or(outcome.reduced);
        if outcome.stats.n_product_states.is_some() {
            self.stats.n_product_states = outcome.stats.n_product_states;
        }

        let violation = match outcome.verdict {
            Verdict::Holds { .. } => return Ok(()),
            Verdict::Violated(violation) => violation,
            Verdict::Unknown(_) => return Err(Vec::new()),
        };
        let Some(trace) = &violation.trace else {
            return Err(Vec::new());
        };
        let (what, missing) = if trace.loop_start.is_some() && !self.is_safety() {
            (
                "the abstraction has a run that may not exist:",
                "a ranking that the loop decreases, or a predicate that tells its states apart, would exclude it",
            )
        } else {
            (
                "the abstraction reaches a state that may not exist:",
                "an invariant that its last states do not satisfy, or a predicate that tells states on the way apart, would exclude it",
            )
        };
        let mut lines = vec![what.to_owned()];
        lines.extend(told::run(abstraction, &model, trace, !self.is_safety()));
        lines.push(format!(
            "{missing}: add it in `abstract for {} {{ … }}`",
            question.property.name
        ));
        Err(lines)
    }

    /// What the deadlocks of the abstraction look like.
    fn deadlocks(&self, abstraction: &Abstraction) -> Vec<String> {
        let graph = &abstraction.graph;
        let state = |number: usize| {
            let known = abstraction.predicates.iter().zip(&graph.states[number]);
            let held = known.filter(|(_, holds)| **holds);
            let names: Vec<&str> = held.map(|(p, _)| p.name.as_str()).collect();
            names.join("; ")
        };
        let mut lines = vec!["the abstraction reaches a deadlock that may not exist:".to_owned()];
        let shown = graph.deadlocks.iter().take(MAX_SHOWN);
        lines.extend(shown.map(|number| format!("  where {}", state(*number))));
        lines.push(format!(
            "an invariant that excludes it would do: add it in `abstract for {} {{ invariant …: … }}`",
            self.question.property.name
        ));
        lines
    }

    /// A selection of which nothing can be left out.
    fn minimal(&mut self, abstraction: &Abstraction, mut selection: Selection) -> Selection {
        for position in 0..selection.visits.len() {
            selection.visits[position] = false;
            selection.visits[position] = self.holds(abstraction, &selection).is_err();
        }
        for position in 0..selection.conditions.len() {
            selection.conditions[position] = false;
            selection.conditions[position] = self.holds(abstraction, &selection).is_err();
        }
        for position in (0..selection.rankings.len()).rev() {
            selection.rankings[position] = false;
            selection.rankings[position] = self.holds(abstraction, &selection).is_err();
        }
        selection
    }

    fn note_basis(&mut self, abstraction: &Abstraction) {
        let facts = abstraction.invariants.iter().map(|fact| &fact.name);
        let facts = self.counters.iter().chain(facts);
        let mut names: Vec<&str> = facts.map(String::as_str).collect();
        if !names.is_empty() {
            let n_more = names.len().saturating_sub(MAX_SHOWN);
            names.truncate(MAX_SHOWN);
            let more = match n_more {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let names = names.join(", ");
            self.remarks
                .push(format!("proved by induction and used: {names}{more}"));
        }
        if !abstraction.graph.deadlocks.is_empty() {
            self.remarks
                .push("deadlocks are possible in the abstraction, so idling is".to_owned());
        }
        for refused in &abstraction.refused {
            self.remarks.push(format!("not used: {refused}"));
        }
    }

    /// Compares a proof with small instances. Only those that were decided are claimed to agree.
    fn compare(mut self, needs: Vec<String>, progress: &mut dyn Progress) -> Result<Answer, Bug> {
        let template = self.question.template;
        let mut warnings = Vec::new();
        if self.question.cross_check {
            let beyond = beyond_constants(template, self.question.scope);
            let last = beyond.max(MAX_CHEAPLY_COMPARED);
            let mut effort = Effort::default();
            for value in 0..=last {
                let needs_cheap = value > beyond.max(MAX_COMPARED);
                if value > MAX_COMPARED && !effort.allows_more(needs_cheap) {
                    break;
                }
                let Some(outcome) = self.instance(value, progress)? else {
                    continue;
                };
                effort.note(&outcome);
                match outcome.verdict {
                    Verdict::Holds { .. } => {
                        self.agreeing.push(value);
                        warnings = outcome.warnings;
                    }
                    Verdict::Violated(_) => panic!(
                        "`{}` was proved for all values of {}, but is violated for {value}",
                        self.question.property.name, template.name
                    ),
                    Verdict::Unknown(_) => break,
                }
            }
            self.remarks
                .push(comparison(&template.name, &self.agreeing, beyond));
        }

        self.remarks.insert(0, format!("for all {}", template.name));
        if !needs.is_empty() {
            self.remarks
                .insert(1, format!("needs: {}", needs.join("; ")));
        }

        Ok(self.answer(Verdict::Holds { witness: None }, needs, warnings))
    }

    /// The smallest instance with a violation, among those up to a number of processes that were
    /// not looked at yet; from `affordable` on only as long as they are not too large together.
    fn violation(
        &mut self,
        affordable: i64,
        last: i64,
        progress: &mut dyn Progress,
    ) -> Result<Option<Answer>, Bug> {
        let name = &self.question.template.name;
        let mut effort = Effort::default();
        while self.next_value <= last {
            let value = self.next_value;
            if value > affordable && !effort.allows_more(false) {
                break;
            }
            self.next_value += 1;
            let Some(mut outcome) = self.instance(value, progress)? else {
                continue;
            };
            effort.note(&outcome);
            match outcome.verdict {
                Verdict::Violated(_) => {
                    let remark = if self.satisfied.is_empty() {
                        format!("for {name} = {value}")
                    } else {
                        format!("for {name} = {value}; smaller instances satisfy it")
                    };
                    outcome.remarks = vec![remark];
                    return Ok(Some(Answer {
                        outcome,
                        instance: Some(value),
                        needs: Vec::new(),
                    }));
                }
                Verdict::Holds { .. } => self.satisfied.push(value),
                Verdict::Unknown(_) => {
                    // Larger ones would not be decided either.
                    self.next_value = i64::MAX;
                    break;
                }
            }
        }

        Ok(None)
    }

    /// Says what can be written instead, and how to ask about a larger size than was searched.
    fn advise_for_unsupported(&mut self) {
        let name = &self.question.template.name;
        let larger = self.satisfied.iter().max().map_or(2, |largest| largest + 1);
        self.remarks.extend([
            IN_THE_CLASS.to_owned(),
            format!("to try: one size, with `-D {name}={larger}`"),
        ]);
    }

    /// Looks for a violation, having found no proof.
    fn refute(
        mut self,
        reason: UnknownReason,
        mut warnings: Vec<Diagnostic>,
        progress: &mut dyn Progress,
    ) -> Result<Answer, Bug> {
        let beyond = beyond_constants(self.question.template, self.question.scope);
        let last = beyond.max(MAX_SEARCHED);
        if let Some(answer) = self.violation(MAX_SEARCHED, last, progress)? {
            return Ok(answer);
        }
        if !self.satisfied.is_empty() {
            let name = &self.question.template.name;
            let values = listed(&self.satisfied);
            self.remarks
                .push(format!("no violation for {name} = {values}"));
        }
        if let UnknownReason::Unsupported(message) = &reason {
            if warnings.is_empty() {
                let span = self.question.property.span;
                warnings.push(Diagnostic::warning("unsupported", span, message.clone()));
            }
            self.advise_for_unsupported();
        }
        Ok(self.answer(Verdict::Unknown(reason), Vec::new(), warnings))
    }

    fn answer(self, verdict: Verdict, needs: Vec<String>, warnings: Vec<Diagnostic>) -> Answer {
        let outcome = Outcome {
            stats: self.stats,
            other_reductions: self.reduced,
            agreeing: self.agreeing,
            proof: self.proof,
            remarks: self.remarks,
            warnings,
            ..Outcome::new(Route::Ws1s, self.fairness, verdict)
        };
        Answer {
            outcome,
            instance: None,
            needs,
        }
    }

    fn instance(&self, value: i64, progress: &mut dyn Progress) -> Result<Option<Outcome>, Bug> {
        let Some((model, property)) = (self.question.instances)(value) else {
            return Ok(None);
        };
        let plan = Plan {
            fairness: Some(self.fairness),
            budget: self.plan.budget.clone().with_max_states(MAX_STATES),
            // An instance has no free parameter.
            route: self.plan.route.filter(|route| *route != Route::Ws1s),
            ..self.plan.clone()
        };
        crate::check(&model, &property, &plan, progress).map(Some)
    }
}

/// What to write instead of what cannot be treated.
const IN_THE_CLASS: &str = "to try: variables with few values, shared variables that hold an index, \
                            and arrays with one element for each process; \"The class\" in \
                            docs/explanation/parameterized.md has the whole list";

/// The names of what is selected.
fn names(abstraction: &Abstraction, selection: &Selection) -> Vec<String> {
    let rankings = abstraction.rankings.iter().zip(&selection.rankings);
    let mut names: Vec<String> = rankings
        .filter(|(_, chosen)| **chosen)
        .map(|(ranking, _)| format!("ranking {}", ranking.name))
        .collect();
    let conditions = abstraction.conditions.iter().zip(&selection.conditions);
    let chosen = conditions.filter(|(_, chosen)| **chosen);
    names.extend(chosen.map(|((condition, _), _)| condition.name.clone()));
    let visits = abstraction.visits.iter().zip(&selection.visits);
    let chosen = visits.filter(|(_, chosen)| **chosen);
    names.extend(chosen.map(|(visit, _)| visit.name.clone()));
    names
}

fn failed(obstacle: Obstacle) -> Attempt {
    match obstacle {
        Obstacle::Outside(outside) => {
            let warning =
                Diagnostic::warning("outside-class", outside.span, outside.message.clone());
            let reason = UnknownReason::Unsupported(outside.message);
            Attempt::Failed(reason, vec![warning])
        }
        Obstacle::Unknown(ws1s::Unknown::Stopped(reason)) => {
            Attempt::Failed(UnknownReason::Stopped(reason), Vec::new())
        }
        Obstacle::Unknown(ws1s::Unknown::TooManyTracks) => {
            Attempt::Failed(UnknownReason::SolverGaveUp, Vec::new())
        }
        Obstacle::Undecided(why) => Attempt::Failed(UnknownReason::Unsupported(why), Vec::new()),
    }
}

fn with_assumed(assumptions: &[Assumption], mut atoms: Vec<AtomId>) -> Vec<AtomId> {
    let mut stack: Vec<&Assumption> = assumptions.iter().collect();
    while let Some(assumption) = stack.pop() {
        match assumption {
            Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => atoms.push(*atom),
            Assumption::All(parts) | Assumption::Any(parts) => stack.extend(parts),
        }
    }
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}
