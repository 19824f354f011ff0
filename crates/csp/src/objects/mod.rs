//! Objects, local arrays and functions become variables and macros.
//!
//! Nothing behind this step knows classes: a field `f` of an object `s` is the variable `s.f`, a method
//! is a macro `s.m` with the fields put in, and a parameter that is given an array or object is put in
//! as well, so there is one macro for each combination (`call(max, a)` is `max@a`). What is local to
//! a program becomes a *scratch* variable, which has its initial value before and after the
//! program. A function that changes something, or needs a loop, is a macro with a program that
//! assigns to `result`; calls of those inside of expressions of a program are made before it.
//!
//! Objects are values here, but references in C#. Because PAT copies all objects before every
//! program, the difference shows only if one program makes two names for one object and then changes
//! it, which is refused.

mod calls;
mod programs;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use base::{Diagnostic, Span};

use crate::ast::{
    AssertionClaim, BinaryOp, ClassDecl, Expr, ExprKind, ExprRef, Ident, MacroBody, MacroDecl,
    MethodDecl, ObjectDecl, ProcDecl, Program, RecordItem, Spec, Stmt, StmtKind, VarDecl, VarInit,
};
use crate::lexer::Name;
use crate::names::program_names;
use crate::rebuild::Rebuild;

/// The method that says what a copy of an object does not have.
const COPIED: &str = "copied";

/// What a function assigns to.
const RESULT: &str = "result";

/// The declarations without objects. `room` is how many elements objects have room for.
pub(crate) fn expand(spec: &Spec, room: i64, diagnostics: &mut Vec<Diagnostic>) -> Spec {
    let mut expander = Expander {
        room,
        diagnostics,
        classes: by_name(&spec.classes, |class| &class.name),
        macros: by_name(&spec.macros, |decl| &decl.name),
        objects: HashMap::new(),
        arrays: HashMap::new(),
        vars: spec.vars.clone(),
        made: Vec::new(),
        made_names: HashSet::new(),
        used: BTreeSet::new(),
        n_fresh: 0,
        place: Place::default(),
        aliased: Vec::new(),
        scratch: Vec::new(),
    };
    expander.declarations(spec);

    let processes = spec.processes.iter().map(|decl| ProcDecl {
        body: expander.proc(&decl.body),
        ..decl.clone()
    });
    let processes: Vec<ProcDecl> = processes.collect();

    let mut assertions = spec.assertions.clone();
    for decl in &mut assertions {
        if let AssertionClaim::Reaches(goal, extreme) = &mut decl.claim {
            *goal = expander.expr(goal);
            if let Some((_, value)) = extreme {
                *value = expander.expr(value);
            }
        }
    }
    expander.remaining_macros(spec);

    let processes = expander.with_copies(spec, processes);
    Spec {
        vars: expander.vars,
        macros: expander.made,
        processes,
        assertions,
        objects: Vec::new(),
        classes: Vec::new(),
        ..spec.clone()
    }
}

fn by_name<T: Clone>(list: &[T], name: impl Fn(&T) -> &Ident) -> HashMap<Name, T> {
    let pairs = list.iter().map(|one| (name(one).text.clone(), one.clone()));
    pairs.collect()
}

/// Where the walk is.
#[derive(Default)]
struct Place {
    /// What names stand for, innermost last; nothing for what is local.
    names: Vec<(Name, Option<Name>)>,
    /// The object whose method this is, and its class.
    receiver: Option<(Name, Name)>,
    /// Statements that must come before the one at hand; nothing where there is no program.
    before: Option<Vec<Stmt>>,
    /// Is it uncertain whether the expression is evaluated?
    is_optional: bool,
}

struct Expander<'a> {
    room: i64,
    diagnostics: &'a mut Vec<Diagnostic>,
    classes: HashMap<Name, ClassDecl>,
    macros: HashMap<Name, MacroDecl>,
    /// The classes of objects.
    objects: HashMap<Name, Name>,
    /// The dimensions of arrays.
    arrays: HashMap<Name, Vec<ExprRef>>,
    vars: Vec<VarDecl>,
    made: Vec<MacroDecl>,
    made_names: HashSet<Name>,
    /// Fields that are used.
    used: BTreeSet<Name>,
    n_fresh: usize,
    place: Place,
    /// Objects that have two names in this program.
    aliased: Vec<Name>,
    /// The scratch variables of each block around.
    scratch: Vec<Vec<Name>>,
}

/// A macro to be called: its text, and the object if it is a method.
struct Callee {
    name: Name,
    method: MethodDecl,
    receiver: Option<(Name, Name)>,
}

