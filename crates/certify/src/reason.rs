//! Why no run that is looked for stays in a set of steps forever.
//!
//! The nodes of a product get numbers that never increase along a step. So the steps that a run takes
//! infinitely often are steps between nodes with the same number, and for each number there is a
//! [`Reason`] why no such set of steps is both fair and forbidden. Some reasons leave out steps and go
//! on with further numbers for the same nodes; all numbers of a node together are its *path*.

use base::bits;

use crate::Failure;
use crate::marks::Marks;

/// Why no run that is looked for takes steps of a set only, from some point on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// No step of the set carries any of these marks, and without them no run is accepted.
    Absent(Vec<u32>),
    /// Under strong global fairness: each state has a step that is not in the set, or a step to a
    /// state from which fewer steps lead to such a state. The path has the number of these steps.
    Unclosed,
    /// No step carries the `absent` marks. Without them a run that carries one of `marks` infinitely
    /// often is not accepted; steps without `marks` are numbered again, and each part has its reason.
    Cut {
        /// Marks that no step carries.
        absent: Vec<u32>,
        /// Marks that must not be carried infinitely often.
        marks: Vec<u32>,
        /// A reason for each number.
        parts: Vec<Self>,
    },
    /// A run carries the mark infinitely often, or it does not.
    Case {
        /// The mark.
        mark: u32,
        /// The reason if it does.
        infinite: Box<Self>,
        /// The steps without it are numbered again, and each part has its reason.
        parts: Vec<Self>,
    },
}

/// Where in the tree of reasons something is: different reasons have different addresses.
pub(crate) type Place = *const Reason;

/// Does every reason follow from the acceptance, if the steps are as it says?
pub(crate) fn check_reasons(reasons: &[Reason], marks: &Marks<'_>) -> Result<(), Failure> {
    let facts = Facts {
        absent: marks.empty(),
        infinite: marks.empty(),
    };
    reasons.iter().try_for_each(|r| facts.imply(r, marks))
}

/// What is known about the marks of the runs in question.
#[derive(Clone)]
struct Facts {
    absent: Vec<u64>,
    infinite: Vec<u64>,
}

impl Facts {
    fn imply(&self, reason: &Reason, marks: &Marks<'_>) -> Result<(), Failure> {
        let mut facts = self.clone();
        match reason {
            Reason::Absent(absent) => {
                add(&mut facts.absent, absent, marks)?;
                facts.refute(marks)
            }
            Reason::Unclosed if marks.is_strong_global => Ok(()),
            Reason::Unclosed => Err(Failure::wrong(
                "closure is a matter of strong global fairness",
            )),
            Reason::Cut {
                absent,
                marks: cut,
                parts,
            } => {
                add(&mut facts.absent, absent, marks)?;
                for mark in cut {
                    let mut carried = facts.clone();
                    add(&mut carried.infinite, &[*mark], marks)?;
                    carried.refute(marks)?;
                }
                add(&mut facts.absent, cut, marks)?;
                parts.iter().try_for_each(|part| facts.imply(part, marks))
            }
            Reason::Case {
                mark,
                infinite,
                parts,
            } => {
                let mut carried = facts.clone();
                add(&mut carried.infinite, &[*mark], marks)?;
                carried.imply(infinite, marks)?;
                add(&mut facts.absent, &[*mark], marks)?;
                parts.iter().try_for_each(|part| facts.imply(part, marks))
            }
        }
    }

    fn refute(&self, marks: &Marks<'_>) -> Result<(), Failure> {
        if marks.acceptance.is_possible(&self.absent, &self.infinite) {
            return Err(Failure::wrong(
                "a reason does not exclude that a run is accepted",
            ));
        }
        Ok(())
    }
}

fn add(set: &mut [u64], more: &[u32], marks: &Marks<'_>) -> Result<(), Failure> {
    for mark in more {
        if *mark as usize >= marks.n_marks {
            return Err(Failure::wrong("a reason names a mark that does not exist"));
        }
        bits::set(set, *mark as usize);
    }
    Ok(())
}

