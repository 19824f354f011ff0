//! Which variable a name means.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::{Diagnostic, Span, closest_name};

use super::ast::{self, Binary, Expr, ExprKind, Init, Program, TypeName, Unary, VarDecl};
use super::names::Notes;

/// The type of a variable, resolved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ty {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(u32),
    Mtype,
    Chan,
    Timer,
    /// A `typedef`, by position.
    Struct(usize),
}

impl Ty {
    /// The least and the greatest value of a number.
    pub(crate) fn bounds(self) -> (i64, i64) {
        match self {
            Self::Bit | Self::Bool => (0, 1),
            Self::Byte | Self::Mtype | Self::Chan | Self::Struct(_) => (0, 255),
            Self::Short => (-(1 << 15), (1 << 15) - 1),
            Self::Timer => (-1, (1 << 15) - 1),
            Self::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Self::Unsigned(width) => (0, (1 << width) - 1),
        }
    }

    /// Its width in bits, and whether it has a sign.
    pub(crate) fn bits(self) -> (u8, bool) {
        match self {
            Self::Bit | Self::Bool => (1, false),
            Self::Byte | Self::Mtype | Self::Chan | Self::Struct(_) => (8, false),
            Self::Short | Self::Timer => (16, true),
            Self::Int => (32, true),
            Self::Unsigned(width) => (u8::try_from(width).unwrap_or(31), false),
        }
    }

    /// What messages call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bit => "bit",
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Int => "int",
            Self::Unsigned(_) => "unsigned",
            Self::Mtype => "mtype",
            Self::Chan => "chan",
            Self::Timer => "timer",
            Self::Struct(_) => "structure",
        }
    }
}

/// A variable, global or of a process type.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: Rc<str>,
    pub(crate) ty: Ty,
    pub(crate) length: Option<usize>,
    pub(crate) init: Init,
    /// Is its initial value computed when its process starts (and not by a step)?
    pub(crate) at_creation: bool,
    /// The process type that it belongs to.
    pub(crate) owner: Option<usize>,
    pub(crate) is_parameter: bool,
    /// Is it declared `hidden`?
    pub(crate) hidden: bool,
    pub(crate) scope: usize,
    pub(crate) order: u32,
    pub(crate) span: Span,
    /// Does anything assign to it after its initialisation?
    pub(crate) written: bool,
    /// Does anything read it?
    pub(crate) read: bool,
}

/// A field of a `typedef`.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    pub(crate) name: Rc<str>,
    pub(crate) ty: Ty,
    pub(crate) length: Option<usize>,
    pub(crate) init: Init,
}

/// Names of a block.
#[derive(Debug)]
struct Scope {
    parent: Option<usize>,
    names: Vec<(Rc<str>, usize)>,
}

/// Where a name is looked up: a block, and how much had been declared there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context {
    pub(crate) scope: usize,
    pub(crate) order: u32,
    /// The process type; nothing in formulas and claims.
    pub(crate) owner: Option<usize>,
}

/// All names of a program.
#[derive(Debug)]
pub(crate) struct Symbols {
    pub(crate) vars: Vec<Var>,
    scopes: Vec<Scope>,
    order: u32,
    /// Values of `mtype` constants.
    pub(crate) mtypes: BTreeMap<Rc<str>, i64>,
    /// The largest of these values, for each name of a value.
    pub(crate) mtype_names: Vec<Rc<str>>,
    pub(crate) structs: Vec<(Rc<str>, Vec<FieldInfo>)>,
    /// What names were found to mean.
    pub(crate) notes: Notes,
}

/// The scope of global names.
pub(crate) const GLOBAL: usize = 0;

impl Symbols {
    /// The global names of a program.
    pub(crate) fn new(program: &Program, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut symbols = Self {
            vars: Vec::new(),
            scopes: vec![Scope {
                parent: None,
                names: Vec::new(),
            }],
            order: 0,
            mtypes: BTreeMap::new(),
            mtype_names: Vec::new(),
            structs: Vec::new(),
            notes: Notes::default(),
        };

        symbols.number_mtypes(program, diagnostics);
        for typedef in &program.typedefs {
            let fields = typedef.fields.iter();
            let fields = fields
                .filter_map(|field| symbols.field(field, diagnostics))
                .collect();
            if symbols
                .structs
                .iter()
                .any(|(name, _)| *name == typedef.name)
            {
                let message = format!("the type `{}` is declared twice", typedef.name);
                diagnostics.push(Diagnostic::error("duplicate-name", typedef.span, message));
            }
            symbols.structs.push((typedef.name.clone(), fields));
        }

        for global in &program.globals {
            symbols.declare(global, GLOBAL, None, true, diagnostics);
        }
        symbols
    }

