//! A finite graph that every run of a system follows, as a model.
//!
//! The states of the graph are the rows of an invariant. An edge has a label, which says what step of
//! the system it is, and says what it does to *rankings*, which cannot become smaller forever. That
//! every step follows an edge is left to solvers. With what is known about rankings and fairness as
//! assumptions, the graph is an ordinary model, whose proof is checked like that of any other.

use base::{AtomId, Budget, Fairness, Span};
use logic::{Ltl, Op, Property};
use model::{
    Assumption, Atom, AtomMeaning, ConditionKind, Expr, LocationId, Model, ModelParts, Owner,
    Process, ProcessId, Step, StepPattern,
};

use crate::Failure;
use crate::bytes::{Reader, put_list};
use crate::check::check_proof;
use crate::format::{Claim, NoRun, Proof};
use crate::obligation::obligations;

/// What an edge does to a ranking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// It becomes smaller.
    Decreases,
    /// It does not become larger.
    Keeps,
    /// Anything.
    MayIncrease,
}

pub(crate) fn put_changes(bytes: &mut Vec<u8>, changes: &[Change]) {
    put_list(bytes, changes, |bytes, change| bytes.push(*change as u8));
}

pub(crate) fn changes(reader: &mut Reader<'_>) -> Result<Vec<Change>, Failure> {
    reader.list(|reader| match reader.number()? {
        0 => Ok(Change::Decreases),
        1 => Ok(Change::Keeps),
        2 => Ok(Change::MayIncrease),
        _ => Err(Failure::wrong("this is not a mark")),
    })
}

/// Is a step with this label one of the pattern?
type Taken<'g, L> = dyn Fn(&StepPattern, &L) -> Result<bool, Failure> + 'g;

/// A graph, with what its labels and propositions mean.
pub(crate) struct Graph<'g, L> {
    pub(crate) n_rows: usize,
    /// The rows in which runs start.
    pub(crate) initial: &'g [u32],
    pub(crate) edges: Vec<GraphEdge<L>>,
    pub(crate) n_rankings: usize,
    /// The propositions of the system.
    pub(crate) atoms: &'g [Atom],
    /// The truth of those about states, by row.
    pub(crate) truths: &'g [(u32, Vec<bool>)],
    pub(crate) taken: &'g Taken<'g, L>,
}

/// An edge from one row to another.
pub(crate) struct GraphEdge<L> {
    pub(crate) ends: [u32; 2],
    pub(crate) label: L,
    /// What it does to each ranking.
    pub(crate) changes: Vec<Change>,
}

/// The graph as a model that is being made.
pub(crate) struct Core<'g, L> {
    graph: &'g Graph<'g, L>,
    /// Edges that are not told apart. Sorted. Each has the atom with its number, which says that such
    /// an edge was taken.
    classes: Vec<(&'g L, &'g [Change])>,
    parts: ModelParts,
}

impl<L: Ord> GraphEdge<L> {
    fn class(&self) -> (&L, &[Change]) {
        (&self.label, &self.changes)
    }
}

impl<'g, L: Ord> Core<'g, L> {
    pub(crate) fn new(graph: &'g Graph<'g, L>) -> Self {
        let mut classes: Vec<_> = graph.edges.iter().map(GraphEdge::class).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut core = Self {
            graph,
            classes,
            parts: ModelParts::default(),
        };
        core.add_process();
        for ranking in 0..graph.n_rankings {
            core.assume_ranking(ranking);
        }
        core
    }

    /// The model under the assumptions of the system, and a formula in its propositions.
    pub(crate) fn finish(
        mut self,
        assumptions: &[Assumption],
        formula: &Ltl,
    ) -> Result<(Model, Ltl), Failure> {
        for assumption in assumptions {
            let assumption = self.assumption(assumption)?;
            self.parts.assumptions.push(assumption);
        }
        let formula = self.formula(formula)?;
        let wrong = |error: model::ModelError| format!("the graph: {}", error.message);
        let model = self.parts.finish();
        Ok((
            model.map_err(|error| Failure::Wrong(wrong(error)))?,
            formula,
        ))
    }

