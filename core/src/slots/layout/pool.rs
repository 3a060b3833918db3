//! `SlotPool`: a store that grows by chunks which its caller lends.
//!
//! A chunk stays where it is until the pool is dropped, so a reference into it needs no
//! epoch or hazard scheme. The table of chunks is filled in order by compare-exchange.
//! Closing puts a mark into the first empty entry, which ends growth without another flag
//! to keep in step.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::super::Slots;
use super::super::group::{Bitmap, Group};
use super::super::payload::{InCell, Payload};
use super::super::policy::{Policy, StorePolicy};
use super::super::slot::{Slot, vacant};
use super::{Layout, sealed};
use crate::handle::{Handle, Tag, tag};
use crate::padded::Padded;
use crate::sync::{AtomicPtr, AtomicUsize, GROUP, Ordering, const_fn, repeat};

/// 64 slots, the unit in which a [`SlotPool`] grows.
pub struct Chunk<C: Payload> {
    /// On cache lines of its own, so that threads in different chunks do not contend.
    bitmap: Padded<Bitmap>,
    slots: [Slot<C>; GROUP],
}

impl<C: Payload> Chunk<C> {
    /// Slots in a chunk.
    pub const SLOTS: usize = GROUP;

    const_fn! {
        /// A chunk of vacant slots.
        #[must_use]
        pub fn new() -> Self {
            Self {
                bitmap: Padded(Bitmap::new()),
                slots: repeat![vacant!(); GROUP],
            }
        }
    }

    fn group(&self) -> Group<'_, C> {
        Group {
            bitmap: &self.bitmap.0,
            slots: &self.slots,
        }
    }
}

impl<C: Payload> Default for Chunk<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Payload> fmt::Debug for Chunk<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk").finish_non_exhaustive()
    }
}

/// Lends chunks to a [`SlotPool`].
///
/// # Safety
/// Every pointer that `lend` returns is as good as a `&Chunk`: aligned, and valid for reads,
/// and for writes to what lies within cells and atomics. (The pool makes no `&mut Chunk`, so
/// the pointer may come from a shared reference.) It points to a chunk as made by
/// [`Chunk::new`]. From then until it comes back through `take_back` the chunk stays where it
/// is and belongs to the pool: `lend` does not return it again and no other code touches it,
/// even when the source itself is moved.
pub unsafe trait ChunkSource<C: Payload> {
    /// A fresh chunk, or `None` when there are no more. May be called by several threads
    /// at a time; a thread that loses the race to add its chunk gives it back at once. A
    /// chunk that has come back has to be made anew before it is lent again.
    fn lend(&self) -> Option<NonNull<Chunk<C>>>;

    /// Takes back a chunk that the pool does not need, or needs no longer. Its slots hold
    /// no values. (A value whose destructor panics while the pool is dropped leaks the values
    /// that are left, and the chunks that hold them do not come back.)
    ///
    /// # Safety
    /// `chunk` came from `lend` of this source, comes back for the first time since, and
    /// nothing refers to it any more.
    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>);
}

/// A store that grows, by chunks of 64 slots from `S`, to at most `CHUNKS` of them.
///
/// ```
/// use cupola_core::{Chunk, ChunkSource, Payload, SlotPool, tag};
/// use std::ptr::NonNull;
///
/// /// Chunks on the heap.
/// struct Heap;
///
/// // SAFETY: a boxed chunk stays where it is, and `into_raw` leaves it to the pool alone.
/// unsafe impl<C: Payload> ChunkSource<C> for Heap {
///     fn lend(&self) -> Option<NonNull<Chunk<C>>> {
///         NonNull::new(Box::into_raw(Box::new(Chunk::new())))
///     }
///     unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
///         // SAFETY: it comes from `lend`, so from `Box::into_raw`, and comes back once.
///         drop(unsafe { Box::from_raw(chunk.as_ptr()) });
///     }
/// }
///
/// let streams: SlotPool<u32, Heap, tag::Stream> = SlotPool::new(Heap);
/// let handles: Vec<_> = (0..1000).map(|n| streams.insert(n).unwrap()).collect();
/// assert_eq!(*streams.get(handles[999]).unwrap(), 999);
/// assert_eq!(streams.release(handles[3]).unwrap().now(), Some(3));
/// assert_eq!(streams.live(), 999);
/// ```
pub type SlotPool<T, S, G = tag::Slot, const CHUNKS: usize = 64, P = StorePolicy> =
    Slots<Grown<InCell<T, <P as Policy>::Error>, S, CHUNKS>, G, P>;

/// The layout of [`SlotPool`].
pub struct Grown<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> {
    /// Chunks in order, then nulls; `end_mark()` in the first empty entry once closed.
    chunks: [AtomicPtr<Chunk<C>>; CHUNKS],
    /// How many chunks there are, perhaps a little late.
    count: AtomicUsize,
    source: S,
    /// The pool owns its chunks: it may cross threads when they may.
    owned: PhantomData<Chunk<C>>,
}

