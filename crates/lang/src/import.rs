//! A file with everything that it imports, as one tree.
//!
//! `import "file.fair"` makes the declarations of another file usable by their names; however often a
//! file is imported like this, its declarations exist once. `import "file.fair" as name` makes a copy
//! of its own, whose names are `name.x`, and `with K = 3` gives values to its constants and
//! parameters. What an imported file asks is about that file alone and is left out, and so are its
//! pictures.
//!
//! Declarations of a file stand where it is imported first, so constants that are worked out there see
//! those above.

use std::path::{Component, Path, PathBuf};

use base::{Diagnostic, Source, SourceId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Files, MAX_BYTES, beside};

use crate::ast::{Decl, Expr, File, Ident, ImportDecl};
use crate::parser;

/// How many copies of files a model may consist of.
const MAX_FILES: usize = 1000;

/// Files may import each other to this depth.
const MAX_DEPTH: usize = 64;

/// Reads the first source with everything that it imports. The sources of imported files are added.
pub(crate) fn read(
    files: &dyn Files,
    sources: &mut Vec<Source>,
    said: &mut Vec<Diagnostic>,
) -> File {
    let main = normalised(Path::new(&sources[0].name));
    let mut importer = Importer {
        files,
        ids: FxHashMap::from_iter([(main.clone(), SourceId(0))]),
        chain: vec![main],
        sources,
        said,
        once: FxHashSet::default(),
        prefixes: FxHashSet::default(),
        whole: File::default(),
        n_bytes: 0,
        n_files: 0,
    };

    let aliases = importer.text(SourceId(0), "");
    let mut whole = File {
        aliases,
        ..importer.whole
    };
    parser::complete(&mut whole, said);
    whole
}

struct Importer<'a> {
    files: &'a dyn Files,
    sources: &'a mut Vec<Source>,
    said: &'a mut Vec<Diagnostic>,
    /// The files that have been read.
    ids: FxHashMap<PathBuf, SourceId>,
    /// Those whose declarations exist once, under their own names.
    once: FxHashSet<SourceId>,
    /// What stands before the names of the others.
    prefixes: FxHashSet<String>,
    /// The files that are being read, each imported by the one before.
    chain: Vec<PathBuf>,
    /// Everything so far.
    whole: File,
    n_bytes: usize,
    n_files: usize,
}

