//! The nodes of all diagrams, and the operations on them.
//!
//! Invariant: two nodes never have the same variable and the same successors, and no node has two
//! equal successors; so equal functions are equal numbers.
//! Invariant: numbers are collected only in [`NodeTable::collect_if_due`], which no operation calls.

use base::{Budget, StopReason};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of a node.
pub(crate) type Id = u32;

pub(crate) const FALSE: Id = 0;
pub(crate) const TRUE: Id = 1;
const NONE: u32 = u32::MAX;
/// The variable of constants, and of places without a node: behind all others.
const NO_VARIABLE: u32 = u32::MAX;

/// Nodes before the first collection.
const FIRST_COLLECTION: usize = 1 << 20;
const FIRST_CACHE: usize = 1 << 14;
const MAX_CACHE: usize = 1 << 22;
/// How many steps of operations there are between two looks at the budget.
const POLL_EVERY: u32 = 1 << 12;

#[derive(Clone, Copy)]
struct Node {
    var: u32,
    low: Id,
    high: Id,
    /// The next node with the same hash, or the next free place.
    next: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Op {
    And,
    Or,
    Minus,
    Exists,
    Image,
    Preimage,
    Primed,
}

#[derive(Clone, Copy)]
struct Entry {
    op: u32,
    a: Id,
    b: Id,
    c: Id,
    result: Id,
}

const EMPTY: Entry = Entry {
    op: u32::MAX,
    a: 0,
    b: 0,
    c: 0,
    result: 0,
};

pub(crate) struct NodeTable {
    nodes: Vec<Node>,
    /// By node: how many handles there are.
    handles: Vec<u32>,
    buckets: Vec<u32>,
    cache: Vec<Entry>,
    free: u32,
    n_used: usize,
    peak: usize,
    collect_at: usize,
    budget: Budget,
    n_steps: u32,
}

impl NodeTable {
    pub(crate) fn new(budget: Budget) -> Self {
        let constant = Node {
            var: NO_VARIABLE,
            low: NONE,
            high: NONE,
            next: NONE,
        };
        Self {
            nodes: vec![constant; 2],
            handles: vec![1; 2],
            buckets: vec![NONE; 1 << 12],
            cache: vec![EMPTY; FIRST_CACHE],
            free: NONE,
            n_used: 2,
            peak: 2,
            collect_at: FIRST_COLLECTION,
            budget,
            n_steps: 0,
        }
    }

    pub(crate) fn retain(&mut self, id: Id) {
        self.handles[id as usize] += 1;
    }

    pub(crate) fn release(&mut self, id: Id) {
        self.handles[id as usize] -= 1;
    }

    pub(crate) fn bytes(&self) -> u64 {
        let node = size_of::<Node>() + size_of::<u32>();
        let bytes = self.nodes.capacity() * node
            + self.buckets.capacity() * size_of::<u32>()
            + self.cache.len() * size_of::<Entry>();
        bytes as u64
    }

    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    pub(crate) fn poll(&self) -> Result<(), StopReason> {
        self.budget.check(0, self.bytes())
    }

    #[inline]
    fn count_step(&mut self) -> Result<(), StopReason> {
        self.n_steps += 1;
        if self.n_steps >= POLL_EVERY {
            self.n_steps = 0;
            self.poll()?;
        }
        Ok(())
    }

    #[inline]
    fn hash(var: u32, low: Id, high: Id) -> u64 {
        let mixed = (u64::from(low) << 32 | u64::from(high))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(u64::from(var).wrapping_mul(0xD6E8_FEB8_6659_FD93));
        mixed ^ (mixed >> 29)
    }

    /// The node with this variable and these successors.
    pub(crate) fn node(&mut self, var: u32, low: Id, high: Id) -> Result<Id, StopReason> {
        if low == high {
            return Ok(low);
        }
        let hash = Self::hash(var, low, high) as usize;
        let bucket = hash & (self.buckets.len() - 1);
        let mut id = self.buckets[bucket];
        while id != NONE {
            let node = &self.nodes[id as usize];
            if node.var == var && node.low == low && node.high == high {
                return Ok(id);
            }
            id = node.next;
        }
        self.add(var, low, high, bucket)
    }