impl Callee {
    fn is_program(&self) -> bool {
        matches!(self.method.body.body, MacroBody::Block(_))
    }
}

impl Rebuild for Expander<'_> {
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr),
            ExprKind::Index(name, indices) => {
                let name = self.resolved(name);
                self.used.insert(name.clone());
                let indices = self.exprs(indices);
                made(ExprKind::Index(name, indices), span)
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                match (self.object_of(a), self.object_of(b)) {
                    (Some(a), Some(b)) => self.same_objects(*op, &a, &b, span),
                    _ => self.operands(expr),
                }
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.expr(a);
                let was = std::mem::replace(&mut self.place.is_optional, true);
                let b = self.expr(b);
                self.place.is_optional = was;
                made(ExprKind::Binary(*op, a, b), span)
            }
            ExprKind::Indexed(_, indices, _) => {
                let n_names = self.place.names.len();
                let was = std::mem::replace(&mut self.place.is_optional, true);
                for index in indices {
                    self.hide(&index.name.text);
                }
                let expr = self.operands(expr);
                self.place.names.truncate(n_names);
                self.place.is_optional = was;
                expr
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments, expr),
            _ => self.operands(expr),
        }
    }

    fn program(&mut self, program: &Program) -> Program {
        self.aliased.clear();
        Rc::new(self.block(program))
    }
}

