//! What an abstract counterexample says, for a person whose question stays open.
//!
//! The states are told as differences, like those of any other trace, with locations, values and
//! predicates as the author of the model would write them.

use abstraction::predicate::{AbstractPath, Abstraction, Content, Domain, Program, show};
use evidence::{UnknownReason, View};
use logic::Property;
use smt::Term;

use super::setup::Check;

/// Longer counterexamples are cut.
const MAX_LINES: usize = 60;

/// There may be several facts for each combination of locations: more of them are only counted.
const MAX_SHOWN_FACTS: usize = 12;

/// A solver that can be asked besides this one.
pub(super) fn other_solver(name: &str) -> &'static str {
    match name {
        "z3" => "cvc5",
        _ => "z3",
    }
}

impl Check<'_> {
    /// Keeps a counterexample in words, in case that it remains. The loop starts after so many
    /// steps.
    pub(super) fn remember(
        &self,
        abstraction: &Abstraction<'_>,
        path: &AbstractPath,
        loop_start: Option<usize>,
    ) {
        let (program, domain) = (abstraction.program, &abstraction.domain);
        let fact = |slot: usize, value: i64| self.fact_in_words(program, domain, slot, value);
        let mut lines = Vec::new();
        let first = path.states[0].iter().enumerate();
        let start: Vec<String> = first.map(|(slot, value)| fact(slot, *value)).collect();
        lines.push(format!("  start: {}", start.join(", ")));

        for (position, transition) in path.transitions.iter().enumerate() {
            if loop_start == Some(position) {
                lines.push("  loop:".to_owned());
            }
            let pairs = path.states[position].iter().zip(&path.states[position + 1]);
            let changed = pairs.enumerate().filter(|(_, (old, new))| old != new);
            let changed: Vec<String> = changed.map(|(slot, (_, new))| fact(slot, *new)).collect();
            let commands = &program.transitions[*transition].commands;
            let names: Vec<String> = commands
                .iter()
                .map(|c| self.model.command_name(*c))
                .collect();
            lines.push(format!(
                "    {position}  {}  {}",
                names.join("/"),
                changed.join(", ")
            ));
        }
        let is_at_rest = loop_start == Some(path.transitions.len());
        self.is_at_rest.set(is_at_rest);
        if is_at_rest {
            lines.push("  and nothing happens any more".to_owned());
        }

        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES);
            lines.push("    …".to_owned());
        }
        let lines = lines.iter().map(|line| line.trim_end().to_owned());
        *self.remaining.borrow_mut() = lines.collect();
    }

    /// The counterexample that remained, and what may help. The solver had no answer to so many
    /// questions.
    pub(super) fn what_remains(
        &self,
        reason: &UnknownReason,
        n_refinements: usize,
        (solver, n_unanswered): (&str, u64),
    ) -> Vec<String> {
        let other = other_solver(solver);
        let mut lines = self.remaining.borrow().clone();
        if !lines.is_empty() {
            let title = "this abstract counterexample was neither found to happen nor excluded:";
            lines.insert(0, title.to_owned());
        }
        if n_refinements >= self.plan.predicate.max_refinements {
            lines.push(format!(
                "to try: more than {n_refinements} refinements, with `--max-refinements`"
            ));
        }
        let another = format!("to try: another solver, with `--solver {other}`");
        let advice = match reason {
            UnknownReason::SolverGaveUp => another.as_str(),
            UnknownReason::Stopped(_) => "to try: more time, with `--timeout`",
            UnknownReason::AbstractionTooCoarse if self.is_about_states() => {
                "to try: an invariant that excludes one of these steps, as a predicate: \
                 `abstract { name: x + y <= 4 }`, with your own expression"
            }
            UnknownReason::AbstractionTooCoarse if self.is_at_rest.get() => {
                "to try: a form of the last state's steps in which it is plain that one is possible; \
                 of `choose … where` with many values it is not"
            }
            UnknownReason::AbstractionTooCoarse => {
                "to try: an expression that falls in every round of the loop, compared with zero \
                 as a predicate: `abstract { name: x - y >= 0 }`, with your own expression; or \
                 fairness that forbids the loop"
            }
            _ => return lines,
        };
        lines.push(advice.to_owned());

        // Without an answer a step counts as possible, so another solver may exclude more.
        if n_unanswered > 0 && !matches!(reason, UnknownReason::SolverGaveUp) {
            lines.push(format!("{another}: {n_unanswered} questions had no answer"));
        }
        let bounded = "to try: values for parameters (`-D`) and bounds for numbers, and \
                       `--route explicit`";
        lines.push(bounded.to_owned());
        lines
    }

    fn is_about_states(&self) -> bool {
        matches!(
            self.property,
            Property::Invariant(_) | Property::Reachable(_) | Property::DeadlockFree
        )
    }

    /// What is proved of all reachable states, and where.
    pub(super) fn facts_in_words(&self, abstraction: &Abstraction<'_>) -> Vec<String> {
        let (program, domain) = (abstraction.program, &abstraction.domain);
        let mut lines = Vec::new();
        for fact in domain.facts.iter().take(MAX_SHOWN_FACTS) {
            let at = fact.at.iter();
            let at = at.map(|(slot, value)| self.fact_in_words(program, domain, *slot, *value));
            let mut place = at.collect::<Vec<_>>().join(", ");
            if place.is_empty() {
                place = "everywhere".to_owned();
            }
            lines.push(format!("  fact: {} ({place})", show(&fact.term)));
        }
        let n_more = domain.facts.len().saturating_sub(MAX_SHOWN_FACTS);
        if n_more > 0 {
            lines.push(format!("  and {n_more} more facts"));
        }
        lines
    }

    /// A component of an abstract state.
    pub(super) fn fact_in_words(
        &self,
        program: &Program,
        domain: &Domain,
        slot: usize,
        value: i64,
    ) -> String {
        let model = self.model;
        let Some((var, _)) = domain.kept.get(slot) else {
            return show(&domain.describe(program, slot, value));
        };
        match program.vars[*var].content {
            Content::Location(instance) => {
                let locations = &model.process_of(instance).locations;
                let location = usize::try_from(value).ok().and_then(|at| locations.get(at));
                let location = location.map_or("?", |location| location.as_str());
                format!("{} @ {location}", model.instance_name(instance))
            }
            Content::Cell(cell) => {
                let cell = &model.cells()[cell];
                let value = View::new(model).value_of(&model::Type::Scalar(cell.ty), &[value]);
                format!("{} = {value}", cell.name)
            }
            Content::Array(..) | Content::Length(_) | Content::Slot(..) => show(&Term::eq(
                program.vars[*var].term(),
                Term::Int(i128::from(value)),
            )),
        }
    }
}
