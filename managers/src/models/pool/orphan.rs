//! The end of pools: the threads that may still be at one, and the pieces on their way back to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc as StdArc, Weak};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, ThreadId};

use super::model;
use crate::pool::lifetime::orphan::Orphan;
use crate::sync::rundown::{Rundown, RundownWeak};
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

/// An object that ends on one thread, after all others have left.
struct Place {
    touched: UnsafeCell<u32>,
    owner: ThreadId,
}

// SAFETY: loom fails the model when two touch it at once.
unsafe impl Send for Place {}
// SAFETY: loom fails the model when two threads touch it at once.
unsafe impl Sync for Place {}

impl Drop for Place {
    fn drop(&mut self) {
        assert_eq!(thread::current().id(), self.owner, "a guest ends it");
        // SAFETY: loom checks that no other thread is there.
        self.touched.with_mut(|touched| unsafe { *touched += 1 });
    }
}

// Without it an allocation, or a look at the figures, could end another thread's pool, and wait for
// its work.
#[test]
fn a_rundown_guard_is_never_the_last_owner() {
    model(&["came before", "came late"], |seen| {
        let rundown = Rundown::new();
        let place = StdArc::new(Place {
            touched: UnsafeCell::new(0),
            owner: thread::current().id(),
        });
        let weak: Weak<Place> = StdArc::downgrade(&place);
        let host = RundownWeak::new(&rundown, weak);
        let guest = {
            let seen = seen.clone();
            thread::spawn(move || {
                let Some(place) = host.acquire() else {
                    seen.note("came late");
                    return;
                };
                // SAFETY: loom checks that no other thread is there.
                place.touched.with_mut(|touched| unsafe { *touched += 1 });
                drop(place);
                seen.note("came before");
            })
        };
        let mut began = 0;
        rundown.run_down(|| began += 1);
        rundown.run_down(|| began += 1);
        assert_eq!(began, 1);
        // The thread with the rundown guard may come as late as this.
        assert!(rundown.has_begun());
        drop(place);
        guest.join().unwrap();
    });
}