    fn add(&mut self, var: u32, low: Id, high: Id, bucket: usize) -> Result<Id, StopReason> {
        let node = Node {
            var,
            low,
            high,
            next: self.buckets[bucket],
        };
        let id = if self.free == NONE {
            let id = self.nodes.len() as u32;
            if id >= NONE - 1 {
                return Err(StopReason::MemoryLimit);
            }
            self.nodes.push(node);
            self.handles.push(0);
            id
        } else {
            let id = self.free;
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            id
        };

        self.buckets[bucket] = id;
        self.n_used += 1;
        self.peak = self.peak.max(self.n_used);
        if self.n_used > self.buckets.len() {
            self.poll()?;
            self.rehash(self.buckets.len() * 2);
        }
        Ok(id)
    }

    fn rehash(&mut self, n_buckets: usize) {
        self.buckets.clear();
        self.buckets.resize(n_buckets, NONE);
        for id in 2..self.nodes.len() {
            let Node { var, low, high, .. } = self.nodes[id];
            if var != NO_VARIABLE {
                let bucket = Self::hash(var, low, high) as usize & (n_buckets - 1);
                self.nodes[id].next = self.buckets[bucket];
                self.buckets[bucket] = id as u32;
            }
        }
        let n_entries = n_buckets.clamp(FIRST_CACHE, MAX_CACHE);
        if n_entries > self.cache.len() {
            self.cache = vec![EMPTY; n_entries];
        }
    }

    /// Collects what no handle reaches, if the table has grown enough for that to pay.
    pub(crate) fn collect_if_due(&mut self) {
        if self.n_used < self.collect_at {
            return;
        }
        let mut is_used = vec![false; self.nodes.len()];
        let mut stack = Vec::new();
        for (id, &n_handles) in self.handles.iter().enumerate() {
            if n_handles > 0 && !is_used[id] {
                is_used[id] = true;
                stack.push(id as u32);
            }
        }
        while let Some(id) = stack.pop() {
            let Node { var, low, high, .. } = self.nodes[id as usize];
            if var == NO_VARIABLE {
                continue;
            }
            for next in [low, high] {
                if !is_used[next as usize] {
                    is_used[next as usize] = true;
                    stack.push(next);
                }
            }
        }

        self.free = NONE;
        self.n_used = 2;
        for id in (2..self.nodes.len()).rev() {
            if is_used[id] {
                self.n_used += 1;
            } else {
                self.nodes[id].var = NO_VARIABLE;
            }
        }
        // What is known about nodes that are left stays known.
        let is_kept = |id: Id| is_used[id as usize];
        for entry in &mut self.cache {
            let Entry {
                a, b, c, result, ..
            } = *entry;
            if ![a, b, c, result].into_iter().all(is_kept) {
                *entry = EMPTY;
            }
        }
        self.rehash(self.buckets.len());
        for id in (2..self.nodes.len()).rev() {
            if !is_used[id] {
                self.nodes[id].next = self.free;
                self.free = id as u32;
            }
        }
        self.collect_at = (3 * self.n_used).max(FIRST_COLLECTION);
    }

    #[inline]
    fn slot(&self, op: Op, a: Id, b: Id, c: Id) -> usize {
        let mixed = (u64::from(a) << 32 | u64::from(b))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add((u64::from(c) << 3 | op as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93));
        (mixed ^ (mixed >> 31)) as usize & (self.cache.len() - 1)
    }

    #[inline]
    fn known(&self, op: Op, a: Id, b: Id, c: Id) -> Option<Id> {
        let entry = self.cache[self.slot(op, a, b, c)];
        let is_it = entry.op == op as u32 && entry.a == a && entry.b == b && entry.c == c;
        is_it.then_some(entry.result)
    }

    #[inline]
    fn remember(&mut self, op: Op, (a, b, c): (Id, Id, Id), result: Id) {
        let slot = self.slot(op, a, b, c);
        self.cache[slot] = Entry {
            op: op as u32,
            a,
            b,
            c,
            result,
        };
    }

    #[inline]
    fn var(&self, id: Id) -> u32 {
        self.nodes[id as usize].var
    }

    /// The function with the variable set to false and to true.
    #[inline]
    fn cofactors(&self, id: Id, var: u32) -> (Id, Id) {
        let node = &self.nodes[id as usize];
        if node.var == var {
            (node.low, node.high)
        } else {
            (id, id)
        }
    }

