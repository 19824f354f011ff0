//! Under which conditions does a property hold? All weakest answers.
//!
//! "Holds" is monotone: conditions only take runs away. A forbidden fair loop shows which conditions
//! would exclude it, so `minimal.rs` finds all minimal sets; each set is judged on the graph that was
//! explored once. All answers are confirmed by a search of its own, which explores the system again and
//! shares nothing with that graph: is there a run that violates the property and is fair to one of them?

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Fairness, Progress, Route, StopReason};
use engine::{Alternative, Stats};
use evidence::{UnknownReason, Verdict};
use logic::NamedProperty;
use model::{Assumption, Condition, Model};
use omega::{Acceptance, Closure, Component};

use super::bad_loops::{BadLoops, forbidden_runs, meets};
use super::minimal::{Demand, MinimalPoints, Point};
use super::notions::{atoms, is_finite};
use super::offers::{Level, Offer};
use super::{Survey, Surveyed, atoms_of};
use crate::fairness::{assumed, assuming};
use crate::{Bug, Outcome, Plan, explicit};

/// More instances than this are not looked at one by one.
const MAX_SINGLE: usize = 24;

/// More sets than this are not looked for, nor confirmed by one search.
const MAX_SETS: usize = 64;

/// A loop that takes each of more steps than this is not written out to show that strong global
/// fairness does not help.
const MAX_COVERED: usize = 50_000;

/// The weakest conditions under which a property holds.
#[derive(Clone, Debug)]
pub struct Inference {
    /// All minimal sets, the weakest and smallest first. If the only one is empty, the property
    /// holds without any fairness.
    pub sets: Vec<MinimalSet>,
    /// Why there may be others. Nothing if there are none.
    pub left: Option<Left>,
    /// What was judged of the offers: those about something that is enabled somewhere, each once.
    pub offers: Vec<Offer>,
    /// How many sets were judged.
    pub n_judged: usize,
    /// A violation that nothing on offer excludes, if there is one.
    pub hopeless: Option<Box<Outcome>>,
    /// What strong global fairness makes of that property.
    pub strong_global: Option<Box<Outcome>>,
    /// What was explored.
    pub stats: Stats,
}

/// Why not all minimal sets are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Left {
    /// A limit was reached.
    Stopped(StopReason),
    /// There are too many of them.
    TooMany,
    /// The question cannot be answered in this way.
    Unsupported(String),
}

/// A minimal set of conditions under which the property holds.
#[derive(Clone, Debug)]
pub struct MinimalSet {
    /// What has to be assumed.
    pub members: Vec<Member>,
    /// Did a search of its own, for this set or a smaller one, confirm that the property holds?
    pub is_confirmed: bool,
    /// Is there no fair run at all?
    pub is_vacuous: bool,
    /// Smaller sets that speak of single instances of processes and suffice, too.
    pub smaller: Vec<MinimalSet>,
}

/// A member of a minimal set.
#[derive(Clone, Debug)]
pub struct Member {
    /// What is assumed.
    pub level: Level,
    /// The next weaker assumption, which does not suffice; nothing if that is none at all.
    pub weaker: Option<String>,
    /// The violation that comes back without it, or with the weaker one in its place. Nothing if a
    /// limit was reached first.
    pub without: Option<Box<Outcome>>,
}

