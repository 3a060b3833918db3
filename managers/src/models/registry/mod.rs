//! The registry's gate: shutdown and opening against objects that go in and objects that are
//! leased.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cupola_core::tag;
use loom::cell::UnsafeCell;
use loom::thread;

use super::model;
use crate::error::{Error, Result};
use crate::handle::ManagedHandle;
use crate::registry::{Fixed, Name, Registry, part};
use crate::sync::capacity::Permit;
use crate::sync::shutdown_gate::ShutdownGate;

/// An object that a registry holds. Its end is not marked: the standard library's `Arc`, which loom
/// does not see, puts it behind every use.
pub(super) struct Item {
    made: UnsafeCell<()>,
    ended: Arc<AtomicUsize>,
    _permit: Permit,
    /// Of an item that only its leases keep.
    name: OnceLock<Name<Self, tag::Device, Fixed<Self, 2>>>,
}

// SAFETY: the cell is only ever marked as read or written and holds nothing; that the
// marks never meet is what the models check.
unsafe impl Sync for Item {}
// SAFETY: the cell is only ever marked and holds nothing; that the marks never meet is what the
// models check.
unsafe impl Send for Item {}

impl Item {
    /// A use: a thread that has the item finds all of it.
    pub(super) fn read(&self) {
        self.made.with(|_| ());
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

type Store = Registry<Item, tag::Device, Fixed<Item, 2>>;

/// A registry, and how many of its items were made and have ended.
#[derive(Clone)]
pub(super) struct Items {
    pub(super) store: loom::sync::Arc<Store>,
    made: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Items {
    pub(super) fn new() -> Self {
        Self {
            store: loom::sync::Arc::new(Registry::fixed()),
            made: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// Of items that have one owner each.
    fn of_owned() -> Self {
        Self {
            store: loom::sync::Arc::new(Registry::fixed().of_owned()),
            ..Self::new()
        }
    }

    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    pub(super) fn make(&self, permit: Permit) -> Result<Item> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let made = UnsafeCell::new(());
        made.with_mut(|_| ());
        Ok(Item {
            made,
            ended: Arc::clone(&self.ended),
            _permit: permit,
            name: OnceLock::new(),
        })
    }

    fn insert(&self) -> Result<(ManagedHandle<tag::Device>, Arc<Item>)> {
        let mut name = None;
        let item = self.store.insert_with(|handle, permit| {
            name = Some(handle);
            self.make(permit)
        })?;
        Ok((name.unwrap(), item))
    }

    /// Inserts an item that only its leases keep.
    fn insert_leased(&self) -> Result<(ManagedHandle<tag::Device>, Arc<Item>)> {
        let mut name = None;
        let item = self.store.insert_leased(|handle, permit| {
            name = Some(handle);
            self.make(permit)
        })?;
        let handle = name.unwrap();
        if let Some(name) = self.store.releaser(handle) {
            let _ = item.name.set(name);
        }
        Ok((handle, item))
    }

    /// Nothing is left, in the registry or elsewhere.
    pub(super) fn close(self) {
        assert_eq!(self.store.live(), 0, "left behind");
        assert_eq!(self.store.stats().live, 0);
        assert_eq!(self.ended.load(Ordering::Relaxed), self.made());
    }
}

/// The outcome of an item that may have been made during a shutdown, which found `found`.
fn outcome(
    got: &Result<Arc<Item>>,
    found: &[(ManagedHandle<tag::Device>, Arc<Item>)],
) -> &'static str {
    for (_, item) in found {
        item.read();
    }
    match got {
        Ok(item) => {
            item.read();
            let is_found = found.iter().any(|(_, one)| Arc::ptr_eq(one, item));
            assert!(is_found, "handed out behind a shutdown");
            "handed out"
        }
        Err(Error::ShutDown { .. }) if found.is_empty() => "refused",
        // The shutdown has it, and destroys it.
        Err(Error::ShutDown { .. }) => "refused, and found",
        Err(other) => panic!("{other}"),
    }
}

// Without it an object could be made or leased that no shutdown ends or reports.
#[test]
fn nothing_goes_in_behind_a_shutdown() {
    model(&["handed out", "refused", "refused, and found"], |seen| {
        let items = Items::new();
        let other = thread::spawn({
            let items = items.clone();
            move || items.insert()
        });
        let found = items.store.shut();
        assert!(matches!(items.insert(), Err(Error::ShutDown { .. })));
        let got = other.join().unwrap().map(|(_, item)| item);
        seen.note(outcome(&got, &found));
        assert!(items.store.handles().next().is_none());
        drop((got, found));
        items.close();
    });
}

// Without it an object that is made on demand could come to life after the shutdown that ended its
// handle.
#[test]
fn nothing_is_made_on_demand_behind_a_shutdown() {
    model(
        &["handed out", "refused", "refused, and found", "stale"],
        |seen| {
            let items = Items::new();
            let handle = items.store.reserve().unwrap();
            let other = thread::spawn({
                let items = items.clone();
                move || {
                    items
                        .store
                        .ensure_alive(handle, |permit| items.make(permit))
                }
            });
            let found = items.store.shut();
            let got = other.join().unwrap();
            seen.note(match got {
                Err(Error::StaleHandle { .. }) => {
                    assert!(found.is_empty() && items.made() == 0);
                    "stale"
                }
                ref got => outcome(got, &found),
            });
            assert!(!items.store.is_alive(handle));
            drop((got, found));
            items.close();
        },
    );
}

// Without it a shutdown could miss an object that another thread is just leasing, or report it as
// free while it is leased.
#[test]
fn a_shutdown_has_what_is_leased_meanwhile() {
    model(&["leased", "stale"], |seen| {
        let items = Items::new();
        let (handle, item) = items.insert().unwrap();
        drop(item);
        let other = thread::spawn({
            let items = items.clone();
            move || items.store.lease(handle)
        });
        let mut found = items.store.shut();
        assert!(items.store.lease(handle).is_err());
        let got = other.join().unwrap();
        let (name, item) = found.pop().expect("an object is lost");
        assert!(name == handle && found.is_empty());
        match (part(item), got) {
            (Err(leases), Ok(lease)) => {
                lease.read();
                assert_eq!(leases, 1);
                let again = items.store.shut();
                assert_eq!(
                    again.len(),
                    1,
                    "a lease that a later shutdown does not know of"
                );
                seen.note("leased");
            }
            (Ok(item), Err(Error::StaleHandle { .. })) => {
                item.read();
                seen.note("stale");
            }
            (_, got) => panic!("{:?}", got.map(drop)),
        }
        items.close();
    });
}

// Without it a shutdown could lose an object for good that has an owner, because another thread was
// just looking at it.
#[test]
fn a_shutdown_has_what_is_owned_and_looked_at() {
    model(&["seen", "stale"], |seen| {
        let items = Items::of_owned();
        let (handle, owner) = items.insert().unwrap();
        let other = thread::spawn({
            let items = items.clone();
            move || items.store.lease(handle).map(|item| item.read()).is_ok()
        });
        let found = items.store.shut();
        assert_eq!(found.len(), 1, "an object is lost");
        seen.note(if other.join().unwrap() {
            "seen"
        } else {
            "stale"
        });
        assert!(found[0].0 == handle && Arc::ptr_eq(&found[0].1, &owner));
        drop(found);
        let again = items.store.shut();
        assert_eq!(again.len(), 1, "a later shutdown does not know of it");
        // The owner comes too late for the name.
        assert!(items.store.take(handle).is_err());
        drop((again, owner));
        items.close();
    });
}

// Without it a shutdown that overlaps a release could find an object neither by its name nor
// among those without one.
#[test]
fn a_shutdown_has_what_is_released_meanwhile() {
    model(&["by its name", "without a name"], |seen| {
        let items = Items::new();
        let (handle, lease) = items.insert().unwrap();
        let other = thread::spawn({
            let items = items.clone();
            move || {
                items
                    .store
                    .release(handle)
                    .map(|item| assert!(item.is_none()))
            }
        });
        let found = items.store.shut();
        assert_eq!(found.len(), 1, "an object is lost");
        assert!(found[0].0 == handle && Arc::ptr_eq(&found[0].1, &lease));
        seen.note(match other.join().unwrap() {
            Ok(()) => "without a name",
            Err(_) => "by its name",
        });
        drop((found, lease));
        items.close();
    });
}

// Without it an object whose handle is released just when it is made could be handed out, and be in
// no list of leased objects.
#[test]
fn what_is_released_while_it_is_made_is_known() {
    model(&["stale", "being made", "handed out"], |seen| {
        let items = Items::new();
        let handle = items.store.reserve().unwrap();
        let other = thread::spawn({
            let items = items.clone();
            move || {
                items
                    .store
                    .ensure_alive(handle, |permit| items.make(permit))
            }
        });
        let released = items.store.release(handle).map(|item| item.is_some());
        let got = other.join().unwrap();
        let found = items.store.shut();
        match &got {
            Ok(item) => {
                item.read();
                assert!(found.iter().any(|(_, one)| Arc::ptr_eq(one, item)));
            }
            Err(_) => assert!(found.is_empty() && items.made() == 0),
        }
        seen.note(match (released, &got) {
            (Ok(false), Err(Error::StaleHandle { .. })) => "stale",
            (Err(Error::NotAlive { .. }), Ok(_)) => "being made",
            (Ok(false), Ok(_)) => "handed out",
            (released, got) => panic!("{released:?}, {}", got.is_ok()),
        });
        drop((got, found));
        items.close();
    });
}

// Without it an object begun before a shutdown could be handed out after a later start, made as the
// manager was set up before.
#[test]
fn what_was_begun_before_a_shutdown_is_not_handed_out_after_an_opening() {
    let outcomes = ["before", "refused", "after"];
    model(&outcomes, |seen| {
        let items = Items::new();
        let is_late = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let (items, is_late) = (items.clone(), Arc::clone(&is_late));
            move || {
                let mut late = false;
                let got = items.store.insert_with(|_, permit| {
                    late = is_late.load(Ordering::SeqCst);
                    items.make(permit)
                });
                (late, got)
            }
        });
        // Loom may let the other go first here, and so before the flag too.
        assert!(!items.store.is_shut());
        is_late.store(true, Ordering::SeqCst);
        let found = items.store.shut();
        items.store.open(2);
        let (late, got) = other.join().unwrap();
        seen.note(match &got {
            Ok(item) if found.iter().any(|(_, one)| Arc::ptr_eq(one, item)) => "before",
            Ok(_) => {
                assert!(late, "begun before the shutdown");
                assert_eq!(items.store.live(), 1);
                "after"
            }
            Err(_) => {
                assert_eq!(items.store.live(), 0);
                "refused"
            }
        });
        drop((got, found, items.store.shut()));
        items.close();
    });
}

// Without it a token from before a shutdown would be good again after the next opening.
#[test]
fn a_token_ends_with_a_shutdown() {
    model(&["held", "ended"], |seen| {
        let gate = loom::sync::Arc::new(ShutdownGate::new());
        let pass = gate.begin().unwrap();
        let other = thread::spawn({
            let gate = gate.clone();
            move || {
                gate.close();
                gate.open();
            }
        });
        seen.note(if gate.validate(pass) { "held" } else { "ended" });
        other.join().unwrap();
        assert!(!gate.validate(pass), "good again");
        assert!(gate.validate(gate.begin().unwrap()));
    });
}

// Without it the last lease of an object that nothing else keeps could leave its handle behind,
// or a lease by the handle lead to an object that has ended.
#[test]
fn a_name_ends_with_the_last_lease() {
    model(&["leased", "stale"], |seen| {
        let items = Items::new();
        let (handle, lease) = items.insert_leased().unwrap();
        let other = thread::spawn({
            let items = items.clone();
            move || match items.store.lease(handle) {
                Ok(item) => {
                    item.read();
                    true
                }
                Err(Error::StaleHandle { .. }) => false,
                Err(other) => panic!("{other}"),
            }
        });
        // Not in the first thread: loom runs that as long as it can.
        let last = thread::spawn(move || drop(lease));
        let leased = other.join().unwrap();
        last.join().unwrap();
        seen.note(if leased { "leased" } else { "stale" });
        assert!(!items.store.is_alive(handle));
        items.close();
    });
}

// Without it a release, or a shutdown, that meets the last lease could end the handle of the object
// that has the slot next.
#[test]
fn a_last_lease_may_meet_the_release_of_its_handle() {
    model(&["released", "too late"], |seen| {
        let items = Items::new();
        let (handle, lease) = items.insert_leased().unwrap();
        let other = thread::spawn({
            let items = items.clone();
            move || {
                let released = items.store.release(handle).map(drop).is_ok();
                let (next, lease) = items.insert().unwrap();
                (released, next, lease)
            }
        });
        drop(lease);
        let (released, next, lease) = other.join().unwrap();
        seen.note(if released { "released" } else { "too late" });
        assert!(items.store.is_alive(next) && next != handle);
        lease.read();
        drop((lease, items.store.take(next).unwrap()));
        items.close();
    });
}
