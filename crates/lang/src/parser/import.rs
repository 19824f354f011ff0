//! Files that are imported, and what names are called in the model.
//!
//! What a text declares outside of processes is called the same in the model, after the prefix under
//! which the text is imported. All uses of such a word are treated alike, so that the text means what
//! it means alone. A word that the name of an import stands before, `net.x`, is one name with it.

use base::Diagnostic;
use rustc_hash::FxHashSet;

use super::{Parsed, Parser};
use crate::ast::{Expr, Ident, ImportDecl};
use crate::lexer::{Token, TokenKind};

/// What the names of a text are called in the model.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    prefix: String,
    /// What the text declares outside of processes.
    declared: FxHashSet<&'a str>,
    /// The names of its imports.
    aliases: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// The names of a text that is imported with this prefix.
    pub(super) fn of(tokens: &[Token<'a>], prefix: &str) -> Self {
        let mut names = Self {
            prefix: prefix.to_owned(),
            ..Self::default()
        };
        let mut depth = 0_usize;
        for (position, token) in tokens.iter().enumerate() {
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ if depth == 0 && token.kind == TokenKind::Word => {
                    names.declaration(&tokens[position..]);
                }
                _ => {}
            }
        }
        names
    }

    /// Notes what is declared, if the first of the tokens begins a declaration.
    fn declaration(&mut self, tokens: &[Token<'a>]) {
        let [keyword, rest @ ..] = tokens else {
            return;
        };
        let word = |n: usize| rest.get(n).filter(|token| token.kind == TokenKind::Word);

        match keyword.text {
            "const" | "param" | "type" | "record" | "chan" | "event" | "def" | "process" => {
                self.declared.extend(word(0).map(|name| name.text));
            }
            "enum" => {
                let listed = rest.iter().take_while(|token| token.text != "}");
                let names = listed.filter(|token| token.kind == TokenKind::Word);
                self.declared.extend(names.map(|name| name.text));
            }
            "var" | "timer" => self.declared.extend(listed_names(rest)),
            "import"
                if rest
                    .first()
                    .is_some_and(|file| file.kind == TokenKind::Text) =>
            {
                let is_named = rest.get(1).is_some_and(|token| token.text == "as");
                let alias = word(2).filter(|_| is_named);
                self.aliases.extend(alias.map(|alias| alias.text));
            }
            _ => {}
        }
    }

    /// What a name is called in the model.
    pub(super) fn in_model(&self, name: &str) -> String {
        let is_imported = name.contains('.');
        if is_imported || self.declared.contains(name) {
            format!("{}{name}", self.prefix)
        } else {
            name.to_owned()
        }
    }

    pub(super) fn aliases(&self) -> Vec<String> {
        self.aliases.iter().map(|&alias| alias.to_owned()).collect()
    }
}

/// The names of variables or timers: `x, y` or `t[3], u`.
fn listed_names<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut rest = tokens.iter().peekable();
    while let Some(name) = rest.next_if(|token| token.kind == TokenKind::Word) {
        names.push(name.text);
        if rest.next_if(|token| token.text == "[").is_some() {
            rest.find(|token| token.text == "]");
        }
        if rest.next_if(|token| token.text == ",").is_none() {
            break;
        }
    }
    names
}

/// Makes one token of each name with the name of an import before it.
pub(super) fn join<'a>(
    tokens: &mut Vec<Token<'a>>,
    text: &'a str,
    is_alias: impl Fn(&str) -> bool,
) {
    let mut joined: Vec<Token<'a>> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();

    while let [first, others @ ..] = rest {
        rest = others;

        let mut token = *first;
        let is_member = joined.last().is_some_and(|before| before.text == ".");

        // A name after a dot belongs to what is before: only the first word can be an import.
        if let [dot, name, behind @ ..] = others
            && first.kind == TokenKind::Word
            && name.kind == TokenKind::Word
            && dot.text == "."
            && (first.span.end, dot.span.end) == (dot.span.start, name.span.start)
            && !is_member
            && is_alias(first.text)
        {
            token.span = first.span.to(name.span);
            token.text = &text[token.span.start as usize..token.span.end as usize];
            rest = behind;
        }

        joined.push(token);
    }
    *tokens = joined;
}

impl Parser<'_> {
    /// `import "net.fair" as net with K = 3`.
    pub(super) fn import(&mut self) -> Parsed<ImportDecl> {
        self.expect("import")?;
        let token = self.peek();
        if token.kind != TokenKind::Text {
            let message = format!("expected the name of a file, found {}", self.found());
            let diagnostic = Diagnostic::error("syntax", token.span, message);
            let help = "write `import \"file.fair\"` or `import \"file.fair\" as name`";
            return Err(self.report(diagnostic.help(help)));
        }
        self.advance();
        let file = Ident {
            text: token.text.trim_matches('"').to_owned(),
            span: token.span,
        };

        let mut alias = None;
        let mut values = Vec::new();
        if self.eat("as") {
            let token = self.name_token("the name of the import")?;
            alias = Some(self.member_ident(token));
            if self.eat("with") {
                values = self.list(Self::given_value)?;
            }
        } else if self.at("with") {
            let message = "an import that gives values needs a name";
            let diagnostic = Diagnostic::error("syntax", self.peek().span, message);
            let help = "write `import \"file.fair\" as name with K = 3`";
            return Err(self.report(diagnostic.help(help)));
        }
        Ok(ImportDecl {
            file,
            alias,
            values,
        })
    }

    /// `K = 3`.
    fn given_value(&mut self) -> Parsed<(Ident, Expr)> {
        let name = self.member("the name of a constant")?;
        self.expect("=")?;
        Ok((name, self.expr()?))
    }
}
