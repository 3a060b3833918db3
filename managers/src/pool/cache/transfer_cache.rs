//! `TransferCache`: full magazines of one stream on their way from the threads that free to those
//! that allocate.
//!
//! A few cells for each class, each empty or with a batch of pieces, chained by their headers.
//! A batch is put in by an exchange of an empty cell and taken out by an exchange for an empty
//! one, so it has one owner at a time, and an address that comes again can do no harm. A batch
//! that does not fit goes to the central heap: a transfer cache bounds the bytes that it keeps.

use std::ptr::{self, NonNull};

use crate::pool::cache::size_class::{SLOTS, Slot};
use crate::pool::heap::block_header::BlockHeader;
use crate::sync::spin_lock::SpinLock;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// Batches that a class may have waiting: of small sizes, and of exact ones at first.
const LEAST_CELLS: usize = 4;
/// Batches that a shelf has cells for; few in models.
const CELLS: usize = if cfg!(loom) { 4 } else { 16 };

/// The cells of one class.
pub(crate) struct Shelf<T>([AtomicPtr<T>; CELLS]);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())))
    }
}

impl<T> Shelf<T> {
    /// Leaves a batch in one of the first cells.
    ///
    /// # Errors
    /// The batch, when there is no room.
    #[inline]
    pub(crate) fn push(&self, batch: NonNull<T>, cells: usize) -> Result<(), NonNull<T>> {
        for cell in self.0.iter().take(cells) {
            // Relaxed: only the exchange counts.
            if !cell.load(Ordering::Relaxed).is_null() {
                continue;
            }
            // All accesses to the pieces come before their next use.
            let put = cell.compare_exchange(
                ptr::null_mut(),
                batch.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            if put.is_ok() {
                return Ok(());
            }
        }
        Err(batch)
    }

    /// Whether a batch waits here. A thread that finds none sees the notes of the threads that took
    /// batches.
    #[inline]
    fn has_any(&self) -> bool {
        self.0.iter().any(|cell| look(cell).is_some())
    }

    /// Takes a batch. `note` is called before others can miss it: a thread that finds nothing here
    /// because of this sees the effects of `note`.
    #[inline]
    pub(crate) fn pop(&self, mut note: impl FnMut()) -> Option<NonNull<T>> {
        let late = mutant!("transfer_cache_notes_late");
        let found = self.0.iter().find_map(|cell| {
            let there = look(cell)?;
            if !late {
                note();
            }
            if mutant!("transfer_cache_takes_without_exchange") {
                cell.store(ptr::null_mut(), Ordering::Relaxed);
                return Some(there);
            }
            // Pairs with the Release that put the batch here, and with the Acquire of a thread
            // that finds it gone.
            NonNull::new(cell.swap(ptr::null_mut(), Ordering::AcqRel))
        });
        if late && found.is_some() {
            note();
        }
        found
    }
}

/// The batch that waits in a cell. A look that finds none comes after the exchange that took it.
#[inline]
fn look<T>(cell: &AtomicPtr<T>) -> Option<NonNull<T>> {
    NonNull::new(cell.load(Ordering::Acquire))
}

/// Bytes of exact sizes that a transfer cache has room for at first.
const LEAST_EXACT: u64 = 32 << 20;
/// The same, once threads hand over more than that at a time.
const MOST_EXACT: u64 = 256 << 20;

/// A stream's shelves.
pub(crate) struct TransferCache {
    shelves: Box<[Shelf<BlockHeader>]>,
    /// Bytes of exact sizes here, about: a batch is counted before it is put in and after it
    /// was taken out.
    exact: AtomicU64,
    /// Most bytes of exact sizes.
    most: AtomicU64,
    /// The cache whose batch found no room last; 0 when none has since there was more.
    refused: AtomicU64,
}

impl TransferCache {
    pub(crate) fn new() -> Self {
        Self {
            shelves: (0..SLOTS).map(|_| Shelf::default()).collect(),
            exact: AtomicU64::new(0),
            most: AtomicU64::new(LEAST_EXACT),
            refused: AtomicU64::new(0),
        }
    }

