//! Sizes, depth and mode of a pipeline.

use std::num::NonZeroUsize;

use crate::error::{Error, Result};

/// Sizes, depth and mode of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineConfig {
    /// Most elements of an item's input.
    pub input_len: usize,
    /// Most elements of an item's output.
    pub output_len: usize,
    /// Items that may be in flight at a time, each in a slot of its own; 3 by default. Three slots
    /// keep the three stages busy; a fourth hides the time that filling and consuming take on the
    /// host. One slot is the serial order, to compare with.
    pub depth: usize,
    /// Whether the device times of each stage are taken. Costs six timing events an item and
    /// memory that grows with the items of a run: for measurements, not for production.
    pub measured: bool,
}

impl PipelineConfig {
    /// Items of up to `input_len` elements that become up to `output_len` elements, three of them
    /// in flight.
    #[must_use]
    pub const fn new(input_len: usize, output_len: usize) -> Self {
        Self {
            input_len,
            output_len,
            depth: 3,
            measured: false,
        }
    }

    /// The same, with `depth` items in flight.
    #[must_use]
    pub const fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// The same, with the device times of each stage taken.
    #[must_use]
    pub const fn measured(self) -> Self {
        Self {
            measured: true,
            ..self
        }
    }

    /// The depth, of which there must be some.
    pub(super) fn slots(&self) -> Result<NonZeroUsize> {
        let none = || Error::invalid("pipeline depth", "a pipeline needs a slot");
        NonZeroUsize::new(self.depth).ok_or_else(none)
    }
}
