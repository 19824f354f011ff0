//! CTL* by definition, on small systems.
//!
//! A position is a state together with the step that led to it. `E ψ` is decided by the tableau over
//! elementary formulas (E. Clarke, O. Grumberg, K. Hamaguchi, "Another look at LTL model checking",
//! CAV 1994, doi:10.1007/3-540-58179-0_72): a node is a position with a guess for each `X φ` and each
//! `X (φ U χ)`. Fairness is written in disjunctive normal form, and each disjunct is a greatest
//! fixpoint in the manner of Emerson and Lei. Nothing of this is shared with the tool: no automata, no
//! components, no marks.

use base::{AtomId, Fairness, FairnessKind};
use logic::{CtlStar, CtlStarBuilder, Ltl, Op, PathQuantifier};
use model::{
    Assumption, CommandId, ConditionKind, Interference, Model, Needs, RunTimeError, Subject,
    Successor,
};

use crate::{Random, ReferenceGraph, random_formula};

/// More disjuncts of fairness than this are not examined.
const MAX_DISJUNCTS: usize = 48;
/// More guesses than this for one path formula are not examined.
const MAX_ELEMENTARY: usize = 6;

/// Runs that count: from some point on nothing forbidden, and everything required again and again.
#[derive(Clone, Debug, Default)]
struct Disjunct {
    forbidden: Vec<usize>,
    required: Vec<usize>,
}

/// A small system whose CTL* formulas are decided by definition.
pub struct BranchingOracle {
    n_initial: usize,
    predecessors: Vec<Vec<usize>>,
    letters: Vec<Vec<bool>>,
    /// Predicates on positions that fairness mentions.
    predicates: Vec<Vec<bool>>,
    disjuncts: Vec<Disjunct>,
}

/// A model with the positions of its runs: the initial states, then one for each step.
struct Positions<'m> {
    model: &'m Model,
    graph: &'m ReferenceGraph,
    /// The step that led to each position, by state and number.
    entry: Vec<Option<(usize, usize)>>,
    state: Vec<usize>,
}

impl<'m> Positions<'m> {
    fn new(model: &'m Model, graph: &'m ReferenceGraph) -> Self {
        let mut entry: Vec<Option<(usize, usize)>> = vec![None; graph.n_initial];
        let mut state: Vec<usize> = (0..graph.n_initial).collect();
        for (source, steps) in graph.steps.iter().enumerate() {
            for (number, (_, target)) in steps.iter().enumerate() {
                entry.push(Some((source, number)));
                state.push(*target);
            }
        }
        Self {
            model,
            graph,
            entry,
            state,
        }
    }

    fn predecessors(&self) -> Vec<Vec<usize>> {
        let from = |entry: &Option<(usize, usize)>| match entry {
            None => Vec::new(),
            Some((source, _)) => {
                let here = |p: &usize| self.state[*p] == *source;
                (0..self.state.len()).filter(here).collect()
            }
        };
        self.entry.iter().map(from).collect()
    }

    fn successor(&self, position: usize) -> Option<&Successor> {
        self.entry[position].map(|(source, number)| &self.graph.steps[source][number].0)
    }

    fn letter(&self, position: usize) -> Result<Vec<bool>, RunTimeError> {
        let commands = self.successor(position).map_or(&[][..], |s| &s.commands);
        let state = &self.graph.states[self.state[position]];
        let n_atoms = self.model.parts().atoms.len();
        let holds = |atom| self.model.atom_holds(AtomId::new(atom), state, commands);
        (0..n_atoms).map(holds).collect()
    }
}