/// Is the path one of these reasons, and what follows it? Nothing if it is not.
fn skip<'p>(parts: &[Reason], path: &'p [u32]) -> Option<&'p [u32]> {
    let (number, rest) = path.split_first()?;
    skip_reason(parts.get(*number as usize)?, rest)
}

fn skip_reason<'p>(reason: &Reason, path: &'p [u32]) -> Option<&'p [u32]> {
    match reason {
        Reason::Absent(_) => Some(path),
        Reason::Unclosed => Some(path.split_first()?.1),
        Reason::Cut { parts, .. } => skip(parts, path),
        Reason::Case {
            infinite, parts, ..
        } => skip(parts, skip_reason(infinite, path)?),
    }
}

/// Has the path exactly the numbers that the reasons ask for?
pub(crate) fn is_path(reasons: &[Reason], path: &[u32]) -> bool {
    skip(reasons, path).is_some_and(<[u32]>::is_empty)
}

/// Checks a step between nodes with these paths; adds the places at which it is part of a set that is
/// said not to be closed.
pub(crate) fn check_step(
    reasons: &[Reason],
    (from, to): (&[u32], &[u32]),
    marks: &[u64],
    inside: &mut Vec<Place>,
) -> Result<(), Failure> {
    let mut step = Step { marks, inside };
    step.check_parts(reasons, from, to)
}

struct Step<'a> {
    marks: &'a [u64],
    inside: &'a mut Vec<Place>,
}

impl Step<'_> {
    fn check_parts(&mut self, parts: &[Reason], from: &[u32], to: &[u32]) -> Result<(), Failure> {
        if to[0] > from[0] {
            return Err(Failure::wrong("a number increases along a step"));
        }
        if to[0] == from[0] {
            self.check_reason(&parts[from[0] as usize], &from[1..], &to[1..])?;
        }
        Ok(())
    }

    fn check_reason(&mut self, reason: &Reason, from: &[u32], to: &[u32]) -> Result<(), Failure> {
        match reason {
            Reason::Absent(absent) => self.check_absent(absent),
            Reason::Unclosed => {
                self.inside.push(reason);
                Ok(())
            }
            Reason::Cut {
                absent,
                marks,
                parts,
            } => {
                self.check_absent(absent)?;
                if marks.iter().any(|mark| self.carries(*mark)) {
                    return Ok(());
                }
                self.check_parts(parts, from, to)
            }
            Reason::Case {
                mark,
                infinite,
                parts,
            } => {
                self.check_reason(infinite, from, to)?;
                if self.carries(*mark) {
                    return Ok(());
                }
                let shape = "paths have the numbers that the reasons ask for";
                let from = skip_reason(infinite, from).expect(shape);
                let to = skip_reason(infinite, to).expect(shape);
                self.check_parts(parts, from, to)
            }
        }
    }

    fn carries(&self, mark: u32) -> bool {
        bits::get(self.marks, mark as usize)
    }

    fn check_absent(&self, absent: &[u32]) -> Result<(), Failure> {
        if absent.iter().any(|mark| self.carries(*mark)) {
            return Err(Failure::wrong(
                "a step carries a mark that is said to be absent",
            ));
        }
        Ok(())
    }
}

/// The places at which a node is part of a set that is said not to be closed, each with the number of
/// steps to where it is left.
pub(crate) fn unclosed_places(reasons: &[Reason], path: &[u32]) -> Vec<(Place, u32)> {
    let mut found = Vec::new();
    collect(&reasons[path[0] as usize], &path[1..], &mut found);
    found
}

fn collect(reason: &Reason, path: &[u32], found: &mut Vec<(Place, u32)>) {
    match reason {
        Reason::Absent(_) => {}
        Reason::Unclosed => found.push((reason, path[0])),
        Reason::Cut { parts, .. } => collect(&parts[path[0] as usize], &path[1..], found),
        Reason::Case {
            infinite, parts, ..
        } => {
            collect(infinite, path, found);
            let rest = skip_reason(infinite, path).expect("a path of these reasons");
            collect(&parts[rest[0] as usize], &rest[1..], found);
        }
    }
}
