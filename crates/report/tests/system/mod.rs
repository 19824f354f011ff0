//! A small system with a rendezvous, a buffered channel, an event and a choice.

#![allow(dead_code, reason = "each test file uses its own part of this system")]

pub mod results;

use base::{AtomId, Fairness, FairnessKind, Route, Source, SourceId, Span};
use evidence::{RestsOn, Trace, TraceStep};
use logic::{Ltl, NamedProperty, Property};
use model::{
    Atom, AtomMeaning, BinaryOp, Channel, ChannelId, ChannelRef, EnumId, EnumType, Event, EventId,
    Expr, Initial, LocationId, Model, ModelParts, Pattern, Place, Process, Scalar, Step,
    StepPattern, Stmt, StmtKind, Sync, Type, VarId, Variable,
};
use report::{Cost, ReportedQuestion};

pub const SOURCE: &str = "model mail;\nproperty served: []<> done;\n  x := 1 / 0\n";

/// The system as it is meant.
pub fn system() -> Model {
    parts().finish().unwrap()
}

/// The sender puts red mail into a box, rings (a rendezvous with the receiver) and is reset
/// together with the receiver; the receiver takes the mail. A clerk may work while the bell is
/// silent; the alarm never goes off.
pub fn parts() -> ModelParts {
    let colour = Scalar::Enum(EnumId(0), 2);
    let place = |var: u32| Place {
        var: VarId(var),
        owner: None,
        path: Vec::new(),
    };
    let channel = |id: u32| ChannelRef {
        channel: ChannelId(id),
        index: None,
    };
    let step = |name: &str, source: u32, target: u32, sync: Sync| Step {
        sync,
        ..Step::new(
            name,
            LocationId(source),
            LocationId(target),
            Span::nowhere(),
        )
    };

    let reset = || Sync::Event {
        event: EventId(0),
        arguments: Vec::new(),
    };
    let put = Sync::Send {
        channel: channel(0),
        payload: vec![Expr::Enum(EnumId(0), 1), Expr::Bool(true)],
    };
    let take = Sync::Receive {
        channel: channel(0),
        patterns: vec![Pattern::Store(place(0)), Pattern::Ignore],
    };
    let ring = Sync::Send {
        channel: channel(1),
        payload: vec![Expr::Int(7)],
    };
    let hear = Sync::Receive {
        channel: channel(1),
        patterns: vec![Pattern::Store(place(1))],
    };
    let mut work = step("work", 0, 0, Sync::Internal);
    work.guard = Expr::binary(BinaryOp::Eq, Expr::Read(place(1)), Expr::Int(0));

    let mut alarm = step("alarm", 0, 0, Sync::Internal);
    alarm.guard = Expr::binary(BinaryOp::Eq, Expr::Read(place(1)), Expr::Int(9));
    let forget = StmtKind::Assign(place(1), Expr::Int(0));
    let mut rest = step("reset", 2, 0, reset());
    rest.effect = vec![Stmt::new(forget, Span::nowhere())];

    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
    let process = |name: &str, locations: &[&str], steps: Vec<Step>| {
        Process::new(name, names(locations), steps, Span::nowhere())
    };
    let variable = |name: &str, ty: Scalar| Variable {
        name: name.to_owned(),
        ty: Type::Scalar(ty),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0)]),
        span: Span::nowhere(),
    };

    let wire = |name: &str, capacity: usize, payload: Vec<Scalar>| Channel {
        name: name.to_owned(),
        indices: None,
        capacity,
        payload,
        span: Span::nowhere(),
    };

    let taken = |action: &str| Atom {
        name: action.to_owned(),
        meaning: AtomMeaning::Taken(StepPattern {
            action: Some(action.to_owned()),
            ..StepPattern::default()
        }),
        span: Span::nowhere(),
    };

    ModelParts {
        enums: vec![EnumType {
            name: "colour".to_owned(),
            variants: names(&["blue", "red"]),
        }],
        vars: vec![variable("last", colour), variable("bell", Scalar::Int)],
        channels: vec![
            wire("box", 1, vec![colour, Scalar::Bool]),
            wire("door", 0, vec![Scalar::Int]),
        ],
        events: vec![Event {
            name: "reset".to_owned(),
            span: Span::nowhere(),
        }],
        processes: vec![
            process(
                "Sender",
                &["idle", "ringing", "waiting"],
                vec![
                    step("put", 0, 1, put),
                    step("ring", 1, 2, ring),
                    step("reset", 2, 0, reset()),
                ],
            ),
            process("Clerk", &["desk"], vec![work, alarm]),
            process(
                "Receiver",
                &["home", "door", "done"],
                vec![step("hear", 0, 1, hear), step("take", 1, 2, take), rest],
            ),
        ],
        atoms: vec![taken("work"), taken("alarm")],
        ..ModelParts::default()
    }
}

pub fn sources() -> Vec<Source> {
    vec![Source {
        name: "mail.fair".to_owned(),
        text: SOURCE.to_owned(),
    }]
}

/// A property that is written in the second line.
pub fn named(text: &str, property: Property) -> NamedProperty {
    NamedProperty {
        name: "served".to_owned(),
        text: text.to_owned(),
        property,
        fairness: None,
        span: Span::new(SourceId(0), 21, 27),
    }
}

/// `[]<> work`.
pub fn served() -> NamedProperty {
    named("[]<> work", recurs(0))
}

/// `[]<>` of an atom.
pub fn recurs(atom: u32) -> Property {
    Property::Ltl(Ltl::always(Ltl::eventually(Ltl::atom(AtomId(atom)))))
}

pub fn fairness(kind: FairnessKind) -> Fairness {
    Fairness {
        kind,
        annotated: false,
        timers: false,
    }
}

pub fn question<'a>(
    sources: &'a [Source],
    property: &'a NamedProperty,
    kind: FairnessKind,
) -> ReportedQuestion<'a> {
    ReportedQuestion {
        sources,
        property: &property.name,
        formula: &property.text,
        span: property.span,
        fairness: fairness(kind),
    }
}

pub fn cost() -> Cost {
    Cost {
        route: Route::Explicit,
        states: Some(2048),
        transitions: Some(10_000),
        product_states: Some(4096),
        is_partial: false,
        seconds: 0.031,
        peak_memory_bytes: Some(1 << 20),
        reduced: None,
        rests_on: RestsOn::default(),
    }
}

/// The walk that takes these actions.
pub fn walk(model: &Model, actions: &[&str], loop_start: Option<usize>) -> Trace {
    let mut state = model.initial_states().unwrap().remove(0);
    let (mut states, mut steps) = (Vec::new(), Vec::new());
    for name in actions {
        let successors = model.successors(&state).unwrap();
        let named = |step: &&model::Successor| model.action_name(step.actions[0]) == *name;
        let step = successors.iter().find(named).expect("the step exists");
        steps.push(TraceStep::from(step).into());
        states.push(std::mem::replace(&mut state, step.target.clone()));
    }
    if loop_start.is_none() {
        states.push(state);
    }
    Trace {
        states,
        steps,
        loop_start,
    }
}

pub const ROUND: [&str; 4] = [
    "Sender.put",
    "Sender.ring/Receiver.hear",
    "Receiver.take",
    "reset",
];

/// One round of the mail before the loop, and one as the loop.
pub fn lasso(model: &Model) -> Trace {
    walk(model, &[ROUND, ROUND].concat(), Some(4))
}