    fn add_process(&mut self) {
        let Graph { n_rows, edges, .. } = self.graph;
        let locations = (0..*n_rows).map(|row| format!("r{row}")).collect();
        let nowhere = Span::nowhere();

        let mut process = Process::new("Graph", locations, Vec::new(), nowhere);
        let initial = self.graph.initial.iter();
        process.initial = initial.map(|row| LocationId(*row)).collect();

        for edge in edges {
            let class = self.classes.binary_search(&edge.class());
            let name = format!("c{}", class.expect("it is one of them"));
            let [source, target] = edge.ends.map(LocationId);
            let step = Step::new(&name, source, target, nowhere);
            process.steps.push(step);
        }

        self.parts.processes.push(process);

        // An atom for each class of edges: conditions and marks speak of them.
        for class in 0..self.classes.len() {
            let pattern = StepPattern {
                process: Some(ProcessId(0)),
                action: Some(format!("c{class}")),
                ..StepPattern::default()
            };
            self.add_atom(AtomMeaning::Taken(pattern));
        }
    }

    fn add_atom(&mut self, meaning: AtomMeaning) -> AtomId {
        let number = self.parts.atoms.len();
        self.parts.atoms.push(Atom {
            name: format!("a{number}"),
            meaning,
            span: Span::nowhere(),
        });
        AtomId::new(number)
    }

    /// True in these rows.
    fn row_atom(&mut self, truth: &[bool]) -> AtomId {
        let rows = (0..truth.len()).filter(|row| truth[*row]);
        let at = Expr::At {
            process: ProcessId(0),
            owner: Owner::Single,
            locations: rows.map(LocationId::new).collect(),
        };
        self.add_atom(AtomMeaning::State(at))
    }

    fn classes_where(&self, is_meant: impl Fn(&L, &[Change]) -> bool) -> Vec<AtomId> {
        let numbered = self.classes.iter().enumerate();
        let meant = numbered.filter(|(_, (label, changes))| is_meant(label, changes));
        meant.map(|(number, _)| AtomId::new(number)).collect()
    }

    /// What becomes smaller infinitely often becomes larger infinitely often.
    fn assume_ranking(&mut self, ranking: usize) {
        let smaller = self.classes_where(|_, changes| changes[ranking] == Change::Decreases);
        let larger = self.classes_where(|_, changes| changes[ranking] == Change::MayIncrease);
        let finitely = smaller
            .into_iter()
            .map(|a| Assumption::Eventually(a, false));
        let mut any = vec![Assumption::All(finitely.collect())];
        any.extend(larger.into_iter().map(|a| Assumption::Infinitely(a, true)));
        self.parts.assumptions.push(Assumption::Any(any));
    }

    /// A condition that is enabled for certain in some rows, and served by edges with some labels.
    pub(crate) fn assume_fairness(
        &mut self,
        kind: ConditionKind,
        enabled: &[bool],
        serves: impl Fn(&L) -> bool,
    ) {
        let taken = self.classes_where(|label, _| serves(label)).into_iter();
        let mut any: Vec<Assumption> = taken.map(|a| Assumption::Infinitely(a, true)).collect();
        let enabled = self.row_atom(enabled);
        any.extend(match kind {
            ConditionKind::Unconditional => None,
            ConditionKind::Weak => Some(Assumption::Infinitely(enabled, false)),
            ConditionKind::Strong => Some(Assumption::Eventually(enabled, false)),
        });
        self.parts.assumptions.push(Assumption::Any(any));
    }

    /// An assumption of the system, or what follows from it.
    fn assumption(&mut self, assumption: &Assumption) -> Result<Assumption, Failure> {
        let nothing = Assumption::All(Vec::new());
        let mut each = |parts: &[Assumption]| -> Result<Vec<Assumption>, Failure> {
            parts.iter().map(|part| self.assumption(part)).collect()
        };
        let (atom, value, is_infinite) = match assumption {
            Assumption::All(parts) => return Ok(Assumption::All(each(parts)?)),
            Assumption::Any(parts) => return Ok(Assumption::Any(each(parts)?)),
            Assumption::Infinitely(atom, value) => (*atom, *value, true),
            Assumption::Eventually(atom, value) => (*atom, *value, false),
        };
        let atoms = self.atoms_of(atom)?;
        let make = |atom: &AtomId| {
            if is_infinite {
                Assumption::Infinitely(*atom, value)
            } else {
                Assumption::Eventually(*atom, value)
            }
        };
        Ok(match (&atoms[..], is_infinite, value) {
            ([one], ..) => make(one),
            // One of several infinitely often, or none of them from some point on.
            (several, true, true) => Assumption::Any(several.iter().map(make).collect()),
            (several, false, false) => Assumption::All(several.iter().map(make).collect()),
            (_, true, false) | (_, false, true) => nothing,
        })
    }

