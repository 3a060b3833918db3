//! `ChunkList`: the chunks of a pool whose memory is not virtual.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::lists::{sort_by_number, take_out};

/// A chunk: memory, or addresses that had some.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    base: CUdeviceptr,
    bytes: u64,
    /// The block that keeps its addresses out of the heap while it has no memory.
    hole: Option<Block>,
}

impl Chunk {
    /// Addresses without memory, which a block keeps out of the heap.
    pub(crate) fn empty(base: CUdeviceptr, bytes: u64, hole: Block) -> Self {
        Self {
            base,
            bytes,
            hole: Some(hole),
        }
    }

    /// Where it begins.
    pub(crate) fn base(self) -> CUdeviceptr {
        self.base
    }

    /// How long it is.
    pub(crate) fn bytes(self) -> u64 {
        self.bytes
    }

    /// The first address after it.
    pub(crate) fn end(self) -> CUdeviceptr {
        self.base + self.bytes
    }

    /// The block that keeps its addresses out of the heap, if it has no memory.
    pub(crate) fn hole(self) -> Option<Block> {
        self.hole
    }

    fn overlaps(self, base: CUdeviceptr, bytes: u64) -> bool {
        self.base < base + bytes && base < self.end()
    }
}

/// Chunks of `cuMemAlloc`, and the holes that stand for those that were given back.
#[derive(Debug, Default)]
pub(crate) struct ChunkList {
    chunks: Vec<Chunk>,
}

impl ChunkList {
    /// Chunks with memory.
    pub(crate) fn backed(&self) -> impl Iterator<Item = Chunk> {
        let chunks = self.chunks.iter().copied();
        chunks.filter(|chunk| chunk.hole.is_none())
    }

    /// Blocks that stand for addresses without memory.
    pub(crate) fn holes(&self) -> impl Iterator<Item = Block> {
        self.chunks.iter().filter_map(|chunk| chunk.hole)
    }

    /// Whether some of these addresses have memory.
    pub(crate) fn is_backed(&self, base: CUdeviceptr, bytes: u64) -> bool {
        self.backed().any(|chunk| chunk.overlaps(base, bytes))
    }

    /// Takes the chunks out that have some of these addresses, by address.
    pub(crate) fn take_overlapping(&mut self, base: CUdeviceptr, bytes: u64) -> Vec<Chunk> {
        let mut taken = take_out(&mut self.chunks, |chunk| chunk.overlaps(base, bytes));
        sort_by_number(&mut taken, |chunk| chunk.base);
        taken
    }

    /// Adds a chunk with memory.
    pub(crate) fn add(&mut self, base: CUdeviceptr, bytes: u64) {
        self.chunks.push(Chunk {
            base,
            bytes,
            hole: None,
        });
    }

    /// Adds addresses without memory.
    pub(crate) fn add_empty(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        self.chunks.extend(chunks);
    }

    /// Begins to give chunks back: the largest comes first.
    pub(crate) fn sort(&mut self) {
        sort_by_number(&mut self.chunks, |chunk| !chunk.bytes);
    }

    /// After [`sort`](Self::sort), with the first `tried` chunks done: the one to give back for so
    /// many bytes, the smallest that is enough by itself, or else the largest. It comes to the place
    /// behind those, and the order of the others stays. `None` after the last.
    pub(crate) fn next(&mut self, tried: usize, bytes: u64) -> Option<Chunk> {
        let left = self
            .chunks
            .get_mut(tried..)
            .filter(|left| !left.is_empty())?;
        let enough = left.partition_point(|chunk| chunk.bytes >= bytes);
        left[..=enough.saturating_sub(1)].rotate_right(1);
        left.first().copied()
    }

    /// The chunk at a place has given its memory back, and a block keeps its addresses.
    pub(crate) fn note_empty(&mut self, at: usize, hole: Block) {
        if let Some(chunk) = self.chunks.get_mut(at) {
            chunk.hole = Some(hole);
        }
    }

    /// Takes all chunks out, and names those with memory.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Chunk> + use<> {
        let chunks = std::mem::take(&mut self.chunks).into_iter();
        chunks.filter(|chunk| chunk.hole.is_none())
    }
}
