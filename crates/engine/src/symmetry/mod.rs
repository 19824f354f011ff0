//! Symmetry reduction: processes of a family that can be exchanged for each other.
//!
//! Two states that differ only in which process plays which part have the same future, up to that
//! exchange. So it is enough to store one of them (C. Ip, D. Dill, "Better verification through
//! symmetry", Formal Methods in System Design 9, 1996, doi:10.1007/BF00625968; E. Clarke, R. Enders, T. Filkorn, S. Jha, "Exploiting
//! symmetry in temporal logic model checking", Formal Methods in System Design 9, 1996,
//! doi:10.1007/BF00625969). Unlike there, no
//! type is declared to be symmetric: [`sorts`] guesses what a permutation does to a state,
//! [`automorphism`] compares the model with its image under exchanges of two indices. Exchanges
//! generate all permutations of a class of indices.
//!
//! A state is brought into order by sorting the indices of each class by what the state says about
//! each alone ([`Class`]), or, where it says something about several of them at once, by their
//! [`relations`].

mod automorphism;
mod coordinates;
mod effect;
mod permutation;
mod relations;
mod sorts;
mod subjects;
mod term;

use std::collections::BTreeSet;

use base::AtomId;
use model::{CommandId, Condition, Model, Subject};

use crate::elimination::Elimination;
use crate::layout::Layout;

use self::automorphism::{CommandMap, Comparison};
use self::coordinates::{Components, Transposition};
use self::permutation::{Moved, moved_fields, permute};
use self::relations::{RelationScratch, Relations};
use self::sorts::{SortId, Sorts};
use self::subjects::SubjectMap;

pub(crate) use self::permutation::Permutation;
pub use self::term::{Asymmetry, Obstacle};

/// The permutations under which a model is the same.
#[derive(Debug)]
pub(crate) struct Symmetry {
    classes: Vec<Class>,
    /// The fields that permutations move or change.
    moved: Vec<Moved>,
    /// By sort, its first and last index.
    ranges: Vec<(i64, i64)>,
    /// What states say about several indices at once.
    relations: Option<Relations>,
    commands: CommandMap,
    subjects: SubjectMap,
}

/// Indices that can be exchanged for each other.
#[derive(Debug)]
struct Class {
    sort: SortId,
    /// In ascending order.
    members: Vec<i64>,
    /// What a state says about each member, in the same order for all of them.
    keys: Vec<Vec<KeyPart>>,
    /// The positions in [`Symmetry::moved`] of the fields that permutations of this class concern.
    moved: Vec<usize>,
}

/// Something that a state says about an index.
#[derive(Clone, Copy, Debug)]
enum KeyPart {
    /// The content of this field.
    Content(u32),
    /// Does the field at this position of [`Symmetry::moved`] contain the index? And if not, one
    /// that cannot be exchanged for it?
    Mention(usize),
}

/// Buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    keys: Vec<u64>,
    order: Vec<usize>,
    out: Vec<u64>,
    relations: RelationScratch,
}

