//! `LiveBlocks`: which memory of a context is in use, for a context whose pointers are checked.
//!
//! A pool finds a block by its header, and never by an address. So where addresses are checked the
//! blocks are kept once more, by address. Every pool of the context notes them here as it notes
//! them in its history: that an address is free before another user can have it, and that it is in
//! use when it was found.
//!
//! Programs launch with the same addresses again and again. So a thread remembers the blocks that it found
//! last, for as long as no block of the context has ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use cupola_sys::driver::CUdeviceptr;

use super::recent::{Recent, RecentBlocks};
use crate::error::BlockEvent;
use crate::lists;
use crate::sync::lock;

/// Remembers what became of blocks.
pub(crate) trait BlockHistory: Send + Sync {
    /// The last events of blocks that had this address in them, oldest first.
    fn of_block(&self, address: CUdeviceptr) -> Vec<BlockEvent>;
}

/// What is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A block that has all bytes that were asked about.
    Block,
    /// A block that has so many bytes from there, which is fewer.
    Short {
        /// Bytes from the address to the end of the block.
        room: u64,
    },
    /// Memory of a pool that no block is in.
    Free,
    /// No memory of these pools.
    Elsewhere,
}

/// The blocks that are in use, and the memory that pools have, of one context.
#[derive(Default)]
pub(crate) struct LiveBlocks {
    ranges: RwLock<Ranges>,
    recent: RecentBlocks,
    histories: Mutex<Vec<Weak<dyn BlockHistory>>>,
}

#[derive(Default)]
struct Ranges {
    /// The bytes of each block, as they were asked for.
    blocks: BTreeMap<CUdeviceptr, u64>,
    /// The end of each range that pools have mapped. They do not overlap.
    mapped: BTreeMap<CUdeviceptr, CUdeviceptr>,
}

impl Ranges {
    /// The range is mapped no more, which may be a part of one, or of several.
    fn unmap(&mut self, start: CUdeviceptr, end: CUdeviceptr) {
        while let Some((&from, &to)) = self.mapped.range(..end).next_back()
            && to > start
        {
            self.mapped.remove(&from);
            if to > end {
                self.mapped.insert(end, to);
            }
            if from < start {
                self.mapped.insert(from, start);
            }
        }
    }
}

impl fmt::Debug for LiveBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.read();
        write!(f, "LiveBlocks({})", ranges.blocks.len())
    }
}

