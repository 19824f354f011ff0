//! What is declared and plays no part: a misspelling often shows as a name that is never used.

use base::{Diagnostic, SourceId, Span};
use model::{Initial, ProcessId, Type, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowerer;
use crate::ast::{Decl, File, ProcessDecl, Sources};

/// Which variables are read and written.
#[derive(Debug, Default)]
pub(super) struct Uses {
    n_reads: FxHashMap<VarId, usize>,
    written: FxHashSet<VarId>,
}

impl Uses {
    pub(super) fn read(&mut self, var: VarId) {
        *self.n_reads.entry(var).or_default() += 1;
    }

    /// What was taken for a read is the target of an assignment.
    pub(super) fn turn_into_write(&mut self, var: VarId) {
        if let Some(n_reads) = self.n_reads.get_mut(&var) {
            *n_reads = n_reads.saturating_sub(1);
        }
        self.written.insert(var);
    }

    fn is_read(&self, var: VarId) -> bool {
        self.n_reads.get(&var).is_some_and(|n_reads| *n_reads > 0)
    }
}

impl Lowerer<'_> {
    /// Warns about variables that are never read or never written, and about locations that are
    /// never entered.
    pub(super) fn warn_about_unused(&mut self, file: &File) {
        let timers = self.parts.timers.iter().map(|timer| timer.var);
        let mut known: FxHashSet<VarId> = timers.collect();
        known.extend(&self.data_parameters);
        for var in (0..self.parts.vars.len()).map(VarId::new) {
            if !known.contains(&var) {
                self.warn_about_variable(var);
            }
        }

        let processes = file.decls.iter().filter_map(|decl| match decl {
            Decl::Process(decl) => Some(decl),
            _ => None,
        });
        for (position, decl) in processes.enumerate() {
            self.warn_about_locations(decl, ProcessId::new(position));
        }
    }

    fn warn_about_variable(&mut self, var: VarId) {
        let variable = &self.parts.vars[var.index()];
        // A file may offer more than those use that import it.
        if variable.span.source != SourceId(0) {
            return;
        }

        // What starts with any value is an input, a table has no other way of being written down,
        // and an initial value may depend on who owns the variable.
        let is_constant = match (&variable.ty, &variable.initial) {
            (Type::Scalar(_), Initial::Values(values)) => {
                variable.owner.is_none() && values.iter().all(|value| value.as_literal().is_some())
            }
            (Type::Scalar(_), Initial::Any)
            | (Type::Array(_) | Type::Record(_), Initial::Values(_) | Initial::Any) => false,
        };

        let (is_read, is_written) = (self.uses.is_read(var), self.uses.written.contains(&var));
        let name = &variable.name;
        let (code, message, help) = match (is_read, is_written) {
            (true, false) if is_constant => (
                "never-written",
                format!("`{name}` is never assigned, so it keeps its initial value"),
                Some(format!("declare it as a constant: `const {name} = …`")),
            ),
            (false, true) => (
                "never-read",
                format!("`{name}` is assigned but never read"),
                None,
            ),
            (false, false) => ("never-read", format!("`{name}` is never used"), None),
            (true, _) => return,
        };
        let mut diagnostic = Diagnostic::warning(code, variable.span, message);
        diagnostic.help.extend(help);
        self.report(diagnostic);
    }

    fn warn_about_locations(&mut self, decl: &ProcessDecl, id: ProcessId) {
        let process = &self.parts.processes[id.index()];
        let steps = process.steps.iter();
        let entered: FxHashSet<_> = steps
            .filter(|step| step.source != step.target)
            .map(|step| step.target)
            .chain(process.initial.iter().copied())
            .collect();

        let sources = decl.blocks.iter().flat_map(|block| match &block.sources {
            Sources::Named(names) => names.as_slice(),
            Sources::All | Sources::Implicit => &[],
        });
        let mut seen = FxHashSet::default();
        let mut never: Vec<(Span, String)> = Vec::new();
        let ends = decl.ends.iter().flat_map(|ends| &ends.names);
        for name in sources.chain(ends) {
            let location = self.processes[id.index()].locations.get(name.text.as_str());
            let is_entered = location.is_some_and(|location| entered.contains(location));
            if seen.insert(&name.text) && !is_entered {
                never.push((name.span, name.text.clone()));
            }
        }

        for (span, name) in never {
            let message = format!("no step leads to the location `{name}`");
            self.report(Diagnostic::warning("never-entered", span, message));
        }
    }
}
