//! What names stand for.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::{
    BoundId, ChannelId, EnumId, EventId, Expr, LocationId, Place, ProcessId, RecordId, Type, VarId,
};
use rustc_hash::FxHashMap;

use super::Lowerer;
use crate::ast::{Decl, Def, File, Ident};

/// The type of a value that fits into one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Ty {
    Bool,
    #[default]
    Int,
    Enum(EnumId),
}

impl Ty {
    /// The enumeration that the type is, if it is one.
    pub(super) fn enumeration(self) -> Option<EnumId> {
        match self {
            Self::Enum(id) => Some(id),
            Self::Bool | Self::Int => None,
        }
    }
}

/// What an expression denotes.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A value that fits into one cell.
    Scalar(Expr, Ty),
    /// A variable, or a part of one, that consists of several cells.
    Composite(Place, Type),
    /// The values of several cells that are not those of a variable.
    Cells(Vec<Expr>, Type),
}

/// A name declared outside processes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Global<'a> {
    Const(i64, Ty),
    /// The parameter of a template.
    Parameter(BoundId),
    Enum(EnumId),
    Record(RecordId),
    Var(VarId),
    Def(&'a Def),
    Chan(ChannelId),
    /// A channel that is a variable.
    Buffer(usize),
    Event(EventId),
    Process(ProcessId),
    /// Its declaration is wrong, which has been reported.
    Broken,
}

impl Global<'_> {
    /// What it is, for messages.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Const(..) => "a constant",
            Self::Parameter(_) => "a parameter",
            Self::Enum(_) => "an enumeration",
            Self::Record(_) => "a record type",
            Self::Var(_) => "a variable",
            Self::Def(_) => "a definition",
            Self::Chan(_) | Self::Buffer(_) => "a channel",
            Self::Event(_) => "an event",
            Self::Process(_) => "a process",
            Self::Broken => "something wrong",
        }
    }
}

/// A name declared in a process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Local<'a> {
    Var(VarId),
    Def(&'a Def),
}

/// What is known of the actions of a process with one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActionInfo {
    pub(super) n_parameters: usize,
    /// Does a step with this name take part in an event?
    pub(super) in_event: bool,
    pub(super) span: Span,
}

/// What a process declares.
#[derive(Debug, Default)]
pub(super) struct ProcessInfo<'a> {
    pub(super) locals: FxHashMap<&'a str, (Local<'a>, Span)>,
    pub(super) actions: BTreeMap<&'a str, ActionInfo>,
    /// Where the process can be.
    pub(super) locations: FxHashMap<&'a str, LocationId>,
    /// The bindings of its indices.
    pub(super) indices: Vec<Binding>,
    /// The types of its indices.
    pub(super) index_types: Vec<Ty>,
    /// The variable that says whether it has been created, if that has to happen first.
    pub(super) created: Option<VarId>,
}

/// A bound name.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    /// The address of the name in the tree, where it is bound.
    pub(super) origin: usize,
    pub(super) value: Value,
    /// How the value is written in the names of atoms, if not by its name.
    pub(super) text: Option<String>,
    /// How deep and how large the value is.
    pub(super) size: (usize, usize),
}

impl Binding {
    /// A name that stands for a bound variable of the model.
    pub(super) fn bound(name: &str, bound: BoundId, ty: Ty) -> Self {
        Self {
            name: name.to_owned(),
            origin: name.as_ptr().addr(),
            value: Value::Scalar(Expr::Bound(bound), ty),
            text: None,
            size: (1, 1),
        }
    }

    /// Does the name stand for one value?
    pub(super) fn is_constant(&self) -> bool {
        match &self.value {
            Value::Scalar(expr, _) => expr.as_literal().is_some(),
            Value::Composite(..) | Value::Cells(..) => false,
        }
    }
}

/// How the index of a family is written: `[i]`, or `[i][j]` if there are two.
pub(super) fn index_pattern(process: &model::Process) -> String {
    let n_indices = process.dimensions.len().max(1);
    let letters = ["i", "j", "k"].into_iter().chain(std::iter::repeat("…"));
    let letters = letters.take(n_indices);
    letters.map(|letter| format!("[{letter}]")).collect()
}

/// A name without the names of imports before it.
pub(super) fn bare(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, name)| name)
}

/// The names of all constants, variables, definitions, channels, events and processes.
pub(super) fn all_names(file: &File) -> FxHashMap<&str, Span> {
    let idents = file.decls.iter().flat_map(|decl| match decl {
        Decl::Const { name, .. }
        | Decl::Param { name }
        | Decl::DataParam { name, .. }
        | Decl::Event { name, .. } => std::slice::from_ref(name),
        Decl::Var(decl) => &decl.names,
        Decl::Def(def) => std::slice::from_ref(&def.name),
        Decl::Chan(decl) => std::slice::from_ref(&decl.name),
        Decl::Process(decl) => std::slice::from_ref(&decl.name),
        _ => &[],
    });
    let timers = file.decls.iter().filter_map(|decl| match decl {
        Decl::Timer(decl) => Some(decl.vars.iter().flat_map(|var| &var.names)),
        _ => None,
    });
    let idents = idents.chain(timers.flatten());
    let entries = idents.map(|name| (name.text.as_str(), name.span));
    entries.collect()
}

