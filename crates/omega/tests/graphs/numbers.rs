//! A graph with more nodes than the searches have numbers for is a reason to stop.

use omega::{
    Acceptance, Closure, EdgeBuffer, Graph, MAX_NODES, MarkId, NodeId, Renaming,
    SymmetricAcceptance, SymmetricGraph, fair_nodes, find_fair_cycle, find_fair_cycle_parallel,
    find_fair_cycle_symmetric,
};

/// A node with a loop and an edge to another one, which has a fair loop.
#[derive(Clone)]
struct Two {
    first: NodeId,
    second: NodeId,
    identity: Renaming,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OutOfNumbers;

impl Graph for Two {
    type Stop = OutOfNumbers;

    fn n_mark_words(&self) -> usize {
        1
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), OutOfNumbers> {
        out.push(self.first);
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), OutOfNumbers> {
        if node == self.first {
            out.push(self.first, 0, &[0]);
            out.push(self.second, 1, &[0]);
        } else {
            out.push(self.second, 0, &[1]);
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, _node: NodeId) -> Result<u32, OutOfNumbers> {
        Ok(2)
    }

    fn out_of_numbers(&self) -> OutOfNumbers {
        OutOfNumbers
    }
}

impl SymmetricGraph for Two {
    fn symmetric_successors(
        &mut self,
        node: NodeId,
        out: &mut EdgeBuffer,
        renamings: &mut Vec<u32>,
    ) -> Result<(), OutOfNumbers> {
        let before = out.len();
        self.successors(node, out)?;
        renamings.extend((before..out.len()).map(|_| 0));
        Ok(())
    }

    fn renaming(&self, _number: u32) -> &Renaming {
        &self.identity
    }
}

/// Whether each search finds the fair loop, or why it stops.
fn searched(first: u32, second: u32) -> Vec<Result<bool, OutOfNumbers>> {
    let mut graph = Two {
        first: NodeId(first),
        second: NodeId(second),
        identity: Renaming::default(),
    };
    let fair = Acceptance::Inf(MarkId(0));
    let symmetric = SymmetricAcceptance {
        infinitely: vec![MarkId(0)],
        pairs: Vec::new(),
        fixed: Acceptance::True,
    };
    let mut graphs = [graph.clone(), graph.clone()];
    let none = Closure::None;

    let one = find_fair_cycle(&mut graph, &fair, none, &mut |_| Ok(())).result;
    let two = find_fair_cycle_parallel(&mut graphs, &fair, none, &mut |_| Ok(())).result;
    let quotient = find_fair_cycle_symmetric(&mut graph, &symmetric, &mut |_| Ok(())).result;
    let nodes = fair_nodes(&mut graph, 2, &fair, none);
    vec![
        one.map(|found| found.is_some()),
        two.map(|found| found.is_some()),
        quotient.map(|found| found.is_some()),
        nodes.map(|nodes| nodes == [0b11]),
    ]
}

#[test]
fn searches_stop_where_numbers_end() {
    assert_eq!(searched(0, 1), [Ok(true), Ok(true), Ok(true), Ok(true)]);
    for too_large in [MAX_NODES, MAX_NODES + 1, u32::MAX - 1, u32::MAX] {
        let stopped = [OutOfNumbers; 4].map(Err);
        assert_eq!(searched(0, too_large), stopped, "second {too_large}");
        assert_eq!(searched(too_large, 0), stopped, "first {too_large}");
    }
}
