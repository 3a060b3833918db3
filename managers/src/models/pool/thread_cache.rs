//! The pieces in a cache, which its thread takes and another thread drains.

use std::ptr::{self, NonNull};
use std::sync::Arc as StdArc;

use loom::sync::Arc;
use loom::thread;

use super::no_owner;
use crate::models::managers::{close, managers};
use crate::models::model;
use crate::models::piece::Piece;
use crate::models::test_driver::{completed, put_work};
use crate::ops;
use crate::pool::cache::size_class::Slot;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::heap::arena::Drained;
use crate::pool::heap::block_header::{BlockHeader, Home, PoolRef};
use crate::pool::streams::stream_state::StreamState;
use crate::stream::StreamConfig;

const BYTES: u64 = 256;

/// Headers that no thread frees before the run's end.
fn headers(count: usize) -> Box<[BlockHeader]> {
    (0..count as u64)
        .map(|at| {
            let header = BlockHeader::new(PoolRef::new(ptr::null()));
            let (slot, bytes) = Slot::of(BYTES).unwrap();
            header.begin(at, bytes, slot, Home::Nowhere);
            header
        })
        .collect()
}

/// A cache, the headers of its pieces, and their memory.
struct Kept {
    cache: ThreadCache,
    headers: Box<[BlockHeader]>,
    memory: [Piece; 2],
}

// SAFETY: header and memory are used by the thread that has the piece, which the models check.
unsafe impl Sync for Kept {}
// SAFETY: header and memory are used by the thread that has the piece, which the models check.
unsafe impl Send for Kept {}

impl Kept {
    fn new(state: &StdArc<StreamState>) -> Arc<Self> {
        Arc::new(Self {
            cache: ThreadCache::new(no_owner(), state),
            headers: headers(2),
            memory: [Piece::new(), Piece::new()],
        })
    }

    fn use_memory(&self, piece: NonNull<BlockHeader>) {
        // SAFETY: the headers are here.
        self.memory[unsafe { piece.as_ref() }.address() as usize].touch();
    }

    /// Frees a piece: whether the cache has it now.
    ///
    /// # Safety
    /// The caller is the cache's owner, and has the piece.
    unsafe fn free(&self, piece: NonNull<BlockHeader>) -> bool {
        self.use_memory(piece);
        // SAFETY: needs the cache's owner, which has the piece to give: this function's caller.
        unsafe { self.cache.push(piece) }
    }

    /// # Safety
    /// The caller is the cache's owner.
    unsafe fn allocate(&self) -> Option<NonNull<BlockHeader>> {
        let (slot, bytes) = Slot::of(BYTES).unwrap();
        // SAFETY: needs the cache's owner: this function's caller.
        let (piece, _) = unsafe { self.cache.pop((slot, bytes), bytes, None) }?;
        self.use_memory(piece);
        Some(piece)
    }

    /// Takes all pieces out; how many those were.
    fn drain(&self) -> usize {
        let mut count = 0;
        self.cache.drain(|drained, _| {
            let Drained::Batch(batch) = drained else {
                return;
            };
            let mut next: *const BlockHeader = batch.as_ptr();
            while let Some(piece) = NonNull::new(next.cast_mut()) {
                self.use_memory(piece);
                count += 1;
                // SAFETY: the headers are here, and the batch is ours.
                next = unsafe { piece.as_ref().next() };
            }
        });
        count
    }
}

// Without it a piece could be handed out by its thread and given back to all at once, or be
// lost, when another thread takes back the pieces in the cache.
#[test]
fn a_piece_is_the_caches_or_the_drainers() {
    model(&["0 drained", "1 drained", "2 drained"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let state = StdArc::new(StreamState::new(1, stream.timeline()));
        let kept = Kept::new(&state);
        let pieces: Vec<_> = kept.headers.iter().map(NonNull::from).collect();
        let other = thread::spawn({
            let kept = kept.clone();
            move || kept.drain()
        });
        let mut mine = 0;
        for piece in pieces {
            // SAFETY: this thread is the owner; no other thread has the piece yet.
            mine += usize::from(unsafe { !kept.free(piece) });
        }
        // SAFETY: this thread is the owner.
        mine += usize::from(unsafe { kept.allocate() }.is_some());
        let drained = other.join().unwrap();
        seen.note(["0 drained", "1 drained", "2 drained"][drained]);
        assert_eq!(mine + drained + kept.drain(), 2);
        drop((kept, state, stream));
        close(managers);
    });
}

// Without it a piece that a thread frees while its cache is being drained could be complete before
// the work on it is.
#[test]
fn what_is_drained_is_stamped_behind_its_work() {
    model(&["drained", "kept"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let state = StdArc::new(StreamState::new(1, stream.timeline()));
        let kept = Kept::new(&state);
        let other = thread::spawn({
            let kept = kept.clone();
            move || {
                let mut ticket = None;
                kept.cache.drain(|_, stamp| ticket = Some(stamp.ticket()));
                ticket
            }
        });
        // A wait of the user's ends a batch; memory that is freed then is of the next.
        ops::synchronize(&stream).unwrap();
        let work = put_work();
        let piece = NonNull::from(&kept.headers[0]);
        // SAFETY: this thread is the owner; no other thread has the piece yet.
        let pushed = unsafe { kept.free(piece) };
        let ticket = other.join().unwrap();
        assert!(pushed || ticket.is_none());
        if let Some(ticket) = ticket {
            let done = stream.timeline().is_done(ticket);
            assert!(!done || completed() >= work, "memory is free too early");
        }
        seen.note(if ticket.is_some() { "drained" } else { "kept" });
        drop((kept, state, stream));
        close(managers);
    });
}
