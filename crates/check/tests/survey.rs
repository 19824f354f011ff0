//! Many notions of fairness on one graph, against one check for each; the weakest sufficient
//! conditions, against all sets of conditions.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Budget, Fairness, FairnessKind, NoProgress, Span};
use check::{
    Granularity, Inference, Left, Level, Offer, Outcome, Plan, check, check_notions, infer, offers,
};
use engine::{Alternative, Query, System, find_run};
use evidence::{Verdict, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::{
    Annotation, Assumption, Atom, AtomMeaning, Composition, Condition, Expr, LocationId, Model,
    ModelParts, Owner, Process, ProcessId, Step, Stmt, StmtKind, Target,
};
use omega::{Acceptance, Automaton, LetterMark, MarkId, Prop};
use testkit::{ModelShape, Random, cases, random_formula, random_model, random_property};

const NOTIONS: [&str; 11] = [
    "none",
    "just",
    "just+annotated",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong-global+annotated",
];

fn named(property: Property) -> NamedProperty {
    NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    }
}

fn bounded() -> Plan {
    Plan {
        budget: Budget::unlimited().with_max_states(2_000),
        all_states: true,
        ..Plan::default()
    }
}

fn kind(outcome: &Outcome) -> &'static str {
    match &outcome.verdict {
        Verdict::Violated(violation) => match violation.kind {
            ViolationKind::RunTimeError(_) => "error",
            _ => "violated",
        },
        other => other.name(),
    }
}

fn single(model: &Model, property: &NamedProperty, fairness: Fairness) -> Outcome {
    let plan = Plan {
        fairness: Some(fairness),
        ..bounded()
    };
    check(model, property, &plan, &mut NoProgress).unwrap_or_else(|bug| panic!("{bug}"))
}

#[test]
fn all_notions_on_one_graph_agree_with_one_check_for_each() {
    let notions = NOTIONS.map(|name| Fairness::parse(name).expect("the names are right"));
    let mut counts = BTreeMap::new();
    for seed in 0..cases(400) {
        let mut random = Random::new(u64::from(seed));
        let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Alike];
        let shape = shapes[[0, 0, 1, 2][random.below(4)]];
        let model = random_model(&mut random, shape);
        let properties = [0, 1].map(|_| named(random_property(&mut random)));
        let asked: Vec<&NamedProperty> = properties.iter().collect();
        let rows = check_notions(&model, &asked, &notions, &bounded(), &mut NoProgress);
        let rows = rows.unwrap_or_else(|bug| panic!("seed {seed}: {bug}"));

        for (property, row) in asked.iter().zip(&rows) {
            for (fairness, outcome) in notions.iter().zip(row) {
                let alone = single(&model, property, *fairness);
                let what = format!("seed {seed}, {:?}, {}", property.property, fairness.name());
                assert_eq!(outcome.fairness.kind, fairness.kind, "{what}");
                let pair = [kind(outcome), kind(&alone)];
                if pair.contains(&"unknown") {
                    continue;
                }
                // A run-time error may hide a violation and the other way round.
                if pair.contains(&"error") {
                    assert!(!pair.contains(&"holds"), "{what}: {pair:?}");
                } else {
                    assert_eq!(pair[0], pair[1], "{what}");
                }
                *counts.entry((fairness.name(), pair[0])).or_insert(0) += 1;
            }
        }
    }

    for notion in NOTIONS {
        for verdict in ["holds", "violated"] {
            let n_cases = counts.get(&(notion.to_owned(), verdict));
            assert!(n_cases.is_some_and(|n| *n >= cases(400) / 20), "{counts:?}");
        }
    }
}

/// What a level assumes, to compare sets.
fn key(level: &Level) -> String {
    let conditions = level.conditions.iter();
    let conditions: Vec<String> = conditions
        .map(|c| format!("{:?} {:?}", c.kind, c.subject))
        .collect();
    format!("{conditions:?} {:?}", level.assumption)
}

/// What several levels assume, in whatever order they are offered.
fn keys<'l>(levels: impl Iterator<Item = &'l Level>) -> Vec<String> {
    let mut keys: Vec<String> = levels.map(key).collect();
    keys.sort_unstable();
    keys
}

