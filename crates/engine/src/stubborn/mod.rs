//! Partial-order reduction with strong stubborn sets.
//!
//! In many states it is enough to take some of the steps, because the others can wait: they do not
//! interfere. The set of steps to be taken is computed as in A. Valmari, "Stubborn sets for reduced
//! state space generation" (Advances in Petri Nets 1990, LNCS 483, 1991,
//! doi:10.1007/3-540-53863-1_36): starting from an enabled unit,
//!
//! - with an enabled unit, every unit that interferes with it is in the set;
//! - with a disabled unit, a set of units is in the set without one of which it stays disabled: if a
//!   participant is at another location, all units that can move it from there; else all units that
//!   write what the disabled one reads.
//!
//! A *unit* is a command that moves alone, or a team. Two units interfere if they share a process,
//! or if one writes a bit of the state that the other reads or writes
//! ([`crate::footprint::Footprint`]).
//!
//! For deadlocks this is all. What else must be preserved is a [`Concern`] (see there for classes,
//! concerned and harmless units). Three more conditions see to it, after A. Valmari, H. Hansen,
//! "Stubborn set intuition explained" (Transactions on Petri Nets and Other Models of Concurrency
//! XII, 2017, doi:10.1007/978-3-662-55862-1_7); `SOUNDNESS.md` has
//! the proof for these versions:
//!
//! - *V*: with an enabled unit of a class, the whole class is in the set (classes are therefore made
//!   to interfere with each other);
//! - *I*: a set that leaves something out has an enabled unit that is harmless;
//! - *no ignoring*: now and then the set is *attentive*: it contains all concerned units. When, is
//!   up to the search. For infinite runs, every cycle of the reduced system needs an attentive
//!   state; a search makes a state attentive if a step that it keeps leads to a state that was
//!   decided before, so the last state of every cycle to be decided is. For finite runs it is
//!   enough that some step that the class of the property does not see leads to a later state.
//!
//! Neither needs to know whether the search is depth first, breadth first or parallel.

mod concern;
mod frozen;
mod units;

use std::fmt;
use std::sync::Arc;

use base::bits;
use model::{Condition, Subject};

use crate::letters::Letters;
use crate::system::{Steps, System};

use self::concern::Concern;
use self::units::Units;

/// Systems with more units than this are not reduced: the relations between them would not fit.
const MAX_UNITS: usize = 8192;

/// In this many states a small set is looked for at first,
const N_PATIENT: u64 = 1024;

/// then in one of this many, as long as no more than that have one.
const MIN_FOUND: u64 = 64;

/// Why no step may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// All processes move in every step.
    Synchronous,
    /// Which steps exist depends on the other steps of a state.
    Priorities,
    /// Strong global fairness speaks of every step of a state.
    StrongGlobal,
    /// Justness is about what steps change, which others do not see.
    Justness,
    /// A proposition asks whether any step is possible.
    Deadlock,
    /// There are too many commands.
    TooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Synchronous => {
                "in a synchronous composition every process takes part in every step"
            }
            Self::Priorities => "priorities make the steps of a state depend on each other",
            Self::StrongGlobal => "strong global fairness is about every step of every state",
            Self::Justness => "justness is about what every step reads and changes",
            Self::Deadlock => "the proposition `deadlock` is about all steps of a state",
            Self::TooLarge => "the model has too many commands to be compared with each other",
        })
    }
}

/// What a reduction must preserve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demands<'a> {
    /// The propositions of the property.
    pub(crate) letters: &'a Letters,
    /// The fairness of runs.
    pub(crate) conditions: &'a [Condition],
    /// Is strong global fairness among it?
    pub(crate) strong_global: bool,
    /// Do infinite runs matter, or only which states are reached?
    pub(crate) infinite_runs: bool,
}

/// What is claimed about units, for [`crate::Claims`].
pub(crate) struct StepClaims {
    pub(crate) units: Units,
    pub(crate) interfering: Vec<Vec<u64>>,
    pub(crate) enablers: Vec<Vec<u64>>,
    pub(crate) visible: Vec<u64>,
    /// For each condition: the units relevant to it, and whether its subject is steady.
    pub(crate) subjects: Vec<(Vec<u64>, bool)>,
    pub(crate) vital: Vec<bool>,
}

