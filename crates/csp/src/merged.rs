//! Events that are not told apart, and which answers depend on them.
//!
//! An event that carries very many different values keeps one name, `e._`, for all of them. The
//! steps of the system are still exact: which event a step is called after changes nothing about where it
//! leads, except through what looks at names. These are alphabets, hidden sets, formulas, fairness
//! of actions, and the comparison of systems. A question that may be answered through one of them
//! is not answered at all.

use std::collections::{BTreeMap, BTreeSet};

use base::{Source, Span};
use source::Doubts;

use super::discovery::{MAX_VALUES, Values, of_event};
use super::term::Machine;

/// The merged events of a system, each with a place where it is performed.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedEvents {
    place_by_base: BTreeMap<String, Span>,
}

impl MergedEvents {
    /// Notes that the values of an event are not told apart.
    pub(crate) fn add(&mut self, name: &str, span: Span) {
        let known = self.place_by_base.entry(base_of(name).to_owned());
        known.or_insert(span);
    }

    /// Are values of this event not told apart?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.place_by_base.contains_key(base_of(name))
    }

    /// Why nothing is known about an event with this name, if it may be a merged one.
    pub(crate) fn why(&self, event: &str, sources: &[Source]) -> Option<String> {
        let base = base_of(event);
        let span = self.place_by_base.get(base)?;
        Some(explain(base, *span, sources))
    }

    /// The same, for any merged event.
    pub(crate) fn why_any(&self, sources: &[Source]) -> Option<String> {
        let (base, span) = self.place_by_base.first_key_value()?;
        Some(explain(base, *span, sources))
    }
}

impl Machine<'_> {
    /// Adds the values of events in open alphabets and hidden sets that are known from the text. Says
    /// whether there are new ones.
    pub(crate) fn name_open_values(&self, values: &mut Values) -> bool {
        let mut has_grown = false;
        for name in self.open.keys() {
            let known = values.entry(format!("{name}.")).or_default();
            for numbers in of_event(&self.occurring, name) {
                has_grown |= known.len() <= MAX_VALUES && known.insert(numbers.clone());
            }
        }
        has_grown
    }

    /// A value that an open alphabet or hidden set may lack leaves synchronisation and hiding
    /// open.
    pub(crate) fn doubt_open_values(&mut self) {
        for (name, span) in &self.open {
            let known: BTreeSet<&Vec<i64>> = of_event(&self.mentioned, name).collect();
            let mut occurring = of_event(&self.occurring, name);
            if occurring.any(|numbers| !known.contains(numbers)) {
                self.merged.add(name, *span);
            }
        }
    }

    /// What of the system depends on merged events. Synchronisation and hiding go by name, and
    /// hiding decides what an external choice or an interrupt is resolved by.
    pub(crate) fn doubts(&self, assumed: Option<String>) -> Doubts {
        let mut names = self.sets.iter().flatten();
        let named = names.find_map(|name| self.merged.why(name, self.sources));
        Doubts {
            names: self.merged.why_any(self.sources),
            steps: assumed.or(named),
            is_annotated: !self.parts.annotations.is_empty(),
        }
    }
}

/// The name of an event or channel without values and indices.
fn base_of(event: &str) -> &str {
    event.split(['.', '!', '?', '[']).next().unwrap_or(event)
}

fn explain(base: &str, span: Span, sources: &[Source]) -> String {
    let source = sources.get(span.source.index());
    let line = source.map_or(0, |source| source.line_column(span.start as usize).0);
    format!(
        "the answer may depend on the events of `{base}` (line {line}), whose values have no known \
         small range, so that they are not told apart; give the variables that they carry a range, \
         as in `var x:{{0..9}} = 0;`"
    )
}
