//! A message sequence chart in characters: one column per process, one row per step.
//!
//! A rendezvous is an arrow from sender to receiver. A buffered message is a mark where it is sent
//! and an arrow, from the lifeline of its sender, where it is received. Steps that several
//! processes take together are joined by a double line.

use std::collections::{BTreeMap, VecDeque};

use evidence::NamedStep;

use crate::StoredTrace;

/// The trace as a message sequence chart of the processes that move in it.
#[must_use]
pub fn chart(trace: &StoredTrace) -> String {
    let columns = columns(trace);
    if columns.is_empty() {
        return "no process moves in this trace\n".to_owned();
    }
    let mut chart = Chart {
        gap: columns
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0)
            .max(5)
            + 3,
        columns,
        in_flight: BTreeMap::new(),
        digits: trace.run.n_steps().saturating_sub(1).to_string().len(),
    };

    let mut out = chart.header();
    for step in 0..trace.run.n_steps() {
        if trace.run.loop_start == Some(step) {
            out += &chart.separator("loop");
        }
        out += &chart.row(step, &trace.run.states[step].step);
    }

    if trace.run.loop_start.is_some() {
        out += &chart.separator("back to loop");
    }
    out
}

/// The processes that move, in the order of the model (then of their first moves).
fn columns(trace: &StoredTrace) -> Vec<String> {
    let states = &trace.run.states[..trace.run.n_steps()];
    let moves = |name: &&String| states.iter().any(|state| state.step.movers.contains(name));
    let mut columns: Vec<String> = trace.meta.processes.iter().filter(moves).cloned().collect();
    for mover in states.iter().flat_map(|state| &state.step.movers) {
        if !columns.contains(mover) {
            columns.push(mover.clone());
        }
    }
    columns
}

struct Chart {
    columns: Vec<String>,
    /// The distance between two lifelines.
    gap: usize,
    /// Who sent the messages that a channel holds, oldest first.
    in_flight: BTreeMap<String, VecDeque<String>>,
    /// The width of step numbers.
    digits: usize,
}

impl Chart {
    /// Where the lifeline of a column is.
    fn lifeline(&self, column: usize) -> usize {
        self.digits + 1 + self.gap / 2 + column * self.gap
    }

    fn column_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    fn header(&self) -> String {
        let mut line = Line::default();
        for (column, name) in self.columns.iter().enumerate() {
            let half = name.chars().count() / 2;
            line.put(self.lifeline(column).saturating_sub(half), name);
        }
        line.finish() + &self.lifelines().finish()
    }

    fn lifelines(&self) -> Line {
        let mut line = Line::default();
        for column in 0..self.columns.len() {
            line.put(self.lifeline(column), "|");
        }
        line
    }

    fn separator(&self, text: &str) -> String {
        let width = self.lifeline(self.columns.len() - 1) + self.gap / 2;
        let mut line = Line::default();
        line.put(0, &"-".repeat(width));
        line.put(width + 1, text);
        line.finish()
    }

    fn row(&mut self, step: usize, state: &NamedStep) -> String {
        let mut line = self.lifelines();
        line.put(0, &format!("{step:>width$}", width = self.digits));
        let label = match (&state.actions, self.arrow(state)) {
            (None, _) => String::new(),
            (Some(actions), _) if actions.is_empty() => "idle".to_owned(),
            (Some(actions), None) => {
                self.draw_team(&mut line, &state.movers);
                actions.join(" & ")
            }
            (Some(actions), Some((from, to, note))) => {
                self.draw_arrow(&mut line, from, to);
                format!("{}  {note}", actions.join(" & "))
            }
        };
        let end = self.lifeline(self.columns.len() - 1) + self.gap / 2;
        line.put(end, &label);
        line.finish()
    }

    /// The columns at both ends of a message, and what is to be said about it.
    fn arrow(&mut self, state: &NamedStep) -> Option<(usize, usize, String)> {
        let message = state.communication.as_ref()?;
        let (channel, content) = (&message.channel, &message.message);
        let from = message.from.as_deref();
        let to = message.to.as_deref();

        match (from, to) {
            (Some(from), Some(to)) => {
                let note = format!("{channel}: {content}");
                Some((self.column_of(from)?, self.column_of(to)?, note))
            }
            (Some(from), None) => {
                let queue = self.in_flight.entry(channel.clone()).or_default();
                queue.push_back(from.to_owned());
                let column = self.column_of(from)?;
                Some((column, column, format!("{channel}!{content}")))
            }
            (None, Some(to)) => {
                let column = self.column_of(to)?;
                let queue = self.in_flight.entry(channel.clone()).or_default();
                // A foreign trace may receive what was never sent.
                let sender = queue.pop_front().and_then(|name| self.column_of(&name));
                let note = format!("{channel}?{content}");
                Some((sender.unwrap_or(column), column, note))
            }
            (None, None) => None,
        }
    }

    fn draw_arrow(&self, line: &mut Line, from: usize, to: usize) {
        let (start, end) = (self.lifeline(from), self.lifeline(to));
        let between = |a: usize, b: usize| "-".repeat(b - a - 2);
        match start.cmp(&end) {
            std::cmp::Ordering::Less => {
                line.put(start, &format!("o{}>*", between(start, end)));
            }
            std::cmp::Ordering::Greater => {
                line.put(end, &format!("*<{}o", between(end, start)));
            }
            std::cmp::Ordering::Equal => line.put(start, "*"),
        }
    }

    fn draw_team(&self, line: &mut Line, movers: &[String]) {
        let columns = movers.iter().filter_map(|mover| self.column_of(mover));
        let mut places: Vec<usize> = columns.map(|column| self.lifeline(column)).collect();
        places.sort_unstable();
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            line.put(*first, &"=".repeat(last - first + 1));
        }
        for place in places {
            line.put(place, "*");
        }
    }
}

/// A line of characters that can be written to at any place.
#[derive(Default)]
struct Line(Vec<char>);

impl Line {
    fn put(&mut self, at: usize, text: &str) {
        for (offset, character) in text.chars().enumerate() {
            if self.0.len() <= at + offset {
                self.0.resize(at + offset + 1, ' ');
            }
            self.0[at + offset] = character;
        }
    }

    fn finish(self) -> String {
        let line: String = self.0.into_iter().collect();
        format!("{}\n", line.trim_end())
    }
}