    /// Constants of one subtype are numbered from 1, the last of a declaration first; later
    /// declarations go on from there.
    fn number_mtypes(&mut self, program: &Program, diagnostics: &mut Vec<Diagnostic>) {
        let mut next_of: BTreeMap<Option<&str>, i64> = BTreeMap::new();
        for declaration in &program.mtypes {
            let next = next_of.entry(declaration.subtype.as_deref()).or_insert(1);
            for (name, span) in declaration.names.iter().rev() {
                if self.mtypes.insert(name.clone(), *next).is_some() {
                    let message = format!("the constant `{name}` is declared twice");
                    diagnostics.push(Diagnostic::error("duplicate-name", *span, message));
                }
                let at = usize::try_from(*next).expect("it is positive");
                if self.mtype_names.len() < at {
                    self.mtype_names.push(name.clone());
                }
                *next += 1;
            }
            if *next > 256 {
                let span = declaration.names[0].1;
                let message = "an `mtype` has at most 255 constants";
                diagnostics.push(Diagnostic::error("too-large", span, message));
            }
        }
    }

    fn field(&self, field: &VarDecl, diagnostics: &mut Vec<Diagnostic>) -> Option<FieldInfo> {
        Some(FieldInfo {
            name: field.name.clone(),
            ty: self.resolve_type(&field.ty, field.span, diagnostics)?,
            length: self.length(field, diagnostics),
            init: field.init.clone(),
        })
    }

