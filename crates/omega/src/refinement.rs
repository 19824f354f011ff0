//! Which marks to take out of a component, so that a part of it may be a witness.
//!
//! These are the moves of the refinement in `emerson_lei.rs`, for every search that takes
//! components apart: one thread or several.

use std::rc::Rc;

use base::bits;

use crate::{Acceptance, Component, MarkId};

/// Components that are not witnesses although parts of them may be.
#[derive(Default)]
pub(crate) struct Refinement {
    open: Vec<Obligation>,
}

/// A component together with what is still asked of a part of it.
///
/// Invariant: `component` itself does not satisfy `formula`, and every literal of `formula` is
/// about a mark of `component`.
struct Obligation {
    component: Rc<Component>,
    formula: Acceptance,
}

/// A component that must be taken apart.
pub(crate) struct Removal {
    /// The component.
    pub component: Rc<Component>,
    /// What is asked of its parts.
    pub formula: Acceptance,
    /// The marks that edges of the parts may have.
    pub allowed: Vec<u64>,
}

impl Refinement {
    /// Something is asked of parts of a component that does not satisfy it, about its marks only.
    pub fn add(&mut self, component: Component, formula: Acceptance) {
        let component = Rc::new(component);
        self.open.push(Obligation { component, formula });
    }

    /// What to take apart next; nothing if no part of a component is left that may be a witness.
    pub fn next_removal(&mut self) -> Option<Removal> {
        while let Some(Obligation { component, formula }) = self.open.pop() {
            let removed = match next_move(&formula, &component.marks) {
                Move::Drop => continue,
                Move::Split(parts) => {
                    let ask = |formula| Obligation {
                        component: Rc::clone(&component),
                        formula,
                    };
                    self.open.extend(parts.into_iter().rev().map(ask));
                    continue;
                }
                Move::Remove(marks) => marks,
                Move::Pick(mark) => {
                    // Parts with the mark are considered when those without it are done.
                    self.open.push(Obligation {
                        component: Rc::clone(&component),
                        formula: formula.without_fin(mark),
                    });
                    vec![mark]
                }
            };

            let mut allowed = component.marks.clone();
            for mark in removed {
                bits::clear(&mut allowed, mark.index());
            }
            return Some(Removal {
                component,
                formula,
                allowed,
            });
        }

        None
    }
}

/// What to do about an obligation.
enum Move {
    /// No part satisfies it.
    Drop,
    /// Consider each formula by itself.
    Split(Vec<Acceptance>),
    /// No witness has any of these marks.
    Remove(Vec<MarkId>),
    /// Consider parts without this mark, then forget this `Fin`.
    Pick(MarkId),
}

/// The next move for an obligation; its invariant is the precondition.
fn next_move(formula: &Acceptance, marks: &[u64]) -> Move {
    match formula {
        Acceptance::False => Move::Drop,
        Acceptance::Or(parts) => Move::Split(parts.clone()),
        Acceptance::Fin(mark) => Move::Remove(vec![*mark]),
        Acceptance::And(parts) => {
            let forced: Vec<_> = parts.iter().filter_map(bare_fin).collect();
            if forced.is_empty() {
                Move::Pick(violated_fin(parts, marks))
            } else {
                Move::Remove(forced)
            }
        }
        Acceptance::True | Acceptance::Inf(_) => {
            unreachable!("the component would satisfy {formula:?}")
        }
    }
}

fn bare_fin(formula: &Acceptance) -> Option<MarkId> {
    match formula {
        Acceptance::Fin(mark) => Some(*mark),
        _ => None,
    }
}

/// A `Fin` in a conjunct that `marks` violate. Since every `Inf` of the formula is among the marks,
/// only a `Fin` can be the cause.
fn violated_fin(parts: &[Acceptance], marks: &[u64]) -> MarkId {
    parts
        .iter()
        .find(|part| !part.accepts(marks))
        .and_then(Acceptance::first_fin)
        .expect("an obligation is violated by its component")
}
