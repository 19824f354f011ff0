//! How large automata are, family by family, beside those of Spot if its `ltl2tgba` is in the path:
//!
//! `cargo run --release -p fairground-logic --example sizes`
//!
//! With the name of a family as argument, each of its formulas has a line of its own. Spot gets 10 s of
//! CPU time for each formula; what it does not finish counts for neither. See
//! `docs/explanation/translation.md`.

#[path = "../tests/support/families.rs"]
mod families;

use std::process::Command;

use base::{Source, SourceId};
use families::Size;
use logic::translate;

fn main() {
    let only = std::env::args().nth(1);
    let mut totals = [Size::default(); 2];
    println!("family: formulas, refused, then states, edges, nondeterministic: here, Spot");
    for family in families::families() {
        if only.as_ref().is_some_and(|only| *only != family.name) {
            continue;
        }
        let mut sums = [Size::default(); 2];
        let (mut n_refused, mut n_unfinished) = (0, 0);
        let formulas = family.formulas.iter();
        let formulas = formulas.flat_map(|text| [text.clone(), format!("!({text})")]);
        for text in formulas.clone() {
            let Some(ours) = ours(&text) else {
                n_refused += 1;
                println!("refused: {text}");
                continue;
            };
            let spots = spots(&text);
            if only.is_some() {
                println!("{ours:?} {spots:?} {text}");
            }
            match spots {
                Some(spots) => {
                    sums[0] += ours;
                    sums[1] += spots;
                }
                None => n_unfinished += 1,
            }
        }

        let n_formulas = formulas.count();
        let [ours, spots] = sums;
        println!(
            "{:18} {n_formulas:3} {n_refused} | {ours} | {spots} | Spot unfinished: {n_unfinished}",
            family.name
        );
        totals[0] += ours;
        totals[1] += spots;
    }
    println!("all: {} | {}", totals[0], totals[1]);
}

fn ours(text: &str) -> Option<Size> {
    let source = Source {
        name: "<formula>".into(),
        text: text.into(),
    };
    let (formula, _, diagnostics) = logic::parse(&source, SourceId(0));
    let formula = formula.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    translate(&formula)
        .ok()
        .map(|automaton| Size::of(&automaton))
}

/// The figures of `ltl2tgba`; nothing if there are none within 10 s of CPU time.
fn spots(text: &str) -> Option<Size> {
    let script = "ulimit -t 10; exec ltl2tgba --stats='%s %e %d' -f \"$0\"";
    let output = Command::new("sh")
        .args(["-c", script, text])
        .output()
        .ok()?;
    let figures = String::from_utf8(output.stdout).ok()?;
    let figures: Vec<usize> = figures
        .split_whitespace()
        .filter_map(|figure| figure.parse().ok())
        .collect();
    match figures[..] {
        [n_states, n_edges, is_deterministic] => Some(Size {
            n_states,
            n_edges,
            n_nondeterministic: 1 - is_deterministic,
        }),
        _ => None,
    }
}
