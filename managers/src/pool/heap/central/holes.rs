//! Chunks in the page heap: addresses that have lost their memory are blocks, so that no user gets
//! them.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::pool::heap::central::Central;
use crate::pool::pages::chunk_list::Chunk;
use crate::pool::pages::page_table::PageTable;
use crate::pool::streams::free_stamp::Stamp;

impl Central {
    /// Takes addresses without memory out of the heap. `None` when they are not free, or work
    /// may still use them.
    pub(crate) fn reserve_hole(&mut self, address: CUdeviceptr, bytes: u64) -> Option<Block> {
        let hole = self.heap.take_idle_at(address, bytes)?;
        self.holes = (self.holes.0 + 1, self.holes.1 + hole.size());
        Some(hole)
    }

    /// The addresses of a hole are free again.
    pub(crate) fn release_hole(&mut self, hole: Block) {
        self.holes = (self.holes.0 - 1, self.holes.1 - hole.size());
        self.heap.put_back(hole, Stamp::READY);
    }

    /// Adds a chunk with memory. `old` are those that had some of its addresses, by address, which
    /// have no memory. What stays of them, outside of the new one.
    pub(crate) fn add_chunk(&mut self, region: PageTable, old: &[Chunk]) -> Vec<Chunk> {
        let (base, page) = (region.base(), region.page());
        let end = base + region.bytes();
        // Of each only the part outside stays a hole.
        let mut rests = Vec::new();
        for chunk in old {
            if let Some(hole) = chunk.hole() {
                self.release_hole(hole);
            }
            let to = chunk.end();
            for (from, to) in [(chunk.base(), base.min(to)), (end.max(chunk.base()), to)] {
                // They are free: they were just given back.
                if from < to
                    && let Some(hole) = self.reserve_hole(from, to - from)
                {
                    rests.push(Chunk::empty(from, to - from, hole));
                }
            }
        }
        let rules = self.heap.rules_mut();
        for chunk in old {
            rules.leave(chunk.base());
        }
        for rest in &rests {
            rules.enter(PageTable::new(rest.base(), rest.bytes(), page));
        }
        rules.enter(region);
        // The addresses between them are new.
        let mut at = base;
        for chunk in old {
            if at < chunk.base() {
                let _ = self.heap.add(at, chunk.base() - at);
            }
            at = at.max(chunk.end());
        }
        if at < end {
            let _ = self.heap.add(at, end - at);
        }
        if !old.is_empty() {
            self.heap.sweep();
        }
        rests
    }
}
