//! What a lazy search is made of: the outermost connectives and quantifiers of a formula.

use std::rc::Rc;

use crate::formula::{Formula, Formulas, Shape, ShapeId, Var};
use crate::lazy::{Combination, Component, Found, Goal, search};
use crate::machine::Machine;
use crate::meter::{Growth, Unknown};
use crate::solver::{Solver, TrackedMachine, best_pair};

/// How many tuples a lazy search may meet: this many, and this many for each node of its components.
const MIN_TUPLES: usize = 3_000;
const TUPLES_PER_NODE: usize = 1;

/// With more components than this, a lazy search is not tried.
const MAX_COMPONENTS: usize = 32;

/// How far the subset constructions below the outermost quantifiers may grow before the search is
/// given up, and the choice of another plan with it.
const LAZY_GROWTH: Growth = Growth::new(50_000, usize::MAX);

/// Conjuncts are multiplied beforehand while their numbers of states have a product below this.
const SMALL_PRODUCT: usize = 2_000;

impl Solver<'_> {
    /// Searches for shortest words without building the automaton; `None` if that does not pay.
    pub(crate) fn shortest_words(
        &mut self,
        formulas: &Formulas,
        formula: &Formula,
        full_track: Option<u32>,
    ) -> Result<Option<Found>, Unknown> {
        let conjuncts = formulas.conjuncts(formula);
        let (plain, open): (Vec<Formula>, Vec<Formula>) =
            conjuncts.into_iter().partition(|f| is_plain(formulas, f));
        let plain = self.parts(formulas, &plain, &formula.vars)?;
        let plain = self.multiply_small(plain)?;
        let mut leaves = Vec::new();
        let mut all = Vec::new();

        for conjunct in &open {
            match expand(formulas, conjunct, plain.len(), false, &mut leaves) {
                Some(combination) if leaves.len() + plain.len() <= MAX_COMPONENTS => {
                    all.push(combination);
                }
                _ => return Ok(None),
            }
        }

        let shapes: Vec<ShapeId> = leaves
            .iter()
            .map(|leaf| machine_shape(formulas, &leaf.formula))
            .collect();

        for (leaf, &shape) in leaves.iter().zip(&shapes) {
            if !leaf.is_chosen {
                self.prepare(formulas, &[shape])?;
            } else if !self.attempt(formulas, shape, LAZY_GROWTH)? {
                return Ok(None);
            }
        }

        let machines: Vec<Rc<Machine>> = shapes.iter().map(|&shape| self.get(shape)).collect();
        let mut components = Vec::new();
        for (index, part) in plain.iter().enumerate() {
            all.push(signed(Combination::Component(index), part.negated));
            components.push(Component::explicit(&part.machine, part.tracks.clone()));
        }
        for (leaf, machine) in leaves.iter().zip(&machines) {
            components.push(component(formulas, &leaf.formula, machine, &formula.vars));
        }
        let sizes = machines
            .iter()
            .chain(plain.iter().map(|part| &part.machine));
        let size: usize = sizes.map(|m| m.nodes.len() + m.n_states()).sum();
        let goal = Goal {
            max_tuples: MIN_TUPLES + TUPLES_PER_NODE * size,
            n_tracks: formula.vars.len(),
            full_track,
        };
        search(components, &Combination::And(all), &goal, &mut self.meter)
    }

    /// Multiplies what is small, so that the search has few components.
    fn multiply_small(
        &mut self,
        mut parts: Vec<TrackedMachine>,
    ) -> Result<Vec<TrackedMachine>, Unknown> {
        parts.sort_by(|a, b| a.tracks.cmp(&b.tracks));
        let n_states = |part: &TrackedMachine| part.machine.n_states();
        // Of many parts, neighbours are tried: they share their first tracks.
        while parts.len() > MAX_COMPONENTS {
            let last = parts.pop().expect("there are many");
            let before = parts.pop().expect("there are many");
            if n_states(&before) * n_states(&last) >= SMALL_PRODUCT {
                return Ok(parts.into_iter().chain([before, last]).collect());
            }
            let product = self.multiply(before, last)?;
            parts.push(product);
        }

        while parts.len() > 1 {
            let (i, j) = best_pair(&parts);
            if n_states(&parts[i]) * n_states(&parts[j]) >= SMALL_PRODUCT {
                break;
            }
            let right = parts.remove(j);
            let left = parts.remove(i);
            let product = self.multiply(left, right)?;
            parts.push(product);
        }

        Ok(parts)
    }
}

