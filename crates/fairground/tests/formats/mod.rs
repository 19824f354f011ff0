//! Everything that is read from files or calls, as functions of bytes that must not panic. The test
//! feeds them with damaged files.

use std::sync::{Arc, Mutex};

use fairground::{
    AutomatonFormat, Budget, Checkpoints, Error, Memory, NoProgress, Options, Plan, Project,
    Severity, Source, Verdict, automaton, check_certificates, report, ws1s,
};

/// Reads bytes, and panics if something is wrong with how they are read.
pub type Read = fn(&[u8]);

/// What is damaged.
#[derive(Clone, Copy)]
pub enum Seeds {
    /// Texts in folders whose names end like this.
    Texts(&'static [&'static str], &'static str),
    /// Numbers, written down with eight bytes each.
    Numbers(fn() -> Vec<Vec<u64>>),
}

/// The formats: name, seeds, and how they are read.
pub const FORMATS: [(&str, Seeds, Read); 9] = [
    ("native", Seeds::Texts(MODELS, "fair"), native),
    ("promela", Seeds::Texts(MODELS, "pml"), promela),
    ("csp", Seeds::Texts(MODELS, "csp"), csp),
    ("mona", Seeds::Texts(MODELS, "mona"), mona),
    ("hoa", Seeds::Texts(SEEDS, "hoa"), hoa),
    ("itf", Seeds::Texts(SEEDS, "json"), itf),
    ("ltl", Seeds::Texts(SEEDS, "ltl"), ltl),
    ("certificate", Seeds::Texts(SEEDS, "cert"), certificate),
    ("checkpoint", Seeds::Numbers(checkpoints), checkpoint),
];

const MODELS: &[&str] = &["examples", "testdata"];
const SEEDS: &[&str] = &["testdata/seeds"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Opens a model. It is right, or there is an error, and every position lies in a text.
fn model(name: &str, bytes: &[u8]) {
    let files = Memory::new([(name, text(bytes))]);
    match Project::open(&files, name, &Options::default()) {
        Ok(project) => {
            let diagnostics = project.diagnostics();
            assert!(diagnostics.iter().all(|d| d.severity != Severity::Error));
            check_spans(diagnostics, project.sources());
        }
        Err(Error::Text(wrong)) => {
            let mut diagnostics = wrong.diagnostics.iter();
            assert!(diagnostics.any(|d| d.severity == Severity::Error));
            check_spans(&wrong.diagnostics, &wrong.sources);
        }
        Err(Error::Bug(bug)) => panic!("{bug}"),
        Err(Error::Call(_) | Error::Stopped(_) | Error::Limit(_)) => {}
    }
}

fn check_spans(diagnostics: &[fairground::Diagnostic], sources: &[Source]) {
    for label in diagnostics.iter().flat_map(|d| &d.labels) {
        let source = &sources[label.span.source.index()];
        assert!(label.span.end as usize <= source.text.len());
        assert!(label.text.len() < 2000);
    }
}

/// The native language.
pub fn native(bytes: &[u8]) {
    model("m.fair", bytes);
}

/// Promela.
pub fn promela(bytes: &[u8]) {
    model("m.pml", bytes);
}

/// CSP#.
pub fn csp(bytes: &[u8]) {
    model("m.csp", bytes);
}

/// MONA's language. Deciding formulas takes as long as it takes, so little may be spent.
pub fn mona(bytes: &[u8]) {
    let source = Source {
        name: "m.mona".to_owned(),
        text: text(bytes),
    };
    let mut no_files = |name: &str| Err(format!("there is no file `{name}`"));
    let settings = ws1s::Options {
        automata: false,
        clock: None,
    };
    let budget = Budget::unlimited().with_max_memory(1 << 20);
    let found = ws1s::run(source, &mut no_files, &settings, &budget);
    check_spans(&found.diagnostics, &found.sources);
    let _ = ws1s::print_answers(&found);
}

/// The Hanoi Omega-Automata format. What is read can be written and read again.
pub fn hoa(bytes: &[u8]) {
    if let Ok(read) = omega::from_hoa(&text(bytes)) {
        drop(read);
    }
}

/// Traces in ITF. What is read can be shown, written and read again.
pub fn itf(bytes: &[u8]) {
    if let Ok(trace) = report::read_itf(&text(bytes)) {
        let _ = report::trace_text(&trace, report::Style::Plain, report::Detail::default());
        let _ = report::chart(&trace);
        let again = report::read_itf(&report::write_itf(&trace));
        assert!(again.is_ok(), "what was written is read");
    }
}

/// Formulas on the command line. Automata may be large, so only short formulas are translated.
pub fn ltl(bytes: &[u8]) {
    const MAX_BYTES: usize = 60;
    if bytes.len() <= MAX_BYTES {
        let _ = automaton(&text(bytes), AutomatonFormat::Hoa);
    } else {
        let source = Source {
            name: "<formula>".to_owned(),
            text: text(bytes),
        };
        let _ = fairground::logic::parse(&source, fairground::SourceId(0));
    }
}

/// Certificates. The model is the one that the seeds are about.
pub fn certificate(bytes: &[u8]) {
    let files = Memory::new([("m.fair", CERTIFIED)]);
    let budget = Budget::unlimited().with_max_states(10_000);
    let _ = check_certificates(&files, "m.fair".as_ref(), bytes, &mut [], &budget);
}

/// The model of the seeds for certificates.
const CERTIFIED: &str = include_str!("../../../../testdata/seeds/certificate/m.fair");

/// The model of the checkpoints; both of its properties hold.
const KEPT: &str = "
    var a, b : 0..9 = 0
    process P(i in 0..1) {
        up when i == 0 || b < a { if i == 0 { a := (a + 1) % 10 } else { b := b + 1 } }
        down when b > a { b := a }
    }
    invariant bounded: a + b <= 18
    property recurs: always (a == 9 implies eventually a == 0)
";

/// Keeps the last state of a search, or has one to go on from, whichever search asks for it.
#[derive(Debug)]
struct Kept(Mutex<Option<Vec<u64>>>);

impl Checkpoints for Kept {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, _search: u64, state: &[u64]) -> bool {
        *self.0.lock().expect("no thread panics here") = Some(state.to_vec());
        true
    }

    fn take(&self, _search: u64) -> Option<Vec<u64>> {
        self.0.lock().expect("no thread panics here").take()
    }
}

