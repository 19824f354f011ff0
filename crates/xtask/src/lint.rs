//! No catch-all arm over the model's tree types outside crate `model`, and no test that is never run.
//!
//! An analysis that ends in `_ => {}` says nothing about the constructors that it does not list,
//! and nothing about those that are added later; such arms have given wrong verdicts. So every
//! `match` over [`TRACKED`] types lists every constructor. Generic walks ("does it mention", "what
//! does it read") use the traversal of `model` (`Expr::walk` and its relatives), where the compiler
//! asks for each new constructor.
//!
//! `if let`, `let … else` and `matches!` ask for a shape and are catch-all arms in disguise. They
//! are accepted where what happens for every other shape is the general case and correct for any
//! constructor (an optimisation, a pattern of the front end, a refusal), which a comment
//! `// shape: why` on the line or directly above says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proc_macro2::Span;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Item, Pat, Token, UseTree};

/// The types that models are trees of: those with expressions, places or statements inside, and
/// what says how an expression is meant. `BinaryOp` is not among them: an operator has nothing
/// inside that an analysis could pass over, and a wrong result of one is found by the comparisons
/// with the reference semantics.
const TRACKED: [&str; 11] = [
    "Access",
    "Assumption",
    "AtomMeaning",
    "Expr",
    "Initial",
    "Owner",
    "Pattern",
    "Quantifier",
    "Setting",
    "StmtKind",
    "Sync",
];

/// What marks a question about a shape as considered.
const MARK: &str = "// shape:";

/// Fails with every place that lets a constructor pass unseen.
pub fn check(root: &Path) -> Result<()> {
    let constructors = constructors(root)?;
    let (mut n_files, mut problems) = (0, Vec::new());

    for file in rust_files(&root.join("crates"))? {
        let relative = file.strip_prefix(root).unwrap_or(&file).to_owned();
        if relative.starts_with("crates/model") {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let found = findings(&text, &constructors)
            .with_context(|| format!("cannot parse {}", relative.display()))?;
        let place = |(line, why): (usize, String)| format!("{}:{line}: {why}", relative.display());
        problems.extend(found.into_iter().map(place));
        n_files += 1;
    }

    problems.extend(unreachable_tests(root)?);
    if problems.is_empty() {
        println!("{n_files} files list every constructor of the model's trees");
        return Ok(());
    }
    bail!("{}", problems.join("\n"));
}

/// Tests inside of libraries whose manifest says `test = false`: they would never be run.
fn unreachable_tests(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();

    for entry in fs::read_dir(root.join("crates"))? {
        let package = entry?.path();
        let manifest = package.join("Cargo.toml");
        let is_untested = |text: String| text.lines().any(|line| line == "test = false");
        if !fs::read_to_string(&manifest).is_ok_and(is_untested) {
            continue;
        }

        for file in rust_files(&package.join("src"))? {
            if fs::read_to_string(&file)?.contains("#[test]") {
                let place = file
                    .strip_prefix(root)
                    .unwrap_or(&file)
                    .display()
                    .to_string();
                let why =
                    "a test in a library with `test = false` is never run; put it into `tests/`";
                found.push(format!("{place}: {why}"));
            }
        }
    }

    Ok(found)
}

/// The constructors of each tracked type.
type Constructors = BTreeMap<String, BTreeSet<String>>;

/// Reads the tracked types from the sources of crate `model`, so that none can be forgotten here.
fn constructors(root: &Path) -> Result<Constructors> {
    let mut found = Constructors::new();
    for file in rust_files(&root.join("crates/model/src"))? {
        for item in syn::parse_file(&fs::read_to_string(&file)?)?.items {
            if let Item::Enum(item) = item
                && TRACKED.contains(&item.ident.to_string().as_str())
            {
                let names = item.variants.iter().map(|v| v.ident.to_string());
                found.insert(item.ident.to_string(), names.collect());
            }
        }
    }
    let is_missing = |name: &&&str| !found.contains_key(**name);
    if let Some(missing) = TRACKED.iter().find(is_missing) {
        bail!("crate `model` has no enum `{missing}`: adapt the list of tracked types");
    }
    Ok(found)
}

pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut stack = vec![folder.to_owned()];
    while let Some(folder) = stack.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Line and message of every problem of a file.
fn findings(text: &str, constructors: &Constructors) -> Result<Vec<(usize, String)>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        constructors,
        lines: text.lines().collect(),
        names: vec![BTreeMap::new()],
        own: Vec::new(),
        found: Vec::new(),
    };
    finder.declare(&file.items);
    finder.visit_file(&file);
    finder.found.sort();
    finder.found.dedup();
    Ok(finder.found)
}

