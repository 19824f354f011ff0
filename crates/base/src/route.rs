//! Names of the ways of answering.

/// A way of answering a question about a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Route {
    /// By visiting every reachable state.
    #[default]
    Explicit,
    /// By predicate abstraction of data.
    Predicate,
    /// For all numbers of processes, by way of WS1S.
    Ws1s,
    /// On a may/must system, three-valued.
    MayMust,
}

impl Route {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Explicit, Self::Predicate, Self::Ws1s, Self::MayMust];

    /// The stable name used in calls and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Predicate => "predicate",
            Self::Ws1s => "ws1s",
            Self::MayMust => "may-must",
        }
    }

    /// The route with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.name() == name)
    }
}
