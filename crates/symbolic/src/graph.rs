//! A product of which some edges are left out, and its fixpoints.

use std::cell::RefCell;

use crate::bdd::{Bdd, Halt};
use crate::product::{Mark, Product};

/// The edges of a product that are left.
#[derive(Clone)]
pub(crate) struct Graph<'a, 'p, 'm> {
    pub(crate) product: &'a Product<'p, 'm>,
    /// The steps that are left, in the order in which they are best applied.
    steps: Vec<usize>,
    /// By class: how the automaton may read.
    reading: Vec<Bdd>,
    /// By step: the relation of both halves with the bits that it writes, where letters do not say
    /// anything about states.
    whole: Vec<Option<(Bdd, Bdd)>>,
    /// States from which no edge is left.
    removed: Bdd,
    /// The last answer of [`Graph::before`]: marks ask for it one after the other.
    last: RefCell<Option<(Bdd, Bdd)>>,
}

impl<'a, 'p, 'm> Graph<'a, 'p, 'm> {
    /// All edges.
    pub(crate) fn new(product: &'a Product<'p, 'm>) -> Result<Self, Halt> {
        let mut steps: Vec<usize> = (0..product.steps.len()).collect();
        // Deep ones first: what they lead to is complete before others build upon it.
        steps.sort_by_key(|&step| {
            let relation = &product.steps[step].step.relation;
            std::cmp::Reverse(relation.support().first().copied())
        });
        let mut graph = Self {
            product,
            steps,
            reading: product.reading.clone(),
            whole: Vec::new(),
            removed: product.system.constant(false),
            last: RefCell::default(),
        };
        graph.compose()?;
        Ok(graph)
    }

    /// Makes one relation of the two halves of steps.
    fn compose(&mut self) -> Result<(), Halt> {
        // A reading that does not look at the state stays small when it is joined with a step.
        let product = self.product;
        let n_automaton_vars = 2 * product.system.encoding.automaton_bits.len() as u32;
        let mut is_short = Vec::new();
        for reading in &self.reading {
            let support = reading.support();
            is_short.push(support.iter().all(|&var| var < n_automaton_vars));
        }

        self.whole.clear();
        for (labelled, &class) in product.steps.iter().zip(&product.class) {
            let whole = if is_short[class] {
                let step = &labelled.step;
                let relation = step.relation.and(&self.reading[class])?;
                Some((relation, step.written.and(&product.automaton_cube)?))
            } else {
                None
            };
            self.whole.push(whole);
        }
        Ok(())
    }

    /// Without edges from these states.
    pub(crate) fn ending_in(mut self, states: &Bdd) -> Result<Self, Halt> {
        self.last = RefCell::default();
        self.removed = self.removed.or(states)?;
        Ok(self)
    }

    /// The nodes among these from which edges may be left.
    pub(crate) fn open(&self, nodes: &Bdd) -> Result<Bdd, Halt> {
        nodes.minus(&self.removed)
    }

    /// Without the edges that carry a mark.
    pub(crate) fn without(&self, mark: &Mark) -> Result<Self, Halt> {
        let mut graph = self.clone();
        graph.last = RefCell::default();
        graph.steps.retain(|&step| !mark.steps[step]);
        graph.removed = graph.removed.or(&mark.source)?;
        if let Some(marked) = &mark.reading {
            for (reading, marked) in graph.reading.iter_mut().zip(marked) {
                *reading = reading.minus(marked)?;
            }
            graph.compose()?;
        }
        Ok(graph)
    }

    fn read(&self, nodes: &Bdd, class: usize) -> Result<Bdd, Halt> {
        nodes.image(&self.reading[class], &self.product.automaton_cube)
    }

    fn unread(&self, nodes: &Bdd, class: usize) -> Result<Bdd, Halt> {
        nodes.preimage(&self.reading[class], &self.product.automaton_cube)
    }

    fn image(&self, nodes: &Bdd, step: usize) -> Result<Bdd, Halt> {
        if let Some((relation, written)) = &self.whole[step] {
            return nodes.image(relation, written);
        }
        let moved = self.product.steps[step].step.image(nodes)?;
        self.read(&moved, self.product.class[step])
    }