/// The strength of each offer in every way of choosing.
fn points(offers: &[Offer]) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new()];
    for offer in offers {
        let extend = |point: &Vec<usize>| {
            let strengths = 0..=offer.levels.len();
            strengths
                .map(|s| [point.as_slice(), &[s]].concat())
                .collect::<Vec<_>>()
        };
        points = points.iter().flat_map(extend).collect();
    }
    points
}

fn chosen<'o>(offers: &'o [Offer], point: &[usize]) -> Vec<&'o Level> {
    let things = offers.iter().zip(point);
    things
        .filter(|(_, s)| **s > 0)
        .map(|(offer, s)| &offer.levels[s - 1])
        .collect()
}

/// The verdict with these levels as annotations and assumptions; nothing if it is not decided.
fn holds(model: &Model, property: &NamedProperty, levels: &[&Level]) -> Option<bool> {
    let mut parts = model.parts().clone();
    parts.annotations.clear();
    for condition in levels.iter().flat_map(|level| &level.conditions) {
        parts.annotations.push(Annotation {
            kind: condition.kind.into(),
            target: Target::Subject(condition.subject.clone()),
            span: Span::nowhere(),
        });
    }
    parts
        .assumptions
        .extend(levels.iter().filter_map(|level| level.assumption.clone()));
    let model = parts.finish().expect("what is assumed exists");
    match kind(&single(&model, property, Fairness::ANNOTATED)) {
        "holds" => Some(true),
        "unknown" => None,
        _ => Some(false),
    }
}

/// All minimal sets, by judging every set.
fn by_brute_force(
    model: &Model,
    property: &NamedProperty,
    offers: &[Offer],
) -> Option<Vec<Vec<usize>>> {
    let mut sufficient: Vec<Vec<usize>> = Vec::new();
    for point in points(offers) {
        if holds(model, property, &chosen(offers, &point))? {
            sufficient.push(point);
        }
    }
    let below = |a: &[usize], b: &[usize]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
    let is_minimal = |point: &&Vec<usize>| !sufficient.iter().any(|other| below(other, point));
    Some(sufficient.iter().filter(is_minimal).cloned().collect())
}

fn inferred(inference: &Inference) -> BTreeSet<Vec<String>> {
    let set = |set: &check::MinimalSet| keys(set.members.iter().map(|member| &member.level));
    inference.sets.iter().map(set).collect()
}

/// At most eight levels: fairness of some subjects, and recurrence of some atoms.
fn some_offers(random: &mut Random, model: &Model) -> Vec<Offer> {
    let granularity = if random.chance(50) {
        Granularity::Each
    } else {
        Granularity::Family
    };
    let mut all = offers(model, granularity);
    let mut chosen = Vec::new();
    let (mut n_levels, most) = (0, 3 + random.below(6));
    while n_levels < most && !all.is_empty() {
        let mut offer = all.swap_remove(random.below(all.len()));
        if random.chance(20) {
            offer.levels.remove(0);
        }
        let n_kept = if random.chance(20) { 1 } else { 3 };
        offer.levels.truncate(n_kept.min(most - n_levels));
        if offer.levels.is_empty() || offer.levels[0].conditions.is_empty() {
            continue;
        }
        n_levels += offer.levels.len();
        chosen.push(offer);
    }
    if n_levels < most && random.chance(40) {
        let atom = AtomId::new(random.below(6));
        let assumption = Assumption::Infinitely(atom, random.chance(70));
        chosen.push(Offer::assumption(model, assumption));
    }
    chosen
}

/// Mostly about what happens again and again, which fairness is about, and about steps.
fn some_formula(random: &mut Random) -> Ltl {
    let atom = |random: &mut Random| {
        let number = if random.chance(60) {
            4 + random.below(2)
        } else {
            random.below(4)
        };
        Ltl::atom(AtomId::new(number))
    };
    let recurs = |random: &mut Random| Ltl::always(Ltl::eventually(atom(random)));
    match random.below(6) {
        0 => {
            let size = 1 + random.below(3);
            random_formula(random, 8, size)
        }
        1 => recurs(random),
        2 => {
            let (cause, effect) = (atom(random), atom(random));
            Ltl::always(Ltl::implies(cause, Ltl::eventually(effect)))
        }
        _ => Ltl::and([recurs(random), recurs(random)]),
    }
}

/// What was compared with brute force.
#[derive(Default)]
struct Compared {
    /// How many cases had this verdict.
    verdicts: BTreeMap<&'static str, u32>,
    /// How many minimal sets had this many members.
    n_members: BTreeMap<usize, u32>,
    /// How many members were justness.
    n_just: usize,
}

