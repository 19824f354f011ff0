//! What callers say about a model besides its text.

use base::Expected;

/// What the caller says about a model besides its text.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The language of the text, if its name is not to be asked (`--language`).
    pub language: Option<String>,
    /// Values for constants, parameters and macros, by name (`-D NAME=VALUE`).
    pub defines: Vec<(String, String)>,
    /// Further properties: name and formula (`--ltl`).
    pub ltl: Vec<(String, String)>,
    /// Further properties with path quantifiers: name and formula (`--ctl`).
    pub ctl: Vec<(String, String)>,
    /// Further assumptions about runs (`--assume`).
    pub assume: Vec<String>,
    /// Expressions whose values in states are wanted.
    pub values: Vec<String>,
    /// Timers whose values from a threshold on are not told apart: the name, or process and name
    /// (`--abstract-timer NAME=K`).
    pub abstract_timers: Vec<(String, String)>,
    /// How many processes or terms are provided for where the text gives no bound; 0 leaves the
    /// choice to the front end. A run that needs more ends in a run-time error that says so.
    pub pool: usize,
    /// What is expected of verdicts, by the names of questions (`--expect NAME=VERDICT`).
    pub expected: Vec<(String, Expected)>,
    /// Must every parameter have a value? Then a family is an error.
    pub closed: bool,
    /// How the text is read otherwise than usual.
    pub variations: Vec<Variation>,
}

/// A way of reading a text otherwise than usual, which some languages offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variation {
    /// Assertions that fail are passed over (`--no-assertions`).
    WithoutAssertions,
    /// It is not asked whether end states are valid (`--no-end-states`).
    WithoutEndStates,
    /// A message that is sent to a full channel is lost (`--lossy-channels`).
    LossyChannels,
}

impl Variation {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::WithoutAssertions,
        Self::WithoutEndStates,
        Self::LossyChannels,
    ];

    /// The option of the command line, without its dashes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WithoutAssertions => "no-assertions",
            Self::WithoutEndStates => "no-end-states",
            Self::LossyChannels => "lossy-channels",
        }
    }
}
