//! Evidence for CTL* is accepted if it is right, and refused if anything about it is wrong.

mod micro;

use base::{Fairness, FairnessKind};
use evidence::{Branch, Branching, Invalid, QuantifierClaim, validate_branching};
use logic::{CtlStar, CtlStarBuilder, Ltl, PathQuantifier};
use micro::{at, fairness, parts, walk};
use model::Model;

/// 0 -a-> 1 -b-> 0, 1 -c-> 2, 2 -d-> 2, and `E G(!at2 && E F at2)`: some run avoids location 2 although
/// from each of its positions another run leads there.
fn case() -> (Model, CtlStar) {
    let mut parts = parts(&[(
        "P",
        3,
        &[(0, "a", 1), (1, "b", 0), (1, "c", 2), (2, "d", 2)],
    )]);
    let at2 = at(&mut parts, 2);
    let mut builder = CtlStarBuilder::default();
    let leads = builder.quantify(PathQuantifier::Exists, Ltl::eventually(at2.clone()));
    let avoids = Ltl::always(Ltl::and([Ltl::not(at2), leads]));
    let root = builder.quantify(PathQuantifier::Exists, avoids);
    let formula = builder.finish(root).expect("a state formula");
    (parts.finish().expect("a model"), formula)
}

fn evidence(model: &Model) -> Branching {
    let avoiding = walk(model, &["P.a", "P.b"], Some(0));
    let leading = walk(model, &["P.a", "P.c", "P.d"], Some(2));
    let (root, middle) = (avoiding.states[0].clone(), avoiding.states[1].clone());
    let mut from_middle = leading.clone();
    from_middle.states.remove(0);
    from_middle.steps.remove(0);
    from_middle.loop_start = Some(1);

    let entry = avoiding.steps[0].commands.clone();
    let branch = |quantified, entry, trace| Branch {
        quantified,
        entry,
        trace,
    };
    assert_eq!(from_middle.states[0], middle);
    Branching {
        root,
        branches: vec![
            branch(1, Vec::new(), avoiding),
            branch(0, Vec::new(), leading),
            branch(0, entry, from_middle),
        ],
        claims: Vec::new(),
    }
}

fn judge(change: impl Fn(&mut Branching), fairness: Fairness) -> Result<(), Invalid> {
    let (model, formula) = case();
    let mut evidence = evidence(&model);
    change(&mut evidence);
    validate_branching(&model, &formula, fairness, &[], &evidence)
}

#[test]
fn right_evidence_is_accepted() {
    assert_eq!(judge(|_| {}, fairness(FairnessKind::Weak)), Ok(()));
}

#[test]
fn a_claim_can_stand_for_a_branch() {
    let replace = |evidence: &mut Branching| {
        let branch = evidence.branches.remove(2);
        evidence.claims.push(QuantifierClaim {
            quantified: branch.quantified,
            state: branch.trace.states[0].clone(),
            entry: branch.entry,
            run_exists: true,
        });
    };
    assert_eq!(judge(replace, Fairness::default()), Ok(()));
    let refuse = |evidence: &mut Branching| {
        replace(evidence);
        evidence.claims[0].run_exists = false;
    };
    assert_eq!(judge(refuse, Fairness::default()), Err(Invalid::NotReached));
}

#[test]
fn wrong_evidence_is_refused() {
    let none = Fairness::default();
    let not_initial = |e: &mut Branching| e.root = e.branches[2].trace.states[0].clone();
    assert_eq!(judge(not_initial, none), Err(Invalid::NotInitial));

    let missing = |e: &mut Branching| {
        e.branches.remove(2);
    };
    assert!(matches!(judge(missing, none), Err(Invalid::Malformed(_))));

    let unknown = |e: &mut Branching| e.branches[0].quantified = 7;
    assert!(matches!(judge(unknown, none), Err(Invalid::Malformed(_))));
    let not_reaching = |e: &mut Branching| e.branches[1].trace = e.branches[0].trace.clone();
    assert_eq!(judge(not_reaching, none), Err(Invalid::NotReached));

    let finite = |e: &mut Branching| e.branches[1].trace.loop_start = None;
    assert_eq!(judge(finite, none), Err(Invalid::NoLoop));
    let skips = |e: &mut Branching| {
        e.branches[1].trace.steps.remove(0);
        e.branches[1].trace.states.remove(1);
        e.branches[1].trace.loop_start = Some(1);
    };
    assert!(matches!(
        judge(skips, none),
        Err(Invalid::NotEnabled { .. })
    ));
}

#[test]
fn unfair_branches_are_refused() {
    let strong = fairness(FairnessKind::Strong);
    assert!(matches!(judge(|_| {}, strong), Err(Invalid::Unfair { .. })));
    let global = fairness(FairnessKind::StrongGlobal);
    assert!(matches!(
        judge(|_| {}, global),
        Err(Invalid::NotCovered { .. })
    ));
}
