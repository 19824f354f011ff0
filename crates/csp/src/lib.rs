//! CSP#, the language of the Process Analysis Toolkit (PAT).
//!
//! [`load`] reads a text and returns one model for each process that its assertions speak of, with
//! what they ask. A process term becomes components that run side by side (`skeleton.rs`), each
//! with its terms as locations (`component.rs`), by the operational semantics in `moves.rs`.
//! `docs/reference/csp.md` says what is understood and how it is read.
//!
//! ```
//! let text = "P = a -> b -> P; #assert P deadlockfree;";
//! let source = base::Source { name: "p.csp".into(), text: text.into() };
//! let no_files = source::Memory::default();
//! let loaded = csp::load(source, &no_files, &source::Options::default());
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.questions[0].property.name, "P deadlockfree");
//! assert_eq!(loaded.systems()[0].model.actions()[0].name, "a");
//! ```

mod alphabet;
mod analysis;
mod arrays;
mod assemble;
mod assertion;
mod ast;
mod channels;
mod component;
mod composition;
mod declared;
mod discovery;
mod functions;
mod handshake;
mod indexed;
mod lexer;
mod library;
mod merged;
mod moves;
mod names;
mod objects;
mod parser;
mod program;
mod ranges;
mod reading;
mod rebuild;
mod scope;
mod settle;
mod skeleton;
mod term;
mod value;

use std::collections::BTreeMap;
use std::path::Path;

use base::{Diagnostic, Severity, Source, SourceId, Span};
use logic::CtlStarBuilder;
use model::{Model, ModelParts};
use source::{
    Analysis, Content, Files, FrontEnd, Loaded, Options, Question, QuestionKind, SymbolKind,
    System, beside,
};

use assertion::Atoms;
use ast::{AssertionClaim, Formula, ProcessUse, Spec};
use component::Limits;
use discovery::Values;
use scope::Scope;
use term::{Arg, Env, Machine, Term, TermId};

/// Locations of a component, unless the caller says otherwise.
const DEFAULT_POOL: usize = 4000;

impl Limits {
    /// Terms can grow without end; the pool bounds how many are made, and with them how deep they
    /// are nested, and how long values of events are looked for.
    fn of_pool(pool: usize) -> Self {
        let pool = if pool == 0 { DEFAULT_POOL } else { pool };
        Self {
            n_locations: pool,
            depth: (pool / 20).clamp(50, 300),
            n_discovered: 2 * pool,
        }
    }
}

impl Machine<'_> {
    /// The term of a process whose arguments are known.
    fn root(&mut self, (process, arguments): &Root) -> TermId {
        let constant = |value: &Option<i64>| Arg::Const(value.unwrap_or(0), scope::Ty::Any);
        let arguments = arguments.iter().map(constant).collect();
        self.term(Term::Call(*process, arguments))
    }
}

/// CSP# as a front end.
#[derive(Clone, Copy, Debug)]
pub struct Csp;

impl FrontEnd for Csp {
    fn name(&self) -> &'static str {
        "CSP#"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csp"]
    }

    fn recognises(&self, text: &str) -> bool {
        text.contains("#assert")
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "Skip",
            "Stop",
            "alphabet",
            "assert",
            "atomic",
            "call",
            "case",
            "channel",
            "deadlockfree",
            "default",
            "define",
            "divergencefree",
            "else",
            "false",
            "hvar",
            "if",
            "ifa",
            "ifb",
            "import",
            "in",
            "interrupt",
            "nonterminating",
            "reaches",
            "refines",
            "true",
            "var",
            "while",
        ]
    }

    /// Numbers of terms.
    fn larger_pools(&self) -> &'static [usize] {
        &[20_000]
    }

    fn accept(&self, options: &Options) -> Result<(), String> {
        if !options.abstract_timers.is_empty() {
            let message = "CSP# models have no timers, so there is nothing for `--abstract-timer`";
            return Err(message.to_owned());
        }
        Ok(())
    }

    fn load(&self, source: Source, files: &dyn Files, options: &Options) -> Loaded {
        load(source, files, options).expecting_by_comments()
    }

    fn analyse(&self, source: Source, files: &dyn Files, options: &Options) -> Analysis {
        analyse(source, files, options)
    }
}

