//! What a long search says about itself while it runs.

/// Where a search is right now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// What is being done, such as `exploring`.
    pub phase: &'static str,
    /// States stored so far (product states where there is a product).
    pub n_states: u64,
    /// Steps computed so far.
    pub n_transitions: u64,
    /// Bytes in the structures of the search.
    pub memory_bytes: u64,
    /// Current depth of the search.
    pub depth: u64,
    /// There are not more states than this, if that is known.
    pub bound: Option<u64>,
}

/// Listens to a search. Called often (every few thousand states): a listener that draws on a
/// terminal decides itself how often to draw.
pub trait Progress {
    /// The search is here.
    fn report(&mut self, snapshot: &Snapshot);
}

/// Ignores every report.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&mut self, _snapshot: &Snapshot) {}
}