impl Symmetry {
    /// Finds the permutations that change neither the model nor the meaning of these atoms, and map
    /// these conditions to each other.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn find(
        model: &Model,
        layout: &Layout,
        elimination: &Elimination,
        question: (&[AtomId], &[Condition]),
    ) -> Result<Self, Asymmetry> {
        let parts = model.parts();
        let sorts = Sorts::new(model);
        if sorts.n_sorts() == 0 {
            return Err(Obstacle::NoFamily.into());
        }
        if !parts.timers.is_empty() {
            return Err(Obstacle::Timers.into());
        }
        if parts.control.is_some() {
            return Err(Obstacle::Control.into());
        }
        let components = Components::new(model, &sorts);
        let mut comparison = Comparison::new(model, &sorts, &components, &elimination.constants);
        let moved = moved_fields(layout, &components);
        let (mut classes, mut ranges, mut obstacle) = (Vec::new(), Vec::new(), None);

        for sort in 0..sorts.n_sorts() {
            let indices = indices(&sorts, sort);
            let bounds = indices.first().copied().zip(indices.last().copied());
            ranges.push(bounds.unwrap_or((0, -1)));
            for members in exchangeable(&mut comparison, sort, &indices, question, &mut obstacle)? {
                classes.push(Class::new(sort, members, &moved));
            }
        }

        if classes.is_empty() {
            return Err(obstacle.unwrap_or_else(|| Obstacle::Different.into()));
        }
        Ok(Self {
            relations: Relations::new(&classes, &moved, &ranges),
            classes,
            moved,
            ranges,
            commands: comparison.commands,
            subjects: comparison.subjects,
        })
    }

    /// Exchanges of two indices that generate all permutations.
    pub(crate) fn exchanges(&self) -> Vec<Permutation> {
        let mut exchanges = Vec::new();
        for Class { sort, members, .. } in &self.classes {
            for &other in &members[1..] {
                let mut exchange = self.identity();
                exchange.set(*sort, members[0], other);
                exchange.set(*sort, other, members[0]);
                exchanges.push(exchange);
            }
        }
        exchanges
    }

    /// The permutation that changes nothing.
    pub(crate) fn identity(&self) -> Permutation {
        Permutation::identity(&self.ranges)
    }

    /// Brings a state into order. If asked for, tells by which permutation.
    pub(crate) fn sort_state(
        &self,
        layout: &Layout,
        words: &mut [u64],
        scratch: &mut Scratch,
        mut applied: Option<&mut Permutation>,
    ) {
        let relations = self.relations.as_ref();
        let is_related =
            |position: usize| relations.is_some_and(|relations| relations.concerns(position));
        for (position, class) in self.classes.iter().enumerate() {
            if is_related(position) || !class.order(self, layout, words, scratch) {
                continue;
            }
            let mut permutation = self.identity();
            for (position, &old) in scratch.order.iter().enumerate() {
                permutation.set(class.sort, class.members[old], class.members[position]);
                if let Some(applied) = &mut applied {
                    // Classes have nothing in common, so the parts do not disturb each other.
                    applied.set(class.sort, class.members[old], class.members[position]);
                }
            }
            let moved = class.moved.iter().map(|position| &self.moved[*position]);
            scratch.out.resize(words.len(), 0);
            permute(layout, moved, &permutation, words, &mut scratch.out);
            words.copy_from_slice(&scratch.out);
        }
        if let Some(relations) = relations {
            relations.sort_state(self, layout, words, &mut scratch.relations, applied);
        }
    }

    /// The state with its indices permuted.
    pub(crate) fn permuted(
        &self,
        layout: &Layout,
        permutation: &Permutation,
        words: &[u64],
    ) -> Vec<u64> {
        let mut out = words.to_vec();
        permute(layout, self.moved.iter(), permutation, words, &mut out);
        out
    }

    /// The command that takes the place of another.
    pub(crate) fn permuted_command(
        &self,
        model: &Model,
        permutation: &Permutation,
        command: CommandId,
    ) -> Option<CommandId> {
        let image = |sort, value| permutation.image(sort, value);
        self.commands.image(model, command, &image)
    }

    /// The subject of fairness that takes the place of another.
    pub(crate) fn permuted_subject(
        &self,
        model: &Model,
        permutation: &Permutation,
        subject: &Subject,
    ) -> Option<Subject> {
        let image = |sort, value| permutation.image(sort, value);
        let commands = (model, &self.commands);
        self.subjects.image(commands, subject, &image)
    }
}

/// All indices of the families of a sort.
fn indices(sorts: &Sorts, sort: SortId) -> Vec<i64> {
    let families = sorts.indices().iter().flatten();
    let indices: BTreeSet<i64> = families.flat_map(|family| family.of_sort(sort)).collect();
    indices.into_iter().collect()
}

