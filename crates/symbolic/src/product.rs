//! The product of a system and an automaton, with the marks of all fairness conditions.
//!
//! As in the explicit search, a node is a system state with an automaton state that has already read
//! its letter. A step of the product is taken in two halves: the system moves, then the automaton
//! reads the letter of the new state. So relations stay as small as those of the system, and there is
//! one relation of the automaton for each set of step propositions (a *class* of labels).

use base::AtomId;
use model::{AtomMeaning, Condition, ConditionKind, Expr};
use omega::{Acceptance, Automaton, MarkId, Prop};

use crate::bdd::{Bdd, Halt};
use crate::branch::{Branch, Execution};
use crate::labels::{Labelled, Observer, enabled};
use crate::priority::control_field;
use crate::system::System;

/// A question about infinite runs.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Which runs are looked for; step and state propositions are its letters.
    pub automaton: &'a Automaton,
    /// Under which conditions.
    pub conditions: &'a [Condition],
    /// Whether only runs count that take every step of every state that they visit forever.
    pub strong_global: bool,
    /// All atoms that matter, sorted.
    pub atoms: &'a [AtomId],
}

/// Edges that carry a mark.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// All edges from these states.
    pub(crate) source: Bdd,
    /// By step: all its edges.
    pub(crate) steps: Vec<bool>,
    /// By class: those that the automaton takes like this.
    pub(crate) reading: Option<Vec<Bdd>>,
    pub(crate) meaning: Meaning,
}

/// What a mark says of a single edge, for walks on the reference semantics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The subject of the condition is taken, or disabled before; perhaps only where no process has
    /// control.
    Weak { condition: usize, free: bool },
    /// The subject is enabled before.
    Enabled(usize),
    /// The subject is taken.
    Taken(usize),
    /// No process has control before.
    Free,
    /// A mark of the automaton.
    Automaton(MarkId),
}

/// The product.
pub(crate) struct Product<'a, 'm> {
    pub(crate) system: &'a System<'m>,
    pub(crate) query: Query<'a>,
    pub(crate) steps: Vec<Labelled>,
    /// By step: its class.
    pub(crate) class: Vec<usize>,
    /// By class: how the automaton reads the letter of the state it is in.
    pub(crate) reading: Vec<Bdd>,
    /// The bits of the automaton.
    pub(crate) automaton_cube: Bdd,
    pub(crate) marks: Vec<Mark>,
    pub(crate) acceptance: Acceptance,
    pub(crate) initial: Bdd,
    /// Where propositions are in error.
    pub(crate) errors: Bdd,
}

/// The meaning of propositions about states.
pub(crate) struct Letters {
    /// By atom of the question; false for those about steps.
    states: Vec<Bdd>,
    /// Where one of them is in error.
    pub(crate) errors: Bdd,
}

impl Letters {
    pub(crate) fn new(system: &System<'_>, atoms: &[AtomId]) -> Result<Self, Halt> {
        let mut letters = Self {
            states: Vec::new(),
            errors: system.constant(false),
        };
        for atom in atoms {
            let states = letters.atom(system, *atom)?;
            letters.states.push(states);
        }
        Ok(letters)
    }

