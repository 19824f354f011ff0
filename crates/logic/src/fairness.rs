//! Fairness written into a formula becomes acceptance instead of states.
//!
//! A Boolean combination of `[]<>s` and `<>[]s` with propositional `s` depends only on which letters
//! come infinitely often. `[]<>s` is `Inf` and `<>[]s` is `Fin` of the negation, of a mark that
//! depends on the letter alone. This is exact, needs no state, and its cost is linear, while a tableau
//! (or a degeneralized automaton) of thirty conditions has 2^30 states. The idea of keeping such
//! formulas out of the tableau is *suspension*: Babiak, Badie, Duret-Lutz, Křetínský, Strejček, SPIN
//! 2013, <https://doi.org/10.1007/978-3-642-39176-7_6>; that Emerson–Lei acceptance holds them directly
//! is used by Major, Blahoudek, Strejček, Sasaráková, Zbončáková, *ltl3tela*, ATVA 2019,
//! <https://doi.org/10.1007/978-3-030-31784-3_21>.

use omega::{Acceptance, LetterMark, MarkId, Prop};
use rustc_hash::FxHashMap;

use crate::arena::{Arena, Form, FormId};
use crate::bdd::{Bdd, Bdds};

/// A conjunction: `rest` is left to the tableau, `fairness` becomes acceptance.
///
/// Invariant: [`is_fairness`] holds for `fairness`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FairConjunction {
    pub(crate) rest: FormId,
    pub(crate) fairness: FormId,
}

/// More disjuncts than this are not worth an automaton each.
const MAX_PARTS: usize = 16;

/// The formula as one conjunction: only what is outermost becomes acceptance.
pub(crate) fn whole(arena: &mut Arena, formula: FormId) -> FairConjunction {
    if is_fairness(arena, formula) {
        return FairConjunction {
            rest: FormId::TRUE,
            fairness: formula,
        };
    }

    let Form::And(parts) = arena.form(formula).clone() else {
        return FairConjunction {
            rest: formula,
            fairness: FormId::TRUE,
        };
    };

    let (fair, rest): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|&part| is_fairness(arena, part));
    FairConjunction {
        rest: arena.and(rest),
        fairness: arena.and(fair),
    }
}

/// The formula as a disjunction of conjunctions, as far as that separates fairness from the rest.
pub(crate) fn parts(arena: &mut Arena, formula: FormId) -> Vec<FairConjunction> {
    if is_fairness(arena, formula) || !mentions_fairness(arena, formula) {
        return vec![whole(arena, formula)];
    }
    match arena.form(formula).clone() {
        Form::Or(disjuncts) => {
            let mut all = Vec::new();
            let mut fair = Vec::new();
            let mut plain = Vec::new();
            for disjunct in disjuncts {
                if is_fairness(arena, disjunct) {
                    fair.push(disjunct);
                } else if mentions_fairness(arena, disjunct) {
                    all.extend(parts(arena, disjunct));
                } else {
                    plain.push(disjunct);
                }
            }
            for group in [fair, plain] {
                if !group.is_empty() {
                    let group = arena.or(group);
                    all.push(whole(arena, group));
                }
            }
            joined(arena, all)
        }
        Form::And(conjuncts) => {
            let mut all = vec![FairConjunction {
                rest: FormId::TRUE,
                fairness: FormId::TRUE,
            }];
            for conjunct in conjuncts {
                let alternatives = parts(arena, conjunct);
                all = if all.len() * alternatives.len() <= MAX_PARTS {
                    product(arena, &all, &alternatives)
                } else {
                    let single = whole(arena, conjunct);
                    product(arena, &all, &[single])
                };
            }
            joined(arena, all)
        }
        _ => vec![whole(arena, formula)],
    }
}

fn product(
    arena: &mut Arena,
    left: &[FairConjunction],
    right: &[FairConjunction],
) -> Vec<FairConjunction> {
    let mut all = Vec::new();
    for a in left {
        for b in right {
            all.push(FairConjunction {
                rest: arena.and(vec![a.rest, b.rest]),
                fairness: arena.and(vec![a.fairness, b.fairness]),
            });
        }
    }
    all
}

/// Joins the disjuncts that have the same fairness or the same rest, and drops the empty ones.
fn joined(arena: &mut Arena, parts: Vec<FairConjunction>) -> Vec<FairConjunction> {
    let mut kept: Vec<FairConjunction> = Vec::new();
    for part in parts {
        if part.rest == FormId::FALSE || part.fairness == FormId::FALSE {
            continue;
        }
        if let Some(same) = kept.iter_mut().find(|other| other.rest == part.rest) {
            same.fairness = arena.or(vec![same.fairness, part.fairness]);
        } else if let Some(same) = kept
            .iter_mut()
            .find(|other| other.fairness == part.fairness)
        {
            same.rest = arena.or(vec![same.rest, part.rest]);
        } else {
            kept.push(part);
        }
    }
    kept
}