impl Compared {
    fn n_cases(&self) -> u32 {
        self.verdicts.values().sum()
    }

    fn add(&mut self, inference: &Inference, what: &str) {
        let verdict = match (inference.hopeless.is_some(), inference.sets.as_slice()) {
            (true, []) => "never",
            (false, [set]) if set.members.is_empty() => "always",
            (false, [_, ..]) => "under conditions",
            other => panic!("{what}: {other:?}"),
        };
        *self.verdicts.entry(verdict).or_insert(0) += 1;
        for set in &inference.sets {
            assert!(set.is_confirmed, "{what}");
            let has_loop = |member: &check::Member| member.without.is_some();
            assert!(set.members.iter().all(has_loop), "{what}");
            *self.n_members.entry(set.members.len()).or_insert(0) += 1;
            let names = set.members.iter().map(|member| &member.level.name);
            self.n_just += names.filter(|name| name.starts_with("just")).count();
        }
    }
}

/// May a single state have more steps than can be written down? In a synchronous composition the
/// choices of all processes multiply.
fn may_have_too_many_steps(model: &Model) -> bool {
    let mut steps = model.parts().processes.iter().flat_map(|p| &p.steps);
    let chooses = |step: &Step| {
        let mut found = false;
        Stmt::walk_all(&step.effect, &mut |statement| {
            // shape: nothing else has several results.
            found |= matches!(statement, StmtKind::Choose(..));
        });
        found
    };
    model.parts().composition == Composition::Synchronous && steps.any(chooses)
}

/// How many threads compare.
const N_THREADS: usize = 2;

/// Compares inference with all sets, on the systems of every other seed.
fn compare_with_brute_force(first_seed: usize, n_wanted: u32) -> Compared {
    let mut compared = Compared::default();
    for seed in (first_seed as u64..).step_by(N_THREADS) {
        if compared.n_cases() >= n_wanted {
            break;
        }
        let mut random = Random::new(seed);
        let shape = if random.chance(70) {
            ModelShape::Tiny
        } else {
            ModelShape::Alike
        };
        let model = random_model(&mut random, shape);
        let property = named(Property::Ltl(some_formula(&mut random)));
        let offers = some_offers(&mut random, &model);
        if may_have_too_many_steps(&model) {
            continue;
        }
        let given = offers.clone();
        let inference = infer(&model, &property, given, &bounded(), &mut NoProgress);
        let inference = inference.unwrap_or_else(|bug| panic!("seed {seed}: {bug}"));
        if inference.left.is_some() || offers.is_empty() {
            continue;
        }
        // Most properties hold always or never; enough of these are compared all the same.
        let depends = inference.sets.iter().any(|set| !set.members.is_empty());
        if !depends && random.chance(92) {
            continue;
        }
        let Some(expected) = by_brute_force(&model, &property, &offers) else {
            continue;
        };

        // Offers that never matter or say the same as another are not judged.
        let is_kept = |offer: &Offer| inference.offers.contains(offer);
        let in_kept = |point: &&Vec<usize>| {
            let mut things = point.iter().zip(&offers);
            things.all(|(strength, offer)| *strength == 0 || is_kept(offer))
        };
        let set = |point: &Vec<usize>| keys(chosen(&offers, point).into_iter());
        let among_kept: BTreeSet<Vec<String>> = expected.iter().filter(in_kept).map(set).collect();
        let what = format!("seed {seed}, {:?}", property.property);
        assert_eq!(inferred(&inference), among_kept, "{what}");
        for set in expected.iter().map(set) {
            let same_size = |other: &&Vec<String>| other.len() <= set.len();
            assert!(among_kept.iter().any(|other| same_size(&other)), "{what}");
        }
        compared.add(&inference, &what);
    }
    compared
}