impl Expander<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: String) {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
    }

    fn fresh(&mut self, name: &str) -> Name {
        self.n_fresh += 1;
        format!("{name}#{}", self.n_fresh).into()
    }

    fn hide(&mut self, name: &Name) {
        self.place.names.push((name.clone(), None));
    }

    fn declarations(&mut self, spec: &Spec) {
        for decl in &spec.vars {
            if let Some(dimensions) = dimensions(decl) {
                self.arrays.insert(decl.name.text.clone(), dimensions);
            }
        }
        for decl in &spec.objects {
            let fields = self.object(decl, false);
            self.vars.extend(fields);
        }
    }

    /// The fields of a new object as variables.
    fn object(&mut self, decl: &ObjectDecl, is_scratch: bool) -> Vec<VarDecl> {
        let Some(class) = self.classes.get(&decl.class.text).cloned() else {
            let mut known: Vec<&Name> = self.classes.keys().collect();
            known.sort();
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("there is no class `{}`", decl.class.text);
            let help = if known.is_empty() {
                "import a library that has it, as in `#import \"PAT.Lib.Set\";`".to_owned()
            } else {
                format!("the imported libraries have {}", known.join(", "))
            };
            let diagnostic = Diagnostic::error("unknown-class", decl.class.span, message);
            self.diagnostics.push(diagnostic.help(help));
            return Vec::new();
        };
        self.objects
            .insert(decl.name.text.clone(), class.name.text.clone());

        // Sizes and ranges of fields are read in the class, not where the object is declared.
        let mut fields = Vec::new();
        for field in &class.fields {
            let name = member(&decl.name.text, &field.name.text);
            let receiver = Some((decl.name.text.clone(), class.name.text.clone()));
            let outside = self.enter(Vec::new(), receiver);
            let sizes = self.exprs(&field.dimensions);
            let mut end = |end: &Option<ExprRef>| end.as_ref().map(|end| self.expr(end));
            let range = field.range.as_ref().map(|(lo, hi)| (end(lo), end(hi)));
            self.place = outside;
            if !sizes.is_empty() {
                self.arrays.insert(name.clone(), sizes.clone());
            }
            fields.push(VarDecl {
                name: Ident {
                    text: name,
                    span: decl.name.span,
                },
                dimensions: sizes,
                range,
                init: field.init.clone(),
                is_scratch,
            });
        }
        if !is_scratch {
            self.initialise(decl, &class, &mut fields);
        }
        fields
    }

    /// What the constructor of an object of the whole model stores is constant.
    fn initialise(&mut self, decl: &ObjectDecl, class: &ClassDecl, fields: &mut [VarDecl]) {
        let constructor = method(class, &class.name.text);
        let n_wanted = constructor.map_or(0, |method| method.body.parameters.len());
        if n_wanted != decl.arguments.len() {
            return self.wrong_arity(&decl.class, n_wanted, decl.arguments.len());
        }

        let Some(constructor) = constructor else {
            return;
        };
        let MacroBody::Block(body) = &constructor.body.body else {
            return;
        };

        for statement in body.iter() {
            let StmtKind::Expr(expr) = &statement.kind else {
                continue;
            };
            let ExprKind::Assign(to, value) = &expr.kind else {
                continue;
            };
            let mut parameters = constructor.body.parameters.iter();
            let at = parameters.position(|parameter| is_name(value, &parameter.text));
            let value = at.map_or(value, |at| &decl.arguments[at]);

            let stored = |field: &&mut VarDecl| match &to.kind {
                ExprKind::Name(name) => field.name.text == member(&decl.name.text, name),
                _ => false,
            };
            if let Some(field) = fields.iter_mut().find(stored) {
                field.init = VarInit::Value(value.clone());
            }
        }
    }

    fn wrong_arity(&mut self, name: &Ident, wanted: usize, given: usize) {
        let message = format!("`{}` takes {wanted} arguments, not {given}", name.text);
        self.error("wrong-arity", name.span, message);
    }

    /// Macros that nothing calls, or formulas only.
    fn remaining_macros(&mut self, spec: &Spec) {
        for decl in &spec.macros {
            if self.made_names.contains(&decl.name.text) {
                continue;
            }
            let n_diagnostics = self.diagnostics.len();
            self.make(decl.name.text.clone(), &decl.clone(), Vec::new(), None);
            // What its parameters are is not known without a call.
            if !decl.parameters.is_empty() && self.diagnostics.len() > n_diagnostics {
                self.diagnostics.truncate(n_diagnostics);
                self.made.retain(|made| made.name.text != decl.name.text);
                self.made.push(decl.clone());
            }
        }
    }

    /// Before every program, PAT copies all objects.
    fn with_copies(&mut self, spec: &Spec, processes: Vec<ProcDecl>) -> Vec<ProcDecl> {
        let used = std::mem::take(&mut self.used);
        let mut calls = Vec::new();
        for decl in &spec.objects {
            let class = self.classes.get(&decl.class.text);
            let Some(copied) = class.and_then(|class| method(class, COPIED)) else {
                continue;
            };
            let MacroBody::Block(body) = &copied.body.body else {
                continue;
            };
            let mut names = BTreeSet::new();
            program_names(body, &mut names);
            let object = &decl.name.text;
            if names
                .iter()
                .any(|name| used.contains(&member(object, name)))
            {
                let name = Ident {
                    text: member(object, COPIED),
                    span: decl.name.span,
                };
                let call = made(ExprKind::Call(name, Vec::new()), decl.name.span);
                self.effect(&call, &mut calls);
            }
        }

        if calls.is_empty() {
            return processes;
        }

        let mut copies = Copies { calls };
        let with_copies = |decl: ProcDecl| ProcDecl {
            body: copies.proc(&decl.body),
            ..decl
        };
        processes.into_iter().map(with_copies).collect()
    }

    fn enter(&mut self, names: Vec<(Name, Name)>, receiver: Option<(Name, Name)>) -> Place {
        let names = names.into_iter();
        let place = Place {
            names: names.map(|(name, whole)| (name, Some(whole))).collect(),
            receiver,
            ..Place::default()
        };
        std::mem::replace(&mut self.place, place)
    }

    /// What a name is put in for; the inner option is empty for what is local.
    fn known(&self, name: &str) -> Option<Option<&Name>> {
        let mut names = self.place.names.iter().rev();
        let found = names.find(|(known, _)| **known == *name);
        found.map(|(_, meaning)| meaning.as_ref())
    }

    /// What a name, or the name of a field of an object, stands for.
    fn resolved(&self, name: &Name) -> Name {
        match (self.known(name), name.split_once('.')) {
            (Some(Some(meaning)), _) => meaning.clone(),
            (Some(None), _) => name.clone(),
            (None, Some((object, field))) => match self.known(object) {
                Some(Some(object)) => member(object, field),
                Some(None) | None => name.clone(),
            },
            (None, None) => self.field(name).unwrap_or_else(|| name.clone()),
        }
    }

    /// What a name stands for that is not local to a program or macro.
    fn shared(&self, name: &Name) -> Option<Name> {
        let is_local = matches!(self.known(name), Some(None));
        (!is_local).then(|| self.resolved(name))
    }

    /// The field with this name, in a method.
    fn field(&self, name: &Name) -> Option<Name> {
        let (object, class) = self.place.receiver.as_ref()?;
        let mut fields = self.classes.get(class)?.fields.iter();
        let found = fields.any(|field| field.name.text == *name);
        found.then(|| member(object, name))
    }

    fn name(&mut self, name: &Name, expr: &ExprRef) -> ExprRef {
        let resolved = self.resolved(name);
        if self.place.receiver.is_some() && *resolved == *"ROOM" {
            return made(ExprKind::Int(self.room), expr.span);
        }

        let object = self.shared(name);
        if let Some(class) = object.and_then(|object| self.objects.get(&object)) {
            let message =
                format!("`{name}` is an object of class `{class}`, but a single value is needed");
            self.error("type-mismatch", expr.span, message);
        }

        let property = self.callee(&resolved).filter(|_| name.contains('.'));
        if property.is_some() {
            let span = expr.span;
            let ident = Ident {
                text: resolved,
                span,
            };
            return self.call(&ident, &[], expr);
        }

        self.used.insert(resolved.clone());
        made(ExprKind::Name(resolved), expr.span)
    }

    /// The object that an expression is.
    fn object_of(&self, expr: &ExprRef) -> Option<Name> {
        let ExprKind::Name(name) = &expr.kind else {
            return None;
        };
        let name = self.shared(name)?;
        self.objects.contains_key(&name).then_some(name)
    }

    /// The array that an expression is.
    fn array_of(&self, expr: &ExprRef) -> Option<Name> {
        let ExprKind::Name(name) = &expr.kind else {
            return None;
        };
        let name = self.shared(name)?;
        self.arrays.contains_key(&name).then_some(name)
    }

    fn fields_of(&self, object: &Name) -> Vec<Name> {
        let class = self.objects.get(object);
        let class = class.and_then(|class| self.classes.get(class));
        let fields = class.into_iter().flat_map(|class| &class.fields);
        fields
            .map(|field| member(object, &field.name.text))
            .collect()
    }

    fn same_objects(&mut self, op: BinaryOp, a: &Name, b: &Name, span: Span) -> ExprRef {
        let fields = self.fields_of(a).into_iter().zip(self.fields_of(b));
        let equal = |(a, b)| {
            let (a, b) = (made(ExprKind::Name(a), span), made(ExprKind::Name(b), span));
            made(ExprKind::Binary(BinaryOp::Eq, a, b), span)
        };
        let both = |a, b| made(ExprKind::Binary(BinaryOp::And, a, b), span);
        let same = fields.map(equal).reduce(both);
        let same = same.unwrap_or_else(|| made(ExprKind::Bool(true), span));
        if self.objects.get(a) != self.objects.get(b) {
            let message = "objects of different classes are compared".to_owned();
            self.error("type-mismatch", span, message);
        }
        if op == BinaryOp::Eq {
            same
        } else {
            made(ExprKind::Not(same), span)
        }
    }
}

