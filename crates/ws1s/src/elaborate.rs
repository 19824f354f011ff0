//! From syntax to formulas: names, types, terms, predicates, restrictions.
//!
//! A restriction (a `where` clause or a default) makes every atom undefined in which its variable
//! occurs with a value that violates it. Undefinedness is strict, so restrictions float up through
//! connectives: a [`Meaning`] is a formula together with the restrictions under which it has a
//! value. They are conjoined where a variable that they mention is quantified, and at the top.
//!
//! A term that is not a variable plus a constant is named by a fresh variable, which is quantified
//! around its atom.
//!
//! Predicates are translated once per call pattern: if the actual parameters of a call are ordered
//! like those of an earlier one, its formula is renamed.

use std::rc::Rc;

use base::{Diagnostic, Span, closest_name};
use rustc_hash::FxHashMap;

use crate::ast::{Declaration, Declared, ExprId, ExprKind, Name, Order, Parameter, Syntax};
use crate::atoms::Atom;
use crate::formula::{Formula, Formulas, Var, VarKind};
use crate::parser::Loader;

mod expressions;
mod globals;
mod predicates;
mod sets;
mod terms;

/// A formula and the restrictions under which it has a value.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    pub(crate) formula: Formula,
    /// Sorted, without repetition; each is a [`Formulas::restrict`].
    pub(crate) restrictions: Vec<Formula>,
}

/// What a name stands for inside an expression.
#[derive(Clone, Debug)]
enum Binding {
    Variable(Variable),
    /// A Boolean parameter that stands for a formula.
    Formula(Meaning),
    Number(i64),
}

#[derive(Clone, Debug)]
struct Variable {
    var: Var,
    restrictions: Vec<Formula>,
    /// Variables that name terms are implicit: defaults do not apply to them.
    implicit: bool,
}

/// A name declared at the top level, with the number of its declaration: earlier declarations
/// cannot see it.
enum Global {
    Variable(Var),
    Number(i64),
    Predicate(Rc<Predicate>),
}

struct Predicate {
    name: Name,
    parameters: Vec<Parameter>,
    body: ExprId,
    declared_at: usize,
}

