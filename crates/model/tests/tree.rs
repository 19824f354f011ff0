//! The traversal reaches every position of every constructor.

use base::Span;
use model::{
    Access, AtomMeaning, BinaryOp, BoundId, ChannelId, ChannelRef, Expr, Initial, LocationId,
    ModelParts, Owner, Parameter, Pattern, Place, Process, ProcessId, Quantifier, Setting, Step,
    Stmt, StmtKind, Sync, VarId,
};

/// Hands out a new name for each position.
#[derive(Default)]
struct Names(u32);

impl Names {
    fn expr(&mut self) -> Expr {
        self.0 += 1;
        Expr::Bound(BoundId(self.0 - 1))
    }

    fn boxed(&mut self) -> Box<Expr> {
        Box::new(self.expr())
    }

    fn place(&mut self) -> Place {
        Place {
            var: VarId(0),
            owner: Some(Owner::Indexed(self.boxed())),
            path: vec![
                Access::Index(self.expr()),
                Access::Field(1),
                Access::Index(self.expr()),
            ],
        }
    }

    fn channel(&mut self) -> ChannelRef {
        ChannelRef {
            channel: ChannelId(0),
            index: Some(self.boxed()),
        }
    }

    /// One of each constructor of expressions that have something inside.
    fn exprs(&mut self) -> Vec<Expr> {
        vec![
            Expr::Read(self.place()),
            Expr::Not(self.boxed()),
            Expr::Neg(self.boxed()),
            Expr::binary(BinaryOp::Add, self.expr(), self.expr()),
            Expr::Ite(self.boxed(), self.boxed(), self.boxed()),
            Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound: BoundId(1000),
                lo: self.boxed(),
                hi: self.boxed(),
                body: self.boxed(),
            },
            Expr::At {
                process: ProcessId(0),
                owner: Owner::Indexed(self.boxed()),
                locations: vec![LocationId(0)],
            },
            Expr::Length(self.channel()),
            Expr::Wrap {
                bits: 8,
                signed: false,
                inner: self.boxed(),
            },
        ]
    }

    fn statement(&mut self, kind: StmtKind) -> Stmt {
        Stmt::new(kind, Span::nowhere())
    }

    fn statements(&mut self) -> Vec<Stmt> {
        let leaf = StmtKind::Assert(self.expr());
        let inner = [StmtKind::Let(BoundId(1001), self.expr()), leaf];
        let [one, other] = inner.map(|kind| vec![self.statement(kind)]);
        let kinds = vec![
            StmtKind::If(self.expr(), one.clone(), other),
            StmtKind::For(BoundId(1002), self.expr(), self.expr(), Vec::new()),
            StmtKind::Choose(BoundId(1003), self.expr(), self.expr(), self.expr()),
            StmtKind::Set(BoundId(1001), self.expr()),
            StmtKind::Assign(self.place(), self.expr()),
            StmtKind::SetTimer(self.place(), Setting::To(self.expr())),
            StmtKind::SetTimer(self.place(), Setting::Any),
            StmtKind::Tick,
            StmtKind::Fail(String::new()),
            StmtKind::Exhausted,
        ];
        let body = kinds.into_iter().map(|kind| self.statement(kind)).collect();
        let kind = StmtKind::While(self.expr(), body);
        let again = vec![self.statement(kind)];
        let kind = StmtKind::For(BoundId(1004), self.expr(), self.expr(), again);
        vec![self.statement(kind)]
    }

    fn syncs(&mut self) -> Vec<Sync> {
        let patterns = vec![
            Pattern::Match(self.expr()),
            Pattern::Store(self.place()),
            Pattern::Ignore,
        ];
        vec![
            Sync::Internal,
            Sync::Send {
                channel: self.channel(),
                payload: vec![self.expr(), self.expr()],
            },
            Sync::Receive {
                channel: self.channel(),
                patterns,
            },
            Sync::Event {
                event: model::EventId(0),
                arguments: vec![self.expr()],
            },
        ]
    }

    fn parts(&mut self) -> ModelParts {
        let mut process = Process::new("P", vec![], vec![], Span::nowhere());
        for sync in self.syncs() {
            process.steps.push(Step {
                parameters: vec![Parameter {
                    bound: BoundId(1005),
                    lo: self.expr(),
                    hi: self.expr(),
                }],
                condition: self.expr(),
                guard: Expr::all(self.exprs()),
                sync,
                effect: self.statements(),
                ..Step::new("s", LocationId(0), LocationId(0), Span::nowhere())
            });
        }

        let meanings = [
            AtomMeaning::State(self.expr()),
            AtomMeaning::Certainly(self.expr(), true),
        ];
        let atom = |meaning| model::Atom {
            name: String::new(),
            meaning,
            span: Span::nowhere(),
        };
        ModelParts {
            vars: vec![model::Variable {
                name: "x".into(),
                ty: model::Type::Scalar(model::Scalar::Int),
                owner: None,
                initial: Initial::Values(vec![self.expr(), self.expr()]),
                span: Span::nowhere(),
            }],
            init: vec![self.expr()],
            atoms: meanings.map(atom).into(),
            processes: vec![process],
            ..ModelParts::default()
        }
    }
}

/// The names that a walk meets, in order.
fn met(parts: &ModelParts) -> Vec<u32> {
    let mut met = Vec::new();
    parts.for_each_operand(&mut |expr| {
        expr.walk(&mut |inner| met.extend(inner.as_bound().map(|bound| bound.0)));
    });
    met
}

/// The names that the printed form shows as expressions.
fn printed(parts: &ModelParts) -> Vec<u32> {
    let text = format!("{parts:?}");
    let mut names: Vec<u32> = text
        .split("Bound(BoundId(")
        .skip(1)
        .map(|rest| {
            rest[..rest.find(')').expect("closed")]
                .parse()
                .expect("a number")
        })
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_walk_meets_every_position() {
    let mut names = Names::default();
    let parts = names.parts();
    let mut met = met(&parts);
    met.sort_unstable();
    assert!(met.len() > 150, "only {}", met.len());
    assert_eq!(met, printed(&parts));
    assert_eq!(met, (0..names.0).collect::<Vec<_>>());
}

#[test]
fn rebuilding_changes_every_position() {
    let mut parts = Names::default().parts();
    let before = met(&parts);
    parts.for_each_operand_mut(&mut |expr| {
        expr.walk_mut(&mut |inner| {
            if let Expr::Bound(bound) = inner {
                bound.0 += 10_000;
            }
        });
    });
    let moved: Vec<u32> = before.iter().map(|name| name + 10_000).collect();
    assert_eq!(met(&parts), moved);
    assert!(printed(&parts).iter().all(|name| *name >= 10_000));
}

#[test]
fn operands_and_copies_agree() {
    for expr in Names::default().exprs() {
        let mut seen = Vec::new();
        let copy = expr.map_operands(&mut |operand| {
            seen.push(operand.clone());
            operand.clone()
        });
        assert_eq!(copy, expr);
        assert_eq!(expr.operands(), seen.iter().collect::<Vec<_>>());
        assert!(!seen.is_empty());
    }
}

#[test]
fn statements_at_any_depth_are_visited() {
    let statements = Names::default().statements();
    let (mut n_statements, mut binders, mut n_written) = (0, Vec::new(), 0);
    Stmt::walk_all(&statements, &mut |statement| {
        n_statements += 1;
        binders.extend(statement.binder());
        n_written += usize::from(statement.written().is_some());
    });
    assert_eq!(n_statements, 14);
    assert_eq!(binders, [1004, 1001, 1002, 1003].map(BoundId));
    assert_eq!(n_written, 3);
}
