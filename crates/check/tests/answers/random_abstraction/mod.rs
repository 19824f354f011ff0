//! Random systems, abstractions of them, and formulas about both.

use base::{AtomId, NoProgress, Span};
use check::{Plan, check};
use evidence::Verdict;
use logic::{
    CtlStar, CtlStarBuilder, Ltl, MayMustProperty, NamedProperty, Op, PathQuantifier, Property,
};
use model::{Assumption, MayMust, MayMustParts, ModelParts, Proposition};
use testkit::{BranchingOracle, Random};

/// A concrete system: every state has a step, and propositions are true or false.
pub struct Concrete {
    steps: Vec<Vec<usize>>,
    letters: Vec<Vec<bool>>,
}

impl Concrete {
    pub fn random(random: &mut Random, n_atoms: usize) -> Self {
        let n_states = 2 + random.below(5);
        let steps = |random: &mut Random| {
            let mut steps: Vec<usize> = (0..=random.below(2))
                .map(|_| random.below(n_states))
                .collect();
            steps.sort_unstable();
            steps.dedup();
            steps
        };
        Self {
            steps: (0..n_states).map(|_| steps(random)).collect(),
            letters: (0..n_states)
                .map(|_| (0..n_atoms).map(|_| random.chance(50)).collect())
                .collect(),
        }
    }

    pub fn oracle(&self, fairness: &[Assumption]) -> Option<BranchingOracle> {
        BranchingOracle::of_graph(&self.steps, self.letters.clone(), fairness)
    }
}

/// A partition of the states of a concrete system.
pub struct Abstraction {
    block_of: Vec<usize>,
}

impl Abstraction {
    pub fn random(random: &mut Random, concrete: &Concrete) -> Self {
        let n_states = concrete.steps.len();
        let n_blocks = 1 + random.below(n_states);
        let mut block_of: Vec<usize> = (0..n_states).map(|_| random.below(n_blocks)).collect();
        // Numbers without gaps.
        let mut used: Vec<usize> = block_of.clone();
        used.sort_unstable();
        used.dedup();
        for block in &mut block_of {
            *block = used.binary_search(block).expect("it is used");
        }
        Self { block_of }
    }

    pub fn identity(concrete: &Concrete) -> Self {
        let block_of = (0..concrete.steps.len()).collect();
        Self { block_of }
    }

    pub fn n_blocks(&self) -> usize {
        self.block_of.iter().max().map_or(0, |last| last + 1)
    }

    /// The states that a block describes.
    pub fn described(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.block_of.len()).filter(move |&state| self.block_of[state] == block)
    }

    /// The best may/must system over the blocks, starting in one of them.
    pub fn system(&self, concrete: &Concrete, initial: usize) -> MayMust {
        let leads = |state: usize, block: usize| {
            let mut targets = concrete.steps[state].iter();
            targets.any(|&target| self.block_of[target] == block)
        };
        let (mut free, mut constrained) = (Vec::new(), Vec::new());

        for source in 0..self.n_blocks() {
            for target in 0..self.n_blocks() {
                let step = (source as u32, target as u32);
                if self.described(source).any(|state| leads(state, target)) {
                    free.push(step);
                }
                if self.described(source).all(|state| leads(state, target)) {
                    constrained.push(step);
                }
            }
        }

        let value = |atom: usize, block: usize| {
            let mut values = self.described(block).map(|s| concrete.letters[s][atom]);
            let first = values.next().expect("blocks are not empty");
            values.all(|value| value == first).then_some(first)
        };
        let propositions = (0..concrete.letters[0].len()).map(|atom| Proposition {
            name: format!("p{atom}"),
            values: (0..self.n_blocks()).map(|b| value(atom, b)).collect(),
        });
        MayMustParts {
            name: "S".into(),
            states: (0..self.n_blocks()).map(|b| format!("a{b}")).collect(),
            initial: vec![initial as u32],
            propositions: propositions.collect(),
            free,
            constrained,
            span: Span::nowhere(),
        }
        .finish()
        .expect("states exist")
    }
}

/// A system that need not abstract anything.
pub fn random_system(random: &mut Random, n_atoms: usize) -> MayMust {
    let n_states = 1 + random.below(5);
    let steps = |random: &mut Random, n: usize| -> Vec<(u32, u32)> {
        let state = |random: &mut Random| random.below(n_states) as u32;
        (0..n).map(|_| (state(random), state(random))).collect()
    };
    let (n_free, n_constrained) = (random.below(6), random.below(8));
    let values = |random: &mut Random| {
        let value = |random: &mut Random| *random.pick(&[Some(true), Some(false), None]);
        (0..n_states).map(|_| value(random)).collect()
    };
    MayMustParts {
        name: "S".into(),
        states: (0..n_states).map(|n| format!("a{n}")).collect(),
        initial: vec![random.below(n_states) as u32],
        propositions: (0..n_atoms)
            .map(|atom| Proposition {
                name: format!("p{atom}"),
                values: values(random),
            })
            .collect(),
        free: steps(random, n_free),
        constrained: steps(random, n_constrained),
        span: Span::nowhere(),
    }
    .finish()
    .expect("states exist")
}

