//! Reduced ordered binary decision diagrams.
//!
//! R. E. Bryant, "Graph-based algorithms for Boolean function manipulation", IEEE Transactions on
//! Computers 35 (1986). Nodes are hash-consed in one array; results of operations are kept in a
//! table that forgets; what no handle reaches is collected between operations. There are no
//! complemented edges: negation costs a pass, everything else is simpler.
//!
//! Variables come in pairs: variable `2p` is a bit of a state, `2p + 1` the same bit of the next one.
//! So renaming one to the other keeps the order, and images need neither renaming nor conditions
//! that say what stays as it is: see [`Bdd::image`].
//!
//! Every operation asks the budget now and then and ends with the reason if it is spent. That, the
//! size of the program and the time of its build are why this is not one of the larger packages.

use std::cell::RefCell;
use std::rc::Rc;

use base::{Budget, StopReason};

use crate::node_table::{FALSE, Id, NodeTable, TRUE};

/// Why a computation has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The budget is spent.
    Stopped(StopReason),
    /// The model or the question is outside of what is treated, and why.
    Unsupported(String),
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// Where diagrams live.
#[derive(Clone)]
pub(crate) struct Manager(Rc<RefCell<NodeTable>>);

/// A Boolean function. Cloning is cheap; what no handle reaches is collected.
pub(crate) struct Bdd {
    id: Id,
    manager: Manager,
}

impl Clone for Bdd {
    fn clone(&self) -> Self {
        self.manager.handle(self.id)
    }
}

impl Drop for Bdd {
    fn drop(&mut self) {
        self.manager.0.borrow_mut().release(self.id);
    }
}

impl PartialEq for Bdd {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Bdd {}

impl std::fmt::Debug for Bdd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bdd({})", self.id)
    }
}

impl Manager {
    /// An empty table that spends this budget.
    pub(crate) fn new(budget: &Budget) -> Self {
        Self(Rc::new(RefCell::new(NodeTable::new(budget.clone()))))
    }

    fn handle(&self, id: Id) -> Bdd {
        self.0.borrow_mut().retain(id);
        Bdd {
            id,
            manager: self.clone(),
        }
    }

    /// Runs an operation between whose start and end nothing is collected.
    fn run(
        &self,
        operation: impl FnOnce(&mut NodeTable) -> Result<Id, StopReason>,
    ) -> Result<Bdd, Halt> {
        let id = {
            let mut table = self.0.borrow_mut();
            table.collect_if_due();
            operation(&mut table)?
        };
        Ok(self.handle(id))
    }

    /// A constant.
    pub(crate) fn constant(&self, value: bool) -> Bdd {
        self.handle(if value { TRUE } else { FALSE })
    }

    /// A variable.
    pub(crate) fn variable(&self, var: u32) -> Result<Bdd, Halt> {
        self.run(|table| table.node(var, FALSE, TRUE))
    }

    /// The conjunction of variables.
    pub(crate) fn cube(&self, vars: &[u32]) -> Result<Bdd, Halt> {
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        self.run(|table| {
            let mut vars = sorted.iter().rev();
            vars.try_fold(TRUE, |below, &var| table.node(var, FALSE, below))
        })
    }

    /// The conjunction of literals.
    pub(crate) fn literals(&self, literals: &[(u32, bool)]) -> Result<Bdd, Halt> {
        let mut sorted = literals.to_vec();
        sorted.sort_unstable();
        self.run(|table| {
            let mut literals = sorted.iter().rev();
            literals.try_fold(TRUE, |below, &(var, value)| {
                if value {
                    table.node(var, FALSE, below)
                } else {
                    table.node(var, below, FALSE)
                }
            })
        })
    }

    /// How many bytes the table takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.borrow().bytes()
    }

    /// The most nodes that were there at one time.
    pub(crate) fn peak_nodes(&self) -> usize {
        self.0.borrow().peak()
    }

    /// May the computation go on?
    pub(crate) fn poll(&self) -> Result<(), Halt> {
        Ok(self.0.borrow().poll()?)
    }
}

impl Bdd {
    /// Is the function false everywhere?
    pub(crate) fn is_false(&self) -> bool {
        self.id == FALSE
    }

    /// Is it true everywhere?
    pub(crate) fn is_true(&self) -> bool {
        self.id == TRUE
    }

    fn with(
        &self,
        other: &Self,
        operation: fn(&mut NodeTable, Id, Id) -> Result<Id, StopReason>,
    ) -> Result<Self, Halt> {
        self.manager
            .run(|table| operation(table, self.id, other.id))
    }

    /// Conjunction.
    pub(crate) fn and(&self, other: &Self) -> Result<Self, Halt> {
        self.with(other, NodeTable::and)
    }

    /// Disjunction.
    pub(crate) fn or(&self, other: &Self) -> Result<Self, Halt> {
        self.with(other, NodeTable::or)
    }

    /// What is in the first and not in the second.
    pub(crate) fn minus(&self, other: &Self) -> Result<Self, Halt> {
        self.with(other, NodeTable::minus)
    }

    /// Negation.
    pub(crate) fn not(&self) -> Result<Self, Halt> {
        self.manager.run(|table| table.minus(TRUE, self.id))
    }

    /// If, then, else.
    pub(crate) fn ite(&self, then: &Self, otherwise: &Self) -> Result<Self, Halt> {
        self.and(then)?.or(&otherwise.minus(self)?)
    }

    /// Equivalence.
    pub(crate) fn iff(&self, other: &Self) -> Result<Self, Halt> {
        self.ite(other, &other.not()?)
    }

    /// Are there no points at which both are true?
    pub(crate) fn is_disjoint(&self, other: &Self) -> Result<bool, Halt> {
        Ok(self.and(other)?.is_false())
    }

    /// Is there a value for the variables of the cube?
    pub(crate) fn exists(&self, cube: &Self) -> Result<Self, Halt> {
        self.with(cube, NodeTable::exists)
    }

    /// The states that follow on these by the relation. The cube has the bits that the relation
    /// writes; all others stay as they are, and the relation says nothing about their next values.
    pub(crate) fn image(&self, relation: &Self, written: &Self) -> Result<Self, Halt> {
        self.manager
            .run(|table| table.image(self.id, relation.id, written.id))
    }

    /// The states that these follow on.
    pub(crate) fn preimage(&self, relation: &Self, written: &Self) -> Result<Self, Halt> {
        self.manager
            .run(|table| table.preimage(self.id, relation.id, written.id))
    }

    /// The function with the bits of the cube read in the next state.
    pub(crate) fn primed(&self, cube: &Self) -> Result<Self, Halt> {
        self.with(cube, NodeTable::primed)
    }

    /// The variables that matter, in order.
    pub(crate) fn support(&self) -> Vec<u32> {
        self.manager.0.borrow().support(self.id)
    }

    /// The value at a point.
    pub(crate) fn value(&self, point: impl Fn(u32) -> bool) -> bool {
        self.manager.0.borrow().value(self.id, point)
    }

    /// The first point at which the function is true: the values of variables that matter on the
    /// way; others are arbitrary.
    pub(crate) fn first_point(&self) -> Option<Vec<(u32, bool)>> {
        self.manager.0.borrow().first_point(self.id)
    }

    /// How many points there are over these variables, which include all that matter.
    pub(crate) fn n_points(&self, vars: &[u32]) -> num_bigint::BigUint {
        self.manager.0.borrow().n_points(self.id, vars)
    }

    /// Where the diagram lives.
    pub(crate) fn manager(&self) -> &Manager {
        &self.manager
    }
}
