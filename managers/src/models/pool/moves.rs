//! Pieces that move between a cache, a transfer cache and the heap, beside a thread that looks for
//! memory: it has found them, or sees that another search is worth it, and finds them then.

use std::ptr::{self, NonNull};
use std::sync::Arc as StdArc;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::no_owner;
use crate::models::managers::{close, managers};
use crate::models::model;
use crate::pool::cache::magazine::{Batch, Found, Magazines};
use crate::pool::cache::size_class::Slot;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::cache::transfer_cache::{Shelf, TransferCache};
use crate::pool::heap::arena::Drained;
use crate::pool::heap::block_header::{BlockHeader, Home, PoolRef};
use crate::pool::streams::stream_state::StreamState;
use crate::stream::StreamConfig;
use crate::sync::spin_lock::SpinLock;

const BYTES: u64 = 256;

fn slot() -> (Slot, u64) {
    Slot::of(BYTES).unwrap()
}

/// Two pieces, chained.
fn batch() -> Box<[BlockHeader]> {
    let header = || {
        let header = BlockHeader::new(PoolRef::new(ptr::null()));
        let (slot, bytes) = slot();
        header.begin(0, bytes, slot, Home::Nowhere);
        header
    };
    let pieces: Box<[BlockHeader]> = [header(), header()].into();
    // SAFETY: the piece is no other thread's.
    unsafe { pieces[0].set_next(&raw const pieces[1]) };
    pieces[0].begin_batch(2);
    pieces
}

/// How many pieces a chain has.
fn count(batch: NonNull<BlockHeader>) -> usize {
    // SAFETY: the pieces are there to the end of the run, and the batch is the caller's.
    std::iter::successors(Some(batch), |piece| {
        NonNull::new(unsafe { piece.as_ref().next() }.cast_mut())
    })
    .count()
}

/// The memory of a pool: two pieces, somewhere.
struct Pool {
    cache: ThreadCache,
    state: StdArc<StreamState>,
    /// The pieces in the heap, chained.
    heap: SpinLock<Option<NonNull<BlockHeader>>>,
    moves: AtomicU64,
    pieces: Box<[BlockHeader]>,
}

// SAFETY: a header is used by the thread that has the piece.
unsafe impl Sync for Pool {}
// SAFETY: a header is used by the thread that has the piece.
unsafe impl Send for Pool {}

impl Pool {
    fn new(state: &StdArc<StreamState>) -> Arc<Self> {
        Arc::new(Self {
            cache: ThreadCache::new(no_owner(), state),
            state: StdArc::clone(state),
            heap: SpinLock::new(None),
            moves: AtomicU64::new(0),
            pieces: batch(),
        })
    }

    fn first(&self) -> NonNull<BlockHeader> {
        NonNull::from(&self.pieces[0])
    }

    fn transfer_cache(&self) -> &TransferCache {
        self.state.transfer_cache()
    }

    /// Counts a move like the counter of a cache, which its owner alone writes.
    fn note(&self) {
        let before = self.moves.load(Ordering::Relaxed);
        self.moves.store(before + 1, Ordering::Relaxed);
    }

    fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// A search: how many pieces it found.
    fn search(&self) -> usize {
        let mut found = 0;
        self.cache.drain(|drained, _| match drained {
            Drained::Batch(batch) => found += count(batch),
            Drained::Arena(_) => {}
        });
        self.transfer_cache()
            .give(slot().0, &self.heap, &mut |heap, batch| {
                *heap = Some(batch);
            });
        found + self.heap.lock().take().map_or(0, count)
    }

    /// Searches until no piece has moved meanwhile, beside an owner that takes one.
    fn search_all(&self) -> usize {
        let mut found = 0;
        loop {
            let before = self.moves();
            found += self.search();
            if self.moves() == before {
                return found;
            }
        }
    }
}

