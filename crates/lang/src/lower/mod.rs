//! From what was parsed to a model: names, constants, types, processes, properties.
//!
//! Declarations are looked at in an order in which everything is known that is needed: constants
//! and types first, then what is declared, then expressions. Expressions are checked while they
//! are translated. A function that returns `None` has reported why.

mod access;
mod assume;
mod buffers;
mod built;
mod constants;
mod data;
mod domains;
mod effect;
mod elements;
mod expr;
mod formula;
mod fresh;
mod functions;
mod members;
mod names;
mod open;
mod process;
mod resolution;
mod room;
mod spawn;
mod steps;
mod system;
mod text;
mod timer;
mod types;
mod unbounded;
mod unused;
mod updates;
mod values;
mod view;

use base::{Diagnostic, Source, Span};
use logic::{CtlStar, CtlStarBuilder, Ltl, NamedProperty, NoStateFormula, Property};
use model::{
    AnnotationKind, AtomMeaning, BoundId, Composition, Model, ModelParts, ProcessId, Scope,
    Template,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Observed, Options, Picture};

use crate::ast::{Decl, Def, Expr, File, Ident, PropertyBody, PropertyDecl};
use names::{Binding, Global, ProcessInfo};
pub(crate) use open::{OpenParts, is_family_size};
use resolution::Resolution;
pub(crate) use resolution::Resolved;
pub(crate) use room::LARGER_ROOMS;

/// How deep expressions may be nested once definitions are expanded.
const MAX_DEPTH: usize = 300;

/// How many parts all expressions may have once definitions are expanded.
const MAX_NODES: usize = 4_000_000;

/// How many values a range may have over which something is repeated.
const MAX_EXPANSION: i64 = 1_000_000;

/// Everything that is known while a model is being translated.
struct Lowerer<'a> {
    parts: ModelParts,
    diagnostics: &'a mut Vec<Diagnostic>,
    globals: FxHashMap<&'a str, (Global<'a>, Span)>,
    /// Names declared outside processes that are not in `globals` yet.
    later: FxHashMap<&'a str, Span>,
    /// The values of enumerations by their bare names.
    variants: FxHashMap<&'a str, Vec<(model::EnumId, u32)>>,
    event_types: Vec<Vec<model::Scalar>>,
    /// The types of the components of messages, by channel.
    channel_types: Vec<Vec<model::Type>>,
    /// The names of channels that are variables, and these channels.
    buffered: FxHashSet<&'a str>,
    buffers: Vec<buffers::Buffer>,
    processes: Vec<ProcessInfo<'a>>,
    /// Bound names, innermost last; only those from `floor` on are visible.
    scope: Vec<Binding>,
    floor: usize,
    /// The process in whose text we are.
    process: Option<ProcessId>,
    /// The definitions being expanded, and where they are used.
    expanding: Vec<(&'a Def, Span)>,
    depth: usize,
    n_nodes: usize,
    overflowed: bool,
    /// Which actions are annotated already, and how.
    annotated: FxHashSet<(ProcessId, &'a str, AnnotationKind)>,
    atoms_by_meaning: FxHashMap<String, base::AtomId>,
    /// Which definitions (by address) are formulas rather than expressions of the state.
    temporal_definitions: FxHashMap<usize, bool>,
    /// For propositions that depend on an abstract timer, those that they and their negations
    /// become.
    contracted: FxHashMap<base::AtomId, (base::AtomId, base::AtomId)>,
    /// The options that make timers abstract, and whether a timer has such a name.
    abstract_timers: Vec<(&'a str, &'a str, bool)>,
    /// The quantified formulas of the formula that is being translated.
    state_formulas: CtlStarBuilder,
    /// The parameter, if it is without value.
    open: open::Open,
    /// Parameters without value that are data.
    data_parameters: Vec<model::VarId>,
    /// The sequences and bags without a bound, and how many elements are provided for.
    without_bound: Vec<model::RecordId>,
    room: usize,
    /// Is the value that is being translated stored or sent?
    is_stored: bool,
    /// Which variables are read and written.
    uses: unused::Uses,
    /// Where the step that is being translated creates a process.
    creates: Option<Span>,
    /// Where names are written, by the addresses of their texts.
    written: &'a FxHashMap<usize, Span>,
    /// The texts whose names can be used in a text, besides its own.
    seen: &'a FxHashMap<base::SourceId, FxHashSet<base::SourceId>>,
    /// Names that have been reported as unknown.
    unknown: FxHashSet<String>,
    /// What names were found to mean.
    resolution: Resolution,
    /// The picture of the state.
    picture: Option<Picture>,
    /// Expressions whose values are wanted.
    values: Vec<Observed>,
}

/// A file, and the formulas of the options.
pub(crate) struct Texts<'a> {
    pub(crate) file: &'a File,
    pub(crate) formulas: &'a [Expr],
    pub(crate) options: &'a Options,
    pub(crate) sources: &'a [Source],
}

