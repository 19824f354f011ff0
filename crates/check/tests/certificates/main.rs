//! What holds is certified, and what does not hold is not, whatever a certificate says.

mod data;
mod families;
mod invariants;
mod translation;
mod wrong_holds;

use base::{Budget, Fairness, NoProgress, Span};
use certify::{
    Certificate, Claim, Failure, NoRun, Proof, Reason, read, verify, write, write_packed,
};
use check::{Outcome, Plan, Uncertified, certificate, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property};
use model::{Model, Scope};
use source::{Options, Question, System};
use testkit::{ModelShape, Random, ReferenceGraph, judge, random_model, random_property};

const KINDS: [&str; 9] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong-global+annotated",
];

/// A model with one question about it.
struct Case {
    systems: Vec<System>,
    questions: Vec<Question>,
    /// Which of the questions.
    asked: usize,
    fairness: Fairness,
}

impl Case {
    fn new(model: Model, property: Property, fairness: Fairness) -> Self {
        let named = NamedProperty {
            name: "p".into(),
            text: "p".into(),
            property,
            fairness: None,
            span: Span::nowhere(),
        };
        Self {
            systems: vec![System::new("m", model)],
            questions: vec![Question::about(named, Scope::default())],
            asked: 0,
            fairness,
        }
    }

    fn question(&self) -> &Question {
        &self.questions[self.asked]
    }

    fn model(&self) -> &Model {
        &self.systems[self.question().system].model
    }

    fn outcome(&self) -> Outcome {
        let plan = Plan {
            fairness: Some(self.fairness),
            budget: Budget::unlimited().with_max_states(400),
            all_states: true,
            ..Plan::default()
        };
        let property = &self.question().property;
        let outcome = check(self.model(), property, &plan, &mut NoProgress);
        outcome.unwrap_or_else(|bug| panic!("{bug}"))
    }

    fn certificate(&self, outcome: &Outcome) -> Result<Certificate, Uncertified> {
        let question = self.question();
        let (fairness, budget) = (Some(self.fairness), Budget::unlimited());
        let options = Options::default();
        certificate(
            &self.systems,
            question,
            outcome,
            fairness,
            &options,
            &budget,
        )
    }

    fn verify(&self, certificate: &Certificate) -> Result<(), Failure> {
        let budget = Budget::unlimited();
        // Looking for solvers takes longer than most checks, and only invariants need them.
        let needs_solvers = matches!(
            certificate.proofs[..],
            [Proof::Invariant(_) | Proof::Graph(_), ..]
        );
        let mut solvers = if needs_solvers {
            certify::installed_solvers(&[])
        } else {
            Vec::new()
        };
        let (systems, questions) = (&self.systems, &self.questions);
        let verified = verify(systems, questions, certificate, &mut solvers, &budget);
        verified.map(|certified| assert_eq!(certified.property, self.question().property.name))
    }
}

fn random_fairness(random: &mut Random) -> Fairness {
    Fairness::parse(KINDS[random.below(KINDS.len())]).expect("the names are right")
}

fn random_shape(random: &mut Random) -> ModelShape {
    use ModelShape::{Alike, Loose, Rich, Tiny};
    [Tiny, Tiny, Rich, Loose, Alike][random.below(5)]
}

/// Is the claim of this outcome one that certificates can be about?
fn is_certifiable(case: &Case, outcome: &Outcome) -> bool {
    let is_timed = case.model().abstract_timers().next().is_some();
    match (&case.question().property.property, &outcome.verdict) {
        (Property::CtlStar(_) | Property::MayMust(_), _) => false,
        (Property::Reachable(_), Verdict::Holds { .. }) => false,
        (Property::Reachable(_), Verdict::Violated(v)) => v.trace.is_none() && !is_timed,
        (_, Verdict::Holds { .. }) => !is_timed,
        (_, Verdict::Violated(_) | Verdict::Unknown(_)) => false,
    }
}

