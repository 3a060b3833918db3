//! One form of a launch, which is made again and again.

use std::time::Instant;

use super::{LaunchError, allocations};
use crate::bench::median;

/// One form of a launch, which is made again and again.
pub(super) struct Form<'m> {
    pub(super) name: &'static str,
    launch: Box<dyn FnMut(u32) -> Result<(), LaunchError> + 'm>,
    settle: Box<dyn Fn() -> Result<(), LaunchError> + 'm>,
    /// Nanoseconds of the launch in the middle, of each round.
    pub(super) times: Vec<f64>,
    /// Allocations of the host in a round with the fewest.
    pub(super) allocations: u64,
}

impl<'m> Form<'m> {
    /// `launch` makes one launch, the how manyth of its round it is told, and `settle` waits for a round.
    pub(super) fn new(
        name: &'static str,
        launch: impl FnMut(u32) -> Result<(), LaunchError> + 'm,
        settle: impl Fn() -> Result<(), LaunchError> + 'm,
    ) -> Self {
        Self {
            name,
            launch: Box::new(launch),
            settle: Box::new(settle),
            times: Vec::new(),
            allocations: u64::MAX,
        }
    }

    pub(super) fn round(&mut self, launches: u32) -> Result<(), LaunchError> {
        let mut each = Vec::with_capacity(launches as usize);
        let before = allocations::of_this_thread();
        for launch in 0..launches {
            let start = Instant::now();
            (self.launch)(launch)?;
            each.push(start.elapsed().as_secs_f64() * 1e9);
        }
        self.allocations = self.allocations.min(allocations::of_this_thread() - before);
        // What holds the thread up concerns few launches, and changes the mean of all.
        self.times.push(median(&each));
        (self.settle)()
    }
}