    /// What a type name means.
    pub(crate) fn resolve_type(
        &self,
        ty: &TypeName,
        span: Span,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Ty> {
        Some(match ty {
            TypeName::Bit => Ty::Bit,
            TypeName::Bool => Ty::Bool,
            TypeName::Byte | TypeName::Pid => Ty::Byte,
            TypeName::Short => Ty::Short,
            TypeName::Int => Ty::Int,
            TypeName::Unsigned(width) => Ty::Unsigned(*width),
            TypeName::Mtype => Ty::Mtype,
            TypeName::Chan => Ty::Chan,
            TypeName::Timer => Ty::Timer,
            TypeName::User(name) => {
                let found = self.structs.iter().position(|(other, _)| other == name);
                if found.is_none() {
                    let message = format!("the type `{name}` is not declared yet");
                    diagnostics.push(Diagnostic::error("unknown-name", span, message));
                }
                let found = found?;
                self.notes.found(name, &self.structs[found].0);
                Ty::Struct(found)
            }
        })
    }

    fn length(&self, decl: &VarDecl, diagnostics: &mut Vec<Diagnostic>) -> Option<usize> {
        let expr = decl.length.as_ref()?;
        match self.constant(expr) {
            Some(length @ 1..=65_536) => usize::try_from(length).ok(),
            Some(length) => {
                let message = format!("an array cannot have {length} elements");
                diagnostics.push(Diagnostic::error("array-length", expr.span, message));
                Some(1)
            }
            None => {
                let message = "the length of an array must be a constant";
                diagnostics.push(Diagnostic::error("array-length", expr.span, message));
                Some(1)
            }
        }
    }

    /// The value of a constant expression. An initialised global counts as its initial value, as in
    /// Spin's array bounds.
    pub(crate) fn constant(&self, expr: &Expr) -> Option<i64> {
        let value = match &expr.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Var(var) if var.parts.len() == 1 && var.parts[0].index.is_none() => {
                let name = &var.parts[0].name;
                if let Some(value) = self.mtype(name) {
                    return Some(value);
                }
                let context = Context {
                    scope: GLOBAL,
                    order: u32::MAX,
                    owner: None,
                };
                let found = &self.vars[self.lookup(name, context)?];
                match &found.init {
                    Init::Value(value) if found.length.is_none() => self.constant(value)?,
                    _ => return None,
                }
            }
            ExprKind::Unary(Unary::Minus, inner) => self.constant(inner)?.checked_neg()?,
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.constant(left)?, self.constant(right)?);
                match op {
                    Binary::Add => a.checked_add(b)?,
                    Binary::Sub => a.checked_sub(b)?,
                    Binary::Mul => a.checked_mul(b)?,
                    Binary::Div => a.checked_div(b)?,
                    Binary::Mod => a.checked_rem(b)?,
                    _ => return None,
                }
            }
            _ => return None,
        };

        i32::try_from(value).ok().map(i64::from)
    }

    /// A new block inside `parent`.
    pub(crate) fn open(&mut self, parent: usize) -> usize {
        self.scopes.push(Scope {
            parent: Some(parent),
            names: Vec::new(),
        });
        self.scopes.len() - 1
    }

    /// How much has been declared so far.
    pub(crate) fn now(&self) -> u32 {
        self.order
    }

    /// Declares a variable; its position.
    pub(crate) fn declare(
        &mut self,
        decl: &VarDecl,
        scope: usize,
        owner: Option<usize>,
        at_creation: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let ty = self.resolve_type(&decl.ty, decl.span, diagnostics)?;
        let length = self.length(decl, diagnostics);
        let name = decl.name.clone();
        let same = |(other, _): &&(Rc<str>, usize)| *other == name;
        if let Some((_, before)) = self.scopes[scope].names.iter().find(same) {
            let message = format!("`{name}` is declared twice");
            let diagnostic = Diagnostic::error("duplicate-name", decl.span, message);
            let first = self.vars[*before].span;
            diagnostics.push(diagnostic.label(first, "first declared here"));
        }

        if self.mtypes.contains_key(&name) {
            let message =
                format!("`{name}` is an `mtype` constant, so no variable can be called that");
            diagnostics.push(Diagnostic::error("duplicate-name", decl.span, message));
        }

        self.order += 1;
        let index = self.vars.len();
        self.scopes[scope].names.push((name.clone(), index));
        self.vars.push(Var {
            name,
            ty,
            length,
            init: decl.init.clone(),
            at_creation,
            owner,
            is_parameter: false,
            hidden: decl.hidden,
            scope,
            order: self.order,
            span: decl.span,
            written: false,
            read: false,
        });
        Some(index)
    }

    /// Declares the parameters of a process type in a block of their own: the block, and the
    /// parameters as variables.
    pub(crate) fn declare_parameters(
        &mut self,
        process: &ast::Proctype,
        position: usize,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (usize, Vec<usize>) {
        let scope = self.open(GLOBAL);
        let mut parameters = Vec::new();
        for parameter in &process.parameters {
            let declared = self.declare(parameter, scope, Some(position), true, diagnostics);
            if let Some(index) = declared {
                self.vars[index].is_parameter = true;
                parameters.push(index);
            }
            if parameter.length.is_some() {
                let message = "a parameter cannot be an array";
                diagnostics.push(Diagnostic::error("wrong-type", parameter.span, message));
            }
        }
        (scope, parameters)
    }

    /// The value of an `mtype` constant.
    pub(crate) fn mtype(&self, name: &str) -> Option<i64> {
        let (declared, value) = self.mtypes.get_key_value(name)?;
        self.notes.found(name, declared);
        Some(*value)
    }

    /// The position of a field in a `typedef`.
    pub(crate) fn find_field(&self, ty: usize, name: &str) -> Option<usize> {
        let fields = &self.structs[ty].1;
        let at = fields.iter().position(|field| *field.name == *name)?;
        self.notes.found(name, &fields[at].name);
        Some(at)
    }

    /// The variable of a process type that a name means outside of it.
    pub(crate) fn find_local(&self, proctype: usize, name: &str) -> Option<usize> {
        let is_it = |var: &Var| var.owner == Some(proctype) && *var.name == *name;
        let found = self.vars.iter().position(is_it)?;
        self.notes.found(name, &self.vars[found].name);
        Some(found)
    }

    /// The variable that a name means, if any.
    pub(crate) fn lookup(&self, name: &str, context: Context) -> Option<usize> {
        let mut scope = Some(context.scope);
        while let Some(current) = scope {
            let names = self.scopes[current].names.iter().rev();
            let mut seen = names.filter(|(_, var)| self.vars[*var].order <= context.order);
            if let Some((declared, var)) = seen.find(|(other, _)| **other == *name) {
                self.notes.found(name, declared);
                return Some(*var);
            }
            scope = self.scopes[current].parent;
        }
        None
    }

    /// The variable that a reference starts with, or a diagnostic.
    pub(crate) fn resolve(
        &self,
        var: &ast::VarRef,
        context: Context,
        what: &str,
    ) -> Result<usize, Diagnostic> {
        let part = &var.parts[0];
        self.lookup(&part.name, context).ok_or_else(|| {
            let message = format!("the {what} `{}` is not declared", part.name);
            let diagnostic = Diagnostic::error("unknown-name", part.span, message);
            let visible = self.visible(context);
            match closest_name(&part.name, visible.iter().map(|name| &**name)) {
                Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
                None if what == "channel" => {
                    let help = format!("declare it: `chan {} = [1] of {{ byte }}`", part.name);
                    diagnostic.help(help)
                }
                None => diagnostic,
            }
        })
    }

    fn visible(&self, context: Context) -> Vec<Rc<str>> {
        let mut found: Vec<Rc<str>> = self.mtypes.keys().cloned().collect();
        let mut scope = Some(context.scope);
        while let Some(current) = scope {
            found.extend(
                self.scopes[current]
                    .names
                    .iter()
                    .map(|(name, _)| name.clone()),
            );
            scope = self.scopes[current].parent;
        }
        found
    }
}
