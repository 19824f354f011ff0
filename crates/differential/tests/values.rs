//! Sets, bags, maps, sequences and records as values: random effects against what they mean, and all
//! routes against each other on models with such effects.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::Source;
use differential::{Case, Tally, compare};
use evidence::{Value, View};
use model::{Model, State};
use source::Options;
use testkit::values::{Effect, Values, random_effect, text_of};
use testkit::{Random, cases};

/// States that are visited of one model.
const MAX_STATES: usize = 40;

fn load(text: &str) -> source::Single {
    let source = Source {
        name: "test.fair".to_owned(),
        text: text.to_owned(),
    };
    lang::load(source, &Options::default()).single()
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("{other} is not a number"),
    }
}

fn record(value: &Value) -> (i64, bool) {
    match value {
        Value::Record(fields) => match fields.as_slice() {
            [(_, Value::Int(a)), (_, Value::Bool(b))] => (*a, *b),
            _ => panic!("{value} is not a record of the model"),
        },
        other => panic!("{other} is not a record"),
    }
}

fn pairs(value: &Value) -> BTreeMap<i64, i64> {
    match value {
        Value::Map(pairs) => pairs.iter().map(|(k, v)| (number(k), number(v))).collect(),
        other => panic!("{other} is not a map"),
    }
}

fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Set(items) | Value::List(items) => items,
        other => panic!("{other} has no elements"),
    }
}

/// What a state of the model shows. It is read back, too.
fn shown(view: &View<'_>, state: &State) -> Values {
    let values = view.values(state);
    assert_eq!(view.state(&values).as_ref(), Ok(state), "{values:?}");
    let named: BTreeMap<&str, &Value> = view
        .names()
        .iter()
        .map(String::as_str)
        .zip(&values)
        .collect();
    let set = |name| {
        elements(named[name])
            .iter()
            .map(number)
            .collect::<BTreeSet<_>>()
    };
    Values {
        s: set("s"),
        t: set("t"),
        r: elements(named["r"]).iter().map(record).collect(),
        b: pairs(named["b"]),
        m: pairs(named["m"]),
        q: elements(named["q"]).iter().map(number).collect(),
        o: match named["o"] {
            Value::Name(none) => {
                assert_eq!(none, "none");
                None
            }
            value => Some(number(value)),
        },
        n: number(named["n"]),
        ..Values::default()
    }
}

/// All results of all effects; nothing if one of them is an error.
fn meant(effects: &[Effect], values: &Values) -> Option<BTreeSet<Values>> {
    let mut all = BTreeSet::new();
    for effect in effects {
        all.extend((effect.run)(values)?);
    }
    Some(all)
}

/// Compares the steps of reachable states with what they mean; says how many were compared, and how
/// many ended in an error.
fn compare_steps(model: &Model, effects: &[Effect], text: &str) -> (usize, usize) {
    let view = View::new(model);
    let initial = model.initial_states().expect("initial states");
    let mut seen: BTreeSet<Values> = BTreeSet::new();
    let mut open: VecDeque<State> = initial.into();
    let (mut n_compared, mut n_errors) = (0, 0);

    while let Some(state) = open.pop_front() {
        let values = shown(&view, &state);
        if seen.len() >= MAX_STATES || !seen.insert(values.clone()) {
            continue;
        }
        n_compared += 1;
        let steps = model.successors(&state).ok();
        n_errors += usize::from(steps.is_none());
        let found = steps.as_ref().map(|steps| {
            let targets = steps.iter().map(|step| shown(&view, &step.target));
            targets.collect::<BTreeSet<_>>()
        });
        assert_eq!(found, meant(effects, &values), "from {values:?} in\n{text}");
        open.extend(steps.into_iter().flatten().map(|step| step.target));
    }
    (n_compared, n_errors)
}

#[test]
fn effects_do_what_they_mean() {
    let (mut n_compared, mut n_errors) = (0, 0);
    for seed in 0..u64::from(cases(400)) {
        let mut random = Random::new(seed);
        let effects: Vec<Effect> = (0..3).map(|_| random_effect(&mut random)).collect();
        let text = text_of(&effects);
        let loaded = load(&text);
        let Some(model) = loaded.model else {
            panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics);
        };
        let (compared, errors) = compare_steps(&model, &effects, &text);
        n_compared += compared;
        n_errors += errors;
    }
    // Not all of them are errors, and not all of them end at once.
    assert!(n_errors * 2 < n_compared, "{n_errors} of {n_compared}");
}

#[test]
fn routes_agree_on_models_with_values() {
    let mut tally = Tally::default();
    for seed in 0..u64::from(cases(30)) {
        let mut random = Random::new(seed + 1_000_000);
        let effects: Vec<Effect> = (0..3).map(|_| random_effect(&mut random)).collect();
        let text = text_of(&effects);
        let loaded = load(&text);
        let (Some(model), Some(property)) = (loaded.model, loaded.properties.first()) else {
            panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics);
        };
        let case = Case {
            property: property.clone(),
            sources: loaded.sources,
            ..Case::new(
                format!("values {seed}"),
                model,
                property.property.clone(),
                base::Fairness::default(),
            )
        };
        let findings = compare(&case, seed, &mut tally);
        assert!(findings.is_empty(), "{findings:?}\n{text}");
    }
    println!("{tally}");
}
