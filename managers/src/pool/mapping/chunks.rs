//! Chunks of `cuMemAlloc`: the pool's memory where there is no virtual memory management. A chunk
//! is mapped from the beginning, and given back when all of it is free.

use std::cmp::Reverse;

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Error, Result, Site};
use crate::pool::counters::count;
use crate::pool::heap::central::HeapRequest;
use crate::pool::inspect::history::Action;
use crate::pool::lifetime::teardown::Stays;
use crate::pool::pages::mapper::{Chunk, Found, From, Mapper};
use crate::pool::pages::page_table::{Extent, PageTable};
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::state::Pool;

/// Smallest chunk that is asked for, limit allowing.
const CHUNK: u64 = 32 << 20;

impl Pool {
    #[track_caller]
    pub(crate) fn find_in_chunks(
        &self,
        mapper: &mut Mapper,
        search: &mut Search,
        want: HeapRequest,
        from: From,
    ) -> Result<Option<Found>> {
        loop {
            {
                let mut central = self.central.lock();
                if let Some(found) = central.ready(want) {
                    return Ok(Some(found));
                }
            }
            while !self.add_chunk(mapper, search, want)? {
                // Chunks that nothing uses may be too small for it, and all that the limit has.
                let before = self.budget.used();
                if from == From::Idle {
                    self.release_chunks(mapper, want.bytes)?;
                }
                if self.budget.used() >= before {
                    return Ok(None);
                }
                search.full = None;
            }
            count(&self.counters.grown);
        }
    }

    /// Gets another chunk. False when the limits or the driver have no room for one.
    #[track_caller]
    fn add_chunk(
        &self,
        mapper: &mut Mapper,
        search: &mut Search,
        want: HeapRequest,
    ) -> Result<bool> {
        // The driver aligns to 256 bytes at least, and chunks of pages to pages.
        let least = want
            .bytes
            .checked_add(if want.align > crate::pool::heap::best_fit::GRANULE {
                want.align
            } else {
                0
            })
            .and_then(|bytes| bytes.checked_next_multiple_of(self.page));
        let Some(least) = least else {
            return Ok(false);
        };
        if search.full.is_some() {
            return Ok(false);
        }
        let smaller = (least < CHUNK).then_some(least);
        for bytes in std::iter::once(least.max(CHUNK)).chain(smaller) {
            if !self.charge(bytes / self.page) {
                continue;
            }
            match self.alloc_chunk(bytes) {
                Ok(base) => {
                    self.note_mapped();
                    self.enter_chunk(mapper, base, bytes)?;
                    return Ok(true);
                }
                Err(error) => {
                    self.undo_charge(bytes);
                    let refused: Result<()> = Err(error.clone());
                    if !is_out_of_memory(&refused) {
                        return Err(error);
                    }
                    if bytes == least {
                        search.full = Some(error);
                    }
                }
            }
        }
        Ok(false)
    }

    #[track_caller]
    fn alloc_chunk(&self, bytes: u64) -> Result<CUdeviceptr> {
        let _switches = self.calls.switches();
        let driver = self.core.enter()?;
        let _relaxed = self.calls.relaxed(driver);
        count(&self.calls.alloc);
        let mut base: CUdeviceptr = 0;
        // SAFETY: `base` outlives the call, and the context is current.
        let allocated = unsafe { driver.cuMemAlloc_v2(&raw mut base, bytes as usize) };
        self.core.check(allocated)?;
        self.history.note_memory(Action::Map, base, bytes);
        Ok(base)
    }

