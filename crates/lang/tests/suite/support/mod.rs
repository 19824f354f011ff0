//! What several test files need: loading texts, showing diagnostics, counting states.

use std::collections::{HashMap, VecDeque};

use model::{Model, State};
use source::{Options, Single};

/// Loads a text in which every parameter must have a value. Small texts declare what they do not use,
/// so nothing is said about that.
pub fn load(text: &str, options: &Options) -> Single {
    let mut loaded = load_with_warnings(text, options);
    let is_unused = |d: &base::Diagnostic| UNUSED.contains(&d.code);
    loaded.diagnostics.retain(|d| !is_unused(d));
    loaded
}

/// Warnings about what plays no part.
pub const UNUSED: [&str; 3] = ["never-read", "never-written", "never-entered"];

/// Loads a text in which every parameter must have a value.
pub fn load_with_warnings(text: &str, options: &Options) -> Single {
    let source = base::Source {
        name: "test.fair".to_owned(),
        text: text.to_owned(),
    };
    let closed = Options {
        closed: true,
        ..options.clone()
    };
    lang::load(source, &closed).single()
}

/// One line for each diagnostic: `code line:column message`, then its help.
pub fn show(loaded: &Single) -> String {
    let mut shown = String::new();
    for diagnostic in &loaded.diagnostics {
        let span = diagnostic.labels[0].span;
        let source = &loaded.sources[span.source.index()];
        let (line, column) = source.line_column(span.start as usize);
        let place = match span.source.index() {
            0 => format!("{line}:{column}"),
            _ => format!("{} {line}:{column}", source.name),
        };
        shown += &format!("{} {place} {}\n", diagnostic.code, diagnostic.message);
        for help in &diagnostic.help {
            shown += &format!("    help: {help}\n");
        }
    }
    shown
}

/// Loads a text that must be right.
pub fn model(text: &str, defines: &[(&str, &str)]) -> Model {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options = Options {
        defines: defines.iter().map(pair).collect(),
        ..Options::default()
    };
    let loaded = load(text, &options);
    let shown = show(&loaded);
    loaded.model.unwrap_or_else(|| panic!("{shown}"))
}

/// How many states are reachable and how many steps they have, idle steps included.
pub fn count(model: &Model) -> (usize, usize) {
    let mut ids: HashMap<State, ()> = HashMap::new();
    let mut queue: VecDeque<State> = VecDeque::new();
    for state in model.initial_states().expect("initial states") {
        if ids.insert(state.clone(), ()).is_none() {
            queue.push_back(state);
        }
    }
    let mut n_steps = 0;
    while let Some(state) = queue.pop_front() {
        for step in model.steps_or_idle(&state).expect("no run-time error") {
            n_steps += 1;
            if !ids.contains_key(&step.target) {
                ids.insert(step.target.clone(), ());
                queue.push_back(step.target);
            }
        }
    }
    (ids.len(), n_steps)
}
