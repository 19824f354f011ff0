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
    /// How the work is shared out, if several processes search together.
    pub shares: Option<Shares>,
}

/// How a search is shared out among processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shares {
    /// How many processes there are.
    pub n_processes: u64,
    /// How many states the worker with the fewest of them has.
    pub least: u64,
    /// How many states the worker with the most of them has.
    pub most: u64,
    /// How many bytes all processes have sent.
    pub n_sent: u64,
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