#[test]
fn what_holds_of_random_models_is_certified() {
    let (mut n_runs, mut n_positions) = (0, 0);
    for seed in 0..u64::from(testkit::cases(500)) {
        let mut random = Random::new(seed);
        let shape = random_shape(&mut random);
        let model = random_model(&mut random, shape);
        let property = random_property(&mut random);
        let fairness = random_fairness(&mut random);
        let case = Case::new(model, property, fairness);
        let outcome = case.outcome();
        let found = match case.certificate(&outcome) {
            Ok(found) => found,
            Err(Uncertified::Unsupported(why)) => {
                assert!(!is_certifiable(&case, &outcome), "seed {seed}: {why}");
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };

        // What is stored is what was found.
        let stored = read(&write(std::slice::from_ref(&found)));
        assert_eq!(stored, Ok(vec![found.clone()]), "seed {seed}");
        assert_eq!(case.verify(&found), Ok(()), "seed {seed}");
        match found.proofs[0] {
            Proof::Positions(_) => n_positions += 1,
            Proof::Runs(_) => n_runs += 1,
            Proof::Invariant(_) | Proof::Family(_) | Proof::Graph(_) => {
                panic!("the explicit route lists states")
            }
        }
    }
    assert!(n_runs > 0 && n_positions > 0, "{n_runs} {n_positions}");
}

/// One change of a proof that no run exists.
fn change_run(random: &mut Random, run: &mut NoRun) {
    fn some<'l, T>(random: &mut Random, list: &'l mut [T]) -> Option<&'l mut T> {
        let n_items = list.len();
        (n_items > 0).then(|| &mut list[random.below(n_items)])
    }
    let n_profiles = run.profiles.len().max(1);
    match random.below(12) {
        0 => run.profile_of.push(random.below(n_profiles) as u32),
        1 => {
            run.profile_of.pop();
        }
        2 | 3 => {
            let other = random.below(n_profiles + 1) as u32;
            if let Some(profile) = some(random, &mut run.profile_of) {
                *profile = other;
            }
        }
        4 => {
            if let Some(profile) = some(random, &mut run.profiles) {
                profile.pop();
            }
        }
        5..=7 => {
            let number = random.below(4) as u32;
            let profile = some(random, &mut run.profiles);
            let node = profile.and_then(|profile| some(random, profile));
            if let Some(old) = node.and_then(|(_, path)| some(random, path)) {
                *old = number;
            }
        }
        8 => {
            if let Some(demands) = some(random, &mut run.demands) {
                demands.pop();
            }
        }
        9 => run.reasons.push(random_reason(random, 2)),
        _ => {
            let reason = random_reason(random, 2);
            if let Some(old) = some(random, &mut run.reasons) {
                *old = reason;
            }
        }
    }
}

fn random_reason(random: &mut Random, depth: usize) -> Reason {
    let marks = |random: &mut Random| {
        let n_marks = random.below(3);
        (0..n_marks)
            .map(|_| random.below(8) as u32)
            .collect::<Vec<u32>>()
    };
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0 => Reason::Absent(marks(random)),
        1 => Reason::Absent(vec![0]),
        2 => Reason::Unclosed,
        3 => Reason::Case {
            mark: random.below(8) as u32,
            infinite: Box::new(random_reason(random, depth - 1)),
            parts: vec![random_reason(random, depth - 1)],
        },
        _ => Reason::Cut {
            absent: marks(random),
            marks: marks(random),
            parts: vec![random_reason(random, depth - 1)],
        },
    }
}

fn change(random: &mut Random, certificate: &mut Certificate) {
    match &mut certificate.proofs[..] {
        [Proof::Runs(run), ..] => change_run(random, run),
        [Proof::Positions(n_new), ..] => {
            let position = random.below(n_new.len().max(1));
            if let Some(count) = n_new.get_mut(position) {
                *count = random.below(4) as u32;
            }
        }
        [Proof::Invariant(_) | Proof::Family(_) | Proof::Graph(_), ..] | [] => {}
    }
    if random.chance(3) {
        certificate.claim = Claim::Unreachable;
    }
}