#[test]
fn inference_agrees_with_brute_force() {
    let n_wanted = cases(150);
    let parts = std::thread::scope(|scope| {
        let n_wanted = n_wanted.div_ceil(N_THREADS as u32);
        let threads: [_; N_THREADS] = std::array::from_fn(|first| {
            scope.spawn(move || compare_with_brute_force(first, n_wanted))
        });
        threads.map(|thread| thread.join().expect("they agree"))
    });

    let mut counts = BTreeMap::new();
    let mut n_pairs = 0;
    let mut n_just = 0;
    for part in parts {
        for (verdict, n) in part.verdicts {
            *counts.entry(verdict).or_insert(0) += n;
        }
        n_pairs += part.n_members.get(&2).unwrap_or(&0);
        n_just += part.n_just;
    }
    println!("{counts:?}, {n_pairs} pairs, {n_just} members are justness");
    for verdict in ["never", "always", "under conditions"] {
        let n_cases = counts.get(verdict);
        assert!(n_cases.is_some_and(|n| *n >= n_wanted / 12), "{counts:?}");
    }
    assert!(n_pairs >= n_wanted / 300, "{n_pairs}");
    assert!(n_just >= n_wanted as usize / 20, "{n_just}");
}

/// Does some run satisfy the automaton and what is demanded? Nothing if that is not known.
fn has_run(
    model: &Model,
    automaton: &Automaton,
    conditions: &[Condition],
    alternatives: &[Alternative],
) -> Option<bool> {
    let n_atoms = model.parts().atoms.len();
    let atoms: Vec<AtomId> = (0..n_atoms).map(AtomId::new).collect();
    let query = Query {
        automaton,
        conditions,
        alternatives,
        strong_global: false,
        atoms: &atoms,
        reduce: false,
        all_states: false,
        checkpoints: None,
    };
    let mut system = System::new(model).ok()?;
    match find_run(&mut system, &query, &bounded().budget, &mut NoProgress) {
        Ok((engine::Outcome::NoRun, _)) => Some(false),
        Ok((engine::Outcome::Run { .. } | engine::Outcome::NotConcrete, _)) => Some(true),
        Ok((engine::Outcome::Failed | engine::Outcome::Stopped(_), _)) | Err(_) => None,
    }
}

#[test]
fn alternatives_are_searched_at_once_as_each_alone() {
    let mut n_by_verdicts = BTreeMap::new();
    for seed in 0..cases(400) {
        let mut random = Random::new(u64::from(seed));
        let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Alike];
        let shape = shapes[random.below(3)];
        let model = random_model(&mut random, shape);
        let formula = Ltl::not(some_formula(&mut random));
        let Ok(mut automaton) = logic::translate(&formula) else {
            continue;
        };
        // A letter mark for each atom, to be demanded besides.
        let first = automaton.n_marks;
        automaton.n_marks += 4;
        automaton.letter_marks.extend((0..4).map(|atom| LetterMark {
            mark: MarkId::new(first + atom),
            when: Prop::Atom(AtomId::new(atom)),
        }));

        let kinds = ["just", "weak", "strong", "weak-process", "strong-process"];
        let conditions: Vec<Condition> = kinds
            .iter()
            .flat_map(|name| model.fairness_conditions(Fairness::parse(name).expect("a notion")))
            .filter(|_| random.chance(60))
            .collect();
        let alternatives: Vec<Alternative> = (0..1 + random.below(3))
            .map(|_| Alternative {
                conditions: conditions
                    .iter()
                    .filter(|_| random.chance(40))
                    .cloned()
                    .collect(),
                demand: match random.below(3) {
                    0 => Acceptance::Inf(MarkId::new(first + random.below(4))),
                    1 => Acceptance::Fin(MarkId::new(first + random.below(4))),
                    _ => Acceptance::True,
                },
            })
            .collect();

        let alone = alternatives.iter().map(|alternative| {
            let mut demanding = automaton.clone();
            let demands = [automaton.acceptance.clone(), alternative.demand.clone()];
            demanding.acceptance = Acceptance::all(demands);
            has_run(&model, &demanding, &alternative.conditions, &[])
        });
        let Some(alone) = alone.collect::<Option<Vec<bool>>>() else {
            continue;
        };
        let Some(together) = has_run(&model, &automaton, &conditions, &alternatives) else {
            continue;
        };
        assert_eq!(together, alone.contains(&true), "seed {seed}: {alone:?}");
        let is_mixed = alone.contains(&true) && alone.contains(&false);
        *n_by_verdicts.entry((together, is_mixed)).or_insert(0) += 1;
    }

    for verdicts in [(false, false), (true, false), (true, true)] {
        let n_cases = n_by_verdicts.get(&verdicts);
        assert!(
            n_cases.is_some_and(|n| *n >= cases(400) / 40),
            "{n_by_verdicts:?}"
        );
    }
}

