//! The figures of a suite: rows, what each is compared with, and what it is meant to reach.

use std::fmt::Write as _;

use serde::Serialize;

use super::median;

/// One measured row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// The median, in `unit`.
    pub median: f64,
    /// The smallest and the largest round, or process.
    pub range: [f64; 2],
    /// The median of each process, where several measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<f64>,
    /// The unit of the figures.
    pub unit: &'static str,
    /// The row that this one is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// `median / median of against`; where several processes measured, the median of theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Operations of all threads together, in millions a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub million_per_second: Option<f64>,
    /// What a thread among several gets done, as a part of what it does alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<f64>,
    /// Samples that are not in the figures because other work of the machine disturbed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<usize>,
    /// Too few samples were undisturbed: the figures are of all of them, and say little.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// What `median` is meant to be at most, or at least.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
}

/// What a row's median is meant to be at most, or at least.
#[derive(Clone, Debug, Serialize)]
pub struct Bar {
    /// What the median is compared with.
    #[serde(flatten)]
    pub target: Target,
    /// The row of the same run that the bar comes from, and the factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<(f64, String)>,
    /// The median is on the right side of the target. A row that is not loses.
    pub met: bool,
}

/// Where a median is meant to end or to begin, in the row's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The most that it is meant to be: of times and sizes.
    Most(f64),
    /// The least that it is meant to be: of rates.
    Least(f64),
}

/// The figures of one suite.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The suite's name.
    pub suite: &'static str,
    /// The device that it ran on.
    pub device: String,
    /// How it was measured, and what is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The rows, in the order of measurement.
    pub rows: Vec<Row>,
}

impl Figures {
    /// No figures yet.
    #[must_use]
    pub fn new(suite: &'static str, device: String) -> Self {
        Self {
            suite,
            device,
            notes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The row of this name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Adds a row from the rounds' values.
    pub fn push(
        &mut self,
        name: &str,
        unit: &'static str,
        rounds: &[f64],
        against: Option<&str>,
    ) -> &mut Row {
        let median = median(rounds);
        let range = [
            rounds.iter().copied().fold(f64::INFINITY, f64::min),
            rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let ratio = against
            .and_then(|peer| self.row(peer))
            .map(|peer| median / peer.median);
        let index = self.rows.len();
        self.rows.push(Row {
            name: name.into(),
            median,
            range,
            processes: Vec::new(),
            unit,
            against: against.map(Into::into),
            ratio,
            million_per_second: None,
            scaling: None,
            rejected: None,
            disturbed: false,
            bars: Vec::new(),
        });
        &mut self.rows[index]
    }

    /// Wants row `name` to be at most `factor` times the least of the rows `others` that
    /// were measured. Without the row, or without any of the others, there is no bar.
    pub fn want(&mut self, name: &str, factor: f64, others: &[&str]) {
        let best = others
            .iter()
            .filter_map(|other| self.row(other))
            .min_by(|a, b| a.median.total_cmp(&b.median));
        let Some((most, from)) = best.map(|row| (factor * row.median, row.name.clone())) else {
            return;
        };
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            row.want(most);
            if let Some(bar) = row.bars.last_mut() {
                bar.from = Some((factor, from));
            }
        }
    }

    /// Wants row `name` to be at least `factor` times the row `other`. Without either there is no bar.
    pub fn want_least(&mut self, name: &str, factor: f64, other: &str) {
        let Some(least) = self.row(other).map(|row| factor * row.median) else {
            return;
        };
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            let from = Some((factor, other.into()));
            row.bars.push(Bar {
                target: Target::Least(least),
                from,
                met: row.median >= least,
            });
        }
    }

    /// The rows as a table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!("{} on {}\n", self.suite, self.device);
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        let widths = self.rows.iter().map(|row| row.name.chars().count());
        let width = widths.max().unwrap_or(0);
        for row in &self.rows {
            row.line(width, &mut text);
        }
        let bars = || self.rows.iter().flat_map(|row| &row.bars);
        let lost = bars().filter(|bar| !bar.met).count();
        if lost > 0 {
            let _ = writeln!(text, "{lost} of {} targets are missed", bars().count());
        }
        text
    }
}

impl Row {
    /// Wants the median to be at most `most`.
    pub fn want(&mut self, most: f64) {
        self.bars.push(Bar {
            target: Target::Most(most),
            from: None,
            met: self.median <= most,
        });
    }

    fn line(&self, width: usize, text: &mut String) {
        let [least, most] = self.range;
        let (name, median, unit) = (&self.name, self.median, self.unit);
        // Factors of a peak differ by parts of a thousand.
        let digits = if unit == "x" { 4 } else { 2 };
        let _ = write!(
            text,
            "  {name:width$}  {median:>10.digits$} {unit} ({least:.digits$} to {most:.digits$})"
        );
        if let Some(rate) = self.million_per_second {
            let _ = write!(text, "  {rate:.1} M/s");
        }
        if let Some(scaling) = self.scaling {
            let _ = write!(text, "  scaling {scaling:.2}");
        }
        if let (Some(ratio), Some(against)) = (self.ratio, &self.against) {
            let _ = write!(text, "  {ratio:.3} x {against}");
        }
        for bar in &self.bars {
            let (Target::Most(target) | Target::Least(target)) = bar.target;
            let word = match (bar.met, bar.target) {
                (true, Target::Most(_)) => "within",
                (true, Target::Least(_)) => "reaches",
                (false, _) => "MISSES",
            };
            let _ = write!(text, "  {word} the target of {target:.digits$} {unit}");
            if let Some((factor, from)) = &bar.from {
                let _ = write!(text, " ({factor:.3} x {from})");
            }
        }
        match self.rejected {
            _ if self.disturbed => text.push_str("  DISTURBED by other work"),
            Some(rejected) if rejected > 0 => {
                let _ = write!(text, "  {rejected} samples rejected");
            }
            _ => {}
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a ratio could be of another row, or a bar of the wrong peer.
    #[test]
    fn ratios_and_bars() {
        let mut figures = Figures::new("test", "none".into());
        figures.push("raw", "ns", &[2.0, 2.0, 9.0], None);
        figures.push("peer", "ns", &[4.0], None);
        figures.push("ours", "ns", &[3.0], Some("raw"));
        assert_eq!(figures.rows[2].ratio, Some(1.5));
        assert_eq!(figures.rows[0].range, [2.0, 9.0]);

        figures.want("ours", 1.0, &["peer"]);
        figures.want("ours", 1.25, &["peer", "absent", "raw"]);
        figures.want("ours", 1.0, &["absent"]);
        figures.want("absent", 1.0, &["peer"]);
        let bars = &figures.rows[2].bars;
        assert_eq!(bars.len(), 2);
        assert!(bars[0].met && !bars[1].met);
        assert_eq!(bars[1].from, Some((1.25, "raw".into())));
        assert!(figures.table().contains("1 of 2 targets are missed"));

        figures.want_least("ours", 0.75, "peer");
        figures.want_least("ours", 0.9, "peer");
        figures.want_least("ours", 0.9, "absent");
        let bars = &figures.rows[2].bars[2..];
        assert_eq!(bars.len(), 2);
        assert!(bars[0].met && !bars[1].met);
        let json = serde_json::to_value(&bars[0]).unwrap();
        assert_eq!(json["least"], 3.0);
    }
}