/// Programs that begin with calls.
struct Copies {
    calls: Vec<Stmt>,
}

impl Rebuild for Copies {
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        expr.clone()
    }

    fn program(&mut self, program: &Program) -> Program {
        Rc::new([self.calls.as_slice(), program].concat())
    }
}

/// The dimensions of an array that is declared; nothing for a single cell.
fn dimensions(decl: &VarDecl) -> Option<Vec<ExprRef>> {
    match &decl.init {
        _ if !decl.dimensions.is_empty() => Some(decl.dimensions.clone()),
        VarInit::Record(items, span) => {
            let single = |item: &RecordItem| matches!(item, RecordItem::Repeat(_, None));
            let is_plain = items.iter().all(single);
            // A size that is not known here must not be asked for.
            let size = if is_plain {
                number(items.len(), *span)
            } else {
                made(ExprKind::Name("size".into()), *span)
            };
            Some(vec![size])
        }
        VarInit::Default | VarInit::Any(_) | VarInit::Value(_) => None,
    }
}

fn method<'c>(class: &'c ClassDecl, name: &str) -> Option<&'c MethodDecl> {
    let mut methods = class.methods.iter();
    methods.find(|method| *method.body.name.text == *name)
}

fn member(object: &str, member: &str) -> Name {
    format!("{object}.{member}").into()
}

fn is_name(expr: &Expr, wanted: &Name) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name == wanted)
}

fn made(kind: ExprKind, span: Span) -> ExprRef {
    Rc::new(Expr { kind, span })
}

fn number(value: usize, span: Span) -> ExprRef {
    made(ExprKind::Int(value as i64), span)
}

fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

fn clear(name: Name, span: Span) -> Stmt {
    stmt(StmtKind::Clear(name), span)
}

fn copy(to: Name, from: Name, span: Span) -> Stmt {
    let (to, from) = (
        made(ExprKind::Name(to), span),
        made(ExprKind::Name(from), span),
    );
    stmt(StmtKind::Expr(made(ExprKind::Assign(to, from), span)), span)
}
