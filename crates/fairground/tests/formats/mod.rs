//! Everything that is read from files or calls, as functions of bytes that must not panic. The tests
//! feed them with damaged files, the targets in `fuzz/` with what libFuzzer makes up.

use fairground::{
    AutomatonFormat, Budget, Error, Memory, Options, Project, Severity, Source, automaton,
    check_certificates, report, ws1s,
};

/// Reads bytes, and panics if something is wrong with how they are read.
pub type Read = fn(&[u8]);

/// The formats: name, where seeds are, how their names end, and how they are read.
pub const FORMATS: [(&str, &[&str], &str, Read); 8] = [
    ("native", &["examples", "testdata"], "fair", native),
    ("promela", &["examples", "testdata"], "pml", promela),
    ("csp", &["examples", "testdata"], "csp", csp),
    ("mona", &["examples", "testdata"], "mona", mona),
    ("hoa", &["fuzz/seeds"], "hoa", hoa),
    ("itf", &["fuzz/seeds"], "json", itf),
    ("ltl", &["fuzz/seeds"], "ltl", ltl),
    ("certificate", &["fuzz/seeds"], "cert", certificate),
];

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
const CERTIFIED: &str = include_str!("../../../../fuzz/seeds/certificate/m.fair");
