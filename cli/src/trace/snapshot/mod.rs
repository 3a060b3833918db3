//! PyTorch's memory snapshots: what `torch.cuda.memory._dump_snapshot()` writes, and what its
//! memory viewer (<https://pytorch.org/memory_viz>) opens, which takes pickles alone.
//!
//! Reading takes the pickle, or the same structure as JSON, and makes a trace of one device's
//! `device_traces`: `alloc` allocates, `free_requested` frees (PyTorch's own `free_completed`
//! comes later where another stream still used the block; here the pool has to know that).
//! Blocks from before the recording and requests that failed are counted in
//! [`Ignored`](super::Ignored), not replayed. The innermost Python frame is the call site.
//!
//! Writing goes the other way: take a [`Snapshot`] of a pool of ours
//! ([`of_pool`](Snapshot::of_pool)) or fill one, and [`write`](Snapshot::write) it. The
//! viewer replays events backwards from the segments, so that
//!
//! - a segment is there for every address of an event, or events make and remove it;
//! - every `free_requested` has its `free_completed` later, or a block in its segment with
//!   [`BlockState::Pending`].

mod document;
mod import;
mod json;
mod pickle;
mod pool;
mod write;

#[cfg(test)]
mod tests;

use std::io::BufRead;

use super::build::Memory;
use super::{ReadOptions, Trace, TraceError};

pub use write::{
    Action, Annotation, Block, BlockState, Event, Frame, Segment, SegmentKind, Setting, Snapshot,
};

/// How a snapshot is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Python's pickle, protocols 2 to 5 when read and 3 when written.
    Pickle,
    /// JSON of the same structure: for tools, and not for PyTorch's viewer.
    Json,
}

/// Reads the trace in a snapshot.
///
/// # Errors
/// [`TraceError::Pickle`] or [`TraceError::Json`] where the file is damaged,
/// [`TraceError::Field`] where it is no snapshot, and what reading takes.
pub fn read(
    source: impl BufRead,
    encoding: Encoding,
    options: &ReadOptions,
) -> Result<Trace, TraceError> {
    let memory = Memory::new(options);
    let (document, root) = match encoding {
        Encoding::Pickle => pickle::read(source, memory)?,
        Encoding::Json => json::read(source, memory, options.memory)?,
    };
    import::trace(&document, root, options)
}
