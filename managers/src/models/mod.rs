//! Models of the state that threads share in this crate, run under loom; each is named for its
//! claim.
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=2 \
//!     cargo test --release -p cupola-managers --lib models
//! ```
//! `core/tests/loom/main.rs` says which runs loom leaves out, and why every model lists the
//! outcomes that it must come to see. Here too objects hold a loom cell: a use that is not ordered
//! behind the object's making and before its destruction fails the model. A node that is not freed
//! keeps its `Arc` of the transfer cache, and loom refuses to end a run with one.

mod biased_lock;
mod block_header;
mod current;
mod demand;
mod driver;
mod ends;
mod event_count;
mod feed;
mod intern;
mod latch;
mod launches;
mod lazy_box;
mod managers;
mod moves;
mod names;
mod over_limit;
mod pages;
mod policy;
mod pool;
mod registry;
mod reuse;
mod shutdown;
mod shutdown_gate;
mod stock;
mod thread_exit;
mod timeline;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cupola_core::tag;
use loom::cell::UnsafeCell;

use std::sync::{Arc as StdArc, Weak};

use crate::error::Result;
use crate::object_pool::{LeaseHolders, Leased, ObjectPool, Reusable};
use crate::pool::cache::thread_cache::{CacheOwner, ThreadCache};
use crate::pool::heap::arena::Drained;
use crate::pool::streams::free_stamp::Stamp;
use crate::shutdown_report::ShutdownReport;

/// The outcomes seen so far, over all runs of a model.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<BTreeSet<&'static str>>>);

impl Seen {
    pub(crate) fn note(&self, outcome: &'static str) {
        self.0.lock().unwrap().insert(outcome);
    }
}

/// Explores `run`, which must come to see each of `outcomes` and no other.
pub(crate) fn model(outcomes: &[&'static str], run: impl Fn(&Seen) + Send + Sync + 'static) {
    let seen = Seen::default();
    let noted = seen.clone();
    loom::model(move || run(&noted));
    assert_eq!(*seen.0.lock().unwrap(), outcomes.iter().copied().collect());
}

/// An object pool of things, whose last owner may be in any thread; and the account of its things.
type Shared = loom::sync::Arc<ObjectPool<Thing, tag::Event>>;
type Lease = Leased<Thing, tag::Event>;

/// How many things one run made and ended. Not loom's atomics: they are of the model.
#[derive(Clone, Default)]
struct Account(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    ended: AtomicUsize,
    /// Things have no second life.
    once: AtomicBool,
}

impl Account {
    fn of_single_lives() -> Self {
        let account = Self::default();
        account.0.once.store(true, Ordering::Relaxed);
        account
    }

    fn made(&self) -> usize {
        self.0.made.load(Ordering::Relaxed)
    }

    fn ended(&self) -> usize {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Makes a thing, for `acquire`.
    fn make(&self) -> Result<Thing> {
        self.0.made.fetch_add(1, Ordering::Relaxed);
        Ok(Thing {
            touched: UnsafeCell::new(()),
            holders: LeaseHolders::new(),
            account: self.clone(),
        })
    }

    fn acquire(&self, objects: &Shared) -> Result<Lease> {
        objects.acquire(0, false, || self.make())
    }

    /// A thing that the object pool keeps by its name.
    fn hold(&self, objects: &Shared) -> Lease {
        objects.acquire(0, true, || self.make()).unwrap()
    }

    /// The manager's end, when every lease has ended: nothing is left, and nothing went twice.
    fn close(&self, objects: Shared) {
        let stats = objects.stats();
        assert_eq!(stats.live, 0);
        assert_eq!(stats.created as usize, self.made());
        assert_eq!(stats.idle, self.made() - self.ended(), "an object is lost");
        drop(objects);
        assert_eq!(self.ended(), self.made());
    }
}

fn objects(capacity: usize) -> Shared {
    Shared::new(ObjectPool::new(capacity))
}

fn shut(objects: &Shared) -> ShutdownReport {
    let mut report = ShutdownReport::default();
    objects.shut(&mut report);
    assert!(report.errors.is_empty());
    report
}

/// An object that loom watches.
struct Thing {
    touched: UnsafeCell<()>,
    holders: LeaseHolders,
    account: Account,
}

// SAFETY: the cell is only ever marked as read or written and holds nothing; that the
// marks never meet is what the models check.
unsafe impl Sync for Thing {}
// SAFETY: the cell is only ever marked and holds nothing; that the marks never meet is what the
// models check.
unsafe impl Send for Thing {}

impl Thing {
    /// A use that others of the same life may make too.
    fn read(&self) {
        self.touched.with(|_| ());
    }

    /// The use of a thread that has the life alone.
    fn write(&self) {
        self.touched.with_mut(|_| ());
    }
}

impl Reusable for Thing {
    fn is_reusable(&self) -> bool {
        self.read();
        !self.account.0.once.load(Ordering::Relaxed)
    }

    fn renew(&self) {
        self.write();
    }

    fn holders(&self) -> Option<&LeaseHolders> {
        Some(&self.holders)
    }

    fn destroy(self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        self.write();
        self.account.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// The pool of a cache in a model, which has none: no thread of a model ends while the cache is open.
struct NoPool;

impl CacheOwner for NoPool {
    fn is_here(&self) -> bool {
        false
    }

    fn take_back(&self, _: Drained, _: Stamp) {}

    fn remove(&self, _: &StdArc<ThreadCache>) {}
}

fn no_owner() -> Weak<dyn CacheOwner> {
    Weak::<NoPool>::new()
}
