//! The abstraction as an ordinary model: one process whose locations are the abstract states.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{AtomId, Span};
use logic::{Ltl, Op, Property};
use model::{
    Assumption, Atom, AtomMeaning, ConditionKind, Expr, LocationId, ModelParts, Owner, Process,
    ProcessId, Step, StepPattern,
};

use super::build::{Abstraction, AtomTruth};
use super::relation::Mark;

/// The name of the only process.
pub const PROCESS: &str = "Abstract";

/// Which rankings and conditions are assumed, by position in the abstraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The rankings.
    pub rankings: Vec<bool>,
    /// The conditions.
    pub conditions: Vec<bool>,
    /// What fair runs visit.
    pub visits: Vec<bool>,
}

impl Selection {
    /// Everything, or nothing.
    #[must_use]
    pub fn uniform(abstraction: &Abstraction, value: bool) -> Self {
        Self {
            rankings: vec![value; abstraction.rankings.len()],
            conditions: vec![value; abstraction.conditions.len()],
            visits: vec![value; abstraction.visits.len()],
        }
    }
}

/// The abstract model under some of its conditions, and the question about it.
///
/// Assumptions of the template that speak about its atoms are kept.
#[must_use]
pub fn core_model(
    abstraction: &Abstraction,
    selection: &Selection,
    property: &Property,
    assumptions: &[Assumption],
) -> (ModelParts, Property) {
    let mut builder = CoreModelBuilder::new(abstraction, selection);
    let mut assumed: Vec<Assumption> = assumptions
        .iter()
        .map(|assumption| builder.translated(assumption))
        .collect();
    assumed.extend(builder.ranking_conditions());
    assumed.extend(builder.fairness_conditions());
    assumed.extend(builder.visit_conditions());
    let property = builder.property(property);
    let mut parts = builder.parts;
    parts.assumptions = assumed;
    (parts, property)
}

/// Steps with the same label that do the same to all selected rankings.
struct Class {
    label: usize,
    marks: Vec<Mark>,
    name: String,
    atom: AtomId,
}

struct CoreModelBuilder<'a> {
    abstraction: &'a Abstraction,
    selection: &'a Selection,
    parts: ModelParts,
    classes: Vec<Class>,
    state_atoms: BTreeMap<Vec<bool>, AtomId>,
}

impl<'a> CoreModelBuilder<'a> {
    fn new(abstraction: &'a Abstraction, selection: &'a Selection) -> Self {
        let graph = &abstraction.graph;
        let locations = (0..graph.states.len())
            .map(|state| format!("s{state}"))
            .collect();
        let mut process = Process::new(PROCESS, locations, Vec::new(), Span::nowhere());
        process.initial = graph
            .initial
            .iter()
            .map(|state| LocationId::new(*state))
            .collect();

        let mut builder = Self {
            abstraction,
            selection,
            parts: ModelParts::default(),
            classes: Vec::new(),
            state_atoms: BTreeMap::new(),
        };

        let mut numbers: BTreeMap<(usize, Vec<Mark>), usize> = BTreeMap::new();
        for edge in &graph.edges {
            let marks = builder.selected_marks(&edge.marks);
            numbers.entry((edge.label, marks)).or_insert(0);
        }
        for (number, ((label, marks), value)) in numbers.iter_mut().enumerate() {
            *value = number;
            builder.add_class(*label, marks.clone());
        }

        let mut known = BTreeSet::new();
        for edge in &graph.edges {
            let marks = builder.selected_marks(&edge.marks);
            let number = numbers[&(edge.label, marks)];
            // Without the rankings that tell them apart, several are the same.
            if !known.insert((edge.source, edge.target, number)) {
                continue;
            }
            let class = &builder.classes[number];
            let (source, target) = (LocationId::new(edge.source), LocationId::new(edge.target));
            process
                .steps
                .push(Step::new(&class.name, source, target, Span::nowhere()));
        }

        builder.parts.processes.push(process);
        builder
    }

