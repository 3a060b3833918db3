//! Rows, as a table and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

/// The figures of a run.
#[derive(Debug, Serialize)]
pub struct Figures {
    device: String,
    notes: Vec<String>,
    rows: Vec<Row>,
}

/// One measured row.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    unit: &'static str,
    median: f64,
    p99: f64,
    least: f64,
    most: f64,
}

impl Figures {
    pub fn new(device: String) -> Self {
        Self {
            device,
            notes: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds a row of the rounds' values.
    pub fn push(&mut self, name: impl Into<String>, unit: &'static str, rounds: &[f64]) {
        let mut sorted = rounds.to_vec();
        sorted.sort_by(f64::total_cmp);
        self.rows.push(Row {
            name: name.into(),
            unit,
            median: quantile(&sorted, 0.5),
            p99: quantile(&sorted, 0.99),
            least: quantile(&sorted, 0.0),
            most: quantile(&sorted, 1.0),
        });
    }

    /// The rows as a table for people.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.device);
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        let widths = self.rows.iter().map(|row| row.name.chars().count());
        let width = widths.max().unwrap_or(0);
        let _ = writeln!(text, "  {:width$}  {:>10}  {:>10}", "", "median", "p99");
        for row in &self.rows {
            let (name, unit, median, p99) = (&row.name, row.unit, row.median, row.p99);
            let (least, most) = (row.least, row.most);
            let _ = writeln!(
                text,
                "  {name:width$}  {median:>10.2}  {p99:>10.2} {unit} ({least:.2} to {most:.2})"
            );
        }
        text
    }
}

/// The middle value; NaN for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The value below which this part of the others is.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (last as f64 * part).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
