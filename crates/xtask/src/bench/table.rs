//! Tables that people and Markdown can read.

/// Rows under a heading. Invariant: all rows have as many cells as the heading.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|&cell| cell.to_owned());
        Self {
            rows: vec![heading.collect()],
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.rows[0].len(), "cells in {row:?}");
        self.rows.push(row);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_columns = self.rows[0].len();

        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or_default().max(3)
        };
        let widths: Vec<usize> = (0..n_columns).map(width).collect();

        for (number, row) in self.rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:>width$} ")?;
            }
            writeln!(f, "|")?;
            if number == 0 {
                let rules = widths.iter().map(|width| "-".repeat(width - 1));
                rules
                    .into_iter()
                    .try_for_each(|rule| write!(f, "| {rule}: "))?;
                writeln!(f, "|")?;
            }
        }

        Ok(())
    }
}

/// A count, in thousands or millions if it is large.
pub(super) fn count(value: f64) -> String {
    match value {
        v if v >= 1e8 => format!("{:.0}M", v / 1e6),
        v if v >= 1e6 => format!("{:.2}M", v / 1e6),
        v if v >= 1e4 => format!("{:.1}k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

/// A number with three digits.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// What is shown, or a dash.
pub(super) fn or_dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["model", "N"]);
        table.add(vec!["peterson".to_owned(), "4".to_owned()]);
        let expected = "\
|    model |   N |
| -------: | --: |
| peterson |   4 |
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(
            [0.0123, 1.234, 12.34, 1234.5].map(figure).join(" "),
            "0.012 1.23 12.3 1234"
        );
        assert_eq!(
            [9999.0, 15e3, 5.78e6, 2e8].map(count).join(" "),
            "9999 15.0k 5.78M 200M"
        );
        assert_eq!(or_dash(None, figure), "–");
    }
}
