//! Names of the ways of answering.

/// A way of answering a question about a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Route {
    /// By visiting every reachable state.
    #[default]
    Explicit,
    /// By fixpoints over sets of states, as binary decision diagrams.
    Symbolic,
    /// By both of these at once; the first verdict counts. Outcomes name the one that gave it.
    Race,
    /// By predicate abstraction of data.
    Predicate,
    /// For all numbers of processes, by way of WS1S.
    Ws1s,
    /// On a may/must system, three-valued.
    MayMust,
    /// For all parameters of a threshold automaton, by linear arithmetic over its schemas.
    Schemas,
}

impl Route {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Explicit,
        Self::Symbolic,
        Self::Race,
        Self::Predicate,
        Self::Ws1s,
        Self::MayMust,
        Self::Schemas,
    ];

    /// The stable name used in calls and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Symbolic => "symbolic",
            Self::Race => "race",
            Self::Predicate => "predicate",
            Self::Ws1s => "ws1s",
            Self::MayMust => "may-must",
            Self::Schemas => "schemas",
        }
    }

    /// The route with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.name() == name)
    }
}
