//! A handle names one life, and none that comes after it.

use loom::thread;

use super::{Account, objects};
use crate::handle::ManagedHandle;
use crate::models::model;

// Without it a handle could lead to an object that has ended, or to its next life.
#[test]
fn a_handle_leads_to_its_own_life_or_to_none() {
    model(&["leased", "stale", "a life later"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let first = account.acquire(&things).unwrap();
        let handle = first.handle();
        let next = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || {
                let next = account.acquire(&things).unwrap();
                assert_ne!(next.handle(), handle);
                next.write();
                next
            }
        });
        let by_name = thread::spawn({
            let things = things.clone();
            move || {
                let lease = things.lease(handle).ok()?;
                assert_eq!(lease.handle(), handle);
                lease.read();
                Some(())
            }
        });
        first.read();
        drop(first);
        let next = next.join().unwrap();
        seen.note(match by_name.join().unwrap() {
            Some(()) => "leased",
            None if next.lives() == 2 => "a life later",
            None => "stale",
        });
        assert!(things.lease(handle).is_err());
        // No other thread has a lease now: the handle led to none of this life.
        next.write();
        drop(next);
        account.close(things);
    });
}

// Without it a thread that finds a name could find an object that is not there yet.
#[test]
fn what_has_a_name_is_there() {
    // The first node comes with its chunk, the second one alone.
    for before in [0, 1] {
        model(&["found", "no name yet", "gone again"], move |seen| {
            let (things, account) = (objects(2), Account::default());
            let first = (before > 0).then(|| account.acquire(&things).unwrap());
            let other = thread::spawn({
                let things = things.clone();
                move || {
                    let name = things.handles().nth(before);
                    match name.map(|name| things.lease(name)) {
                        None => "no name yet",
                        Some(Err(_)) => "gone again",
                        Some(Ok(lease)) => {
                            lease.read();
                            "found"
                        }
                    }
                }
            });
            let lease = account.acquire(&things).unwrap();
            lease.read();
            drop(lease);
            seen.note(other.join().unwrap());
            drop(first);
            account.close(things);
        });
    }
}

// Without it a thread that lists the names could lead its caller to a life that has yet to begin:
// its word is there, and the mark of the life before it says that the name is good.
#[test]
fn no_name_is_good_before_its_life() {
    model(&["the first", "the second", "none"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let first = account.acquire(&things).unwrap();
        let handle = first.handle();
        let other = thread::spawn({
            let things = things.clone();
            move || {
                let name = things.handles().next()?;
                let lease = things.lease(name).ok()?;
                lease.read();
                Some(name == handle)
            }
        });
        drop(first);
        drop(account.acquire(&things).unwrap());
        seen.note(match other.join().unwrap() {
            Some(true) => "the first",
            Some(false) => "the second",
            None => "none",
        });
        account.close(things);
    });
}

// Without it a name could be ended twice, or a lease be taken by a name that was ended.
#[test]
fn a_name_is_ended_once() {
    model(&["leased", "stale"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let handle = account.hold(&things).handle();
        let others = [(); 2].map(|()| {
            let things = things.clone();
            thread::spawn(move || things.release(handle).is_ok())
        });
        let lease = things.lease(handle);
        seen.note(if lease.is_ok() { "leased" } else { "stale" });
        if let Ok(lease) = &lease {
            lease.read();
        }
        let ended = others.map(|other| other.join().unwrap());
        assert!(ended[0] != ended[1]);
        assert!(things.lease(handle).is_err());
        assert_eq!(things.live(), usize::from(lease.is_ok()));
        drop(lease);
        assert_eq!(things.stats().idle, 1);
        account.close(things);
    });
}

// Without it an object could end twice, or never, when its name and its last lease end at
// once.
#[test]
fn a_release_and_the_last_lease_end_a_life_once() {
    model(&["waits"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let lease = account.hold(&things);
        let handle = lease.handle();
        let other = thread::spawn(move || {
            // The manager's own lease uses nothing.
            lease.write();
            drop(lease);
        });
        things.release(handle).unwrap();
        other.join().unwrap();
        assert!(things.release(handle).is_err());
        let next = account.acquire(&things).unwrap();
        next.write();
        assert_eq!((next.lives(), account.made()), (2, 1));
        seen.note("waits");
        drop(next);
        account.close(things);
    });
}

// Without it a late lease that is found again could be shown a life whose beginning it does
// not see: the mark that says so comes from the thread that took the node off its stack.
#[test]
fn a_name_that_is_good_again_leads_to_a_life_that_began() {
    model(&["leased", "stale"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let first = account.acquire(&things).unwrap().handle();
        let next = ManagedHandle::from_bits(first.to_bits() + (2 << 24));
        let handle = next.unwrap();
        let late = thread::spawn({
            let things = things.clone();
            move || {
                if let Ok(lease) = things.lease(handle) {
                    // Takes the node off its stack, and leaves it to the lease.
                    things.trim(0).unwrap();
                    drop(lease);
                }
            }
        });
        let later = thread::spawn({
            let things = things.clone();
            move || match things.lease(handle) {
                Ok(lease) => {
                    lease.read();
                    "leased"
                }
                Err(_) => "stale",
            }
        });
        drop(account.acquire(&things).unwrap());
        late.join().unwrap();
        seen.note(later.join().unwrap());
        account.close(things);
    });
}