/// Properties, each with the names that its formula can use.
type ScopedProperties = Vec<(NamedProperty, Scope)>;

/// A model, with the picture of its states if it has one, and expressions whose values are wanted.
type PicturedModel = (Model, Option<Picture>, Vec<Observed>);

/// Translates texts to a model with its picture.
pub(crate) fn lower(
    texts: &Texts<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<PicturedModel>, ScopedProperties) {
    let (lowerer, properties) = lower_parts(texts, open::Open::default(), diagnostics);
    let failed = lowerer.has_errors();

    let Lowerer {
        parts,
        diagnostics,
        picture,
        values,
        ..
    } = lowerer;

    if failed {
        return (None, properties);
    }
    match parts.finish() {
        Ok(model) => (Some((model, picture, values)), properties),
        Err(error) => {
            diagnostics.push(Diagnostic::error("model", error.span, error.message));
            (None, properties)
        }
    }
}

/// Translates texts to a template, if their parameter is without value.
pub(crate) fn lower_template(
    texts: &Texts<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<Template>, ScopedProperties) {
    let (lowerer, questions) = lower_parts(texts, open::Open::free(), diagnostics);
    let failed = lowerer.has_errors();
    let Lowerer { parts, open, .. } = lowerer;
    (open.template(parts).filter(|_| !failed), questions)
}

/// Translates texts to parts in which several parameters are without value.
pub(crate) fn lower_open(
    texts: &Texts<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<OpenParts>, ScopedProperties) {
    let (lowerer, questions) = lower_parts(texts, open::Open::several(), diagnostics);
    let failed = lowerer.has_errors();
    let Lowerer { parts, open, .. } = lowerer;
    let parts = open.parts_with_parameters(parts);
    ((!failed).then_some(parts), questions)
}

/// How many parameters of a text have no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FreeParameters {
    /// None that the number of processes depends on.
    None,
    /// One, which says how many processes there are.
    One,
    /// Several, one of which says how many processes there are.
    Several,
}

/// Translates as much as possible of texts, to know what their names mean. What the model itself
/// says against it is reported, unless something else is wrong.
pub(crate) fn resolve(
    texts: &Texts<'_>,
    free: FreeParameters,
    diagnostics: &mut Vec<Diagnostic>,
) -> Resolved {
    let open = match free {
        FreeParameters::None => open::Open::default(),
        FreeParameters::One => open::Open::free(),
        FreeParameters::Several => open::Open::several(),
    };

    let (lowerer, _) = lower_parts(texts, open, diagnostics);
    let resolved = lowerer.resolved();

    // Without its parameters the model is not complete, so that `finish` would complain.
    if free == FreeParameters::None && !lowerer.has_errors() {
        let Lowerer {
            parts, diagnostics, ..
        } = lowerer;
        if let Err(error) = parts.finish() {
            diagnostics.push(Diagnostic::error("model", error.span, error.message));
        }
    }
    resolved
}

