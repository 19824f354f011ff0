//! Random texts about processes that create each other and end, and what they mean.
//!
//! What they mean is said with a table of the processes that exist, so that it has nothing in common
//! with members that wait to be created.

use std::collections::BTreeMap;

use crate::Random;

/// What can be seen: `last`, and of each process that exists its location and its variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Population {
    /// `last : 0..N`.
    pub last: i64,
    /// By index: the location, and `x : 0..2`.
    pub members: BTreeMap<i64, (usize, i64)>,
}

/// The member that takes a step, or `None` for a step of the boss.
type Mover = Option<i64>;

/// A process is created that exists, or more than there can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany;

/// Something that depends on a state and on who moves.
type Of<T> = Box<dyn Fn(&Population, Mover) -> T>;

/// What a step does: nothing if it is not possible, an error if that is one.
type Run = Of<Result<Option<Population>, TooMany>>;

/// A random text with its meaning.
pub struct PopulationText {
    /// The text.
    pub text: String,
    /// How many members there can be.
    n: i64,
    /// What a new member has in `x`.
    start: i64,
    outer: Vec<Run>,
    /// By location.
    inner: [Vec<Run>; 2],
}

impl PopulationText {
    /// The only initial state.
    #[must_use]
    pub fn initial(&self) -> Population {
        Population::default()
    }

