//! Splitting sets of letters until propositions have one value on each part.

use base::AtomId;

use crate::{Cube, Prop};

/// A part of a cube and the values of the propositions on it.
pub(super) struct CubePart {
    /// The letters.
    pub cube: Cube,
    /// One value per proposition.
    pub values: Vec<bool>,
}

/// Splits `whole` into disjoint cubes on each of which every proposition is constant. Nothing if
/// there would be more than `max_parts`.
///
/// Splits on the smallest atom that is not yet decided, the true half first, so a label that is a
/// single cube comes back as that cube.
pub(super) fn split(whole: &Cube, props: &[&Prop], max_parts: usize) -> Option<Vec<CubePart>> {
    let mut parts = Vec::new();
    let mut open = vec![whole.clone()];
    let mut atoms = Vec::new();
    while let Some(cube) = open.pop() {
        let letter = |atom| value_in(&cube, atom);
        let undecided = props
            .iter()
            .find(|prop| prop.partial_value(&letter).is_none());
        let Some(undecided) = undecided else {
            let value = |prop: &&Prop| prop.partial_value(&letter) == Some(true);
            let values = props.iter().map(value).collect();
            parts.push(CubePart { cube, values });
            if parts.len() > max_parts {
                return None;
            }
            continue;
        };
        atoms.clear();
        undecided.collect_atoms(&mut atoms);
        let unknown = atoms.iter().filter(|&&atom| letter(atom).is_none());
        let atom = *unknown.min().expect("a decided letter decides every prop");
        open.push(with(&cube, atom, false));
        open.push(with(&cube, atom, true));
    }

    Some(parts)
}

fn value_in(cube: &Cube, atom: AtomId) -> Option<bool> {
    let literals = cube.literals();
    let place = literals.binary_search_by_key(&atom, |&(atom, _)| atom);
    place.ok().map(|place| literals[place].1)
}

fn with(cube: &Cube, atom: AtomId, value: bool) -> Cube {
    let literals = cube.literals().iter().copied();
    Cube::new(literals.chain([(atom, value)])).expect("the atom was not decided")
}
