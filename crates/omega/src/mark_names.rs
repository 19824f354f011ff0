//! How the marks of a graph are named.

use crate::exploration::Exploration;
use crate::path_based::PathSearch;
use crate::{Component, Graph};

/// What the search of `emerson_lei.rs` must know about the names of marks.
///
/// In an ordinary graph a mark has one name everywhere ([`FixedNames`]). In a quotient by symmetry
/// its name changes along edges (`symmetric/`), so marks of different edges can be compared only when
/// they are named as at one node, the *root* of a component.
pub(crate) trait MarkNames<G: Graph> {
    /// Has a mark one name everywhere? Then the union of marks that a path search keeps is that of
    /// the marks of the component.
    const ARE_FIXED: bool;

    /// Between these calls with `true` and with `false`, edges have marks that are named as at the
    /// root of a component that was settled and contains their source.
    fn look_inside(&mut self, graph: &mut G, is_inside: bool);

    /// Finds the marks of a component, named as at its root. Its edges are those between its nodes
    /// with marks within `allowed`; all if absent.
    ///
    /// `allowed` is named as at the root of a component around this one that was settled before.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn settle(
        &mut self,
        ctx: &mut Exploration<'_, G>,
        search: &PathSearch,
        component: &mut Component,
        allowed: Option<&[u64]>,
    ) -> Result<(), G::Stop>;

    /// Goes on if the graph has stopped only for a look at a component that may not be complete.
    ///
    /// # Errors
    /// The reason for which exploration must stop.
    fn go_on(&mut self, ctx: &mut Exploration<'_, G>, stop: G::Stop) -> Result<(), G::Stop>;
}

/// Every mark has one name.
pub(crate) struct FixedNames;

impl<G: Graph> MarkNames<G> for FixedNames {
    const ARE_FIXED: bool = true;

    fn look_inside(&mut self, _graph: &mut G, _is_inside: bool) {}

    fn settle(
        &mut self,
        _ctx: &mut Exploration<'_, G>,
        _search: &PathSearch,
        _component: &mut Component,
        _allowed: Option<&[u64]>,
    ) -> Result<(), G::Stop> {
        // The path search has found them.
        Ok(())
    }

    fn go_on(&mut self, _ctx: &mut Exploration<'_, G>, stop: G::Stop) -> Result<(), G::Stop> {
        Err(stop)
    }
}
