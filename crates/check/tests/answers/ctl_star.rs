//! Formulas of CTL* on concrete systems, against independent decision procedures.

use base::{AtomId, Budget, Fairness, NoProgress, Span};
use check::{Plan, check};
use logic::{CtlStar, CtlStarBuilder, Ltl, NamedProperty, Op, PathQuantifier, Property};
use model::{Model, Subject, Successor};
use testkit::{BranchingOracle, ModelShape, Random, ReferenceGraph, random_ctl_star, random_model};

const KINDS: [&str; 9] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong-global+annotated",
];

/// The verdict of the tool; its evidence is validated by `check` itself.
fn verdict(model: &Model, formula: &CtlStar, fairness: Fairness) -> (&'static str, usize) {
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property: Property::CtlStar(formula.clone()),
        fairness: None,
        span: Span::nowhere(),
    };

    let plan = Plan {
        fairness: Some(fairness),
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let outcome = check(model, &property, &plan, &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    let shown = match &outcome.verdict {
        evidence::Verdict::Violated(violation) => match &violation.kind {
            evidence::ViolationKind::Branching(shown) => shown.branches.len(),
            _ => 0,
        },
        _ => outcome.branching.map_or(0, |shown| shown.branches.len()),
    };

    (outcome.verdict.name(), shown)
}

/// Front ends refuse such formulas, but programs can build them.
#[test]
fn past_operators_are_not_supported() {
    let model = random_model(&mut Random::new(1), ModelShape::Tiny);
    let mut builder = CtlStarBuilder::default();
    let atom = Ltl::atom(AtomId::new(0));
    let before = builder.quantify(PathQuantifier::Exists, Ltl::previously(atom));
    let root = builder.quantify(PathQuantifier::All, Ltl::always(before));
    let formula = builder.finish(root).expect("it is quantified");
    assert_eq!(verdict(&model, &formula, Fairness::NONE).0, "unknown");
}

#[test]
fn verdicts_agree_with_the_tableau_oracle() {
    let (mut n_holds, mut n_violated, mut n_shown, mut n_nested) = (0, 0, 0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= 10_000 {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_some() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 16) else {
            continue;
        };
        for _ in 0..4 {
            let formula = random_ctl_star(&mut random, 8);
            let kind = KINDS[random.below(KINDS.len())];
            let fairness = Fairness::parse(kind).expect("the names are right");
            let oracle = BranchingOracle::new(&model, &graph, fairness);
            let Some(oracle) = oracle.expect("atoms of tiny models have values") else {
                continue;
            };
            let Some(holds) = oracle.holds(&formula) else {
                continue;
            };
            let (found, n_branches) = verdict(&model, &formula, fairness);
            let expected = if holds { "holds" } else { "violated" };
            let text = formula.text(&|atom| format!("p{}", atom.0));
            assert_eq!(found, expected, "seed {seed}, fairness {kind}, {text}");
            n_holds += usize::from(holds);
            n_violated += usize::from(!holds);
            n_shown += usize::from(n_branches > 0);
            n_nested += usize::from(n_branches > 1);
        }
    }

    assert!(
        n_holds > 2000 && n_violated > 2000 && n_shown > 2000 && n_nested > 500,
        "{n_holds} {n_violated} {n_shown} {n_nested}"
    );
}

/// A step of a graph: where it leads, and which conditions of justice it satisfies.
type JustStep = (usize, Vec<bool>);

/// The states that have, within `inside`, a path on which every condition of justice is satisfied
/// again and again: the fixpoint of Emerson and Lei, by plain iteration.
fn just_states(steps: &[Vec<JustStep>], n_conditions: usize, inside: &[bool]) -> Vec<bool> {
    let mut states = inside.to_vec();
    loop {
        let before = states.clone();
        for condition in 0..n_conditions.max(1) {
            // Those that can take a step of the condition that stays, after steps that stay.
            let mut leads = vec![false; states.len()];
            loop {
                let can = |s: usize| {
                    let good = |(t, just): &JustStep| {
                        states[*t] && (just.get(condition).is_none_or(|j| *j) || leads[*t])
                    };
                    states[s] && steps[s].iter().any(good)
                };
                let next: Vec<bool> = (0..states.len()).map(can).collect();
                if next == leads {
                    break;
                }
                leads = next;
            }
            states = leads;
        }
        if states == before {
            return states;
        }
    }
}

/// CTL by fixpoints, for formulas whose paths are one temporal operator over state formulas.
struct Fixpoints {
    steps: Vec<Vec<JustStep>>,
    n_conditions: usize,
    letters: Vec<Vec<bool>>,
    fair: Vec<bool>,
}

impl Fixpoints {
    fn until(&self, through: &[bool], goal: &[bool]) -> Vec<bool> {
        let mut reached: Vec<bool> = goal.iter().zip(&self.fair).map(|(g, f)| *g && *f).collect();
        loop {
            let before = reached.clone();
            for s in 0..reached.len() {
                let leads = || self.steps[s].iter().any(|(t, _)| before[*t]);
                reached[s] = before[s] || (through[s] && leads());
            }
            if reached == before {
                return reached;
            }
        }
    }

    /// Where `E path` holds, for a path formula without negation above its operator.
    fn exists(&self, path: &Ltl, values: &[Vec<bool>]) -> Vec<bool> {
        let set = |formula: &Ltl| self.set(formula, values);
        let all = vec![true; self.letters.len()];
        let just = |inside: &[bool]| just_states(&self.steps, self.n_conditions, inside);
        match path.op() {
            Op::Next(a) => {
                let goal = set(a);
                let leads = |t: &usize| goal[*t] && self.fair[*t];
                let can = |steps: &Vec<JustStep>| steps.iter().any(|(t, _)| leads(t));
                self.steps.iter().map(can).collect()
            }
            Op::Eventually(a) => self.until(&all, &set(a)),
            Op::Always(a) => just(&set(a)),
            Op::Until(a, b) => self.until(&set(a), &set(b)),
            Op::Release(a, b) => {
                let (a, b) = (set(a), set(b));
                let both: Vec<bool> = a.iter().zip(&b).map(|(a, b)| *a && *b).collect();
                let until = self.until(&b, &both);
                until.iter().zip(just(&b)).map(|(u, g)| *u || g).collect()
            }
            _ => set(path)
                .iter()
                .zip(&self.fair)
                .map(|(p, f)| *p && *f)
                .collect(),
        }
    }

    fn set(&self, formula: &Ltl, values: &[Vec<bool>]) -> Vec<bool> {
        let at = |s: usize| {
            let letter = |_: usize, atom: AtomId| match CtlStar::as_quantified(atom) {
                Some(number) => values[number][s],
                None => self.letters[s][atom.index()],
            };
            logic::holds_on_lasso(formula, 1, 0, &letter)
        };
        (0..self.letters.len()).map(at).collect()
    }

    fn holds(&self, formula: &CtlStar) -> Vec<bool> {
        let mut values = Vec::new();
        for quantified in formula.quantified() {
            let path = &quantified.path;
            values.push(match quantified.quantifier {
                PathQuantifier::Exists => self.exists(path, &values),
                PathQuantifier::All => {
                    let dual = Ltl::not(path.clone()).negation_normal_form();
                    self.exists(&dual, &values).iter().map(|e| !e).collect()
                }
            });
        }
        self.set(formula.root(), &values)
    }
}

/// A formula of CTL over the state propositions of random models.
fn random_ctl(random: &mut Random) -> CtlStar {
    let mut builder = CtlStarBuilder::default();
    let mut parts: Vec<Ltl> = (0..4).map(|n| Ltl::atom(AtomId(n))).collect();
    for _ in 0..1 + random.below(4) {
        let mut operand = || {
            if random.chance(30) {
                Ltl::not(random.pick(&parts).clone())
            } else {
                random.pick(&parts).clone()
            }
        };
        let (a, b) = (operand(), operand());
        let path = match random.below(6) {
            0 => Ltl::next(a),
            1 => Ltl::eventually(a),
            2 | 3 => Ltl::always(a),
            4 => Ltl::until(a, b),
            _ => Ltl::release(a, b),
        };
        let quantifier = if random.chance(50) {
            PathQuantifier::All
        } else {
            PathQuantifier::Exists
        };
        parts.push(builder.quantify(quantifier, path));
    }

    let root = parts.pop().expect("there is one");
    builder.finish(root).expect("a state formula")
}

#[test]
fn ctl_under_justice_agrees_with_fixpoints() {
    let (mut n_holds, mut n_violated) = (0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= 6000 {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_some() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 60) else {
            continue;
        };
        let kind = *random.pick(&["weak", "weak-process"]);
        if graph.n_initial == 0 || !model.parts().assumptions.is_empty() {
            continue;
        }
        let fairness = Fairness::parse(kind).expect("the names are right");
        let fixpoints = justice(&model, &graph, fairness);
        for _ in 0..3 {
            let formula = random_ctl(&mut random);
            assert!(formula.is_ctl());
            let holds = fixpoints.holds(&formula)[..graph.n_initial]
                .iter()
                .all(|h| *h);
            let expected = if holds { "holds" } else { "violated" };
            let text = formula.text(&|atom| format!("p{}", atom.0));
            let (found, _) = verdict(&model, &formula, fairness);
            assert_eq!(found, expected, "seed {seed}, fairness {kind}, {text}");
            n_holds += usize::from(holds);
            n_violated += usize::from(!holds);
        }
    }

    assert!(
        n_holds > 1500 && n_violated > 1500,
        "{n_holds} {n_violated}"
    );
}

/// A model with weak fairness as a graph with conditions of justice on steps.
fn justice(model: &Model, graph: &ReferenceGraph, fairness: Fairness) -> Fixpoints {
    let conditions = model.fairness_conditions(fairness);
    let involves = |step: &Successor, subject: &Subject| match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(cell) => step.timers_set.contains(cell),
        Subject::Team(_) => unreachable!("no justness here"),
    };

    let steps: Vec<Vec<JustStep>> = graph
        .steps
        .iter()
        .map(|leaving| {
            let just = |step: &Successor| {
                let satisfied = |condition: &model::Condition| {
                    let subject = &condition.subject;
                    let enabled = leaving.iter().any(|(s, _)| involves(s, subject));
                    !enabled || involves(step, subject)
                };
                conditions.iter().map(satisfied).collect()
            };
            leaving.iter().map(|(step, t)| (*t, just(step))).collect()
        })
        .collect();

    let letter = |state: &model::State| {
        let holds = |atom| model.atom_holds(AtomId(atom), state, &[]);
        (0..4)
            .map(|atom| holds(atom).expect("atoms have values"))
            .collect()
    };

    let all = vec![true; steps.len()];
    Fixpoints {
        fair: just_states(&steps, conditions.len(), &all),
        n_conditions: conditions.len(),
        letters: graph.states.iter().map(letter).collect(),
        steps,
    }
}
