//! What solvers are asked about all values of a parameter says of each instance what the reference
//! semantics says.
//!
//! A text about a step asks for a state that satisfies the facts of a proof and from which the step
//! fails or breaks them. Here the parameter and the state are given, and the facts are a list of
//! states: with all states that the step leads to it must have the answer "unsat", without one of them
//! "sat", and "sat", too, where the step fails.

use std::collections::BTreeSet;

use base::{Budget, Fairness, Source};
use certify::{Base, FamilyProof, Formula, Said, Solver, StateWalk, obligations_for_all};
use model::{CommandId, Model, State, VarId};
use source::{FrontEnd as _, Loaded, Memory, Options};
use testkit::{Random, has_peer};

const GUARDS: [&str; 22] = [
    "true",
    "x == 0",
    "t == i",
    "t != i && P[t] @ a",
    "own < 2 || y[i] == 1",
    "y[x] == 1",
    "z[own] > 0",
    "P[i + 1] @ b",
    "i != N - 1 && P[i + 1] @ b",
    "exists j in 0..N-1: P[j] @ b && j != i",
    "forall j in 0..i-1: !(P[j] @ b)",
    "forall j in i+1..N-1: y[j] == 0",
    "exists j in 0..N-1: z[j] == z[i] + 1",
    "(count j in 0..N-1: P[j] @ a) >= 2",
    "(count j in 0..N-1: y[j] == 1) == 1",
    "N > 3",
    "(t + i) mod N == 0",
    "x * 2 - own > 0 -> Q @ on",
    "if x == 1 then P[0] @ a else y[N - 1] == 0",
    "6 / x == 3",
    "x > 0 && 6 / x == 3",
    "P[t].own == own && t < i",
];

const EFFECTS: [&str; 24] = [
    "skip",
    "x := 1",
    "x := x + 1",
    "own := own - 1",
    "own := x",
    "t := i",
    "t := (t + 1) mod N",
    "t := t + 1",
    "y[i] := 1",
    "y[x] := 1 - y[x]",
    "z[i] := own",
    "z[y[i]] := 2",
    "P[t].own := 0",
    "if x == 0 { y[i] := 1 } else { t := i }",
    "for j in 0..N-1 { y[j] := 0 }",
    "for j in 0..N-1 { if z[j] == 0 { y[j] := 1 } else { z[j] := 0 } }",
    "for j in 0..N-1 { z[j] := if P[j] @ b then 1 else z[j] }",
    "for j in i..N-1 { y[j] := if j < 2 then 1 else 0 }",
    "for k in 0..1 { x := k }",
    "x := choose v in 0..2 where v != own",
    "y[i] := choose v in 0..1",
    "let d = x; x := own; own := d",
    "assert x < 2",
    "if exists j in 0..N-1: y[j] == 1 { x := 2 }",
];

const SINGLE: [&str; 6] = [
    "when x < 2 { x := x + 1 }",
    "when exists j in 0..N-1: P[j] @ b { t := 0 }",
    "{ for j in 0..N-1 { z[j] := 2 - z[j] } }",
    "when forall j in 0..N-1: y[j] == 0 || P[j].own > 0 { y[t] := 0; x := 0 }",
    "{ t := choose v in 0..N-1 where y[v] == 0 }",
    "when P[N - 1] @ a { y[N - 1] := 1; z[0] := x }",
];

