//! Which label a `goto` means where several of a process have the same name.
//!
//! The body of an inline is a block at each of its calls, so its labels occur as often as it is
//! called. Spin's rule (seen in its `lookup` and `get_labspec`): the first occurrence of a name in a
//! block, in a `goto` or before a statement, stands for all later ones in that block and in those
//! inside of it. A `goto` leads to the label that was placed last among those of its own block; if
//! there is none, to the first placed of those in blocks around it; else to the last placed of all.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{Stmt, StmtKind};

/// Statements whose labels have different names.
pub(super) struct Apart {
    pub(super) statements: Vec<Stmt>,
    /// The names in jumps and of the labels that they lead to, as they were written.
    pub(super) jumps: Vec<(Rc<str>, Rc<str>)>,
    /// The labels, as they were written.
    pub(super) labels: Vec<Rc<str>>,
}

/// The way to a block: which block of the outermost one, which block of that, and so on.
type Scope = Vec<u32>;

/// An occurrence of a name, with the block that it counts to.
#[derive(Clone)]
struct Use {
    written: Rc<str>,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Goto,
    Label,
    /// Behind the statement that the label stands before.
    Placed,
}

#[derive(Default)]
struct Collected {
    symbols: Vec<Use>,
    labels: Vec<Use>,
    gotos: Vec<Use>,
    /// Labels, by position, whose statements have not ended.
    open: Vec<usize>,
    /// Labels, by position, in the order in which they are placed.
    placed: Vec<usize>,
}

/// Gives labels different names; nothing if they have.
pub(super) fn apart(statements: &[Stmt]) -> Option<Apart> {
    let mut statements = statements.to_vec();
    let mut found = Collected::default();
    walk(&mut statements, &mut vec![0], &mut |name, role, scope| {
        found.note(name, role, scope);
    });
    let names = found.names();
    let is_same = |(new, label): (&Rc<str>, &Use)| *new == label.written;
    if names.iter().zip(&found.labels).all(is_same) {
        return None;
    }

    let targets: Vec<Option<usize>> = found.gotos.iter().map(|goto| found.target(goto)).collect();
    let led = |(goto, target): (&Use, &Option<usize>)| {
        Some((
            goto.written.clone(),
            found.labels[(*target)?].written.clone(),
        ))
    };
    let jumps = found.gotos.iter().zip(&targets).filter_map(led).collect();

    let mut targets = targets.into_iter();
    let mut labels = names.iter();
    walk(&mut statements, &mut vec![0], &mut |written, role, _| {
        let new = match role {
            Role::Goto => targets.next().flatten().map(|label| &names[label]),
            Role::Label => labels.next(),
            Role::Placed => None,
        };
        if let Some(new) = new {
            *written = new.clone();
        }
    });
    let labels = found.labels.iter().map(|label| label.written.clone());
    Some(Apart {
        statements,
        jumps,
        labels: labels.collect(),
    })
}

impl Collected {
    fn note(&mut self, name: &Rc<str>, role: Role, scope: &[u32]) {
        if role == Role::Placed {
            self.placed.extend(self.open.pop());
            return;
        }
        let same = |known: &&Use| known.written == *name && scope.starts_with(&known.scope);
        let first = self.symbols.iter().find(same);
        let used = Use {
            written: name.clone(),
            scope: first.map_or(scope, |first| &first.scope).to_vec(),
        };
        if first.is_none() {
            self.symbols.push(used.clone());
        }
        if role == Role::Goto {
            self.gotos.push(used);
        } else {
            self.open.push(self.labels.len());
            self.labels.push(used);
        }
    }

    /// The label that a `goto` leads to.
    fn target(&self, goto: &Use) -> Option<usize> {
        let mut best = None;
        for &position in self.placed.iter().rev() {
            let label = &self.labels[position];
            if label.written != goto.written {
                continue;
            }
            if label.scope == goto.scope {
                return Some(position);
            }
            if best.is_none() || goto.scope.starts_with(&label.scope) {
                best = Some(position);
            }
        }
        best
    }

    /// The new names of labels: the first placed keeps its own, which is the one that remote
    /// references mean.
    fn names(&self) -> Vec<Rc<str>> {
        let mut n_by_name: HashMap<&str, usize> = HashMap::new();
        let mut names: Vec<Rc<str>> = self.labels.iter().map(|l| l.written.clone()).collect();
        for &position in &self.placed {
            let written = &self.labels[position].written;
            let n = n_by_name.entry(written).or_insert(0);
            *n += 1;
            if *n > 1 {
                names[position] = format!("{written}'{n}").into();
            }
        }
        names
    }
}

/// What is done with a name, its role and the way to its block.
type Visit<'v> = dyn FnMut(&mut Rc<str>, Role, &[u32]) + 'v;

/// Calls `visit` for the names of labels and jumps in the order of the text.
fn walk(statements: &mut [Stmt], scope: &mut Scope, visit: &mut Visit<'_>) {
    for statement in statements {
        step(statement, scope, visit);
    }
}

fn step(statement: &mut Stmt, scope: &mut Scope, visit: &mut Visit<'_>) {
    match &mut statement.kind {
        StmtKind::Goto(name) => visit(name, Role::Goto, &scope[1..]),
        StmtKind::Label(name, inner) => {
            visit(name, Role::Label, &scope[1..]);
            step(inner, scope, visit);
            visit(name, Role::Placed, &scope[1..]);
        }
        StmtKind::If(options) | StmtKind::Do(options) => {
            options
                .iter_mut()
                .for_each(|option| walk(option, scope, visit));
        }
        StmtKind::For { body, .. }
        | StmtKind::ForIn { body, .. }
        | StmtKind::Atomic(body)
        | StmtKind::DStep(body)
        | StmtKind::Block(body)
        | StmtKind::Spliced(body) => {
            // The first number counts blocks, so that each has its own.
            scope[0] += 1;
            scope.push(scope[0]);
            walk(body, scope, visit);
            scope.pop();
        }
        StmtKind::Unless(main, escape) => {
            step(main, scope, visit);
            step(escape, scope, visit);
        }
        StmtKind::Declare(_)
        | StmtKind::Condition(_)
        | StmtKind::Assign(..)
        | StmtKind::SetTimer(..)
        | StmtKind::SetPriority(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Select { .. }
        | StmtKind::Break
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print(_)
        | StmtKind::Exclusive(_) => {}
    }
}