/// A Boolean combination of "infinitely often" and its dual over literals; often none.
pub fn random_fairness(random: &mut Random, n_atoms: usize) -> Vec<Assumption> {
    let literal = |random: &mut Random| {
        let (atom, value) = (AtomId::new(random.below(n_atoms)), random.chance(50));
        if random.chance(70) {
            Assumption::Infinitely(atom, value)
        } else {
            Assumption::Eventually(atom, value)
        }
    };
    match random.below(4) {
        0 => Vec::new(),
        1 => vec![literal(random)],
        2 => vec![Assumption::Any(vec![literal(random), literal(random)])],
        _ => vec![literal(random), literal(random)],
    }
}

/// Fairness as a path formula.
fn fairness_formula(assumption: &Assumption) -> Ltl {
    let literal = |atom: AtomId, value: bool| {
        if value {
            Ltl::atom(atom)
        } else {
            Ltl::not(Ltl::atom(atom))
        }
    };
    match assumption {
        Assumption::Infinitely(atom, value) => Ltl::always(Ltl::eventually(literal(*atom, *value))),
        Assumption::Eventually(atom, value) => Ltl::eventually(Ltl::always(literal(*atom, *value))),
        Assumption::All(parts) => Ltl::and(parts.iter().map(fairness_formula)),
        Assumption::Any(parts) => Ltl::or(parts.iter().map(fairness_formula)),
    }
}

/// What the tool says.
pub fn answer(
    system: &MayMust,
    fairness: &[Assumption],
    formula: &CtlStar,
    naive: bool,
) -> Verdict {
    let parts = ModelParts {
        systems: vec![system.clone()],
        ..ModelParts::default()
    };
    let model = parts.finish().expect("a model without processes");
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property: Property::MayMust(MayMustProperty {
            system: 0,
            fairness: Ltl::and(fairness.iter().map(fairness_formula)),
            formula: formula.clone(),
        }),
        fairness: None,
        span: Span::nowhere(),
    };

    let plan = Plan {
        naive,
        ..Plan::default()
    };
    let outcome = check(&model, &property, &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
}

/// An annotation: constrained or free.
#[derive(Clone, Copy, PartialEq)]
enum Annotation {
    C,
    F,
}

impl Annotation {
    fn toggled(self) -> Self {
        match self {
            Self::C => Self::F,
            Self::F => Self::C,
        }
    }
}

/// Where the default annotation of the formula holds, by the clauses of the definition. Nothing if
/// the formula is too large.
pub fn by_definition(
    system: &MayMust,
    fairness: &[Assumption],
    formula: &CtlStar,
) -> Option<Vec<bool>> {
    let mut definition = Definition {
        system,
        fairness,
        formula,
    };
    definition.state_formula(formula.root(), Annotation::C)
}

struct Definition<'a> {
    system: &'a MayMust,
    fairness: &'a [Assumption],
    formula: &'a CtlStar,
}