/// A call that was translated before.
struct Instance {
    actuals: Vec<Actual>,
    meaning: Meaning,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Actual {
    Variable(Var, bool),
    Formula(Formula, Vec<Formula>),
}

/// An automaton to be written to a file.
pub(crate) struct ExportRequest {
    pub(crate) file: String,
    pub(crate) formula: Formula,
    pub(crate) names: Vec<(Var, String)>,
}

/// A program in terms of formulas.
pub(crate) struct Elaborated {
    pub(crate) formulas: Formulas,
    /// Global variables in the order of their declaration.
    pub(crate) globals: Vec<(Var, String)>,
    pub(crate) main: Meaning,
    pub(crate) verify: Vec<(String, Meaning)>,
    /// Holds of all interpretations that count: assertions and restrictions of globals.
    pub(crate) assertion: Vec<Formula>,
    /// The set of all positions (M2L-Str).
    pub(crate) all_positions: Option<Var>,
    /// The last position.
    pub(crate) last_position: Option<Var>,
    pub(crate) exports: Vec<ExportRequest>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// An error was reported; the expression has no meaning.
#[derive(Debug)]
struct Wrong;

type Checked<T> = Result<T, Wrong>;

/// How deeply calls and expressions may nest together.
const MAX_NESTING: usize = 700;

struct Elaborator<'s, 'p, 'l> {
    syntax: &'s Syntax,
    loader: &'p mut Loader<'l>,
    formulas: Formulas,
    globals: FxHashMap<String, (Global, usize)>,
    global_vars: Vec<(Var, String)>,
    /// `where` clauses of globals, not yet translated.
    global_where: FxHashMap<Var, (ExprId, usize)>,
    global_restrictions: FxHashMap<Var, Vec<Formula>>,
    /// Defaults for first-order variables and for sets.
    defaults: [Option<(Name, ExprId, usize)>; 2],
    in_default: bool,
    /// The set `$` of M2L-Str.
    all_positions: Option<Var>,
    /// Defined where `$` is an initial segment.
    segment: Option<Formula>,
    /// Variables whose restriction is being translated.
    being_restricted: Vec<Var>,
    /// Local names, innermost last.
    locals: Vec<(String, Binding)>,
    /// Number of the declaration being translated: names declared there or later are unknown.
    now: usize,
    instances: FxHashMap<usize, Vec<Instance>>,
    nesting: usize,
    exports: Vec<ExportRequest>,
    diagnostics: Vec<Diagnostic>,
}

/// Translates a program. The result is meaningful unless there are errors among the diagnostics.
pub(crate) fn elaborate(syntax: &Syntax, loader: &mut Loader<'_>) -> Elaborated {
    let mut formulas = Formulas::new();
    let truth = Meaning {
        formula: formulas.constant(true),
        restrictions: Vec::new(),
    };
    let elaborator = Elaborator {
        syntax,
        loader,
        formulas,
        globals: FxHashMap::default(),
        global_vars: Vec::new(),
        global_where: FxHashMap::default(),
        global_restrictions: FxHashMap::default(),
        defaults: [None, None],
        in_default: false,
        all_positions: None,
        segment: None,
        being_restricted: Vec::new(),
        locals: Vec::new(),
        now: 0,
        instances: FxHashMap::default(),
        nesting: 0,
        exports: Vec::new(),
        diagnostics: Vec::new(),
    };

    elaborator.program(truth)
}

fn kind_of(order: Order) -> VarKind {
    match order {
        Order::Zero => VarKind::Bool,
        Order::First => VarKind::First,
        Order::Second => VarKind::Set,
    }
}

/// Joins sorted lists of restrictions.
fn join(lists: &[&[Formula]]) -> Vec<Formula> {
    let mut all = lists.concat();
    all.sort_unstable();
    all.dedup();
    all
}

impl Elaborator<'_, '_, '_> {
    fn error<T>(&mut self, code: &'static str, span: Span, message: String) -> Checked<T> {
        self.report(Diagnostic::error(code, span, message));
        Err(Wrong)
    }

