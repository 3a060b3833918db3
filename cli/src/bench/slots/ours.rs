//! The stores of cupola-core, and what they are measured with: the floor and what std has.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_core::{
    Budget, Chunk, ChunkSource, FixedSlots, Grown, Handle, InCell, InPlace, Layout, Payload,
    SlotPool, Slots, tag,
};

use super::bars::{FIXED, FLOOR, POOL};
use super::pairs::{CAPACITY, Groups, Store};
use crate::bench::ring::Line;

/// Adds the rows.
pub(super) fn pairs(groups: &mut Groups) {
    groups.shared(FLOOR, Floor::default);
    groups.shared("FLOOR', on two lines", TwoLines::default);
    groups.handed_over("the ring alone", || RingAlone);
    groups.all(FIXED, fixed);
    groups.all(POOL, pool);
    groups.shared("Budget, reserve + commit + release", || {
        Budget::new(1 << 40)
    });
    groups.all("std Mutex<Vec<usize>>, indices only", MutexVec::new);
    groups.all("Box::new + drop", || Boxes);
}

/// A guard, whatever happened to other threads: the values here are never half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What no lock-free list of free slots with one word can do without. The word's old value
/// stands for the slot, so that it goes the same way as the slots of the stores: a store to
/// memory before a locked instruction is a part of what a pair costs.
#[derive(Default)]
struct Floor(Line<AtomicU64>);

/// Counts up in the word and returns its old value.
fn exchange(word: &AtomicU64) -> u64 {
    let mut now = word.load(Ordering::Relaxed);
    while let Err(found) = word.compare_exchange(now, now + 1, Ordering::Acquire, Ordering::Relaxed)
    {
        now = found;
    }
    now
}

impl Store for Floor {
    type Token<'s> = u64;

    fn acquire(&self, _: u64) -> Option<u64> {
        Some(exchange(&self.0.0))
    }

    fn release(&self, _: u64, value: u64) -> Option<u64> {
        self.0.0.fetch_add(1, Ordering::Release);
        Some(value)
    }
}

#[derive(Default)]
struct TwoLines([Line<AtomicU64>; 2]);

impl Store for TwoLines {
    type Token<'s> = u64;

    fn acquire(&self, _: u64) -> Option<u64> {
        Some(exchange(&self.0[0].0))
    }

    fn release(&self, _: u64, value: u64) -> Option<u64> {
        self.0[1].0.fetch_add(1, Ordering::Release);
        Some(value)
    }
}

struct RingAlone;

impl Store for RingAlone {
    type Token<'s> = ();

    fn acquire(&self, _: u64) -> Option<()> {
        Some(())
    }

    fn release(&self, (): (), value: u64) -> Option<u64> {
        Some(value)
    }
}

/// Chunks on the heap.
pub(super) struct Heap;

// SAFETY: a boxed chunk stays where it is, and `into_raw` leaves it to the pool alone.
unsafe impl<C: Payload> ChunkSource<C> for Heap {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        NonNull::new(Box::into_raw(Box::new(Chunk::new())))
    }

    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
        // SAFETY: it comes from `lend`, so from `Box::into_raw`, and comes back once.
        drop(unsafe { Box::from_raw(chunk.as_ptr()) });
    }
}

/// Chunks of a pool.
const CHUNKS: usize = CAPACITY / 64;

/// A store on the heap.
struct Stored<L>(Box<Slots<L>>);

type Fixed = Stored<InPlace<InCell<u64>, CAPACITY>>;
type Pool = Stored<Grown<InCell<u64>, Heap, CHUNKS>>;

/// A store that holds its slots in place.
fn fixed() -> Fixed {
    Stored(Box::new(FixedSlots::new()))
}

/// A pool that has grown as far as it can.
fn pool() -> Pool {
    let pool = SlotPool::new(Heap);
    let all: Vec<_> = (0..CAPACITY).map_while(|_| pool.insert(0).ok()).collect();
    for handle in all {
        let _ = pool.release(handle);
    }
    Stored(Box::new(pool))
}

impl<L: Layout<Cell = InCell<u64>> + Sync + 'static> Store for Stored<L> {
    type Token<'s> = Handle<tag::Slot>;

    fn acquire(&self, value: u64) -> Option<Handle<tag::Slot>> {
        self.0.insert(value).ok()
    }

    fn release(&self, slot: Handle<tag::Slot>, _: u64) -> Option<u64> {
        self.0.release(slot).ok()?.now()
    }
}

/// Bytes are charged and given back; the limit is far away.
impl Store for Budget {
    type Token<'s> = u64;

    fn acquire(&self, value: u64) -> Option<u64> {
        Some(self.reserve(value % 4096 + 1).ok()?.commit())
    }

    fn release(&self, token: u64, value: u64) -> Option<u64> {
        Budget::release(self, token).ok()?;
        (token == value % 4096 + 1).then_some(value)
    }
}

struct MutexVec(Mutex<Vec<usize>>);

impl MutexVec {
    fn new() -> Self {
        Self(Mutex::new((0..CAPACITY).collect()))
    }
}

impl Store for MutexVec {
    type Token<'s> = usize;
    const SLEEPS: bool = true;

    fn acquire(&self, _: u64) -> Option<usize> {
        lock(&self.0).pop()
    }

    fn release(&self, token: usize, value: u64) -> Option<u64> {
        lock(&self.0).push(token);
        Some(value)
    }
}

struct Boxes;

impl Store for Boxes {
    type Token<'s> = Box<[u64; 4]>;

    fn acquire(&self, value: u64) -> Option<Box<[u64; 4]>> {
        Some(Box::new([value; 4]))
    }

    fn release(&self, token: Box<[u64; 4]>, _: u64) -> Option<u64> {
        Some(token[0])
    }
}
