//! Parts of pinned memory of any elements: what copies of several buffers are made of.

use std::ops::Range;
use std::ptr;

use super::{Copying, PinnedBuffer};
use crate::buffer::DeviceCopy;
use crate::error::{Result, Taints, Written};
use crate::stream::Stream;

/// Pinned memory of any elements.
pub(crate) trait PinnedMemory: Sync {
    /// See [`PinnedBuffer::begin_copy`].
    fn begin_copy<'p>(&'p self, stream: &'p Stream) -> Result<Copying<'p>>;

    /// Where it begins.
    fn start(&self) -> *mut u8;

    /// Bytes, from its beginning, that a copy has failed to write.
    fn taints(&self) -> &Taints;
}

impl<T: DeviceCopy> PinnedMemory for PinnedBuffer<T> {
    fn begin_copy<'p>(&'p self, stream: &'p Stream) -> Result<Copying<'p>> {
        Self::begin_copy(self, stream)
    }

    fn start(&self) -> *mut u8 {
        self.as_ptr().cast()
    }

    fn taints(&self) -> &Taints {
        &self.taints
    }
}

/// Some bytes of pinned memory, for a copy from or to them.
#[derive(Clone)]
pub(crate) struct PinnedPart<'p> {
    memory: &'p dyn PinnedMemory,
    bytes: Range<usize>,
}

impl<'p> PinnedPart<'p> {
    pub(super) fn new(memory: &'p dyn PinnedMemory, bytes: Range<usize>) -> Self {
        Self { memory, bytes }
    }

    /// The memory that it is part of.
    pub(crate) fn memory(&self) -> &'p dyn PinnedMemory {
        self.memory
    }

    /// What tells the memory from other memory.
    pub(crate) fn identity(memory: &dyn PinnedMemory) -> usize {
        ptr::from_ref(memory).addr()
    }

    /// The address of the first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.memory.start().wrapping_add(self.bytes.start)
    }

    /// Refuses to read bytes that a copy has failed to write.
    pub(crate) fn check_written(&self) -> Result<()> {
        self.memory.taints().check(self.range())
    }

    /// The end of a copy that was to write the bytes: after a failure they are not readable.
    pub(crate) fn end_write(&self, result: &Result<()>) {
        let taints = self.memory.taints();
        taints.end_write(self.range(), result, || Written::All);
    }

    fn range(&self) -> Range<u64> {
        self.bytes.start as u64..self.bytes.end as u64
    }
}
