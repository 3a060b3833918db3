//! What was measured, in one process or in several.

use serde::{Deserialize, Serialize};

use super::form::Form;
use super::{ADDRESSES, CHECKED, RAW, TYPED};
use crate::bench::{Figures, Row, median};

/// Nanoseconds that a launch may take beside the driver's call.
const BESIDE: f64 = 30.0;

/// Nanoseconds that the check of an address may take.
const CHECK: f64 = 50.0;

/// What one process measured in each of its rounds, or the medians of several processes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Samples {
    of: Source,
    notes: Vec<String>,
    forms: Vec<FormSamples>,
    /// Nanoseconds that the check of one address takes.
    check: Vec<f64>,
}

/// What a sample is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Source {
    /// A round.
    Round,
    /// A process: the median of its rounds.
    Process,
}

/// What was measured of one form.
#[derive(Debug, Serialize, Deserialize)]
struct FormSamples {
    name: String,
    /// Nanoseconds of a launch.
    times: Vec<f64>,
    /// What it takes of the driver's call of the same round.
    ratios: Vec<f64>,
    /// Nanoseconds that it takes more than that.
    beside: Vec<f64>,
    /// Allocations of the host in a round that the driver's call does not make.
    allocations: Vec<f64>,
}

impl Samples {
    /// Of forms that have had their rounds, the first of which is the driver's call.
    pub(super) fn of(forms: &[Form<'_>], notes: Vec<String>) -> Self {
        let named = |name| forms.iter().find(|form| form.name == name);
        let check = match (named(ADDRESSES), named(CHECKED)) {
            (Some(unchecked), Some(checked)) => {
                let pairs = checked.times.iter().zip(&unchecked.times);
                // The form has two addresses.
                pairs
                    .map(|(with, without)| (with - without) / 2.0)
                    .collect()
            }
            _ => Vec::new(),
        };
        let forms = match forms.first() {
            Some(raw) => forms.iter().map(|form| form.samples(raw)).collect(),
            None => Vec::new(),
        };
        Self {
            of: Source::Round,
            notes,
            forms,
            check,
        }
    }

    /// Each row's median alone: what a process tells the one that started it.
    #[must_use]
    pub fn medians(mut self) -> Self {
        let rows = self.forms.iter_mut().flat_map(FormSamples::rows);
        for row in rows.chain([&mut self.check]) {
            *row = vec![median(row)];
        }
        self.of = Source::Process;
        self
    }

    /// Adds what another process has measured. False, and nothing is added, if those are other forms.
    pub(super) fn append(&mut self, other: Self) -> bool {
        let names = |samples: &[FormSamples]| -> Vec<String> {
            samples.iter().map(|form| form.name.clone()).collect()
        };
        if names(&self.forms) != names(&other.forms) {
            return false;
        }
        for (form, mut more) in self.forms.iter_mut().zip(other.forms) {
            for (row, more) in form.rows().into_iter().zip(more.rows()) {
                row.append(more);
            }
        }
        self.check.extend(other.check);
        true
    }

    /// Figures of each row, which are as many as processes, or rounds of one.
    pub(super) fn count(&self) -> usize {
        self.forms.first().map_or(0, |form| form.times.len())
    }

    /// How it was measured.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The rows, with what a kernel with a signature and the check of an address are meant to take at most.
    pub(super) fn add_rows(&self, figures: &mut Figures) {
        figures.notes.extend(self.notes.iter().cloned());
        if self.of == Source::Round {
            let note = "of one process; another one may differ by 20 ns and more, see --processes";
            figures.notes.push(note.into());
        }
        for form in &self.forms {
            let row = self.add(figures, &form.name, "ns", &form.times);
            if form.name != RAW {
                // Of the same rounds: two processes differ by more than two forms.
                row.against = Some(RAW.into());
                row.ratio = Some(median(&form.ratios));
            }
        }
        let others = || self.forms.iter().filter(|form| form.name != RAW);
        let beside = |form: &str| format!("{form}: more than the driver's call");
        for form in others() {
            let row = self.add(figures, &beside(&form.name), "ns", &form.beside);
            if form.name == TYPED {
                row.want(BESIDE);
            }
        }
        let name = "the check of an address among 1000 blocks";
        self.add(figures, name, "ns", &self.check).want(CHECK);
        for form in others() {
            let name = format!("{}: allocations beside the driver's", form.name);
            let row = self.add(figures, &name, "allocations", &form.allocations);
            if form.name == TYPED {
                row.want(0.0);
            }
        }
        let peers: Vec<String> = others()
            .filter(|form| form.name.starts_with("cudarc"))
            .map(|form| beside(&form.name))
            .collect();
        let peers: Vec<&str> = peers.iter().map(String::as_str).collect();
        figures.want(&beside(TYPED), 1.0, &peers);
    }

    fn add<'f>(
        &self,
        figures: &'f mut Figures,
        name: &str,
        unit: &'static str,
        samples: &[f64],
    ) -> &'f mut Row {
        let row = figures.push(name, unit, samples, None);
        if self.of == Source::Process {
            row.processes = samples.to_vec();
        }
        row
    }
}