    /// Leaves a batch of `bytes` bytes here, of the cache with this number.
    ///
    /// # Errors
    /// The batch, when there is no room.
    pub(crate) fn push(
        &self,
        slot: Slot,
        bytes: u64,
        batch: NonNull<BlockHeader>,
        cache: u64,
    ) -> Result<(), NonNull<BlockHeader>> {
        let shelf = self.shelves.get(slot.number()).ok_or(batch)?;
        if slot.is_small() {
            return shelf.push(batch, LEAST_CELLS);
        }
        let most = self.most.load(Ordering::Relaxed);
        let cells = if most > LEAST_EXACT {
            CELLS
        } else {
            LEAST_CELLS
        };
        let there = self.exact.fetch_add(bytes, Ordering::Relaxed);
        let pushed = if there + bytes > most {
            Err(batch)
        } else {
            shelf.push(batch, cells)
        };
        if pushed.is_err() {
            self.exact.fetch_sub(bytes, Ordering::Relaxed);
            self.refused.store(cache, Ordering::Relaxed);
        }
        pushed
    }

    /// A cache has found nothing of an exact size here. If another one found no room before, memory
    /// is handed over in larger bursts than there is room for: there is more room from now on. The
    /// bursts of one thread alone are better off in the heap, where all threads can have them.
    pub(crate) fn note_miss(&self, cache: u64) {
        let refused = self.refused.load(Ordering::Relaxed);
        if refused == 0 || (refused == cache && !mutant!("transfer_cache_grows_for_one_cache")) {
            return;
        }
        self.refused.store(0, Ordering::Relaxed);
        let more = (2 * self.most.load(Ordering::Relaxed)).min(MOST_EXACT);
        self.most.store(more, Ordering::Relaxed);
    }

    /// Whether something of a class may wait here.
    #[inline]
    pub(crate) fn has(&self, slot: Slot) -> bool {
        let shelf = self.shelves.get(slot.number());
        shelf.is_some_and(Shelf::has_any)
    }

    /// Takes a batch of a class; of exact sizes, of any that share the magazine. A thread that
    /// misses it here must find it elsewhere, or see the effects of `note`.
    pub(crate) fn pop(&self, slot: Slot, note: impl FnMut()) -> Option<NonNull<BlockHeader>> {
        let batch = self.shelves.get(slot.number())?.pop(note)?;
        if !slot.is_small() {
            // SAFETY: the exchange gave the batch to this thread alone, and its headers stay where
            // they are.
            let first = unsafe { batch.as_ref() };
            let bytes = first.bytes() * u64::from(first.batch());
            self.exact.fetch_sub(bytes, Ordering::Relaxed);
        }
        Some(batch)
    }

    /// Whether something of exact sizes may wait here.
    #[inline]
    pub(crate) fn has_exact(&self) -> bool {
        self.exact.load(Ordering::Relaxed) != 0
    }

    /// Gives the batches of exact sizes to the heap. Nothing is done where there are none.
    pub(crate) fn give_exact<H>(
        &self,
        heap: &SpinLock<H>,
        mut give: impl FnMut(&mut H, NonNull<BlockHeader>),
    ) {
        if self.has_exact() {
            let exact = Slot::all().filter(|slot| !slot.is_small());
            exact.for_each(|slot| self.give(slot, heap, &mut give));
        }
    }

    /// Gives everything that waits here to the heap; there is room as at first then: memory is
    /// short.
    pub(crate) fn give_all<H>(
        &self,
        heap: &SpinLock<H>,
        mut give: impl FnMut(&mut H, NonNull<BlockHeader>),
    ) {
        self.most.store(LEAST_EXACT, Ordering::Relaxed);
        Slot::all().for_each(|slot| self.give(slot, heap, &mut give));
    }

