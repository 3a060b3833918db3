//! The object pool, and its things: objects that loom watches.

mod names;
mod reuse;
mod shutdown;
mod stock;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cupola_core::tag;
use loom::cell::UnsafeCell;

use crate::error::Result;
use crate::object_pool::{LeaseHolders, Leased, ObjectPool, Reusable};
use crate::shutdown_report::ShutdownReport;

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
