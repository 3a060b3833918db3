//! Nodes, and the names of the blocks in them.

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Room for one block, lent by the caller: 40 bytes and the caller's data, in whole cache lines: a
/// search goes from block to block, and each should cost one line.
///
/// A heap of `n` used blocks has at most `n + 1` free ones in each of its ranges, so
/// `2 * n + 1` nodes are enough where no merge is forbidden.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Node<D = ()> {
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The life of the block: 0 in a vacant node, odd in a used block, even in a free one.
    /// Never given out twice.
    pub(super) serial: u64,
    /// Neighbours by address.
    pub(super) before: u32,
    pub(super) after: u32,
    /// Neighbours in the list of a free block's class. Vacant nodes are chained by `next`.
    pub(super) previous: u32,
    pub(super) next: u32,
    pub(super) data: D,
}

impl<D> Node<D> {
    /// A vacant node. Any `data` will do: it is written before it is read.
    #[must_use]
    pub const fn new(data: D) -> Self {
        Self {
            offset: 0,
            size: 0,
            serial: 0,
            before: NONE,
            after: NONE,
            previous: NONE,
            next: NONE,
            data,
        }
    }

    /// Whether this node, which is in use, has a free block.
    #[inline(always)]
    pub(super) fn is_free(&self) -> bool {
        self.serial.is_multiple_of(2)
    }

    /// The block's end. A range ends at most at 2^64 - 1, so this cannot overflow.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.size
    }
}

impl<D: Copy> Node<D> {
    pub(super) fn piece(&self) -> Piece<D> {
        Piece {
            offset: self.offset,
            size: self.size,
            data: self.data,
        }
    }
}

impl<D: Default> Default for Node<D> {
    fn default() -> Self {
        Self::new(D::default())
    }
}

/// A free stretch of a range, and the caller's data for it, which [`Hooks`](super::Hooks)
/// decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<D> {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes, never 0.
    pub size: u64,
    /// The data that the caller gave for the bytes, or that the hooks made of it.
    pub data: D,
}

impl<D> Piece<D> {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.size
    }
}

/// The name of an allocated block, good until the block is freed and never again.
///
/// It differs from the name of any other block of the same heap, past or future, by a number
/// that is not used twice. A name from another heap is not always noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) serial: u64,
    pub(super) node: u32,
}

impl Block {
    /// Where the block begins, in bytes.
    #[must_use]
    #[inline]
    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// The block's length in bytes: the requested size, rounded up to the granule.
    #[must_use]
    #[inline]
    pub const fn size(self) -> u64 {
        self.size
    }
}

/// The name of a free block.
///
/// A block keeps its name when its data is changed and when it grows by a merge to its right;
/// and so does the rest that a split leaves over at its right end, or else at its left end. Any
/// other change ends the name for good. So it says no more than where to look for a stretch freed
/// earlier: [`Tlsf::piece`](super::Tlsf::piece) returns what is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FreeBlock {
    pub(super) serial: u64,
    pub(super) node: u32,
}

/// A place that a request would get: see [`Tlsf::look`](super::Tlsf::look).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<D> {
    /// Where the block would begin, in bytes.
    pub offset: u64,
    /// Its length in bytes: the requested size, rounded up to the granule.
    pub size: u64,
    /// Its rank by [`Hooks::rank`](super::Hooks::rank).
    pub rank: u64,
    /// The data of the free block that it lies in.
    pub data: D,
    pub(super) within: FreeBlock,
}

impl<D> Place<D> {
    /// The `size` bytes at `offset` in a free block: see
    /// [`Tlsf::classes_from`](super::Tlsf::classes_from).
    #[must_use]
    #[inline]
    pub fn new(
        (within, piece): (FreeBlock, Piece<D>),
        (offset, size): (u64, u64),
        rank: u64,
    ) -> Self {
        Self {
            offset,
            size,
            rank,
            data: piece.data,
            within,
        }
    }

    /// The free block that it lies in, as long as that is there.
    #[inline]
    pub fn within(&self) -> FreeBlock {
        self.within
    }
}

/// One block of a heap, as [`Tlsf::blocks`](super::Tlsf::blocks) meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<D> {
    /// An allocated block and its data.
    Used(Block, D),
    /// A free block and its stretch.
    Free(FreeBlock, Piece<D>),
}
