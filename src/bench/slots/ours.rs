//! The stores of cupola-core, and what they are measured with: the floor and what std has.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_core::{
    Budget, Chunk, ChunkSource, FixedSlots, FixedWords, Grown, Handle, InCell, InPlace, InWord,
    Late, Payload, SlotCache, Slots, With, tag,
};

use super::bars::{
    FIXED, FIXED_CACHE, FLOOR, LATE, LATE_CACHE, POOL, POOL_CACHE, WORD_POOL, WORD_POOL_CACHE,
    WORDS, WORDS_CACHE,
};
use super::pairs::{CAPACITY, Groups, Store};
use crate::bench::ring::Line;

/// Adds the rows.
pub(super) fn pairs(groups: &mut Groups) {
    groups.shared(FLOOR, Floor::default);
    groups.shared("FLOOR', on two lines", TwoLines::default);
    groups.handed_over("the ring alone", || RingAlone);
    groups.all(WORDS_CACHE, WordsCached::new);
    groups.all(WORDS, Words::new);
    groups.all(WORD_POOL_CACHE, WordPoolCached::new);
    groups.all(WORD_POOL, WordPool::new);
    groups.all(FIXED_CACHE, FixedCached::new);
    groups.all(FIXED, Fixed::new);
    groups.all(POOL_CACHE, PoolCached::new);
    groups.all(POOL, Pool::new);
    groups.all(LATE_CACHE, LateCached::new);
    groups.all(LATE, LateFixed::new);
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
    type Local<'s> = ();
    type Token<'s> = u64;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), _: u64) -> Option<u64> {
        Some(exchange(&self.0.0))
    }

    fn release(&self, (): &mut (), _: u64, value: u64) -> Option<u64> {
        self.0.0.fetch_add(1, Ordering::Release);
        Some(value)
    }
}

#[derive(Default)]
struct TwoLines([Line<AtomicU64>; 2]);

impl Store for TwoLines {
    type Local<'s> = ();
    type Token<'s> = u64;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), _: u64) -> Option<u64> {
        Some(exchange(&self.0[0].0))
    }

    fn release(&self, (): &mut (), _: u64, value: u64) -> Option<u64> {
        self.0[1].0.fetch_add(1, Ordering::Release);
        Some(value)
    }
}

struct RingAlone;

impl Store for RingAlone {
    type Local<'s> = ();
    type Token<'s> = ();

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), _: u64) -> Option<()> {
        Some(())
    }

    fn release(&self, (): &mut (), (): (), value: u64) -> Option<u64> {
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

/// A pool that has grown as far as it can.
macro_rules! grown {
    ($pool:ident) => {{
        let pool = cupola_core::$pool::new(Heap);
        let all: Vec<_> = (0..CAPACITY).map_while(|_| pool.insert(0).ok()).collect();
        for handle in all {
            let _ = pool.release(handle);
        }
        pool
    }};
}

/// Chunks of a pool.
const CHUNKS: usize = CAPACITY / 64;

/// The store itself, the thread's number as the hint, and the store with a cache for each
/// thread.
macro_rules! stores {
    ($($near:ident $cached:ident $layout:ty, $policy:ty, $make:expr;)*) => {$(
        struct $near(Box<Slots<$layout, tag::Slot, $policy>>);
        struct $cached(Box<Slots<$layout, tag::Slot, $policy>>);

        impl $near {
            fn new() -> Self {
                Self(Box::new($make))
            }
        }

        impl $cached {
            fn new() -> Self {
                Self(Box::new($make))
            }
        }

        impl Store for $near {
            type Local<'s> = usize;
            type Token<'s> = Handle<tag::Slot>;

            fn local(&self, thread: usize) -> usize {
                thread
            }

            fn acquire(&self, hint: &mut usize, value: u64) -> Option<Handle<tag::Slot>> {
                self.0.insert_near(*hint, value).ok()
            }

            fn release(&self, _: &mut usize, slot: Handle<tag::Slot>, _: u64) -> Option<u64> {
                self.0.release(slot).ok()?.now()
            }
        }

        impl Store for $cached {
            type Local<'s> = SlotCache<'s, $layout, tag::Slot, $policy>;
            type Token<'s> = Handle<tag::Slot>;

            fn local(&self, thread: usize) -> Self::Local<'_> {
                self.0.cache(thread)
            }

            fn acquire<'s>(
                &'s self,
                cache: &mut Self::Local<'s>,
                value: u64,
            ) -> Option<Handle<tag::Slot>> {
                cache.insert(value).ok()
            }

            fn release<'s>(
                &'s self,
                cache: &mut Self::Local<'s>,
                slot: Handle<tag::Slot>,
                _: u64,
            ) -> Option<u64> {
                cache.release(slot).ok()?.now()
            }
        }
    )*};
}

stores! {
    Fixed FixedCached InPlace<InCell<u64>, CAPACITY>, With, FixedSlots::<u64, CAPACITY>::new();
    Words WordsCached InPlace<InWord<u64>, CAPACITY>, With, FixedWords::<u64, CAPACITY>::new();
    Pool PoolCached Grown<InCell<u64>, Heap, CHUNKS>, With, grown!(SlotPool);
    WordPool WordPoolCached Grown<InWord<u64>, Heap, CHUNKS>, With, grown!(WordPool);
    LateFixed LateCached InPlace<InCell<u64>, CAPACITY>, With<Late>,
        FixedSlots::<u64, CAPACITY, tag::Slot, With<Late>>::new();
}

/// Bytes are charged and given back; the limit is far away.
impl Store for Budget {
    type Local<'s> = ();
    type Token<'s> = u64;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), value: u64) -> Option<u64> {
        Some(self.reserve(value % 4096 + 1).ok()?.commit())
    }

    fn release(&self, (): &mut (), token: u64, value: u64) -> Option<u64> {
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
    type Local<'s> = ();
    type Token<'s> = usize;
    const SLEEPS: bool = true;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), _: u64) -> Option<usize> {
        lock(&self.0).pop()
    }

    fn release(&self, (): &mut (), token: usize, value: u64) -> Option<u64> {
        lock(&self.0).push(token);
        Some(value)
    }
}

struct Boxes;

impl Store for Boxes {
    type Local<'s> = ();
    type Token<'s> = Box<[u64; 4]>;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), value: u64) -> Option<Box<[u64; 4]>> {
        Some(Box::new([value; 4]))
    }

    fn release(&self, (): &mut (), token: Box<[u64; 4]>, _: u64) -> Option<u64> {
        Some(token[0])
    }
}