/// Is there nothing to be gained by looking inside?
fn is_plain(formulas: &Formulas, formula: &Formula) -> bool {
    match formulas.info(formula.shape).shape {
        Shape::And(_) => false,
        Shape::Exists { .. } => formula.vars.is_empty(),
        Shape::Choice(_) => false,
        _ => true,
    }
}

fn signed(combination: Combination, negated: bool) -> Combination {
    if negated {
        Combination::Not(Box::new(combination))
    } else {
        combination
    }
}

/// A part of a formula that is a component of the search.
struct Leaf {
    formula: Formula,
    /// Was it chosen among several plans?
    is_chosen: bool,
}

/// Splits a formula into a combination of leaves, which are not conjunctions and not negated; leaf
/// `i` is component `offset + i`. `None` if there are too many. The recursion is as deep as
/// conjunctions are nested in negations, which the translation of the formula has limited.
fn expand(
    formulas: &Formulas,
    formula: &Formula,
    offset: usize,
    is_chosen: bool,
    leaves: &mut Vec<Leaf>,
) -> Option<Combination> {
    let positive = Formula {
        negated: false,
        ..formula.clone()
    };
    let combination = match &formulas.info(formula.shape).shape {
        Shape::And(_) => {
            let conjuncts = formulas.conjuncts(&positive);
            let all = conjuncts
                .iter()
                .map(|f| expand(formulas, f, offset, is_chosen, leaves));
            Combination::And(all.collect::<Option<Vec<_>>>()?)
        }
        Shape::Choice(children) => {
            let first = Formula {
                shape: children[0].shape,
                negated: children[0].negated,
                vars: formula.vars.clone(),
            };
            expand(formulas, &first, offset, true, leaves)?
        }
        _ => {
            let known = leaves.iter().position(|leaf| leaf.formula == positive);
            let index = known.unwrap_or(leaves.len());
            if known.is_none() {
                leaves.push(Leaf {
                    formula: positive,
                    is_chosen,
                });
            }
            Combination::Component(offset + index)
        }
    };

    let few = leaves.len() <= MAX_COMPONENTS;
    few.then(|| signed(combination, formula.negated))
}

/// The shape whose automaton a lazy search needs: below a projection, that of its body.
fn machine_shape(formulas: &Formulas, leaf: &Formula) -> ShapeId {
    match &formulas.info(leaf.shape).shape {
        Shape::Exists { child, .. } if !leaf.vars.is_empty() => child.shape,
        _ => leaf.shape,
    }
}

fn component<'m>(
    formulas: &Formulas,
    leaf: &Formula,
    machine: &'m Machine,
    vars: &[Var],
) -> Component<'m> {
    let track = |var: &Var| vars.binary_search(var).expect("a variable of the whole") as u32;
    let own: Vec<u32> = leaf.vars.iter().map(track).collect();

    let (child, bound) = match &formulas.info(leaf.shape).shape {
        Shape::Exists { child, bound } if !leaf.vars.is_empty() => (child, bound),
        _ => return Component::explicit(machine, own),
    };

    // Tracks of the machine below the quantifier: bound ones have no variable outside.
    let mut erased = vec![false; machine.n_tracks];
    for &track in bound {
        erased[track as usize] = true;
    }

    let mut own = own.into_iter();
    let mut next = |&erased: &bool| {
        if erased {
            u32::MAX
        } else {
            own.next().expect("one variable per track")
        }
    };

    let tracks = erased.iter().map(&mut next).collect();
    Component::projected(machine, child.negated, erased, tracks)
}
