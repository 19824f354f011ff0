//! From a file to answers.

use std::rc::Rc;
use std::time::Duration;

use base::{Budget, Diagnostic, Severity, Source};

use crate::automaton::Automaton;
use crate::elaborate::{Elaborated, Meaning, elaborate};
use crate::formula::{Formula, Formulas, Var, VarKind};
use crate::lazy::Found;
use crate::machine::{FALSE, Machine, TRUE};
use crate::meter::{Statistics, Unknown};
use crate::pairs;
use crate::parser::{Loader, parse};
use crate::product::{Connective, product};
use crate::solver::Solver;
use crate::text;
use crate::words::{Graph, Word, shortest_word};

/// What to compute.
#[derive(Default)]
pub struct Options<'o> {
    /// Keep the minimal automaton of every formula.
    pub automata: bool,
    /// The time since some moment, for the statistics.
    pub clock: Option<&'o dyn Fn() -> Duration>,
}

/// What is known of a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// True wherever it is defined.
    Valid,
    /// Nowhere true.
    Unsatisfiable,
    /// Somewhere true and somewhere false.
    Satisfiable,
    /// It could not be decided.
    Unknown(Unknown),
}

/// The answer for one formula.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The title of a `verify`; `None` for the main formula.
    pub title: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// A shortest interpretation that satisfies it.
    pub example: Option<Word>,
    /// A shortest interpretation that violates it.
    pub counterexample: Option<Word>,
    /// The minimal automaton, if it was asked for.
    pub automaton: Option<Automaton>,
}

/// Everything there is to say about a file.
#[derive(Clone, Debug)]
pub struct Report {
    /// The texts read, for the positions in diagnostics.
    pub sources: Vec<Source>,
    /// Errors and warnings. With an error there are no answers.
    pub diagnostics: Vec<Diagnostic>,
    /// The global variables, in the order of their declaration. Entry `i` of a letter of an example
    /// belongs to variable `i`.
    pub variables: Vec<(Var, String)>,
    /// The main formula, then every `verify`.
    pub answers: Vec<Answer>,
    /// Names and contents of the files that `export` asks for.
    pub exports: Vec<(String, String)>,
    /// Counters.
    pub statistics: Statistics,
    /// How long each phase took, if there was a clock.
    pub phases: Vec<(&'static str, Duration)>,
}

impl Report {
    /// Are there errors?
    #[must_use]
    pub fn has_errors(&self) -> bool {
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        self.diagnostics.iter().any(is_error)
    }
}

/// Decides a file.
pub fn run(
    main: Source,
    loader: &mut Loader<'_>,
    options: &Options<'_>,
    budget: &Budget,
) -> Report {
    let mut phases = Phases::new(options);
    let (syntax, sources, diagnostics) = parse(main, loader);
    phases.end("parsing");

    let mut report = Report {
        sources,
        diagnostics,
        variables: Vec::new(),
        answers: Vec::new(),
        exports: Vec::new(),
        statistics: Statistics::default(),
        phases: Vec::new(),
    };

    if !report.has_errors() {
        let mut elaborated = elaborate(&syntax, loader);
        phases.end("translation");
        report.diagnostics.append(&mut elaborated.diagnostics);
        if !report.has_errors() {
            decide(&mut elaborated, options, budget, &mut report);
            phases.end("automata");
        }
    }

    base::cap_errors(&mut report.diagnostics);
    report.phases = phases.done;
    report
}

struct Phases<'o> {
    clock: Option<&'o dyn Fn() -> Duration>,
    last: Duration,
    done: Vec<(&'static str, Duration)>,
}

impl<'o> Phases<'o> {
    fn new(options: &Options<'o>) -> Self {
        Self {
            clock: options.clock,
            last: options.clock.map_or(Duration::ZERO, |clock| clock()),
            done: Vec::new(),
        }
    }

