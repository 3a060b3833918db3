//! Sizes, depth and mode of a pipeline.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

use super::downloads::CopyThreads;
use super::graphs::Graphs;
use super::telemetry::Sampling;
use crate::error::{Error, Result};

/// How much device memory the items in flight share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rings {
    /// An input and an output for each slot.
    #[default]
    Whole,
    /// So many of each, if that is less: the device waits until one is free again. With three slots,
    /// two inputs and two outputs overlap three equal stages as well as three of each do, but for
    /// what differs from item to item, and a step costs up to two waits on the device more.
    Split {
        /// Inputs.
        input: usize,
        /// Outputs.
        output: usize,
    },
}

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
    /// How many the pipeline may let be in flight by itself, if that is more: see
    /// [`adaptive`](Self::adaptive).
    pub most: usize,
    /// How much device memory they share.
    pub rings: Rings,
    /// Of which items the device times of each stage are taken; of none by default.
    pub sampling: Sampling,
    /// Which steps are launched as graphs. No item is whose times are taken.
    pub graphs: Graphs,
    /// Bytes up to which a kernel makes the copies of items that are launched as graphs; 0, for none, by
    /// default. See [`kernel_copies`](Self::kernel_copies).
    pub kernel_copies: usize,
    /// Whether a thread of its own puts the downloads.
    pub copy_threads: CopyThreads,
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
            most: 3,
            rings: Rings::Whole,
            sampling: Sampling::Off,
            graphs: Graphs::Chains,
            kernel_copies: 0,
            copy_threads: CopyThreads::WhereCopiesBlock,
        }
    }

    /// The same, with downloads put by a thread of their own, or not.
    #[must_use]
    pub const fn copy_threads(self, copy_threads: CopyThreads) -> Self {
        Self {
            copy_threads,
            ..self
        }
    }

    /// The same, with these steps launched as graphs.
    #[must_use]
    pub const fn graphs(self, graphs: Graphs) -> Self {
        Self { graphs, ..self }
    }

    /// The same, with the copies of up to `bytes` bytes made by a kernel where an item is launched as a
    /// graph, which reads or writes the pinned memory over the bus. Copies are what such a launch costs
    /// the host most: with them it takes 5 us, without 3.5 (H100). For items of some kilobytes, of which
    /// there are more than the host can submit: unlike a copy engine, this kernel waits for room on a
    /// device that other kernels fill.
    #[must_use]
    pub const fn kernel_copies(self, bytes: usize) -> Self {
        let kernel_copies = bytes;
        Self {
            kernel_copies,
            ..self
        }
    }

    /// The same, with `depth` items in flight.
    #[must_use]
    pub const fn depth(self, depth: usize) -> Self {
        self.adaptive(depth..=depth)
    }

    /// The same, with so many items in flight at first, and slots added up to the most while that helps:
    /// when the host is late at times, so that the device has nothing to do, and has to wait for the
    /// device at others. A slot that the pool refuses is not added, nor is another
    /// ([`Pipeline::growth`](super::Pipeline::growth)). Slots stay until the pipeline ends. Each item
    /// asks two events (`cuEventQuery`) as long as slots may be added; none is added
    /// during a run of [producers](super::Pipeline::producers). Split rings stay as long as they are.
    #[must_use]
    pub const fn adaptive(self, depth: RangeInclusive<usize>) -> Self {
        Self {
            depth: *depth.start(),
            most: *depth.end(),
            ..self
        }
    }

    /// The same, with at most so many inputs and outputs on the device.
    #[must_use]
    pub const fn split(self, input: usize, output: usize) -> Self {
        let rings = Rings::Split { input, output };
        Self { rings, ..self }
    }

    /// The same, with the device times of all items taken: for measurements.
    #[must_use]
    pub const fn measured(self) -> Self {
        self.sampling(Sampling::All)
    }

    /// The same, with the device times of these items taken: [`Sampling::SPARSE`] is for production.
    #[must_use]
    pub const fn sampling(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// The depth, of which there must be some.
    pub(super) fn slots(&self) -> Result<NonZeroUsize> {
        let none = || Error::invalid("pipeline depth", "a pipeline needs a slot");
        NonZeroUsize::new(self.depth).ok_or_else(none)
    }

    /// The most slots that there may be.
    pub(super) fn most_slots(&self) -> Result<NonZeroUsize> {
        let depth = self.slots()?;
        Ok(NonZeroUsize::new(self.most).map_or(depth, |most| most.max(depth)))
    }

    /// Whether each slot has an input and an output.
    pub(super) fn has_whole_rings(&self) -> bool {
        self.rings == Rings::Whole
    }

    /// How many inputs and outputs there are on the device, of both some.
    pub(super) fn buffers(&self) -> Result<(NonZeroUsize, NonZeroUsize)> {
        let depth = self.slots()?;
        let Rings::Split { input, output } = self.rings else {
            return Ok((depth, depth));
        };
        let none = || Error::invalid("pipeline rings", "an item needs an input and an output");
        let some = |count| NonZeroUsize::new(count).ok_or_else(none);
        Ok((depth.min(some(input)?), depth.min(some(output)?)))
    }
}
