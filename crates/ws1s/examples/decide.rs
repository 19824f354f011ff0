//! Decides a MONA file from the command line, for measurements: `decide FILE [-s]`.

use std::time::Instant;

use base::{Budget, Source};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else {
        eprintln!("usage: decide FILE [-s]");
        std::process::exit(2);
    };
    let mut loader = |path: &str| std::fs::read_to_string(path).map_err(|e| e.to_string());
    let text = match loader(path) {
        Ok(text) => text,
        Err(message) => {
            eprintln!("{path}: {message}");
            std::process::exit(2);
        }
    };

    let start = Instant::now();
    let clock = || start.elapsed();
    let options = ws1s::Options {
        automata: false,
        clock: Some(&clock),
    };
    let source = Source {
        name: path.clone(),
        text,
    };
    let report = ws1s::run(source, &mut loader, &options, &Budget::unlimited());
    for diagnostic in &report.diagnostics {
        let span = diagnostic.labels[0].span;
        let source = &report.sources[span.source.index()];
        let (line, column) = source.line_column(span.start as usize);
        println!("{}:{line}:{column}: {}", source.name, diagnostic.message);
    }

    print!("{}", ws1s::print_answers(&report));
    if arguments.iter().any(|argument| argument == "-s") {
        print!("{}", ws1s::print_statistics(&report));
    }
}
