//! What is measured: something that hands out device memory in stream order.

use super::Error;

/// Hands out device memory in stream order.
pub(super) trait Allocator: Send + Sync + 'static {
    /// A stream that memory is used on.
    type Stream: Send + Sync + 'static;
    /// Memory that was handed out.
    type Block: Send + 'static;

    /// Its name in the rows.
    fn name(&self) -> String;

    /// Another stream.
    fn stream(&self) -> Result<Self::Stream, Error>;

    /// Prepares the calling thread, before it allocates or frees for the first time.
    fn enter(&self) -> bool {
        true
    }

    /// `bytes` bytes, above 0, ready for use on `stream`.
    fn allocate(&self, bytes: u64, stream: &Self::Stream) -> Option<Self::Block>;

    /// Frees the block after what is on `stream` now. Blocks that remember their stream are
    /// freed there. False when it failed.
    fn free(&self, block: Self::Block, stream: &Self::Stream) -> bool;

    /// The block's first byte, where it can be asked for.
    fn address(block: &Self::Block) -> Option<u64>;

    /// Waits for what is on `stream`, so that the next row's samples are not delayed by it.
    fn settle(&self, stream: &Self::Stream) -> bool;
}

/// An allocator that can begin anew, with nothing mapped.
pub(super) trait Fresh: Allocator + Sized {
    /// The same allocator as a program has at its start.
    fn fresh(&self) -> Result<Self, Error>;

    /// Gives the device back what nothing uses, so that another allocator has room.
    fn trim(&self) -> Result<(), Error>;
}

/// Hands out numbers: what passing blocks between threads costs without allocating any.
#[derive(Debug)]
pub(super) struct Nothing;

impl Allocator for Nothing {
    type Stream = ();
    /// As large as a block of ours.
    type Block = [u64; 2];

    fn name(&self) -> String {
        "nothing".into()
    }

    fn stream(&self) -> Result<(), Error> {
        Ok(())
    }

    fn allocate(&self, bytes: u64, (): &()) -> Option<[u64; 2]> {
        Some([1, bytes])
    }

    fn free(&self, block: [u64; 2], (): &()) -> bool {
        block[0] == 1
    }

    fn address(_: &[u64; 2]) -> Option<u64> {
        None
    }

    fn settle(&self, (): &()) -> bool {
        true
    }
}
