//! Automata of the atomic formulas, each given by a step function on a small explicit state.
//!
//! A first-order variable stands for the least element of its track and is undefined while the track
//! is empty. Every atom is closed under appended zeros: its output depends on the sets that a word
//! describes and not on the length of the word.

use rustc_hash::FxHashMap;

use crate::machine::{FALSE, Machine, TRUE, UNDEFINED};
use crate::meter::{Meter, Unknown};
use crate::minimise::minimise;
use crate::mtbdd::{Arena, NodeRef};

/// An atomic relation. `x`, `y` are first-order roles, capital letters are sets, in the order in
/// which the roles are numbered.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Atom {
    /// The Boolean `b`.
    Bool,
    /// True where `x` is defined, undefined elsewhere.
    FirstOrder,
    /// `x + k ∈ X`.
    In(u32),
    /// `x ∸ k ∈ X`.
    InMinus(u32),
    /// `x < y + k`.
    Less(i64),
    /// `x = y + k`.
    Equal(i64),
    /// `x < c`.
    LessConst(i64),
    /// `x = c`.
    EqualConst(i64),
    /// `y = x ∸ k`, roles `y`, `x`.
    EqualMinus(u32),
    /// `x = min X`, where the least element of the empty set is 0.
    Min,
    /// `x = max X`, where the greatest element of the empty set is 0.
    Max,
    /// Every position satisfies the Boolean function of the sets whose truth table this is; bit `i`
    /// of a row number is the bit of role `i`.
    Pointwise { n_sets: u32, table: Vec<bool> },
    /// `X = {x}`, roles `X`, `x`.
    Singleton,
    /// `X = {x, ..., y}`, roles `X`, `x`, `y`.
    Interval,
    /// `Y = X + k`, roles `Y`, `X`.
    ShiftUp(u32),
    /// `Y = X ∸ 1`, roles `Y`, `X`.
    ShiftDown,
    /// The set of the positions of the ones in a binary number.
    Number(u64),
}

/// The explicit states of the step functions. The first component is a phase.
type State = [i64; 3];

/// Phases that all atoms share.
const YES: State = [-1, 0, 0];
const NO: State = [-2, 0, 0];

impl Atom {
    /// How many variables it relates.
    pub(crate) fn n_roles(&self) -> usize {
        match self {
            Self::Bool | Self::FirstOrder | Self::LessConst(_) => 1,
            Self::EqualConst(_) | Self::Number(_) => 1,
            Self::Pointwise { n_sets, .. } => *n_sets as usize,
            Self::Interval => 3,
            _ => 2,
        }
    }