fn lower_parts<'a>(
    texts: &Texts<'a>,
    open: open::Open,
    diagnostics: &'a mut Vec<Diagnostic>,
) -> (Lowerer<'a>, ScopedProperties) {
    let Texts {
        file,
        formulas,
        options,
        sources,
    } = *texts;

    let mut lowerer = Lowerer {
        parts: ModelParts::default(),
        diagnostics,
        globals: FxHashMap::default(),
        later: names::all_names(file),
        variants: FxHashMap::default(),
        event_types: Vec::new(),
        channel_types: Vec::new(),
        buffered: buffers::names(file),
        buffers: Vec::new(),
        processes: Vec::new(),
        scope: Vec::new(),
        floor: 0,
        process: None,
        expanding: Vec::new(),
        depth: 0,
        n_nodes: 0,
        overflowed: false,
        annotated: FxHashSet::default(),
        atoms_by_meaning: FxHashMap::default(),
        temporal_definitions: FxHashMap::default(),
        contracted: FxHashMap::default(),
        abstract_timers: options
            .abstract_timers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str(), false))
            .collect(),
        state_formulas: CtlStarBuilder::default(),
        open,
        data_parameters: Vec::new(),
        without_bound: Vec::new(),
        room: room::room_of(options.pool),
        is_stored: false,
        uses: unused::Uses::default(),
        creates: None,
        written: &file.written,
        seen: &file.sees,
        unknown: FxHashSet::default(),
        resolution: Resolution::default(),
        picture: None,
        values: Vec::new(),
    };

    lowerer.declare(file, options);
    lowerer.define(file);
    lowerer.view(file);
    let mut properties = lowerer.properties(file, sources);

    // The formulas of the call were parsed in this order: LTL, CTL*, assumptions, values.
    let (ltl, others) = formulas.split_at(options.ltl.len().min(formulas.len()));
    let (ctl, others) = others.split_at(options.ctl.len().min(others.len()));
    let (assume, values) = others.split_at(options.assume.len().min(others.len()));

    for ((name, text), formula) in options.ltl.iter().zip(ltl) {
        let name = Ident {
            text: name.clone(),
            span: formula.span,
        };
        let holds = |lowerer: &mut Lowerer<'a>| lowerer.holds(&name, text.trim(), formula);
        properties.extend(lowerer.scoped(file, &name.text, holds));
    }

    let of_systems = lowerer.systems(file, sources);
    for ((name, text), formula) in options.ctl.iter().zip(ctl) {
        let name = Ident {
            text: name.clone(),
            span: formula.span,
        };
        let property = lowerer.state_formula_property(&name, text.trim(), formula, file);
        let mut scope = Scope::default();
        lowerer.hints(file, &name.text, &mut scope);
        properties.extend(property.map(|property| (property, scope)));
    }

    properties.extend(
        of_systems
            .into_iter()
            .map(|property| (property, Scope::default())),
    );
    for formula in assume {
        lowerer.assume(formula);
    }
    for expr in values {
        let observed = lowerer.observed(expr);
        lowerer.values.extend(observed);
    }
    if !lowerer.has_errors() {
        lowerer.warn_about_unused(file);
    }
    (lowerer, properties)
}

/// What is written at a span, in one line.
fn text_of(span: Span, sources: &[Source]) -> String {
    let text = &sources[span.source.index()].text;
    let range = span.start as usize..span.end as usize;
    let words: Vec<&str> = text.get(range).unwrap_or("").split_whitespace().collect();
    words.join(" ")
}

impl<'a> Lowerer<'a> {
    /// Names, constants, types, variables, channels, events, and what processes consist of.
    fn declare(&mut self, file: &'a File, options: &Options) {
        self.declare_constants_and_types(file, options);
        for decl in &file.decls {
            match decl {
                Decl::Var(decl) => self.variables(decl, None),
                Decl::Timer(decl) => self.timers(decl, None),
                Decl::Chan(decl) => self.channel(decl),
                Decl::Event { name, arguments } => self.event(name, arguments),
                Decl::Def(def) => self.declare_global(&def.name, Global::Def(def)),
                Decl::Process(decl) => self.process_header(decl),
                Decl::Synchronous => self.parts.composition = Composition::Synchronous,
                Decl::Fairness(fairness, span) => self.whole_fairness(*fairness, *span),
                _ => {}
            }
        }
        self.clock();
    }

    fn whole_fairness(&mut self, fairness: base::Fairness, span: Span) {
        if self.parts.fairness.replace(fairness).is_some() {
            let message = "the fairness of the model has been declared before";
            self.report(Diagnostic::error("duplicate", span, message));
        }
    }

    /// Initial values, constraints, definitions, steps and assumptions.
    fn define(&mut self, file: &'a File) {
        let mut process = 0;
        for decl in &file.decls {
            match decl {
                Decl::Init(expr) => {
                    if let Some(expr) = self.bool_expr(expr) {
                        self.parts.init.push(expr);
                    }
                }
                Decl::Def(def) => self.check_definition(def),
                Decl::Process(decl) => {
                    self.steps_of(decl, ProcessId::new(process));
                    process += 1;
                }
                _ => {}
            }
        }

        for decl in &file.decls {
            match decl {
                Decl::Assume(formula) => self.assume(formula),
                Decl::Interference(by, with) => {
                    let patterns = (self.step_pattern(by), self.step_pattern(with));
                    if let (Some(by), Some(with)) = patterns {
                        self.parts.interferences.push((by, with));
                    }
                }
                _ => {}
            }
        }
    }

