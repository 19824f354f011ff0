//! Which cells may still be read: live variables, per process and location.
//!
//! A cell is *live for an instance at a location* if some path of the instance's control graph
//! starts there on which the instance reads the cell before it surely overwrites it (A. Aho,
//! M. Lam, R. Sethi, J. Ullman, "Compilers", section 9.2.5; for state spaces: M. Bozga,
//! J.-C. Fernandez, L. Ghirvu, "State space reduction based on live variables analysis", SAS 1999,
//! doi:10.1007/3-540-48294-6_11). A cell is *dead in a state* if it is live for no instance at its
//! location and no other process reads it. Unlike the paper we let several processes read one cell:
//! each is asked for itself, and only its own writes count for it.
//!
//! Invariant: of two states that differ in dead cells only, each has the steps of the other, and
//! these lead to states that differ in dead cells only. `SOUNDNESS.md` has the proof.

use base::{AtomId, bits};
use model::{
    AtomMeaning, CommandId, Expr, InstanceId, Model, Owner, Pattern, Place, Step, Stmt, StmtKind,
    Sync,
};

use crate::constant::Known;
use crate::elimination::Elimination;
use crate::layout::Layout;

/// Systems that would need more words than this for their live cells are left as they are.
const MAX_WORDS: usize = 1 << 22;

/// The bits of states that matter.
#[derive(Clone, Debug)]
pub(crate) struct LiveVariables {
    /// Bits that matter everywhere.
    always: Vec<u64>,
    /// For some instances the field of its location and, by location, the bits that matter there.
    by_location: Vec<(u32, Vec<Vec<u64>>)>,
}

impl LiveVariables {
    /// Works out what is live where; nothing if nothing is ever dead, or the system is too large.
    pub(crate) fn new(
        model: &Model,
        layout: &Layout,
        elimination: &Elimination,
        atoms: &[AtomId],
    ) -> Option<Self> {
        let n_words = bits::words_for(model.cells().len());
        let n_locations: usize = (0..model.instances().len())
            .map(|i| model.process_of(InstanceId::new(i)).locations.len())
            .sum();
        if n_words.checked_mul(n_locations + model.commands().len())? > MAX_WORDS {
            return None;
        }
        let mut always = looked_at(model, atoms, n_words);
        let mut rows = Vec::new();
        for instance in 0..model.instances().len() {
            let live = live_cells(model, elimination, InstanceId::new(instance), n_words);
            let everywhere = intersection(&live, n_words);
            bits::union_into(&mut always, &everywhere);
            rows.push(live);
        }

        let as_bits = |cells: &[u64]| field_bits(layout, cells);
        let mut by_location = Vec::new();
        for (instance, live) in rows.iter().enumerate() {
            if live.iter().any(|cells| !bits::is_subset(cells, &always)) {
                let field = layout.first_location + instance as u32;
                by_location.push((field, live.iter().map(|cells| as_bits(cells)).collect()));
            }
        }

        let n_cells = model.cells().len();
        let takes_no_room = |cell: usize| elimination.constants[cell].is_some();
        let all_live = (0..n_cells).all(|cell| bits::get(&always, cell) || takes_no_room(cell));
        let mut always = as_bits(&always);
        other_bits(layout, n_cells, &mut always);
        (!all_live).then_some(Self {
            always,
            by_location,
        })
    }

    /// Sets all dead cells to the first values of their types.
    pub(crate) fn clear(&self, layout: &Layout, words: &mut [u64]) {
        // A state is a few words; this way none of them has to be copied.
        for position in 0..words.len() {
            let mut live = self.always[position];
            for (field, rows) in &self.by_location {
                let location = layout.fields[*field as usize].raw(words) as usize;
                live |= rows[location][position];
            }
            words[position] &= live;
        }
    }
}

/// The cells that atoms, timers and the rules of control look at.
fn looked_at(model: &Model, atoms: &[AtomId], n_words: usize) -> Vec<u64> {
    let mut known = Known::nothing(model);
    let mut cells = vec![0; n_words];
    for atom in atoms {
        match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::State(expr) => reads(&mut known, expr, &mut cells),
            AtomMeaning::Certainly(expr, value) => {
                reads(&mut known, &model.certainly(expr, *value), &mut cells);
            }
            // Steps are the same whatever is dead.
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::TimerSet(_) => {}
        }
    }

    for (cell, _) in model.timer_cells() {
        bits::set(&mut cells, *cell);
    }
    if let Some(control) = model.parts().control {
        bits::set(&mut cells, model.first_cell(control, None));
    }
    cells
}