    fn atom(&mut self, system: &System<'_>, atom: AtomId) -> Result<Bdd, Halt> {
        let model = system.encoding.model;
        match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::State(expr) => self.holds(system, expr),
            AtomMeaning::Certainly(expr, value) => {
                self.holds(system, &model.certainly(expr, *value))
            }
            AtomMeaning::Taken(_) => Ok(system.constant(false)),
            // Which steps there are is not known where looking for them fails.
            AtomMeaning::Enabled(pattern) => {
                self.errors = self.errors.or(&system.errors)?;
                let set = model.step_set(pattern);
                let mut states = system.constant(false);
                for step in &system.moves {
                    if step.commands.iter().any(|id| set.contains(*id)) {
                        states = states.or(&step.enabled()?)?;
                    }
                }
                Ok(states)
            }
            AtomMeaning::Deadlock => {
                self.errors = self.errors.or(&system.errors)?;
                Ok(system.deadlock.clone())
            }
            AtomMeaning::TimerSet(_) => Err(Halt::Unsupported(
                "abstract timers are not treated by the symbolic route".to_owned(),
            )),
        }
    }

    fn holds(&mut self, system: &System<'_>, expr: &Expr) -> Result<Bdd, Halt> {
        let mut execution = Execution::new(&system.encoding, None);
        let branch = Branch::new(system.constant(true));
        let states = execution.truth(&branch, expr)?;
        self.errors = self.errors.or(&execution.errors)?;
        Ok(states)
    }

    /// Where a proposition holds after a step of this class.
    pub(crate) fn proposition(
        &self,
        system: &System<'_>,
        prop: &Prop,
        atoms: &[AtomId],
        taken: &[bool],
    ) -> Result<Bdd, Halt> {
        let again = |inner: &Prop| self.proposition(system, inner, atoms, taken);
        Ok(match prop {
            Prop::Const(value) => system.constant(*value),
            Prop::Atom(atom) => self.atom_after(system, *atom, atoms, taken)?,
            Prop::Not(inner) => again(inner)?.not()?,
            Prop::And(parts) => {
                let mut all = system.constant(true);
                for part in parts {
                    all = all.and(&again(part)?)?;
                }
                all
            }
            Prop::Or(parts) => {
                let mut some = system.constant(false);
                for part in parts {
                    some = some.or(&again(part)?)?;
                }
                some
            }
        })
    }

    fn atom_after(
        &self,
        system: &System<'_>,
        atom: AtomId,
        atoms: &[AtomId],
        taken: &[bool],
    ) -> Result<Bdd, Halt> {
        let position = atoms.binary_search(&atom);
        let position = position.expect("the question lists all atoms");
        if is_about_steps(system, atom) {
            return Ok(system.constant(taken[position]));
        }
        Ok(self.states[position].clone())
    }
}

fn is_about_steps(system: &System<'_>, atom: AtomId) -> bool {
    let atoms = &system.encoding.model.parts().atoms;
    // shape: all others are about states.
    matches!(atoms[atom.index()].meaning, AtomMeaning::Taken(_))
}

impl<'a, 'm> Product<'a, 'm> {
    pub(crate) fn new(system: &'a System<'m>, query: Query<'a>) -> Result<Self, Halt> {
        let observer = Observer::new(system, query.atoms, query.conditions);
        let steps = observer.steps(system)?;
        let letters = Letters::new(system, query.atoms)?;

        // The first class is that of initial states and idle steps.
        let mut classes = vec![observer.nothing().taken_atoms];
        let mut class = Vec::new();
        for labelled in &steps {
            let taken = &labelled.label.taken_atoms;
            let known = classes.iter().position(|other| other == taken);
            class.push(known.unwrap_or_else(|| {
                classes.push(taken.clone());
                classes.len() - 1
            }));
        }

        let mut product = Self {
            system,
            query,
            steps,
            class,
            reading: Vec::new(),
            automaton_cube: system
                .encoding
                .manager
                .cube(&system.encoding.automaton_bits)?,
            marks: Vec::new(),
            acceptance: Acceptance::True,
            initial: system.constant(false),
            errors: letters.errors.clone(),
        };
        for taken in &classes {
            let all = product.read(&letters, taken, &|_| true)?;
            product.reading.push(all);
        }
        product.add_condition_marks()?;
        product.add_automaton_marks(&letters, &classes)?;
        product.start()?;
        Ok(product)
    }

    /// How the automaton reads letters of a class, by edges that are chosen by their marks.
    fn read(
        &self,
        letters: &Letters,
        taken: &[bool],
        is_chosen: &dyn Fn(&[MarkId]) -> bool,
    ) -> Result<Bdd, Halt> {
        let encoding = &self.system.encoding;
        let mut relation = self.system.constant(false);

        for (source, edges) in self.query.automaton.edges.iter().enumerate() {
            let before = encoding.automaton_state(source, 0)?;
            for edge in edges.iter().filter(|edge| is_chosen(&edge.marks)) {
                let mut reads = encoding.automaton_state(edge.target.index(), 1)?;
                reads = reads.and(&before)?;
                for &(atom, value) in edge.guard.literals() {
                    let holds = letters.atom_after(self.system, atom, self.query.atoms, taken)?;
                    reads = if value {
                        reads.and(&holds)?
                    } else {
                        reads.minus(&holds)?
                    };
                }
                relation = relation.or(&reads)?;
            }
        }

        Ok(relation)
    }

    fn add_mark(&mut self, mark: Mark) -> MarkId {
        self.marks.push(mark);
        MarkId::new(self.marks.len() - 1)
    }