impl LiveBlocks {
    fn read(&self) -> RwLockReadGuard<'_, Ranges> {
        self.ranges.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Ranges> {
        self.ranges.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the history of a pool, to ask about its blocks.
    pub(crate) fn add(&self, history: Weak<dyn BlockHistory>) {
        let mut histories = lock(&self.histories);
        lists::retain(&mut histories, |known| known.strong_count() > 0);
        histories.push(history);
    }

    /// A block of so many bytes, as they were asked for, is its user's.
    pub(crate) fn note_block(&self, start: CUdeviceptr, bytes: u64) {
        self.write().blocks.insert(start, bytes);
    }

    /// The block is its user's no more.
    pub(crate) fn note_free(&self, start: CUdeviceptr) {
        self.write().blocks.remove(&start);
        self.recent.end_all();
    }

    /// A pool has mapped the range, of which nothing was mapped.
    pub(crate) fn note_mapped(&self, start: CUdeviceptr, bytes: u64) {
        self.write().mapped.insert(start, start + bytes);
    }

    /// The range is mapped no more.
    pub(crate) fn note_unmapped(&self, start: CUdeviceptr, bytes: u64) {
        self.write().unmap(start, start + bytes);
    }

    /// What is in the `bytes` bytes from an address on.
    pub(crate) fn find(&self, address: CUdeviceptr, bytes: u64) -> Found {
        let (recent, era) = self.recent.find(address);
        if recent.is_some_and(|room| bytes <= room) {
            return Found::Block;
        }
        let ranges = self.read();
        if let Some((&start, &len)) = ranges.blocks.range(..=address).next_back()
            && address - start < len
        {
            let end = start + len;
            Recent { start, end, era }.remember(address);
            let room = end - address;
            return match bytes <= room {
                true => Found::Block,
                false => Found::Short { room },
            };
        }
        match ranges.mapped.range(..=address).next_back() {
            Some((_, &end)) if address < end => Found::Free,
            _ => Found::Elsewhere,
        }
    }

    /// What is remembered of the blocks that were at an address, oldest first.
    pub(crate) fn history_of(&self, address: CUdeviceptr) -> Vec<BlockEvent> {
        // Without the lock: a history has its own.
        let histories = lock(&self.histories).clone();
        let histories = histories.iter().filter_map(Weak::upgrade);
        histories
            .flat_map(|history| history.of_block(address))
            .collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it an address inside of a block could be refused, and one past its end be taken.
    #[test]
    fn an_address_is_looked_for_within_blocks() {
        let live = LiveBlocks::default();
        live.note_mapped(0x1000, 0x1000);
        live.note_block(0x1000, 0x100);
        assert_eq!(live.find(0x1000, 0x100), Found::Block);
        assert_eq!(live.find(0x10ff, 1), Found::Block);
        assert_eq!(live.find(0x10ff, 2), Found::Short { room: 1 });
        assert_eq!(live.find(0x1000, u64::MAX), Found::Short { room: 0x100 });
        assert_eq!(live.find(0x1100, 1), Found::Free);
        assert_eq!(live.find(0xfff, 1), Found::Elsewhere);
        assert_eq!(live.find(0x2000, 1), Found::Elsewhere);
        live.note_free(0x1000);
        assert_eq!(live.find(0x1000, 1), Found::Free);
    }

    // Without it a thread could take an address for a block's that another thread has freed, or one that
    // is another context's.
    #[test]
    fn a_block_that_was_found_ends_for_all_threads() {
        let (live, other) = (LiveBlocks::default(), LiveBlocks::default());
        live.note_block(0x1000, 0x100);
        for _ in 0..2 {
            assert_eq!(live.find(0x1080, 0x80), Found::Block);
            assert_eq!(live.find(0x1080, 0x81), Found::Short { room: 0x80 });
            assert_eq!(other.find(0x1080, 1), Found::Elsewhere);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| live.note_free(0x1000));
        });
        assert_eq!(live.find(0x1080, 1), Found::Elsewhere);
        // A smaller one at its address.
        live.note_block(0x1000, 0x81);
        assert_eq!(live.find(0x1080, 2), Found::Short { room: 1 });
        assert_eq!(live.find(0x1080, 1), Found::Block);
    }

    // Without it memory that a pool has given back could be taken for the pool's.
    #[test]
    fn what_is_mapped_agrees_with_a_list_of_pages() {
        fn property(steps: Vec<(bool, u8, u8)>) -> bool {
            let live = LiveBlocks::default();
            let mut pages = [false; 300];
            for (maps, at, pages_of_it) in steps {
                let (at, count) = (usize::from(at) + 1, usize::from(pages_of_it % 40) + 1);
                let place = &mut pages[at..(at + count).min(300)];
                let (start, bytes) = (at as u64 * 4096, place.len() as u64 * 4096);
                match maps {
                    // A pool maps what is not mapped.
                    true if place.iter().any(|&page| page) => continue,
                    true => live.note_mapped(start, bytes),
                    false => live.note_unmapped(start, bytes),
                }
                place.fill(maps);
            }
            pages.iter().enumerate().all(|(at, &mapped)| {
                let found = live.find(at as u64 * 4096 + 5, 1);
                found
                    == if mapped {
                        Found::Free
                    } else {
                        Found::Elsewhere
                    }
            })
        }
        quickcheck::quickcheck(property as fn(Vec<(bool, u8, u8)>) -> bool);
    }
}