/// Walks a file.
struct Finder<'a> {
    constructors: &'a Constructors,
    lines: Vec<&'a str>,
    /// For each module around: what a name stands for, if it is declared there; nothing if it is
    /// not a tracked type.
    names: Vec<BTreeMap<String, Option<String>>>,
    /// What `Self` stands for in the implementations around.
    own: Vec<Option<String>>,
    found: Vec<(usize, String)>,
}

impl Finder<'_> {
    /// Notes what the items of a module declare or import.
    fn declare(&mut self, items: &[Item]) {
        for item in items {
            let declared = match item {
                Item::Enum(item) => Some(item.ident.to_string()),
                Item::Struct(item) => Some(item.ident.to_string()),
                Item::Type(item) => Some(item.ident.to_string()),
                Item::Trait(item) => Some(item.ident.to_string()),
                Item::Use(item) => {
                    self.import(&item.tree, &mut Vec::new());
                    None
                }
                _ => None,
            };
            if let Some(name) = declared {
                self.note(name, None);
            }
        }
    }

    fn note(&mut self, name: String, meaning: Option<String>) {
        let module = self.names.last_mut().expect("the file is a module");
        module.insert(name, meaning);
    }

    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path);
                path.pop();
            }
            UseTree::Name(name) => self.imported(path, &name.ident.to_string(), None),
            UseTree::Rename(rename) => {
                let (from, to) = (rename.ident.to_string(), rename.rename.to_string());
                self.imported(path, &from, Some(to));
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, path);
                }
            }
            UseTree::Glob(_) => {
                // Constructors without their type's name could not be found.
                if path
                    .last()
                    .is_some_and(|last| self.resolve(&path[..1], last))
                {
                    let why = "constructors are named with their type".to_owned();
                    self.found.push((tree.span().start().line, why));
                }
            }
        }
    }

    fn resolve(&self, start: &[String], last: &str) -> bool {
        start.first().is_some_and(|first| first == "model") && TRACKED.contains(&last)
    }

    fn imported(&mut self, path: &[String], from: &str, to: Option<String>) {
        let is_ours = path.first().is_some_and(|first| first == "model");
        let tracked = is_ours && self.constructors.contains_key(from);
        let name = to.unwrap_or_else(|| from.to_owned());
        self.note(name, tracked.then(|| from.to_owned()));
    }

    /// The tracked type and constructor that a path names.
    fn constructor(&self, path: &syn::Path) -> Option<(String, String)> {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let (last, before) = names.split_last()?;
        let ty = match before {
            [name] if name == "Self" => self.own.last().cloned().flatten(),
            [name] => self.lookup(name),
            [first, .., name] if first == "model" => Some(name.clone()),
            _ => None,
        }?;
        let known = self.constructors.get(&ty)?.contains(last);
        known.then(|| (ty, last.clone()))
    }

    fn lookup(&self, name: &str) -> Option<String> {
        let declared = self.names.iter().rev().find_map(|module| module.get(name));
        declared.cloned().flatten()
    }

    /// Looks for catch-all patterns beside patterns that name constructors of a tracked type, in
    /// one position of a match.
    fn column(&mut self, patterns: &[&Pat]) {
        let patterns: Vec<&Pat> = patterns.iter().flat_map(|p| alternatives(p)).collect();
        let named: Vec<(String, String)> = patterns.iter().filter_map(|p| self.head(p)).collect();

        if let Some((ty, _)) = named.first() {
            for pattern in patterns.iter().filter(|p| is_catch_all(p)) {
                let why = format!("a catch-all arm over `{ty}`: list its constructors");
                self.found.push((pattern.span().start().line, why));
            }
        }

        // The same inside patterns of one form.
        let mut groups: BTreeMap<String, Vec<Vec<(String, &Pat)>>> = BTreeMap::new();
        for pattern in &patterns {
            if let Some((form, parts)) = parts(pattern) {
                groups.entry(form).or_default().push(parts);
            }
        }

        for group in groups.into_values() {
            let mut columns: BTreeMap<String, Vec<&Pat>> = BTreeMap::new();
            for (position, part) in group.into_iter().flatten() {
                columns.entry(position).or_default().push(part);
            }
            for column in columns.values() {
                self.column(column);
            }
        }
    }

    fn head(&self, pattern: &Pat) -> Option<(String, String)> {
        match pattern {
            Pat::TupleStruct(inner) => self.constructor(&inner.path),
            Pat::Struct(inner) => self.constructor(&inner.path),
            Pat::Path(inner) => self.constructor(&inner.path),
            _ => None,
        }
    }

    /// Does a pattern name a constructor, anywhere?
    fn names_constructor(&self, pattern: &Pat) -> Option<String> {
        let patterns = alternatives(pattern);
        let inside = |p: &&Pat| -> Option<String> {
            let below = parts(p).map(|(_, parts)| parts).unwrap_or_default();
            below
                .iter()
                .find_map(|(_, part)| self.names_constructor(part))
        };
        let head = |p: &&Pat| self.head(p).map(|(ty, _)| ty);
        patterns.iter().find_map(|p| head(p).or_else(|| inside(p)))
    }

    /// A question about a shape must be marked.
    fn question(&mut self, pattern: &Pat, span: Span) {
        let Some(ty) = self.names_constructor(pattern) else {
            return;
        };
        let lines = [span.start().line, pattern.span().start().line];
        let is_marked = lines.iter().any(|line| self.is_marked(*line));
        if !is_marked {
            let why = format!(
                "asks for a shape of `{ty}`: match on all constructors, or say after `{MARK}` why the rest needs no look"
            );
            self.found.push((span.start().line, why));
        }
    }

    /// Is there a mark on the line or in the comment directly above?
    fn is_marked(&self, line: usize) -> bool {
        let here = self.lines.get(line - 1).is_some_and(|l| l.contains(MARK));
        let above = self.lines[..line - 1].iter().rev();
        let mut comment = above.take_while(|l| l.trim_start().starts_with("//"));
        here || comment.any(|l| l.contains(MARK))
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let Some((_, items)) = &module.content else {
            return;
        };
        self.names.push(BTreeMap::new());
        self.declare(items);
        visit::visit_item_mod(self, module);
        self.names.pop();
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.names.push(BTreeMap::new());
        let items = block.stmts.iter().filter_map(|statement| match statement {
            syn::Stmt::Item(item) => Some(item.clone()),
            _ => None,
        });
        self.declare(&items.collect::<Vec<_>>());
        visit::visit_block(self, block);
        self.names.pop();
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = match &*item.self_ty {
            syn::Type::Path(path) => {
                let last = path.path.segments.last();
                last.and_then(|last| self.lookup(&last.ident.to_string()))
            }
            _ => None,
        };
        self.own.push(own);
        visit::visit_item_impl(self, item);
        self.own.pop();
    }

    fn visit_expr_match(&mut self, node: &'ast syn::ExprMatch) {
        let patterns: Vec<&Pat> = node.arms.iter().map(|arm| &arm.pat).collect();
        self.column(&patterns);
        visit::visit_expr_match(self, node);
    }

    fn visit_expr_let(&mut self, node: &'ast syn::ExprLet) {
        self.question(&node.pat, node.span());
        visit::visit_expr_let(self, node);
    }

    fn visit_local(&mut self, node: &'ast syn::Local) {
        if node
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_some())
        {
            self.question(&node.pat, node.span());
        }
        visit::visit_local(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        if node.path.is_ident("matches") {
            let asked = |input: syn::parse::ParseStream<'_>| {
                let value: syn::Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                let guard = match input.parse::<Option<Token![if]>>()? {
                    Some(_) => Some(input.parse::<syn::Expr>()?),
                    None => None,
                };
                input.parse::<Option<Token![,]>>()?;
                Ok((value, pattern, guard))
            };
            if let Ok((value, pattern, guard)) = asked.parse2(node.tokens.clone()) {
                self.question(&pattern, node.span());
                self.visit_expr(&value);
                if let Some(guard) = &guard {
                    self.visit_expr(guard);
                }
            }
            return;
        }

        // Most macros take expressions.
        let arguments = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = arguments.parse2(node.tokens.clone()) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        }
    }
}

