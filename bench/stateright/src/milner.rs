//! `examples/milner.fair`.

use stateright::{Model, Property};

use crate::MAX_SIZE;

/// Milner's cyclic scheduler.
#[derive(Clone)]
pub struct Milner {
    pub size: usize,
}

/// Where a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    Waiting,
    Ready,
    Both,
    Working,
    Passing,
}

/// A step of one cell, or of a cell and its successor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    Begin(u8),
    Work(u8),
    Pass(u8),
}

impl Milner {
    fn successor(&self, cell: usize) -> usize {
        (cell + 1) % self.size
    }
}

impl Model for Milner {
    type State = [Location; MAX_SIZE];
    type Action = Step;

    fn init_states(&self) -> Vec<Self::State> {
        let mut cells = [Location::Waiting; MAX_SIZE];
        cells[0] = Location::Ready;
        vec![cells]
    }

    fn actions(&self, cells: &Self::State, actions: &mut Vec<Step>) {
        for i in 0..self.size {
            let cell = i as u8;
            if cells[i] == Location::Ready {
                actions.push(Step::Begin(cell));
            }
            if matches!(cells[i], Location::Both | Location::Working) {
                actions.push(Step::Work(cell));
            }
            let passes = matches!(cells[i], Location::Both | Location::Passing);
            if passes && cells[self.successor(i)] == Location::Waiting {
                actions.push(Step::Pass(cell));
            }
        }
    }

    fn next_state(&self, cells: &Self::State, step: Step) -> Option<Self::State> {
        let mut next = *cells;

        match step {
            Step::Begin(cell) => next[usize::from(cell)] = Location::Both,
            Step::Work(cell) => {
                let cell = usize::from(cell);
                next[cell] = match cells[cell] {
                    Location::Both => Location::Passing,
                    _ => Location::Waiting,
                };
            }
            Step::Pass(cell) => {
                let cell = usize::from(cell);
                next[cell] = match cells[cell] {
                    Location::Both => Location::Working,
                    _ => Location::Waiting,
                };
                next[self.successor(cell)] = Location::Ready;
            }
        }

        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("deadlock free", |model: &Self, cells| {
            let mut actions = Vec::new();
            model.actions(cells, &mut actions);
            !actions.is_empty()
        })]
    }
}