    /// A question with what it pulls out and what the author says about its abstraction.
    fn scoped(
        &mut self,
        file: &'a File,
        name: &str,
        translate: impl FnOnce(&mut Self) -> Option<NamedProperty>,
    ) -> Option<(NamedProperty, Scope)> {
        let (property, mut scope) = self.question(translate);
        self.hints(file, name, &mut scope);
        property.map(|property| (property, scope))
    }

    fn properties(&mut self, file: &'a File, sources: &[Source]) -> ScopedProperties {
        let mut names: FxHashMap<&str, Span> = FxHashMap::default();
        let mut properties = Vec::new();
        self.check_blocks(file);
        for decl in &file.decls {
            let Decl::Property(decl) = decl else {
                continue;
            };
            if let Some(first) = names.insert(&decl.name.text, decl.name.span) {
                self.report_duplicate(&decl.name, first);
            }
            let name = &decl.name.text;
            properties.extend(self.scoped(file, name, |lowerer| lowerer.property(decl, sources)));
        }
        properties
    }

    fn property(&mut self, decl: &'a PropertyDecl, sources: &[Source]) -> Option<NamedProperty> {
        let source_text = |expr: &Expr| text_of(expr.span, sources);
        let (property, text) = match &decl.question {
            PropertyBody::Holds(formula) => {
                let text = source_text(formula);
                let mut property = self.holds(&decl.name, &text, formula)?;
                property.fairness = decl.fairness;
                return Some(property);
            }
            PropertyBody::Invariant(formula) => {
                let inner = self.proposition(formula)?;
                (
                    Property::Invariant(self.contract(&inner)),
                    source_text(formula),
                )
            }
            PropertyBody::Reachable(formula) => {
                self.open.forbid_pulling();
                let inner = self.proposition(formula)?;
                // It fails only where no state that is described can satisfy it.
                let inner = if self.is_contracted(&inner) {
                    self.contract(&inner.negate()).negate()
                } else {
                    inner
                };
                (Property::Reachable(inner), source_text(formula))
            }
            PropertyBody::ProperEnds(formula) => {
                let inner = self.proposition(formula)?;
                let property = Property::Invariant(self.contract(&inner));
                (property, "deadlockfree".to_owned())
            }
            PropertyBody::DeadlockFree => (Property::DeadlockFree, "deadlockfree".to_owned()),
        };

        Some(NamedProperty {
            name: decl.name.text.clone(),
            text,
            property,
            fairness: decl.fairness,
            span: decl.name.span,
        })
    }

    fn holds(&mut self, name: &Ident, text: &str, formula: &'a Expr) -> Option<NamedProperty> {
        let (lowered, quantified) = self.formula_with_paths(formula)?;
        if quantified.is_used() {
            if !self.contracted.is_empty() {
                self.report_inexact(formula.span, "a formula with path quantifiers");
                return None;
            }
            return self.state_property(name, text, quantified.finish(lowered), formula.span);
        }

        let lowered = formula::merge_invariants(self.contract(&lowered));
        if lowered.depth() > logic::MAX_DEPTH {
            let message = "the formula is nested too deeply";
            self.report(Diagnostic::error("too-deep", formula.span, message));
            return None;
        }

        Some(NamedProperty {
            name: name.text.clone(),
            text: text.to_owned(),
            property: logic::classify(lowered),
            fairness: None,
            span: name.span,
        })
    }

    /// A formula over atoms and the quantified formulas in it.
    fn formula_with_paths(&mut self, formula: &'a Expr) -> Option<(Ltl, CtlStarBuilder)> {
        self.state_formulas = CtlStarBuilder::default();
        let lowered = self.formula(formula)?;
        Some((lowered, std::mem::take(&mut self.state_formulas)))
    }

    /// A property about all initial states.
    fn state_property(
        &mut self,
        name: &Ident,
        text: &str,
        formula: Result<CtlStar, NoStateFormula>,
        span: Span,
    ) -> Option<NamedProperty> {
        let formula = self.checked_state_formula(formula, span)?;
        Some(NamedProperty {
            name: name.text.clone(),
            text: text.to_owned(),
            property: logic::classify_state_formula(formula),
            fairness: None,
            span: name.span,
        })
    }