impl FormSamples {
    fn rows(&mut self) -> [&mut Vec<f64>; 4] {
        [
            &mut self.times,
            &mut self.ratios,
            &mut self.beside,
            &mut self.allocations,
        ]
    }
}

impl Form<'_> {
    fn samples(&self, raw: &Self) -> FormSamples {
        let pairs = || self.times.iter().zip(&raw.times);
        FormSamples {
            name: self.name.to_owned(),
            times: self.times.clone(),
            ratios: pairs().map(|(time, raw)| time / raw).collect(),
            beside: pairs().map(|(time, raw)| time - raw).collect(),
            // The software device allocates within the call.
            allocations: vec![self.allocations as f64 - raw.allocations as f64],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &'static str, times: &[f64], allocations: u64) -> Form<'static> {
        let mut form = Form::new(name, |_| Ok(()), || Ok(()));
        form.times = times.to_vec();
        form.allocations = allocations;
        form
    }

    fn samples(raw: &[f64], typed: &[f64]) -> Samples {
        let forms = [
            form(RAW, raw, 1),
            form(TYPED, typed, 1),
            form(ADDRESSES, typed, 1),
            form(CHECKED, raw, 4),
        ];
        Samples::of(&forms, vec!["a note".into()])
    }

    /// Without it the difference of medians could be shown for the median of differences, or the rounds of one
    /// process weigh more than those of another.
    #[test]
    fn a_row_is_the_median_of_the_medians_of_processes() {
        let one = samples(&[10.0, 40.0, 20.0], &[30.0, 41.0, 25.0]).medians();
        let mut all = samples(&[100.0; 9], &[115.0; 9]).medians();
        assert!(all.append(one));
        let text = serde_json::to_string(&all).unwrap();
        let all: Samples = serde_json::from_str(&text).unwrap();
        let mut figures = Figures::new("launch", "none".into());
        all.add_rows(&mut figures);
        let row = |name: &str| figures.row(name).unwrap();
        let beside = row("a kernel with a signature: more than the driver's call");
        assert_eq!(beside.range, [5.0, 15.0]);
        assert_eq!(beside.median, 10.0);
        assert_eq!(beside.processes, [15.0, 5.0]);
        assert!(beside.bars[0].met);
        // 1.15 and 1.25, where the medians of both forms' times are 60 and 72.5.
        let ratio = row(TYPED).ratio.unwrap();
        assert!((ratio - 1.2).abs() < 1e-9, "{ratio}");
        assert_eq!(row(RAW).median, 60.0);
        assert_eq!(
            row("the check of an address among 1000 blocks").median,
            -5.0
        );
        let allocations = format!("{CHECKED}: allocations beside the driver's");
        assert_eq!(row(&allocations).median, 3.0);
        assert_eq!(figures.notes, ["a note"]);
    }

    /// Without it the figures of a program with other forms could become those of these.
    #[test]
    fn other_forms_are_not_added() {
        let mut all = samples(&[1.0], &[2.0]);
        let other = Samples::of(&[form(RAW, &[1.0], 0)], Vec::new());
        assert!(!all.append(other));
        assert_eq!(all.forms[0].times, [1.0]);
    }
}