    /// The minimal automaton, where role `i` reads track `roles[i]` of `n_tracks`.
    pub(crate) fn machine(
        &self,
        roles: &[u32],
        n_tracks: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Machine, Unknown> {
        let mut explorer = Explorer {
            atom: self,
            roles,
            n_tracks,
            arena: Arena::new(),
            numbers: FxHashMap::default(),
            states: vec![None],
        };

        let mut roots = Vec::new();
        while roots.len() < explorer.states.len() {
            let state = explorer.states[roots.len()];
            roots.push(explorer.diagram(state, 0, &mut vec![false; n_tracks]));
            if roots.len() % 4096 == 0 {
                meter.check(roots.len(), explorer.arena.bytes())?;
            }
        }

        let output = |state: &Option<State>| state.map_or(UNDEFINED, |state| self.output(state));
        let outputs: Vec<u32> = explorer.states.iter().map(output).collect();
        minimise(
            &explorer.arena.into_nodes(),
            &roots,
            &outputs,
            n_tracks,
            meter,
        )
    }

    /// The state before position 0, given the letter of the Booleans.
    fn initial(&self, bit: &dyn Fn(usize) -> bool) -> State {
        match self {
            Self::Bool if bit(0) => YES,
            Self::Bool => NO,
            _ => [0, 0, 0],
        }
    }

    fn output(&self, state: State) -> u32 {
        match state {
            YES => return TRUE,
            NO => return FALSE,
            _ => {}
        }

        let pending = match (self, state) {
            (Self::Pointwise { .. }, _) => Some(true),
            (Self::In(_), [1, ..]) => Some(false),
            (Self::Min, [2, ..]) => Some(true),
            (Self::Max | Self::Singleton, [1, ..]) => Some(true),
            (Self::Interval, [3, ..]) => Some(true),
            (Self::ShiftUp(_), [_, mask, _]) => Some(mask == 0),
            (Self::ShiftDown, [0, ..]) => Some(true),
            (Self::ShiftDown, [1, x, y]) => Some(x == y),
            (Self::ShiftDown, [_, y, _]) => Some(y == 0),
            (Self::Number(n), [_, position, _]) => Some(rest(*n, position) == 0),
            _ => None,
        };

        match pending {
            Some(true) => TRUE,
            Some(false) => FALSE,
            None => UNDEFINED,
        }
    }

    fn step(&self, state: State, bit: &dyn Fn(usize) -> bool) -> State {
        if state == YES || state == NO {
            return state;
        }
        match self {
            Self::Bool => state,
            Self::FirstOrder => decide_at(bit(0), true, state),
            Self::In(k) => step_in(state, i64::from(*k), bit),
            Self::InMinus(k) => step_in_minus(state, i64::from(*k), bit),
            Self::Less(k) => step_difference(state, *k, &|difference| difference < *k, bit),
            Self::Equal(k) => step_difference(state, *k, &|difference| difference == *k, bit),
            Self::LessConst(c) => {
                let next = [0, (state[1] + 1).min(c.max(&0) + 1), 0];
                decide_at(bit(0), state[1] < *c, next)
            }
            Self::EqualConst(c) => {
                let next = [0, (state[1] + 1).min(c.max(&0) + 1), 0];
                decide_at(bit(0), state[1] == *c, next)
            }
            Self::EqualMinus(k) => step_equal_minus(state, i64::from(*k), bit),
            Self::Min => step_min(state, bit),
            Self::Max => step_max(state, bit),
            Self::Pointwise { n_sets, table } => {
                let row = (0..*n_sets as usize).fold(0, |row, i| row | usize::from(bit(i)) << i);
                if table[row] { state } else { NO }
            }
            Self::Singleton => step_singleton(state, bit),
            Self::Interval => step_interval(state, bit),
            Self::ShiftUp(k) => step_shift_up(state, *k, bit),
            Self::ShiftDown => step_shift_down(state, bit),
            Self::Number(n) => {
                let ok = bit(0) == (rest(*n, state[1]) & 1 == 1);
                if ok {
                    [0, (state[1] + 1).min(64), 0]
                } else {
                    NO
                }
            }
        }
    }
}

/// The bits of a number from a position on.
fn rest(n: u64, position: i64) -> u64 {
    if position >= 64 { 0 } else { n >> position }
}

fn answer(yes: bool) -> State {
    if yes { YES } else { NO }
}

/// Answers once `seen`, goes on otherwise.
fn decide_at(seen: bool, yes: bool, otherwise: State) -> State {
    if seen { answer(yes) } else { otherwise }
}

/// Phase 1 counts the positions left until `x + k`.
fn step_in(state: State, k: i64, bit: &dyn Fn(usize) -> bool) -> State {
    let left = match state {
        [0, ..] if !bit(0) => return state,
        [0, ..] => k,
        [_, left, _] => left - 1,
    };
    if left == 0 {
        answer(bit(1))
    } else {
        [1, left, 0]
    }
}

/// Keeps the number of past positions, at most `k`, and the last `k` bits of the set.
fn step_in_minus(state: State, k: i64, bit: &dyn Fn(usize) -> bool) -> State {
    let [_, n_past, past] = state;
    let window = past << 1 | i64::from(bit(1));
    if bit(0) {
        return answer(window >> n_past & 1 == 1);
    }
    let n_kept = (n_past + 1).min(k);
    [0, n_kept, window & ((1 << n_kept) - 1)]
}

/// Phase 1: `x` was seen; phase 2: `y` was seen; the second component says how long ago.
fn step_difference(
    state: State,
    k: i64,
    holds: &dyn Fn(i64) -> bool,
    bit: &dyn Fn(usize) -> bool,
) -> State {
    let [phase, ago, _] = state;
    let next = (ago + 1).min(k.abs() + 2);
    match (phase, bit(0), bit(1)) {
        (0, true, true) => answer(holds(0)),
        (0, true, false) => [1, 1, 0],
        (0, false, true) => [2, 1, 0],
        (0, ..) => state,
        (1, _, true) => answer(holds(-ago)),
        (2, true, _) => answer(holds(ago)),
        _ => [phase, next, 0],
    }
}

/// Phase 0 knows whether this is position 0; phase 1: `y` was seen so long ago, and whether it is 0;
/// phase 2: `x` was seen before `y`, so the answer is no once `y` is seen.
fn step_equal_minus(state: State, k: i64, bit: &dyn Fn(usize) -> bool) -> State {
    let [phase, ago, y_is_zero] = state;
    let (y, x) = (bit(0), bit(1));
    match phase {
        0 if x && y => answer(k == 0 || ago == 0),
        0 if y => [1, 1, i64::from(ago == 0)],
        0 if x => [2, 0, 0],
        0 => [0, 1, 0],
        1 if x => answer(ago == k || (y_is_zero == 1 && ago <= k)),
        1 => [1, (ago + 1).min(k + 1), y_is_zero],
        _ => decide_at(y, false, state),
    }
}

/// Phase 0 knows whether this is position 0; phase 1: the set began before `x`; phase 2: `x` is 0
/// and the set is empty so far.
fn step_min(state: State, bit: &dyn Fn(usize) -> bool) -> State {
    match (state[0], bit(0), bit(1)) {
        (0, true, true) => YES,
        (0, true, false) => {
            if state[1] == 0 {
                [2, 0, 0]
            } else {
                NO
            }
        }
        (0, false, true) => [1, 0, 0],
        (0, false, false) => [0, 1, 0],
        (1, seen, _) => decide_at(seen, false, state),
        (_, _, element) => decide_at(element, false, state),
    }
}

/// Phase 0 knows whether this is position 0; phase 1: `x` is the greatest element so far.
fn step_max(state: State, bit: &dyn Fn(usize) -> bool) -> State {
    match (state[0], bit(0), bit(1)) {
        (0, true, element) if element || state[1] == 0 => [1, 0, 0],
        (0, true, _) => NO,
        (0, false, _) => [0, 1, 0],
        (_, _, element) => decide_at(element, false, state),
    }
}

/// Phase 1: the set is `{x}` so far; phase 2: it has a wrong element and `x` is still to come.
fn step_singleton(state: State, bit: &dyn Fn(usize) -> bool) -> State {
    match (state[0], bit(0), bit(1)) {
        (0, true, true) => [1, 0, 0],
        (0, false, true) => NO,
        (0, true, false) => [2, 0, 0],
        (0, false, false) => state,
        (1, element, _) => decide_at(element, false, state),
        (_, _, seen) => decide_at(seen, false, state),
    }
}

/// The phase says which ends were seen (1: `x`, 2: `y`, 3: both), the next component whether the
/// set was wrong so far.
fn step_interval(state: State, bit: &dyn Fn(usize) -> bool) -> State {
    let [phase, wrong, _] = state;
    let seen = phase | i64::from(bit(1)) | i64::from(bit(2)) << 1;
    let inside = seen & 1 == 1 && phase & 2 == 0;
    let wrong = i64::from(wrong == 1 || bit(0) != inside);
    if seen == 3 && wrong == 1 {
        NO
    } else {
        [seen, wrong, 0]
    }
}

/// The mask holds the elements of `X` that are still to appear in `Y`, the next one on top.
fn step_shift_up(state: State, k: u32, bit: &dyn Fn(usize) -> bool) -> State {
    let line = state[1] << 1 | i64::from(bit(1));
    let due = line >> k & 1 == 1;
    if bit(0) == due {
        [0, line & ((1 << k) - 1), 0]
    } else {
        NO
    }
}

/// Phase 0 is position 0; phase 1 knows both bits of position 0; phase 2 knows the last bit of `Y`.
fn step_shift_down(state: State, bit: &dyn Fn(usize) -> bool) -> State {
    let (y, x) = (i64::from(bit(0)), i64::from(bit(1)));
    match state {
        [0, ..] => [1, x, y],
        [1, x0, y0] => {
            if y0 == x0 | x {
                [2, y, 0]
            } else {
                NO
            }
        }
        [_, due, _] => {
            if x == due {
                [2, y, 0]
            } else {
                NO
            }
        }
    }
}

struct Explorer<'a> {
    atom: &'a Atom,
    roles: &'a [u32],
    n_tracks: usize,
    arena: Arena,
    numbers: FxHashMap<State, usize>,
    /// `None` is the state before the letter of the Booleans.
    states: Vec<Option<State>>,
}

impl Explorer<'_> {
    /// The transitions of `state` under all letters that begin with `letter[..track]`.
    fn diagram(&mut self, state: Option<State>, track: usize, letter: &mut Vec<bool>) -> NodeRef {
        if track == self.n_tracks {
            let bit = |role: usize| letter[self.roles[role] as usize];
            let next = match state {
                None => self.atom.initial(&bit),
                Some(state) => self.atom.step(state, &bit),
            };
            let states = &mut self.states;
            let number = *self.numbers.entry(next).or_insert_with(|| {
                states.push(Some(next));
                states.len() - 1
            });
            return NodeRef::terminal(number);
        }
        letter[track] = false;
        let low = self.diagram(state, track + 1, letter);
        letter[track] = true;
        let high = self.diagram(state, track + 1, letter);
        self.arena.node(track as u32, low, high)
    }
}
