//! Words of the HOA format.

use super::HoaError;

/// A word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A number.
    Int(u32),
    /// An identifier such as `Inf` or `t`.
    Ident(String),
    /// An identifier followed by a colon, without the colon.
    Header(String),
    /// `@name`, without the sign.
    Alias(String),
    /// A quoted text, without the quotes.
    Text(String),
    /// One of ``!&|()[]{}``.
    Sign(char),
    /// `--BODY--` and the like, without the dashes.
    Divider(String),
}

/// The words of a text, each with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, HoaError> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank()?;
        let line = lexer.line;
        match lexer.next()? {
            Some(token) => tokens.push((line, token)),
            None => return Ok(tokens),
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, HoaError> {
        Err(HoaError {
            line: self.line,
            message: message.into(),
        })
    }

    fn take(&mut self, n_bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(n_bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// Skips white space and comments, which nest.
    fn skip_blank(&mut self) -> Result<(), HoaError> {
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if depth > 0 && self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
            } else {
                match self.rest.chars().next() {
                    Some(c) if depth > 0 || c.is_whitespace() => {
                        self.take(c.len_utf8());
                    }
                    None if depth > 0 => return self.error("a comment is not closed"),
                    _ => return Ok(()),
                }
            }
        }
    }

    fn next(&mut self) -> Result<Option<Token>, HoaError> {
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '0'..='9' => self.number()?,
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = self.name();
                if self.rest.starts_with(':') {
                    self.take(1);
                    Token::Header(name)
                } else {
                    Token::Ident(name)
                }
            }
            '@' => {
                self.take(1);
                Token::Alias(self.name())
            }
            '"' => self.text()?,
            '-' => self.divider()?,
            '!' | '&' | '|' | '(' | ')' | '[' | ']' | '{' | '}' => {
                self.take(1);
                Token::Sign(first)
            }
            other => return self.error(format!("unexpected character {other:?}")),
        };
        Ok(Some(token))
    }

    fn name(&mut self) -> String {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        self.take_while(in_name).to_owned()
    }

    fn number(&mut self) -> Result<Token, HoaError> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) => Ok(Token::Int(number)),
            Err(_) => self.error(format!("the number {digits} is too large")),
        }
    }

    fn text(&mut self) -> Result<Token, HoaError> {
        self.take(1);
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| c != '"' && c != '\\'));
            let is_escape = self.rest.starts_with('\\');
            if self.rest.is_empty() {
                return self.error("a quoted text is not closed");
            }
            self.take(1);
            if !is_escape {
                return Ok(Token::Text(text));
            }
            match self.rest.chars().next() {
                Some(c) => text.push_str(self.take(c.len_utf8())),
                None => return self.error("a quoted text is not closed"),
            }
        }
    }

    fn divider(&mut self) -> Result<Token, HoaError> {
        for name in ["BODY", "END", "ABORT"] {
            let divider = format!("--{name}--");
            if self.rest.starts_with(&divider) {
                self.take(divider.len());
                return Ok(Token::Divider(name.to_owned()));
            }
        }
        self.error("unexpected character '-'")
    }
}
