//! `examples/philosophers.fair`.

use stateright::{Model, Property};

use crate::MAX_SIZE;

/// Dining philosophers who all take their left fork first.
#[derive(Clone)]
pub struct Philosophers {
    pub size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Location {
    Thinking,
    Hungry,
    Ready,
    FullUp,
    Leaving,
}

/// The forks and the philosophers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    taken: [bool; MAX_SIZE],
    at: [Location; MAX_SIZE],
}

impl Model for Philosophers {
    type State = State;
    type Action = u8;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            taken: [false; MAX_SIZE],
            at: [Location::Thinking; MAX_SIZE],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<u8>) {
        for i in 0..self.size {
            let blocked = match state.at[i] {
                Location::Thinking => state.taken[i],
                Location::Hungry => state.taken[(i + 1) % self.size],
                _ => false,
            };
            if !blocked {
                actions.push(i as u8);
            }
        }
    }

    fn next_state(&self, state: &State, action: u8) -> Option<State> {
        let i = usize::from(action);
        let right = (i + 1) % self.size;
        let mut next = state.clone();

        next.at[i] = match state.at[i] {
            Location::Thinking => {
                next.taken[i] = true;
                Location::Hungry
            }
            Location::Hungry => {
                next.taken[right] = true;
                Location::Ready
            }
            Location::Ready => Location::FullUp,
            Location::FullUp => {
                next.taken[i] = false;
                Location::Leaving
            }
            Location::Leaving => {
                next.taken[right] = false;
                Location::Thinking
            }
        };

        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("holds its fork", |_, state: &State| {
            let mut forks = state.at.iter().zip(state.taken);
            forks.all(|(&at, taken)| at != Location::FullUp || taken)
        })]
    }
}
