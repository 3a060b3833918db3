//! `TuneReport`: what came of each candidate.

use std::fmt;
use std::time::Duration;

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrialOutcome {
    /// It was measured in every round.
    Measured {
        /// The median of its samples, of one launch.
        median: Duration,
        /// How many samples.
        samples: u32,
    },
    /// It left the race early: its fastest sample was clearly slower than the best candidate's median.
    Slower {
        /// The median of the samples that it had.
        median: Duration,
        /// How many samples.
        samples: u32,
    },
    /// Its launch was refused.
    Refused {
        /// The error's text.
        reason: String,
    },
}

/// A candidate, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The candidate's label.
    pub label: String,
    /// What came of it.
    pub outcome: TrialOutcome,
}

/// What came of each candidate, in the order in which they were given. Its text is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneReport {
    pub(super) trials: Vec<Trial>,
    pub(super) launches: u32,
}

impl TuneReport {
    /// One for each candidate.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Launches of a sample: more than one where a launch is short against the steps of the clock.
    #[must_use]
    pub fn launches_per_sample(&self) -> u32 {
        self.launches
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, outcome } = self;
        match outcome {
            TrialOutcome::Measured { median, samples } => {
                write!(f, "{label}: {median:?} (median of {samples})")
            }
            TrialOutcome::Slower { median, samples } => {
                write!(
                    f,
                    "{label}: {median:?} (median of {samples}), clearly slower"
                )
            }
            TrialOutcome::Refused { reason } => write!(f, "{label}: refused: {reason}"),
        }
    }
}

impl fmt::Display for TuneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, trial) in self.trials.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            trial.fmt(f)?;
        }
        Ok(())
    }
}
