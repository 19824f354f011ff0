//! Checks proofs. Everything is local: to a state, its steps, and what the file says about their ends.

use base::{AtomId, Budget, Fairness};
use logic::{Ltl, holds_on_lasso};
use model::Model;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::format::{NoRun, Proof};
use crate::marks::Marks;
use crate::obligation::Obligation;
use crate::reason::{Place, check_reasons, check_step, is_path, unclosed_places};
use crate::symbolic::{Demand, Solver, check_invariant};
use crate::tableau::BadRuns;
use crate::walk::{Letter, StateWalk, Visit};
use crate::{Extent, Failure};

/// Checks that a proof shows what it has to show; says what was looked at.
pub(crate) fn check_proof(
    model: &Model,
    obligation: &Obligation,
    proof: &Proof,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Extent, Failure> {
    let mut all_states = |demand| match proof {
        Proof::Positions(n_new) => {
            let formula = match demand {
                Demand::Formula(formula) => Some(formula),
                Demand::SomeStep => None,
            };
            check_positions(model, formula, n_new, budget).map(Extent::States)
        }
        Proof::Invariant(invariant) => {
            check_invariant(model, demand, invariant, solvers, budget).map(Extent::Obligations)
        }
        Proof::Runs(_) | Proof::Family(_) | Proof::Graph(_) => Err(other_kind()),
    };
    match (obligation, proof) {
        (Obligation::Positions(formula), _) => all_states(Demand::Formula(formula)),
        (Obligation::NoDeadlock, _) => all_states(Demand::SomeStep),
        (
            Obligation::NoRun {
                bad,
                fairness,
                atoms,
            },
            Proof::Runs(run),
        ) => {
            let walk = StateWalk::new(model, atoms.clone(), run.profile_of.len(), budget)?;
            let n_states = RunCheck::new(model, bad, *fairness, run, walk)?.check()?;
            Ok(Extent::States(n_states))
        }
        (
            Obligation::NoRun { .. },
            Proof::Positions(_) | Proof::Invariant(_) | Proof::Family(_) | Proof::Graph(_),
        ) => Err(other_kind()),
    }
}

fn other_kind() -> Failure {
    Failure::wrong("the proof is of another kind than the claim")
}

/// Has a state as many new successors as the file says?
fn check_count(at: usize, visit: &Visit, n_new: &[u32]) -> Result<(), Failure> {
    if n_new.get(at) != Some(&visit.n_new) {
        let message = format!("state {at} has another number of new successors");
        return Err(Failure::wrong(&message));
    }
    Ok(())
}

fn check_end(n_visited: usize, of_states: &[u32]) -> Result<usize, Failure> {
    if n_visited != of_states.len() {
        return Err(Failure::wrong("there are fewer states than the file says"));
    }
    Ok(n_visited)
}

/// All positions satisfy the formula; without one, all states have steps.
fn check_positions(
    model: &Model,
    formula: Option<&Ltl>,
    n_new: &[u32],
    budget: &Budget,
) -> Result<usize, Failure> {
    let atoms = formula.map(Ltl::atoms).unwrap_or_default();
    let mut walk = StateWalk::new(model, atoms, n_new.len(), budget)?;
    let mut known_letters: FxHashSet<Letter> = FxHashSet::default();
    let mut check = |walk: &StateWalk<'_>, letter: Letter| {
        // A letter that satisfies the formula does so wherever it occurs.
        let Some(formula) = formula.filter(|_| !known_letters.contains(&letter)) else {
            return Ok(());
        };
        let holds = |_: usize, atom: AtomId| walk.holds(letter, atom);
        if !formula.is_propositional() || !holds_on_lasso(formula, 1, 0, &holds) {
            return Err(Failure::wrong("a position does not satisfy the formula"));
        }
        known_letters.insert(letter);
        Ok(())
    };

    for state in 0..walk.n_initial() {
        check(&walk, walk.initial_letter(state))?;
    }
    let mut n_visited = 0;
    loop {
        let visits = walk.next_visits()?;
        if visits.is_empty() {
            return check_end(n_visited, n_new);
        }
        for visit in &visits {
            check_count(n_visited, visit, n_new)?;
            if formula.is_none() && visit.steps.iter().any(|step| step.commands.is_empty()) {
                return Err(Failure::wrong("a state has no step"));
            }
            visit.letters.iter().try_for_each(|l| check(&walk, *l))?;
            n_visited += 1;
        }
    }
}

/// A state of the automaton that a letter leads to, with the marks on the way.
type Targets = std::rc::Rc<[(u32, Vec<usize>)]>;

/// The check that no run is fair and forbidden.
struct RunCheck<'a> {
    model: &'a Model,
    bad: &'a BadRuns,
    run: &'a NoRun,
    marks: Marks<'a>,
    walk: StateWalk<'a>,
    number_by_demands: FxHashMap<&'a [u32], u32>,
    /// For each profile, the sets that are said not to be closed, with the steps to where they end.
    unclosed: Vec<FxHashMap<Place, u32>>,
    targets_by_reading: FxHashMap<(u32, Letter), Targets>,
}

impl<'a> RunCheck<'a> {
    fn new(
        model: &'a Model,
        bad: &'a BadRuns,
        fairness: Fairness,
        run: &'a NoRun,
        walk: StateWalk<'a>,
    ) -> Result<Self, Failure> {
        let marks = Marks::new(model, fairness, bad);
        check_reasons(&run.reasons, &marks)?;

        let is_known = |profile: &u32| (*profile as usize) < run.profiles.len();
        if !run.profile_of.iter().all(is_known) {
            return Err(Failure::wrong("a profile does not exist"));
        }
        let mut unclosed = Vec::new();
        for profile in &run.profiles {
            unclosed.push(check_profile(run, profile)?);
        }

        let numbered = run.demands.iter().enumerate();
        let number_by_demands = numbered.map(|(n, demands)| (demands.as_slice(), n as u32));
        Ok(Self {
            model,
            bad,
            run,
            marks,
            walk,
            number_by_demands: number_by_demands.collect(),
            unclosed,
            targets_by_reading: FxHashMap::default(),
        })
    }