/// The owner of a cache takes a piece, beside a thread that looks for memory.
fn beside_a_search(
    outcomes: &[&'static str],
    set_up: fn(&Pool),
    take: fn(&Pool, &mut Magazines) -> bool,
) {
    model(outcomes, move |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let state = StdArc::new(StreamState::new(1, stream.timeline()));
        let pool = Pool::new(&state);
        set_up(&pool);
        let owner = thread::spawn({
            let pool = pool.clone();
            // SAFETY: this thread is the owner.
            move || unsafe { pool.cache.with(|content| take(&pool, content)) }
        });
        let found = pool.search_all();
        let taken = owner.join().unwrap();
        // Before that either came first: then the other found nothing of it.
        assert!(found == if taken { 1 } else { 2 }, "{found} found");
        seen.note(if taken { "taken" } else { "all found" });
        drop((pool, state, stream));
        close(managers);
    });
}

fn fill_transfer_cache(pool: &Pool) {
    let (slot, bytes) = slot();
    pool.transfer_cache()
        .push(slot, bytes, pool.first(), 1)
        .unwrap();
}

// Without it a thread that finds a batch gone would not know that another search is worth it.
#[test]
fn a_thread_that_misses_a_batch_knows_where_it_goes() {
    model(&["gone", "there"], |seen| {
        let transfer_cache = Arc::new((Shelf::default(), AtomicU64::new(0), AtomicU64::new(0)));
        let mut batch = 0_u32;
        transfer_cache.0.push(NonNull::from(&mut batch), 1).unwrap();
        let other = thread::spawn({
            let transfer_cache = transfer_cache.clone();
            move || {
                let taken = transfer_cache
                    .0
                    .pop(|| transfer_cache.1.store(1, Ordering::Relaxed));
                transfer_cache.2.store(1, Ordering::Relaxed);
                taken.is_some()
            }
        });
        // Orders nothing, and has loom try a run that it would leave out: this thread all after
        // that one.
        let _after = transfer_cache.2.load(Ordering::Relaxed);
        let found = transfer_cache.0.pop(|| ()).is_some();
        assert!(found || transfer_cache.1.load(Ordering::Relaxed) == 1);
        seen.note(if found { "there" } else { "gone" });
        assert_ne!(other.join().unwrap(), found);
    });
}

// Without it a request would be refused while the piece that it misses goes from a transfer cache
// into a cache.
#[test]
fn a_batch_that_goes_into_a_cache_is_found() {
    let take = |pool: &Pool, content: &mut Magazines| match content.take_batch(
        pool.transfer_cache(),
        slot(),
        || pool.note(),
    ) {
        Batch::Piece(_) => true,
        Batch::Strange(_) => panic!("there is room for it"),
        Batch::Nothing => false,
    };
    beside_a_search(&["all found", "taken"], fill_transfer_cache, take);
}

// Without it a request would be refused while slots go from the slabs into a cache.
#[test]
fn slots_that_go_into_a_cache_are_found() {
    let set_up = |pool: &Pool| *pool.heap.lock() = Some(pool.first());
    let take = |pool: &Pool, content: &mut Magazines| {
        let find = |heap: &mut Option<NonNull<BlockHeader>>, found: &mut Found| {
            if heap.take().is_some() {
                pool.pieces.iter().for_each(|it| found.push(it.into()));
            }
        };
        let put = |_: &mut _, _| panic!("there is room for it");
        let refilled = content.refill(slot(), &pool.heap, (find, put), || pool.note());
        refilled.is_some()
    };
    beside_a_search(&["all found", "taken"], set_up, take);
}

// Without it a request would be refused while another thread gives a transfer cache's batch back to
// the heap.
#[test]
fn a_batch_that_goes_into_the_heap_is_found() {
    model(&["found"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let state = StdArc::new(StreamState::new(1, stream.timeline()));
        let pool = Pool::new(&state);
        fill_transfer_cache(&pool);
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                pool.transfer_cache()
                    .give(slot().0, &pool.heap, &mut |heap, batch| {
                        *heap = Some(batch);
                    });
            }
        });
        assert_eq!(pool.search_all(), 2);
        seen.note("found");
        other.join().unwrap();
        drop((pool, state, stream));
        close(managers);
    });
}
