//! Chunks of `cuMemAlloc`: the pool's memory where there is no virtual memory management. A chunk
//! is mapped from the beginning, and given back when all of it is free.

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Error, Result};
use crate::pool::heap::central::HeapRequest;
use crate::pool::inspect::counters::Happened;
use crate::pool::inspect::history::Action;
use crate::pool::lifetime::teardown::Stays;
use crate::pool::pages::mapper::{Found, From, Mapper};
use crate::pool::pages::page_mapper::Charges;
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
            self.observer.note(Happened::Grown);
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
            .and_then(|bytes| bytes.checked_next_multiple_of(self.pages.page()));
        let Some(least) = least else {
            return Ok(false);
        };
        if search.full.is_some() {
            return Ok(false);
        }
        let smaller = (least < CHUNK).then_some(least);
        for bytes in std::iter::once(least.max(CHUNK)).chain(smaller) {
            if !self.charge(bytes) {
                continue;
            }
            match self.pages.allocate_chunk(bytes) {
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
    fn enter_chunk(&self, mapper: &mut Mapper, base: CUdeviceptr, bytes: u64) -> Result<()> {
        if mapper.chunks().is_backed(base, bytes)
            || !base.is_multiple_of(crate::pool::heap::best_fit::GRANULE)
        {
            return self.refuse_chunk(base, bytes);
        }
        // The driver may give addresses again that stand for chunks given back.
        let old = mapper.chunks_mut().take_overlapping(base, bytes);
        let mut region = PageTable::new(base, bytes, self.pages.page());
        for page in 0..(bytes / self.pages.page()) as u32 {
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
        let rests = self.central.lock().add_chunk(region, &old);
        mapper.chunks_mut().add_empty(rests);
        mapper.chunks_mut().add(base, bytes);
        Ok(())
    }

    /// Gives a chunk back whose addresses cannot be used.
    #[track_caller]
    fn refuse_chunk(&self, base: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: from `allocate_chunk` just now: no block lies in it.
        unsafe { self.pages.free_chunk(base) }?;
        self.release_charge(bytes);
        self.observer
            .history()
            .note_memory(Action::Unmap, base, bytes);
        let problem = "the driver's memory overlaps what the pool had before";
        Err(Error::invalid("memory", problem))
    }

    /// Gives chunks back that nothing uses, until they are so many bytes or there are no more. Each
    /// costs a wait for all work of the context: so the smallest that is enough by itself, and else
    /// the largest first.
    #[track_caller]
    pub(crate) fn release_chunks(&self, mapper: &mut Mapper, bytes: u64) -> Result<()> {
        let mut left = bytes;
        let chunks = mapper.chunks_mut();
        chunks.sort();
        for tried in 0.. {
            let Some(chunk) = chunks.next(tried, left).filter(|_| left > 0) else {
                break;
            };
            if chunk.hole().is_some() {
                continue;
            }
            let hole = {
                let mut central = self.central.lock();
                let Some(hole) = central.reserve_hole(chunk.base(), chunk.bytes()) else {
                    continue;
                };
                hole
            };
            // SAFETY: the chunk has its memory, and all of it was free and complete: now its addresses
            // are a hole.
            if let Err(error) = unsafe { self.pages.free_chunk(chunk.base()) } {
                self.central.lock().release_hole(hole);
                return Err(error);
            }
            chunks.note_empty(tried, hole);
            left = left.saturating_sub(chunk.bytes());
            self.release_charge(chunk.bytes());
            self.observer
                .history()
                .note_memory(Action::Unmap, chunk.base(), chunk.bytes());
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
        for chunk in mapper.chunks_mut().take_all() {
            if stays.has(chunk.base(), chunk.bytes()) {
                kept += chunk.bytes();
                continue;
            }
            // SAFETY: the chunk has its memory, which nothing uses at the end but what stays.
            let freed = unsafe { self.pages.free_chunk(chunk.base()) };
            if freed.is_err() {
                kept += chunk.bytes();
            }
            if freed.is_ok() || !self.core.is_healthy() {
                self.release_charge(chunk.bytes());
            }
            first = first.and(freed);
        }
        (kept, first)
    }
}
