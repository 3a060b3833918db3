//! Measurements: medians over rounds, each beside what it replaces, in one run.
//!
//! Ratios within a run are the result; absolute times depend on the machine.

pub mod loader;
pub mod pipeline;
#[cfg(feature = "sim")]
pub mod sim;

use std::time::Instant;

use serde::Serialize;

/// One measured row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// The median, in `unit`.
    pub median: f64,
    /// The smallest and the largest round.
    pub range: [f64; 2],
    /// The unit of the figures.
    pub unit: &'static str,
    /// The row that this one is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// `median / median of against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The most that `median` is meant to be; a row above it loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
}

/// The figures of one suite.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The suite's name.
    pub suite: &'static str,
    /// The device that it ran on.
    pub device: String,
    /// The rows, in the order of measurement.
    pub rows: Vec<Row>,
}

impl Figures {
    /// Adds a row from the rounds' values.
    pub fn push(&mut self, name: &str, unit: &'static str, rounds: &[f64], against: Option<&str>) {
        let median = median(rounds);
        let range = [
            rounds.iter().copied().fold(f64::INFINITY, f64::min),
            rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let peer = against.and_then(|peer| self.rows.iter().find(|row| row.name == peer));
        let ratio = peer.map(|peer| median / peer.median);
        self.rows.push(Row {
            name: name.into(),
            median,
            range,
            unit,
            against: against.map(Into::into),
            ratio,
            bar: None,
        });
    }

    /// The rows as a table for people.
    #[must_use]
    pub fn table(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!("{} on {}\n", self.suite, self.device);
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        for row in &self.rows {
            let _ = write!(
                text,
                "  {:width$}  {:>10.2} {} ({:.2} to {:.2})",
                row.name, row.median, row.unit, row.range[0], row.range[1]
            );
            if let (Some(ratio), Some(against)) = (row.ratio, &row.against) {
                let _ = write!(text, "  {ratio:.3} x {against}");
            }
            if let Some(bar) = row.bar {
                let word = if row.median <= bar {
                    "within"
                } else {
                    "LOSES to"
                };
                let _ = write!(text, "  {word} the bar of {bar} {}", row.unit);
            }
            text.push('\n');
        }
        text
    }
}

/// The middle value; NaN for none.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Nanoseconds that one call of `work` takes, for each of `rounds` rounds of `calls` calls.
pub fn nanoseconds(rounds: usize, calls: u32, mut work: impl FnMut()) -> Vec<f64> {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                work();
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the figures could be some other value than the middle one.
    #[test]
    fn medians_and_ratios() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
        let mut figures = Figures {
            suite: "test",
            device: "none".into(),
            rows: Vec::new(),
        };
        figures.push("raw", "ns", &[2.0, 2.0, 9.0], None);
        figures.push("ours", "ns", &[3.0], Some("raw"));
        assert_eq!(figures.rows[1].ratio, Some(1.5));
        assert_eq!(figures.rows[0].range, [2.0, 9.0]);
    }
}
