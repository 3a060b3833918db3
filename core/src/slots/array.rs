//! `ChunkArray`: chunks held in place, for a pool without a heap.

use core::fmt;
use core::ptr::{self, NonNull};

use super::payload::Payload;
use super::pool::{Chunk, ChunkSource};
use crate::sync::{AtomicBool, Ordering, const_fn, repeat};

/// `N` chunks of 64 slots, held in place, that a [`SlotPool`](crate::SlotPool) or a
/// [`WordPool`](crate::WordPool) borrows: in a `static`, for code without a heap.
///
/// Several pools can borrow from one array; each gets a chunk whenever it has no slot left. A
/// chunk comes back when its pool is dropped, and is lent again as new.
///
/// ```
/// use cupola_core::{ChunkArray, InCell, SlotPool, tag};
///
/// static CHUNKS: ChunkArray<InCell<&str>, 2> = ChunkArray::new();
/// static NAMES: SlotPool<&str, &ChunkArray<InCell<&str>, 2>, tag::Stream> =
///     SlotPool::new(&CHUNKS);
///
/// let handle = NAMES.insert("compute").unwrap();
/// assert_eq!(*NAMES.get(handle).unwrap(), "compute");
/// ```
pub struct ChunkArray<C: Payload, const N: usize> {
    chunks: [Chunk<C>; N],
    /// Whether the chunk at the same place is with a pool.
    lent: [AtomicBool; N],
}

impl<C: Payload, const N: usize> ChunkArray<C, N> {
    const_fn! {
        /// Chunks of vacant slots, none of them lent. A constant, so that it can initialise a
        /// `static`.
        #[must_use]
        pub fn new() -> Self {
            Self {
                chunks: repeat![Chunk::new(); N],
                lent: repeat![AtomicBool::new(false); N],
            }
        }
    }
}

impl<C: Payload, const N: usize> Default for ChunkArray<C, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Payload, const N: usize> fmt::Debug for ChunkArray<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lent = self.lent.iter().filter(|lent| lent.load(Ordering::Relaxed));
        f.debug_struct("ChunkArray")
            .field("chunks", &N)
            .field("lent", &lent.count())
            .finish()
    }
}

// SAFETY: a chunk of a borrowed array stays where it is for as long as the borrow, which the
// pool holds, and is as good as the reference that its pointer comes from. Its mark is set from
// `lend` to `take_back`, and nothing here looks at a chunk whose mark is set. It is as new: the
// array made it so, and so does `take_back`.
unsafe impl<C: Payload, const N: usize> ChunkSource<C> for &ChunkArray<C, N> {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        let mut marks = self.lent.iter().zip(&self.chunks);
        // Acquire: pairs with the Release in `take_back`, so the chunk is seen as new. Looks
        // before it writes: marks that are set are not fought over.
        let (_, chunk) = marks.find(|(lent, _)| {
            !lent.load(Ordering::Relaxed) && !lent.swap(true, Ordering::Acquire)
        })?;
        Some(NonNull::from(chunk))
    }

    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
        let mut marks = self.lent.iter().zip(&self.chunks);
        let at = chunk.as_ptr().cast_const();
        if let Some((lent, chunk)) = marks.find(|(_, chunk)| ptr::eq(*chunk, at)) {
            // SAFETY: as the caller promises, its slots hold no values, and nothing refers to
            // it any more.
            unsafe { chunk.renew() };
            let order = if mutant!("slots_chunk_back_relaxed") {
                Ordering::Relaxed
            } else {
                // Release: pairs with the Acquire in `lend`, so what its last pool did comes
                // before what the next one does.
                Ordering::Release
            };
            lent.store(false, order);
        }
    }
}
