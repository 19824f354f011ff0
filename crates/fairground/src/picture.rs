//! The picture that a model draws of a state, as plain data.

use evidence::NamedRun;
use model::{Env, Expr, Model, RunTimeError, State};
use source::{Content, Coordinate, Picture, PictureItem, Shape, ShapeText};

use crate::project::Project;
use crate::simulation::start::error_text;

/// More shapes than these are not drawn.
const MAX_SHAPES: usize = 5000;

/// A picture of a state.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnPicture {
    /// How wide it is.
    pub width: i64,
    /// How high it is.
    pub height: i64,
    /// What it shows, later shapes over earlier ones.
    pub shapes: Vec<DrawnShape>,
    /// Why something is missing, if it is.
    pub error: Option<String>,
}

/// A shape of a picture.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnShape {
    /// `circle` (centre, radius), `box` (corner, size), `line` (both ends) or `text` (centre).
    pub kind: &'static str,
    /// Where it is.
    pub numbers: Vec<f64>,
    /// The name of its colour.
    pub colour: String,
    /// What a text says.
    pub text: String,
}

impl Project {
    /// The picture of a state of the first system, if the model has one.
    #[must_use]
    pub fn picture(&self, state: &State) -> Option<DrawnPicture> {
        let Content::Systems(systems) = &self.content else {
            return None;
        };

        let picture: &Picture = systems[0].picture.as_ref()?;
        let mut painter = Painter {
            model: &systems[0].model,
            state,
            env: Env::empty(),
            shapes: Vec::new(),
        };

        let painted = painter.items(&picture.items);

        let error = match painted {
            Err(error) => Some(error_text(&error, &self.sources)),
            Ok(()) if painter.shapes.len() == MAX_SHAPES => {
                Some(format!("more than {MAX_SHAPES} shapes"))
            }
            Ok(()) => None,
        };

        Some(DrawnPicture {
            width: picture.width,
            height: picture.height,
            shapes: painter.shapes,
            error,
        })
    }
}

impl Project {
    /// Does the model draw pictures of its states?
    #[must_use]
    pub fn has_picture(&self) -> bool {
        match &self.content {
            Content::Systems(systems) => systems[0].picture.is_some(),
            Content::Family(_) | Content::Threshold(_) => false,
        }
    }

    /// The picture of a state of a run in names; nothing if the state does not fit the model, or the
    /// model has no picture.
    #[must_use]
    pub fn picture_of(&self, run: &NamedRun, at: usize) -> Option<DrawnPicture> {
        let alone = NamedRun {
            vars: run.vars.clone(),
            wholes: run.wholes.clone(),
            states: vec![run.states.get(at)?.clone()],
            loop_start: None,
        };
        let trace = alone.to_trace(self.model().ok()?).ok()?;
        self.picture(&trace.states[0])
    }
}

struct Painter<'a> {
    model: &'a Model,
    state: &'a State,
    env: Env,
    shapes: Vec<DrawnShape>,
}

impl Painter<'_> {
    fn items(&mut self, items: &[PictureItem]) -> Result<(), RunTimeError> {
        for item in items {
            match item {
                PictureItem::Shape(shape) => self.shape(shape)?,
                PictureItem::For {
                    bound,
                    lo,
                    hi,
                    items,
                    span,
                } => {
                    let (lo, hi) = (self.eval(lo, *span)?, self.eval(hi, *span)?);
                    for value in lo..=hi {
                        if self.shapes.len() == MAX_SHAPES {
                            return Ok(());
                        }
                        self.env.bind(*bound, value);
                        let drawn = self.items(items);
                        self.env.unbind();
                        drawn?;
                    }
                }
            }
        }
        Ok(())
    }

    fn shape(&mut self, shape: &Shape) -> Result<(), RunTimeError> {
        let is_there = match &shape.condition {
            Some(condition) => self.eval(condition, shape.span)? != 0,
            None => true,
        };
        if !is_there || self.shapes.len() == MAX_SHAPES {
            return Ok(());
        }

        let mut numbers = Vec::new();
        for coordinate in &shape.coordinates {
            match coordinate {
                Coordinate::Number(expr) => numbers.push(self.eval(expr, shape.span)? as f64),
                Coordinate::Ring(five) => {
                    let mut values = [0.0; 5];
                    for (value, expr) in values.iter_mut().zip(five.iter()) {
                        *value = self.eval(expr, shape.span)? as f64;
                    }
                    numbers.extend(place_on_ring(values));
                }
            }
        }

        let text = match &shape.text {
            None => String::new(),
            Some(ShapeText::Word(word)) => word.clone(),
            Some(ShapeText::Value(expr, names)) => {
                let value = self.eval(expr, shape.span)?;
                let position = usize::try_from(value).ok();
                let name = names
                    .as_ref()
                    .zip(position)
                    .and_then(|(names, at)| names.get(at));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
        };

        self.shapes.push(DrawnShape {
            kind: shape.kind.name(),
            numbers,
            colour: shape.colour.clone(),
            text,
        });
        Ok(())
    }

    fn eval(&mut self, expr: &Expr, span: base::Span) -> Result<i64, RunTimeError> {
        self.model.eval(expr, self.state, &mut self.env, span)
    }
}

