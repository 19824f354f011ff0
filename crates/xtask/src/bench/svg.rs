//! Pictures as SVG: lines, texts and marks on a background that follows the colours of the page.

use std::fmt::Write as _;

/// Colours for light and for dark pages. The marks of a series have one colour for both.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-size:15px;font-weight:600}\
.group{font-weight:600}.faint{fill:#6e7781}.page{fill:#fff}.grid{stroke:#d8dee4}\
.axis{stroke:#8c959f;stroke-width:1.5}.thin{stroke:#d0d7de;stroke-width:2}\
.us{fill:#24292f;stroke:#24292f}.path{fill:none;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9198a1}.page{fill:#0d1117}\
.grid{stroke:#2a313c}.axis{stroke:#7d8590}.thin{stroke:#3d444d}.us{fill:#f0f6fc;stroke:#f0f6fc}}";

/// A picture that is being drawn.
#[derive(Debug)]
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text is relative to its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(&format!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let ((x, y), text) = (at, escaped(text));
        self.add(&format!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// A mark with a text that appears when it is pointed at.
    pub(super) fn mark(&mut self, look: Look, at: (f64, f64), hint: &str) {
        let (x, y) = at;

        let points = |points: &[(f64, f64)]| {
            let points = points
                .iter()
                .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
            let points: Vec<String> = points.collect();
            format!(r#"<polygon {} points="{}""#, look.paint(), points.join(" "))
        };

        let shape = match look.shape {
            Shape::Circle => format!(r#"<circle {} cx="{x:.1}" cy="{y:.1}" r="5""#, look.paint()),
            Shape::Square => points(&[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)]),
            Shape::Triangle => points(&[(0.0, -6.0), (5.5, 4.5), (-5.5, 4.5)]),
            Shape::Drop => points(&[(0.0, 6.0), (5.5, -4.5), (-5.5, -4.5)]),
            Shape::Diamond => points(&[(0.0, -6.5), (6.0, 0.0), (0.0, 6.5), (-6.0, 0.0)]),
            Shape::Hourglass => points(&[(-5.0, -5.5), (5.0, -5.5), (-5.0, 5.5), (5.0, 5.5)]),
        };

        // The shape is closed by the name of its element.
        let name = shape
            .split([' ', '<'])
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        self.add(&format!(
            "{shape}><title>{}</title></{name}>",
            escaped(hint)
        ));
    }

    pub(super) fn path(&mut self, look: Look, points: &[(f64, f64)]) {
        let points = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        let points: Vec<String> = points.collect();
        let stroke = look
            .color
            .map_or(r#"class="path us" style="fill:none""#.to_owned(), |color| {
                format!(r#"class="path" stroke="{color}""#)
            });
        self.add(&format!(
            r#"<polyline {stroke} points="{}"/>"#,
            points.join(" ")
        ));
    }

    /// A row of marks with their names.
    pub(super) fn legend(&mut self, at: (f64, f64), entries: &[(&str, Look)]) {
        let (mut x, y) = at;
        for (name, look) in entries {
            self.mark(*look, (x, y - 4.0), name);
            self.text("", (x + 11.0, y), Anchor::Start, name);
            x += 40.0 + 7.2 * name.chars().count() as f64;
        }
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The whole file; `title` is for those who cannot see the picture.
    pub(super) fn finish(&self, title: &str) -> String {
        let Self {
            width,
            height,
            body,
        } = self;
        let mut file = String::new();
        let _ = writeln!(
            file,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{}</title>
<style>{STYLE}</style>
<rect class="page" width="{width}" height="{height}" rx="8"/>
{body}</svg>"#,
            escaped(title)
        );
        file
    }
}

/// How the marks of one series look. Shapes tell them apart where colours do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) shape: Shape,
    /// The colour of the text, if none.
    pub(super) color: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    /// A triangle upside down.
    Drop,
    Diamond,
    /// Two triangles that meet at a tip.
    Hourglass,
}

impl Look {
    fn paint(self) -> String {
        self.color.map_or(r#"class="us""#.to_owned(), |color| {
            format!(r#"fill="{color}""#)
        })
    }
}

/// From values to places, by logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogScale {
    values: (f64, f64),
    places: (f64, f64),
}

impl LogScale {
    /// Whole powers of ten around all values, which must be positive.
    pub(super) fn around(values: impl Iterator<Item = f64>, places: (f64, f64)) -> Self {
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let (least, most) = if most > 0.0 {
            (least, most)
        } else {
            (1.0, 10.0)
        };
        let least = least.log10().floor();
        let most = most.log10().ceil().max(least + 1.0);
        Self {
            values: (least, most),
            places,
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = (value.log10() - self.values.0) / (self.values.1 - self.values.0);
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// The powers of ten.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let (least, most) = (self.values.0 as i32, self.values.1 as i32);
        (least..=most).map(|power| 10_f64.powi(power)).collect()
    }

    /// The values at both ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (10_f64.powf(self.values.0), 10_f64.powf(self.values.1))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_begin_and_end_at_powers_of_ten() {
        let scale = LogScale::around([0.7, 3.0, 40.0].into_iter(), (0.0, 300.0));
        assert_eq!(scale.ticks(), [0.1, 1.0, 10.0, 100.0]);
        assert!((scale.place(1.0) - 100.0).abs() < 1e-9);
        assert_eq!(
            LogScale::around(std::iter::empty(), (0.0, 1.0))
                .ticks()
                .len(),
            2
        );
    }

    #[test]
    fn elements_are_closed_and_texts_escaped() {
        let mut svg = Svg::new(10.0, 10.0);
        for shape in [
            Shape::Circle,
            Shape::Square,
            Shape::Triangle,
            Shape::Drop,
            Shape::Diamond,
            Shape::Hourglass,
        ] {
            svg.mark(Look { shape, color: None }, (1.0, 2.0), "a < b");
        }
        let file = svg.finish("a & b");
        assert!(file.contains("<title>a &amp; b</title>"));
        assert_eq!(file.matches("a &lt; b</title></polygon>").count(), 5);
        assert_eq!(file.matches("a &lt; b</title></circle>").count(), 1);
    }
}