    pub(crate) fn and(&mut self, a: Id, b: Id) -> Result<Id, StopReason> {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => return Ok(FALSE),
            (TRUE, other) | (other, TRUE) => return Ok(other),
            _ if a == b => return Ok(a),
            _ => {}
        }
        self.apply(Op::And, a.min(b), a.max(b))
    }

    pub(crate) fn or(&mut self, a: Id, b: Id) -> Result<Id, StopReason> {
        match (a, b) {
            (TRUE, _) | (_, TRUE) => return Ok(TRUE),
            (FALSE, other) | (other, FALSE) => return Ok(other),
            _ if a == b => return Ok(a),
            _ => {}
        }
        self.apply(Op::Or, a.min(b), a.max(b))
    }

    pub(crate) fn minus(&mut self, a: Id, b: Id) -> Result<Id, StopReason> {
        match (a, b) {
            (FALSE, _) | (_, TRUE) => return Ok(FALSE),
            (a, FALSE) => return Ok(a),
            _ if a == b => return Ok(FALSE),
            _ => {}
        }
        self.apply(Op::Minus, a, b)
    }

    fn apply(&mut self, op: Op, a: Id, b: Id) -> Result<Id, StopReason> {
        if let Some(result) = self.known(op, a, b, 0) {
            return Ok(result);
        }
        self.count_step()?;

        let var = self.var(a).min(self.var(b));
        let ((a0, a1), (b0, b1)) = (self.cofactors(a, var), self.cofactors(b, var));
        let (low, high) = match op {
            Op::And => (self.and(a0, b0)?, self.and(a1, b1)?),
            Op::Or => (self.or(a0, b0)?, self.or(a1, b1)?),
            _ => (self.minus(a0, b0)?, self.minus(a1, b1)?),
        };

        let result = self.node(var, low, high)?;
        self.remember(op, (a, b, 0), result);
        Ok(result)
    }

    pub(crate) fn exists(&mut self, a: Id, cube: Id) -> Result<Id, StopReason> {
        let mut cube = cube;
        while self.var(cube) < self.var(a) {
            cube = self.nodes[cube as usize].high;
        }
        if a <= TRUE || cube == TRUE {
            return Ok(a);
        }
        if let Some(result) = self.known(Op::Exists, a, cube, 0) {
            return Ok(result);
        }
        self.count_step()?;

        let Node { var, low, high, .. } = self.nodes[a as usize];
        let is_bound = self.var(cube) == var;
        let low = self.exists(low, cube)?;
        let result = if is_bound && low == TRUE {
            TRUE
        } else {
            let high = self.exists(high, cube)?;
            if is_bound {
                self.or(low, high)?
            } else {
                self.node(var, low, high)?
            }
        };
        self.remember(Op::Exists, (a, cube, 0), result);
        Ok(result)
    }

    /// The bit of the state that comes first in one of these.
    #[inline]
    fn first_bit(&self, states: Id, relation: Id, written: Id) -> u32 {
        let first = self.var(states).min(self.var(relation));
        first.min(self.var(written)) & !1
    }

    pub(crate) fn image(&mut self, s: Id, relation: Id, written: Id) -> Result<Id, StopReason> {
        if s == FALSE || relation == FALSE {
            return Ok(FALSE);
        }
        if written == TRUE {
            return self.and(s, relation);
        }
        if let Some(result) = self.known(Op::Image, s, relation, written) {
            return Ok(result);
        }
        self.count_step()?;

        let bit = self.first_bit(s, relation, written);
        let ((s0, s1), (r0, r1)) = (self.cofactors(s, bit), self.cofactors(relation, bit));
        let (low, high) = if self.var(written) == bit {
            let below = self.nodes[written as usize].high;
            let (r00, r01) = self.cofactors(r0, bit + 1);
            let (r10, r11) = self.cofactors(r1, bit + 1);
            let (from0, from1) = (self.image(s0, r00, below)?, self.image(s1, r10, below)?);
            let low = self.or(from0, from1)?;
            let (from0, from1) = (self.image(s0, r01, below)?, self.image(s1, r11, below)?);
            (low, self.or(from0, from1)?)
        } else {
            (self.image(s0, r0, written)?, self.image(s1, r1, written)?)
        };

        let result = self.node(bit, low, high)?;
        self.remember(Op::Image, (s, relation, written), result);
        Ok(result)
    }