/// Reads a model with its assertions. Included files lie beside it in `files`.
#[must_use]
pub fn load(source: Source, files: &dyn Files, options: &Options) -> Loaded {
    let (reader, spec) = parsed(source, files, options);
    reader.loaded(&spec)
}

/// The tree of a text, and what was said about it.
fn parsed<'o>(source: Source, files: &dyn Files, options: &'o Options) -> (Reader<'o>, Spec) {
    let main = Path::new(&source.name).to_owned();
    let mut read = |name: &str| files.read(&beside(&main, name)).ok();
    let mut reader = Reader {
        options,
        sources: vec![source],
        diagnostics: Vec::new(),
    };
    let spec = reader.parse(&mut read);
    (reader, spec)
}

/// What is known about a text, also if something is wrong with it.
fn analyse(source: Source, files: &dyn Files, options: &Options) -> Analysis {
    let (reader, spec) = parsed(source, files, options);
    // What is wrong is said when the text is loaded.
    let scope = scope::scope(&spec, &options.defines, &mut Vec::new());
    let names = analysis::names(&spec, &scope, &reader.sources, reader.has_errors());
    let loaded = reader.loaded(&spec).expecting_by_comments();

    let mut analysis = Analysis::of_names(names, loaded);
    // A comment beside the first use of an event is about something else.
    let events = analysis.symbols.iter_mut();
    for event in events.filter(|symbol| symbol.kind == SymbolKind::Event) {
        event.documentation.clear();
    }
    analysis
}

/// What a formula of the options is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Ltl,
    Ctl,
    Assumption,
}

impl Role {
    /// What its text is called.
    fn source(self) -> &'static str {
        match self {
            Self::Ltl => "<--ltl>",
            Self::Ctl => "<--ctl>",
            Self::Assumption => "<--assume>",
        }
    }
}

/// A formula of the options.
#[derive(Debug)]
struct Given<'o> {
    role: Role,
    name: &'o str,
    formula: Formula,
    source: SourceId,
}

struct Reader<'o> {
    options: &'o Options,
    sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
}

/// A process with arguments that are known.
type Root = (usize, Vec<Option<i64>>);

impl<'o> Reader<'o> {
    fn loaded(mut self, spec: &Spec) -> Loaded {
        let found = if self.has_errors() {
            None
        } else {
            self.run(spec)
        };
        let found = found.map(|(systems, questions)| (Content::Systems(systems), questions));
        Loaded::new(found, self.sources, self.diagnostics)
    }

    fn run(&mut self, spec: &Spec) -> Option<(Vec<System>, Vec<Question>)> {
        let formulas = self.formulas()?;
        let room = library::room(self.options.pool);
        let spec = &objects::expand(spec, room, &mut self.diagnostics);
        if self.has_errors() {
            return None;
        }
        let scope = scope::scope(spec, &self.options.defines, &mut self.diagnostics);
        declared::check_calls(&scope, &mut self.diagnostics);
        declared::warn_programs(&scope, &mut self.diagnostics);
        if self.has_errors() {
            return None;
        }
        let (roots, uses) = self.roots(spec, &scope)?;
        let mut systems = Vec::new();
        let mut questions: Vec<Option<Question>> = vec![None; uses.len()];
        let mut extra = Vec::new();

        for (position, root) in roots.iter().enumerate() {
            let ranges = ranges::analyse(&scope, std::slice::from_ref(root));
            let asked = Asked {
                spec,
                uses: &uses,
                formulas: if position == 0 { &formulas } else { &[] },
            };
            let system = self.system(position, root, &scope, &ranges, &asked, &mut questions);
            let (system, own) = system?;
            systems.push(system);
            extra.extend(own);
        }

        let mut questions: Vec<Question> = questions.into_iter().flatten().collect();
        questions.extend(extra);
        questions.iter_mut().for_each(|q| q.doubt(&systems));
        number_names(&mut questions);
        Some((systems, questions))
    }

    fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    /// The formulas of the options: properties first, then assumptions.
    fn formulas(&mut self) -> Option<Vec<Given<'o>>> {
        let options = self.options;
        let of = |role| move |(name, text): &'o (String, String)| (role, name.as_str(), text);
        let assume = options
            .assume
            .iter()
            .map(|text| (Role::Assumption, "", text));
        let ltl = options.ltl.iter().map(of(Role::Ltl));
        let ctl = options.ctl.iter().map(of(Role::Ctl));