/// Finds all minimal sets of what is on offer under which the property holds. The assumptions of the
/// model hold in any case; its annotations do not.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn infer(
    model: &Model,
    property: &NamedProperty,
    offers: Vec<Offer>,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Inference, Bug> {
    let unsupported = |why: &str| Inference::unknown(Left::Unsupported(why.to_owned()));
    if !is_finite(model, plan) {
        let why = "conditions are inferred where all states can be visited and kept";
        return Ok(unsupported(why));
    }
    let automaton = match forbidden_runs(&property.property) {
        None => return Ok(unsupported("the property is not about single runs")),
        Some(Err(why)) => return Ok(unsupported(&why)),
        Some(Ok(automaton)) => automaton,
    };

    let levels = || offers.iter().flat_map(|offer| &offer.levels);
    let conditions: Vec<Condition> = levels().flat_map(|l| l.conditions.clone()).collect();
    let assumptions: Vec<Assumption> = levels().filter_map(|l| l.assumption.clone()).collect();
    let mut mentioned = atoms(&property.property);
    mentioned.extend(atoms_of(&assumptions));
    let survey = match Survey::explore(model, &conditions, &mentioned, plan, progress) {
        Surveyed::Graph(survey) => survey,
        Surveyed::Decided(verdict, stats) => {
            // The error may be in a proposition that only a candidate mentions.
            let mut parts = model.parts().clone();
            parts.assumptions.extend(assumptions);
            let offering = parts.finish().expect("assumptions about known atoms fit");
            return Inference::decided(&offering, property, verdict, stats);
        }
    };

    let loops = match BadLoops::new(&survey, automaton, &assumptions) {
        Ok(loops) => loops,
        Err(reason) => return Ok(Inference::unknown(Left::Stopped(reason))),
    };
    let offers = different(&survey, offers);
    let mut search = Search {
        model,
        property,
        plan,
        survey: &survey,
        assumptions,
        loops,
        found: Vec::new(),
        n_judged: 0,
    };
    search.infer(&offers)
}

impl Inference {
    fn unknown(left: Left) -> Self {
        Self {
            sets: Vec::new(),
            left: Some(left),
            offers: Vec::new(),
            n_judged: 0,
            hopeless: None,
            strong_global: None,
            stats: Stats::default(),
        }
    }

    /// The exploration ended with a verdict: a run-time error, or a limit.
    fn decided(
        model: &Model,
        property: &NamedProperty,
        verdict: Verdict,
        stats: Stats,
    ) -> Result<Self, Bug> {
        let left = match &verdict {
            Verdict::Unknown(UnknownReason::Stopped(reason)) => Left::Stopped(*reason),
            Verdict::Unknown(reason) => {
                Left::Unsupported(reason.details().unwrap_or(reason.name()).to_owned())
            }
            Verdict::Holds { .. } | Verdict::Violated(_) => {
                let mut outcome = Outcome::new(Route::Explicit, Fairness::NONE, verdict);
                outcome.give_up_where_exhausted();
                if outcome.is_exhausted() {
                    let why = UnknownReason::Exhausted.details().unwrap_or_default();
                    return Ok(Self::unknown(Left::Unsupported(why.to_owned())));
                }
                outcome.confirm(model, property)?;
                return Ok(Self {
                    left: None,
                    hopeless: Some(Box::new(outcome)),
                    stats,
                    ..Self::unknown(Left::TooMany)
                });
            }
        };
        Ok(Self {
            stats,
            ..Self::unknown(left)
        })
    }
}

/// Those offers that are about something that is enabled somewhere, each only once.
fn different(survey: &Survey<'_, '_>, offers: Vec<Offer>) -> Vec<Offer> {
    // What a level demands on this graph: the labels that serve each of its conditions.
    let demands = |level: &Level| {
        let positions = survey.positions(&level.conditions).into_iter();
        let takers = positions.map(|position| survey.graph.takers(position));
        let takers = takers.filter(|takers| takers.contains(&true));
        let kind = level.annotation.as_ref().map(|annotation| annotation.kind);
        (kind, takers.collect::<BTreeSet<Vec<bool>>>())
    };

    let mut known = Vec::new();
    let mut kept = Vec::new();
    for offer in offers {
        if offer.levels[0].assumption.is_some() {
            kept.push(offer);
            continue;
        }
        let demanded: Vec<_> = offer.levels.iter().map(demands).collect();
        let is_enabled = demanded.iter().any(|(_, takers)| !takers.is_empty());
        if is_enabled && !known.contains(&demanded) {
            known.push(demanded);
            kept.push(offer);
        }
    }
    kept
}

struct Search<'x, 's, 'a, 'm> {
    model: &'m Model,
    property: &'x NamedProperty,
    plan: &'x Plan,
    survey: &'s Survey<'a, 'm>,
    /// All assumptions on offer, in the order of `loops.offered`.
    assumptions: Vec<Assumption>,
    loops: BadLoops<'s, 'a, 'm>,
    /// The forbidden loops found so far.
    found: Vec<Rc<Component>>,
    n_judged: usize,
}

