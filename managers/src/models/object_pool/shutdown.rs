//! Shutdown, opening and the manager's end against use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loom::thread;

use super::{Account, objects, shut};
use crate::error::Error;
use crate::models::{Seen, model};
use crate::shutdown_report::ShutdownReport;
use crate::sync::thread_exit::ThreadExit;

// Without it an object could be handed out after a shutdown, or behind its report.
#[test]
fn nothing_is_handed_out_after_a_shutdown() {
    for waiting in [0, 1] {
        model(&["handed out", "refused"], move |seen| {
            let (things, account) = (objects(2), Account::default());
            for _ in 0..waiting {
                drop(account.acquire(&things).unwrap());
            }
            let is_shut = Arc::new(AtomicBool::new(false));
            let other = thread::spawn({
                let (things, account) = (things.clone(), account.clone());
                let is_shut = is_shut.clone();
                move || {
                    let late = is_shut.load(Ordering::SeqCst);
                    let got = account.acquire(&things);
                    assert!(!late || got.is_err());
                    got
                }
            });
            let report = shut(&things);
            is_shut.store(true, Ordering::SeqCst);
            assert!(account.acquire(&things).is_err());
            let got = other.join().unwrap();
            match got {
                Ok(lease) => {
                    lease.write();
                    assert_eq!(report.leased.len(), 1, "a lease behind the report");
                    assert!(things.lease(lease.handle()).is_err());
                    seen.note("handed out");
                }
                Err(Error::ShutDown { .. }) => {
                    // An object that the other held at that moment is listed.
                    assert!(report.leased.len() <= 1);
                    seen.note("refused");
                }
                Err(other) => panic!("{other}"),
            }
            assert_eq!(account.ended(), account.made(), "nothing waits");
            account.close(things);
        });
    }
}

// Without it an object that is given back during a shutdown could wait for ever, or be
// destroyed twice, or be counted by the shutdown when its user destroyed it.
#[test]
fn what_is_given_back_during_a_shutdown_is_destroyed() {
    let by = |account: fn() -> Account, outcomes: &[&'static str]| {
        model(outcomes, move |seen| {
            given_back_during_a_shutdown(&account(), seen)
        });
    };
    by(Account::default, &["by its user", "by the shutdown"]);
    by(Account::of_single_lives, &["by its user"]);
}

fn given_back_during_a_shutdown(account: &Account, seen: &Seen) {
    let things = objects(1);
    let lease = account.acquire(&things).unwrap();
    let other = thread::spawn(move || {
        lease.write();
        drop(lease);
    });
    let report = shut(&things);
    other.join().unwrap();
    assert_eq!((account.made(), account.ended()), (1, 1));
    seen.note(if report.destroyed == 1 {
        assert!(report.leased.is_empty());
        "by the shutdown"
    } else {
        "by its user"
    });
    account.close(things);
}

// Without it a name could outlast a shutdown.
#[test]
fn a_shutdown_ends_every_name() {
    model(&["leased", "stale"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let handle = account.hold(&things).handle();
        let other = thread::spawn({
            let things = things.clone();
            move || things.lease(handle)
        });
        let report = shut(&things);
        assert!(things.lease(handle).is_err());
        let lease = other.join().unwrap();
        assert!(report.leased.len() <= usize::from(lease.is_ok()));
        seen.note(if lease.is_ok() { "leased" } else { "stale" });
        if let Ok(lease) = &lease {
            lease.write();
        }
        drop(lease);
        assert_eq!((account.made(), account.ended()), (1, 1));
        account.close(things);
    });
}

// Without it an object could be neither used again nor destroyed when it is given back
// while the manager is set up again.
#[test]
fn what_is_given_back_while_opening_waits_or_is_destroyed() {
    model(&["waits", "destroyed"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let lease = account.acquire(&things).unwrap();
        assert_eq!(shut(&things).leased.len(), 1);
        let other = thread::spawn(move || drop(lease));
        things.open();
        other.join().unwrap();
        seen.note(match account.ended() {
            0 => "waits",
            _ => "destroyed",
        });
        let next = account.acquire(&things).unwrap();
        next.write();
        assert!(things.lease(next.handle()).is_ok());
        drop(next);
        assert_eq!(things.stats().idle, 1);
        account.close(things);
    });
}

// Without it a caller could be refused by a manager that is there, for good.
#[test]
fn a_shutdown_and_an_opening_do_not_mix() {
    model(&["open", "shut"], |seen| {
        let (things, account) = (objects(1), Account::default());
        drop(account.acquire(&things).unwrap());
        let other = thread::spawn({
            let things = things.clone();
            move || drop(shut(&things))
        });
        things.open();
        other.join().unwrap();
        if things.is_shut() {
            assert!(account.acquire(&things).is_err());
            seen.note("shut");
        } else {
            drop(account.acquire(&things).unwrap());
            assert_eq!(things.stats().idle, 1);
            seen.note("open");
        }
        account.close(things);
    });
}

// Without it a lease that ends with its manager could leave its object or its node, or
// destroy them twice.
#[test]
fn a_last_lease_ends_with_the_manager() {
    for once in [false, true] {
        model(&["destroyed by then", "left to the manager"], move |seen| {
            let account = if once {
                Account::of_single_lives()
            } else {
                Account::default()
            };
            let things = objects(1);
            let lease = account.acquire(&things).unwrap();
            let other = thread::spawn({
                let (seen, account) = (seen.clone(), account.clone());
                move || {
                    lease.write();
                    drop(lease);
                    seen.note(match account.ended() {
                        0 => "left to the manager",
                        _ => "destroyed by then",
                    });
                }
            });
            drop(things);
            if once {
                // An object of a single life never waits for another: that outcome cannot come.
                seen.note("left to the manager");
            }
            other.join().unwrap();
            assert_eq!((account.made(), account.ended()), (1, 1));
        });
    }
}

// Without it the manager's own lease, a last lease and a vacant node could be lost between
// them.
#[test]
fn leases_end_in_any_order_with_the_manager() {
    model(&["ended"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let one = account.hold(&things);
        let other = account.acquire(&things).unwrap();
        // A node without an object, for the manager to find.
        drop(other);
        things.trim(0).unwrap();
        let two = one.clone();
        let users = [one, two].map(|lease| {
            thread::spawn(move || {
                lease.read();
                drop(lease);
            })
        });
        drop(things);
        for user in users {
            user.join().unwrap();
        }
        assert_eq!((account.made(), account.ended()), (2, 2));
        seen.note("ended");
    });
}

// Without it a shutdown would report a lease of a thread that just ends.
#[test]
fn a_destructor_that_was_waited_for_leases_nothing() {
    model(&["in time", "late"], |seen| {
        let (thread_exit, account) = (ThreadExit::new(), Account::default());
        let things = Arc::new(objects(2));
        let handle = account.hold(&things).handle();
        let visitor = {
            let (thread_exit, things, seen) =
                (thread_exit.clone(), Arc::downgrade(&things), seen.clone());
            thread::spawn(move || {
                thread_exit.with(&things, |things| {
                    let released = things.release(handle);
                    seen.note(if released.is_ok() { "in time" } else { "late" });
                });
            })
        };
        let mut report = ShutdownReport::default();
        things.close(&mut report);
        thread_exit.wait();
        things.drain(&mut report);
        assert!(report.is_complete(), "{report}");
        visitor.join().unwrap();
        account.close(Arc::into_inner(things).unwrap());
    });
}
