//! A run among the first nodes of a product.
//!
//! A search depth first judges a component when it is complete, if some marks must not be on the loop
//! (progress, strong fairness, what holds from some point on). Often the product is one large component,
//! and a loop that violates a property lies near its beginning. So what has been met after a while is
//! judged as if there were nothing else: a loop inside is one of the whole product, and if there is none,
//! nothing is said.

use omega::{Closure, Component, NodeId};

use crate::product::{OwnSpace, Product, Space};
use crate::search::{Outcome, Query, evidence_of};

/// Looks for a run that stays among the first nodes that were met; all nodes have been reached.
pub(crate) fn run_among_first(
    product: &mut Product<'_, '_, OwnSpace>,
    query: &Query<'_>,
    n_nodes: u64,
) -> Option<Outcome> {
    // Closed components are closed in the whole system.
    if query.closure() != Closure::None {
        return None;
    }
    let n_met = product.space.n_nodes() as u64;
    let component = Component {
        nodes: (0..n_met.min(n_nodes) as usize).map(NodeId::new).collect(),
        marks: Vec::new(),
    };
    let acceptance = product.acceptance.clone();
    // What stops the search here stops the one after it, too.
    let found = omega::confirm_reached(product, &component, &acceptance, Closure::None);
    let found = found.ok()??;
    evidence_of(product, query, &found).ok()
}
