//! Leases in stock keep no object for longer than its users do.

use std::sync::{Arc, Weak};

use cupola_core::tag;
use loom::cell::UnsafeCell;
use loom::thread;

use super::{Account, Lease, Thing, objects};
use crate::models::model;
use crate::object_pool::{LeaseHolder, LeaseStock};
use crate::sync::biased_lock::BiasedLock;

/// A thread's stock, as a thread cache has it.
struct Cache {
    lock: BiasedLock,
    leases: UnsafeCell<LeaseStock<Thing, tag::Event>>,
}

// SAFETY: the stock is touched under the lock only.
unsafe impl Send for Cache {}
// SAFETY: the stock is touched under the lock only.
unsafe impl Sync for Cache {}

impl Cache {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lock: BiasedLock::new(),
            leases: UnsafeCell::new(LeaseStock::EMPTY),
        })
    }

    /// Runs `work` in the owner's thread.
    fn own<R>(&self, work: impl FnOnce(&mut LeaseStock<Thing, tag::Event>) -> R) -> R {
        // SAFETY: each model calls this in one thread at a time, which is not within it.
        if unsafe { self.lock.enter_as_owner() } {
            // SAFETY: the owner is inside.
            let done = self.leases.with_mut(|leases| work(unsafe { &mut *leases }));
            // SAFETY: the owner, inside.
            unsafe { self.lock.leave_as_owner() };
            return done;
        }
        // SAFETY: as above; it did not enter.
        let _held = unsafe { self.lock.lock_as_owner() };
        // SAFETY: the owner holds the lock.
        self.leases.with_mut(|leases| work(unsafe { &mut *leases }))
    }

    /// A lease for a buffer, as an allocation takes it.
    fn allocate(self: &Arc<Self>, from: &Lease) -> Lease {
        let (found, wants_more) = self.own(|leases| {
            let found = leases.take(from);
            (found, leases.wants_more())
        });
        found.unwrap_or_else(|| {
            let lease = from.clone();
            if wants_more {
                self.grow(from);
            }
            lease
        })
    }

    fn grow(self: &Arc<Self>, from: &Lease) {
        let holder: Weak<dyn LeaseHolder> = Arc::<Self>::downgrade(self);
        self.own(|leases| leases.grow(from, holder));
    }

    /// The end of a buffer, as a free does it.
    fn free(&self, lease: Lease) {
        lease.read();
        drop(self.own(|leases| leases.put(lease)));
    }
}

impl LeaseHolder for Cache {
    fn give_back(&self) {
        let lease = {
            let _held = self.lock.revoke();
            // SAFETY: the revocation keeps the owner out.
            self.leases
                .with_mut(|leases| unsafe { &mut *leases }.drain(true))
        };
        drop(lease);
    }
}

// Without it the leases that a thread has in stock could keep an object whose last user is gone, or
// the object end while a buffer has one.
#[test]
fn the_last_user_takes_the_stock_back() {
    model(&["in stock", "not in stock"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let cache = Cache::new();
        let one = account.acquire(&things).unwrap();
        let two = one.clone();
        let other = thread::spawn(move || {
            two.read();
            drop(two);
        });
        let first = cache.allocate(&one);
        let second = cache.allocate(&one);
        // The object's user goes before the buffers do.
        drop(one);
        cache.free(first);
        cache.free(second);
        let stock = cache.own(|leases| !leases.is_empty());
        other.join().unwrap();
        seen.note(if stock { "in stock" } else { "not in stock" });
        // The cache is there, and has none of its leases.
        account.close(things);
        drop(cache);
    });
}

// Without it a stock that grows out of a buffer's own lease, when all other users are gone, could
// keep the object with what it has.
#[test]
fn a_stock_that_grows_out_of_a_buffer_keeps_nothing() {
    model(&["a new one", "the same"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let cache = Cache::new();
        let user = account.acquire(&things).unwrap();
        let buffer = user.clone();
        let other = thread::spawn(move || drop(user));
        let another = cache.allocate(&buffer);
        let third = cache.allocate(&buffer);
        cache.free(buffer);
        cache.free(another);
        cache.free(third);
        let next = account.acquire(&things).unwrap();
        next.write();
        seen.note(["", "the same", "a new one"][account.made()]);
        drop(next);
        other.join().unwrap();
        account.close(things);
        drop(cache);
    });
}

// Without it a name that ends could be the last user of an object whose other leases are in stock.
#[test]
fn the_end_of_a_name_takes_the_stock_back() {
    model(&["at the end of the name", "before"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let cache = Cache::new();
        let user = account.hold(&things);
        let handle = user.handle();
        let other = thread::spawn({
            let things = things.clone();
            move || things.release(handle).unwrap()
        });
        let buffer = cache.allocate(&user);
        drop(user);
        let before = !things.is_alive(handle);
        cache.free(buffer);
        other.join().unwrap();
        seen.note(if before {
            "before"
        } else {
            "at the end of the name"
        });
        account.close(things);
        drop(cache);
    });
}

// Without it a stock could hand out more leases than are counted for it.
#[test]
fn a_stock_has_what_is_counted() {
    model(&["done"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let cache = Cache::new();
        let user = account.acquire(&things).unwrap();
        cache.grow(&user);
        let held = [(); 4].map(|()| cache.own(|leases| leases.take(&user)));
        // Of two one stays, to name the object.
        assert_eq!(held.iter().flatten().count(), 1);
        let one = held.into_iter().flatten().next();
        cache.free(one.unwrap());
        cache.free(user.clone());
        drop(user);
        account.close(things);
        seen.note("done");
    });
}

// Without it the lock under which leases end beside a stock could go, with the object, while a thread
// has it.
#[test]
fn the_object_goes_after_the_lock_that_its_leases_end_under() {
    model(&["the cache's thread", "the other"], |seen| {
        let (things, account) = (objects(1), Account::of_single_lives());
        let cache = Cache::new();
        let user = account.acquire(&things).unwrap();
        cache.grow(&user);
        let other = thread::spawn({
            let account = account.clone();
            move || {
                drop(user);
                account.ended()
            }
        });
        drop(cache);
        let ended = account.ended();
        let others = other.join().unwrap();
        assert_eq!(account.ended(), 1);
        seen.note(match (ended, others) {
            (1, 0) => "the cache's thread",
            _ => "the other",
        });
        account.close(things);
    });
}