impl Definition<'_> {
    /// Where an annotated state formula holds. Path quantifiers are all existential: `A ψ` has been
    /// read as `¬E¬ψ`.
    fn state_formula(&mut self, formula: &Ltl, annotation: Annotation) -> Option<Vec<bool>> {
        let n_states = self.system.states().len();
        let all = |parts: Vec<Vec<bool>>, unite: fn(bool, bool) -> bool, unit: bool| {
            let value = |s: usize| parts.iter().fold(unit, |value, part| unite(value, part[s]));
            (0..n_states).map(value).collect::<Vec<bool>>()
        };
        let mut each = |parts: &[Ltl]| -> Option<Vec<Vec<bool>>> {
            let of = |part: &Ltl| self.state_formula(part, annotation);
            parts.iter().map(of).collect()
        };
        Some(match formula.op() {
            Op::True => vec![true; n_states],
            Op::False => vec![false; n_states],
            Op::And(parts) => all(each(parts)?, |a, b| a && b, true),
            Op::Or(parts) => all(each(parts)?, |a, b| a || b, false),
            Op::Iff(a, b) => {
                let there = Ltl::or([Ltl::not(a.clone()), b.clone()]);
                let back = Ltl::or([Ltl::not(b.clone()), a.clone()]);
                self.state_formula(&Ltl::and([there, back]), annotation)?
            }
            Op::Not(inner) => {
                let toggled = self.state_formula(inner, annotation.toggled())?;
                toggled.into_iter().map(|holds| !holds).collect()
            }
            Op::Atom(atom) => self.atom(*atom, annotation)?,
            _ => unreachable!("random roots have no other operators"),
        })
    }

    fn atom(&mut self, atom: AtomId, annotation: Annotation) -> Option<Vec<bool>> {
        let Some(number) = CtlStar::as_quantified(atom) else {
            let values = self.system.propositions()[atom.index()].values.iter();
            return Some(match annotation {
                Annotation::C => values.map(|v| *v == Some(true)).collect(),
                Annotation::F => values.map(|v| *v != Some(false)).collect(),
            });
        };
        let quantified = &self.formula.quantified()[number];
        match quantified.quantifier {
            PathQuantifier::Exists => self.exists(&quantified.path.clone(), annotation),
            PathQuantifier::All => {
                let negation = Ltl::not(quantified.path.clone());
                let toggled = self.exists(&negation, annotation.toggled())?;
                Some(toggled.into_iter().map(|holds| !holds).collect())
            }
        }
    }

    /// Where `∃^C` or `∃^F` of a path formula holds: the atoms of the path formula, each with either
    /// annotation, are decided first and become the letters of an ordinary graph.
    fn exists(&mut self, path: &Ltl, annotation: Annotation) -> Option<Vec<bool>> {
        let mut atoms = path.atoms();
        atoms.extend((0..self.system.propositions().len()).map(AtomId::new));
        atoms.sort_unstable();
        atoms.dedup();

        let mut columns = Vec::new();
        for &atom in &atoms {
            for annotation in [Annotation::C, Annotation::F] {
                columns.push(self.atom(atom, annotation)?);
            }
        }

        let number = |atom: AtomId, annotation: Annotation| {
            let position = atoms.binary_search(&atom).expect("collected");
            AtomId::new(2 * position + usize::from(annotation == Annotation::F))
        };
        let targets = match annotation {
            Annotation::C => self.system.constrained(),
            Annotation::F => self.system.free(),
        };
        let steps: Vec<Vec<usize>> = targets
            .iter()
            .map(|list| list.iter().map(|&t| t as usize).collect())
            .collect();
        let letters = (0..steps.len()).map(|s| columns.iter().map(|c| c[s]).collect());
        let fairness: Vec<Assumption> = self
            .fairness
            .iter()
            .map(|a| annotated_fairness(a, annotation, &number))
            .collect();
        let oracle = BranchingOracle::of_graph(&steps, letters.collect(), &fairness)?;
        oracle.exists(&annotated_path(path, annotation, &number), &[])
    }
}

/// `Φ^C` or `Φ^F`: a negated literal has the other annotation.
fn annotated_fairness(
    fairness: &Assumption,
    annotation: Annotation,
    number: &dyn Fn(AtomId, Annotation) -> AtomId,
) -> Assumption {
    let atom = |atom: AtomId, value: bool| {
        if value {
            number(atom, annotation)
        } else {
            number(atom, annotation.toggled())
        }
    };
    let all = |parts: &[Assumption]| {
        let of = |part| annotated_fairness(part, annotation, number);
        parts.iter().map(of).collect()
    };
    match fairness {
        Assumption::Infinitely(a, value) => Assumption::Infinitely(atom(*a, *value), *value),
        Assumption::Eventually(a, value) => Assumption::Eventually(atom(*a, *value), *value),
        Assumption::All(parts) => Assumption::All(all(parts)),
        Assumption::Any(parts) => Assumption::Any(all(parts)),
    }
}

/// A path formula whose negations toggle the annotations below them.
fn annotated_path(
    path: &Ltl,
    annotation: Annotation,
    number: &dyn Fn(AtomId, Annotation) -> AtomId,
) -> Ltl {
    let of = |part: &Ltl| annotated_path(part, annotation, number);
    match path.op() {
        Op::True | Op::False => path.clone(),
        Op::Atom(atom) => Ltl::atom(number(*atom, annotation)),
        Op::Not(a) => Ltl::not(annotated_path(a, annotation.toggled(), number)),
        Op::Implies(a, b) => {
            let premise = annotated_path(a, annotation.toggled(), number);
            Ltl::or([Ltl::not(premise), of(b)])
        }
        Op::Iff(a, b) => {
            let there = Ltl::implies(a.clone(), b.clone());
            let back = Ltl::implies(b.clone(), a.clone());
            Ltl::and([of(&there), of(&back)])
        }
        Op::And(parts) => Ltl::and(parts.iter().map(of)),
        Op::Or(parts) => Ltl::or(parts.iter().map(of)),
        Op::Next(a) => Ltl::next(of(a)),
        Op::Until(a, b) => Ltl::until(of(a), of(b)),
        Op::WeakUntil(a, b) => Ltl::weak_until(of(a), of(b)),
        Op::Release(a, b) => Ltl::release(of(a), of(b)),
        Op::StrongRelease(a, b) => Ltl::strong_release(of(a), of(b)),
        Op::Previously(a) => Ltl::previously(of(a)),
        Op::Since(a, b) => Ltl::since(of(a), of(b)),
        Op::Eventually(a) => Ltl::eventually(of(a)),
        Op::Always(a) => Ltl::always(of(a)),
    }
}