/// A run that starves one process is fair to the other, and no run that starves it is fair to both.
#[test]
fn an_alternative_demands_only_its_own_conditions() {
    let model = shared_label();
    let never_done = Ltl::always(Ltl::not(Ltl::atom(AtomId::new(0))));
    let automaton = logic::translate(&never_done).expect("it is small");
    let both = model.fairness_conditions(Fairness::of(FairnessKind::WeakProcess));
    let alternative = |conditions: &[Condition]| Alternative {
        conditions: conditions.to_vec(),
        demand: Acceptance::True,
    };
    let (starved, other) = (alternative(&both[..1]), alternative(&both[1..]));
    let found = |alternatives: &[Alternative]| has_run(&model, &automaton, &both, alternatives);
    assert_eq!(found(std::slice::from_ref(&starved)), Some(false));
    assert_eq!(found(&[starved, other]), Some(true));
    assert_eq!(found(&[alternative(&both)]), Some(false));
}

/// An offer is left out because another demands the same, although what it assumes is also a strength of
/// an offer that is judged: the comparison must go by offers, not by what they assume.
#[test]
fn one_of_two_offers_that_say_the_same_is_judged() {
    let compared = compare_with_brute_force(97_731, 1);
    assert_eq!(compared.n_cases(), 1);
}

#[test]
fn a_limit_leaves_sets_open() {
    let mut random = Random::new(3);
    let model = random_model(&mut random, ModelShape::Loose);
    let property = named(Property::Ltl(random_formula(&mut random, 4, 2)));
    let plan = Plan {
        budget: Budget::unlimited().with_max_states(1),
        ..Plan::default()
    };
    let offers = offers(&model, Granularity::Family);
    let inference = infer(&model, &property, offers, &plan, &mut NoProgress);
    let inference = inference.unwrap_or_else(|bug| panic!("{bug}"));
    assert_eq!(
        inference.left,
        Some(Left::Stopped(base::StopReason::StateLimit))
    );
    assert!(inference.sets.is_empty() && inference.hopeless.is_none());
}

/// `P` goes on once, `Q` stays forever; both steps have the same label, so they are one action.
fn shared_label() -> Model {
    let here = LocationId(0);
    let step = |name: &str, target| Step {
        label: Some("same".into()),
        ..Step::new(name, here, target, Span::nowhere())
    };
    let locations = || vec!["here".to_owned(), "done".to_owned()];
    let process = |name: &str, step| Process::new(name, locations(), vec![step], Span::nowhere());
    let parts = ModelParts {
        processes: vec![
            process("P", step("go", LocationId(1))),
            process("Q", step("stay", here)),
        ],
        atoms: vec![Atom {
            name: "done".into(),
            meaning: AtomMeaning::State(Expr::At {
                process: ProcessId(0),
                owner: Owner::Single,
                locations: vec![LocationId(1)],
            }),
            span: Span::nowhere(),
        }],
        ..ModelParts::default()
    };
    parts.finish().expect("the parts fit")
}

#[test]
fn weak_fairness_to_a_shared_label_does_not_imply_justness() {
    let model = shared_label();
    let done = Ltl::eventually(Ltl::atom(AtomId::new(0)));
    let property = named(Property::Ltl(done));
    for granularity in [Granularity::Each, Granularity::Family] {
        let offers = offers(&model, granularity);
        let of_label = |level: &Level| !level.name.contains("process");
        for offer in offers
            .iter()
            .filter(|offer| offer.levels.iter().any(of_label))
        {
            let is_just = |level: &Level| level.name.starts_with("just");
            assert!(offer.levels.len() == 1 || !offer.levels.iter().any(is_just));
        }
        let inference = infer(&model, &property, offers, &bounded(), &mut NoProgress);
        let inference = inference.unwrap_or_else(|bug| panic!("{bug}"));
        let names = inference.sets.iter().map(|set| {
            let names = set.members.iter().map(|member| member.level.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        });
        let names: Vec<String> = names.collect();
        let label = if granularity == Granularity::Each {
            "just fair same"
        } else {
            "just fair go of P"
        };
        assert_eq!(names, [label, "just fair process P"]);
    }

    // The label is taken forever, so it is treated fairly; its other step is not treated justly.
    let under = |kind| single(&model, &property, Fairness::of(kind)).verdict.name();
    assert_eq!(under(FairnessKind::Strong), "violated");
    assert_eq!(under(FairnessKind::Just), "holds");
}
