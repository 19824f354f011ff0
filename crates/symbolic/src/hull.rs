//! Sets of nodes that contain all fair components, and nothing if there is none.
//!
//! Y. Kesten, A. Pnueli, L.-O. Raviv, "Algorithmic verification of linear temporal logic
//! specifications", ICALP 1998, section 4, with marks on edges instead of states: the greatest set
//! in which every node reaches an edge with each demanded mark, and in which nodes that a Streett
//! condition calls *enabled* reach an edge on which it is *taken*, all inside of the set. A component
//! of the set that nothing leaves has every demanded mark, and is fair to every Streett condition; a
//! fair component is never removed. Without Streett conditions this is E. A. Emerson, C.-L. Lei,
//! "Efficient model checking in fragments of the propositional mu-calculus", LICS 1986.

use omega::{Acceptance, MarkId};

use crate::bdd::{Bdd, Halt};
use crate::graph::Graph;
use crate::product::Product;

/// More cases of an acceptance condition are not looked at.
const MAX_CASES: usize = 4096;

/// A conjunction that fixpoints can decide.
#[derive(Clone, Default, Debug)]
pub(crate) struct Demands {
    /// No edge with one of these marks.
    pub(crate) never: Vec<MarkId>,
    /// Of each list, an edge with one of its marks again and again.
    pub(crate) always: Vec<Vec<MarkId>>,
    /// If the source of an edge has the first mark again and again, then an edge has one of the
    /// others again and again.
    pub(crate) streett: Vec<(MarkId, Vec<MarkId>)>,
}

/// The cases of an acceptance condition; one of them must hold.
pub(crate) fn cases(product: &Product<'_, '_>) -> Result<Vec<Demands>, Halt> {
    let mut cases = vec![Demands::default()];
    let parts = match &product.acceptance {
        Acceptance::And(parts) => parts.clone(),
        other => vec![other.clone()],
    };
    for part in parts {
        add(product, &part, &mut cases)?;
        if cases.len() > MAX_CASES {
            let why = "fairness and property together have too many cases for the symbolic route";
            return Err(Halt::Unsupported(why.to_owned()));
        }
    }
    Ok(cases)
}

fn add(product: &Product<'_, '_>, part: &Acceptance, cases: &mut Vec<Demands>) -> Result<(), Halt> {
    match part {
        Acceptance::True => {}
        Acceptance::False => cases.clear(),
        Acceptance::Inf(mark) => cases.iter_mut().for_each(|c| c.always.push(vec![*mark])),
        Acceptance::Fin(mark) => cases.iter_mut().for_each(|c| c.never.push(*mark)),
        Acceptance::And(parts) => {
            for part in parts {
                add(product, part, cases)?;
            }
        }
        Acceptance::Or(parts) => {
            let (mut often, mut others) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Acceptance::Inf(mark) => often.push(*mark),
                    other => others.push(other.clone()),
                }
            }
            // Only a mark of states can be left to the fixpoint.
            if let ([Acceptance::Fin(enabled)], [_, ..]) = (&others[..], &often[..])
                && is_of_states(product, *enabled)
            {
                let pair = (*enabled, often);
                cases.iter_mut().for_each(|c| c.streett.push(pair.clone()));
                return Ok(());
            }

            let start = std::mem::take(cases);
            if !often.is_empty() {
                let mut with = start.clone();
                with.iter_mut().for_each(|c| c.always.push(often.clone()));
                cases.append(&mut with);
            }
            for other in others {
                let mut with = start.clone();
                add(product, &other, &mut with)?;
                cases.append(&mut with);
                if cases.len() > MAX_CASES {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn is_of_states(product: &Product<'_, '_>, mark: MarkId) -> bool {
    let mark = &product.marks[mark.index()];
    mark.reading.is_none() && !mark.steps.contains(&true)
}

/// Within these nodes, the largest set as described above.
///
/// Conditions are looked at until each of them has been looked at without a change, forwards and
/// backwards in turn: along a ring of processes, what one of them cannot do decides about the next.
pub(crate) fn hull(
    graph: &Graph<'_, '_, '_>,
    region: &Bdd,
    demands: &Demands,
) -> Result<Bdd, Halt> {
    let n_always = demands.always.len();
    let n_conditions = n_always + demands.streett.len();
    let mut nodes = trimmed(graph, graph.open(region)?)?;
    let mut is_settled = vec![false; n_conditions];
    let mut order: Vec<usize> = (0..n_conditions).collect();

    while is_settled.contains(&false) && !nodes.is_false() {
        for &condition in &order {
            if is_settled[condition] || nodes.is_false() {
                continue;
            }
            let kept = match demands.always.get(condition) {
                Some(marks) => visiting(graph, &nodes, marks)?,
                None => served(graph, &nodes, &demands.streett[condition - n_always])?,
            };
            if kept == nodes {
                is_settled[condition] = true;
            } else {
                nodes = trimmed(graph, kept)?;
                is_settled.fill(false);
            }
        }
        order.reverse();
    }
    Ok(nodes)
}

/// The nodes that reach an edge with one of the marks.
fn visiting(graph: &Graph<'_, '_, '_>, nodes: &Bdd, marks: &[MarkId]) -> Result<Bdd, Halt> {
    let sources = sources(graph, marks, nodes)?;
    if sources == *nodes {
        return Ok(sources);
    }
    graph.reaching(&sources, nodes)
}

/// The nodes that are not enabled, or reach an edge on which the condition is taken.
fn served(
    graph: &Graph<'_, '_, '_>,
    nodes: &Bdd,
    (enabled, taken): &(MarkId, Vec<MarkId>),
) -> Result<Bdd, Halt> {
    let obliged = nodes.and(&graph.product.marks[enabled.index()].source)?;
    if obliged.is_false() {
        return Ok(nodes.clone());
    }
    let sources = sources(graph, taken, nodes)?;
    if sources.is_false() {
        return nodes.minus(&obliged);
    }
    let served = graph.reaching(&sources, nodes)?;
    nodes.minus(&obliged.minus(&served)?)
}

/// Without nodes that no edge leaves.
fn trimmed(graph: &Graph<'_, '_, '_>, mut nodes: Bdd) -> Result<Bdd, Halt> {
    loop {
        let kept = graph.before(&nodes)?.and(&nodes)?;
        if kept == nodes {
            return Ok(nodes);
        }
        nodes = kept;
    }
}

/// The nodes from which an edge with one of the marks stays inside.
pub(crate) fn sources(
    graph: &Graph<'_, '_, '_>,
    marks: &[MarkId],
    nodes: &Bdd,
) -> Result<Bdd, Halt> {
    let mut found = graph.product.system.constant(false);
    for mark in marks {
        let mark = &graph.product.marks[mark.index()];
        found = found.or(&graph.sources(mark, nodes)?)?;
    }
    Ok(found)
}
