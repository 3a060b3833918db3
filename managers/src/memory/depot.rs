//! `Depot`: full magazines of one stream on their way from the threads that free to those
//! that allocate.
//!
//! A few cells for each class, each empty or with a batch of pieces, chained by their headers.
//! A batch is put in by an exchange of an empty cell and taken out by an exchange for an empty
//! one, so it has one owner at a time, and an address that comes again can do no harm. What
//! does not fit goes to the central heap: a depot bounds what it keeps.

use std::ptr::{self, NonNull};

use super::classes::{SLOTS, Slot, capacity};
use super::header::Header;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// Batches that a class may have waiting.
const CELLS: usize = 4;

/// The cells of one class.
pub(crate) struct Shelf<T>([AtomicPtr<T>; CELLS]);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())))
    }
}

impl<T> Shelf<T> {
    /// Leaves a batch here.
    ///
    /// # Errors
    /// The batch, when there is no room.
    #[inline]
    pub(crate) fn push(&self, batch: NonNull<T>) -> Result<(), NonNull<T>> {
        for cell in &self.0 {
            // Relaxed: only the exchange counts.
            if !cell.load(Ordering::Relaxed).is_null() {
                continue;
            }
            let release = if mutant!("depot_relaxed_push") {
                Ordering::Relaxed
            } else {
                // What was done with the pieces comes before their next use.
                Ordering::Release
            };
            let put =
                cell.compare_exchange(ptr::null_mut(), batch.as_ptr(), release, Ordering::Relaxed);
            if put.is_ok() {
                return Ok(());
            }
        }
        Err(batch)
    }

    /// How many batches are here, about.
    fn len(&self) -> u64 {
        let full = |cell: &&AtomicPtr<T>| !cell.load(Ordering::Relaxed).is_null();
        self.0.iter().filter(full).count() as u64
    }

    /// Takes a batch.
    #[inline]
    pub(crate) fn pop(&self) -> Option<NonNull<T>> {
        self.0.iter().find_map(|cell| {
            let there = cell.load(Ordering::Relaxed);
            if there.is_null() {
                return None;
            }
            if mutant!("depot_takes_without_exchange") {
                cell.store(ptr::null_mut(), Ordering::Relaxed);
                return NonNull::new(there);
            }
            // Acquire: pairs with the Release of who put it here.
            NonNull::new(cell.swap(ptr::null_mut(), Ordering::Acquire))
        })
    }
}

/// Most bytes of exact sizes that a depot keeps.
const MOST_EXACT: u64 = 32 << 20;

/// A stream's shelves.
pub(crate) struct Depot {
    shelves: Box<[Shelf<Header>]>,
    /// Bytes of exact sizes here, about: a batch is counted before it is put in and after it
    /// was taken out.
    exact: AtomicU64,
}

impl Depot {
    pub(crate) fn new() -> Self {
        Self {
            shelves: (0..SLOTS).map(|_| Shelf::default()).collect(),
            exact: AtomicU64::new(0),
        }
    }

    /// Leaves a batch of `bytes` bytes here.
    ///
    /// # Errors
    /// The batch, when there is no room.
    pub(crate) fn push(
        &self,
        slot: Slot,
        bytes: u64,
        batch: NonNull<Header>,
    ) -> Result<(), NonNull<Header>> {
        let shelf = self.shelves.get(slot.number()).ok_or(batch)?;
        if slot.is_small() {
            return shelf.push(batch);
        }
        if self.exact.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_EXACT {
            self.exact.fetch_sub(bytes, Ordering::Relaxed);
            return Err(batch);
        }
        let pushed = shelf.push(batch);
        if pushed.is_err() {
            self.exact.fetch_sub(bytes, Ordering::Relaxed);
        }
        pushed
    }

    /// Takes a batch of a class; of exact sizes, of any that share the magazine.
    pub(crate) fn pop(&self, slot: Slot) -> Option<NonNull<Header>> {
        let batch = self.shelves.get(slot.number())?.pop()?;
        if !slot.is_small() {
            // SAFETY: whoever takes a batch out owns it.
            let first = unsafe { batch.as_ref() };
            let bytes = first.bytes() * u64::from(first.batch.get());
            self.exact.fetch_sub(bytes, Ordering::Relaxed);
        }
        Some(batch)
    }

    /// Whether something of exact sizes may wait here.
    #[inline]
    pub(super) fn has_exact(&self) -> bool {
        self.exact.load(Ordering::Relaxed) != 0
    }

    /// What waits here of exact sizes, batch by batch. Nothing is done where there is nothing.
    pub(crate) fn drain_exact(&self) -> impl Iterator<Item = NonNull<Header>> + '_ {
        let slots = self
            .has_exact()
            .then(|| Slot::all().filter(|slot| !slot.is_small()));
        slots
            .into_iter()
            .flatten()
            .flat_map(move |slot| std::iter::from_fn(move || self.pop(slot)))
    }

    /// Bytes that wait here, about.
    pub(crate) fn kept(&self) -> u64 {
        let shelves = Slot::classes().zip(self.shelves.iter());
        let small = shelves.map(|((_, bytes), shelf)| {
            // A magazine of a class is full when it spills, half of it each time.
            shelf.len() * u64::from(capacity(bytes) / 2) * bytes
        });
        small.sum::<u64>() + self.exact.load(Ordering::Relaxed)
    }

    /// Everything that waits here, batch by batch.
    pub(crate) fn drain(&self) -> impl Iterator<Item = NonNull<Header>> + '_ {
        Slot::all().flat_map(move |slot| std::iter::from_fn(move || self.pop(slot)))
    }
}