    fn check(mut self) -> Result<usize, Failure> {
        for state in 0..self.walk.n_initial() {
            let letter = self.walk.initial_letter(state);
            for (target, _) in self.read(&self.bad.start(), letter)?.iter() {
                self.path(state as u32, *target)?;
            }
        }
        let mut n_visited = 0;
        loop {
            let visits = self.walk.next_visits()?;
            if visits.is_empty() {
                return check_end(n_visited, &self.run.profile_of);
            }
            for visit in &visits {
                self.check_state(n_visited, visit)?;
                n_visited += 1;
            }
        }
    }

    /// Checks all steps of the product that start in a state.
    fn check_state(&mut self, state: usize, visit: &Visit) -> Result<(), Failure> {
        let run = self.run;
        let enabled = self.marks.enabled(self.model, &visit.state, &visit.steps);
        let profile = run.profile_of[state] as usize;
        // For each set, how many steps are in it, and the last of them.
        let mut present: Vec<(Place, usize, usize)> = Vec::new();
        let (mut inside, mut marks) = (Vec::new(), Vec::new());

        for (position, step) in visit.steps.iter().enumerate() {
            let (letter, target) = (visit.letters[position], visit.targets[position]);
            let holds = |atom: AtomId| self.walk.holds(letter, atom);
            let of_step = self.marks.of_step(&enabled, step, &holds);
            for (demands, from) in &run.profiles[profile] {
                for (next, of_automaton) in self.targets(*demands, letter)?.iter() {
                    let to = self.path(target, *next)?;
                    marks.clone_from(&of_step);
                    self.marks.add_automaton(&mut marks, of_automaton);
                    check_step(&run.reasons, (from, to), &marks, &mut inside)?;
                }
            }
            for place in inside.drain(..) {
                match present.iter_mut().find(|(known, ..)| *known == place) {
                    None => present.push((place, 1, position)),
                    Some((_, _, last)) if *last == position => {}
                    Some((_, n_steps, last)) => (*n_steps, *last) = (*n_steps + 1, position),
                }
            }
        }

        // Each set that is not closed must be left, or something on the way to where it is left.
        for (place, distance) in &self.unclosed[profile] {
            let found = present.iter().find(|(known, ..)| known == place);
            let is_left = found.is_none_or(|(_, n_steps, _)| *n_steps < visit.steps.len());
            let is_nearer = |target: &u32| {
                let there = &self.unclosed[run.profile_of[*target as usize] as usize];
                there.get(place).is_some_and(|other| other < distance)
            };
            if !is_left && !visit.targets.iter().any(is_nearer) {
                return Err(Failure::wrong("a set of steps is closed"));
            }
        }
        Ok(())
    }

    /// The path of a node of the product.
    fn path(&self, state: u32, demands: u32) -> Result<&'a [u32], Failure> {
        let run = self.run;
        let profile = &run.profiles[run.profile_of[state as usize] as usize];
        let found = profile.binary_search_by_key(&demands, |(known, _)| *known);
        let found = found.map_err(|_| Failure::wrong("a node of the product is missing"))?;
        Ok(&profile[found].1)
    }

    /// Where the automaton goes from a state in the file.
    fn targets(&mut self, demands: u32, letter: Letter) -> Result<Targets, Failure> {
        let key = (demands, letter);
        if let Some(targets) = self.targets_by_reading.get(&key) {
            return Ok(targets.clone());
        }
        let targets = self.read(&self.run.demands[demands as usize], letter)?;
        self.targets_by_reading.insert(key, targets.clone());
        Ok(targets)
    }

    fn read(&self, from: &[u32], letter: Letter) -> Result<Targets, Failure> {
        let holds = |atom: AtomId| self.walk.holds(letter, atom);
        let readings = self.bad.read(from, &holds);
        let readings = readings.ok_or_else(|| Failure::wrong("the formula is too large"))?;
        let target = |reading: crate::tableau::Reading| {
            let number = self.number_by_demands.get(reading.target.as_slice());
            let number =
                number.ok_or_else(|| Failure::wrong("a state of the automaton is missing"))?;
            Ok((*number, reading.marks))
        };
        readings.into_iter().map(target).collect()
    }
}

/// Checks the shape of a profile; gives the sets in it that are said not to be closed.
fn check_profile(
    run: &NoRun,
    profile: &[(u32, Vec<u32>)],
) -> Result<FxHashMap<Place, u32>, Failure> {
    let is_sorted = profile.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let mut is_known = profile.iter().map(|(demands, path)| {
        (*demands as usize) < run.demands.len() && is_path(&run.reasons, path)
    });
    if !is_sorted || !is_known.all(|known| known) {
        return Err(Failure::wrong("a profile is not well formed"));
    }

    let mut unclosed: FxHashMap<Place, u32> = FxHashMap::default();
    for (_, path) in profile {
        for (place, distance) in unclosed_places(&run.reasons, path) {
            let known = unclosed.insert(place, distance);
            if known.is_some_and(|known| known != distance) {
                return Err(Failure::wrong("a state has two distances in one set"));
            }
        }
    }
    Ok(unclosed)
}
