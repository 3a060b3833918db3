//! Errors of a heap, which is unchanged when it returns one.

use core::fmt;

/// The reason why no block was allocated. The heap is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocateError {
    /// A block of no bytes was asked for.
    Empty,
    /// The alignment is no power of two, or the given offset is not on a granule.
    Misaligned,
    /// No free block holds the request, or none that the hooks allow. With
    /// [`allocate_at`](super::Tlsf::allocate_at): the place is not free or is forbidden.
    NoFit,
    /// There is a place, and splitting the block that was chosen needs more nodes than are
    /// vacant: lend this many.
    NoNodes(u32),
}

impl fmt::Display for AllocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a block must have a byte"),
            Self::Misaligned => f.write_str("the alignment is not possible"),
            Self::NoFit => f.write_str("no free block holds the request"),
            Self::NoNodes(missing) => write!(f, "{missing} more nodes are needed"),
        }
    }
}

impl core::error::Error for AllocateError {}

/// The reason why a range was not added. The heap is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// The range has no bytes.
    Empty,
    /// Begin, length or end is not on a granule.
    Misaligned,
    /// The range would end beyond 2^64 - 1.
    TooLarge,
    /// Part of the range is managed already.
    Overlap,
    /// There is no vacant node for the new free block: lend one.
    NoNodes,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a range must have a byte",
            Self::Misaligned => "the range is not on granules",
            Self::TooLarge => "the range ends beyond 64 bits",
            Self::Overlap => "part of the range is managed already",
            Self::NoNodes => "one more node is needed",
        })
    }
}

impl core::error::Error for RangeError {}

/// A name of no block that lives: the block was freed or has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the block is no longer there")
    }
}

impl core::error::Error for Stale {}

/// The reason why a block was not cut in two. The heap is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitError {
    /// The block is no longer there.
    Stale,
    /// One of the parts would have no bytes, or not begin on a granule.
    Misfit,
    /// There is no vacant node for the second part: lend one.
    NoNodes,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stale => "the block is no longer there",
            Self::Misfit => "a block is cut at a granule within it",
            Self::NoNodes => "one more node is needed",
        })
    }
}

impl core::error::Error for SplitError {}
