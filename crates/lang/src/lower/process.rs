//! What processes consist of, before their steps are looked at.

use base::{Diagnostic, Span};
use model::{BinaryOp, BoundId, Expr, IndexRange, LocationId, Process, ProcessId};

use super::constants::literal;
use super::names::{ActionInfo, Binding, Global, Local, ProcessInfo, Ty, Value};
use super::{Lowerer, fresh};
use crate::ast::{self, Communication, Def, FromBlock, Ident, ProcessDecl, Sources, StepDecl};

/// How many processes a family may have.
const MAX_INSTANCES: i64 = 10_000;

/// The location of a process that declares none.
const ONLY_LOCATION: &str = "main";

/// The indices of a family; all of them empty for a single process.
#[derive(Default)]
struct Indices {
    range: Option<IndexRange>,
    /// The ranges of several indices.
    dimensions: Vec<(i64, i64)>,
    bindings: Vec<Binding>,
}

/// One of several indices, of which `bound` is the number: it changes every `stride` numbers.
fn component(bound: BoundId, (lo, hi): (i64, i64), stride: i64, ty: Ty) -> Expr {
    let mut position = Expr::Bound(bound);
    if stride > 1 {
        position = Expr::binary(BinaryOp::Div, position, Expr::Int(stride));
    }
    position = Expr::binary(BinaryOp::Mod, position, Expr::Int(hi - lo + 1));
    let number = Expr::binary(BinaryOp::Add, position, Expr::Int(lo));
    if ty == Ty::Int {
        return number;
    }

    // Values of other types are not computed.
    let mut value = literal(hi, ty);
    for other in (lo..hi).rev() {
        let is_it = Expr::binary(BinaryOp::Eq, number.clone(), Expr::Int(other));
        value = Expr::Ite(
            Box::new(is_it),
            Box::new(literal(other, ty)),
            Box::new(value),
        );
    }
    value
}

impl<'a> Lowerer<'a> {
    /// Index, locations, local names and action names.
    pub(super) fn process_header(&mut self, decl: &'a ProcessDecl) {
        let id = ProcessId::new(self.parts.processes.len());
        self.declare_global(&decl.name, Global::Process(id));
        let index = self.process_indices(decl);
        let locations = self.locations(decl);
        let ids = locations.iter().enumerate();
        let ids = ids.map(|(position, name)| (*name, LocationId::new(position)));
        let index_types = decl.indices.iter().map(|(_, lo, _)| self.ty_of_domain(lo));
        let index_types = index_types.collect();
        self.processes.push(ProcessInfo {
            index_types,
            locations: ids.collect(),
            indices: index.bindings,
            ..ProcessInfo::default()
        });

        let numbered = self.processes[id.index()].index_types.iter();
        let numbered: Vec<_> = numbered.map(|ty| ty.enumeration()).collect();
        if numbered.iter().any(Option::is_some) {
            self.parts.shown.families.push((id, numbered));
        }

        let locations = locations.into_iter().map(str::to_owned).collect();
        self.parts.processes.push(Process {
            index: index.range,
            dimensions: index.dimensions,
            ..Process::new(&decl.name.text, locations, Vec::new(), decl.span)
        });
        self.initial_locations(decl, id);
        for end in decl.ends.iter().flat_map(|ends| &ends.names) {
            self.location(id, end);
        }

        let bindings = self.processes[id.index()].indices.clone();
        self.scope.extend(bindings);
        for vars in &decl.vars {
            self.variables(vars, Some(id));
        }
        for timers in &decl.timers {
            self.timers(timers, Some(id));
        }
        self.scope.clear();
        if let Some(created) = &decl.spawned {
            self.declare_created(decl, created, id);
        }
        for def in &decl.defs {
            self.declare_local(id, &def.name, Local::Def(def));
        }
        for step in decl.blocks.iter().flat_map(|block| &block.steps) {
            self.declare_action(id, step);
        }
    }

    fn process_indices(&mut self, decl: &'a ProcessDecl) -> Indices {
        match decl.indices.as_slice() {
            [] => Indices::default(),
            [(name, lo, hi)] => {
                let (range, binding) = self.process_index_range(name, lo, hi);
                Indices {
                    range: Some(range),
                    dimensions: Vec::new(),
                    bindings: vec![binding],
                }
            }
            several => self.several_indices(several, decl.span),
        }
    }