    /// Where all steps lead, or an error.
    ///
    /// # Errors
    /// A process is created that exists, or more than there can be.
    pub fn successors(&self, state: &Population) -> Result<Vec<Population>, TooMany> {
        let mut found = Vec::new();
        for run in &self.outer {
            found.extend(run(state, None)?);
        }
        for (&index, &(location, _)) in &state.members {
            for run in &self.inner[location] {
                found.extend(run(state, Some(index))?);
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// How many members there can be.
    #[must_use]
    pub fn n(&self) -> i64 {
        self.n
    }

    /// What is in `x` of a process that does not exist.
    #[must_use]
    pub fn start(&self) -> i64 {
        self.start
    }
}

/// A random text.
pub fn population_text(random: &mut Random) -> PopulationText {
    let n = 1 + random.below(3) as i64;
    let start = random.below(3) as i64;
    let mut writer = Writer { random, n, start };

    let mut outer = Vec::new();
    let mut text = format!("const N = {n}\nvar last : 0..N = 0\n\nprocess Boss {{\n    end *\n");
    for number in 0..1 + writer.random.below(3) {
        let (step, run) = writer.step(false);
        text.push_str(&format!("    b{number} {step}\n"));
        outer.push(run);
    }

    text.push_str(&format!(
        "}}\n\nspawned process W(i in 1..N) {{\n    var x : 0..2 = {start}\n    init l0\n"
    ));

    let mut inner = [Vec::new(), Vec::new()];
    for (location, runs) in inner.iter_mut().enumerate() {
        text.push_str(&format!("    from l{location} {{\n"));
        for number in 0..1 + writer.random.below(2) {
            let (step, run) = writer.step(true);
            let (arrow, target) = writer.target(location);
            text.push_str(&format!("        w{number} {step}{arrow}\n"));
            runs.push(moved(run, target));
        }
        text.push_str("    }\n");
    }

    text.push_str(
        "}\n\ninvariant few: size(W) < N || last != 1\n\
         reachable two: exists k in W: W[k] @ l1 && W[k].x == 2\n\
         property again: always eventually (full(W) || empty(W))\n\
         property lives: W[1].created leads to !W[1].created\n\
         deadlockfree\n",
    );

    PopulationText {
        text,
        n,
        start,
        outer,
        inner,
    }
}

/// A step of a member, and where it is afterwards; without a location it does not exist any more.
fn moved(run: Run, target: Option<usize>) -> Run {
    Box::new(move |state, mover| {
        let index = mover.expect("a member moves");
        let Some(mut next) = run(state, mover)? else {
            return Ok(None);
        };
        match target {
            None => {
                next.members.remove(&index);
            }
            Some(target) => {
                next.members.entry(index).or_default().0 = target;
            }
        }
        Ok(Some(next))
    })
}

struct Writer<'r> {
    random: &'r mut Random,
    n: i64,
    start: i64,
}

/// A text and its value.
struct Term<T>(String, Of<T>);

fn term<T>(text: impl Into<String>, value: impl Fn(&Population, Mover) -> T + 'static) -> Term<T> {
    Term(text.into(), Box::new(value))
}

/// The variable of the process that moves.
fn own_x(state: &Population, mover: Mover) -> i64 {
    let index = mover.expect("a member moves");
    state.members[&index].1
}

impl Writer<'_> {
    fn target(&mut self, location: usize) -> (&'static str, Option<usize>) {
        match self.random.below(4) {
            0 => (" -> l0", Some(0)),
            1 => (" -> l1", Some(1)),
            2 => (" -> end", None),
            _ => ("", Some(location)),
        }
    }

    fn step(&mut self, inside: bool) -> (String, Run) {
        let Term(guard, is_possible) = self.guard(inside);
        let (effect, run) = self.effect(inside);
        let run: Run = Box::new(move |state, mover| {
            if is_possible(state, mover) {
                run(state, mover)
            } else {
                Ok(None)
            }
        });
        (format!("when {guard} {{ {effect} }}"), run)
    }

    fn guard(&mut self, inside: bool) -> Term<bool> {
        let n = self.n;
        match self.random.below(8) {
            0 => term("true", |_, _| true),
            1 | 2 => term("!full(W)", move |state, _| (state.members.len() as i64) < n),
            3 => {
                let most = self.random.below(3);
                let text = format!("size(W) <= {most}");
                term(text, move |state, _| state.members.len() <= most)
            }
            4 => term("empty(W)", |state, _| state.members.is_empty()),
            5 => {
                let index = 1 + self.random.below(n as usize) as i64;
                let text = format!("!W[{index}].created");
                term(text, move |state, _| !state.members.contains_key(&index))
            }
            6 => term("(exists k in W: W[k] @ l1)", |state, _| {
                state.members.values().any(|(location, _)| *location == 1)
            }),
            _ if inside => term("x < 2", |state, mover| own_x(state, mover) < 2),
            _ => term("last > 0", |state, _| state.last > 0),
        }
    }

    fn number(&mut self, inside: bool) -> Term<i64> {
        match self.random.below(4) {
            0 if inside => term("x", own_x),
            1 => term("min(2, last)", |state, _| state.last.min(2)),
            2 => term("min(2, size(W))", |state, _| {
                (state.members.len() as i64).min(2)
            }),
            _ => {
                let value = self.random.below(3) as i64;
                term(value.to_string(), move |_, _| value)
            }
        }
    }

    fn effect(&mut self, inside: bool) -> (String, Run) {
        let (n, start) = (self.n, self.start);
        let Term(text, value) = self.number(inside);
        match self.random.below(9) {
            0 | 1 => (
                "spawn W".to_owned(),
                Box::new(move |s, _| created(s, n, start)),
            ),
            2 => (
                format!("spawn W with x = {text}"),
                Box::new(move |s, m| created(s, n, value(s, m))),
            ),
            3 => (
                "let k = spawn W; last := k".to_owned(),
                Box::new(move |s, _| numbered(s, n, start)),
            ),
            4 => (
                format!("last := spawn W with x = {text}"),
                Box::new(move |s, m| numbered(s, n, value(s, m))),
            ),
            5 => (
                "for k in 1..2 { if size(W) < k { spawn W } }".to_owned(),
                Box::new(move |s, _| {
                    let mut state = s.clone();
                    for k in 1..=2 {
                        if state.members.len() < k {
                            state = created(&state, n, start)?.ok_or(TooMany)?;
                        }
                    }
                    Ok(Some(state))
                }),
            ),
            6 => {
                let index = 1 + self.random.below(n as usize) as i64;
                let text = format!("spawn W[{index}] with x = {text}");
                let run: Run = Box::new(move |s, m| {
                    let mut next = s.clone();
                    let old = next.members.insert(index, (0, value(s, m)));
                    old.map_or(Ok(Some(next)), |_| Err(TooMany))
                });
                (text, run)
            }
            7 if inside => (
                format!("x := {text}"),
                Box::new(move |s, m| {
                    let mut next = s.clone();
                    let index = m.expect("a member moves");
                    next.members.entry(index).or_default().1 = value(s, m);
                    Ok(Some(next))
                }),
            ),
            _ => (
                "last := size(W)".to_owned(),
                Box::new(|s, _| {
                    let mut next = s.clone();
                    next.last = next.members.len() as i64;
                    Ok(Some(next))
                }),
            ),
        }
    }
}

/// The first index that is free becomes a member.
fn created(state: &Population, n: i64, x: i64) -> Result<Option<Population>, TooMany> {
    let free = (1..=n).find(|index| !state.members.contains_key(index));
    let mut next = state.clone();
    next.members.insert(free.ok_or(TooMany)?, (0, x));
    Ok(Some(next))
}

/// The same, and `last` is its index.
fn numbered(state: &Population, n: i64, x: i64) -> Result<Option<Population>, TooMany> {
    let free = (1..=n).find(|index| !state.members.contains_key(index));
    let next = created(state, n, x)?;
    Ok(next.map(|next| Population {
        last: free.unwrap_or_default(),
        ..next
    }))
}
