//! `examples/bench/german.fair`.

use stateright::{Model, Property};

use crate::MAX_SIZE;

/// German's cache coherence protocol with `size` clients.
#[derive(Clone)]
pub struct German {
    pub size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Access {
    Nothing,
    Shared,
    Exclusive,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Silence,
    Invalidate,
    GrantShared,
    GrantExclusive,
}

/// The clients, what is between them and the directory, and the directory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    cache: [Access; MAX_SIZE],
    request: [Access; MAX_SIZE],
    message: [Message; MAX_SIZE],
    ack: [bool; MAX_SIZE],
    command: Access,
    client: u8,
    sharer: [bool; MAX_SIZE],
    to_invalidate: [bool; MAX_SIZE],
    owned: bool,
}

/// A step of a client, or of the directory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    AskShared(u8),
    AskExclusive(u8),
    GiveUp(u8),
    Get(u8),
    Pick(u8),
    InvalidateOne(u8),
    Collect(u8),
    GrantShared,
    GrantExclusive,
}

impl German {
    fn client_steps(state: &State, i: usize, actions: &mut Vec<Step>) {
        let client = i as u8;
        if state.request[i] == Access::Nothing {
            if state.cache[i] == Access::Nothing {
                actions.push(Step::AskShared(client));
            }
            if state.cache[i] != Access::Exclusive {
                actions.push(Step::AskExclusive(client));
            }
        }
        match state.message[i] {
            Message::Invalidate if !state.ack[i] => actions.push(Step::GiveUp(client)),
            Message::GrantShared | Message::GrantExclusive => actions.push(Step::Get(client)),
            _ => {}
        }
    }

    fn directory_steps(state: &State, i: usize, actions: &mut Vec<Step>) {
        let client = i as u8;
        if state.command == Access::Nothing && state.request[i] != Access::Nothing {
            actions.push(Step::Pick(client));
        }
        let in_the_way =
            state.command == Access::Exclusive || state.command == Access::Shared && state.owned;
        if in_the_way && state.to_invalidate[i] && state.message[i] == Message::Silence {
            actions.push(Step::InvalidateOne(client));
        }
        if state.command != Access::Nothing && state.ack[i] {
            actions.push(Step::Collect(client));
        }
    }
}

impl Model for German {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            cache: [Access::Nothing; MAX_SIZE],
            request: [Access::Nothing; MAX_SIZE],
            message: [Message::Silence; MAX_SIZE],
            ack: [false; MAX_SIZE],
            command: Access::Nothing,
            client: 0,
            sharer: [false; MAX_SIZE],
            to_invalidate: [false; MAX_SIZE],
            owned: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for i in 0..self.size {
            Self::client_steps(state, i, actions);
            Self::directory_steps(state, i, actions);
        }
        if state.message[usize::from(state.client)] == Message::Silence {
            if state.command == Access::Shared && !state.owned {
                actions.push(Step::GrantShared);
            }
            if state.command == Access::Exclusive && !state.sharer.contains(&true) {
                actions.push(Step::GrantExclusive);
            }
        }
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();

        match step {
            Step::AskShared(i) => next.request[usize::from(i)] = Access::Shared,
            Step::AskExclusive(i) => next.request[usize::from(i)] = Access::Exclusive,
            Step::GiveUp(i) => {
                let i = usize::from(i);
                next.message[i] = Message::Silence;
                next.ack[i] = true;
                next.cache[i] = Access::Nothing;
            }
            Step::Get(i) => {
                let i = usize::from(i);
                next.message[i] = Message::Silence;
                next.cache[i] = match state.message[i] {
                    Message::GrantShared => Access::Shared,
                    _ => Access::Exclusive,
                };
            }
            Step::Pick(i) => {
                next.client = i;
                let i = usize::from(i);
                next.command = state.request[i];
                next.request[i] = Access::Nothing;
                next.to_invalidate = state.sharer;
            }
            Step::InvalidateOne(i) => {
                next.message[usize::from(i)] = Message::Invalidate;
                next.to_invalidate[usize::from(i)] = false;
            }
            Step::Collect(i) => {
                next.ack[usize::from(i)] = false;
                next.sharer[usize::from(i)] = false;
                next.owned = false;
            }
            Step::GrantShared | Step::GrantExclusive => {
                let client = usize::from(state.client);
                let exclusive = matches!(step, Step::GrantExclusive);
                next.message[client] = if exclusive {
                    Message::GrantExclusive
                } else {
                    Message::GrantShared
                };
                next.sharer[client] = true;
                next.owned |= exclusive;
                next.command = Access::Nothing;
            }
        }

        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("coherent", |_, state: &State| {
            let holders = state
                .cache
                .iter()
                .filter(|&&access| access != Access::Nothing);
            !state.cache.contains(&Access::Exclusive) || holders.count() == 1
        })]
    }
}
