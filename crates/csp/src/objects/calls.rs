//! Calls of macros, methods and functions.

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::{COPIED, Callee, Expander, RESULT, made, member, method, number, stmt};
use crate::ast::{ExprKind, ExprRef, Ident, MacroBody, MacroDecl, MethodDecl, Stmt, StmtKind};
use crate::lexer::Name;
use crate::rebuild::Rebuild as _;

impl Expander<'_> {
    /// What a name that is called means; nothing if it is built in or unknown.
    pub(super) fn callee(&self, name: &Name) -> Option<Callee> {
        let of_object = |object: &Name, class: &Name, wanted: &str| {
            let method = method(self.classes.get(class)?, wanted)?;
            Some(Callee {
                name: member(object, wanted),
                method: method.clone(),
                receiver: Some((object.clone(), class.clone())),
            })
        };

        if let Some((object, wanted)) = name.split_once('.') {
            let object = self.resolved(&object.into());
            return of_object(&object, self.objects.get(&object)?, wanted);
        }

        if let Some((object, class)) = &self.place.receiver
            && let Some(callee) = of_object(object, class, name)
        {
            return Some(callee);
        }

        let body = self.macros.get(name)?.clone();
        Some(Callee {
            name: name.clone(),
            method: MethodDecl {
                body,
                returns: None,
            },
            receiver: None,
        })
    }

    /// The value of a call.
    pub(super) fn call(&mut self, name: &Ident, arguments: &[ExprRef], expr: &ExprRef) -> ExprRef {
        let Some(callee) = self.callee(&name.text) else {
            return self.built_in(name, arguments, expr);
        };
        if callee.method.returns.is_some() {
            let message = format!("`{}` returns an object; assign it to one", name.text);
            self.error("type-mismatch", expr.span, message);
            return expr.clone();
        }
        let call = self.called(&callee, name, arguments, None, expr.span);
        if !callee.is_program() {
            return call;
        }
        self.before(callee, call, name)
    }

    /// The value of a program that runs before the statement at hand.
    pub(super) fn before(&mut self, callee: Callee, call: ExprRef, name: &Ident) -> ExprRef {
        let span = call.span;
        let result = self.fresh(RESULT);
        let ident = Ident {
            text: result.clone(),
            span,
        };

        match &mut self.place.before {
            Some(before) if !self.place.is_optional => {
                before.push(stmt(StmtKind::Local(ident, Some(call)), span));
            }
            Some(_) => {
                let message = format!(
                    "`{}` may not be evaluated here; give it a statement of its own, as in \
                     `var x = {0}(…);`",
                    name.text
                );
                self.error("unsupported", span, message);
            }
            None => {
                let message = format!(
                    "`{}` is a program, which can be called in programs of events only",
                    callee.name
                );
                self.error("unsupported", span, message);
            }
        }

        made(ExprKind::Name(result), span)
    }

    pub(super) fn built_in(
        &mut self,
        name: &Ident,
        arguments: &[ExprRef],
        expr: &ExprRef,
    ) -> ExprRef {
        match (&*name.text, arguments) {
            ("length", [array]) if self.array_of(array).is_some() => {
                let array = self.array_of(array).unwrap_or_default();
                self.arrays[&array][0].clone()
            }
            ("[]", _) => {
                let message = "an array is not a single value; give it a name first".to_owned();
                self.error("type-mismatch", expr.span, message);
                expr.clone()
            }
            (text, _) if text.starts_with("new ") => {
                let message = format!("the object of `{text}` must be assigned to a variable");
                self.error("type-mismatch", expr.span, message);
                expr.clone()
            }
            (text, _) if text.contains('.') => self.no_method(name, expr),
            _ => self.operands(expr),
        }
    }

    pub(super) fn no_method(&mut self, name: &Ident, expr: &ExprRef) -> ExprRef {
        let (object, wanted) = name.text.split_once('.').unwrap_or_default();
        let object = self.resolved(&object.into());
        let class = self.objects.get(&object).cloned();
        let class = class.and_then(|class| self.classes.get(&class));

        let (message, help) = match class {
            None => (
                format!("there is no object `{object}`"),
                format!("declare it, as in `var<Set> {object};`"),
            ),
            Some(class) => {
                let methods = class.methods.iter().map(|method| &*method.body.name.text);
                let methods =
                    methods.filter(|known| *known != COPIED && **known != *class.name.text);
                let methods: Vec<&str> = methods.collect();
                (
                    format!("`{}` has no method `{wanted}`", class.name.text),
                    format!("it has {}", methods.join(", ")),
                )
            }
        };

        let diagnostic = Diagnostic::error("unknown-name", name.span, message);
        self.diagnostics.push(diagnostic.help(help));
        expr.clone()
    }

    /// The call of the macro that knows which arrays and objects it is given. `result` is where an
    /// array or object goes that it returns.
    pub(super) fn called(
        &mut self,
        callee: &Callee,
        name: &Ident,
        arguments: &[ExprRef],
        result: Option<&Name>,
        span: Span,
    ) -> ExprRef {
        let parameters = &callee.method.body.parameters;
        if parameters.len() != arguments.len() {
            self.wrong_arity(name, parameters.len(), arguments.len());
        }
        if let Some((object, _)) = &callee.receiver
            && callee.is_program()
            && self.aliased.contains(object)
        {
            let message = format!(
                "`{object}` has two names in this program, and changes through one of them would \
                 show through the other"
            );
            self.error("unsupported", span, message);
        }

        // The name of the new macro says what it is given, so that each combination is made once.
        let mut text = callee.name.to_string();
        let mut names = Vec::new();
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            match self.whole(argument) {
                Some(whole) => {
                    text += &format!("@{whole}");
                    names.push((parameter.text.clone(), whole));
                }
                None => values.push(self.expr(argument)),
            }
        }
        if let Some(result) = result {
            text += &format!("@{result}");
            names.push((RESULT.into(), result.clone()));
        }

        let text: Name = text.into();
        if !self.made_names.contains(&text) {
            let receiver = callee.receiver.clone();
            self.make(text.clone(), &callee.method.body, names, receiver);
        }
        let name = Ident {
            text,
            span: name.span,
        };
        made(ExprKind::Call(name, values), span)
    }

    /// The array or object that an argument is, or that holds its value.
    pub(super) fn whole(&mut self, argument: &ExprRef) -> Option<Name> {
        if let Some(whole) = self.object_of(argument).or(self.array_of(argument)) {
            return Some(whole);
        }
        let ExprKind::Call(name, arguments) = &argument.kind else {
            return None;
        };

        let span = argument.span;
        let mut statements = Vec::new();
        let whole = if argument.is_array() {
            let scratch = self.scratch_array("array", vec![number(arguments.len(), span)], span);
            self.store_elements(&scratch, arguments, span, &mut statements);
            scratch
        } else {
            let callee = self.callee(&name.text)?;
            let class = callee.method.returns.clone()?;
            self.returned(&callee, &class, name, arguments, span, &mut statements)
        };

        // Where a program may be put before the statement at hand, it makes the array or object.
        match &mut self.place.before {
            Some(before) if !self.place.is_optional => before.extend(statements),
            _ => {
                let message = "an array or object is made here, which only programs can do";
                self.error("unsupported", span, message.to_owned());
            }
        }

        Some(whole)
    }

    /// The object that a method returns.
    pub(super) fn returned(
        &mut self,
        callee: &Callee,
        class: &Name,
        name: &Ident,
        arguments: &[ExprRef],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Name {
        let scratch = self.scratch_object(class, RESULT, span);
        let call = self.called(callee, name, arguments, Some(&scratch), span);
        if let Some(before) = &mut self.place.before {
            out.append(before);
        }
        out.push(stmt(StmtKind::Expr(call), span));
        scratch
    }

    /// Makes a macro with arrays and objects put in for some of its parameters.
    pub(super) fn make(
        &mut self,
        text: Name,
        decl: &MacroDecl,
        names: Vec<(Name, Name)>,
        receiver: Option<(Name, Name)>,
    ) {
        self.made_names.insert(text.clone());
        let is_whole = |parameter: &&Ident| names.iter().any(|(name, _)| *name == parameter.text);
        let parameters = decl.parameters.iter();
        let parameters: Vec<Ident> = parameters.filter(|p| !is_whole(p)).cloned().collect();

        // The body is read in the place of the call, where the parameters hide what is outside.
        let aliased = std::mem::take(&mut self.aliased);
        let outside = self.enter(names, receiver);
        for parameter in &parameters {
            self.hide(&parameter.text);
        }
        let body = match &decl.body {
            MacroBody::Expr(body) => MacroBody::Expr(self.expr(body)),
            MacroBody::Block(body) => MacroBody::Block(Rc::new(self.block(body))),
        };

        self.place = outside;
        self.aliased = aliased;
        self.made.push(MacroDecl {
            name: Ident {
                text,
                span: decl.name.span,
            },
            parameters,
            body,
        });
    }
}