    /// Where the edges of one step lead to these nodes from.
    fn preimage(&self, nodes: &Bdd, step: usize) -> Result<Bdd, Halt> {
        if let Some((relation, written)) = &self.whole[step] {
            return nodes.preimage(relation, written);
        }
        let read = self.unread(nodes, self.product.class[step])?;
        self.product.steps[step].step.preimage(&read)
    }

    /// The nodes from which an edge leads to these.
    pub(crate) fn before(&self, nodes: &Bdd) -> Result<Bdd, Halt> {
        if let Some((known, before)) = &*self.last.borrow()
            && known == nodes
        {
            return Ok(before.clone());
        }
        let before = self.compute_before(nodes)?;
        *self.last.borrow_mut() = Some((nodes.clone(), before.clone()));
        Ok(before)
    }

    fn compute_before(&self, nodes: &Bdd) -> Result<Bdd, Halt> {
        let mut found = self.product.system.constant(false);
        for &step in &self.steps {
            found = found.or(&self.preimage(nodes, step)?)?;
        }
        found.minus(&self.removed)
    }

    /// Do these nodes take every step of the states that they are copies of, and stay inside?
    pub(crate) fn takes_all_steps(&self, nodes: &Bdd) -> Result<bool, Halt> {
        let product = self.product;
        let states = nodes.exists(&product.automaton_cube)?;
        for (number, labelled) in product.steps.iter().enumerate() {
            let step = &labelled.step;
            let wanted = step.relation.and(&states)?;
            if wanted.is_false() {
                continue;
            }
            if !self.steps.contains(&number) {
                return Ok(false);
            }
            // From a copy of the source, the automaton reads the letter of the target and is inside.
            let arriving = self.unread(nodes, product.class[number])?;
            let taken = nodes
                .and(&step.relation)?
                .and(&arriving.primed(&step.written)?)?
                .exists(&product.automaton_cube)?;
            if !wanted.minus(&taken)?.is_false() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The nodes among these from which an edge with the mark leads to these.
    pub(crate) fn sources(&self, mark: &Mark, nodes: &Bdd) -> Result<Bdd, Halt> {
        let mut found = self.product.system.constant(false);

        if !mark.source.is_false() {
            found = self.before(nodes)?.and(&mark.source)?;
        }

        for &step in &self.steps {
            if mark.steps[step] {
                found = found.or(&self.preimage(nodes, step)?)?;
            }
        }

        // What the automaton reads is undone first, once for all steps of a class.
        if let Some(marked) = &mark.reading {
            let mut unread = Vec::new();
            for (reading, marked) in self.reading.iter().zip(marked) {
                let both = reading.and(marked)?;
                unread.push(nodes.preimage(&both, &self.product.automaton_cube)?);
            }
            for &step in &self.steps {
                let read = &unread[self.product.class[step]];
                found = found.or(&self.product.steps[step].step.preimage(read)?)?;
            }
        }

        found.and(nodes)?.minus(&self.removed)
    }

    /// The nodes within `region` from which these can be reached inside of it.
    pub(crate) fn reaching(&self, nodes: &Bdd, region: &Bdd) -> Result<Bdd, Halt> {
        let open = region.minus(&self.removed)?;
        let mut found = nodes.clone();
        loop {
            let before = found.clone();
            for &step in &self.steps {
                let more = self.preimage(&found, step)?.and(&open)?;
                found = found.or(&more)?;
            }
            if found == before {
                return Ok(found);
            }
        }
    }

    /// The nodes within `region` that can be reached from these inside of it; everywhere, without
    /// region.
    pub(crate) fn reachable(&self, nodes: &Bdd, region: Option<&Bdd>) -> Result<Bdd, Halt> {
        let mut found = nodes.clone();
        loop {
            let before = found.clone();
            for &step in &self.steps {
                let mut from = found.clone();
                if !self.removed.is_false() {
                    from = from.minus(&self.removed)?;
                }
                let mut more = self.image(&from, step)?;
                if let Some(region) = region {
                    more = more.and(region)?;
                }
                found = found.or(&more)?;
            }
            if found == before {
                return Ok(found);
            }
        }
    }
}
