//! The route for families of any number of processes: an abstraction by way of WS1S proves, small
//! instances refute.
//!
//! *Holds* means for every value of the parameter; it comes from the abstraction alone. *Violated*
//! comes from the explicit route on the smallest instance that has a violation, validated like any
//! other. The abstraction is tried coarse, then fine. Unless that is forbidden, what is proved is
//! compared with the explicit route on small instances. Numbers in the text make small instances
//! special, so both go beyond all of them where the instances are small enough.

use abstraction::parameterized::{
    Abstraction, Asked, Level, Obstacle, Selection, abstraction, core_model,
};
use base::{AtomId, Diagnostic, Fairness, FairnessKind, NoProgress, Progress, Route, Span};
use evidence::{UnknownReason, Verdict};
use logic::{NamedProperty, Property};
use model::{Assumption, Expr, Model, RecordType, Scope, Template, Type};

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

/// After an instance with more states than this the next one is not cheap.
const MAX_CHEAP_STATES: u64 = 5_000;

/// Numbers in the text beyond this are not followed.
const MAX_FOLLOWED: i64 = 40;

/// Instances beyond those that are always looked at may have so many states together.
const MAX_STATES_TOGETHER: u64 = 600_000;

/// Instances with more states than this are not searched to the end.
const MAX_STATES: u64 = 300_000;

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
    let mut proving = Proving {
        question,
        plan,
        fairness,
        remarks: Vec::new(),
        next_value: 0,
        satisfied: Vec::new(),
        suspects: Vec::new(),
        reduced: Reductions::NONE,
        agreeing: Vec::new(),
        proof: None,
        stats: engine::Stats::default(),
    };

    // Most violations show on very few processes, long before a proof has failed.
    if let Some(answer) = proving.violation(MAX_TRIED, MAX_TRIED, progress)? {
        return Ok(answer);
    }
    match proving.prove() {
        Attempt::Proved(needs) => proving.compare(needs, progress),
        Attempt::Failed(reason, warnings) => proving.refute(reason, warnings, progress),
    }
}

/// What became of the attempt to prove a property.
enum Attempt {
    /// It holds, and what the proof needs.
    Proved(Vec<String>),
    Failed(UnknownReason, Vec<Diagnostic>),
}

struct Proving<'a> {
    question: &'a ForAll<'a>,
    plan: &'a Plan,
    fairness: Fairness,
    remarks: Vec<String>,
    /// The least value of the parameter that was not looked at.
    next_value: i64,
    /// Values of the parameter for which no violation was found.
    satisfied: Vec<i64>,
    /// Where the last abstraction suspects a run-time error.
    suspects: Vec<Span>,
    /// Reductions of the searches of abstractions.
    reduced: Reductions,
    /// Values of the parameter for which a search agrees with the proof.
    agreeing: Vec<i64>,
    /// What a certificate is made of.
    proof: Option<certify::Proof>,
    stats: engine::Stats,
}