        let mut formulas = Vec::new();
        for (role, name, text) in ltl.chain(ctl).chain(assume) {
            let source = SourceId::new(self.sources.len());
            self.sources.push(Source {
                name: role.source().to_owned(),
                text: text.clone(),
            });
            let in_ctl = role == Role::Ctl;
            let formula = parser::parse_formula(text, source, in_ctl, &mut self.diagnostics);
            formulas.push(formula.map(|formula| Given {
                role,
                name,
                formula,
                source,
            }));
        }
        formulas.into_iter().collect()
    }

    /// The processes that assertions speak of, and for each assertion its process and, for a
    /// refinement, the other.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn roots(
        &mut self,
        spec: &Spec,
        scope: &Scope,
    ) -> Option<(Vec<Root>, Vec<(usize, Option<usize>)>)> {
        let mut roots: Vec<Root> = Vec::new();
        let mut uses = Vec::new();
        for decl in &spec.assertions {
            let own = self.root(&decl.process, scope, &mut roots);
            let other = match &decl.claim {
                AssertionClaim::Refines(_, other) => Some(self.root(other, scope, &mut roots)?),
                _ => None,
            };
            uses.push((own?, other));
        }

        if roots.is_empty() {
            let named = scope.process_by_name.get("System").copied();
            let is_closed = |process: &usize| scope.processes[*process].parameters.is_empty();
            let last = (0..scope.processes.len()).rev().find(is_closed);
            let Some(process) = named.filter(is_closed).or(last) else {
                let message = "there is no process without parameters that could be run";
                let span = Span::nowhere();
                self.diagnostics
                    .push(Diagnostic::error("no-process", span, message));
                return None;
            };
            roots.push((process, Vec::new()));
        }

        Some((roots, uses))
    }

    fn root(&mut self, used: &ProcessUse, scope: &Scope, roots: &mut Vec<Root>) -> Option<usize> {
        let name = &used.name;
        let mut error = |code, message: String| {
            self.diagnostics
                .push(Diagnostic::error(code, name.span, message));
        };
        let Some(&process) = scope.process_by_name.get(&name.text) else {
            error(
                "unknown-process",
                format!("there is no process `{}`", name.text),
            );
            return None;
        };

        let (wanted, given) = (
            scope.processes[process].parameters.len(),
            used.arguments.len(),
        );
        if wanted != given {
            let message = format!("`{}` takes {wanted} arguments, not {given}", name.text);
            error("wrong-arity", message);
            return None;
        }

        let mut arguments = Vec::new();
        for argument in &used.arguments {
            match scope.constant(argument) {
                Some((value, _)) => arguments.push(Some(value)),
                None => {
                    error("not-constant", "the arguments must be constant".to_owned());
                    return None;
                }
            }
        }

        let root = (process, arguments);
        Some(
            roots
                .iter()
                .position(|known| *known == root)
                .unwrap_or_else(|| {
                    roots.push(root);
                    roots.len() - 1
                }),
        )
    }

    fn system(
        &mut self,
        position: usize,
        root: &Root,
        scope: &Scope,
        ranges: &ranges::Ranges,
        asked: &Asked<'_>,
        questions: &mut [Option<Question>],
    ) -> Option<(System, Vec<Question>)> {
        let (mentioned, is_closed) = self.carried_values(root, scope, ranges, asked);
        let (parts, buffers) = declared::globals(scope, ranges);
        let mut machine = Machine::new(
            scope,
            ranges,
            parts,
            buffers,
            &mut self.diagnostics,
            &self.sources,
        );

        machine.mentioned = mentioned;
        machine.is_closed = is_closed;
        let term = machine.root(root);
        let limits = Limits::of_pool(self.options.pool);
        let name = machine.describe(term, &self.sources, 0);
        let assembled = machine.assemble(term, limits, &self.sources)?;
        machine.doubt_open_values();
        let mut atoms = Atoms {
            machine: &mut machine,
            assembled: &assembled,
            by_name: BTreeMap::new(),
            mentioned: None,
            paths: CtlStarBuilder::default(),
        };

        // An assertion belongs to the system of its process; a refinement also names another.
        for (assertion, (own, other)) in asked.uses.iter().enumerate() {
            if *own == position {
                let decl = &asked.spec.assertions[assertion];
                let text = text_at(decl.span, &self.sources);
                let mut question = atoms.question(decl, position, &text)?;
                if let (Some(specification), AssertionClaim::Refines(refinement, _)) =
                    (other, &decl.claim)
                {
                    question.kind = QuestionKind::Refines {
                        refinement: *refinement,
                        specification: *specification,
                        silent: assemble::SILENT.to_owned(),
                    };
                }
                questions[assertion] = Some(question);
            }
        }

        // Formulas of the call come after the assertions: first properties, then assumptions, which
        // hold for every question of the system.
        let mut extra = Vec::new();
        let mut assumed = None;
        atoms.mentioned = None;
        for given in asked.formulas {
            if given.role == Role::Assumption {
                let assumption = atoms.assumption(&given.formula, true)?;
                atoms.machine.parts.assumptions.push(assumption);
                assumed = assumed.or(atoms.mentioned.take());
            } else {
                extra.push(atoms.extra(given, &self.sources[given.source.index()].text)?);
            }
        }

        let compound = assembled.compound.map(|(name, _)| name);
        let doubts = machine.doubts(assumed);
        let parts = std::mem::take(&mut machine.parts);
        let model = self.finish(parts)?;
        Some((
            System {
                name,
                model,
                compound,
                doubts,
                picture: None,
                values: Vec::new(),
                prints: Vec::new(),
            },
            extra,
        ))
    }

    /// The values that events carry when the system runs, those that are mentioned included, and
    /// whether there are events for which that matters.
    fn carried_values(
        &self,
        root: &Root,
        scope: &Scope,
        ranges: &ranges::Ranges,
        asked: &Asked<'_>,
    ) -> (Values, bool) {
        let mut values = declared::mentioned(asked.spec, asked.formulas, scope);
        let limits = Limits::of_pool(self.options.pool);
        let mut is_closed = false;
        for _ in 0..discovery::MAX_ROUNDS {
            // What is wrong with the text is said when the system is made for good.
            let mut said = Vec::new();
            let (parts, buffers) = declared::globals(scope, ranges);
            let mut machine = Machine::new(scope, ranges, parts, buffers, &mut said, &self.sources);
            machine.mentioned = values.clone();
            machine.is_closed = is_closed;
            let term = machine.root(root);
            let assembled = machine.assemble(term, limits, &self.sources);
            if assembled.is_none() || machine.carried.is_empty() && machine.open.is_empty() {
                return (values, is_closed);
            }
            let has_named = machine.name_open_values(&mut values);
            let carried = std::mem::take(&mut machine.carried);
            let Ok(model) = std::mem::take(&mut machine.parts).finish() else {
                return (values, is_closed);
            };
            let has_grown = discovery::discover(&model, &carried, limits.n_discovered, &mut values);
            if is_closed && !has_grown && !has_named {
                break;
            }
            is_closed = true;
        }
        (values, is_closed)
    }

    fn finish(&mut self, parts: ModelParts) -> Option<Model> {
        if self.has_errors() {
            return None;
        }
        match parts.finish() {
            Ok(model) => Some(model),
            Err(error) => {
                let diagnostic = Diagnostic::error("bad-model", error.span, error.message);
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }
}

/// What is asked of one system.
struct Asked<'s> {
    spec: &'s Spec,
    uses: &'s [(usize, Option<usize>)],
    formulas: &'s [Given<'s>],
}

/// The text at a place, in one line.
pub(crate) fn text_at(span: Span, sources: &[Source]) -> String {
    let text = sources.get(span.source.index());
    let text = text.and_then(|source| source.text.get(span.start as usize..span.end as usize));
    let words: Vec<&str> = text.unwrap_or("?").split_whitespace().collect();
    words.join(" ")
}

/// Makes the names of questions different.
fn number_names(questions: &mut [Question]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for question in questions {
        let n = seen.entry(question.property.name.clone()).or_insert(0);
        *n += 1;
        if *n > 1 {
            question.property.name = format!("{} #{n}", question.property.name);
        }
    }
}

/// An environment without names, for what stands outside of all processes.
pub(crate) fn outside() -> Env {
    Env::new(usize::MAX, Vec::new())
}