impl Search<'_, '_, '_, '_> {
    fn infer(&mut self, offers: &[Offer]) -> Result<Inference, Bug> {
        let mut inference = Inference {
            offers: offers.to_vec(),
            stats: self.survey.stats.clone(),
            ..Inference::unknown(Left::TooMany)
        };
        let strongest: Point = offers
            .iter()
            .map(|offer| offer.levels.len() as u8)
            .collect();
        match self.loop_under(offers, &strongest) {
            Err(reason) => {
                inference.left = Some(Left::Stopped(reason));
                return Ok(inference);
            }
            Ok(Some(component)) => {
                inference.left = None;
                self.tell_hopeless(offers, &strongest, &component, &mut inference)?;
                inference.n_judged = self.n_judged;
                return Ok(inference);
            }
            Ok(None) => {}
        }

        let (points, left) = self.minimal(offers);
        inference.left = left;
        for point in &points {
            let mut set = self.set(offers, point)?;
            set.smaller = self.smaller(offers, point)?;
            inference.sets.push(set);
        }
        self.confirm_all(&mut inference.sets);
        inference.n_judged = self.n_judged;
        Ok(inference)
    }

    /// The minimal sufficient points, as far as the budget allows, and why there may be others.
    fn minimal(&mut self, offers: &[Offer]) -> (Vec<Point>, Option<Left>) {
        let mut points = MinimalPoints::new(offers.len());
        let mut left = None;
        while let Some(point) = points.next().cloned() {
            // What is not shown need not be found.
            if points.n_found() == MAX_SETS {
                break;
            }
            match self.loop_under(offers, &point) {
                Ok(None) => points.yes(),
                Ok(Some(component)) => points.no(self.demand(offers, &component)),
                Err(reason) => {
                    left = Some(Left::Stopped(reason));
                    break;
                }
            }
        }
        let (found, is_open) = points.found();
        (found, left.or(is_open.then_some(Left::TooMany)))
    }

    /// A forbidden loop that is fair to what the point assumes.
    fn loop_under(
        &mut self,
        offers: &[Offer],
        point: &Point,
    ) -> Result<Option<Rc<Component>>, StopReason> {
        self.n_judged += 1;
        let demanded = self.demanded(&chosen(offers, point));
        let mut known = self.found.iter();
        if let Some(known) = known.find(|component| meets(component, &demanded)) {
            return Ok(Some(Rc::clone(known)));
        }
        let found = self.loops.find(&demanded, Closure::None)?.map(Rc::new);
        self.found.extend(found.clone());
        Ok(found)
    }

    fn demanded(&self, levels: &[&Level]) -> Acceptance {
        let conditions = levels.iter().flat_map(|level| &level.conditions);
        let conditions: Vec<Condition> = conditions.cloned().collect();
        let of_conditions = self.survey.demanded(&conditions);
        let assumed = levels.iter().filter_map(|level| level.assumption.as_ref());
        let assumed = assumed.map(|assumption| {
            let position = self
                .assumptions
                .iter()
                .position(|other| other == assumption);
            self.loops.offered[position.expect("it is on offer")].clone()
        });
        Acceptance::all(
            [of_conditions]
                .into_iter()
                .chain(assumed.collect::<Vec<_>>()),
        )
    }

    /// What excludes the loop: for each offer the weakest strength that it is not fair to.
    fn demand(&self, offers: &[Offer], component: &Component) -> Demand {
        let excludes = |level: &Level| !meets(component, &self.demanded(&[level]));
        let weakest = |offer: &Offer| offer.levels.iter().position(excludes);
        let strength = |offer| weakest(offer).map(|level| level as u8 + 1);
        offers.iter().map(strength).collect()
    }