impl Proving<'_> {
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
        let mut remarks = Vec::new();
        for (level, search_invariants) in self.attempts() {
            let asked = Asked {
                template: self.question.template,
                scope: self.question.scope,
                atoms: &atoms,
                fairness: self.fairness,
                span: self.question.property.span,
                search_invariants,
            };
            match abstraction(&asked, level, &self.plan.budget) {
                Err(obstacle) => return failed(obstacle),
                Ok(found) => match self.decide(&found) {
                    Ok(needed) => {
                        self.proof = family_proof(self.question, self.fairness, &found, &needed);
                        return Attempt::Proved(names(&found, &needed));
                    }
                    Err(why) => remarks = why,
                },
            }
        }

        self.remarks.append(&mut remarks);
        let why = "it cannot be excluded that this fails: an index or value out of range";
        let suspects = self.suspects.iter();
        let warnings = suspects.map(|span| Diagnostic::warning("may-fail", *span, why));
        Attempt::Failed(UnknownReason::AbstractionTooCoarse, warnings.collect())
    }

    /// Cheap abstractions first. An author who says what is to be kept gets just that.
    fn attempts(&self) -> Vec<(Level, bool)> {
        if self.question.scope.hints.only {
            vec![(Level::Coarse, false)]
        } else {
            vec![
                (Level::Coarse, false),
                (Level::Fine, false),
                (Level::Coarse, true),
                (Level::Fine, true),
            ]
        }
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
                Err(vec![
                    "some abstract state that can be reached describes a deadlock; an invariant may exclude it"
                        .to_owned(),
                ])
            };
        }

        let everything = Selection::uniform(abstraction, true);
        let needed = if self.holds(abstraction, &nothing).0 {
            nothing
        } else {
            let (holds, verdict) = self.holds(abstraction, &everything);
            if !holds {
                return Err(self.why_not(abstraction, &verdict));
            }
            self.minimal(abstraction, everything)
        };

        self.note_basis(abstraction);
        Ok(needed)
    }

    /// Does the property hold of the abstraction under the selected conditions?
    fn holds(&mut self, abstraction: &Abstraction, selection: &Selection) -> (bool, Verdict) {
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
        (
            matches!(outcome.verdict, Verdict::Holds { .. }),
            outcome.verdict,
        )
    }

    /// A selection of which nothing can be left out.
    fn minimal(&mut self, abstraction: &Abstraction, mut selection: Selection) -> Selection {
        for position in 0..selection.conditions.len() {
            selection.conditions[position] = false;
            selection.conditions[position] = !self.holds(abstraction, &selection).0;
        }
        for position in (0..selection.rankings.len()).rev() {
            selection.rankings[position] = false;
            selection.rankings[position] = !self.holds(abstraction, &selection).0;
        }
        selection
    }

    fn note_basis(&mut self, abstraction: &Abstraction) {
        let facts = &abstraction.invariants;
        if !facts.is_empty() {
            let mut names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
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

    /// The abstract loop that is left, and what might exclude it.
    fn why_not(&self, abstraction: &Abstraction, verdict: &Verdict) -> Vec<String> {
        let mut lines = Vec::new();
        if let Verdict::Violated(violation) = verdict
            && let Some(trace) = &violation.trace
        {
            let name = |position: usize| {
                let state = trace.states[position].locations[0].index();
                let truth = &abstraction.graph.states[state];
                let known = abstraction.predicates.iter().zip(truth);
                let held: Vec<&str> = known
                    .filter(|(_, t)| **t)
                    .map(|(p, _)| p.name.as_str())
                    .collect();
                held.join("; ")
            };
            match trace.loop_start {
                Some(start) => {
                    lines.push(format!(
                        "the abstraction has a loop that may not exist; it starts where {}",
                        name(start)
                    ));
                    lines.push(
                        "a ranking that such a loop decreases, or a predicate that tells its states apart, would exclude it: add it in an `abstract` block"
                            .to_owned(),
                    );
                }
                None => {
                    let last = trace.states.len() - 1;
                    lines.push(format!(
                        "the abstraction reaches a state that may not exist, where {}",
                        name(last)
                    ));
                    lines.push(
                        "an invariant or a predicate that excludes it can be added in an `abstract` block"
                            .to_owned(),
                    );
                }
            }
        }

        let refused = abstraction
            .refused
            .iter()
            .map(|refused| format!("not used: {refused}"));
        lines.extend(refused);
        lines
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
        if let UnknownReason::Unsupported(message) = &reason
            && warnings.is_empty()
        {
            let span = self.question.property.span;
            warnings.push(Diagnostic::warning("unsupported", span, message.clone()));
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

/// How much work instances have been.
#[derive(Default)]
struct Effort {
    n_last: u64,
    n_together: u64,
}

impl Effort {
    fn note(&mut self, outcome: &Outcome) {
        self.n_last = outcome.stats.n_states;
        self.n_together += self.n_last;
    }

    /// Is one more instance affordable, or even cheap?
    fn allows_more(&self, cheaply: bool) -> bool {
        self.n_together <= MAX_STATES_TOGETHER && (!cheaply || self.n_last <= MAX_CHEAP_STATES)
    }
}

/// A value of the parameter beyond every number that the template or the question mentions, as far
/// as such numbers are followed.
fn beyond_constants(template: &Template, scope: &Scope) -> i64 {
    let mut greatest = 0;
    let mut note = |value: i64| {
        // The end of an open range is a distance from the parameter.
        let value = model::as_open_end(value).unwrap_or(value);
        let size = i64::try_from(value.unsigned_abs()).unwrap_or(i64::MAX);
        if size <= MAX_FOLLOWED {
            greatest = greatest.max(size);
        }
    };

    for process in &template.parts.processes {
        if let Some(range) = &process.index {
            note(range.lo);
            note(range.hi);
        }
    }

    for variable in &template.parts.vars {
        numbers_of_type(&variable.ty, &template.parts.records, &mut note);
    }

    let mut in_expr = |expr: &Expr| {
        expr.walk(&mut |inner| inner.as_literal().into_iter().for_each(&mut note));
    };
    template.parts.for_each_operand(&mut in_expr);
    for distinguished in &scope.distinguished {
        in_expr(&distinguished.lo);
        in_expr(&distinguished.hi);
    }

    in_expr(&scope.condition);
    greatest + 2
}

/// Visits the bounds of the ranges that a type consists of.
fn numbers_of_type(ty: &Type, records: &[RecordType], note: &mut dyn FnMut(i64)) {
    match ty {
        Type::Scalar(scalar) => {
            let (lo, hi) = scalar.bounds();
            note(lo);
            note(hi);
        }
        Type::Array(array) => {
            note(array.lo);
            numbers_of_type(&array.element, records, note);
        }
        Type::Record(id) => {
            for (_, ty) in &records[id.index()].fields {
                numbers_of_type(ty, records, note);
            }
        }
    }
}

/// What was compared, and what not although numbers in the text suggest it.
fn comparison(name: &str, compared: &[i64], beyond: i64) -> String {
    match compared.last() {
        None => "no instance was compared".to_owned(),
        Some(last) => {
            let agree = format!("instances {name} = {} agree", listed(compared));
            if *last >= beyond {
                return agree;
            }
            let greatest = beyond - 2;
            format!("{agree}; larger ones were not compared although {greatest} is mentioned")
        }
    }
}

/// Values as a list, shortened in the middle.
fn listed(values: &[i64]) -> String {
    let text = |values: &[i64]| -> String {
        let texts: Vec<String> = values.iter().map(i64::to_string).collect();
        texts.join(", ")
    };
    match values {
        [first, second, .., last] if values.len() > 8 => format!("{first}, {second}, …, {last}"),
        values => text(values),
    }
}

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