/// Is the formula a Boolean combination of `[]<>s` and `<>[]s` with propositional `s`?
pub(crate) fn is_fairness(arena: &Arena, formula: FormId) -> bool {
    match arena.form(formula) {
        Form::False | Form::True => true,
        Form::And(parts) | Form::Or(parts) => parts.iter().all(|&part| is_fairness(arena, part)),
        _ => limit(arena, formula).is_some(),
    }
}

/// Is such a combination part of the formula, outside of temporal operators?
fn mentions_fairness(arena: &Arena, formula: FormId) -> bool {
    match arena.form(formula) {
        Form::And(parts) | Form::Or(parts) => {
            parts.iter().any(|&part| mentions_fairness(arena, part))
        }
        _ => limit(arena, formula).is_some(),
    }
}

/// The `s` of `[]<>s` (with `true`) or `<>[]s` (with `false`).
fn limit(arena: &Arena, formula: FormId) -> Option<(FormId, bool)> {
    let (body, again) = match arena.form(formula) {
        Form::Always(inner) => match arena.form(*inner) {
            Form::Eventually(body) => (*body, true),
            _ => return None,
        },
        Form::Eventually(inner) => match arena.form(*inner) {
            Form::Always(body) => (*body, false),
            _ => return None,
        },
        _ => return None,
    };
    arena.shape(body).propositional.then_some((body, again))
}

/// The letter marks of one automaton. Invariant: propositions with the same letters share a mark.
pub(crate) struct LetterMarks {
    first: usize,
    mark_by_letters: FxHashMap<Bdd, MarkId>,
    marks: Vec<LetterMark>,
}

impl LetterMarks {
    /// No mark yet; the first will be `first`.
    pub(crate) fn new(first: usize) -> Self {
        Self {
            first,
            mark_by_letters: FxHashMap::default(),
            marks: Vec::new(),
        }
    }

    /// The acceptance of a fairness formula, over these marks.
    pub(crate) fn acceptance(
        &mut self,
        arena: &mut Arena,
        bdds: &mut Bdds,
        fairness: FormId,
    ) -> Acceptance {
        match arena.form(fairness).clone() {
            Form::True => Acceptance::True,
            Form::False => Acceptance::False,
            Form::And(parts) => {
                Acceptance::all(parts.iter().map(|&part| self.acceptance(arena, bdds, part)))
            }
            Form::Or(parts) => {
                Acceptance::any(parts.iter().map(|&part| self.acceptance(arena, bdds, part)))
            }
            _ => {
                let (body, again) = limit(arena, fairness).expect("a fairness formula");
                if again {
                    self.infinitely_often(arena, bdds, body)
                } else {
                    let never = arena.negate(body);
                    self.infinitely_often(arena, bdds, never).negate()
                }
            }
        }
    }

    /// All marks, in order of their numbers.
    pub(crate) fn finish(self) -> Vec<LetterMark> {
        self.marks
    }

    fn infinitely_often(&mut self, arena: &Arena, bdds: &mut Bdds, body: FormId) -> Acceptance {
        let letters = letters(arena, bdds, body);
        match letters {
            Bdd::TRUE => return Acceptance::True,
            Bdd::FALSE => return Acceptance::False,
            _ => {}
        }
        if let Some(&mark) = self.mark_by_letters.get(&letters) {
            return Acceptance::Inf(mark);
        }
        let mark = MarkId::new(self.first + self.marks.len());
        let when = prop(arena, body);
        self.mark_by_letters.insert(letters, mark);
        self.marks.push(LetterMark { mark, when });
        Acceptance::Inf(mark)
    }
}

/// The letters that satisfy a propositional formula.
pub(crate) fn letters(arena: &Arena, bdds: &mut Bdds, formula: FormId) -> Bdd {
    match arena.form(formula) {
        Form::True => Bdd::TRUE,
        Form::Literal(atom, value) => bdds.literal(*atom, *value),
        Form::And(parts) => parts.iter().fold(Bdd::TRUE, |all, &part| {
            let part = letters(arena, bdds, part);
            bdds.and(all, part)
        }),
        Form::Or(parts) => parts.iter().fold(Bdd::FALSE, |any, &part| {
            let part = letters(arena, bdds, part);
            bdds.or(any, part)
        }),
        _ => Bdd::FALSE,
    }
}

/// A propositional formula as one over letters.
fn prop(arena: &Arena, formula: FormId) -> Prop {
    let all = |parts: &[FormId]| parts.iter().map(|&part| prop(arena, part)).collect();
    match arena.form(formula) {
        Form::True => Prop::Const(true),
        Form::Literal(atom, true) => Prop::Atom(*atom),
        Form::Literal(atom, false) => Prop::Not(Box::new(Prop::Atom(*atom))),
        Form::And(parts) => Prop::And(all(parts)),
        Form::Or(parts) => Prop::Or(all(parts)),
        _ => Prop::Const(false),
    }
}
