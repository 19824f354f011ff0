//! The static structure of a system: which components run side by side from the start.
//!
//! Calls are unfolded as long as this shows parallel compositions, hidings of those, or sequences
//! around those. What remains are components. A process that contains itself in this way creates
//! processes while it runs; it stays one component.

use super::term::{Machine, SetId, Term, TermId};

/// A system as a tree over components.
#[derive(Debug)]
pub(crate) enum Node {
    /// A component; numbered from left to right.
    Leaf(TermId, usize),
    Interleave(Vec<Node>),
    Parallel(Vec<(Node, SetId)>),
    Hide(Box<Node>, SetId),
    /// The second starts when the first has terminated.
    Seq(Box<Node>, Box<Node>),
}

impl Node {
    /// The components that start when the node starts.
    pub(crate) fn entries(&self, out: &mut Vec<usize>) {
        match self {
            Self::Leaf(_, leaf) => out.push(*leaf),
            Self::Interleave(parts) => parts.iter().for_each(|part| part.entries(out)),
            Self::Parallel(parts) => parts.iter().for_each(|(part, _)| part.entries(out)),
            Self::Hide(inner, _) | Self::Seq(inner, _) => inner.entries(out),
        }
    }

    /// The components whose joint termination terminates the node.
    pub(crate) fn exits(&self, out: &mut Vec<usize>) {
        match self {
            Self::Leaf(_, leaf) => out.push(*leaf),
            Self::Interleave(parts) => parts.iter().for_each(|part| part.exits(out)),
            Self::Parallel(parts) => parts.iter().for_each(|(part, _)| part.exits(out)),
            Self::Hide(inner, _) | Self::Seq(_, inner) => inner.exits(out),
        }
    }

    /// Numbers the components; collects their terms.
    pub(crate) fn number(&mut self, terms: &mut Vec<TermId>) {
        match self {
            Self::Leaf(term, leaf) => {
                *leaf = terms.len();
                terms.push(*term);
            }
            Self::Interleave(parts) => parts.iter_mut().for_each(|part| part.number(terms)),
            Self::Parallel(parts) => parts.iter_mut().for_each(|(part, _)| part.number(terms)),
            Self::Hide(inner, _) => inner.number(terms),
            Self::Seq(first, second) => {
                first.number(terms);
                second.number(terms);
            }
        }
    }

    /// Calls `visit` with every sequence in the tree.
    pub(crate) fn for_each_sequence(&self, visit: &mut dyn FnMut(&Node, &Node)) {
        match self {
            Self::Leaf(..) => {}
            Self::Interleave(parts) => parts.iter().for_each(|p| p.for_each_sequence(visit)),
            Self::Parallel(parts) => parts.iter().for_each(|(p, _)| p.for_each_sequence(visit)),
            Self::Hide(inner, _) => inner.for_each_sequence(visit),
            Self::Seq(first, second) => {
                first.for_each_sequence(visit);
                second.for_each_sequence(visit);
                visit(first, second);
            }
        }
    }
}

impl Machine<'_> {
    /// The static structure of a term.
    pub(crate) fn skeleton(&mut self, term: TermId) -> Node {
        let mut stack = Vec::new();
        self.node(term, &mut stack).unwrap_or(Node::Leaf(term, 0))
    }

    /// The node of a term, or the call that contains itself.
    fn node(&mut self, id: TermId, stack: &mut Vec<TermId>) -> Result<Node, TermId> {
        const DEEPEST: usize = 100;
        let leaf = Node::Leaf(id, 0);
        if stack.len() > DEEPEST {
            return Ok(leaf);
        }

        match self.get(id) {
            Term::Call(process, arguments) => {
                // A process that contains itself cannot be split: its outermost call is one component.
                if stack.contains(&id) {
                    return Err(id);
                }
                let (body, env) = self.unfold(process, &arguments);
                let Some(inner) = self.normal(&body, &env, &mut None) else {
                    return Ok(leaf);
                };
                stack.push(id);
                let node = self.node(inner, stack);
                stack.pop();
                match node {
                    Ok(Node::Leaf(..)) => Ok(leaf),
                    Err(call) if call == id => Ok(leaf),
                    other => other,
                }
            }
            Term::Interleave(parts) => {
                let mut list = Vec::new();
                for part in parts {
                    list.push(self.node(part, stack)?);
                }
                Ok(Node::Interleave(list))
            }
            Term::Parallel(parts) => {
                let mut list = Vec::new();
                for (part, set) in parts {
                    list.push((self.node(part, stack)?, set));
                }
                Ok(Node::Parallel(list))
            }
            Term::Hide(body, set) => Ok(match self.node(body, stack)? {
                Node::Leaf(..) => leaf,
                inner => Node::Hide(Box::new(inner), set),
            }),
            Term::Seq(first, second) => {
                let first = self.node(first, stack)?;
                let second = self.node(second, stack)?;
                Ok(match (&first, &second) {
                    (Node::Leaf(..), Node::Leaf(..)) => leaf,
                    _ => Node::Seq(Box::new(first), Box::new(second)),
                })
            }
            _ => Ok(leaf),
        }
    }
}
