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
    /// Each step that is enabled is interfered with later, or taken (justness).
    Just,
    /// Each process enabled from some point on forever moves infinitely often.
    WeakProcess,
    /// Each process enabled infinitely often moves infinitely often.
    StrongProcess,
    /// Each action enabled from some point on forever is taken infinitely often.
    Weak,
    /// Each action enabled infinitely often is taken infinitely often.
    Strong,
    /// Each step whose source is visited infinitely often is taken infinitely often.
    StrongGlobal,
}

impl FairnessKind {
    /// All of them, weaker ones first as far as they can be compared.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Just,
        Self::WeakProcess,
        Self::StrongProcess,
        Self::Weak,
        Self::Strong,
        Self::StrongGlobal,
    ];

    /// The name that [`Fairness::parse`] reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Just => "just",
            Self::WeakProcess => "weak-process",
            Self::StrongProcess => "strong-process",
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::StrongGlobal => "strong-global",
        }
    }
}

impl FairnessKind {
    /// Is every run that is fair in this sense fair in the other sense, too, in every system whose
    /// steps with the same label have a mover in common?
    #[must_use]
    pub fn implies(self, weaker: Self) -> bool {
        let directly = match self {
            Self::None => &[][..],
            Self::Just => &[Self::None],
            // A step that nothing interferes with stays enabled, and with it its movers and action.
            Self::WeakProcess | Self::Weak => &[Self::Just],
            Self::StrongProcess => &[Self::WeakProcess],
            Self::Strong => &[Self::Weak, Self::StrongProcess],
            Self::StrongGlobal => &[Self::Strong],
        };
        self == weaker || directly.iter().any(|kind| kind.implies(weaker))
    }
}

/// Which runs are fair: a notion for the whole system, and whether the annotations count too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Fairness {
    /// The notion for the whole system.
    pub kind: FairnessKind,
    /// Do the annotations in the model count?
    pub annotated: bool,
    /// Does no abstract timer stay above its threshold forever without being set (t-fairness)?
    pub timers: bool,
}

impl Fairness {
    /// Every run is fair.
    pub const NONE: Self = Self::of(FairnessKind::None);

    /// What the annotations in the model demand, and nothing else.
    pub const ANNOTATED: Self = Self {
        annotated: true,
        ..Self::NONE
    };

    /// Everything that has a name of its own: each notion alone, and the annotations alone.
    pub const ALL: [Self; 8] = [
        Self::of(FairnessKind::None),
        Self::of(FairnessKind::Just),
        Self::of(FairnessKind::WeakProcess),
        Self::of(FairnessKind::StrongProcess),
        Self::of(FairnessKind::Weak),
        Self::of(FairnessKind::Strong),
        Self::of(FairnessKind::StrongGlobal),
        Self::ANNOTATED,
    ];

    /// A notion for the whole system, and nothing else.
    #[must_use]
    pub const fn of(kind: FairnessKind) -> Self {
        Self {
            kind,
            annotated: false,
            timers: false,
        }
    }

    /// Is every run that is fair in this sense fair in the other sense, too, as for
    /// [`FairnessKind::implies`]?
    #[must_use]
    pub fn implies(self, weaker: Self) -> bool {
        self.kind.implies(weaker.kind)
            && (self.annotated || !weaker.annotated)
            && (self.timers || !weaker.timers)
    }

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
                "weak-action" => FairnessKind::Weak,
                "strong-local" | "strong-action" => FairnessKind::Strong,
                name => FairnessKind::ALL
                    .into_iter()
                    .find(|kind| kind.name() == name)?,
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
        let is_alone = self.annotated || self.timers;
        let parts = [
            Some(self.kind.name()).filter(|_| self.kind != FairnessKind::None || !is_alone),
            self.annotated.then_some("annotated"),
            self.timers.then_some("timers"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_again() {
        for fairness in Fairness::ALL {
            assert_eq!(Fairness::parse(&fairness.name()), Some(fairness));
        }
        let kinds = FairnessKind::ALL.map(Fairness::of);
        assert_eq!(kinds[..], Fairness::ALL[..7]);
    }
}
