//! Heaps over offsets.

use offset_allocator::{Allocation, Allocator};

use crate::bench::slots::Error;
use crate::bench::slots::bars::OFFSET_ALLOCATOR;
use crate::bench::slots::tlsf::{BLOCKS, GRANULE, GRANULES, Heap, Heaps};

pub(super) fn heaps(heaps: &mut Heaps<'_>) -> Result<(), Error> {
    heaps.add::<Allocator<u32>>(OFFSET_ALLOCATOR)
}

/// Its offsets and sizes have 32 bits: they count granules.
impl Heap for Allocator<u32> {
    type Block = Allocation<u32>;

    fn new() -> Self {
        Self::with_max_allocs(GRANULES, BLOCKS as u32)
    }

    fn allocate(&mut self, size: u64) -> Option<Self::Block> {
        Self::allocate(self, u32::try_from(size.div_ceil(GRANULE)).ok()?)
    }

    fn free(&mut self, block: Self::Block) -> bool {
        Self::free(self, block);
        true
    }

    fn offset(block: Self::Block) -> u64 {
        u64::from(block.offset) * GRANULE
    }

    fn is_empty(&self) -> bool {
        self.storage_report().total_free_space == GRANULES
    }
}
