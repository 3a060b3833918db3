//! The pool's own: batches in a transfer cache, the pieces in a cache, the spin lock, two limits at
//! once, and the end.

use std::ptr::{self, NonNull};
use std::sync::Arc as StdArc;

use cupola_core::Budget;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::driver::{completed, put_work};
use super::managers::{close, managers};
use super::{model, no_owner};
use crate::ops;
use crate::pool::cache::size_class::Slot;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::cache::transfer_cache::Shelf;
use crate::pool::heap::arena::Drained;
use crate::pool::heap::block_header::{BlockHeader, Home, PoolRef};
use crate::pool::lifetime::orphan::Orphan;
use crate::pool::limit::budget::{PoolBudget, charge, release};
use crate::pool::streams::stream_state::StreamState;
use crate::stream::StreamConfig;
use crate::sync::spin_lock::SpinLock;

/// Memory that one thread at a time may use: loom fails the model when two do, or one does not see
/// the uses before its own.
pub(super) struct Piece(UnsafeCell<u32>);

// SAFETY: that the cell is used by one at a time is what the models check.
unsafe impl Sync for Piece {}
// SAFETY: the cell may move: that it is used by one thread at a time is what the models check.
unsafe impl Send for Piece {}

impl Piece {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(super) fn touch(&self) {
        // SAFETY: that the cell is used by one thread at a time is what the models check.
        self.0.with_mut(|uses| unsafe { *uses += 1 });
    }
}

struct TransferCache {
    shelf: Shelf<Piece>,
    pieces: [Piece; 2],
}

impl TransferCache {
    fn push(&self, piece: usize) {
        self.pieces[piece].touch();
        self.shelf
            .push(NonNull::from(&self.pieces[piece]), 4)
            .expect("there is room");
    }

    fn pop(&self) -> bool {
        let Some(piece) = self.shelf.pop(|| ()) else {
            return false;
        };
        // SAFETY: the pieces are the transfer cache's, which is there.
        unsafe { piece.as_ref() }.touch();
        true
    }
}

// Without it two threads could have one piece of memory, one be lost, or the next user of a batch
// not see earlier writes to it.
#[test]
fn a_batch_has_one_owner_at_a_time() {
    model(&["one", "both"], |seen| {
        let transfer_cache = Arc::new(TransferCache {
            shelf: Shelf::default(),
            pieces: [Piece::new(), Piece::new()],
        });
        transfer_cache.push(0);
        let pusher = thread::spawn({
            let transfer_cache = transfer_cache.clone();
            move || transfer_cache.push(1)
        });
        let popper = thread::spawn({
            let transfer_cache = transfer_cache.clone();
            move || usize::from(transfer_cache.pop())
        });
        let mine = usize::from(transfer_cache.pop());
        pusher.join().unwrap();
        let theirs = popper.join().unwrap();
        seen.note(["none", "one", "both"][mine + theirs]);

        let mut left = 0;
        while transfer_cache.pop() {
            left += 1;
        }
        assert_eq!(mine + theirs + left, 2);
    });
}

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
fn a_piece_is_the_lanes_or_the_drainers() {
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

// Without it two threads could change the heap at once, or one not see another's changes.
#[test]
fn one_thread_at_a_time_has_the_spin_lock() {
    model(&["first", "second"], |seen| {
        let shared = Arc::new((SpinLock::new(0_u32), Piece::new()));
        let section = |shared: &(SpinLock<u32>, Piece)| {
            let mut turn = shared.0.lock();
            shared.1.touch();
            *turn += 1;
            *turn
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || section(&shared)
        });
        let mine = section(&shared);
        let theirs = other.join().unwrap();
        assert_eq!(mine + theirs, 3);
        seen.note(if mine == 1 { "first" } else { "second" });
    });
}

// Without it two pools could exceed the limit that they share for an instant, or a refusal
// use up a limit for ever.
#[test]
fn a_refused_charge_costs_neither_limit() {
    model(&["both", "one"], |seen| {
        let limits = Arc::new(([PoolBudget::new(3), PoolBudget::new(3)], Budget::new(4)));
        let charged = |limits: &([PoolBudget; 2], Budget), which: usize| {
            let (own, shared) = (&limits.0[which], Some(&limits.1));
            let charged = charge(own, shared, 3);
            assert!(own.used() <= 3 && limits.1.used() <= 4);
            if charged {
                release(own, shared, 3);
            }
            charged
        };
        let other = thread::spawn({
            let limits = limits.clone();
            move || charged(&limits, 1)
        });
        let mine = charged(&limits, 0);
        let theirs = other.join().unwrap();
        seen.note(match (mine, theirs) {
            (true, true) => "both",
            (false, false) => "none",
            _ => "one",
        });
        let own = limits.0.iter().map(|own| own.used());
        assert_eq!(own.sum::<u64>() + limits.1.used(), 0);
    });
}

// Without it a request that fits could be refused because a graph's memory, which has the pool's
// own limit, is about to be refused a charge that the shared one has no room for.
#[test]
fn a_charge_that_is_refused_is_not_seen() {
    model(&["charged"], |seen| {
        // Another pool has a part of the shared limit all the time.
        let limits = Arc::new((PoolBudget::new(4), Budget::new(4)));
        let _theirs = limits.1.reserve(1).unwrap().commit();
        let pool = thread::spawn({
            let limits = limits.clone();
            move || {
                assert_eq!(limits.0.available(), 4, "there is room");
                assert!(charge(&limits.0, Some(&limits.1), 3), "it fits both");
            }
        });
        let graph = charge(&limits.0, Some(&limits.1), 4);
        assert!(!graph, "it does not fit");
        seen.note("charged");
        pool.join().unwrap();
        assert_eq!((limits.0.used(), limits.1.used()), (3, 4));
    });
}

/// A pool of one piece.
struct Pool {
    orphan: Orphan<Arc<Self>>,
    pieces: SpinLock<u32>,
}

impl Pool {
    fn is_over(&self) -> bool {
        *self.pieces.lock() == 0
    }
}

// Without it a pool whose last piece comes back while it is closed could stay for ever, or go while
// a thread is in it. (loom fails the model when it stays.)
#[test]
fn a_pool_goes_with_its_last_handle_or_its_last_piece() {
    model(&["over", "let go"], |seen| {
        let pool = Arc::new(Pool {
            orphan: Orphan::new(),
            pieces: SpinLock::new(1),
        });
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                *pool.pieces.lock() -= 1;
                let last = pool.orphan.try_reclaim(|| pool.is_over());
                last.is_some()
            }
        });
        pool.orphan.close();
        pool.orphan.hold(pool.clone(), || pool.is_over());
        drop(pool);
        let let_go = other.join().unwrap();
        seen.note(if let_go { "let go" } else { "over" });
    });
}