impl Importer<'_> {
    /// Adds the declarations of a text; returns the names of its imports.
    fn text(&mut self, id: SourceId, prefix: &str) -> Vec<String> {
        let text = &self.sources[id.index()].text;
        self.n_bytes += text.len();
        self.n_files += 1;
        let parsed = parser::parse_file(text, id, prefix, self.said);
        self.whole.written.extend(parsed.written);
        self.whole.sees.entry(id).or_default();

        for (decl, extent) in parsed.decls.into_iter().zip(parsed.extents) {
            match decl {
                Decl::Import(import) => self.import(id, import, prefix),
                decl if id == SourceId(0) || self.is_importable(&decl, extent) => {
                    self.whole.decls.push(decl);
                    self.whole.extents.push(extent);
                }
                _ => {}
            }
        }
        parsed.aliases
    }

    /// Is the declaration of an imported file a part of the model that imports it?
    fn is_importable(&mut self, decl: &Decl, extent: Span) -> bool {
        let word = match decl {
            Decl::Property(_) | Decl::System(_) | Decl::Abstract(_) | Decl::View(_) => {
                return false;
            }
            Decl::Synchronous => "synchronous",
            Decl::Fairness(..) => "fairness",
            Decl::Import(_)
            | Decl::Const { .. }
            | Decl::Param { .. }
            | Decl::DataParam { .. }
            | Decl::Type { .. }
            | Decl::Enum { .. }
            | Decl::Record { .. }
            | Decl::Var(_)
            | Decl::Timer(_)
            | Decl::Init(_)
            | Decl::Def(_)
            | Decl::Chan(_)
            | Decl::Event { .. }
            | Decl::Process(_)
            | Decl::Assume(_)
            | Decl::Interference(..) => return true,
        };

        // The last of the chain is the imported file; advice names the file that imports it.
        let message = format!("`{word}` is about a whole model, but this file is imported");
        let importing = &self.chain[self.chain.len() - 2];
        let help = format!("write it in `{}`", importing.display());
        self.said
            .push(Diagnostic::error("imported-whole", extent, message).help(help));
        false
    }

    fn import(&mut self, by: SourceId, import: ImportDecl, prefix: &str) {
        let Some((path, id)) = self.file(by, &import.file) else {
            return;
        };
        let Some(alias) = &import.alias else {
            if self.once.insert(id) {
                self.nested(path, id, "");
            }
            let seen = self.whole.sees.get(&id).cloned().unwrap_or_default();
            let sees = self.whole.sees.entry(by).or_default();
            sees.insert(id);
            sees.extend(seen);
            return;
        };

        let prefix = format!("{prefix}{}.", alias.text);
        if !self.prefixes.insert(prefix.clone()) {
            let message = format!("`{}` is the name of several imports", alias.text);
            self.said
                .push(Diagnostic::error("duplicate", alias.span, message));
            return;
        }
        let n_before = self.whole.decls.len();
        self.nested(path, id, &prefix);
        for (name, value) in import.values {
            self.give(n_before, &prefix, &import.file, &name, value);
        }
    }

    /// Adds the declarations of an imported file.
    fn nested(&mut self, path: PathBuf, id: SourceId, prefix: &str) {
        self.chain.push(path);
        self.text(id, prefix);
        self.chain.pop();
    }

    /// The file that an import names, unless something is wrong with it.
    fn file(&mut self, by: SourceId, file: &Ident) -> Option<(PathBuf, SourceId)> {
        let importing = &self.sources[by.index()].name;
        let written = beside(Path::new(importing), &file.text);
        let path = normalised(&written);
        let refused = |message: String| Diagnostic::error("import", file.span, message);
        let name = &file.text;

        let diagnostic = if path.extension().is_none_or(|extension| extension != "fair") {
            refused(format!("`{name}` is not a file of this language"))
                .help("the names of such files end with `.fair`")
        } else if let Some(first) = self.chain.iter().position(|open| *open == path) {
            let through = self.chain[first + 1..].iter();
            let through: Vec<String> = through.map(|p| format!(", `{}`", p.display())).collect();
            let message = match through.concat().strip_prefix(", ") {
                Some(through) => format!("`{name}` imports itself, through {through}"),
                None => format!("`{name}` imports itself"),
            };
            refused(message).help("put what the files have in common into another file")
        } else if self.chain.len() > MAX_DEPTH
            || self.n_files >= MAX_FILES
            || self.n_bytes > MAX_BYTES
        {
            refused(format!(
                "a model consists of at most {MAX_FILES} files, {MAX_DEPTH} levels and {MAX_BYTES} bytes"
            ))
        } else if let Some(id) = self.ids.get(&path) {
            return Some((path, *id));
        } else {
            match self.files.read(&written) {
                Ok(text) => {
                    let id = SourceId::new(self.sources.len());
                    let name = written.display().to_string();
                    self.sources.push(Source { name, text });
                    self.ids.insert(path.clone(), id);
                    return Some((path, id));
                }
                Err(reason) => refused(format!("`{name}` cannot be imported: {reason:#}")),
            }
        };
        self.said.push(diagnostic);
        None
    }

    /// Gives a value to a constant or parameter among the declarations from `first` on.
    fn give(&mut self, first: usize, prefix: &str, file: &Ident, name: &Ident, value: Expr) {
        let mut known = Vec::new();
        for decl in &mut self.whole.decls[first..] {
            let (Decl::Const { name: own, .. } | Decl::Param { name: own }) = decl else {
                continue;
            };
            let Some(own) = own.text.strip_prefix(prefix) else {
                continue;
            };
            if own != name.text {
                known.push(own.to_owned());
                continue;
            }
            match decl {
                Decl::Const { given, .. } => *given = Some(value),
                Decl::Param { name } => {
                    *decl = Decl::Const {
                        name: name.clone(),
                        value,
                        given: None,
                    };
                }
                _ => {}
            }
            return;
        }

        let message = format!(
            "`{}` has no constant or parameter `{}`",
            file.text, name.text
        );
        let mut diagnostic = Diagnostic::error("unknown-name", name.span, message);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        if let Some(meant) = base::closest_name(&name.text, known.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        } else if !known.is_empty() {
            diagnostic = diagnostic.help(format!("it has `{}`", known.join("`, `")));
        }
        self.said.push(diagnostic);
    }
}

/// The path without `.` and `..`, to tell whether two names are those of one file.
fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some_and(|name| name != "..") => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
