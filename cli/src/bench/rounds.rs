//! Rounds: every case once inside each, so that whatever else the machine does concerns
//! all of them; and which samples count.

use std::time::Duration;

use super::clock::{Lap, Sample, Turn, together};
use super::{Figures, median};

/// Processor time as a part of the time that passed, below which a sample of one thread
/// is rejected; and a sample of several threads.
const UNDISTURBED: [f64; 2] = [0.97, 0.90];

/// The row whose result was wrong.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) String);

/// Something that is measured.
pub(super) struct Case {
    name: String,
    threads: usize,
    /// The row that this one is compared with.
    against: Option<String>,
    /// The same on one thread.
    alone: Option<String>,
    /// Its threads may sleep: then processor time says nothing about other work.
    sleeps: bool,
    /// One thread too is measured by the clock.
    by_clock: bool,
    sample: Box<dyn Fn(Duration) -> Option<Sample>>,
    samples: Vec<Sample>,
}

impl Case {
    /// Work that `threads` threads do at a time. It returns `None` when a result is wrong.
    pub(super) fn new(
        name: String,
        threads: usize,
        work: impl Fn(Turn<'_>) -> Option<Lap> + Sync + 'static,
    ) -> Self {
        Self::of_samples(name, threads, move |time| together(threads, time, &work))
    }

    /// The same for work that takes its samples itself, with `together`.
    pub(super) fn of_samples(
        name: String,
        threads: usize,
        sample: impl Fn(Duration) -> Option<Sample> + 'static,
    ) -> Self {
        Self {
            name,
            threads,
            against: None,
            alone: None,
            sleeps: false,
            by_clock: false,
            sample: Box::new(sample),
            samples: Vec::new(),
        }
    }

    /// Compares with the row `name`.
    pub(super) fn against(mut self, name: String) -> Self {
        self.against = (name != self.name).then_some(name);
        self
    }

    /// The row `name` is the same on one thread.
    pub(super) fn alone(mut self, name: String) -> Self {
        self.alone = Some(name);
        self
    }

    /// Says whether its threads may sleep.
    pub(super) fn sleeps(mut self, sleeps: bool) -> Self {
        self.sleeps = sleeps && self.threads > 1;
        self
    }

    /// Measures one thread by the clock, for work that waits outside the processor; then
    /// too little processor time is no reason to reject a sample.
    pub(super) fn by_clock(mut self) -> Self {
        self.by_clock = true;
        self
    }

    /// The name of its row.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn accepts(&self, sample: &Sample) -> bool {
        self.sleeps || self.by_clock || sample.share >= UNDISTURBED[usize::from(self.threads > 1)]
    }

    fn time(&self, sample: &Sample) -> f64 {
        if self.by_clock {
            sample.by_clock
        } else {
            sample.nanoseconds
        }
    }

    fn accepted(&self) -> usize {
        let accepted = self.samples.iter().filter(|sample| self.accepts(sample));
        accepted.count()
    }
}

/// Measures all cases, `rounds` samples of `time` each, and adds their rows.
pub(super) fn measure(
    figures: &mut Figures,
    mut cases: Vec<Case>,
    rounds: usize,
    time: Duration,
) -> Result<(), Wrong> {
    // The first round warms up. Cases whose samples were disturbed have as many rounds more.
    for round in 0..=2 * rounds {
        for case in &mut cases {
            if round > rounds && case.accepted() >= rounds {
                continue;
            }
            let sample = (case.sample)(time);
            let sample = sample.ok_or_else(|| Wrong(case.name.clone()))?;
            if round > 0 {
                case.samples.push(sample);
            }
        }
    }
    for case in &cases {
        row(figures, case, rounds);
    }
    Ok(())
}

fn row(figures: &mut Figures, case: &Case, rounds: usize) {
    let accepted = case.accepted();
    let disturbed = accepted < rounds.div_ceil(3);
    let counts = |sample: &&Sample| disturbed || case.accepts(sample);
    let counted = case.samples.iter().filter(counts);
    let times: Vec<f64> = counted.map(|sample| case.time(sample)).collect();
    let alone = case.alone.as_ref().and_then(|name| figures.row(name));
    let scaling = alone.map(|row| row.median / median(&times));
    let row = figures.push(&case.name, "ns", &times, case.against.as_deref());
    row.scaling = scaling;
    row.million_per_second = (case.threads > 1).then(|| case.threads as f64 * 1e3 / row.median);
    row.rejected = Some(case.samples.len() - accepted);
    row.disturbed = disturbed;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(shares: &[f64], sleeps: bool) -> Case {
        let mut case = Case::new("case".into(), 2, |_| None).sleeps(sleeps);
        case.samples = shares
            .iter()
            .map(|&share| Sample {
                nanoseconds: 10.0 / share,
                by_clock: 10.0,
                share,
            })
            .collect();
        case
    }

    /// Without it disturbed samples could be in a median that does not say so.
    #[test]
    fn disturbed_samples_do_not_count() {
        let mut figures = Figures::new("test", "none".into());
        row(&mut figures, &case(&[1.0, 0.5, 0.5], false), 3);
        row(&mut figures, &case(&[0.5, 0.5, 0.5], false), 3);
        row(&mut figures, &case(&[0.5, 0.5, 0.5], true), 3);
        let [some, none, sleeping] = &figures.rows[..] else {
            panic!("three rows");
        };
        assert!((some.median - 10.0).abs() < 1e-9 && !some.disturbed);
        assert_eq!(some.rejected, Some(2));
        assert!((none.median - 20.0).abs() < 1e-9 && none.disturbed);
        assert!(!sleeping.disturbed);
        assert_eq!(sleeping.rejected, Some(0));
    }

    /// Without it a wrong result could be published as a fast one.
    #[test]
    fn a_wrong_result_is_an_error() {
        let mut figures = Figures::new("test", "none".into());
        let cases = vec![Case::new("case".into(), 1, |_| None)];
        let result = measure(&mut figures, cases, 1, Duration::ZERO);
        assert!(matches!(result, Err(Wrong(name)) if name == "case"));
    }
}