    fn selected_marks(&self, marks: &[Mark]) -> Vec<Mark> {
        let selected = marks.iter().zip(&self.selection.rankings);
        selected
            .filter(|(_, chosen)| **chosen)
            .map(|(mark, _)| *mark)
            .collect()
    }

    fn add_class(&mut self, label: usize, marks: Vec<Mark>) {
        let n_before = self
            .classes
            .iter()
            .filter(|class| class.label == label)
            .count();
        let base = &self.abstraction.label_names[label];
        let name = match n_before {
            0 => base.clone(),
            n => format!("{base}_{}", n + 1),
        };
        let pattern = StepPattern {
            process: Some(ProcessId(0)),
            action: Some(name.clone()),
            ..StepPattern::default()
        };
        let atom = self.atom(name.clone(), AtomMeaning::Taken(pattern));
        self.classes.push(Class {
            label,
            marks,
            name,
            atom,
        });
    }

    fn atom(&mut self, name: String, meaning: AtomMeaning) -> AtomId {
        self.parts.atoms.push(Atom {
            name,
            meaning,
            span: Span::nowhere(),
        });
        AtomId::new(self.parts.atoms.len() - 1)
    }

    /// The atom that is true in these states.
    fn state_atom(&mut self, name: &str, states: &[bool]) -> AtomId {
        if let Some(known) = self.state_atoms.get(states) {
            return *known;
        }
        let numbers = (0..states.len()).filter(|state| states[*state]);
        let at = Expr::At {
            process: ProcessId(0),
            owner: Owner::Single,
            locations: numbers.map(LocationId::new).collect(),
        };
        let atom = self.atom(name.to_owned(), AtomMeaning::State(at));
        self.state_atoms.insert(states.to_vec(), atom);
        atom
    }

    /// The steps that decrease a ranking happen finitely often, or some that may increase it
    /// infinitely often.
    fn ranking_conditions(&self) -> Vec<Assumption> {
        let n_selected = self
            .selection
            .rankings
            .iter()
            .filter(|chosen| **chosen)
            .count();

        let mut conditions = Vec::new();
        for position in 0..n_selected {
            let marked = |mark: Mark| {
                let classes = self.classes.iter();
                classes
                    .filter(move |class| class.marks[position] == mark)
                    .map(|class| class.atom)
            };
            let finite: Vec<Assumption> = marked(Mark::Decreases)
                .map(|atom| Assumption::Eventually(atom, false))
                .collect();
            if finite.is_empty() {
                continue;
            }
            let mut any = vec![Assumption::All(finite)];
            any.extend(marked(Mark::MayIncrease).map(|atom| Assumption::Infinitely(atom, true)));
            conditions.push(Assumption::Any(any));
        }

        conditions
    }

    fn fairness_conditions(&mut self) -> Vec<Assumption> {
        let mut conditions = Vec::new();
        for (number, chosen) in self.selection.conditions.iter().enumerate() {
            if !chosen {
                continue;
            }
            let (lifted, enabled) = &self.abstraction.conditions[number];
            let serves = |class: &&Class| {
                let label = &self.abstraction.graph.labels[class.label];
                label
                    .transition
                    .is_some_and(|t| lifted.transitions.contains(&t))
                    && lifted.mover.is_none_or(|mover| label.movers[mover])
            };
            let taken = self.classes.iter().filter(serves);
            let mut any: Vec<Assumption> = taken
                .map(|class| Assumption::Infinitely(class.atom, true))
                .collect();
            let disabled = match lifted.kind {
                ConditionKind::Unconditional => None,
                kind => Some((kind, self.state_atom(&lifted.name, enabled))),
            };
            any.extend(disabled.map(|(kind, atom)| match kind {
                ConditionKind::Weak => Assumption::Infinitely(atom, false),
                _ => Assumption::Eventually(atom, false),
            }));
            conditions.push(Assumption::Any(any));
        }

        conditions
    }