impl BranchingOracle {
    /// Prepares a model; nothing if its fairness is too complicated.
    ///
    /// # Errors
    /// A run-time error in an atom.
    pub fn new(
        model: &Model,
        graph: &ReferenceGraph,
        fairness: Fairness,
    ) -> Result<Option<Self>, RunTimeError> {
        let positions = Positions::new(model, graph);
        let letters: Result<Vec<_>, _> = (0..positions.state.len())
            .map(|position| positions.letter(position))
            .collect();

        let mut oracle = Self {
            n_initial: graph.n_initial,
            predecessors: positions.predecessors(),
            letters: letters?,
            predicates: Vec::new(),
            disjuncts: vec![Disjunct::default()],
        };

        let fits = oracle.add_conditions(&positions, fairness)
            && oracle.assume(&model.parts().assumptions)
            && (fairness.kind != FairnessKind::StrongGlobal
                || oracle.add_strong_global(&positions));
        Ok(fits.then_some(oracle))
    }

    /// A graph written down: where the steps of each node lead, and which atoms hold there. All
    /// nodes are initial. Nothing if the assumptions are too complicated.
    #[must_use]
    pub fn of_graph(
        steps: &[Vec<usize>],
        letters: Vec<Vec<bool>>,
        assumptions: &[Assumption],
    ) -> Option<Self> {
        let leads = |to: usize| (0..steps.len()).filter(move |&n| steps[n].contains(&to));
        let mut oracle = Self {
            n_initial: steps.len(),
            predecessors: (0..steps.len()).map(|n| leads(n).collect()).collect(),
            letters,
            predicates: Vec::new(),
            disjuncts: vec![Disjunct::default()],
        };
        oracle.assume(assumptions).then_some(oracle)
    }

    /// Does the formula hold in all initial states? Nothing if it is too large.
    #[must_use]
    pub fn holds(&self, formula: &CtlStar) -> Option<bool> {
        Some(
            self.truth(formula)?[..self.n_initial]
                .iter()
                .all(|&holds| holds),
        )
    }

    /// Where the formula holds. Nothing if it is too large.
    #[must_use]
    pub fn truth(&self, formula: &CtlStar) -> Option<Vec<bool>> {
        let mut values: Vec<Vec<bool>> = Vec::new();
        for quantified in formula.quantified() {
            let value = match quantified.quantifier {
                PathQuantifier::Exists => self.exists(&quantified.path, &values)?,
                PathQuantifier::All => {
                    let fails = self.exists(&Ltl::not(quantified.path.clone()), &values)?;
                    fails.into_iter().map(|fails| !fails).collect()
                }
            };
            values.push(value);
        }
        let now = |position: usize| {
            let letter = |_: usize, atom: AtomId| self.value(atom, position, &values);
            logic::holds_on_lasso(formula.root(), 1, 0, &letter)
        };
        Some((0..self.letters.len()).map(now).collect())
    }

    /// The positions that start a fair run satisfying `path`, given where the quantified formulas
    /// that it mentions hold. Nothing if it is too large.
    #[must_use]
    pub fn exists(&self, path: &Ltl, values: &[Vec<bool>]) -> Option<Vec<bool>> {
        let tableau = Tableau::new(self, path, values)?;
        let fair = tableau.fair_nodes();
        let starts = |position: usize| {
            let mut nodes = tableau.nodes_at(position);
            nodes.any(|node| tableau.truth[tableau.root][node] && fair[node])
        };
        Some((0..self.letters.len()).map(starts).collect())
    }

    fn value(&self, atom: AtomId, position: usize, values: &[Vec<bool>]) -> bool {
        match CtlStar::as_quantified(atom) {
            Some(number) => values[number][position],
            None => self.letters[position][atom.index()],
        }
    }