    #[track_caller]
    fn enter_chunk(&self, mapper: &mut Mapper, base: CUdeviceptr, bytes: u64) -> Result<()> {
        let end = base + bytes;
        // The driver may give addresses again that stand for chunks given back.
        let overlaps = |chunk: &Chunk| chunk.base < end && base < chunk.base + chunk.bytes;
        let known = mapper
            .chunks
            .iter()
            .any(|chunk| overlaps(chunk) && chunk.hole.is_none());
        if known || !base.is_multiple_of(crate::pool::heap::best_fit::GRANULE) {
            return self.refuse_chunk(base, bytes);
        }
        let mut old: Vec<Chunk> = mapper
            .chunks
            .extract_if(.., |chunk| overlaps(chunk))
            .collect();
        old.sort_unstable_by_key(|chunk| chunk.base);
        let mut region = PageTable::new(base, bytes, self.page);
        for page in 0..(bytes / self.page) as u32 {
            region.begin_map(page);
            region.seal(
                Extent {
                    first: page,
                    pages: 1,
                },
                0,
            );
            region.open(page);
        }
        let central = &mut *self.central.lock();
        // Of each only the part outside stays a hole.
        let mut rests = Vec::new();
        for chunk in &old {
            if let Some(hole) = chunk.hole {
                central.release_hole(hole);
            }
            let to = chunk.base + chunk.bytes;
            for (from, to) in [(chunk.base, base.min(to)), (end.max(chunk.base), to)] {
                // They are free: they were just given back.
                if from < to
                    && let Some(hole) = central.reserve_hole(from, to - from)
                {
                    rests.push(Chunk {
                        base: from,
                        bytes: to - from,
                        hole: Some(hole),
                    });
                }
            }
        }
        let rules = central.heap.rules_mut();
        for chunk in &old {
            rules.leave(chunk.base);
        }
        for rest in &rests {
            rules.enter(PageTable::new(rest.base, rest.bytes, self.page));
        }
        rules.enter(region);
        // The addresses between them are new.
        let mut at = base;
        for chunk in &old {
            if at < chunk.base {
                let _ = central.heap.add(at, chunk.base - at);
            }
            at = at.max(chunk.base + chunk.bytes);
        }
        if at < end {
            let _ = central.heap.add(at, end - at);
        }
        if !old.is_empty() {
            central.heap.sweep();
        }
        mapper.chunks.append(&mut rests);
        mapper.chunks.push(Chunk {
            base,
            bytes,
            hole: None,
        });
        Ok(())
    }

    /// Gives a chunk back whose addresses cannot be used.
    #[track_caller]
    fn refuse_chunk(&self, base: CUdeviceptr, bytes: u64) -> Result<()> {
        self.free_chunk(base)?;
        self.release_charge(bytes);
        self.history.note_memory(Action::Unmap, base, bytes);
        let problem = "the driver's memory overlaps what the pool had before";
        Err(Error::invalid("memory", problem))
    }

    #[track_caller]
    fn free_chunk(&self, base: CUdeviceptr) -> Result<()> {
        let _switches = self.calls.switches();
        count(&self.calls.free);
        self.core.give_back(Site::here(), |driver| {
            let _relaxed = self.calls.relaxed(driver);
            // SAFETY: from `alloc_chunk`, and nothing uses it.
            unsafe { driver.cuMemFree_v2(base) }
        })
    }

    /// Gives chunks back that nothing uses, until they are so many bytes or there are no more. Each
    /// costs a wait for all work of the context: so the smallest that is enough by itself, and else
    /// the largest first.
    #[track_caller]
    pub(crate) fn release_chunks(&self, mapper: &mut Mapper, bytes: u64) -> Result<()> {
        let mut left = bytes;
        mapper.chunks.sort_by_key(|chunk| Reverse(chunk.bytes));
        let mut tried = 0;
        while left > 0 && tried < mapper.chunks.len() {
            // Of those that were not tried, from the largest to the smallest.
            let enough = mapper.chunks[tried..].partition_point(|chunk| chunk.bytes >= left);
            let at = tried + enough.saturating_sub(1);
            // The order of the others stays.
            mapper.chunks[tried..=at].rotate_right(1);
            let chunk = &mut mapper.chunks[tried];
            tried += 1;
            if chunk.hole.is_some() {
                continue;
            }
            let hole = {
                let mut central = self.central.lock();
                let Some(hole) = central.reserve_hole(chunk.base, chunk.bytes) else {
                    continue;
                };
                hole
            };
            if let Err(error) = self.free_chunk(chunk.base) {
                self.central.lock().release_hole(hole);
                return Err(error);
            }
            chunk.hole = Some(hole);
            left = left.saturating_sub(chunk.bytes);
            self.release_charge(chunk.bytes);
            self.history
                .note_memory(Action::Unmap, chunk.base, chunk.bytes);
        }
        Ok(())
    }
}

impl Pool {
    /// Gives all chunks back at the pool's end, but those that stay. How many bytes did not go, and
    /// the first error.
    pub(crate) fn free_all_chunks(
        &self,
        mapper: &mut Mapper,
        stays: &Stays<'_>,
    ) -> (u64, Result<()>) {
        let (mut kept, mut first) = (0, Ok(()));
        for chunk in mapper.chunks.drain(..).filter(|chunk| chunk.hole.is_none()) {
            if stays.has(chunk.base, chunk.bytes) {
                kept += chunk.bytes;
                continue;
            }
            let freed = self.free_chunk(chunk.base);
            if freed.is_err() {
                kept += chunk.bytes;
            }
            if freed.is_ok() || !self.core.is_healthy() {
                self.release_charge(chunk.bytes);
            }
            first = first.and(freed);
        }
        (kept, first)
    }
}