    fn end(&mut self, phase: &'static str) {
        if let Some(clock) = self.clock {
            let now = clock();
            self.done.push((phase, now.saturating_sub(self.last)));
            self.last = now;
        }
    }
}

fn decide(
    elaborated: &mut Elaborated,
    options: &Options<'_>,
    budget: &Budget,
    report: &mut Report,
) {
    let hidden = |var: &Var| {
        elaborated.all_positions == Some(*var) || elaborated.last_position == Some(*var)
    };
    let globals = elaborated.globals.iter().cloned();
    report.variables = globals.filter(|(var, _)| !hidden(var)).collect();

    let mut solver = Solver::new(budget);
    let mut formulas = vec![(None, elaborated.main.clone())];
    let verify = elaborated.verify.clone();
    formulas.extend(
        verify
            .into_iter()
            .map(|(title, meaning)| (Some(title), meaning)),
    );

    for (title, meaning) in formulas {
        let whole = whole_formula(elaborated, &meaning);
        let answer = answer(elaborated, &whole, &mut solver, options, &report.variables);
        let mut answer = answer.unwrap_or_else(|unknown| Answer {
            title: None,
            verdict: Verdict::Unknown(unknown),
            example: None,
            counterexample: None,
            automaton: None,
        });
        answer.title = title;
        report.answers.push(answer);
    }

    for request in &elaborated.exports {
        let Ok(machine) = solver.machine(&elaborated.formulas, request.formula.shape) else {
            continue;
        };
        let machine = if request.formula.negated {
            (*machine).clone().complement()
        } else {
            (*machine).clone()
        };
        let tracks = request
            .names
            .iter()
            .map(|(var, name)| (name.clone(), var.kind()));
        let stored = text::Stored {
            tracks: tracks.collect(),
            machine,
        };
        report
            .exports
            .push((request.file.clone(), text::write(&stored)));
    }

    report.statistics = solver.statistics();
}

/// A formula under its restrictions and the assertions.
fn whole_formula(elaborated: &mut Elaborated, meaning: &Meaning) -> Formula {
    let mut all = elaborated.assertion.clone();
    all.extend(meaning.restrictions.iter().cloned());
    all.push(meaning.formula.clone());
    if let Some(last) = elaborated.last_position {
        let ends_there = Rc::new(Machine::ends_at_first_one());
        all.push(elaborated.formulas.given(ends_there, vec![last]));
    }
    elaborated.formulas.and(&all)
}

fn answer(
    elaborated: &Elaborated,
    formula: &Formula,
    solver: &mut Solver<'_>,
    options: &Options<'_>,
    variables: &[(Var, String)],
) -> Result<Answer, Unknown> {
    let all_positions = elaborated.all_positions;
    let track = all_positions.and_then(|var| formula.vars.binary_search(&var).ok());
    let full_track = track.map(|track| track as u32);

    let lazy = if options.automata {
        None
    } else {
        solver.shortest_words(&elaborated.formulas, formula, full_track)?
    };
    let (found, automaton) = match lazy {
        Some(found) => (found, None),
        None => eager(elaborated, formula, solver, options, full_track)?,
    };

    let spread = |word: Option<Word>| word.map(|word| spread_word(&word, formula, variables));
    let (example, counterexample) = (spread(found.example), spread(found.counterexample));

    Ok(Answer {
        title: None,
        verdict: match (&example, &counterexample) {
            (None, _) => Verdict::Unsatisfiable,
            (Some(_), None) => Verdict::Valid,
            _ => Verdict::Satisfiable,
        },
        example,
        counterexample,
        automaton,
    })
}

/// The answer by way of automata: all conjuncts are multiplied but for the last product, which is
/// only searched unless the automaton is wanted.
fn eager(
    elaborated: &Elaborated,
    formula: &Formula,
    solver: &mut Solver<'_>,
    options: &Options<'_>,
    full_track: Option<u32>,
) -> Result<(Found, Option<Automaton>), Unknown> {
    let store = &elaborated.formulas;
    if options.automata {
        let (found, automaton) = build(store, formula, solver, full_track)?;
        return Ok((found, Some(automaton)));
    }

    let (conjuncts, negated) = searched_conjuncts(store, formula);
    let parts = solver.parts(store, &conjuncts, &formula.vars)?;
    let [left, right] = solver.reduce(parts)?;

    let goal = pairs::Goal {
        only_true: false,
        n_tracks: formula.vars.len(),
        full_track,
    };
    let (left, right) = (left.operand(&left.tracks), right.operand(&right.tracks));
    let mut found = pairs::search(left, right, &goal, &mut solver.meter)?;

    if negated {
        std::mem::swap(&mut found.example, &mut found.counterexample);
    }
    Ok((found, None))
}

/// The conjuncts of a formula, or of its negation if it is a disjunction under restrictions: these
/// are never false, so that `r ∧ ¬(c ∧ d)` is `¬(r ∧ c ∧ d)`.
fn searched_conjuncts(store: &Formulas, formula: &Formula) -> (Vec<Formula>, bool) {
    let conjuncts = store.conjuncts(formula);
    let (mut restrictions, others): (Vec<Formula>, Vec<Formula>) = conjuncts
        .iter()
        .cloned()
        .partition(|conjunct| store.is_never_false(conjunct));
    match others.as_slice() {
        [disjunction] if disjunction.negated => {
            restrictions.extend(store.conjuncts(&store.not(disjunction)));
            (restrictions, true)
        }
        _ => (conjuncts, false),
    }
}

/// The automaton of a formula, and shortest words.
fn build(
    store: &Formulas,
    formula: &Formula,
    solver: &mut Solver<'_>,
    full_track: Option<u32>,
) -> Result<(Found, Automaton), Unknown> {
    let parts = solver.parts(store, &store.conjuncts(formula), &formula.vars)?;
    let [left, right] = solver.reduce(parts)?;
    let (left, right) = (left.operand(&left.tracks), right.operand(&right.tracks));
    let product = product(Connective::And, left, right, &mut solver.meter)?;

    let graph = Graph {
        nodes: &product.nodes,
        roots: &product.roots,
        outputs: &product.outputs,
        n_tracks: formula.vars.len(),
        full_track,
    };

    let found = Found {
        example: shortest_word(&graph, TRUE),
        counterexample: shortest_word(&graph, FALSE),
    };

    let automaton = Automaton::from_graph(&graph, formula.vars.to_vec(), &mut solver.meter)?;
    Ok((found, automaton))
}

/// A word over the tracks of a formula as a word over all global variables.
fn spread_word(word: &Word, formula: &Formula, variables: &[(Var, String)]) -> Word {
    let spread = |letter: &Vec<Option<bool>>| {
        let bit = |(var, _): &(Var, String)| {
            let track = formula.vars.binary_search(var).ok()?;
            letter[track]
        };
        variables.iter().map(bit).collect::<Vec<Option<bool>>>()
    };

    let letters = word.letters.iter().map(spread).collect();
    let mut word = Word {
        booleans: spread(&word.booleans),
        letters,
    };

    for (index, (var, _)) in variables.iter().enumerate() {
        match var.kind() {
            VarKind::Bool => word
                .letters
                .iter_mut()
                .for_each(|letter| letter[index] = None),
            _ => word.booleans[index] = None,
        }
    }

    word
}
