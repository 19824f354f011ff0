//! Random texts: what the front end makes of them against an interpreter that knows nothing of it.

use std::collections::{BTreeMap, BTreeSet};

use logic::Property;
use model::{Model, State};
use testkit::text::{Configuration, Fault, Interpreter, Move, random_program};
use testkit::{Random, ReferenceGraph, cases, judge};

/// How many states of a program are compared.
const MAX_STATES: usize = 30;

fn configuration(model: &Model, state: &State) -> Configuration {
    let cells = model.cells().iter().zip(&state.cells);
    let is_variable = |cell: &model::Cell| buffer_type(model, cell.var).is_none();
    let cells = cells.filter(|(cell, _)| is_variable(cell));
    let instances = model.instances().iter().enumerate();
    let location = |(number, instance): (usize, &model::Instance)| {
        let process = &model.parts().processes[instance.process.index()];
        let name = &process.locations[state.locations[number].index()];
        let known = ["main", "idle", "busy", "done"];
        let known = known.into_iter().find(|known| known == name);
        (
            instance.name.clone(),
            known.expect("a location of the text"),
        )
    };

    let mut channels = BTreeMap::new();
    let mut single = state.channels.iter();
    for channel in &model.parts().channels {
        let mut add = |name: String| {
            channels.insert(name, single.next().expect("one for each channel").clone());
        };
        match channel.indices {
            None => add(channel.name.clone()),
            Some((lo, hi)) => {
                (lo..=hi).for_each(|index| add(format!("{}[{index}]", channel.name)));
            }
        }
    }

    for (number, variable) in model.parts().vars.iter().enumerate() {
        let var = model::VarId::new(number);
        if let Some((indices, capacity, n_components)) = buffer_type(model, var) {
            let size = 1 + capacity * n_components;
            let first = model.first_cell(var, None);
            for (number, index) in indices.iter().enumerate() {
                let cells = &state.cells[first + number * size..][..size];
                let messages = cells[1..].chunks(n_components).take(cells[0] as usize);
                let messages: Vec<Vec<i64>> = messages.map(<[i64]>::to_vec).collect();
                channels.insert(format!("{}{index}", variable.name), messages);
            }
        }
    }

    Configuration {
        cells: cells.map(|(cell, v)| (cell.name.clone(), *v)).collect(),
        locations: instances.map(location).collect(),
        channels,
    }
}

/// A variable that is a channel of the text: the indices, how many messages there can be, and how many
/// components they have.
fn buffer_type(model: &Model, var: model::VarId) -> Option<(Vec<String>, usize, usize)> {
    let parts = model.parts();
    let variable = &parts.vars[var.index()];
    let (indices, ty) = match &variable.ty {
        model::Type::Array(array) => {
            let indices = (0..array.len as i64).map(|n| format!("[{}]", array.lo + n));
            (indices.collect(), &array.element)
        }
        ty => (vec![String::new()], ty),
    };
    let model::Type::Record(id) = ty else {
        return None;
    };
    let record = &parts.records[id.index()];
    let (model::RecordForm::Sequence, model::Type::Array(items)) =
        (&record.form, &record.fields.last()?.1)
    else {
        return None;
    };
    Some((indices, items.len, items.element.n_cells(&parts.records)))
}

/// The steps of the model in the terms of the interpreter, and where they lead.
fn model_moves(model: &Model, state: &State) -> Result<BTreeMap<Move, State>, Fault> {
    let steps = model.successors(state).map_err(|_| Fault)?;
    let described = steps.into_iter().map(|step| {
        let mut actions: Vec<String> = step
            .actions
            .iter()
            .map(|id| model.action_name(*id).to_owned())
            .collect();
        let mut movers: Vec<String> = step
            .movers
            .iter()
            .map(|id| model.instance_name(*id).to_owned())
            .collect();
        actions.sort();
        movers.sort();
        let target = configuration(model, &step.target);
        let described = Move {
            actions,
            movers,
            target,
        };
        (described, step.target)
    });

    Ok(described.collect())
}

/// What the front end says at once about constants that would fail at run time.
const REFUSED: [&str; 4] = [
    "out-of-range",
    "index-out-of-range",
    "overflow",
    "division-by-zero",
];

