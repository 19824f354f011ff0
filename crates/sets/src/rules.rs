//! What labels mean, and how messages change them.

use crate::carrier::Rule;
use crate::conjunction::Conjunction;

/// Is the bit in the set?
pub(crate) fn has(set: &[u8], bit: usize) -> bool {
    set[bit / 8] >> (bit % 8) & 1 == 1
}

/// Adds the bit to the set.
pub(crate) fn add(set: &mut [u8], bit: usize) {
    set[bit / 8] |= 1 << (bit % 8);
}

/// How many elements the set has.
pub(crate) fn size_of(set: &[u8]) -> u64 {
    set.iter().map(|byte| u64::from(byte.count_ones())).sum()
}

/// Exploration. A label is two sets of copies, and of one more element behind them that stands for the
/// state itself: those that were met, and among them those that wait to be listed.
#[derive(Clone, Copy)]
pub(crate) struct Meet {
    pub n_copies: usize,
    /// Are states to be listed of which no copy was met?
    pub all_states: bool,
}

impl Meet {
    /// How many bytes a set of copies and the state itself has.
    pub fn size(self) -> usize {
        (self.n_copies + 1).div_ceil(8)
    }
}

impl Rule for Meet {
    fn mail_size(&self) -> (usize, usize) {
        (self.size(), 0)
    }

    fn list_size(&self) -> usize {
        self.size()
    }

    fn new_label(&self) -> Option<usize> {
        Some(2 * self.size())
    }

    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool {
        let (met, waiting) = label.split_at_mut(self.size());
        let mut is_new = false;
        for ((met, waiting), mail) in met.iter_mut().zip(&mut *waiting).zip(mail) {
            let new = mail & !*met;
            is_new |= new != 0;
            *met |= new;
            *waiting |= new;
        }
        is_new && (self.all_states || (0..self.n_copies).any(|copy| has(waiting, copy)))
    }

    fn take(&self, label: &mut [u8], listed: &mut [u8]) {
        let waiting = &mut label[self.size()..];
        listed.copy_from_slice(waiting);
        waiting.fill(0);
    }
}

/// States of another search that come here with their labels, and those that it had listed once more
/// with what they were listed with.
#[derive(Clone, Copy)]
pub(crate) struct Adopt {
    pub n_label: usize,
    /// In an exploration, states are listed again.
    pub meet: Option<Meet>,
}

impl Rule for Adopt {
    fn mail_size(&self) -> (usize, usize) {
        (self.n_label, 0)
    }

    fn list_size(&self) -> usize {
        self.meet.map_or(0, Meet::size)
    }

    fn new_label(&self) -> Option<usize> {
        Some(self.n_label)
    }

    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool {
        let both = label.iter_mut().zip(mail);
        both.for_each(|(own, more)| *own |= more);
        self.meet.is_some_and(|meet| {
            let waiting = &label[meet.size()..];
            let has_copy = (0..meet.n_copies).any(|copy| has(waiting, copy));
            has_copy || meet.all_states && has(waiting, meet.n_copies)
        })
    }

    fn take(&self, label: &mut [u8], listed: &mut [u8]) {
        if let Some(meet) = self.meet {
            meet.take(label, listed);
        }
    }
}

/// Where the parts of a label are in the search for fair cycles. For each copy there is a *field*: a set
/// of tracked marks and one more element, which is there iff the field is not empty.
#[derive(Clone, Copy)]
pub(crate) struct Planes {
    pub n_copies: usize,
    /// How many marks are tracked.
    pub n_tracked: usize,
    /// How many bytes a field has.
    pub n_field: usize,
}

/// What the search for fair cycles is about: one alternative of the acceptance, and labels for it.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub planes: Planes,
    pub alternative: &'s Conjunction,
}

impl<'s> Scope<'s> {
    pub fn new(n_copies: usize, alternative: &'s Conjunction) -> Self {
        Self {
            planes: Planes::new(n_copies, alternative.tracked.len()),
            alternative,
        }
    }
}

impl Planes {
    pub fn new(n_copies: usize, n_tracked: usize) -> Self {
        Self {
            n_copies,
            n_tracked,
            n_field: (n_tracked + 1).div_ceil(8),
        }
    }

    /// How many bytes all fields have.
    pub fn n_fields(self) -> usize {
        self.n_copies * self.n_field
    }

    /// How many bytes a set of copies has.
    pub fn n_set(self) -> usize {
        self.n_copies.div_ceil(8)
    }

    /// How many bytes the copies that were met have, with the state itself.
    pub fn n_met(self) -> usize {
        (self.n_copies + 1).div_ceil(8)
    }

    pub fn n_label(self) -> usize {
        self.n_met() + 2 * self.n_fields() + self.n_copies + 3 * self.n_set()
    }

    pub fn split(self, label: &[u8]) -> Label<&[u8]> {
        let (met, rest) = label.split_at(self.n_met());
        let (held, rest) = rest.split_at(self.n_fields());
        let (found, rest) = rest.split_at(self.n_fields());
        let (counts, rest) = rest.split_at(self.n_copies);
        let (waiting, rest) = rest.split_at(self.n_set());
        let (reached, pivots) = rest.split_at(self.n_set());
        Label {
            met,
            held,
            found,
            counts,
            waiting,
            reached,
            pivots,
        }
    }

    pub fn split_mut(self, label: &mut [u8]) -> Label<&mut [u8]> {
        let (met, rest) = label.split_at_mut(self.n_met());
        let (held, rest) = rest.split_at_mut(self.n_fields());
        let (found, rest) = rest.split_at_mut(self.n_fields());
        let (counts, rest) = rest.split_at_mut(self.n_copies);
        let (waiting, rest) = rest.split_at_mut(self.n_set());
        let (reached, pivots) = rest.split_at_mut(self.n_set());
        Label {
            met,
            held,
            found,
            counts,
            waiting,
            reached,
            pivots,
        }
    }

