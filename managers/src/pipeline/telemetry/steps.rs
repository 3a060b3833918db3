//! `StepTimes`: how long steps take, and how far they are apart.

use super::histogram::Histogram;

/// How long the steps of a measured pipeline take, by the device's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepTimes {
    /// From the start of an item's upload to the end of its download: what waiting for one item costs.
    pub latency: Histogram,
    /// From the end of a download to that of the next item: what one more item costs. Only of
    /// neighbours, so that a [sample](super::Sampling) has fewer of these.
    pub interval: Histogram,
}

impl StepTimes {
    /// Adds those of another run.
    pub fn merge(&mut self, other: &Self) {
        self.latency.merge(&other.latency);
        self.interval.merge(&other.interval);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.latency.clear();
        self.interval.clear();
    }
}