    /// Gives the batches of a class to the heap, each taken and given within one section: a thread
    /// that finds it gone waits for the section, and finds it in the heap.
    pub(crate) fn give<H>(
        &self,
        slot: Slot,
        heap: &SpinLock<H>,
        give: &mut impl FnMut(&mut H, NonNull<BlockHeader>),
    ) {
        while self.has(slot) {
            let early =
                mutant!("transfer_cache_gives_what_it_has_in_hand").then(|| self.pop(slot, || ()));
            let heap = &mut *heap.lock();
            let Some(batch) = early.unwrap_or_else(|| self.pop(slot, || ())) else {
                break;
            };
            give(heap, batch);
        }
    }

    /// Bytes that wait here.
    ///
    /// # Safety
    /// No thread puts a batch in or takes one out meanwhile.
    pub(crate) unsafe fn kept(&self) -> u64 {
        let mut bytes = 0;
        for shelf in &self.shelves {
            for place in &shelf.0 {
                if let Some(batch) = look(place) {
                    // SAFETY: the batch is the transfer cache's as long as no thread takes it out:
                    // the condition of `kept`. Its headers stay where they are.
                    let first = unsafe { batch.as_ref() };
                    bytes += first.bytes() * u64::from(first.batch());
                }
            }
        }
        bytes
    }

    /// Everything that waits here, batch by batch, for a thread in the heap's section; there is as
    /// much room as at first then.
    pub(crate) fn drain(&self) -> impl Iterator<Item = NonNull<BlockHeader>> + '_ {
        self.most.store(LEAST_EXACT, Ordering::Relaxed);
        Slot::all().flat_map(move |slot| std::iter::from_fn(move || self.pop(slot, || ())))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pool::heap::block_header::{Home, PoolRef};

    const PIECE: u64 = 4 << 20;
    const BATCH: u64 = 2 * PIECE;

    /// Fills a transfer cache with batches of a cache's: how many had room.
    fn fill<'h>(
        transfer_cache: &TransferCache,
        cache: u64,
        batches: &mut impl Iterator<Item = &'h BlockHeader>,
    ) -> usize {
        batches
            .take_while(|header| {
                let (slot, _) = Slot::of(PIECE).unwrap();
                transfer_cache
                    .push(slot, BATCH, NonNull::from(*header), cache)
                    .is_ok()
            })
            .count()
    }

    // Without it blocks that are handed over in large bursts would go through the heap and its
    // lock, or the bursts of one thread alone would be lost to all others.
    #[test]
    fn there_is_more_room_for_what_is_handed_over_only() {
        let headers: Vec<_> = std::iter::repeat_with(|| {
            let header = BlockHeader::new(PoolRef::new(ptr::null()));
            let (slot, bytes) = Slot::of(PIECE).unwrap();
            header.begin(0, bytes, slot, Home::Nowhere);
            header.begin_batch(2);
            header
        })
        .take(64)
        .collect();
        let least = (LEAST_EXACT / BATCH) as usize;
        let mut batches = headers.iter();
        let transfer_cache = TransferCache::new();
        assert_eq!(fill(&transfer_cache, 1, &mut batches), least);
        // The same cache misses: a transfer cache is not for the bursts of one cache.
        transfer_cache.note_miss(1);
        assert_eq!(fill(&transfer_cache, 1, &mut batches), 0);
        // Another one does.
        transfer_cache.note_miss(2);
        assert_eq!(fill(&transfer_cache, 1, &mut batches), least);
        // SAFETY: this is the only thread.
        assert_eq!(unsafe { transfer_cache.kept() }, 2 * LEAST_EXACT);
        // One refusal, one step.
        transfer_cache.note_miss(2);
        transfer_cache.note_miss(3);
        assert_eq!(fill(&transfer_cache, 1, &mut batches), 2 * least);
        // When memory is short, there is as little as at first.
        assert_eq!(transfer_cache.drain().count(), 4 * least);
        assert_eq!(fill(&transfer_cache, 2, &mut batches), least);
        transfer_cache.drain().for_each(drop);
    }
}