impl<'a> Lowerer<'a> {
    /// Declares a name outside processes; a second declaration is reported and ignored.
    pub(super) fn declare_global(&mut self, name: &'a Ident, global: Global<'a>) {
        let previous = self.globals.get(name.text.as_str()).map(|entry| entry.1);
        let variant_of = self.variants.get(name.text.as_str());
        if let Some(first) = previous {
            self.report_duplicate(name, first);
        } else if variant_of.is_some() {
            let message = format!("`{}` is already a value of an enumeration", name.text);
            self.report(Diagnostic::error("duplicate", name.span, message));
        } else {
            self.later.remove(name.text.as_str());
            self.globals.insert(&name.text, (global, name.span));
        }
    }

    pub(super) fn report_duplicate(&mut self, name: &Ident, first: Span) {
        let message = format!("`{}` is declared twice", name.text);
        let diagnostic =
            Diagnostic::error("duplicate", name.span, message).label(first, "first declared here");
        self.report(diagnostic);
    }

    /// The innermost bound variable with this name.
    pub(super) fn binding(&self, name: &str) -> Option<&Binding> {
        let visible = &self.scope[self.floor..];
        let binding = visible.iter().rev().find(|binding| binding.name == name)?;
        self.resolution.found_at(name, binding.origin);
        Some(binding)
    }

    pub(super) fn local(&self, name: &str) -> Option<Local<'a>> {
        let info = &self.processes[self.process?.index()];
        let (declared, (local, _)) = info.locals.get_key_value(name)?;
        self.resolution.found(name, declared);
        Some(*local)
    }

    pub(super) fn global(&self, name: &str) -> Option<Global<'a>> {
        let (declared, (global, _)) = self.globals.get_key_value(name)?;
        if !self.sees(name, declared.as_ptr().addr()) {
            return None;
        }
        self.resolution.found(name, declared);
        Some(*global)
    }

    /// The values of enumerations with this name.
    pub(super) fn variants_named(&self, name: &str) -> Option<&[(EnumId, u32)]> {
        let variants = self.variants.get(name)?;
        let is_seen = |&(id, number): &(EnumId, u32)| {
            let address = self.resolution.variant_address(id, number);
            address.is_none_or(|declared| self.sees(name, declared))
        };
        variants.iter().any(is_seen).then_some(variants)
    }

    /// Can the text that a name is written in use what is declared at this address? A text sees its own
    /// names and those of the files that it imports without a name.
    fn sees(&self, name: &str, declared: usize) -> bool {
        let written = |address| Some(self.written.get(&address)?.source);
        let (Some(used), Some(declared)) = (written(name.as_ptr().addr()), written(declared))
        else {
            return true;
        };
        let sees = self.seen.get(&used);
        used == declared || name.contains('.') || sees.is_none_or(|sees| sees.contains(&declared))
    }

    /// Reports a name that is not known here, with the likeliest name that is.
    pub(super) fn report_unknown(&mut self, name: &str, span: Span) {
        if let Some(first) = self.later.get(name).copied() {
            let message = format!("`{name}` cannot be used here");
            let diagnostic = Diagnostic::error("used-too-early", span, message)
                .label(first, "declared here")
                .help(
                    "constants and types are worked out first, and see only constants above them",
                );
            return self.report(diagnostic);
        }

        let bound = self.scope[self.floor..].iter().map(|b| b.name.as_str());
        let locals = self
            .process
            .map(|process| &self.processes[process.index()].locals);
        let locals = locals.into_iter().flat_map(|locals| locals.keys().copied());
        let globals = self.globals.keys().copied();
        let variants = self.variants.keys().copied();
        let mut known: Vec<&str> = bound.chain(locals).chain(globals).chain(variants).collect();
        known.sort_unstable();

        if !self.unknown.insert(name.to_owned()) {
            // Saying it once for each name is enough.
            return;
        }
        // All names of one letter are close to each other.
        let is_long = name.chars().nth(1).is_some();
        let mut diagnostic =
            Diagnostic::error("unknown-name", span, format!("`{name}` is not declared"));
        if let Some(&(_, declared)) = self.globals.get(name) {
            let text = "declared here, in a file that is not imported there";
            diagnostic = diagnostic.label(declared, text);
        } else if let Some(process) = self.process_with_location(name) {
            let help = format!("`{name}` is a location; write `{process} @ {name}`");
            diagnostic = diagnostic.help(help);
        } else if let Some(meant) = base::closest_name(name, known).filter(|_| is_long) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }

        self.report(diagnostic);
    }

    fn process_with_location(&self, name: &str) -> Option<String> {
        let has = |p: &&model::Process| p.locations.iter().any(|location| location == name);
        let process = self.parts.processes.iter().find(has)?;
        Some(match process.index {
            Some(_) => format!("{}{}", process.name, index_pattern(process)),
            None => process.name.clone(),
        })
    }

    /// How a type is called in messages.
    pub(super) fn ty_name(&self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "a Boolean".to_owned(),
            Ty::Int => "an integer".to_owned(),
            Ty::Enum(id) => format!("a value of `{}`", self.parts.enums[id.index()].name),
        }
    }
}
