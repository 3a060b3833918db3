//! `Candidate`: one of the ways to launch a kernel.

use std::fmt::Write as _;

use cupola_managers::occupancy::{Occupancy, OccupancyCurve};
use cupola_managers::ops::LaunchConfig;

/// One of the ways to launch a kernel, known by its label.
pub trait Candidate {
    /// Tells it from the other candidates, in this process and in others: what has the same label is the
    /// same to the tuner.
    fn label(&self) -> String;
}

/// Threads of a block.
impl Candidate for u32 {
    fn label(&self) -> String {
        format!("{self} threads")
    }
}

/// Threads of a block in x, y and z.
impl Candidate for [u32; 3] {
    fn label(&self) -> String {
        let [x, y, z] = self;
        format!("{x} x {y} x {z} threads")
    }
}

impl Candidate for LaunchConfig {
    fn label(&self) -> String {
        let [x, y, z] = self.grid;
        let mut label = format!("{x} x {y} x {z} blocks of {}", self.block.label());
        if self.shared_bytes > 0 {
            let _ = write!(label, " and {} bytes", self.shared_bytes);
        }
        label
    }
}

/// The block sizes of a curve that are worth a measurement: those that fill at least half as much of a
/// multiprocessor as the best, if they are a power of two of warps or the best itself.
#[must_use]
pub fn block_sizes(curve: &OccupancyCurve) -> Vec<u32> {
    let Some(best) = curve.best() else {
        return Vec::new();
    };
    let is_worth = |threads: u32, warps: u32| {
        let is_round = threads.is_power_of_two() || threads == best.threads();
        is_round && 2 * warps >= best.active_warps()
    };
    let points = curve.points().iter();
    let worth = points.filter(|point| is_worth(point.threads(), point.active_warps()));
    worth.map(Occupancy::threads).collect()
}
