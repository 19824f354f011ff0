//! Colours, or none.

/// How text is decorated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Not at all.
    Plain,
    /// With ANSI escape sequences.
    Ansi,
}

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Good,
    Bad,
    Doubtful,
    Heading,
    Action,
    Faint,
}

impl Style {
    /// The text, decorated for its role.
    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        let code = match role {
            Role::Good => "1;32",
            Role::Bad => "1;31",
            Role::Doubtful => "1;33",
            Role::Heading => "1",
            Role::Action => "36",
            Role::Faint => "2",
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}
