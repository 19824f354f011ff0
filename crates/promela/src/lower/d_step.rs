//! `d_step`: a whole sequence as the effect of one step.
//!
//! The first option that is possible is taken; a statement that is not possible is a run-time
//! error. Where paths meet or loop, a hidden counter says where to go on: blocks are numbered in an
//! order in which only loops lead back, so that without loops one pass over them suffices.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::{BoundId, Expr, Stmt, StmtKind, Sync};

use crate::ast::ExprKind;
use crate::flow::{ElementKind, Exit, Flow, Leaf};

use super::expr::Who;
use super::statement::Variant;
use super::{Lowering, all, any, equals};

/// The counter's value behind the sequence.
const DONE: i64 = -1;

/// The blocks of a sequence.
struct Blocks<'a> {
    flow: &'a Flow,
    /// The number of the block that starts at a location.
    number: BTreeMap<usize, i64>,
    counter: BoundId,
    has_loop: bool,
}

impl Lowering<'_> {
    /// The steps of a `d_step`: one for each way of executing its first statement.
    pub(super) fn d_step(&mut self, flow: &Flow, element: usize, who: &Who) -> Vec<Variant> {
        let start = flow.d_step_start(element).expect("it is a d_step");
        let span = flow.elements[element].span;
        let mut steps: Vec<Variant> = Vec::new();
        let mut before: Vec<Expr> = Vec::new();
        for exit in flow.exits(start) {
            let mut variants = self.first_variants(flow, &exit, who);
            self.check_in_d_step(&variants, span, true);
            for variant in &mut variants {
                let earlier = any(before.iter().cloned());
                before.push(variant.visible_guard());
                variant.guard = all([variant.guard.clone(), Expr::not(earlier)]);
                let rest = self.d_step_rest(flow, exit.target, who, span);
                variant.effect.extend(rest);
            }
            steps.extend(variants);
        }
        steps
    }

    /// The first statement may wait for a `timeout`.
    fn first_variants(&mut self, flow: &Flow, exit: &Exit, who: &Who) -> Vec<Variant> {
        let mut element = flow.elements[exit.element].clone();
        if let ElementKind::Leaf(Leaf::Condition(expr)) = &element.kind {
            element.in_d_step = matches!(expr.kind, ExprKind::Run { .. });
        }
        self.variants(&element, who)
    }

    fn exit_variants(&mut self, flow: &Flow, exit: &Exit, who: &Who) -> Vec<Variant> {
        let element = flow.elements[exit.element].clone();
        self.variants(&element, who)
    }

    fn check_in_d_step(&mut self, variants: &[Variant], span: Span, is_first: bool) {
        let is_rendezvous = |variant: &Variant| match variant.sync {
            Sync::Internal => false,
            Sync::Receive { .. } => !is_first,
            Sync::Send { .. } | Sync::Event { .. } => true,
        };
        if variants.iter().any(is_rendezvous) {
            let message = "a rendezvous cannot happen inside a `d_step`";
            let diagnostic = Diagnostic::error("rendezvous-in-d_step", span, message);
            self.say(diagnostic.help("use `atomic`, or receive in the first statement"));
        }
    }

    /// What follows in a `d_step`, from a location on.
    fn d_step_rest(
        &mut self,
        flow: &Flow,
        start: Option<usize>,
        who: &Who,
        span: Span,
    ) -> Vec<Stmt> {
        let Some(start) = start.filter(|at| flow.elements[*at].in_d_step) else {
            return Vec::new();
        };
        let (order, has_loop) = order(flow, start);
        let counter = self.bound("next");
        let mut number = BTreeMap::new();
        for (location, n_ways) in &order {
            if *n_ways > 1 || *location == start {
                number.insert(*location, number.len() as i64);
            }
        }

        let blocks = Blocks {
            flow,
            number,
            counter,
            has_loop,
        };

        if blocks.number.len() == 1 && !has_loop {
            return self.block(&blocks, start, who, span);
        }
        let mut body = Vec::new();

        for (location, _) in &order {
            if let Some(number) = blocks.number.get(location) {
                let inner = self.block(&blocks, *location, who, span);
                let here = equals(Expr::Bound(counter), *number);
                body.push(Stmt::new(StmtKind::If(here, inner, Vec::new()), span));
            }
        }

        let mut code = vec![Stmt::new(StmtKind::Let(counter, Expr::Int(0)), span)];
        if blocks.has_loop {
            let goes_on = Expr::binary(model::BinaryOp::Ne, Expr::Bound(counter), Expr::Int(DONE));
            code.push(Stmt::new(StmtKind::While(goes_on, body), span));
        } else {
            code.extend(body)
        }

        code
    }

    /// The code from a location to the next places where paths meet.
    fn block(&mut self, blocks: &Blocks<'_>, start: usize, who: &Who, span: Span) -> Vec<Stmt> {
        let mut code = Vec::new();
        let mut location = start;
        loop {
            let exits = blocks.flow.exits(location);
            let here = blocks.flow.elements[location].span;
            if let [exit] = exits.as_slice() {
                let variants = self.exit_variants(blocks.flow, exit, who);
                self.check_in_d_step(&variants, here, false);
                code.extend(chain(self.arms(variants), here));
                match self.next_inside(blocks, exit.target, span) {
                    Ok(next) => location = next,
                    Err(jump) => {
                        code.extend(jump);
                        return code;
                    }
                }
                continue;
            }
            let mut arms: Vec<(Expr, Vec<Stmt>)> = Vec::new();
            for exit in &exits {
                let variants = self.exit_variants(blocks.flow, exit, who);
                self.check_in_d_step(&variants, here, false);
                let rest = match self.next_inside(blocks, exit.target, span) {
                    Ok(next) => self.block(blocks, next, who, span),
                    Err(jump) => jump,
                };
                for (guard, mut effect) in self.arms(variants) {
                    effect.extend(rest.clone());
                    arms.push((guard, effect));
                }
            }
            code.extend(chain(arms, here));
            return code;
        }
    }

    fn arms(&self, variants: Vec<Variant>) -> Vec<(Expr, Vec<Stmt>)> {
        let possible = variants.into_iter().filter(|variant| variant.priority == 0);
        possible
            .map(|variant| (variant.guard, variant.effect))
            .collect()
    }

    /// The next location if its code is written here, else the jump to it.
    fn next_inside(
        &self,
        blocks: &Blocks<'_>,
        target: Option<usize>,
        span: Span,
    ) -> Result<usize, Vec<Stmt>> {
        let inside = target.filter(|at| blocks.flow.elements[*at].in_d_step);
        let number = match inside {
            Some(next) => match blocks.number.get(&next) {
                Some(number) => *number,
                None => return Ok(next),
            },
            None => DONE,
        };
        if blocks.number.len() == 1 && !blocks.has_loop {
            Err(Vec::new())
        } else {
            let jump = StmtKind::Set(blocks.counter, Expr::Int(number));
            Err(vec![Stmt::new(jump, span)])
        }
    }
}