    pub(crate) fn preimage(&mut self, t: Id, relation: Id, written: Id) -> Result<Id, StopReason> {
        if t == FALSE || relation == FALSE {
            return Ok(FALSE);
        }
        if written == TRUE {
            return self.and(t, relation);
        }
        if let Some(result) = self.known(Op::Preimage, t, relation, written) {
            return Ok(result);
        }
        self.count_step()?;

        let bit = self.first_bit(t, relation, written);
        let ((t0, t1), (r0, r1)) = (self.cofactors(t, bit), self.cofactors(relation, bit));
        let (low, high) = if self.var(written) == bit {
            let below = self.nodes[written as usize].high;
            let (r00, r01) = self.cofactors(r0, bit + 1);
            let (r10, r11) = self.cofactors(r1, bit + 1);
            let (to0, to1) = (
                self.preimage(t0, r00, below)?,
                self.preimage(t1, r01, below)?,
            );
            let low = self.or(to0, to1)?;
            let (to0, to1) = (
                self.preimage(t0, r10, below)?,
                self.preimage(t1, r11, below)?,
            );
            (low, self.or(to0, to1)?)
        } else {
            (
                self.preimage(t0, r0, written)?,
                self.preimage(t1, r1, written)?,
            )
        };

        let result = self.node(bit, low, high)?;
        self.remember(Op::Preimage, (t, relation, written), result);
        Ok(result)
    }

    pub(crate) fn primed(&mut self, a: Id, cube: Id) -> Result<Id, StopReason> {
        let mut cube = cube;
        while self.var(cube) < self.var(a) {
            cube = self.nodes[cube as usize].high;
        }
        if a <= TRUE || cube == TRUE {
            return Ok(a);
        }
        if let Some(result) = self.known(Op::Primed, a, cube, 0) {
            return Ok(result);
        }
        self.count_step()?;

        let Node { var, low, high, .. } = self.nodes[a as usize];
        let renamed = if self.var(cube) == var { var + 1 } else { var };
        let (low, high) = (self.primed(low, cube)?, self.primed(high, cube)?);
        let result = self.node(renamed, low, high)?;
        self.remember(Op::Primed, (a, cube, 0), result);
        Ok(result)
    }

    fn reached(&self, id: Id) -> FxHashSet<Id> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if id > TRUE && seen.insert(id) {
                let node = &self.nodes[id as usize];
                stack.extend([node.low, node.high]);
            }
        }
        seen
    }

    pub(crate) fn support(&self, id: Id) -> Vec<u32> {
        let reached = self.reached(id);
        let mut vars: Vec<u32> = reached.into_iter().map(|id| self.var(id)).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    pub(crate) fn value(&self, id: Id, point: impl Fn(u32) -> bool) -> bool {
        let mut id = id;
        while id > TRUE {
            let node = &self.nodes[id as usize];
            id = if point(node.var) { node.high } else { node.low };
        }
        id == TRUE
    }

    pub(crate) fn first_point(&self, id: Id) -> Option<Vec<(u32, bool)>> {
        let mut id = id;
        let mut point = Vec::new();
        while id > TRUE {
            let node = &self.nodes[id as usize];
            let value = node.low == FALSE;
            point.push((node.var, value));
            id = if value { node.high } else { node.low };
        }
        (id == TRUE).then_some(point)
    }

    pub(crate) fn n_points(&self, id: Id, vars: &[u32]) -> BigUint {
        let mut vars = vars.to_vec();
        vars.sort_unstable();
        let position = |var: u32| vars.partition_point(|&other| other < var);
        let mut counts: FxHashMap<Id, BigUint> = FxHashMap::default();
        counts.insert(FALSE, BigUint::ZERO);
        counts.insert(TRUE, BigUint::from(1_u8));

        // Below `id`, counted over the variables from its own on.
        let mut stack = vec![id];
        while let Some(&id) = stack.last() {
            if counts.contains_key(&id) {
                stack.pop();
                continue;
            }
            let Node { var, low, high, .. } = self.nodes[id as usize];
            let missing = [low, high]
                .into_iter()
                .filter(|id| !counts.contains_key(id));
            let before = stack.len();
            stack.extend(missing);
            if stack.len() == before {
                let skipped = |id: Id| position(self.var(id)) - position(var) - 1;
                let count = (&counts[&low] << skipped(low)) + (&counts[&high] << skipped(high));
                counts.insert(id, count);
                stack.pop();
            }
        }
        &counts[&id] << position(self.var(id))
    }
}
