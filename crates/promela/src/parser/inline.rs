//! Calls of inlines.

use std::rc::Rc;

use base::Diagnostic;

use super::{MAX_EXPANDED, Parsed, Parser, Wrong};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    pub(super) fn find_inline(&self, name: &str) -> Option<usize> {
        self.inlines
            .iter()
            .rposition(|inline| &*inline.name == name)
    }

    /// Replaces the call of an inline at `start` by its body. With a `target`, `return e` assigns
    /// to it.
    pub(super) fn expand_call(&mut self, start: usize, target: Option<Vec<Token>>) -> Parsed<()> {
        let call = self.tokens[start].clone();
        let name = call.shared_name().expect("a call starts with a name");
        let name = name.clone();
        let index = self.find_inline(&name).expect("the caller looked it up");
        let inline = self.inlines[index].clone();
        self.notes.found(&name, &inline.name);
        if call.hidden.contains(&name) {
            let message = format!("the inline `{name}` calls itself");
            self.say(Diagnostic::error("recursive-inline", call.span, message));
            return Err(Wrong);
        }

        self.at = start + 1;
        let arguments = self.call_arguments()?;
        if arguments.len() != inline.parameters.len() {
            let message = format!(
                "`{name}` takes {} arguments, but {} are given",
                inline.parameters.len(),
                arguments.len()
            );
            self.say(Diagnostic::error("wrong-arguments", call.span, message));
            return Err(Wrong);
        }

        let mut expanded = Vec::new();
        for token in &inline.body {
            let parameter = token.name().and_then(|word| {
                let is_it = |parameter: &Rc<str>| **parameter == *word;
                inline.parameters.iter().position(is_it)
            });
            match (parameter, &target) {
                // An argument stands at the start of a line where its parameter does.
                (Some(position), _) => {
                    let first = expanded.len();
                    expanded.extend(arguments[position].iter().cloned());
                    if let Some(first) = expanded.get_mut(first) {
                        first.starts_line = token.starts_line;
                    }
                }
                (None, Some(target)) if token.is_name("return") => {
                    expanded.extend(target.iter().cloned());
                    let kind = TokenKind::Punct("=");
                    expanded.push(Token {
                        kind,
                        starts_line: false,
                        ..token.clone()
                    });
                }
                (None, _) => expanded.push(token.clone()),
            }
        }

        let hidden: Vec<Rc<str>> = call.hidden.iter().cloned().chain([name]).collect();
        self.n_expanded += expanded.len() * (1 + hidden.len());
        if self.n_expanded > MAX_EXPANDED {
            let message = "the text is too long after its inlines are expanded";
            let diagnostic = Diagnostic::error("too-large", call.span, message);
            self.say(diagnostic.help("do inlines call each other again and again?"));
            self.stop();
            return Err(Wrong);
        }

        for token in &mut expanded {
            let both = token.hidden.iter().chain(&hidden).cloned();
            token.hidden = both.collect::<Vec<_>>().into();
        }
        self.tokens.splice(start..self.at, expanded);
        self.at = start;
        Ok(())
    }

    /// `( a, b )` as lists of tokens.
    fn call_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        self.expect("(")?;
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            if self.at_end() {
                return self.expected("`)`");
            }
            if depth == 0 && self.is(")") {
                self.advance();
                break;
            }
            if depth == 0 && self.is(",") {
                arguments.push(Vec::new());
            } else {
                let opens = self.is("(") || self.is("[") || self.is("{");
                let closes = self.is(")") || self.is("]") || self.is("}");
                depth += i32::from(opens) - i32::from(closes);
                let token = self.token().clone();
                arguments.last_mut().expect("there is one").push(token);
            }
            self.advance();
        }

        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        Ok(arguments)
    }
}