    /// Turns conditions into disjuncts; false if there are too many.
    fn add_conditions(&mut self, positions: &Positions<'_>, fairness: Fairness) -> bool {
        let interference = Interference::new(positions.model);
        let needs_at = |source: usize, team: &[CommandId]| {
            let needs = interference.needs(&positions.graph.states[source]);
            let is_team = |needs: &Needs| interference.teams()[needs.team] == team;
            needs.into_iter().find(is_team)
        };
        for condition in positions.model.fairness_conditions(fairness) {
            let involves = |step: &Successor| match &condition.subject {
                Subject::Process(instance) => step.movers.contains(instance),
                Subject::Action(action) => step.actions.contains(action),
                Subject::Choice(command) => step.commands.contains(command),
                Subject::Timer(cell) => step.timers_set.contains(cell),
                Subject::Team(_) => false,
            };
            let can = |source: usize| {
                if let Subject::Team(team) = &condition.subject {
                    let control = positions.model.in_control(&positions.graph.states[source]);
                    return needs_at(source, team)
                        .is_some_and(|n| control.is_none_or(|id| n.movers.contains(&id)));
                }
                let mut steps = positions.graph.steps[source].iter();
                steps.any(|(step, _)| involves(step))
            };
            let taken: Vec<bool> = (0..self.letters.len())
                .map(|p| match (&condition.subject, positions.entry[p]) {
                    (Subject::Team(team), Some((source, number))) => {
                        let state = &positions.graph.states[source];
                        let step = &positions.graph.steps[source][number].0;
                        needs_at(source, team)
                            .is_some_and(|n| interference.interferes(state, step, &n))
                    }
                    _ => positions.successor(p).is_some_and(involves),
                })
                .collect();
            let enabled: Vec<bool> = (0..self.letters.len())
                .map(|p| positions.entry[p].is_some_and(|(source, _)| can(source)))
                .collect();
            let options = match condition.kind {
                ConditionKind::Unconditional => vec![self.again(taken)],
                ConditionKind::Weak => {
                    let is_free = |p: usize| match positions.entry[p] {
                        None => true,
                        Some((source, _)) => {
                            let state = &positions.graph.states[source];
                            positions.model.in_control(state).is_none()
                        }
                    };
                    let free: Vec<bool> = (0..self.letters.len()).map(is_free).collect();
                    let done = |p: usize| taken[p] || !enabled[p];
                    let freely = |p: usize| taken[p] || (free[p] && !enabled[p]);
                    let positions = 0..self.letters.len();
                    let often = self.again(positions.clone().map(freely).collect());
                    if free.iter().all(|free| *free) {
                        vec![often]
                    } else {
                        // Never free again, and fair as if there were no control.
                        let mut kept = self.never(free.clone());
                        let again = self.again(positions.map(done).collect());
                        kept.required.extend(again.required);
                        vec![often, kept]
                    }
                }
                ConditionKind::Strong => vec![self.never(enabled), self.again(taken)],
            };
            if !self.conjoin(&options) {
                return false;
            }
        }

        true
    }

    fn assume(&mut self, assumptions: &[Assumption]) -> bool {
        assumptions.iter().all(|assumption| {
            let options = self.assumed(assumption);
            self.conjoin(&options)
        })
    }

    /// A run is strong-global fair iff it ends in a component that no step leaves and takes all of
    /// its steps again and again.
    fn add_strong_global(&mut self, positions: &Positions<'_>) -> bool {
        let n_states = positions.graph.states.len();
        let reaches = |from: usize| {
            let mut reached = vec![from];
            let mut next = 0;
            while next < reached.len() {
                for (_, target) in &positions.graph.steps[reached[next]] {
                    if !reached.contains(target) {
                        reached.push(*target);
                    }
                }
                next += 1;
            }
            reached
        };

        let closure: Vec<Vec<usize>> = (0..n_states).map(reaches).collect();
        let mut options = Vec::new();
        for (state, reached) in closure.iter().enumerate() {
            let is_bottom = reached.iter().all(|&other| closure[other].contains(&state));
            if !is_bottom || reached.iter().any(|&other| other < state) {
                continue;
            }
            let inside = |p: usize| positions.entry[p].is_some_and(|(s, _)| reached.contains(&s));
            let outside: Vec<bool> = (0..self.letters.len()).map(|p| !inside(p)).collect();
            let steps: Vec<usize> = (0..self.letters.len()).filter(|&p| inside(p)).collect();
            let mut option = self.never(outside);
            for step in steps {
                let only = (0..self.letters.len()).map(|p| p == step).collect();
                option.required.extend(self.again(only).required);
            }
            options.push(option);
        }

        self.conjoin(&options)
    }