impl StepClaims {
    pub(crate) fn new(system: &System<'_>, demands: &Demands<'_>) -> Self {
        let units = Units::new(system);
        Self {
            interfering: units.related(|a, b| units.interfere(a, b)),
            enablers: units.related(|a, b| units.may_enable(b, a)),
            visible: concern::visible(system, &units, demands),
            subjects: concern::subjects(system, &units, demands.conditions),
            vital: frozen::stops_without(system, &units),
            units,
        }
    }

    /// What decides whether a unit is possible where its participants are in place.
    pub(crate) fn condition_reads(&self, system: &System<'_>, unit: usize) -> Vec<u64> {
        concern::condition_reads(system, unit)
    }
}

/// Chooses which steps of a state to take.
#[derive(Clone, Debug)]
pub(crate) struct Stubborn {
    relations: Arc<Relations>,
    enabled: Vec<u64>,
    n_enabled: u32,
    chosen: Vec<u64>,
    best: Vec<u64>,
    open: Vec<usize>,
    /// In how many states a small set was looked for, and in how many there was one.
    n_tried: u64,
    n_found: u64,
    /// In how many states the set that was chosen at last leaves something out.
    n_reduced: u64,
}

/// What is known about the units before any state is seen.
#[derive(Debug)]
struct Relations {
    units: Units,
    concern: Concern,
    /// For every unit, the units that must be in a set in which it is enabled.
    interfering: Vec<Vec<u64>>,
    /// For every unit, the units that may make it enabled where all its participants are in place.
    enablers: Vec<Vec<u64>>,
}

impl Stubborn {
    /// Works out the relations.
    ///
    /// # Errors
    /// The reason why nothing may be left out.
    pub(crate) fn new(system: &System<'_>, demands: &Demands<'_>) -> Result<Self, Refusal> {
        if system.synchronous {
            return Err(Refusal::Synchronous);
        }
        if system.ruling.is_some() {
            return Err(Refusal::Priorities);
        }
        if demands.strong_global {
            return Err(Refusal::StrongGlobal);
        }
        let subjects = demands
            .conditions
            .iter()
            .map(|condition| &condition.subject);
        if { subjects }.any(|subject| matches!(subject, Subject::Team(_))) {
            return Err(Refusal::Justness);
        }
        if demands.letters.mentions_deadlock() {
            return Err(Refusal::Deadlock);
        }
        if system.n_units() > MAX_UNITS {
            return Err(Refusal::TooLarge);
        }
        let units = Units::new(system);
        let concern = Concern::new(system, &units, demands);
        let n_words = units.n_words;
        let relations = Relations {
            interfering: interfering(&units, &concern),
            enablers: units.related(|a, b| units.may_enable(b, a)),
            units,
            concern,
        };

        Ok(Self {
            relations: Arc::new(relations),
            enabled: vec![0; n_words],
            n_enabled: 0,
            chosen: vec![0; n_words],
            best: vec![0; n_words],
            open: Vec::new(),
            n_tried: 0,
            n_found: 0,
            n_reduced: 0,
        })
    }

    /// Is it likely that a state has a small set? Where hardly any state has one, looking for one
    /// everywhere would be most of the time of a search.
    pub(crate) fn is_worth_trying(&mut self) -> bool {
        self.n_tried += 1;
        self.n_tried < N_PATIENT
            || self.n_found * MIN_FOUND > self.n_tried
            || self.n_tried.is_multiple_of(MIN_FOUND)
    }

    /// In how many states steps are left out.
    pub(crate) fn n_reduced(&self) -> u64 {
        self.n_reduced
    }

    /// Chooses a small set for a state, always the same. Says whether it leaves a step out.
    pub(crate) fn choose(&mut self, system: &System<'_>, state: &[u64], steps: &Steps) -> bool {
        self.enabled.fill(0);
        for &unit in steps.units.iter().chain(&steps.merged_units) {
            bits::set(&mut self.enabled, unit as usize);
        }
        self.n_enabled = count(&self.enabled);
        if self.n_enabled < 2 {
            return false;
        }
        let relations = Arc::clone(&self.relations);
        let mut fewest = self.n_enabled;
        self.open.clear();

        let enabled = self.enabled.clone();
        for seed in bits::iter(&enabled) {
            self.chosen.fill(0);
            bits::set(&mut self.chosen, seed);
            self.open.push(seed);
            let Some(kept) = self.close(&relations, system, state, fewest) else {
                continue;
            };
            let harmless = (self.chosen.iter().zip(&self.enabled))
                .zip(&relations.concern.harmless)
                .any(|((chosen, enabled), harmless)| chosen & enabled & harmless != 0);
            if harmless {
                fewest = kept;
                self.best.copy_from_slice(&self.chosen);
                if kept == 1 {
                    break;
                }
            }
        }

        let is_found = fewest < self.n_enabled;
        self.n_found += u64::from(is_found);
        self.n_reduced += u64::from(is_found);
        is_found
    }