/// The mark in the table of a closed pool: no chunk is at this odd address.
fn end_mark<C: Payload>() -> *mut Chunk<C> {
    ptr::without_provenance_mut(1)
}

impl<C, S, G, P, const CHUNKS: usize> Slots<Grown<C, S, CHUNKS>, G, P>
where
    C: Payload,
    S: ChunkSource<C>,
    G: Tag,
    P: Policy,
{
    const FITS: () = assert!(CHUNKS > 0 && CHUNKS <= Handle::<tag::Slot>::MAX_SLOTS / GROUP);

    const_fn! {
        /// An empty pool. Asks `source` for nothing until the first value comes.
        pub fn new(source: S) -> Self {
            let () = Self::FITS;
            Self {
                layout: Grown {
                    chunks: repeat![AtomicPtr::new(ptr::null_mut()); CHUNKS],
                    count: AtomicUsize::new(0),
                    source,
                    owned: PhantomData,
                },
                types: PhantomData,
            }
        }
    }
}

impl<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> Grown<C, S, CHUNKS> {
    /// The chunk at `index`.
    fn chunk(&self, index: usize) -> Option<&Chunk<C>> {
        // Acquire: pairs with the Release in `grow`, so the chunk's first state is seen, and with
        // that in `seal`: a thread that sees the end mark sees that the first slot is closed.
        let chunk = self.chunks.get(index)?.load(Ordering::Acquire);
        if chunk == end_mark() {
            return None;
        }
        // SAFETY: `as_ref` needs null or a pointer that is valid for as long as `self` is
        // borrowed. The entry is null or came from `lend`, whose contract keeps the chunk in
        // its place until `take_back`, and that needs `&mut self`.
        unsafe { chunk.as_ref() }
    }
}

impl<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> Layout for Grown<C, S, CHUNKS> {}

impl<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> sealed::Groups for Grown<C, S, CHUNKS> {
    type Cell = C;

    fn group(&self, index: usize) -> Option<Group<'_, C>> {
        self.chunk(index).map(Chunk::group)
    }

    fn slot(&self, index: usize) -> Option<&Slot<C>> {
        self.chunk(index / GROUP)?.slots.get(index % GROUP)
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn grow(&self, index: usize) -> bool {
        let Some(entry) = self.chunks.get(index) else {
            return false;
        };
        // Relaxed: what is there is read by `chunk`, with Acquire.
        let is_empty = || entry.load(Ordering::Relaxed).is_null();
        if !is_empty() {
            return true;
        }
        let Some(chunk) = self.source.lend() else {
            return !is_empty();
        };
        // Release: publishes the chunk's first state to `chunk`.
        let added = entry.compare_exchange(
            ptr::null_mut(),
            chunk.as_ptr(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        match added {
            Ok(_) => {
                self.count.fetch_max(index + 1, Ordering::Relaxed);
            }
            // SAFETY: `take_back` needs a chunk of this source that nothing refers to: it was
            // lent just now, and the failed exchange showed it to no other thread.
            Err(_) => unsafe { self.source.take_back(chunk) },
        }
        true
    }

    fn seal(&self, index: usize) -> Option<Group<'_, C>> {
        let entry = self.chunks.get(index)?;
        // Release: the groups before this one have been closed. When the entry is not empty
        // this changes nothing, and `group` follows it.
        let _ = entry.compare_exchange(
            ptr::null_mut(),
            end_mark(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        self.group(index)
    }

    fn is_sealed_empty(&self) -> bool {
        self.chunks[0].load(Ordering::Relaxed) == end_mark()
    }

    fn capacity(&self) -> usize {
        CHUNKS * GROUP
    }
}

impl<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> Drop for Grown<C, S, CHUNKS> {
    fn drop(&mut self) {
        for entry in &self.chunks {
            let chunk = entry.load(Ordering::Relaxed);
            if chunk == end_mark() {
                break;
            }
            let Some(chunk) = NonNull::new(chunk) else {
                break;
            };
            // SAFETY: `as_ref` needs a valid chunk: `lend` gave it, and its contract keeps it
            // valid until `take_back`, which follows below.
            for slot in unsafe { &chunk.as_ref().slots } {
                // SAFETY: `Slot::clear` needs a slot that no lease, vacancy, attempt or other
                // thread uses: all of these borrow the pool, which is borrowed mutably here.
                unsafe { slot.clear() };
            }
            // SAFETY: `take_back` needs a chunk of this source that nothing refers to: it came
            // from `lend`, each entry is passed once, and the table dies here.
            unsafe { self.source.take_back(chunk) };
        }
    }
}

impl<C: Payload, S: ChunkSource<C>, const CHUNKS: usize> fmt::Debug for Grown<C, S, CHUNKS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grown")
            .field("chunks", &self.count)
            .finish_non_exhaustive()
    }
}
