//! Strongly connected components.
//!
//! R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2),
//! 1972, section 4, doi:10.1137/0201010, with an explicit stack instead of recursion, because the
//! depth of the search is the number of states. Linear in the number of nodes and edges.

/// The component of every node. Components are numbered so that edges between different components
/// lead from larger to smaller numbers (reverse topological order).
///
/// Precondition: all targets are nodes.
pub(super) fn components(successors: &[Vec<usize>]) -> (Vec<usize>, usize) {
    let mut search = ComponentSearch {
        successors,
        index: vec![UNSEEN; successors.len()],
        low: vec![0; successors.len()],
        component: vec![UNSEEN; successors.len()],
        path: Vec::new(),
        n_seen: 0,
        n_components: 0,
    };
    for node in 0..successors.len() {
        if search.index[node] == UNSEEN {
            search.visit(node);
        }
    }
    (search.component, search.n_components)
}

const UNSEEN: usize = usize::MAX;

struct ComponentSearch<'a> {
    successors: &'a [Vec<usize>],
    /// The order in which nodes were seen.
    index: Vec<usize>,
    /// The least index that is known to be reachable inside the component.
    low: Vec<usize>,
    component: Vec<usize>,
    /// Seen nodes without a component.
    path: Vec<usize>,
    n_seen: usize,
    n_components: usize,
}

impl ComponentSearch<'_> {
    fn visit(&mut self, root: usize) {
        self.enter(root);
        // A node and how many of its edges have been followed.
        let mut stack = vec![(root, 0)];
        while let Some((node, followed)) = stack.last_mut() {
            let node = *node;
            let Some(&target) = self.successors[node].get(*followed) else {
                stack.pop();
                if let Some((parent, _)) = stack.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
                self.close(node);
                continue;
            };
            *followed += 1;
            if self.index[target] == UNSEEN {
                self.enter(target);
                stack.push((target, 0));
            } else if self.component[target] == UNSEEN {
                self.low[node] = self.low[node].min(self.index[target]);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = self.n_seen;
        self.low[node] = self.n_seen;
        self.n_seen += 1;
        self.path.push(node);
    }

    /// A node that reaches nothing older is the oldest of its component.
    fn close(&mut self, node: usize) {
        if self.low[node] != self.index[node] {
            return;
        }
        while let Some(member) = self.path.pop() {
            self.component[member] = self.n_components;
            if member == node {
                break;
            }
        }
        self.n_components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `reachable[a][b]` iff there is a path, by closing under composition.
    fn reachability(successors: &[Vec<usize>]) -> Vec<Vec<bool>> {
        let n = successors.len();
        let mut reach: Vec<Vec<bool>> = (0..n)
            .map(|a| {
                (0..n)
                    .map(|b| a == b || successors[a].contains(&b))
                    .collect()
            })
            .collect();
        for via in 0..n {
            for a in 0..n {
                for b in 0..n {
                    reach[a][b] |= reach[a][via] && reach[via][b];
                }
            }
        }
        reach
    }

    #[test]
    fn components_of_all_graphs_with_four_nodes() {
        for edges in 0..1_u32 << 12 {
            // Bit 3a + k: is there an edge from a to the k-th other node?
            let others = |a: usize| (0..4).filter(move |b| *b != a);
            let targets = |a: usize| {
                let has = move |k: usize| edges >> (3 * a + k) & 1 == 1;
                others(a)
                    .enumerate()
                    .filter(move |(k, _)| has(*k))
                    .map(|(_, b)| b)
                    .collect()
            };
            let successors: Vec<Vec<usize>> = (0..4).map(targets).collect();
            let (component, n_components) = components(&successors);
            let reach = reachability(&successors);
            for a in 0..4 {
                assert!(component[a] < n_components);
                for b in 0..4 {
                    let together = reach[a][b] && reach[b][a];
                    assert_eq!(component[a] == component[b], together);
                    assert!(!reach[a][b] || component[a] >= component[b]);
                }
            }
        }
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        let n = 300_000;
        let successors: Vec<Vec<usize>> = (0..n).map(|node| vec![(node + 1) % n]).collect();
        assert_eq!(components(&successors).1, 1);
    }
}