/// What an or-pattern consists of; references and parentheses are looked through.
fn alternatives(pattern: &Pat) -> Vec<&Pat> {
    match pattern {
        Pat::Or(or) => or.cases.iter().flat_map(alternatives).collect(),
        Pat::Reference(inner) => alternatives(&inner.pat),
        Pat::Paren(inner) => alternatives(&inner.pat),
        Pat::Ident(ident) => match &ident.subpat {
            Some((_, inner)) => alternatives(inner),
            None => vec![pattern],
        },
        other => vec![other],
    }
}

/// `_`, or a name that matches everything.
fn is_catch_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(ident) => {
            let name = ident.ident.to_string();
            ident.subpat.is_none() && name.starts_with(|c: char| c.is_lowercase() || c == '_')
        }
        _ => false,
    }
}

/// The form of a composite pattern, and its parts with their positions.
fn parts(pattern: &Pat) -> Option<(String, Vec<(String, &Pat)>)> {
    let (form, elements) = match pattern {
        Pat::Tuple(tuple) => (format!("({})", tuple.elems.len()), &tuple.elems),
        Pat::TupleStruct(inner) => (name(&inner.path), &inner.elems),
        Pat::Slice(slice) => (format!("[{}]", slice.elems.len()), &slice.elems),
        Pat::Struct(inner) => {
            let part = |field: &'_ syn::FieldPat| match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let parts = inner.fields.iter().map(|field| (part(field), &*field.pat));
            return Some((name(&inner.path), parts.collect()));
        }
        _ => return None,
    };
    let numbered = elements.iter().enumerate();
    let parts = numbered.map(|(position, part)| (position.to_string(), part));
    Some((form, parts.collect()))
}

