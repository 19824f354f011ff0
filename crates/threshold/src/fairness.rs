//! What fairness between processes says about the end of a run.
//!
//! Where rules form no cycle but loops that change no counter, every run ends in a configuration that is
//! repeated forever: each process stays where it is, and each guard keeps its truth. Something that a
//! process can do there is therefore possible forever or never, so weak and strong fairness say the same:
//! it happens again and again. A process that leaves its location does not come back, so only a loop can
//! happen again and again. A process that stays where it is does not owe anything if each group of rules
//! that has to be served has a loop that is possible there, or nothing that is possible.
//!
//! Conversely, if this is true of the last configuration, the same beginning can be continued fairly: all
//! processes take their loops in turn, and nothing else changes.

use base::{Fairness, FairnessKind};
use model::AnnotationKind;
use model::threshold::{Comparison, Condition, Individuals, Quantity, Sum, ThresholdAutomaton};

use crate::shape::Outside;

/// What is true from some point on in exactly those runs that are fair or can be made so without other
/// configurations.
///
/// # Errors
/// This is not known for the automaton, or for the notion of fairness.
pub fn fair_ends(
    automaton: &ThresholdAutomaton,
    individuals: &Individuals,
    fairness: Fairness,
) -> Result<Condition, Outside> {
    let groups = groups(automaton, individuals, fairness)?;
    if !groups.is_empty() {
        check_ends(automaton)?;
    }
    let mut parts = Vec::new();
    for group in &groups {
        for location in 0..automaton.locations.len() {
            let served = is_served(automaton, group, location);
            parts.push(served.ok_or_else(|| outside(automaton, "a number is too large"))?);
        }
    }
    Ok(Condition::all(parts))
}

fn outside(automaton: &ThresholdAutomaton, message: &str) -> Outside {
    Outside {
        message: message.to_owned(),
        span: automaton.span,
    }
}

/// The sets of rules one of which has to be taken again and again by each process for itself, if one is
/// possible.
fn groups(
    automaton: &ThresholdAutomaton,
    individuals: &Individuals,
    fairness: Fairness,
) -> Result<Vec<Vec<usize>>, Outside> {
    let all = 0..automaton.rules.len();

    let mut groups: Vec<Vec<usize>> = match fairness.kind {
        FairnessKind::None => Vec::new(),
        FairnessKind::Just => {
            let message = "justness is not decided for all parameters; `weak` implies it";
            return Err(outside(automaton, message));
        }
        FairnessKind::WeakProcess | FairnessKind::StrongProcess => vec![all.collect()],
        FairnessKind::Weak | FairnessKind::Strong => {
            let n_actions = individuals.actions.iter().max().map_or(0, |last| last + 1);
            let of_action = |action| {
                let rules = all.clone();
                rules
                    .filter(|rule| individuals.actions[*rule] == action)
                    .collect()
            };
            (0..n_actions).map(of_action).collect()
        }
        FairnessKind::StrongGlobal => all.map(|rule| vec![rule]).collect(),
    };

    if !fairness.annotated {
        return Ok(groups);
    }

    for annotation in &individuals.annotations {
        match annotation.kind {
            AnnotationKind::Weak | AnnotationKind::Strong => groups.push(annotation.rules.clone()),
            AnnotationKind::Just | AnnotationKind::Unconditional => {
                let words = annotation.kind.words();
                let message = format!(
                    "`{words}` is not decided for all parameters; `weak fair` and `strong fair` are"
                );
                return Err(outside(automaton, &message));
            }
        }
    }

    Ok(groups)
}

/// Does every run end in a configuration that is repeated forever?
fn check_ends(automaton: &ThresholdAutomaton) -> Result<(), Outside> {
    for rule in &automaton.rules {
        let is_loop = rule.source == rule.target;
        let message = if is_loop && !rule.update.is_empty() {
            "a loop changes a counter, so fairness is not decided for all parameters"
        } else if !is_loop && automaton.is_on_cycle(rule) {
            "a process can return to a location, so fairness is not decided for all parameters"
        } else {
            continue;
        };
        return Err(Outside {
            message: message.to_owned(),
            span: rule.span,
        });
    }
    Ok(())
}

/// Processes at the location owe no rule of the group; nothing if a number becomes too large.
fn is_served(
    automaton: &ThresholdAutomaton,
    group: &[usize],
    location: usize,
) -> Option<Condition> {
    let rules = group.iter().map(|rule| &automaton.rules[*rule]);
    let here = rules.filter(|rule| rule.source == location);
    let (loops, leaving): (Vec<_>, Vec<_>) = here.partition(|rule| rule.target == location);

    let is_possible = |rules: &[&model::threshold::Rule]| {
        Condition::any(rules.iter().map(|rule| rule.guard.clone()))
    };

    let nothing_owed = is_possible(&leaving).negation()?;
    if nothing_owed == Condition::Bool(true) {
        return Some(nothing_owed);
    }

    // Processes that can take a loop of the group need not leave.
    let quantity = Sum::of(Quantity::Location(location));
    let is_empty = Condition::Compare(quantity, Comparison::Zero);
    Some(Condition::any([
        is_empty,
        is_possible(&loops),
        nothing_owed,
    ]))
}