    /// The same place may be translated several times; its errors are told once.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn unknown_name<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        let mut known: Vec<&str> = self.globals.keys().map(String::as_str).collect();
        known.extend(self.locals.iter().map(|(name, _)| name.as_str()));
        known.sort_unstable();
        let mut error =
            Diagnostic::error("unknown-name", span, format!("`{name}` is not declared"));
        if let Some(close) = closest_name(name, known) {
            error = error.help(format!("there is `{close}`"));
        }
        self.report(error);
        Err(Wrong)
    }

    /// What a name stands for; predicates are not values.
    fn lookup(&mut self, name: &str, span: Span) -> Checked<Binding> {
        let local = self.locals.iter().rev().find(|(local, _)| local == name);
        if let Some((_, binding)) = local {
            return Ok(binding.clone());
        }

        match self.globals.get(name) {
            Some((Global::Variable(var), at)) if *at < self.now => {
                let var = *var;
                let restrictions = self.global_restriction(var)?;
                Ok(Binding::Variable(Variable {
                    var,
                    restrictions,
                    implicit: false,
                }))
            }
            Some((Global::Number(number), at)) if *at < self.now => Ok(Binding::Number(*number)),
            Some((Global::Predicate(_), at)) if *at < self.now => {
                let message = format!("`{name}` is a predicate");
                self.error("type", span, message)
            }
            _ => self.unknown_name(name, span),
        }
    }

    /// The formula with its restrictions conjoined.
    fn conjoined(&mut self, meaning: &Meaning) -> Formula {
        let mut all = meaning.restrictions.clone();
        all.push(meaning.formula.clone());
        self.formulas.and(&all)
    }

    /// The restrictions that a `where` formula amounts to.
    fn restrictions_of(&mut self, meaning: &Meaning) -> Vec<Formula> {
        let restriction = self.formulas.restrict(&meaning.formula);
        let mut all = meaning.restrictions.clone();
        if self.formulas.as_constant(&restriction) != Some(true) {
            all.push(restriction);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Translates `expr` with `name` bound to `var`, which is as yet unrestricted.
    fn restriction(&mut self, name: &str, var: Var, expr: ExprId) -> Checked<Vec<Formula>> {
        let binding = Binding::Variable(Variable {
            var,
            restrictions: Vec::new(),
            implicit: false,
        });
        self.locals.push((name.to_owned(), binding));
        let meaning = self.formula(expr);
        self.locals.pop();
        let meaning = meaning?;
        Ok(self.restrictions_of(&meaning))
    }

    /// The default restriction of a variable.
    fn default_restriction(&mut self, var: Var) -> Checked<Vec<Formula>> {
        if let Some(all) = self.all_positions.filter(|_| !self.in_default) {
            return Ok(self.inside_positions(var, all));
        }

        let default = match var.kind() {
            VarKind::Bool => None,
            VarKind::First => self.defaults[0].clone(),
            VarKind::Set => self.defaults[1].clone(),
        };

        let Some((name, expr, at)) = default.filter(|_| !self.in_default) else {
            return Ok(Vec::new());
        };

        // The default was written elsewhere: its names and its time are those of that place.
        let locals = std::mem::take(&mut self.locals);
        let now = std::mem::replace(&mut self.now, at);
        self.in_default = true;
        let restriction = self.restriction(&name.text, var, expr);
        self.in_default = false;
        self.now = now;
        self.locals = locals;

        restriction
    }

    /// The default restriction of M2L-Str. That `$` is an initial segment is said at the top, too;
    /// here it keeps the automata from following what happens for other sets.
    fn inside_positions(&mut self, var: Var, all: Var) -> Vec<Formula> {
        let inside = match var.kind() {
            VarKind::Bool => return Vec::new(),
            VarKind::First => self.formulas.atom(Atom::In(0), &[var, all]),
            VarKind::Set => {
                let table = vec![true, false, true, true];
                let subset = Atom::Pointwise { n_sets: 2, table };
                self.formulas.atom(subset, &[var, all])
            }
        };
        let segment = self.segment.clone().into_iter();
        let parts: Vec<Formula> = segment.chain([inside]).collect();
        let inside = self.formulas.and(&parts);
        vec![self.formulas.restrict(&inside)]
    }

    /// Quantifies `vars`; the restrictions that mention them are used up.
    fn quantify(&mut self, universal: bool, vars: &[Var], body: Meaning) -> Meaning {
        let mentions = |f: &Formula| vars.iter().any(|var| f.vars().binary_search(var).is_ok());
        let (mut used, kept): (Vec<_>, Vec<_>) = body.restrictions.into_iter().partition(mentions);
        let negate = |store: &Formulas, formula| {
            if universal {
                store.not(&formula)
            } else {
                formula
            }
        };
        used.push(negate(&self.formulas, body.formula));
        let conjunction = self.formulas.and(&used);
        let exists = self.formulas.exists(vars, &conjunction);
        Meaning {
            formula: negate(&self.formulas, exists),
            restrictions: kept,
        }
    }

    /// Binds declared variables in order, each visible in the restrictions after it.
    fn bind(&mut self, order: Order, declared: &[Declared]) -> Checked<Vec<Var>> {
        let mut vars = Vec::new();
        for (index, Declared { name, restriction }) in declared.iter().enumerate() {
            let repeated = declared[..index].iter().any(|d| d.name.text == name.text);
            if repeated {
                let message = format!("`{}` is declared twice", name.text);
                return self.error("duplicate", name.span, message);
            }
            let var = self.formulas.var(kind_of(order));
            let restrictions = match restriction {
                Some(expr) => self.restriction(&name.text, var, *expr)?,
                None => self.default_restriction(var)?,
            };
            let binding = Binding::Variable(Variable {
                var,
                restrictions,
                implicit: false,
            });
            self.locals.push((name.text.clone(), binding));
            vars.push(var);
        }

        Ok(vars)
    }

    fn expr(&self, id: ExprId) -> (&ExprKind, Span) {
        let expr = &self.syntax.exprs[id];
        (&expr.kind, expr.span)
    }
}
