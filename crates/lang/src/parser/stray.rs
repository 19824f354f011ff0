//! Words that were not meant as steps, although they could be read as such.

use base::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::{Parsed, Parser, foreign};
use crate::ast::{Ident, ProcessDecl, Sources, StepDecl};
use crate::lexer::TokenKind;

/// The error about a step that consists of its name only.
const STRAY: &str = "stray-word";

/// Words that can follow the name of a step, or begin an item of a process.
const NEAR_A_STEP: [&str; 9] = [
    "when", "sync", "delay", "from", "init", "var", "timer", "def", "fair",
];

impl Parser<'_> {
    /// Reports a word of another language where a step is expected.
    pub(super) fn check_not_foreign(&mut self, step: &StepDecl) -> Parsed<()> {
        let name = &step.name;
        let Some(help) = foreign::instead_of_word(&name.text) else {
            return Ok(());
        };
        if !foreign::is_foreign(&name.text) && !is_bare(step) {
            return Ok(());
        }
        Err(self.report_foreign(name, help))
    }

    pub(super) fn report_foreign(&mut self, name: &Ident, help: &str) -> super::Reported {
        let message = format!("`{}` is not a word of this language", name.text);
        self.report(Diagnostic::error("foreign-word", name.span, message).help(help))
    }

    /// Reports a step without guard, effect, communication and target: a forgotten arrow, a misspelt
    /// keyword or a word of another language looks like that, and would always be possible.
    pub(super) fn check_not_stray(&mut self, step: &StepDecl) -> Parsed<()> {
        if !is_bare(step) {
            return Ok(());
        }
        let name = &step.name;
        let message = format!(
            "the step `{}` has neither guard, effect, communication nor target",
            name.text
        );
        let mut diagnostic = Diagnostic::error(STRAY, name.span, message);
        if let Some((span, meant)) = self.misspelt(name) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
            diagnostic.labels[0].span = span;
        }
        let explicit = format!(
            "write `{} {{ skip }}` for a step that is always possible and changes nothing",
            name.text
        );
        Err(self.report(diagnostic.help(explicit)))
    }

    /// The keyword that the name of a step, or what follows it in its line, was meant to be.
    fn misspelt(&self, name: &Ident) -> Option<(Span, &'static str)> {
        let next = self.peek();
        if next.kind != TokenKind::Word || next.starts_line {
            return None;
        }
        let of = |word: &str, span| {
            let meant = base::closest_name(word, NEAR_A_STEP)?;
            Some((span, meant))
        };
        of(next.text, next.span).or_else(|| of(&name.text, name.span))
    }

    /// Reports steps that are named like a location of their process: then an arrow was forgotten
    /// before the name. Stray words among the errors from `n_said` on are told about it as well.
    pub(super) fn check_step_names(&mut self, process: &ProcessDecl, n_said: usize) {
        let sources = process
            .blocks
            .iter()
            .flat_map(|block| match &block.sources {
                Sources::Named(names) => names.as_slice(),
                Sources::All | Sources::Implicit => &[],
            });
        let locations = process.initial.iter().chain(sources);
        let locations: FxHashSet<&str> = locations.map(|name| name.text.as_str()).collect();
        let is_location = |name: &str| locations.contains(name);
        let arrow = |name: &str| {
            format!("`{name}` is a location; write `-> {name}` if the step before it leads there")
        };

        for diagnostic in self.diagnostics[n_said..].iter_mut() {
            let name = diagnostic.message.split('`').nth(1).map(str::to_owned);
            if let Some(name) = name.filter(|name| diagnostic.code == STRAY && is_location(name)) {
                diagnostic.help.insert(0, arrow(&name));
            }
        }

        for step in process.blocks.iter().flat_map(|block| &block.steps) {
            let name = step.name.text.as_str();
            if is_location(name) {
                let message = format!("the step `{name}` is named like a location");
                let diagnostic =
                    Diagnostic::error("step-named-like-location", step.name.span, message)
                        .help(arrow(name))
                        .help("give the step another name otherwise");
                self.report(diagnostic);
            }
        }
    }
}

/// Does the step consist of its name only?
fn is_bare(step: &StepDecl) -> bool {
    step.guards.is_empty()
        && step.effect.is_empty()
        && step.communications.is_empty()
        && step.delay.is_none()
        && step.target.is_none()
}