fn random_text(random: &mut Random) -> String {
    let some = |random: &mut Random, from: &[&'static str]| from[random.below(from.len())];
    let mut text = "param N\nvar t : 0..N-1 = 0\nvar x : 0..2 = 0\n\
        var y : array[0..N-1] of 0..1 = 0\nvar z : array[0..N-1] of 0..2 = 0\n\
        process P(i in 0..N-1) {\n var own : 0..2 = 0\n init a\n"
        .to_owned();
    for (source, target) in [("a", "b"), ("b", "a")] {
        text += &format!(" from {source} {{\n");
        for number in 0..2 {
            let guard = match random.below(3) {
                0 => format!("({})", some(random, &GUARDS)),
                1 => format!("!({})", some(random, &GUARDS)),
                _ => format!("({}) && ({})", some(random, &GUARDS), some(random, &GUARDS)),
            };
            let mut effect = some(random, &EFFECTS).to_owned();
            if random.chance(2) {
                effect += &format!("; {}", some(random, &EFFECTS));
            }
            text += &format!("  s{number}{source} when {guard} {{ {effect} }} -> {target}\n");
        }
        text += " }\n";
    }
    let (first, second) = (some(random, &SINGLE), some(random, &SINGLE));
    text + &format!(
        "}}\nprocess Q {{\n init off\n from off {{ go {first} -> on }}\n \
         from on {{ back {second} -> off }}\n}}\ninvariant p: x <= 2\n"
    )
}

fn load(text: &str) -> Option<Loaded> {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::Native.load(source, &Memory::default(), &Options::default());
    loaded.family().is_some().then_some(loaded)
}

/// What a state has in the slots of the checker: slot, index, value.
fn content(model: &Model, state: &State) -> Vec<(u32, Option<i64>, i64)> {
    let n_processes = model.parts().processes.len() as u32;
    let mut all = Vec::new();
    for (instance, location) in model.instances().iter().zip(&state.locations) {
        all.push((instance.process.0, instance.index, i64::from(location.0)));
    }
    for (position, cell) in model.cells().iter().enumerate() {
        let VarId(var) = cell.var;
        let offset = (position - model.first_cell(cell.var, cell.instance)) as i64;
        let index = match cell.instance {
            Some(instance) => model.instances()[instance.index()].index,
            None => match &model.parts().vars[cell.var.index()].ty {
                model::Type::Array(array) => Some(array.lo + offset),
                model::Type::Scalar(_) | model::Type::Record(_) => None,
            },
        };
        all.push((n_processes + var, index, state.cells[position]));
    }
    all
}

/// The state is this one.
fn formula(model: &Model, state: &State) -> Formula {
    let has = |(slot, index, value): (u32, Option<i64>, i64)| {
        Formula::Has(slot, index.map(|index| (Base::Zero, index)), value)
    };
    Formula::All(content(model, state).into_iter().map(has).collect())
}

/// The text with the parameter and the state given.
fn given(script: &str, model: &Model, n: i64, state: &State) -> String {
    let mut fixed = format!("(assert (= N {n}))\n");
    for (slot, index, value) in content(model, state) {
        fixed += &match index {
            Some(index) => format!("(assert (= (s{slot} {index}) {value}))\n"),
            None => format!("(assert (= s{slot} {value}))\n"),
        };
    }
    script.replace("(check-sat)", &(fixed + "(check-sat)"))
}

/// Where the commands of a step lead from a state; nothing if one of them fails.
fn targets(model: &Model, process: usize, step: usize, state: &State) -> Option<BTreeSet<State>> {
    let mut all = BTreeSet::new();
    for transition in model.transitions() {
        let CommandId(id) = transition.participants[0].alternatives[0];
        let command = &model.commands()[id as usize];
        let owner = model.instances()[command.instance.index()].process;
        if owner.index() == process && command.step == step {
            let steps = model.steps_of(transition, state).ok()?;
            all.extend(steps.into_iter().map(|step| step.target));
        }
    }
    Some(all)
}

/// Some states of an instance: those that can be reached, and others that fit the types.
fn states(random: &mut Random, model: &Model, n_states: usize) -> Vec<State> {
    let budget = Budget::unlimited();
    let mut found = model.initial_states().expect("initial values");
    if let Ok(mut walk) = StateWalk::new(model, Vec::new(), 60, &budget) {
        while let Ok(visits) = walk.next_visits()
            && !visits.is_empty()
        {
            found.extend(visits.into_iter().map(|visit| visit.state));
        }
    }
    let mut chosen = Vec::new();
    for number in 0..n_states {
        let mut state = found[random.below(found.len())].clone();
        if number % 2 == 0 {
            for (value, cell) in state.cells.iter_mut().zip(model.cells()) {
                let (lo, hi) = cell.ty.bounds();
                *value = lo + random.below((hi - lo + 1) as usize) as i64;
            }
            for location in &mut state.locations {
                location.0 = random.below(2) as u32;
            }
        }
        chosen.push(state);
    }
    chosen
}

struct Comparison {
    solver: Box<dyn Solver>,
    n_steps: usize,
    n_failing: usize,
    n_without: usize,
}

impl Comparison {
    /// Compares all steps of a state. Says whether the text is expressed.
    fn compare(&mut self, loaded: &Loaded, model: &Model, n: i64, state: &State) -> bool {
        let template = &loaded.family().expect("a family").template;
        let steps: Vec<(usize, usize)> = template
            .parts
            .processes
            .iter()
            .enumerate()
            .flat_map(|(process, p)| (0..p.steps.len()).map(move |step| (process, step)))
            .collect();
        for (number, (process, step)) in steps.into_iter().enumerate() {
            let reached = targets(model, process, step, state);
            let all = reached.clone().unwrap_or_default();
            // The first text about a step stands behind two others.
            let Some(answer) = self.ask(loaded, model, (n, state), &all, 2 + number) else {
                return false;
            };
            let expected = if reached.is_some() {
                Said::Unsat
            } else {
                Said::Sat
            };
            assert_eq!(
                answer, expected,
                "step {number} of {process}, N = {n}, {state:?}"
            );
            self.n_steps += all.len();
            self.n_failing += usize::from(reached.is_none());

            let mut fewer = all;
            if let Some(left_out) = fewer.pop_last().filter(|left_out| left_out != state)
                && reached.is_some()
            {
                let answer = self.ask(loaded, model, (n, state), &fewer, 2 + number);
                assert_eq!(answer, Some(Said::Sat), "{n} {state:?} to {left_out:?}");
                self.n_without += 1;
            }
        }
        true
    }

    /// Does the step lead from the state to other states than these, or fail?
    fn ask(
        &mut self,
        loaded: &Loaded,
        model: &Model,
        (n, state): (i64, &State),
        others: &BTreeSet<State>,
        number: usize,
    ) -> Option<Said> {
        let known = others.iter().chain([state]);
        let proof = FamilyProof {
            facts: vec![Formula::Any(known.map(|s| formula(model, s)).collect())],
            predicates: Vec::new(),
            rows: vec![Vec::new()],
            runs: None,
        };
        let template = &loaded.family().expect("a family").template;
        let question = &loaded.questions[0];
        let texts = obligations_for_all(template, question, Fairness::NONE, &proof).ok()?;
        let (title, script) = &texts[number];
        assert!(title.starts_with("step "), "{title}");
        Some(self.solver.ask(title, &given(script, model, n, state)))
    }
}

#[test]
fn texts_for_all_values_say_what_instances_do() {
    if !has_peer("z3", "--version") {
        return;
    }
    let mut comparison = Comparison {
        solver: certify::installed_solvers(&["cvc5"]).remove(0),
        n_steps: 0,
        n_failing: 0,
        n_without: 0,
    };
    let (mut n_texts, mut n_refused) = (0, 0);
    for seed in 0..u64::from(testkit::cases(10)) {
        let mut random = Random::new(seed);
        let text = random_text(&mut random);
        let loaded = load(&text).unwrap_or_else(|| panic!("seed {seed}: {text}"));
        let n = 2 + (seed % 4) as i64;
        let member = loaded.family().expect("a family").members.with_value(n);
        let model = member.single().model.unwrap_or_else(|| panic!("{text}"));
        println!("seed {seed}:\n{text}");
        let mut chosen = states(&mut random, &model, 3).into_iter();
        if chosen.all(|state| comparison.compare(&loaded, &model, n, &state)) {
            n_texts += 1;
        } else {
            n_refused += 1;
        }
    }
    let Comparison {
        n_steps,
        n_failing,
        n_without,
        ..
    } = comparison;
    println!(
        "{n_texts} texts ({n_refused} refused), {n_steps} steps, {n_failing} fail, {n_without}"
    );
    assert!(n_texts > 0 && n_steps > 0 && n_failing > 0 && n_without > 0);
}