/// What became of the text; nothing if a constant in it has a wrong value.
fn load(text: &str) -> Option<source::Single> {
    let source = base::Source {
        name: "random.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let is_refused = loaded
        .diagnostics
        .iter()
        .any(|said| REFUSED.contains(&said.code));
    if loaded.model.is_none() && is_refused {
        return None;
    }
    assert!(loaded.model.is_some(), "{:?}\n{text}", loaded.diagnostics);
    Some(loaded)
}

/// Compares initial states and steps. The states that were met, unless something failed.
fn compare(
    model: &Model,
    interpreter: &Interpreter<'_>,
    what: &str,
) -> (usize, usize, Option<Vec<Configuration>>) {
    let initial = model.initial_states().map_err(|_| Fault);
    let described = |states: &Vec<State>| -> BTreeSet<Configuration> {
        states.iter().map(|s| configuration(model, s)).collect()
    };
    let expected = interpreter.initial();
    let expected_set = expected.clone().map(|all| all.into_iter().collect());
    assert_eq!(
        initial.as_ref().map(described).map_err(|f| *f),
        expected_set,
        "{what}"
    );

    let Ok(initial) = initial else {
        return (0, 1, None);
    };

    let mut open = initial;
    let mut known: BTreeSet<State> = open.iter().cloned().collect();
    let (mut n_steps, mut n_faults, mut position) = (0, 0, 0);
    let mut met = Vec::new();

    while position < open.len().min(MAX_STATES) {
        let state = open[position].clone();
        position += 1;
        let here = configuration(model, &state);
        let moves = model_moves(model, &state);
        let expected = interpreter.moves(&here);
        let found = moves.as_ref().map(|moves| moves.keys().cloned().collect());
        assert_eq!(found.map_err(|f| *f), expected, "in {here:?} of\n{what}");
        met.push(here);
        match moves {
            Err(Fault) => n_faults += 1,
            Ok(moves) => {
                for target in moves.into_values() {
                    n_steps += 1;
                    if known.insert(target.clone()) {
                        open.push(target);
                    }
                }
            }
        }
    }

    let complete = n_faults == 0 && open.len() <= MAX_STATES;
    (n_steps, n_faults, complete.then_some(met))
}

/// The verdicts about the model against what is true in the states of the interpreter.
fn compare_answers(
    loaded: &source::Single,
    interpreter: &Interpreter<'_>,
    states: &[Configuration],
    what: &str,
) -> usize {
    let model = loaded.model.as_ref().expect("it was loaded");
    let Ok(answers) = states
        .iter()
        .map(|state| interpreter.answers(state))
        .collect::<Result<Vec<_>, Fault>>()
    else {
        return 0;
    };

    let Ok(Some(graph)) = ReferenceGraph::explore(model, MAX_STATES) else {
        panic!("the model is as small as the text\n{what}");
    };
    for (number, property) in loaded.properties.iter().enumerate() {
        let mut truths = answers.iter().map(|answer| answer[number / 2]);
        let expected = match &property.property {
            Property::Invariant(_) => truths.all(|holds| holds),
            Property::Reachable(_) => truths.any(|holds| holds),
            other => panic!("{other:?} was not asked"),
        };
        let found = judge(model, &graph, &property.property, base::Fairness::default());
        let found = found.unwrap_or_else(|error| panic!("{error:?}\n{what}"));
        assert_eq!(found, Some(expected), "{}\n{what}", property.name);
    }

    loaded.properties.len()
}

#[test]
fn texts_mean_what_the_interpreter_says() {
    let (mut n_steps, mut n_faults, mut n_answers, mut n_refused) = (0, 0, 0, 0);
    let n_programs = cases(3_000);
    for seed in 0..u64::from(n_programs) {
        let mut random = Random::new(seed);
        let program = random_program(&mut random);
        let text = program.text(&mut random);
        let Some(loaded) = load(&text) else {
            n_refused += 1;
            continue;
        };
        let model = loaded.model.as_ref().expect("it was loaded");
        let interpreter = Interpreter::new(&program);
        let what = format!("seed {seed}\n{text}");
        let (steps, faults, states) = compare(model, &interpreter, &what);
        n_steps += steps;
        n_faults += faults;
        if let Some(states) = states {
            n_answers += compare_answers(&loaded, &interpreter, &states, &what);
        }
    }
    println!(
        "{n_programs} texts, {n_refused} refused, {n_steps} steps, {n_faults} faults, \
         {n_answers} answers"
    );
    // The comparison is worth something only if it meets steps, errors and answers.
    let enough = n_programs as usize;
    assert!(
        n_steps > enough
            && n_faults > enough / 100
            && n_answers > enough / 2
            && n_refused < enough / 4,
        "{n_steps} {n_faults} {n_answers} {n_refused}"
    );
}
