//! The names of objects that only their leases keep: a name ends with the last lease.

use loom::thread;

use super::Items;
use crate::error::Error;
use crate::models::model;

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