    /// The edges on which the subject of a condition is taken, and also those from some states.
    fn taking(&mut self, condition: usize, source: Bdd, meaning: Meaning) -> MarkId {
        let steps = self.steps.iter().map(|step| step.label.takes[condition]);
        let steps = steps.collect();
        self.add_mark(Mark {
            source,
            steps,
            reading: None,
            meaning,
        })
    }

    fn leaving(&mut self, source: Bdd, meaning: Meaning) -> MarkId {
        let steps = vec![false; self.steps.len()];
        self.add_mark(Mark {
            source,
            steps,
            reading: None,
            meaning,
        })
    }

    /// See `SOUNDNESS.md` and the tables at `engine::product` and `engine::weak`, which this repeats.
    fn add_condition_marks(&mut self) -> Result<(), Halt> {
        let nowhere = self.system.constant(false);
        let free = match control_field(&self.system.encoding) {
            Some(field) => Some(self.system.encoding.is(field, -1)?),
            None => None,
        };
        let (mut weak, mut behind, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for (number, condition) in self.query.conditions.iter().enumerate() {
            let enabled = enabled(self.system, &condition.subject)?;
            match condition.kind {
                ConditionKind::Weak => {
                    let disabled = enabled.not()?;
                    let meaning = |free| Meaning::Weak {
                        condition: number,
                        free,
                    };
                    if let Some(free) = &free {
                        let counted = disabled.and(free)?;
                        let mark = self.taking(number, counted, meaning(true));
                        weak.push(Acceptance::Inf(mark));
                        let mark = self.taking(number, disabled, meaning(false));
                        behind.push(Acceptance::Inf(mark));
                    } else {
                        let mark = self.taking(number, disabled, meaning(false));
                        weak.push(Acceptance::Inf(mark));
                    }
                }
                ConditionKind::Strong => {
                    let before = self.leaving(enabled, Meaning::Enabled(number));
                    let taken = self.taking(number, nowhere.clone(), Meaning::Taken(number));
                    rest.push(Acceptance::streett_pair(before, taken));
                }
                ConditionKind::Unconditional => {
                    let taken = self.taking(number, nowhere.clone(), Meaning::Taken(number));
                    rest.push(Acceptance::Inf(taken));
                }
            }
        }

        // Runs on which some process has control forever are judged by all of their states.
        let mut fair = Acceptance::all(weak);
        if let Some(free) = free.filter(|_| !behind.is_empty()) {
            let free = self.leaving(free, Meaning::Free);
            let kept = Acceptance::all([Acceptance::Fin(free)].into_iter().chain(behind));
            fair = Acceptance::any([fair, kept]);
        }
        self.acceptance = Acceptance::all([fair].into_iter().chain(rest));
        Ok(())
    }

    fn add_automaton_marks(
        &mut self,
        letters: &Letters,
        classes: &[Vec<bool>],
    ) -> Result<(), Halt> {
        let automaton = self.query.automaton;
        let first = self.marks.len();

        for number in 0..automaton.n_marks {
            let mark = MarkId::new(number);
            let mut reading = Vec::new();
            for (class, taken) in classes.iter().enumerate() {
                let mut carrying = self.read(letters, taken, &|marks| marks.contains(&mark))?;
                let of_letters = automaton.letter_marks.iter().filter(|l| l.mark == mark);
                for letter_mark in of_letters {
                    let when = &letter_mark.when;
                    let atoms = self.query.atoms;
                    let when = letters.proposition(self.system, when, atoms, taken)?;
                    carrying = carrying.or(&self.reading[class].and(&when)?)?;
                }
                reading.push(carrying);
            }
            self.add_mark(Mark {
                source: self.system.constant(false),
                steps: vec![false; self.steps.len()],
                reading: Some(reading),
                meaning: Meaning::Automaton(mark),
            });
        }

        let mut rename = |mark: MarkId| MarkId::new(first + mark.index());
        let own = automaton.acceptance.map_marks(&mut rename);
        let fair = std::mem::replace(&mut self.acceptance, Acceptance::True);
        self.acceptance = Acceptance::all([fair, own]);
        Ok(())
    }

    /// Initial states, whose letters the automaton has read.
    fn start(&mut self) -> Result<(), Halt> {
        let encoding = &self.system.encoding;
        let mut states = self.system.constant(false);
        for state in &self.query.automaton.initial {
            states = states.or(&encoding.automaton_state(state.index(), 0)?)?;
        }
        let before = states.and(&self.system.initial)?;
        self.initial = before.image(&self.reading[0], &self.automaton_cube)?;
        Ok(())
    }
}