/// Tries guards in order; if none holds, the sequence is stuck.
fn chain(arms: Vec<(Expr, Vec<Stmt>)>, span: Span) -> Vec<Stmt> {
    let message = "no statement is possible at this place of the d_step".to_owned();
    let stuck = vec![Stmt::new(StmtKind::Fail(message), span)];
    arms.into_iter()
        .rev()
        .fold(stuck, |otherwise, (guard, effect)| {
            if guard.is_bool(true) {
                return effect;
            }
            vec![Stmt::new(StmtKind::If(guard, effect, otherwise), span)]
        })
}

/// The locations of a `d_step` from `start` on, such that only loops lead back, with the number of
/// ways that lead to each; and whether there are loops.
fn order(flow: &Flow, start: usize) -> (Vec<(usize, usize)>, bool) {
    let targets = |location: usize| -> Vec<usize> {
        let exits = flow.exits(location).into_iter();
        let inside = exits.filter_map(|exit| exit.target);
        inside.filter(|at| flow.elements[*at].in_d_step).collect()
    };
    let mut n_ways: BTreeMap<usize, usize> = BTreeMap::new();
    let mut finished = Vec::new();
    let mut on_path = vec![start];
    let mut stack = vec![(start, targets(start))];
    let mut has_loop = false;
    n_ways.insert(start, 1);

    while let Some((location, open)) = stack.last_mut() {
        match open.pop() {
            Some(next) => {
                let ways = n_ways.entry(next).or_insert(0);
                *ways += 1;
                has_loop |= on_path.contains(&next);
                if *ways == 1 {
                    on_path.push(next);
                    stack.push((next, targets(next)));
                }
            }
            None => {
                finished.push(*location);
                on_path.pop();
                stack.pop();
            }
        }
    }

    finished.reverse();
    let counted = finished
        .into_iter()
        .map(|location| (location, n_ways[&location]));
    (counted.collect(), has_loop)
}

/// Is the element an `else`?
pub(super) fn is_else(flow: &Flow, element: usize) -> bool {
    matches!(flow.elements[element].kind, ElementKind::Leaf(Leaf::Else))
}