fn name(path: &syn::Path) -> String {
    let names = path.segments.iter().map(|s| s.ident.to_string());
    names.collect::<Vec<_>>().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the problems that a text has.
    fn lines(text: &str) -> Vec<usize> {
        let root = crate::architecture::root();
        let constructors = constructors(&root).expect("crate `model` is readable");
        let found = findings(text, &constructors).expect("the text is Rust");
        found.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn the_workspace_lists_every_constructor() {
        check(&crate::architecture::root()).expect("no catch-all arm over a tree of the model");
    }

    #[test]
    fn catch_all_arms_are_found() {
        let text = "use model::{Expr, StmtKind as Kind};
fn a(e: &Expr) -> bool { match e {
    Expr::Int(_) => true,
    _ => false,
} }
fn b(k: &Kind) { match k { Kind::Tick => {}
    other => drop(other),
} }
fn c(e: Option<(&Expr, u8)>) { match e {
    Some((model::Expr::Int(_), 1)) => {}
    Some((_, _)) | None => {}
} }
mod inner { use super::*; fn d(e: &Expr) { match e { Expr::Bool(_) => {}
    _ if true => {}
    x @ (Expr::Int(_) | Expr::Neg(_)) => drop(x),
} } }
";
        assert_eq!(lines(text), [4, 7, 11, 14]);
    }

    #[test]
    fn questions_about_a_shape_need_a_reason() {
        let text = "use model::Expr;
fn a(e: &Expr) -> bool { matches!(e, Expr::Int(_)) }
fn b(e: &Expr) {
    if let Expr::Int(_) = e {}
    // shape: everything else is general.
    if let Expr::Int(_) = e {}
    assert!(matches!(e, Expr::Int(_)));
    let Expr::Int(_) = e else { return };
}
";
        assert_eq!(lines(text), [2, 4, 7, 8]);
    }

    #[test]
    fn other_types_of_the_same_name_are_not_meant() {
        let text = "use crate::ast::Expr;
enum Sync { A, B }
fn a(e: &Expr, s: Sync) { match e { Expr::Int(_) => {} _ => {} } match s { Sync::A => {} _ => {} } }
";
        assert!(lines(text).is_empty());
    }
}