    fn checked_state_formula(
        &mut self,
        formula: Result<CtlStar, NoStateFormula>,
        span: Span,
    ) -> Option<CtlStar> {
        let diagnostic = match formula {
            Ok(formula) => return Some(formula),
            Err(NoStateFormula::OuterTemporalOperator) => {
                let message = "a temporal operator stands outside the path quantifiers";
                Diagnostic::error("no-state-formula", span, message)
                    .help("write `A(…)` for all fair runs or `E(…)` for some fair run around it")
            }
            Err(NoStateFormula::TooLarge) => {
                Diagnostic::error("too-large", span, "the formula is too large")
            }
        };
        self.report(diagnostic);
        None
    }

    /// A formula of `--ctl`. It is about the processes or, if there are none, about the first
    /// may/must system.
    fn state_formula_property(
        &mut self,
        name: &Ident,
        text: &str,
        formula: &'a Expr,
        file: &File,
    ) -> Option<NamedProperty> {
        let has_processes = !self.parts.processes.is_empty();
        let mut decls = file.decls.iter();
        let system = decls.find_map(|decl| match decl {
            Decl::System(system) if !has_processes => Some(system),
            _ => None,
        });
        if let Some(system) = system {
            return self.system_formula(system, 0, name, text, (None, formula));
        }
        let (lowered, quantified) = self.formula_with_paths(formula)?;
        self.state_property(name, text, quantified.finish(lowered), formula.span)
    }

    /// Reports path quantifiers where only linear formulas can stand.
    fn linear_formula(&mut self, expr: &'a Expr) -> Option<Ltl> {
        let (formula, quantified) = self.formula_with_paths(expr)?;
        if !quantified.is_used() {
            return Some(formula);
        }
        let message = "path quantifiers cannot stand here";
        self.report(
            Diagnostic::error("path-quantifier", expr.span, message)
                .help("write `property name: formula` for a formula with path quantifiers"),
        );
        None
    }

    /// A formula without temporal operators.
    fn proposition(&mut self, expr: &'a Expr) -> Option<Ltl> {
        let formula = self.linear_formula(expr)?;
        if formula.is_propositional() {
            return Some(formula);
        }
        let message = "temporal operators cannot stand here";
        self.report(
            Diagnostic::error("temporal-operator", expr.span, message)
                .help("write `property name: formula` for a temporal formula"),
        );
        None
    }

    fn has_errors(&self) -> bool {
        let is_error = |d: &Diagnostic| d.severity == base::Severity::Error;
        self.diagnostics.iter().any(is_error)
    }

    /// Reports, saying also which uses of definitions led here.
    fn report(&mut self, mut diagnostic: Diagnostic) {
        for (def, span) in self.expanding.iter().rev().take(3) {
            let text = format!("in this use of `{}`", def.name.text);
            diagnostic = diagnostic.label(*span, text);
        }
        self.diagnostics.push(diagnostic);
    }

    fn fresh_bound(&mut self, name: &str) -> BoundId {
        self.resolution.bound(name);
        self.parts.bounds.push(name.to_owned());
        BoundId::new(self.parts.bounds.len() - 1)
    }

    /// The atom with this meaning; a new one unless there is one.
    fn atom(&mut self, name: String, meaning: AtomMeaning, span: Span) -> base::AtomId {
        let key = fresh::canonical_text(&meaning);
        if let Some(atom) = self.atoms_by_meaning.get(&key) {
            return *atom;
        }
        let atom = base::AtomId::new(self.parts.atoms.len());
        self.parts.atoms.push(model::Atom {
            name,
            meaning,
            span,
        });
        self.atoms_by_meaning.insert(key, atom);
        atom
    }

    /// Counts one part of an expression; `None` if there are too many or it is too deep.
    fn spend(&mut self, n_nodes: usize, depth: usize, span: Span) -> Option<()> {
        self.n_nodes += n_nodes;
        let message = if self.n_nodes > MAX_NODES {
            "the model becomes too large when definitions and ranges are expanded"
        } else if self.depth + depth > MAX_DEPTH {
            "the expression becomes too deep when definitions are expanded"
        } else {
            return Some(());
        };
        if !std::mem::replace(&mut self.overflowed, true) {
            self.report(Diagnostic::error("too-large", span, message));
        }
        None
    }
}