/// For every location of an instance, the cells that are live there for it.
fn live_cells(
    model: &Model,
    elimination: &Elimination,
    instance: InstanceId,
    n_words: usize,
) -> Vec<Vec<u64>> {
    let mut flows = Vec::new();
    for (position, command) in model.commands().iter().enumerate() {
        if command.instance == instance && !elimination.never_executed[position] {
            let step = model.step_of(CommandId::new(position));
            let mut known = Known::in_command(model, command);
            let flow = Flow::of_step(&mut known, step, n_words);
            flows.push((step.source.index(), step.target.index(), flow));
        }
    }

    let n_locations = model.process_of(instance).locations.len();
    let mut live = vec![vec![0; n_words]; n_locations];
    let mut changed = true;
    while changed {
        changed = false;
        for (source, target, flow) in flows.iter().rev() {
            let passed: Vec<u64> = live[*target]
                .iter()
                .zip(&flow.written)
                .map(|(live, written)| live & !written)
                .collect();
            changed |= bits::union_into(&mut live[*source], &passed);
            changed |= bits::union_into(&mut live[*source], &flow.read);
        }
    }

    live
}

/// What a piece of code does with cells: reads before it writes them, and surely writes.
#[derive(Clone, Debug)]
struct Flow {
    read: Vec<u64>,
    written: Vec<u64>,
}

impl Flow {
    fn nothing(n_words: usize) -> Self {
        Self {
            read: vec![0; n_words],
            written: vec![0; n_words],
        }
    }

    /// A command reads the state before the step and its own writes.
    fn of_step(known: &mut Known<'_>, step: &Step, n_words: usize) -> Self {
        let mut flow = Self::nothing(n_words);
        flow.precede_all(known, &step.effect);
        match &step.sync {
            Sync::Internal | Sync::Event { .. } => {}
            Sync::Send { channel, payload } => {
                let index = channel.index.iter().map(|index| &**index);
                index
                    .chain(payload)
                    .for_each(|expr| reads(known, expr, &mut flow.read));
            }
            Sync::Receive { channel, patterns } => {
                for place in patterns.iter().rev().filter_map(Pattern::stored) {
                    flow.precede_write(known, place);
                }
                for expr in patterns.iter().filter_map(Pattern::matched) {
                    reads(known, expr, &mut flow.read);
                }
                if let Some(index) = &channel.index {
                    reads(known, index, &mut flow.read);
                }
            }
        }

        reads(known, &step.guard, &mut flow.read);
        flow
    }

    /// What the statements and then this code do.
    fn precede_all(&mut self, known: &mut Known<'_>, statements: &[Stmt]) {
        for statement in statements.iter().rev() {
            self.precede(known, &statement.kind);
        }
    }

    fn precede(&mut self, known: &mut Known<'_>, statement: &StmtKind) {
        match statement {
            StmtKind::Assign(place, value) => {
                self.precede_write(known, place);
                reads(known, value, &mut self.read);
            }
            StmtKind::If(condition, then, otherwise) => {
                let mut other = self.clone();
                self.precede_all(known, then);
                other.precede_all(known, otherwise);
                bits::union_into(&mut self.read, &other.read);
                let both = self.written.iter_mut().zip(&other.written);
                both.for_each(|(mine, other)| *mine &= other);
                reads(known, condition, &mut self.read);
            }
            StmtKind::For(bound, lo, hi, body) => {
                match known.range(lo, hi) {
                    Some(range) => {
                        for value in range.rev() {
                            known.bounds.push((*bound, value));
                            self.precede_all(known, body);
                            known.bounds.pop();
                        }
                    }
                    None => self.precede_loop(known, body),
                }
                reads(known, lo, &mut self.read);
                reads(known, hi, &mut self.read);
            }
            StmtKind::While(condition, body) => {
                self.precede_loop(known, body);
                reads(known, condition, &mut self.read);
            }
            StmtKind::Choose(_, lo, hi, condition) => {
                for expr in [lo, hi, condition] {
                    reads(known, expr, &mut self.read);
                }
            }
            StmtKind::Assert(expr) | StmtKind::Let(_, expr) | StmtKind::Set(_, expr) => {
                reads(known, expr, &mut self.read);
            }
            StmtKind::SetTimer(place, setting) => {
                // Timers are never dead, so that they are written need not be noted.
                reads_of_path(known, place, &mut self.read);
                setting.for_each_operand(&mut |expr| reads(known, expr, &mut self.read));
            }
            StmtKind::Tick | StmtKind::Fail(_) | StmtKind::Exhausted => {}
        }
    }

