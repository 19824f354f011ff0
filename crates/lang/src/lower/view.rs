//! Pictures of the state, and values of expressions in it: what is asked is in the terms of the model.

use base::{Diagnostic, Span};
use model::{Expr, Scalar, Type};
use source::{Coordinate, Observed, Picture, PictureItem, Shape, ShapeText};

use super::Lowerer;
use super::names::{Binding, Ty};
use crate::ast::{self, CoordinateDecl, Decl, File, ShapeDecl, TextDecl, ViewDecl, ViewItem};

/// How wide and high a picture is that does not say so.
const SIZE: i64 = 100;

/// The colours that a picture can have.
const COLOURS: [&str; 9] = [
    "black", "blue", "gray", "green", "orange", "purple", "red", "white", "yellow",
];

impl<'a> Lowerer<'a> {
    /// The picture, if there is one. The members of a family have theirs once they have values.
    pub(super) fn view(&mut self, file: &'a File) {
        let mut first: Option<Span> = None;
        for decl in &file.decls {
            let Decl::View(decl) = decl else {
                continue;
            };
            if let Some(first) = first {
                let message = "the model has two pictures";
                let diagnostic = Diagnostic::error("duplicate", decl.span, message);
                self.report(diagnostic.label(first, "first declared here"));
                continue;
            }
            first = Some(decl.span);
            if !self.open.is_free() {
                self.picture = self.lowered_view(decl);
            }
        }
    }

    fn lowered_view(&mut self, decl: &'a ViewDecl) -> Option<Picture> {
        let (width, height) = match &decl.frame {
            Some((width, height)) => (self.constant_int(width), self.constant_int(height)),
            None => (Some(SIZE), Some(SIZE)),
        };
        let items = self.view_items(&decl.items);
        let (width, height) = (width?, height?);
        if !(1..=1_000_000).contains(&width) || !(1..=1_000_000).contains(&height) {
            let message = "the frame of a picture is between 1 and a million wide and high";
            self.report(Diagnostic::error("bad-frame", decl.span, message));
            return None;
        }
        Some(Picture {
            width,
            height,
            items,
        })
    }

    /// An expression whose values are wanted.
    pub(super) fn observed(&mut self, expr: &'a ast::Expr) -> Option<Observed> {
        let (cells, ty) = if self.shape_of(expr).is_some() {
            self.cells_of_shaped(expr)?
        } else {
            let (value, ty) = self.scalar(expr, None)?;
            let ty = match ty {
                Ty::Bool => Scalar::Bool,
                Ty::Int => Scalar::Int,
                Ty::Enum(id) => self.enum_scalar(id)?,
            };
            (vec![value], Type::Scalar(ty))
        };
        Some(Observed {
            cells,
            ty,
            span: expr.span,
        })
    }

    /// What could be translated; the rest has been reported.
    fn view_items(&mut self, items: &'a [ViewItem]) -> Vec<PictureItem> {
        items
            .iter()
            .filter_map(|item| self.view_item(item))
            .collect()
    }

    fn view_item(&mut self, item: &'a ViewItem) -> Option<PictureItem> {
        match item {
            ViewItem::Shape(decl) => Some(PictureItem::Shape(Box::new(self.shape(decl)?))),
            ViewItem::For {
                name,
                lo,
                hi,
                items,
            } => {
                let span = lo.span.to(hi.span);
                let (lo, hi) = (self.int_expr(lo), self.int_expr(hi));
                let bound = self.fresh_bound(&name.text);
                self.scope.push(Binding::bound(&name.text, bound, Ty::Int));
                let items = self.view_items(items);
                self.scope.pop();
                Some(PictureItem::For {
                    bound,
                    lo: lo?,
                    hi: hi?,
                    items,
                    span,
                })
            }
        }
    }

    fn shape(&mut self, decl: &'a ShapeDecl) -> Option<Shape> {
        let coordinates: Vec<Option<Coordinate>> = { decl.coordinates.iter() }
            .map(|coordinate| self.coordinate(coordinate))
            .collect();

        let text = match &decl.text {
            Some(text) => Some(self.shape_text(text)?),
            None => None,
        };
        let condition = match &decl.condition {
            Some(condition) => Some(self.bool_expr(condition)?),
            None => None,
        };

        let coordinates = coordinates.into_iter().collect::<Option<Vec<_>>>()?;
        self.check_numbers(decl)?;

        Some(Shape {
            kind: decl.kind,
            coordinates,
            colour: self.colour(decl)?,
            text,
            condition,
            span: decl.span,
        })
    }

    fn coordinate(&mut self, decl: &'a CoordinateDecl) -> Option<Coordinate> {
        match decl {
            CoordinateDecl::Number(expr) => self.int_expr(expr).map(Coordinate::Number),
            CoordinateDecl::Ring(arguments, span) => {
                let lowered: Vec<Option<Expr>> = { arguments.iter() }
                    .map(|argument| self.int_expr(argument))
                    .collect();
                let lowered = lowered.into_iter().collect::<Option<Vec<_>>>()?;
                let n_given = lowered.len();
                let Ok(five) = <[Expr; 5]>::try_from(lowered) else {
                    let message = format!("`ring` has 5 arguments, not {n_given}");
                    let diagnostic = Diagnostic::error("wrong-arguments", *span, message)
                        .help("write `ring(x, y, radius, i, n)` for the place of i among n");
                    self.report(diagnostic);
                    return None;
                };
                Some(Coordinate::Ring(Box::new(five)))
            }
        }
    }

    fn shape_text(&mut self, decl: &'a TextDecl) -> Option<ShapeText> {
        let expr = match decl {
            TextDecl::Word(word) => return Some(ShapeText::Word(word.text.clone())),
            TextDecl::Value(expr) => expr,
        };
        let (lowered, ty) = self.scalar(expr, None)?;
        let names = match ty {
            Ty::Bool => Some(vec!["false".to_owned(), "true".to_owned()]),
            Ty::Enum(id) => Some(self.parts.enums[id.index()].variants.clone()),
            _ => None,
        };
        Some(ShapeText::Value(lowered, names))
    }

    /// Are there as many numbers as the shape needs?
    fn check_numbers(&mut self, decl: &ShapeDecl) -> Option<()> {
        let numbers = decl.coordinates.iter().map(|coordinate| match coordinate {
            CoordinateDecl::Number(_) => 1,
            CoordinateDecl::Ring(..) => 2,
        });
        let (n_given, n_needed) = (numbers.sum::<usize>(), decl.kind.n_numbers());
        if n_given == n_needed {
            return Some(());
        }
        let name = decl.kind.name();
        let message = format!("a {name} needs {n_needed} numbers, not {n_given}");
        let diagnostic = Diagnostic::error("wrong-arguments", decl.span, message).help(
            "write `circle x, y, radius`, `box x, y, width, height`, `line x, y, x, y` or `text x, y`; `ring(…)` counts as two",
        );
        self.report(diagnostic);
        None
    }

    fn colour(&mut self, decl: &ShapeDecl) -> Option<String> {
        let Some(colour) = &decl.colour else {
            return Some("black".to_owned());
        };
        if COLOURS.contains(&colour.text.as_str()) {
            return Some(colour.text.clone());
        }
        let message = format!("`{}` is not a colour", colour.text);
        let mut diagnostic = Diagnostic::error("unknown-name", colour.span, message)
            .help(format!("colours are {}", COLOURS.join(", ")));
        if let Some(meant) = base::closest_name(&colour.text, COLOURS) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        self.report(diagnostic);
        None
    }
}