/// Goes on from a state of a search, if there is one; says what was found and kept.
fn go_on(
    property: u64,
    state: Option<Vec<u64>>,
    budget: Budget,
) -> (Option<Verdict>, Option<Vec<u64>>) {
    let files = Memory::new([("m.fair", KEPT)]);
    let project = Project::open(&files, "m.fair", &Options::default()).expect("it is right");
    let kept = Arc::new(Kept(Mutex::new(state)));
    let questions = project.questions();
    let question = &questions[property as usize % questions.len()];
    let plan = Plan {
        checkpoints: Some(Arc::clone(&kept) as Arc<dyn Checkpoints>),
        budget,
        ..Plan::default()
    };
    let found = project.check(question, &plan, &mut NoProgress);
    let verdict = match found {
        Ok(answer) => Some(answer.verdict()),
        Err(Error::Bug(bug)) => panic!("{bug}"),
        Err(_) => None,
    };
    let kept = kept.0.lock().expect("no thread panics here").take();
    (verdict, kept)
}

/// States of searches that were stopped: the number of the property, and what was kept.
fn checkpoints() -> Vec<Vec<u64>> {
    let stopped = [(0, 20), (0, 50), (1, 30), (1, 60)].map(|(property, n_states)| {
        let budget = Budget::unlimited().with_max_states(n_states);
        let (_, kept) = go_on(property, None, budget);
        let mut numbers = vec![property];
        numbers.extend(kept.expect("a search that is stopped keeps its state"));
        numbers
    });
    stopped.into()
}

/// The state of a search, as a checkpoint with a right checksum hands it over. It is refused, or a
/// search goes on from it; that finds no violation, because there is none.
pub fn checkpoint(bytes: &[u8]) {
    let numbers = bytes.chunks_exact(8);
    let mut numbers = numbers.map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")));
    let property = numbers.next().unwrap_or(0);
    let budget = Budget::unlimited().with_max_states(10_000);
    let (verdict, _) = go_on(property, Some(numbers.collect()), budget);
    assert_ne!(verdict, Some(Verdict::Violated));
}
