//! The end of pools: requests that are late, and the pieces on their way back.

use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pool::lifetime::orphan::Orphan;
use crate::sync::spin_lock::SpinLock;

/// A pool of one piece that records its end.
struct Pool {
    orphan: Orphan<Arc<Self>>,
    pieces: SpinLock<u32>,
    gone: StdArc<AtomicBool>,
}

impl Pool {
    fn new(pieces: u32) -> (Arc<Self>, StdArc<AtomicBool>) {
        let gone = StdArc::new(AtomicBool::new(false));
        let pool = Self {
            orphan: Orphan::new(),
            pieces: SpinLock::new(pieces),
            gone: StdArc::clone(&gone),
        };
        (Arc::new(pool), gone)
    }

    fn is_over(&self) -> bool {
        *self.pieces.lock() == 0
    }

    fn close(it: &Arc<Self>) {
        it.orphan.close();
        it.orphan.hold(it.clone(), || it.is_over());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

// Without it a piece that a thread takes of a graph's memory while that is dropped would be one of
// a pool that is gone.
#[test]
fn a_piece_taken_late_keeps_its_pool() {
    model(&["kept"], |seen| {
        let (pool, gone) = Pool::new(0);
        pool.orphan.begin_request();
        let other = thread::spawn({
            let (pool, gone) = (pool.clone(), StdArc::clone(&gone));
            move || {
                *pool.pieces.lock() += 1;
                assert!(pool.orphan.end_request(|| pool.is_over()).is_none());
                // The pool's address, which the piece has.
                let known = std::ptr::from_ref(&*pool) as usize;
                drop(pool);
                (!gone.load(Ordering::Relaxed)).then_some(known)
            }
        });
        Pool::close(&pool);
        drop(pool);
        let known = other.join().unwrap().expect("the pool is gone");
        assert!(!gone.load(Ordering::Relaxed));
        // SAFETY: it is there, as was just seen, until its last piece is back.
        let pool = unsafe { &*(known as *const Pool) };
        *pool.pieces.lock() -= 1;
        let last = pool.orphan.try_reclaim(|| pool.is_over());
        assert!(last.is_some());
        drop(last);
        assert!(gone.load(Ordering::Relaxed));
        seen.note("kept");
    });
}

// Without it a request that had a piece in hand when its graph's memory was dropped, and then
// failed, would leave that to itself for ever. (loom fails the model when it stays.)
#[test]
fn a_request_that_fails_late_lets_its_pool_go() {
    model(&["ended by the request", "ended before"], |seen| {
        let (pool, gone) = Pool::new(0);
        pool.orphan.begin_request();
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                *pool.pieces.lock() += 1;
                // The driver has no memory for it.
                *pool.pieces.lock() -= 1;
                let last = pool.orphan.end_request(|| pool.is_over());
                last.is_some()
            }
        });
        Pool::close(&pool);
        drop(pool);
        let by_request = other.join().unwrap();
        assert!(gone.load(Ordering::Relaxed), "no thread ends it");
        let how = ["ended before", "ended by the request"];
        seen.note(how[usize::from(by_request)]);
    });
}

// Without it a pool whose last piece comes back while it is closed could stay for ever, or go while
// a thread is in it. (loom fails the model when it stays.)
#[test]
fn a_pool_goes_with_its_last_handle_or_its_last_piece() {
    model(&["over", "let go"], |seen| {
        let (pool, _) = Pool::new(1);
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                *pool.pieces.lock() -= 1;
                let last = pool.orphan.try_reclaim(|| pool.is_over());
                last.is_some()
            }
        });
        Pool::close(&pool);
        drop(pool);
        let let_go = other.join().unwrap();
        seen.note(if let_go { "let go" } else { "over" });
    });
}
