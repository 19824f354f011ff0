//! `examples/population/le_r.fair`.

use stateright::{Model, Property};

use crate::MAX_SIZE;

/// Leader election on a ring, from every configuration.
#[derive(Clone)]
pub struct Ring {
    pub size: usize,
}

/// The nodes and the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    bullet: [bool; MAX_SIZE],
    leader: [bool; MAX_SIZE],
    shield: [bool; MAX_SIZE],
    correct: bool,
    guess: bool,
}

/// A rule of a node, or a step of the detector.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    Rule(u8, u8),
    Oracle,
    Guess(bool),
}

impl State {
    fn exist(&self) -> bool {
        if self.correct {
            self.leader.contains(&true)
        } else {
            self.guess
        }
    }
}

impl Ring {
    fn enabled(&self, state: &State, exist: bool, rule: u8, i: usize) -> bool {
        let right = (i + 1) % self.size;
        match rule {
            1 => !exist,
            2 => exist && !state.leader[i] && state.shield[i],
            3 => exist && state.leader[i] && state.shield[i],
            4 => exist && state.leader[i] && !state.shield[i] && !state.bullet[right],
            _ => exist && !state.shield[i] && state.bullet[right],
        }
    }

    fn apply(&self, next: &mut State, rule: u8, i: usize) {
        let right = (i + 1) % self.size;
        match rule {
            1 => {
                next.bullet[i] = true;
                next.leader[i] = true;
                next.shield[i] = true;
            }
            2 | 3 => {
                if rule == 3 {
                    next.bullet[i] = true;
                }
                next.shield[i] = false;
                next.bullet[right] = false;
                next.shield[right] = true;
            }
            4 => next.bullet[i] = true,
            _ => {
                next.bullet[i] = true;
                next.leader[i] = false;
                next.bullet[right] = false;
            }
        }
    }
}

impl Model for Ring {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let bits = |word: usize, from: usize| {
            let mut array = [false; MAX_SIZE];
            for (i, bit) in array[..self.size].iter_mut().enumerate() {
                *bit = word >> (from + i) & 1 == 1;
            }
            array
        };
        let configuration = |word: usize| State {
            bullet: bits(word, 0),
            leader: bits(word, self.size),
            shield: bits(word, 2 * self.size),
            correct: false,
            guess: false,
        };
        (0..1 << (3 * self.size)).map(configuration).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        let exist = state.exist();
        for i in 0..self.size {
            let enabled = |rule: &u8| self.enabled(state, exist, *rule, i);
            actions.extend(
                (1..=5)
                    .filter(enabled)
                    .map(|rule| Step::Rule(rule, i as u8)),
            );
        }
        actions.extend([Step::Oracle, Step::Guess(false), Step::Guess(true)]);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        match step {
            Step::Rule(rule, i) => self.apply(&mut next, rule, usize::from(i)),
            Step::Oracle => next.correct = true,
            Step::Guess(guess) => next.guess = guess,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing", |_, _| true)]
    }
}