/// A violated property, by the definitions, and certificates of other questions about the model.
#[test]
fn what_is_violated_is_never_certified() {
    let (mut n_forged, wanted) = (0, testkit::cases(1_500));
    for seed in 0_u64.. {
        if n_forged >= wanted {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_some() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 24) else {
            continue;
        };
        let property = random_property(&mut random);
        let fairness = random_fairness(&mut random);
        let Ok(Some(false)) = judge(&model, &graph, &property, fairness) else {
            continue;
        };
        // The oracle asks for all positions, and runs through some may not be fair.
        if let Property::Invariant(formula) = &property {
            let always = Property::Ltl(Ltl::always(formula.clone()));
            if judge(&model, &graph, &always, fairness) != Ok(Some(false)) {
                continue;
            }
        }
        let is_reachable_question = matches!(property, Property::Reachable(_));
        let case = Case::new(model.clone(), property.clone(), fairness);

        let mut donors = vec![(
            property.clone(),
            Fairness::parse("strong-global").expect("a name"),
        )];
        donors.extend((0..4).map(|_| (random_property(&mut random), fairness)));
        donors.push((Property::Ltl(Ltl::always(Ltl::tt())), fairness));
        for (other, other_fairness) in donors {
            let donor = Case::new(model.clone(), other, other_fairness);
            let Ok(found) = donor.certificate(&donor.outcome()) else {
                continue;
            };
            for n_changes in 0..12 {
                let mut forged = found.clone();
                (0..n_changes % 5).for_each(|_| change(&mut random, &mut forged));
                forged.fairness = fairness;
                // That the position cannot be reached may be true.
                if is_reachable_question || forged.claim == Claim::Unreachable {
                    forged.claim = Claim::Holds;
                }
                let verified = case.verify(&forged);
                assert!(verified.is_err(), "seed {seed}: accepted {forged:?}");
                n_forged += 1;
            }
        }
    }
}

/// The digest at the end of a file.
fn seal(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let hash = bytes[..end]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
}

/// The bytes with one change.
fn damaged(random: &mut Random, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let position = random.below(bytes.len());
    match random.below(3) {
        0 => bytes.truncate(position),
        1 => bytes[position] ^= 1 << random.below(8),
        _ => bytes.insert(position, random.below(256) as u8),
    }
    bytes
}

#[test]
fn files_that_unpack_to_much_more_are_rejected() {
    let content = vec![0; 1 << 26];
    let deflated = miniz_oxide::deflate::compress_to_vec(&content, 9);
    let bomb = [b"fairground certificate 1, deflate\n".as_slice(), &deflated].concat();
    assert!(bomb.len() < 1 << 17);
    assert_eq!(
        read(&bomb),
        Err(Failure::Wrong("the file is damaged".to_owned()))
    );
}

#[test]
fn damaged_files_are_rejected_without_panic() {
    let (mut n_damaged, mut n_refused, wanted) = (0, 0, testkit::cases(1_500));
    for seed in 0_u64.. {
        if n_damaged >= wanted {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let property = random_property(&mut random);
        let case = Case::new(model, property, random_fairness(&mut random));
        let Ok(found) = case.certificate(&case.outcome()) else {
            continue;
        };
        let found = [found];
        let packed = write_packed(&found);
        assert_eq!(read(&packed), Ok(found.to_vec()), "seed {seed}");
        let whole = if seed % 2 == 0 { write(&found) } else { packed };
        for _ in 0..20 {
            let mut bytes = damaged(&mut random, &whole);
            assert!(read(&bytes).is_err(), "seed {seed}: damage is not noticed");

            // Damage that the digest does not tell: whatever is accepted must be true, and it is.
            if bytes.len() > 32 {
                seal(&mut bytes);
                n_refused += u32::from(match read(&bytes) {
                    Err(_) => true,
                    Ok(all) => all.iter().any(|certificate| {
                        let budget = Budget::unlimited();
                        let (systems, questions) = (&case.systems, &case.questions);
                        verify(systems, questions, certificate, &mut [], &budget).is_err()
                    }),
                });
            }
            n_damaged += 1;
        }
    }
    assert!(n_refused > n_damaged / 2, "{n_refused} of {n_damaged}");
}