    /// Makes the set that was chosen last, and leaves a step out, attentive. Says whether it still
    /// does.
    pub(crate) fn attend(&mut self, system: &System<'_>, state: &[u64]) -> bool {
        let relations = Arc::clone(&self.relations);
        self.chosen.copy_from_slice(&self.best);
        let missing = relations.concern.concerned.iter().zip(&self.best);
        let missing: Vec<u64> = missing.map(|(concerned, best)| concerned & !best).collect();
        bits::union_into(&mut self.chosen, &missing);
        self.open.extend(bits::iter(&missing));
        let kept = self.close(&relations, system, state, self.n_enabled);
        self.best.copy_from_slice(&self.chosen);
        self.n_reduced -= u64::from(kept.is_none());
        kept.is_some()
    }

    /// Is the unit in the chosen set?
    pub(crate) fn keeps(&self, unit: u32) -> bool {
        bits::get(&self.best, unit as usize)
    }

    /// Does the property not see this unit?
    pub(crate) fn is_invisible(&self, unit: u32) -> bool {
        !bits::get(&self.relations.concern.visible, unit as usize)
    }

    /// Is there anything that must not be put off forever?
    pub(crate) fn needs_attention(&self) -> bool {
        self.relations
            .concern
            .concerned
            .iter()
            .any(|word| *word != 0)
    }

    /// Adds to `self.chosen` what the units in `self.open` need. Returns how many enabled units the
    /// set has if these are fewer than `limit`, which is at most all; then nothing, and the set is
    /// not complete.
    fn close(
        &mut self,
        relations: &Relations,
        system: &System<'_>,
        state: &[u64],
        limit: u32,
    ) -> Option<u32> {
        let mut n_to_go = self.n_enabled;
        while let Some(unit) = self.open.pop() {
            let more = if bits::get(&self.enabled, unit) {
                n_to_go -= 1;
                if n_to_go == 0 {
                    self.open.clear();
                    return None;
                }
                &relations.interfering[unit]
            } else {
                relations.needed_first(unit, system, state, &self.chosen)
            };
            for (word, (chosen, more)) in self.chosen.iter_mut().zip(more).enumerate() {
                let added = [more & !*chosen];
                *chosen |= more;
                self.open
                    .extend(bits::iter(&added).map(|bit| word * 64 + bit));
            }
        }

        let both = self.chosen.iter().zip(&self.enabled);
        let kept = both.map(|(c, e)| (c & e).count_ones()).sum();
        (kept < limit).then_some(kept)
    }
}

impl Relations {
    /// Units one of which must happen before a disabled unit can be enabled.
    fn needed_first(
        &self,
        unit: usize,
        system: &System<'_>,
        state: &[u64],
        chosen: &[u64],
    ) -> &[u64] {
        // Any participant that is elsewhere will do; the one that adds least is best.
        let misplaced = self.units.participations[unit].iter().filter_map(|member| {
            let location = system.location(member.instance as usize, state);
            let row = system.first_row[member.instance as usize] as usize + location;
            (!bits::get(&member.locations, location)).then_some(row)
        });
        let n_added = |row: &usize| -> u32 {
            let words = self.units.moving[*row].iter().zip(chosen);
            words
                .map(|(more, chosen)| (more & !chosen).count_ones())
                .sum()
        };
        match misplaced.min_by_key(n_added) {
            Some(row) => &self.units.moving[row],
            None => &self.enablers[unit],
        }
    }
}

fn interfering(units: &Units, concern: &Concern) -> Vec<Vec<u64>> {
    let mut rows = units.related(|a, b| units.interfere(a, b));
    for class in &concern.classes {
        for unit in bits::iter(class) {
            bits::union_into(&mut rows[unit], class);
        }
    }
    rows
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}
