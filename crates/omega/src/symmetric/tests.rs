use super::*;

/// A ring on which marks get other names at every step, in many ways.
struct Ring {
    n_nodes: u32,
    renamings: [Renaming; 2],
}

impl Ring {
    fn new(n_nodes: u32) -> Self {
        let renaming = |images: [u32; 6]| {
            let pairs = (0..).zip(images);
            Renaming::new(pairs.map(|(old, new)| (MarkId(old), MarkId(new))))
        };
        Self {
            n_nodes,
            renamings: [renaming([1, 0, 2, 3, 4, 5]), renaming([1, 2, 3, 4, 5, 0])],
        }
    }
}

impl Graph for Ring {
    type Stop = &'static str;

    fn n_mark_words(&self) -> usize {
        1
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        out.push(NodeId(0));
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        out.push(NodeId((node.0 + 1) % self.n_nodes), 0, &[1]);
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, _node: NodeId) -> Result<u32, Self::Stop> {
        Ok(1)
    }

    fn out_of_numbers(&self) -> Self::Stop {
        "out of numbers"
    }
}

impl SymmetricGraph for Ring {
    fn symmetric_successors(
        &mut self,
        node: NodeId,
        out: &mut EdgeBuffer,
        renamings: &mut Vec<u32>,
    ) -> Result<(), Self::Stop> {
        renamings.push(node.0.count_ones() % 2);
        self.successors(node, out)
    }

    fn renaming(&self, number: u32) -> &Renaming {
        &self.renamings[number as usize]
    }
}

#[test]
fn too_many_renamings_stop_a_search() {
    let acceptance = SymmetricAcceptance {
        infinitely: (0..6).map(MarkId).collect(),
        pairs: Vec::new(),
        fixed: Acceptance::True,
    };
    let search = |n_nodes| {
        let found =
            find_fair_cycle_symmetric(&mut Ring::new(n_nodes), &acceptance, &mut |_| Ok(()));
        found.result.map(|_| ())
    };
    assert_eq!(search(20), Ok(()));
    assert_eq!(search(400), Err("out of numbers"));
}