    /// A body that is executed any number of times.
    fn precede_loop(&mut self, known: &mut Known<'_>, body: &[Stmt]) {
        let mut once = Self::nothing(self.read.len());
        once.precede_all(known, body);
        bits::union_into(&mut self.read, &once.read);
    }

    fn precede_write(&mut self, known: &mut Known<'_>, place: &Place) {
        if let [cell] = known.cells(place)[..] {
            bits::clear(&mut self.read, cell);
            bits::set(&mut self.written, cell);
        }
        reads_of_path(known, place, &mut self.read);
    }
}

/// Adds the cells that an expression may read.
fn reads(known: &mut Known<'_>, expr: &Expr, cells: &mut [u64]) {
    match expr {
        Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) | Expr::Bound(_) => {}
        Expr::Read(place) => {
            for cell in known.cells(place) {
                bits::set(cells, cell);
            }
            reads_of_path(known, place, cells);
        }
        Expr::Not(inner) | Expr::Neg(inner) | Expr::Wrap { inner, .. } => {
            reads(known, inner, cells);
        }
        Expr::Binary(_, left, right) => {
            reads(known, left, cells);
            reads(known, right, cells);
        }
        Expr::Ite(condition, then, otherwise) => {
            for expr in [condition, then, otherwise] {
                reads(known, expr, cells);
            }
        }
        Expr::Quantified {
            bound,
            lo,
            hi,
            body,
            ..
        } => {
            reads(known, lo, cells);
            reads(known, hi, cells);
            match known.range(lo, hi) {
                Some(range) => {
                    for value in range {
                        known.bounds.push((*bound, value));
                        reads(known, body, cells);
                        known.bounds.pop();
                    }
                }
                None => reads(known, body, cells),
            }
        }
        Expr::At { owner, .. } => reads_of_owner(known, owner, cells),
        Expr::Length(channel) => {
            if let Some(index) = &channel.index {
                reads(known, index, cells);
            }
        }
    }
}

/// Adds the cells that decide which cell a place names.
fn reads_of_path(known: &mut Known<'_>, place: &Place, cells: &mut [u64]) {
    place.for_each_operand(&mut |expr| reads(known, expr, cells));
}

fn reads_of_owner(known: &mut Known<'_>, owner: &Owner, cells: &mut [u64]) {
    owner.for_each_operand(&mut |expr| reads(known, expr, cells));
}

fn intersection(sets: &[Vec<u64>], n_words: usize) -> Vec<u64> {
    let mut sets = sets.iter();
    let mut common = sets.next().cloned().unwrap_or_else(|| vec![0; n_words]);
    for set in sets {
        common
            .iter_mut()
            .zip(set)
            .for_each(|(all, set)| *all &= set);
    }
    common
}

/// The bits of states that the cells occupy.
fn field_bits(layout: &Layout, cells: &[u64]) -> Vec<u64> {
    let mut words = vec![0; layout.n_words];
    for cell in bits::iter(cells) {
        let field = &layout.fields[layout.first_cell as usize + cell];
        words[field.word as usize] |= field.mask << field.shift;
    }
    words
}

/// Adds the bits of everything that is not a cell.
fn other_bits(layout: &Layout, n_cells: usize, words: &mut [u64]) {
    let cells = layout.first_cell as usize..layout.first_cell as usize + n_cells;
    for (position, field) in layout.fields.iter().enumerate() {
        if !cells.contains(&position) {
            words[field.word as usize] |= field.mask << field.shift;
        }
    }
}