    fn predicate(&mut self, holds: Vec<bool>) -> usize {
        self.predicates.push(holds);
        self.predicates.len() - 1
    }

    fn again(&mut self, holds: Vec<bool>) -> Disjunct {
        Disjunct {
            required: vec![self.predicate(holds)],
            ..Disjunct::default()
        }
    }

    fn never(&mut self, holds: Vec<bool>) -> Disjunct {
        Disjunct {
            forbidden: vec![self.predicate(holds)],
            ..Disjunct::default()
        }
    }

    fn assumed(&mut self, assumption: &Assumption) -> Vec<Disjunct> {
        let where_value = |atom: AtomId, value: bool| -> Vec<bool> {
            let letters = self.letters.iter();
            letters
                .map(|letter| letter[atom.index()] == value)
                .collect()
        };

        match assumption {
            Assumption::Infinitely(atom, value) => {
                let holds = where_value(*atom, *value);
                vec![self.again(holds)]
            }
            Assumption::Eventually(atom, value) => {
                let fails = where_value(*atom, !*value);
                vec![self.never(fails)]
            }
            Assumption::Any(parts) => parts.iter().flat_map(|part| self.assumed(part)).collect(),
            Assumption::All(parts) => parts.iter().fold(vec![Disjunct::default()], |all, part| {
                let options = self.assumed(part);
                product(&all, &options)
            }),
        }
    }

    fn conjoin(&mut self, options: &[Disjunct]) -> bool {
        self.disjuncts = product(&self.disjuncts, options);
        self.disjuncts.len() <= MAX_DISJUNCTS
    }
}

fn product(left: &[Disjunct], right: &[Disjunct]) -> Vec<Disjunct> {
    let both = |a: &Disjunct, b: &Disjunct| Disjunct {
        forbidden: [a.forbidden.as_slice(), &b.forbidden].concat(),
        required: [a.required.as_slice(), &b.required].concat(),
    };
    let pairs = left
        .iter()
        .flat_map(|a| right.iter().map(move |b| both(a, b)));
    pairs.take(MAX_DISJUNCTS + 1).collect()
}

/// A path formula in few operators; operands by number.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Simple {
    True,
    Atom(AtomId),
    Not(usize),
    And(usize, usize),
    Next(usize),
    Until(usize, usize),
}

/// The tableau of a path formula over the positions of a system.
struct Tableau<'o> {
    oracle: &'o BranchingOracle,
    formulas: Vec<Simple>,
    root: usize,
    /// The formulas about the next position that are guessed.
    elementary: Vec<usize>,
    /// By formula and node.
    truth: Vec<Vec<bool>>,
}

impl<'o> Tableau<'o> {
    fn new(oracle: &'o BranchingOracle, path: &Ltl, values: &[Vec<bool>]) -> Option<Self> {
        let mut tableau = Self {
            oracle,
            formulas: Vec::new(),
            root: 0,
            elementary: Vec::new(),
            truth: Vec::new(),
        };

        tableau.root = tableau.add(path);
        let is_elementary = |f: &Simple| matches!(f, Simple::Next(_) | Simple::Until(..));
        tableau.elementary = (0..tableau.formulas.len())
            .filter(|&f| is_elementary(&tableau.formulas[f]))
            .collect();
        if tableau.elementary.len() > MAX_ELEMENTARY {
            return None;
        }

        for formula in 0..tableau.formulas.len() {
            let nodes = 0..tableau.n_nodes();
            let truth = nodes
                .map(|node| tableau.holds(formula, node, values))
                .collect();
            tableau.truth.push(truth);
        }

        Some(tableau)
    }

    fn put(&mut self, formula: Simple) -> usize {
        let known = self.formulas.iter().position(|other| *other == formula);
        known.unwrap_or_else(|| {
            self.formulas.push(formula);
            self.formulas.len() - 1
        })
    }

