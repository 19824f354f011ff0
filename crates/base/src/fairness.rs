//! Names of the notions of fairness that range over a whole system.
//!
//! They stand here because properties (which know no models) and models (which know no formulas)
//! both say which notion they mean. What a notion demands of a run is defined in crate `model`.

/// The notions of fairness that range over a whole system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FairnessKind {
    /// Every run is fair.
    #[default]
    None,
    /// Each process enabled from some point on for ever moves infinitely often.
    WeakProcess,
    /// Each process enabled infinitely often moves infinitely often.
    StrongProcess,
    /// Each action enabled from some point on for ever is taken infinitely often.
    Weak,
    /// Each action enabled infinitely often is taken infinitely often.
    Strong,
    /// Each step whose source is visited infinitely often is taken infinitely often.
    StrongGlobal,
}

/// Which runs are fair: a notion for the whole system, and whether the annotations count too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Fairness {
    /// The notion for the whole system.
    pub kind: FairnessKind,
    /// Do the annotations in the model count?
    pub annotated: bool,
    /// Does no abstract timer stay above its threshold for ever without being set (t-fairness)?
    pub timers: bool,
}

impl Fairness {
    /// Reads a name such as `weak`, `strong-global`, `annotated` or `weak+annotated`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fairness = Self::default();
        for part in text.split('+') {
            let kind = match part.trim() {
                "annotated" => {
                    fairness.annotated = true;
                    continue;
                }
                "timers" => {
                    fairness.timers = true;
                    continue;
                }
                "none" => FairnessKind::None,
                "weak-process" => FairnessKind::WeakProcess,
                "strong-process" => FairnessKind::StrongProcess,
                "weak" | "weak-action" => FairnessKind::Weak,
                "strong" | "strong-local" | "strong-action" => FairnessKind::Strong,
                "strong-global" => FairnessKind::StrongGlobal,
                _ => return None,
            };
            if fairness.kind != FairnessKind::None {
                return None;
            }
            fairness.kind = kind;
        }
        Some(fairness)
    }

    /// The name that [`Fairness::parse`] reads.
    #[must_use]
    pub fn name(self) -> String {
        let kind = match self.kind {
            FairnessKind::None => "none",
            FairnessKind::WeakProcess => "weak-process",
            FairnessKind::StrongProcess => "strong-process",
            FairnessKind::Weak => "weak",
            FairnessKind::Strong => "strong",
            FairnessKind::StrongGlobal => "strong-global",
        };
        let is_alone = self.annotated || self.timers;
        let parts = [
            Some(kind).filter(|_| self.kind != FairnessKind::None || !is_alone),
            self.annotated.then_some("annotated"),
            self.timers.then_some("timers"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("+")
    }
}