    /// Who is in some states infinitely often is so in others.
    fn visit_conditions(&mut self) -> Vec<Assumption> {
        let visits = self.abstraction.visits.iter().zip(&self.selection.visits);
        let chosen: Vec<_> = visits.filter(|(_, chosen)| **chosen).collect();
        let condition = |(visit, _): (&super::progress::Visit, &bool)| {
            let from = self.state_atom(&format!("not: {}", visit.name), &visit.from);
            let to = self.state_atom(&visit.name, &visit.to);
            let left = Assumption::Eventually(from, false);
            Assumption::Any(vec![left, Assumption::Infinitely(to, true)])
        };
        chosen.into_iter().map(condition).collect()
    }

    /// What an atom of the template means here.
    fn atom_formula(&mut self, atom: AtomId) -> Ltl {
        let known = self
            .abstraction
            .atoms
            .iter()
            .find(|(known, _)| *known == atom);
        let (_, truth) = known.expect("every atom of the question was looked at");

        match truth {
            AtomTruth::States(states) => {
                let name = format!("atom {}", atom.index());
                Ltl::atom(self.state_atom(&name, states))
            }
            AtomTruth::Labels(labels) => {
                let taken = self.classes.iter().filter(|class| labels[class.label]);
                let parts: Vec<Ltl> = taken.map(|class| Ltl::atom(class.atom)).collect();
                if parts.is_empty() {
                    Ltl::ff()
                } else {
                    Ltl::or(parts)
                }
            }
        }
    }

    fn property(&mut self, property: &Property) -> Property {
        match property {
            Property::Ltl(formula) => Property::Ltl(self.formula(formula)),
            Property::Invariant(formula) => Property::Invariant(self.formula(formula)),
            other => other.clone(),
        }
    }

    fn formula(&mut self, formula: &Ltl) -> Ltl {
        let mut images: HashMap<&Ltl, Ltl> = HashMap::new();
        for part in formula.subformulas() {
            let of = |operand: &Ltl| images[operand].clone();
            let image = match part.op() {
                Op::Atom(atom) => self.atom_formula(*atom),
                _ => part.rebuilt(&of),
            };
            images.insert(part, image);
        }

        images
            .remove(formula)
            .expect("the formula is one of its parts")
    }

    /// An assumption of the template. A step stands for several here, and an assumption about it
    /// for one about some of them.
    fn translated(&mut self, assumption: &Assumption) -> Assumption {
        match assumption {
            Assumption::All(parts) => {
                Assumption::All(parts.iter().map(|part| self.translated(part)).collect())
            }
            Assumption::Any(parts) => {
                Assumption::Any(parts.iter().map(|part| self.translated(part)).collect())
            }
            Assumption::Infinitely(atom, value) => self.recurrence(*atom, *value, true),
            Assumption::Eventually(atom, value) => self.recurrence(*atom, *value, false),
        }
    }

    fn recurrence(&mut self, atom: AtomId, value: bool, infinitely: bool) -> Assumption {
        let formula = self.atom_formula(atom);
        let atoms = formula.atoms();
        let make = |atom: &AtomId| {
            if infinitely {
                Assumption::Infinitely(*atom, value)
            } else {
                Assumption::Eventually(*atom, value)
            }
        };

        match (atoms.as_slice(), infinitely, value) {
            ([], ..) => {
                // Such a step never happens.
                if value {
                    Assumption::Any(Vec::new())
                } else {
                    Assumption::All(Vec::new())
                }
            }
            ([single], ..) => make(single),
            // Infinitely often one of several, or from some point on none of them.
            (several, true, true) => Assumption::Any(several.iter().map(make).collect()),
            (several, false, false) => Assumption::All(several.iter().map(make).collect()),
            // Infinitely often another step: assumed too weakly rather than too strongly.
            (_, true, false) | (_, false, true) => Assumption::All(Vec::new()),
        }
    }
}
