//! `examples/peterson.fair`.

use stateright::{Model, Property};

use crate::MAX_SIZE;

/// Peterson's algorithm for `size` processes.
#[derive(Clone)]
pub struct Peterson {
    pub size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Location {
    Entering,
    Marking,
    Waiting,
    Critical,
}

/// The shared arrays and the processes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    position: [u8; MAX_SIZE],
    last: [u8; MAX_SIZE],
    level: [u8; MAX_SIZE],
    at: [Location; MAX_SIZE],
}

impl Peterson {
    fn may_pass(&self, state: &State, i: usize) -> bool {
        let level = state.level[i];
        let behind = |k: usize| k == i || state.position[k] < level;
        usize::from(state.last[usize::from(level)]) != i || (0..self.size).all(behind)
    }
}

impl Model for Peterson {
    type State = State;
    type Action = u8;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            position: [0; MAX_SIZE],
            last: [0; MAX_SIZE],
            level: [1; MAX_SIZE],
            at: [Location::Entering; MAX_SIZE],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<u8>) {
        for i in 0..self.size {
            if state.at[i] != Location::Waiting || self.may_pass(state, i) {
                actions.push(i as u8);
            }
        }
    }

    fn next_state(&self, state: &State, action: u8) -> Option<State> {
        let i = usize::from(action);
        let mut next = state.clone();

        next.at[i] = match state.at[i] {
            Location::Entering => {
                next.position[i] = state.level[i];
                Location::Marking
            }
            Location::Marking => {
                next.last[usize::from(state.level[i])] = action;
                Location::Waiting
            }
            Location::Waiting if usize::from(state.level[i]) < self.size - 1 => {
                next.level[i] += 1;
                Location::Entering
            }
            Location::Waiting => Location::Critical,
            Location::Critical => {
                next.position[i] = 0;
                next.level[i] = 1;
                Location::Entering
            }
        };

        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("exclusion", |_, state: &State| {
            let critical = state.at.iter().filter(|&&at| at == Location::Critical);
            critical.count() <= 1
        })]
    }
}