/// The indices in classes with at least two members that can be exchanged for each other. Notes the
/// first obstacle.
fn exchangeable(
    comparison: &mut Comparison<'_>,
    sort: SortId,
    indices: &[i64],
    question: (&[AtomId], &[Condition]),
    obstacle: &mut Option<Asymmetry>,
) -> Result<Vec<Vec<i64>>, Asymmetry> {
    let mut classes: Vec<Vec<i64>> = Vec::new();
    for &other in indices {
        let mut found = None;
        for (position, class) in classes.iter().enumerate() {
            let one = class[0];
            let exchange = Transposition { sort, one, other };
            match comparison.check(exchange, question) {
                Ok(()) => {
                    found = Some(position);
                    break;
                }
                Err(reason) if reason.obstacle == Obstacle::TooLarge => return Err(reason),
                Err(reason) => {
                    obstacle.get_or_insert(reason);
                }
            }
        }
        match found {
            Some(position) => classes[position].push(other),
            None => classes.push(vec![other]),
        }
    }

    classes.retain(|class| class.len() > 1);
    Ok(classes)
}

impl Class {
    fn new(sort: SortId, members: Vec<i64>, fields: &[Moved]) -> Self {
        let concerns = |moved: &Moved| {
            moved.sort == Some(sort) || moved.coordinates.iter().any(|(s, _, _)| *s == sort)
        };
        let moved = (0..fields.len()).filter(|&position| concerns(&fields[position]));
        let moved: Vec<usize> = moved.collect();
        let key = |&member: &i64| {
            let parts = moved.iter().filter_map(|&position| {
                let field = &fields[position];
                let own = || field.coordinates.iter().filter(|(s, _, _)| *s == sort);
                if own().any(|(_, index, _)| *index != member) {
                    return None;
                }
                let origin: i64 = own().map(|(_, index, stride)| index * stride).sum();
                let part = if field.sort == Some(sort) {
                    KeyPart::Mention(position)
                } else {
                    KeyPart::Content(field.field)
                };
                Some((i64::from(field.field) - origin, part))
            });
            // Members have the same fields, apart from their own index.
            let mut parts: Vec<(i64, KeyPart)> = parts.collect();
            parts.sort_by_key(|(origin, _)| *origin);
            parts.into_iter().map(|(_, part)| part).collect()
        };

        Self {
            sort,
            keys: members.iter().map(key).collect(),
            members,
            moved,
        }
    }

    /// Sorts the members by what a state says about them, into `scratch.order`: the positions of
    /// the members, the least first. Says whether that is another order than before.
    fn order(
        &self,
        symmetry: &Symmetry,
        layout: &Layout,
        words: &[u64],
        scratch: &mut Scratch,
    ) -> bool {
        let Scratch { keys, order, .. } = scratch;
        keys.clear();
        for (member, parts) in self.members.iter().zip(&self.keys) {
            for part in parts {
                keys.push(match part {
                    KeyPart::Content(field) => layout.fields[*field as usize].raw(words),
                    KeyPart::Mention(position) => {
                        self.mention(&symmetry.moved[*position], *member, layout, words)
                    }
                });
            }
        }

        let len = self.keys[0].len();
        let key = |member: usize| &keys[member * len..(member + 1) * len];
        order.clear();
        order.extend(0..self.members.len());
        if (1..order.len()).all(|position| key(position - 1) <= key(position)) {
            return false;
        }
        order.sort_by(|one, other| key(*one).cmp(key(*other)));
        true
    }

    /// 1 if the field contains the member, 0 if it contains another one or nothing; else something
    /// that no permutation of the members changes.
    fn mention(&self, moved: &Moved, member: i64, layout: &Layout, words: &[u64]) -> u64 {
        let field = &layout.fields[moved.field as usize];
        if !moved.is_used(layout, words) {
            return 0;
        }
        let value = field.get(words);
        match value == member {
            true => 1,
            false if self.members.binary_search(&value).is_ok() => 0,
            false => field.raw(words).saturating_add(2),
        }
    }
}
