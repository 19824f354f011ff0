//! What an author expects of a verdict.

/// The verdict that the author of a question expects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expected {
    /// That it holds.
    Holds,
    /// That it is violated.
    Violated,
    /// That it cannot be decided.
    Unknown,
}

impl Expected {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Holds, Self::Violated, Self::Unknown];

    /// The stable name used in texts, calls and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
        }
    }

    /// The expectation with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|expected| expected.name() == name)
    }
}