    fn tell_hopeless(
        &mut self,
        offers: &[Offer],
        point: &Point,
        component: &Component,
        inference: &mut Inference,
    ) -> Result<(), Bug> {
        let levels = chosen(offers, point);
        inference.hopeless = self.violated(&levels, component)?;

        // Perhaps only a stronger notion excludes it.
        let found = self.loops.find(&Acceptance::True, Closure::OnSystem);
        let n_steps = |component: &Component| self.loops.size(component).n_steps;
        let verdict = match found {
            Err(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
            Ok(None) => Verdict::Holds { witness: None },
            Ok(Some(component)) if n_steps(&component) > MAX_COVERED => {
                let why = format!(
                    "a loop that shows it would have to take each of {} steps, and loops are \
                     confirmed that take each of up to {MAX_COVERED}",
                    n_steps(&component)
                );
                Verdict::Unknown(UnknownReason::Unsupported(why))
            }
            Ok(Some(component)) => {
                let violation =
                    self.loops
                        .violation(&component, &Acceptance::True, Closure::OnSystem);
                match violation {
                    Ok(violation) => Verdict::Violated(Box::new(violation)),
                    Err(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
                }
            }
        };
        let fairness = Fairness::of(base::FairnessKind::StrongGlobal);
        let mut outcome = Outcome::new(Route::Explicit, fairness, verdict);
        outcome.confirm(self.model, self.property)?;
        inference.strong_global = Some(Box::new(outcome));
        Ok(())
    }

    /// The violation that a forbidden loop shows, confirmed by the reference semantics; nothing if a
    /// limit is reached.
    fn violated(
        &mut self,
        levels: &[&Level],
        component: &Component,
    ) -> Result<Option<Box<Outcome>>, Bug> {
        let demanded = self.demanded(levels);
        let Ok(violation) = self.loops.violation(component, &demanded, Closure::None) else {
            return Ok(None);
        };
        let verdict = Verdict::Violated(Box::new(violation));
        let mut outcome = Outcome::new(Route::Explicit, Fairness::ANNOTATED, verdict);
        outcome.confirm(&assuming_levels(self.model, levels), self.property)?;
        Ok(Some(Box::new(outcome)))
    }

    /// A minimal set with all that is to be said about it before it is confirmed.
    fn set(&mut self, offers: &[Offer], point: &Point) -> Result<MinimalSet, Bug> {
        let mut members = Vec::new();
        for thing in (0..offers.len()).filter(|&thing| point[thing] > 0) {
            let mut lower = point.clone();
            lower[thing] -= 1;
            let levels = &offers[thing].levels;
            let without = match self.loop_under(offers, &lower) {
                Ok(found) => {
                    let component = found.expect("the set is minimal");
                    self.violated(&chosen(offers, &lower), &component)?
                }
                Err(_) => None,
            };
            members.push(Member {
                level: levels[point[thing] as usize - 1].clone(),
                weaker: (lower[thing] as usize)
                    .checked_sub(1)
                    .map(|level| levels[level].name.clone()),
                without,
            });
        }

        Ok(MinimalSet {
            members,
            is_confirmed: false,
            is_vacuous: self.is_vacuous(&chosen(offers, point)),
            smaller: Vec::new(),
        })
    }

    /// Is there no fair run? Justness, weak and strong fairness alone always leave one; with
    /// assumptions that has to be found out.
    fn is_vacuous(&self, levels: &[&Level]) -> bool {
        let has_assumptions = !self.model.parts().assumptions.is_empty()
            || levels.iter().any(|level| level.assumption.is_some());
        let has_fair_run = || {
            let assuming = assuming_levels(self.model, levels);
            explicit::has_fair_run(&assuming, Fairness::ANNOTATED, self.plan)
        };
        has_assumptions && self.survey.graph.n_initial() > 0 && has_fair_run() == Some(false)
    }

    /// Confirms all sets, many at once.
    fn confirm_all(&self, sets: &mut [MinimalSet]) {
        // What is confirmed for less holds for more.
        let mut least: Vec<&mut MinimalSet> = Vec::new();
        for set in sets.iter_mut() {
            if set.smaller.is_empty() {
                least.push(set);
            } else {
                least.extend(&mut set.smaller);
            }
        }
        for together in least.chunks_mut(MAX_SETS) {
            let is_confirmed = self.confirm(together);
            for set in together {
                set.is_confirmed = is_confirmed;
            }
        }

        for set in sets {
            set.is_confirmed |= set.smaller.iter().any(|set| set.is_confirmed);
        }
    }

    /// Does a search of its own say that no run violates the property and is fair to one of the sets?
    fn confirm(&self, sets: &[&mut MinimalSet]) -> bool {
        let Some(Ok(forbidden)) = forbidden_runs(&self.property.property) else {
            return false;
        };
        let own = &self.model.parts().assumptions;
        let mut automaton = assuming(forbidden, own);
        let mut alternatives = Vec::new();
        for set in sets {
            let levels: Vec<&Level> = set.members.iter().map(|member| &member.level).collect();
            let model = assuming_levels(self.model, &levels);
            let further = model.parts().assumptions[own.len()..].iter();
            let demands: Vec<_> = further.map(|one| assumed(&mut automaton, one)).collect();
            alternatives.push(Alternative {
                conditions: model.fairness_conditions(Fairness::ANNOTATED),
                demand: Acceptance::all(demands),
            });
        }

        let mut mentioned = atoms(&self.property.property);
        mentioned.extend(atoms_of(&self.assumptions));
        let violated =
            explicit::has_run(self.model, &automaton, &mentioned, &alternatives, self.plan);
        assert!(
            violated != Some(true),
            "`{}` is violated under conditions that exclude every violation",
            self.property.name
        );
        violated == Some(false)
    }

    /// Sets below the point that speak of single instances, unless all of them are needed.
    fn smaller(&mut self, offers: &[Offer], point: &Point) -> Result<Vec<MinimalSet>, Bug> {
        let single = self.single_offers(offers, point);
        let is_family = single.len() > point.iter().filter(|strength| **strength > 0).count();
        if !is_family || single.len() > MAX_SINGLE {
            return Ok(Vec::new());
        }
        let (points, left) = self.minimal(&single);
        let is_full = |point: &Point| {
            let mut things = point.iter().zip(&single);
            things.all(|(strength, offer)| *strength as usize == offer.levels.len())
        };
        if left.is_some() || points.iter().any(is_full) {
            return Ok(Vec::new());
        }
        points
            .iter()
            .map(|point| self.set(&single, point))
            .collect()
    }

    /// What the point assumes, with the instances of families apart.
    fn single_offers(&self, offers: &[Offer], point: &Point) -> Vec<Offer> {
        let mut single = Vec::new();
        for (offer, strength) in offers.iter().zip(point) {
            let levels = &offer.levels[..*strength as usize];
            let subjects = levels.first().map(|level| level.subjects(self.model));
            let subjects = subjects.unwrap_or_default();
            if subjects.len() <= 1 && !levels.is_empty() {
                single.push(Offer {
                    levels: levels.to_vec(),
                });
                continue;
            }
            for subject in subjects {
                let alone = levels.iter().map(|level| level.alone(self.model, &subject));
                // A single process may have no steps to be just to.
                let levels: Vec<Level> = alone.filter(|l| !l.conditions.is_empty()).collect();
                if !levels.is_empty() {
                    single.push(Offer { levels });
                }
            }
        }
        single
    }
}

/// What a point assumes.
fn chosen<'o>(offers: &'o [Offer], point: &Point) -> Vec<&'o Level> {
    let things = offers
        .iter()
        .zip(point)
        .filter(|(_, strength)| **strength > 0);
    things
        .map(|(offer, strength)| &offer.levels[*strength as usize - 1])
        .collect()
}

/// The model with these conditions in place of its annotations.
pub(super) fn assuming_levels(model: &Model, levels: &[&Level]) -> Model {
    let mut parts = model.parts().clone();
    let annotations = levels.iter().filter_map(|level| level.annotation.clone());
    parts.annotations = annotations.collect();
    parts
        .assumptions
        .extend(levels.iter().filter_map(|level| level.assumption.clone()));
    parts
        .finish()
        .expect("annotations and assumptions of known things fit")
}