    /// The atoms here of which one is true where an atom of the system is.
    fn atoms_of(&mut self, atom: AtomId) -> Result<Vec<AtomId>, Failure> {
        let graph = self.graph;
        match &graph.atoms[atom.index()].meaning {
            AtomMeaning::Taken(pattern) => {
                let mut taken = Vec::new();
                for (number, (label, _)) in self.classes.iter().enumerate() {
                    if (graph.taken)(pattern, label)? {
                        taken.push(AtomId::new(number));
                    }
                }
                Ok(taken)
            }
            AtomMeaning::State(_) => {
                let mut known = graph.truths.iter();
                let truth = known.find(|(known, _)| *known as usize == atom.index());
                let (_, truth) =
                    truth.ok_or_else(|| Failure::wrong("a proposition has no truth values"))?;
                Ok(vec![self.row_atom(truth)])
            }
            AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => Err(Failure::Unconfirmed(
                "only propositions about values, locations and steps taken are expressed"
                    .to_owned(),
            )),
        }
    }

    /// The formula in the propositions of the graph.
    fn formula(&mut self, formula: &Ltl) -> Result<Ltl, Failure> {
        let mut all = |parts: &[Ltl]| -> Result<Vec<Ltl>, Failure> {
            parts.iter().map(|part| self.formula(part)).collect()
        };
        Ok(match formula.op() {
            Op::True => Ltl::tt(),
            Op::False => Ltl::ff(),
            Op::Atom(atom) => {
                let atoms = self.atoms_of(*atom)?;
                atoms
                    .into_iter()
                    .fold(Ltl::ff(), |any, atom| Ltl::or([any, Ltl::atom(atom)]))
            }
            Op::Not(inner) => Ltl::not(self.formula(inner)?),
            Op::And(parts) => Ltl::and(all(parts)?),
            Op::Or(parts) => Ltl::or(all(parts)?),
            Op::Implies(a, b) => Ltl::implies(self.formula(a)?, self.formula(b)?),
            Op::Iff(a, b) => Ltl::iff(self.formula(a)?, self.formula(b)?),
            Op::Next(inner) => Ltl::next(self.formula(inner)?),
            Op::Until(a, b) => Ltl::until(self.formula(a)?, self.formula(b)?),
            Op::WeakUntil(a, b) => Ltl::weak_until(self.formula(a)?, self.formula(b)?),
            Op::Release(a, b) => Ltl::release(self.formula(a)?, self.formula(b)?),
            Op::StrongRelease(a, b) => Ltl::strong_release(self.formula(a)?, self.formula(b)?),
            Op::Eventually(inner) => Ltl::eventually(self.formula(inner)?),
            Op::Always(inner) => Ltl::always(self.formula(inner)?),
            Op::Previously(_) | Op::Since(..) => {
                let why = "formulas with past operators are not expressed";
                return Err(Failure::Unconfirmed(why.to_owned()));
            }
        })
    }
}

/// No run on the graph that satisfies its assumptions is forbidden.
pub(crate) fn check_runs(
    core: &Model,
    formula: &Ltl,
    run: &NoRun,
    budget: &Budget,
) -> Result<(), Failure> {
    let property = Property::Ltl(formula.clone());
    let wanted = obligations(core, &property, Fairness::NONE, Claim::Holds, true);
    let proof = Proof::Runs(run.clone());
    for obligation in wanted.map_err(Failure::Wrong)? {
        check_proof(core, &obligation, &proof, &mut [], budget)?;
    }
    Ok(())
}