    pub fn field(self, fields: &[u8], copy: usize) -> &[u8] {
        &fields[copy * self.n_field..][..self.n_field]
    }

    pub fn field_mut(self, fields: &mut [u8], copy: usize) -> &mut [u8] {
        &mut fields[copy * self.n_field..][..self.n_field]
    }

    /// Which bits of a byte of a field stand for tracked marks.
    fn tracked_bits(self, position: usize) -> u8 {
        let n_bits = self.n_tracked - (8 * position).min(self.n_tracked);
        u8::MAX
            .checked_shl(n_bits as u32)
            .map_or(u8::MAX, |rest| !rest)
    }

    /// Is the field of this copy not empty?
    pub fn exists(self, fields: &[u8], copy: usize) -> bool {
        self.field(fields, copy).iter().any(|byte| *byte != 0)
    }
}

/// The parts of a label.
pub(crate) struct Label<T> {
    /// The copies that an exploration has met.
    pub met: T,
    /// Fields: which edges and copies are in the rest at the beginning of a round.
    pub held: T,
    /// Fields: what the round has found so far.
    pub found: T,
    /// How many edges of the rest lead to each copy at the beginning of a round; 255 are many.
    pub counts: T,
    /// Copies that wait to be listed.
    pub waiting: T,
    /// Copies that were reached.
    pub reached: T,
    /// Copies from which all of the rest can be reached.
    pub pivots: T,
}

/// Marks that lie before a copy: messages are fields, and numbers of edges. Listed with held and found
/// fields.
pub(crate) struct Collect(pub Planes);

impl Rule for Collect {
    fn mail_size(&self) -> (usize, usize) {
        (self.0.n_fields(), self.0.n_copies)
    }

    fn list_size(&self) -> usize {
        2 * self.0.n_fields()
    }

    fn new_label(&self) -> Option<usize> {
        None
    }

    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool {
        let planes = self.0;
        let label = planes.split_mut(label);
        let (fields, counts) = mail.split_at(planes.n_fields());
        let mut has_changed = false;
        for (copy, count) in counts.iter().enumerate() {
            if !planes.exists(label.held, copy) {
                continue;
            }
            let found = planes.field_mut(label.found, copy);
            for (position, more) in planes.field(fields, copy).iter().enumerate() {
                // That there is an edge before it, a copy has told its targets without being asked.
                let new = more & !found[position];
                has_changed |= new & planes.tracked_bits(position) != 0;
                found[position] |= more;
            }
            label.counts[copy] = label.counts[copy].saturating_add(*count);
        }
        has_changed
    }

    fn take(&self, label: &mut [u8], listed: &mut [u8]) {
        let label = self.0.split(label);
        let (held, found) = listed.split_at_mut(self.0.n_fields());
        held.copy_from_slice(label.held);
        found.copy_from_slice(label.found);
    }
}

/// Copies that are left without edges: messages are numbers of edges that are gone. Listed with held
/// fields and the copies that are gone.
pub(crate) struct Trim(pub Planes);

impl Rule for Trim {
    fn mail_size(&self) -> (usize, usize) {
        (0, self.0.n_copies)
    }

    fn list_size(&self) -> usize {
        self.0.n_fields() + self.0.n_set()
    }

    fn new_label(&self) -> Option<usize> {
        None
    }

    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool {
        let planes = self.0;
        let label = planes.split_mut(label);
        let mut has_changed = false;
        for (copy, &n_gone) in mail.iter().enumerate() {
            let count = &mut label.counts[copy];
            // Of many edges it is not known how many are left.
            if n_gone == 0 || *count == u8::MAX || !planes.exists(label.found, copy) {
                continue;
            }
            *count = count.saturating_sub(n_gone);
            if *count == 0 {
                planes.field_mut(label.found, copy).fill(0);
                add(label.waiting, copy);
                has_changed = true;
            }
        }
        has_changed
    }

    fn take(&self, label: &mut [u8], listed: &mut [u8]) {
        take_waiting(self.0, label, listed);
    }
}

/// Copies of the rest that can be reached: messages are sets of copies. Listed with held fields and the
/// copies that are new.
pub(crate) struct Reach(pub Planes);

impl Rule for Reach {
    fn mail_size(&self) -> (usize, usize) {
        (self.0.n_set(), 0)
    }

    fn list_size(&self) -> usize {
        self.0.n_fields() + self.0.n_set()
    }

    fn new_label(&self) -> Option<usize> {
        None
    }

    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool {
        let planes = self.0;
        let label = planes.split_mut(label);
        let mut has_changed = false;
        for copy in 0..planes.n_copies {
            if has(mail, copy) && planes.exists(label.held, copy) && !has(label.reached, copy) {
                add(label.reached, copy);
                add(label.waiting, copy);
                has_changed = true;
            }
        }
        has_changed
    }

    fn take(&self, label: &mut [u8], listed: &mut [u8]) {
        take_waiting(self.0, label, listed);
    }
}

/// Lists a state with its held fields and the copies that wait.
fn take_waiting(planes: Planes, label: &mut [u8], listed: &mut [u8]) {
    let label = planes.split_mut(label);
    let (held, waiting) = listed.split_at_mut(planes.n_fields());
    held.copy_from_slice(label.held);
    waiting.copy_from_slice(label.waiting);
    label.waiting.fill(0);
}
