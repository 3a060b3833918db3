//! Shutdown and opening against objects that go in and objects that are leased.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_core::tag;
use loom::thread;

use super::{Item, Items};
use crate::error::{Error, Result};
use crate::handle::ManagedHandle;
use crate::models::model;
use crate::registry::part;

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