/// The formula with double negations, De Morgan's laws and dualities applied at random.
pub fn rewrite(random: &mut Random, formula: &CtlStar) -> CtlStar {
    let mut builder = CtlStarBuilder::default();
    let mut new: Vec<Ltl> = Vec::new();
    let renamed = |ltl: &Ltl, new: &[Ltl]| {
        ltl.map_atoms(&|atom| match CtlStar::as_quantified(atom) {
            Some(number) => new[number].clone(),
            None => Ltl::atom(atom),
        })
    };

    for quantified in formula.quantified() {
        let path = rewritten(random, &renamed(&quantified.path, &new));
        let dual = match quantified.quantifier {
            PathQuantifier::All => PathQuantifier::Exists,
            PathQuantifier::Exists => PathQuantifier::All,
        };
        new.push(if random.chance(50) {
            builder.quantify(quantified.quantifier, path)
        } else {
            Ltl::not(builder.quantify(dual, Ltl::not(path)))
        });
    }

    let root = rewritten(random, &renamed(formula.root(), &new));
    builder.finish(root).expect("still a state formula")
}

fn rewritten(random: &mut Random, formula: &Ltl) -> Ltl {
    let mut of = |part: &Ltl| rewritten(random, part);
    let not = Ltl::not;
    let (plain, dual) = match formula.op() {
        Op::True | Op::False | Op::Atom(_) => (formula.clone(), formula.clone()),
        Op::Not(a) => {
            let a = of(a);
            (not(a.clone()), not(not(not(a))))
        }
        Op::And(parts) => {
            let parts: Vec<Ltl> = parts.iter().map(of).collect();
            let any = Ltl::or(parts.iter().cloned().map(not));
            (Ltl::and(parts), not(any))
        }
        Op::Or(parts) => {
            let parts: Vec<Ltl> = parts.iter().map(of).collect();
            let all = Ltl::and(parts.iter().cloned().map(not));
            (Ltl::or(parts), not(all))
        }
        Op::Implies(a, b) => {
            let (a, b) = (of(a), of(b));
            (
                Ltl::implies(a.clone(), b.clone()),
                not(Ltl::and([a, not(b)])),
            )
        }
        Op::Iff(a, b) => {
            let (a, b) = (of(a), of(b));
            let there = Ltl::implies(a.clone(), b.clone());
            let back = Ltl::implies(b.clone(), a.clone());
            (Ltl::iff(a, b), Ltl::and([there, back]))
        }
        Op::Next(a) => {
            let a = of(a);
            (Ltl::next(a.clone()), not(Ltl::next(not(a))))
        }
        Op::Eventually(a) => {
            let a = of(a);
            (Ltl::eventually(a.clone()), not(Ltl::always(not(a))))
        }
        Op::Always(a) => {
            let a = of(a);
            (Ltl::always(a.clone()), not(Ltl::eventually(not(a))))
        }
        Op::Until(a, b) => {
            let (a, b) = (of(a), of(b));
            let dual = not(Ltl::release(not(a.clone()), not(b.clone())));
            (Ltl::until(a, b), dual)
        }
        Op::Release(a, b) => {
            let (a, b) = (of(a), of(b));
            let dual = not(Ltl::until(not(a.clone()), not(b.clone())));
            (Ltl::release(a, b), dual)
        }
        Op::WeakUntil(a, b) => {
            let (a, b) = (of(a), of(b));
            let dual = not(Ltl::strong_release(not(a.clone()), not(b.clone())));
            (Ltl::weak_until(a, b), dual)
        }
        Op::StrongRelease(a, b) => {
            let (a, b) = (of(a), of(b));
            let dual = not(Ltl::weak_until(not(a.clone()), not(b.clone())));
            (Ltl::strong_release(a, b), dual)
        }
        Op::Previously(_) | Op::Since(..) => unreachable!("random formulas have no past"),
    };

    if random.chance(50) { plain } else { dual }
}