    fn add(&mut self, formula: &Ltl) -> usize {
        match formula.op() {
            Op::True => self.put(Simple::True),
            Op::False => self.negated(&Ltl::tt()),
            Op::Atom(atom) => self.put(Simple::Atom(*atom)),
            Op::Not(inner) => self.negated(inner),
            Op::And(parts) => {
                let mut all = self.put(Simple::True);
                for part in parts {
                    let part = self.add(part);
                    all = self.put(Simple::And(all, part));
                }
                all
            }
            Op::Or(parts) => {
                let none = Ltl::and(parts.iter().map(|part| Ltl::not(part.clone())));
                self.negated(&none)
            }
            Op::Implies(a, b) => self.add(&Ltl::or([Ltl::not(a.clone()), b.clone()])),
            Op::Iff(a, b) => {
                let there = Ltl::implies(a.clone(), b.clone());
                let back = Ltl::implies(b.clone(), a.clone());
                self.add(&Ltl::and([there, back]))
            }
            Op::Next(inner) => {
                let inner = self.add(inner);
                self.put(Simple::Next(inner))
            }
            Op::Until(a, b) => {
                let (a, b) = (self.add(a), self.add(b));
                self.put(Simple::Until(a, b))
            }
            Op::Eventually(a) => self.add(&Ltl::until(Ltl::tt(), a.clone())),
            Op::Always(a) => self.negated(&Ltl::eventually(Ltl::not(a.clone()))),
            Op::Release(a, b) => {
                let dual = Ltl::until(Ltl::not(a.clone()), Ltl::not(b.clone()));
                self.negated(&dual)
            }
            Op::Previously(_) | Op::Since(..) => {
                unreachable!("there are no past operators below path quantifiers")
            }
            Op::StrongRelease(a, b) => {
                let both = Ltl::and([a.clone(), b.clone()]);
                self.add(&Ltl::until(b.clone(), both))
            }
            Op::WeakUntil(a, b) => {
                let until = Ltl::until(a.clone(), b.clone());
                self.add(&Ltl::or([until, Ltl::always(a.clone())]))
            }
        }
    }

    fn negated(&mut self, inner: &Ltl) -> usize {
        let inner = self.add(inner);
        self.put(Simple::Not(inner))
    }

    fn n_nodes(&self) -> usize {
        self.oracle.letters.len() << self.elementary.len()
    }

    fn nodes_at(&self, position: usize) -> std::ops::Range<usize> {
        position << self.elementary.len()..(position + 1) << self.elementary.len()
    }

    fn position(&self, node: usize) -> usize {
        node >> self.elementary.len()
    }

    fn guesses(&self, node: usize, formula: usize) -> bool {
        let bit = self.elementary.iter().position(|&f| f == formula);
        node >> bit.expect("elementary") & 1 == 1
    }

    fn holds(&self, formula: usize, node: usize, values: &[Vec<bool>]) -> bool {
        match self.formulas[formula] {
            Simple::True => true,
            Simple::Atom(atom) => self.oracle.value(atom, self.position(node), values),
            Simple::Not(a) => !self.truth[a][node],
            Simple::And(a, b) => self.truth[a][node] && self.truth[b][node],
            Simple::Next(_) => self.guesses(node, formula),
            Simple::Until(a, b) => {
                self.truth[b][node] || (self.truth[a][node] && self.guesses(node, formula))
            }
        }
    }

    /// The nodes before a node: what they guess is what holds here.
    fn before(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let mut guess = 0;
        for (bit, &formula) in self.elementary.iter().enumerate() {
            let next = match self.formulas[formula] {
                Simple::Next(inner) => self.truth[inner][node],
                _ => self.truth[formula][node],
            };
            guess |= usize::from(next) << bit;
        }
        let positions = self.oracle.predecessors[self.position(node)].iter();
        positions.map(move |position| position << self.elementary.len() | guess)
    }

