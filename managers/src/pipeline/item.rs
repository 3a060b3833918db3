//! `Step` and `Item`: an item on the device, for kernels, and one that has arrived.

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::error::Error;
use crate::stream::Stream;

/// One item on the device: the stream for a step's kernels, and the memory that they work on.
#[derive(Debug)]
pub struct Step<'s, I: DeviceCopy, O: DeviceCopy> {
    /// The number of the item in its run, from 0.
    pub index: u64,
    /// The compute stream, or that of a capture: see [`Graphs`](super::Graphs).
    pub stream: &'s Stream,
    /// The item's input, as long as it was filled.
    pub input: DeviceSlice<'s, I>,
    /// Where the item's output goes. Its contents are those of an earlier item, or
    /// unspecified; the sink is given the elements that the step says it has written.
    pub output: DeviceSliceMut<'s, O>,
    pub(super) progress: &'s mut Progress,
}

/// What the pipeline learns of a step while it is put.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Progress {
    /// Which kernel of a chain is put just now: an error names it.
    pub(super) kernel: usize,
    /// Whether the step is a chain that does the same again for an item of the same length.
    pub(super) repeats: bool,
}

/// One item that has arrived, for a sink.
#[derive(Debug)]
pub struct Item<'s, O> {
    /// The number of the item in its run, from 0.
    pub index: u64,
    /// Elements that its input was filled with.
    pub input_len: usize,
    /// Its output: as many elements as the step said.
    pub output: &'s [O],
}

pub(super) fn too_long(len: usize, room: usize) -> Error {
    let problem = format!("{len} elements filled, there is room for {room}");
    Error::invalid("pipeline input", problem)
}
