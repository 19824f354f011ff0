//! Conditions and the processes that they tell apart.

use base::{Budget, NoProgress, Source};
use engine::{Differences, Obstacle, Outcome, Query, System, find_run};
use model::{Condition, ConditionKind, InstanceId, Model, Subject};
use omega::Automaton;

const FLIPPERS: &str = "
const N = 4
var on : bool[N] = false
process P(i in 0..N-1) {
    flip { on[i] := !on[i] }
}
";

fn flippers() -> Model {
    let source = Source {
        name: "m.fair".into(),
        text: FLIPPERS.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    loaded.model.expect("the model is right")
}

fn fair_to(processes: impl IntoIterator<Item = usize>, kind: ConditionKind) -> Vec<Condition> {
    let condition = |instance| Condition {
        kind,
        subject: Subject::Process(InstanceId::new(instance)),
        span: None,
    };
    processes.into_iter().map(condition).collect()
}

/// Forgets who is who as far as the conditions do, and looks for any fair run. Returns how many
/// states were met.
fn search(model: &Model, conditions: &[Condition]) -> (Option<Obstacle>, Outcome, u64) {
    let mut system = System::new(model).expect("a small model");
    let symmetry = Differences {
        symmetry: true,
        ..Differences::default()
    };
    let obstacle = system.forget(symmetry, &[], conditions);
    let query = Query {
        automaton: &Automaton::universal(),
        conditions,
        alternatives: &[],
        strong_global: false,
        atoms: &[],
        reduce: false,
        all_states: true,
        checkpoints: None,
    };
    let found = find_run(&mut system, &query, &Budget::unlimited(), &mut NoProgress);
    let (outcome, stats) = found.expect("there are no propositions");
    let obstacle = obstacle.map(|refusal| refusal.obstacle);
    (obstacle, outcome, stats.n_states)
}

#[test]
fn processes_with_different_conditions_are_told_apart() {
    let model = flippers();
    for kind in [ConditionKind::Weak, ConditionKind::Strong] {
        // How many are on, and if the first is told apart, whether that is.
        for (fair, n_states) in [(0..4, 5), (0..1, 2 * 4), (1..4, 2 * 4)] {
            let conditions = fair_to(fair.clone(), kind);
            let (obstacle, outcome, n_found) = search(&model, &conditions);
            assert_eq!(obstacle, None, "{fair:?}");
            assert!(n_found <= n_states, "{fair:?}: {n_found}");
            let Outcome::Run { trace, .. } = outcome else {
                panic!("{fair:?}: there are fair runs");
            };
            let mut movers: Vec<usize> = trace.steps[trace.loop_range()]
                .iter()
                .flat_map(|step| step.movers.iter().map(|mover| mover.index()))
                .collect();
            movers.sort_unstable();
            movers.dedup();
            assert!(fair.clone().all(|i| movers.contains(&i)), "{movers:?}");
        }
    }
}

#[test]
fn conditions_of_different_kinds_on_each_process_leave_nothing_to_exchange() {
    let model = flippers();
    let mut conditions = fair_to([0], ConditionKind::Weak);
    conditions.extend(fair_to([1], ConditionKind::Strong));
    conditions.extend(fair_to([2], ConditionKind::Unconditional));
    let (obstacle, outcome, _) = search(&model, &conditions);
    assert_eq!(obstacle, Some(Obstacle::Fairness));
    assert!(matches!(outcome, Outcome::Run { .. }));
}

#[test]
fn a_condition_that_is_named_twice_counts_once() {
    let model = flippers();
    let mut conditions = fair_to(0..4, ConditionKind::Weak);
    conditions.extend(fair_to(1..3, ConditionKind::Weak));
    let (obstacle, outcome, _) = search(&model, &conditions);
    assert_eq!(obstacle, None);
    assert!(matches!(outcome, Outcome::Run { .. }));
}
