//! A source of chunks for pools under test.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_core::{Chunk, ChunkSource, Payload};

/// At most `limit` boxed chunks at a time.
pub(crate) struct Boxes {
    limit: usize,
    lent: AtomicUsize,
}

impl Boxes {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            lent: AtomicUsize::new(0),
        }
    }
}

// SAFETY: a boxed chunk stays where it is, and `into_raw` leaves it to the pool alone.
unsafe impl<C: Payload> ChunkSource<C> for Boxes {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        let more = |lent| (lent < self.limit).then_some(lent + 1);
        self.lent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        NonNull::new(Box::into_raw(Box::new(Chunk::new())))
    }

    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
        self.lent.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it comes from `lend`, so from `Box::into_raw`, and comes back once.
        drop(unsafe { Box::from_raw(chunk.as_ptr()) });
    }
}