    /// Several indices become one that numbers all combinations.
    fn several_indices(
        &mut self,
        indices: &'a [(Ident, ast::Expr, ast::Expr)],
        span: Span,
    ) -> Indices {
        // A wrong range has been reported; one instance serves to check the rest.
        let mut dimensions = Vec::new();
        for (_, lo, hi) in indices {
            let range = self.check_indices(lo);
            let range = range.and_then(|()| self.constant_range(lo, hi, MAX_INSTANCES));
            if let Some((lo_value, hi_value)) = range.filter(|(lo, hi)| lo > hi) {
                let message = format!("the range {lo_value}..{hi_value} is empty");
                let span = lo.span.to(hi.span);
                self.report(Diagnostic::error("empty-range", span, message));
            }
            dimensions.push(range.filter(|(lo, hi)| lo <= hi).unwrap_or((0, 0)));
        }
        let lengths = dimensions.iter().map(|(lo, hi)| hi - lo + 1);
        let n_instances = lengths.fold(1_i64, i64::saturating_mul);
        if n_instances > MAX_INSTANCES {
            let message = format!("{n_instances} processes are too many");
            let help = format!("at most {MAX_INSTANCES} are possible");
            self.report(Diagnostic::error("range-too-large", span, message).help(help));
            dimensions.fill((0, 0));
        }

        let names: Vec<&str> = indices
            .iter()
            .map(|(name, ..)| name.text.as_str())
            .collect();
        let bound = self.fresh_bound(&names.join(", "));
        let n_instances: i64 = dimensions.iter().map(|(lo, hi)| hi - lo + 1).product();
        let mut stride = n_instances;
        let mut bindings = Vec::new();
        for ((name, lo, _), range) in indices.iter().zip(&dimensions) {
            stride /= range.1 - range.0 + 1;
            let ty = self.ty_of_domain(lo);
            let value = component(bound, *range, stride, ty);
            bindings.push(Binding {
                name: name.text.clone(),
                origin: name.text.as_ptr().addr(),
                size: fresh::measure(&value),
                value: Value::Scalar(value, ty),
                text: None,
            });
        }
        Indices {
            range: Some(IndexRange {
                bound,
                lo: 0,
                hi: n_instances - 1,
            }),
            dimensions,
            bindings,
        }
    }

    fn process_index_range(
        &mut self,
        name: &'a Ident,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
    ) -> (IndexRange, Binding) {
        let bound = self.fresh_bound(&name.text);
        let lo_expr = lo;
        let (lo_span, hi_span) = (lo.span, hi.span);
        // A wrong range has been reported; one instance serves to check the rest.
        let range = self.check_indices(lo);
        let range = range.and_then(|()| self.open_range(lo, hi, MAX_INSTANCES));
        let (lo, hi) = range.unwrap_or((0, 0));
        if lo > hi {
            let message = format!("the range {lo}..{hi} is empty");
            self.report(Diagnostic::error(
                "empty-range",
                lo_span.to(hi_span),
                message,
            ));
        }
        let ty = self.ty_of_domain(lo_expr);
        let binding = Binding::bound(&name.text, bound, ty);
        (IndexRange { bound, lo, hi }, binding)
    }

    /// Where the process can be, in order of appearance.
    fn locations(&mut self, decl: &'a ProcessDecl) -> Vec<&'a str> {
        let mut names = Vec::new();
        let sources = decl.blocks.iter().flat_map(|block| match &block.sources {
            Sources::Named(names) => names.as_slice(),
            Sources::All | Sources::Implicit => &[],
        });
        let mut seen = rustc_hash::FxHashSet::default();
        let ends = decl.ends.iter().flat_map(|ends| &ends.names);
        for name in decl.initial.iter().chain(sources).chain(ends) {
            if seen.insert(name.text.as_str()) {
                names.push(name.text.as_str());
            }
        }
        if names.is_empty() {
            return vec![ONLY_LOCATION];
        }

        for block in &decl.blocks {
            if let FromBlock {
                sources: Sources::Implicit,
                steps,
            } = block
            {
                let message = "this step stands outside the `from` blocks of its process";
                self.report(
                    Diagnostic::error("step-outside-from", steps[0].span, message)
                        .help("put it into a `from` block; `from *` starts anywhere"),
                );
            }
        }

        if decl.initial.is_empty() {
            let message = format!("`{}` does not say where it starts", decl.name.text);
            let help = format!("write `init {}`, or another location", names[0]);
            self.report(Diagnostic::error("missing-init", decl.name.span, message).help(help));
        }

        names
    }

    fn initial_locations(&mut self, decl: &'a ProcessDecl, id: ProcessId) {
        let names = decl.initial.iter();
        let mut initial: Vec<_> = names.filter_map(|name| self.location(id, name)).collect();
        initial.dedup();
        if !initial.is_empty() {
            self.parts.processes[id.index()].initial = initial;
        }
    }

    fn declare_action(&mut self, id: ProcessId, step: &'a StepDecl) {
        let name = step.name.text.as_str();
        let n_parameters = step
            .parameters
            .iter()
            .map(|binder| binder.names.len())
            .sum();
        let is_event = |(c, _): &(Communication, _)| matches!(c, Communication::Event(..));
        let in_event = step.communications.iter().any(is_event);
        let info = &mut self.processes[id.index()];
        if let Some(&(_, first)) = info.locals.get(name) {
            self.report_duplicate(&step.name, first);
            return;
        }

        let action = info.actions.entry(name).or_insert(ActionInfo {
            n_parameters,
            in_event,
            span: step.name.span,
        });
        action.in_event |= in_event;

        let (other, first) = (action.n_parameters, action.span);
        if let Some((declared, _)) = info.actions.get_key_value(name) {
            self.resolution.found(name, declared);
        }
        if other != n_parameters {
            let message = format!("`{name}` has {n_parameters} parameter(s) here");
            self.report(
                Diagnostic::error("action-parameters", step.name.span, message)
                    .label(first, format!("but {other} here")),
            );
        }
    }

    /// Checks a definition without parameters even if nothing uses it.
    pub(super) fn check_definition(&mut self, def: &'a Def) {
        if !def.parameters.is_empty() || def.effect.is_some() {
            return;
        }
        if self.is_temporal_definition(def) {
            self.with_arguments(def, &[], def.name.span, |lowerer| {
                lowerer.formula(&def.body)
            });
        } else {
            self.expand(def, &[], def.name.span);
        }
    }
}