    /// The nodes that start a fair path on which every until is fulfilled.
    fn fair_nodes(&self) -> Vec<bool> {
        let mut fair = vec![false; self.n_nodes()];
        for disjunct in &self.oracle.disjuncts {
            let core = self.core(disjunct);
            let reach = self.backwards(core.clone(), &|_| true);
            for node in 0..fair.len() {
                fair[node] |= core[node] || reach[node];
            }
        }
        fair
    }

    /// The greatest set in which every node leads, inside the set and by nothing forbidden, to each
    /// requirement.
    fn core(&self, disjunct: &Disjunct) -> Vec<bool> {
        let at = |predicate: &usize, node: usize| {
            self.oracle.predicates[*predicate][self.position(node)]
        };
        let allowed = |node: usize| !disjunct.forbidden.iter().any(|p| at(p, node));
        let mut requirements: Vec<Vec<bool>> = vec![vec![true; self.n_nodes()]];
        for predicate in &disjunct.required {
            requirements.push((0..self.n_nodes()).map(|n| at(predicate, n)).collect());
        }
        for (number, formula) in self.formulas.iter().enumerate() {
            if let Simple::Until(_, goal) = formula {
                let fulfilled = |n: usize| !self.truth[number][n] || self.truth[*goal][n];
                requirements.push((0..self.n_nodes()).map(fulfilled).collect());
            }
        }

        let mut core = vec![true; self.n_nodes()];
        loop {
            let before = core.clone();
            for requirement in &requirements {
                let goal = (0..core.len())
                    .map(|n| core[n] && requirement[n] && allowed(n))
                    .collect();
                let leads = self.backwards(goal, &|node| core[node] && allowed(node));
                core = (0..core.len()).map(|n| core[n] && leads[n]).collect();
            }
            if core == before {
                return core;
            }
        }
    }

    /// The nodes that lead to the goal in at least one step, through nodes that may be entered.
    fn backwards(&self, goal: Vec<bool>, may_enter: &dyn Fn(usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; goal.len()];
        let mut open: Vec<usize> = (0..goal.len()).filter(|&n| goal[n]).collect();
        while let Some(node) = open.pop() {
            for source in self.before(node) {
                if !std::mem::replace(&mut reached[source], true)
                    && !goal[source]
                    && may_enter(source)
                {
                    open.push(source);
                }
            }
        }
        reached
    }
}

/// A random state formula: a few quantified formulas, each over atoms and those before it.
pub fn random_ctl_star(random: &mut Random, n_atoms: usize) -> CtlStar {
    let mut builder = CtlStarBuilder::default();
    let mut parts: Vec<Ltl> = Vec::new();
    for _ in 0..=random.below(3) {
        let size = random.below(4);
        let path = random_formula(random, n_atoms, size);
        let path = substitute(random, &path, &parts);
        let quantifier = if random.chance(50) {
            PathQuantifier::All
        } else {
            PathQuantifier::Exists
        };
        parts.push(builder.quantify(quantifier, path));
    }

    let last = parts.last().expect("there is one").clone();
    let root = match random.below(5) {
        0 => Ltl::not(last),
        1 => Ltl::or([last, parts[0].clone()]),
        2 => Ltl::iff(Ltl::atom(AtomId::new(random.below(n_atoms))), last),
        _ => last,
    };

    builder.finish(root).expect("a state formula")
}

/// Replaces some atoms by quantified formulas.
fn substitute(random: &mut Random, path: &Ltl, parts: &[Ltl]) -> Ltl {
    if parts.is_empty() {
        return path.clone();
    }
    let choice: Vec<(AtomId, Option<Ltl>)> = path
        .atoms()
        .into_iter()
        .map(|atom| (atom, random.chance(60).then(|| random.pick(parts).clone())))
        .collect();
    path.map_atoms(&|atom| {
        let chosen = choice.iter().find(|(other, _)| *other == atom);
        let part = chosen.and_then(|(_, part)| part.clone());
        part.unwrap_or_else(|| Ltl::atom(atom))
    })
}
