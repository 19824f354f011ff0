//! Builds a model in Rust, without any text, and asks whether a request is always answered.
//!
//! Run it with `cargo run -p fairground --example build_model`.

use fairground::logic::{Ltl, NamedProperty, Property};
use fairground::model::{
    Atom, AtomMeaning, Expr, Initial, LocationId, ModelParts, Place, Process, Scalar, Step, Stmt,
    StmtKind, Type, VarId, Variable,
};
use fairground::{Error, Fairness, NoProgress, Plan, Project, Span};

/// A client that waits, and a server that may idle forever or answer.
fn project() -> Project {
    let waiting = Place {
        var: VarId(0),
        owner: None,
        path: Vec::new(),
    };
    let here = LocationId(0);
    let step = |name: &str, guard: Expr, effect: Vec<Stmt>| Step {
        guard,
        effect,
        ..Step::new(name, here, here, Span::nowhere())
    };
    let set = |value: bool| {
        let assign = StmtKind::Assign(waiting.clone(), Expr::Bool(value));
        vec![Stmt::new(assign, Span::nowhere())]
    };
    let is_waiting = || Expr::Read(waiting.clone());
    let process = |name: &str, steps: Vec<Step>| {
        Process::new(name, vec!["here".to_owned()], steps, Span::nowhere())
    };

    let ask = step("ask", Expr::not(is_waiting()), set(true));
    let answer = step("answer", is_waiting(), set(false));
    let idle = step("idle", Expr::Bool(true), Vec::new());
    let parts = ModelParts {
        vars: vec![Variable {
            name: "waiting".to_owned(),
            ty: Type::Scalar(Scalar::Bool),
            owner: None,
            initial: Initial::Values(vec![Expr::Bool(false)]),
            span: Span::nowhere(),
        }],
        processes: vec![
            process("client", vec![ask]),
            process("server", vec![answer, idle]),
        ],
        atoms: vec![Atom {
            name: "waiting".to_owned(),
            meaning: AtomMeaning::State(is_waiting()),
            span: Span::nowhere(),
        }],
        ..ModelParts::default()
    };
    let model = parts.finish().expect("the parts fit together");

    let waits = Ltl::atom(fairground::AtomId(0));
    let answered = Ltl::always(Ltl::implies(
        waits.clone(),
        Ltl::eventually(Ltl::not(waits)),
    ));
    let property = NamedProperty {
        name: "answered".to_owned(),
        text: "[](waiting -> <>!waiting)".to_owned(),
        property: Property::Ltl(answered),
        fairness: None,
        span: Span::nowhere(),
    };
    Project::from_model("client and server", model, vec![property])
}

/// The verdicts without fairness and under weak fairness of actions.
pub fn verdicts() -> Result<[String; 2], Error> {
    let project = project();
    let question = &project.questions()[0];
    let verdict = |fairness: &str| -> Result<String, Error> {
        let plan = Plan {
            fairness: Fairness::parse(fairness),
            ..Plan::default()
        };
        let answer = project.check(question, &plan, &mut NoProgress)?;
        Ok(answer.verdict().name().to_owned())
    };
    Ok([verdict("none")?, verdict("weak")?])
}

#[allow(dead_code)] // The test runs `verdicts` only.
fn main() -> Result<(), Error> {
    let [without, weak] = verdicts()?;
    println!("without fairness: {without}");
    println!("under weak fairness: {weak}");
    Ok(())
}