/// The place of member `i` of `n` around a centre, clockwise, the first on top.
fn place_on_ring([x, y, radius, i, n]: [f64; 5]) -> [f64; 2] {
    let turn = if n == 0.0 { 0.0 } else { i / n } * std::f64::consts::TAU;
    // Two digits are more than a screen shows, and the same on every machine.
    let round = |value: f64| (value * 100.0).round() / 100.0;
    [
        round(x + radius * turn.sin()),
        round(y - radius * turn.cos()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Options};

    fn pictures(text: &str) -> Vec<DrawnPicture> {
        let files = Memory::new([("m.fair", text)]);
        let project = Project::open(&files, "m.fair", &Options::default()).unwrap();
        let first = project.initial_states().unwrap().remove(0);
        let mut run = project.simulate(first).unwrap();
        let mut pictures = Vec::new();
        for _ in 0..2 {
            let now = run.walk().state(run.n_steps());
            pictures.extend(project.picture(now));
            run.take(0);
        }
        pictures
    }

    #[test]
    fn shapes_follow_the_state() {
        let text = "enum Light { stop, go }
            var light : Light = stop
            var x : 0..9 = 1
            process P { step { x := x + 4; light := go } }
            view {
                frame 40, 20
                for i in 0..1 { box 10 * i, 0, 5, x green when i == 0 || light == go }
                circle ring(20, 10, 8, 1, 4), 2 red
                text 1, 2 = light
                text 3, 4 hello blue
            }";

        let [before, after] = pictures(text).try_into().expect("two pictures");
        assert_eq!((before.width, before.height), (40, 20));
        assert_eq!(before.error, None);

        let numbers = |picture: &DrawnPicture| -> Vec<Vec<f64>> {
            picture
                .shapes
                .iter()
                .map(|shape| shape.numbers.clone())
                .collect()
        };

        assert_eq!(
            numbers(&before),
            [
                vec![0.0, 0.0, 5.0, 1.0],
                vec![28.0, 10.0, 2.0],
                vec![1.0, 2.0],
                vec![3.0, 4.0]
            ]
        );
        assert_eq!(
            numbers(&after)[..2],
            [vec![0.0, 0.0, 5.0, 5.0], vec![10.0, 0.0, 5.0, 5.0]]
        );

        let texts: Vec<&str> = after
            .shapes
            .iter()
            .map(|shape| shape.text.as_str())
            .collect();
        assert_eq!(texts, ["", "", "", "go", "hello"]);
        assert_eq!(after.shapes[4].colour, "blue");
    }

    #[test]
    fn an_error_in_a_picture_is_told() {
        let text = "var a : bool[2] = false
            var x : 0..9 = 1
            process P { step { x := x + 1 } }
            view { circle 1, 1, 1 when a[x] }";
        let pictures = pictures(text);
        assert_eq!(pictures[0].error, None);
        assert!(
            pictures[1]
                .error
                .as_deref()
                .is_some_and(|error| error.contains("index"))
        );
    }

    #[test]
    fn wrong_pictures_are_diagnosed() {
        for (view, code) in [
            ("circle 1, 2", "wrong-arguments"),
            ("circle ring(1, 2, 3), 4", "wrong-arguments"),
            ("circle 1, 2, 3 pink", "unknown-name"),
            ("blob 1, 2", "syntax"),
            ("circle nowhere, 2, 3", "unknown-name"),
            ("circle true, 2, 3", "type-mismatch"),
            ("text 1, 2", "syntax"),
        ] {
            let text = format!("process P {{ step {{ skip }} }}\nview {{ {view} }}");
            let files = Memory::new([("m.fair", text.as_str())]);
            let error = Project::open(&files, "m.fair", &Options::default()).unwrap_err();
            let crate::Error::Text(wrong) = error else {
                panic!("{view}: {error}");
            };
            let codes: Vec<&str> = wrong.diagnostics.iter().map(|d| d.code).collect();
            assert_eq!(codes, [code], "{view}");
        }
    }
}
