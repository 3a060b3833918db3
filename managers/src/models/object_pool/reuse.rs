//! Objects go from life to life, and are in one at a time.

use loom::thread;

use super::{Account, Shared, objects};
use crate::error::Error;
use crate::models::model;

// Without it one object could be in two lives at once.
#[test]
fn an_object_is_in_one_life_at_a_time() {
    model(&["both the same", "one each"], |seen| {
        let (things, account) = (objects(2), Account::default());
        drop(account.acquire(&things).unwrap());
        let other = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || account.acquire(&things).unwrap().write()
        });
        account.acquire(&things).unwrap().write();
        other.join().unwrap();
        seen.note(match account.made() {
            1 => "both the same",
            2 => "one each",
            more => panic!("{more} were made"),
        });
        account.close(things);
    });
}

// Without it one user's writes to an object could mix with those of the next.
#[test]
fn a_life_comes_before_the_next() {
    model(&["the same", "a new one"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let first = account.acquire(&things).unwrap();
        let next = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || account.acquire(&things).unwrap().write()
        });
        first.write();
        drop(first);
        next.join().unwrap();
        seen.note(["", "the same", "a new one"][account.made()]);
        account.close(things);
    });
}

// Without it the end of a life could come before a use by a lease that ended earlier.
#[test]
fn every_use_comes_before_the_end() {
    model(&["the same", "a new one"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let one = account.acquire(&things).unwrap();
        let two = one.clone();
        let user = thread::spawn(move || two.read());
        let next = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || account.acquire(&things).unwrap().write()
        });
        one.read();
        drop(one);
        user.join().unwrap();
        next.join().unwrap();
        seen.note(["", "the same", "a new one"][account.made()]);
        account.close(things);
    });
}

// Without it a pop could put a node on top that another thread took meanwhile (ABA).
#[test]
fn a_pop_that_was_overtaken_starts_over() {
    model(&["a new one", "top or below", "top, once more"], |seen| {
        let (things, account) = (objects(4), Account::default());
        let below = account.acquire(&things).unwrap();
        drop(account.acquire(&things).unwrap());
        drop(below);
        let other = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || account.acquire(&things).unwrap()
        });
        let top = account.acquire(&things).unwrap();
        let below = account.acquire(&things).unwrap();
        drop(top);
        let first = other.join().unwrap();
        let second = account.acquire(&things).unwrap();
        for lease in [&first, &second, &below] {
            lease.write();
        }
        assert!(!first.is(&below) && !second.is(&below) && !first.is(&second));
        seen.note(["", "a new one", "top or below", "top, once more"][first.lives() as usize]);
        assert_eq!(account.made(), 3);
        drop((first, second, below));
        account.close(things);
    });
}

// Without it a life could end while it is being shared.
#[test]
fn a_clone_keeps_its_life() {
    model(
        &["its last lease was the clone", "it was the other"],
        |seen| {
            let (things, account) = (objects(1), Account::default());
            let one = account.acquire(&things).unwrap();
            let two = one.clone();
            let watch = things.clone();
            let other = thread::spawn(move || {
                two.read();
                drop(two);
                watch.live() > 0
            });
            let clone = one.clone();
            drop(one);
            clone.read();
            drop(clone);
            seen.note(if other.join().unwrap() {
                "its last lease was the clone"
            } else {
                "it was the other"
            });
            assert_eq!(account.made(), 1);
            account.close(things);
        },
    );
}

// Without it more objects could exist than the capacity allows.
#[test]
fn the_capacity_is_kept() {
    model(&["one of two", "one after the other"], |seen| {
        let (things, account) = (objects(1), Account::default());
        let obtain = |things: &Shared, account: Account| match account.acquire(things) {
            Ok(lease) => {
                lease.write();
                true
            }
            Err(Error::Full { .. }) => false,
            Err(other) => panic!("{other}"),
        };
        let other = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || obtain(&things, account)
        });
        let mine = obtain(&things, account.clone());
        let others = other.join().unwrap();
        assert!(mine || others);
        assert_eq!((account.made(), things.stats().peak), (1, 1));
        seen.note(if mine && others {
            "one after the other"
        } else {
            "one of two"
        });
        account.close(things);
    });
}

// Without it a request could be refused while an object waits: one of another class is taken after
// an object of the request's class has come back.
#[test]
fn full_is_full_at_one_instant() {
    model(&["the one that came back", "a new one"], |seen| {
        let (things, account) = (objects(2), Account::default());
        let mine = account.acquire(&things).unwrap();
        let of_other_class = |things: &Shared, account: &Account| {
            things.acquire(1, false, || account.make()).unwrap()
        };
        drop(of_other_class(&things, &account));
        let other = thread::spawn({
            let (things, account) = (things.clone(), account.clone());
            move || account.acquire(&things).unwrap().write()
        });
        drop(mine);
        of_other_class(&things, &account).write();
        other.join().unwrap();
        seen.note(if account.made() == 2 {
            "the one that came back"
        } else {
            "a new one"
        });
        account.close(things);
    });
}

// Without it nodes that are taken off to be looked through could be lost, or taken twice.
#[test]
fn a_trim_leaves_what_is_used() {
    for keep in [0, 1] {
        model(&["the same", "a new one"], move |seen| {
            let (things, account) = (objects(3), Account::default());
            drop(account.acquire(&things).unwrap());
            let other = thread::spawn({
                let things = things.clone();
                move || things.trim(keep).unwrap()
            });
            let lease = account.acquire(&things).unwrap();
            lease.write();
            drop(lease);
            other.join().unwrap();
            seen.note(["", "the same", "a new one"][account.made()]);
            account.close(things);
        });
    }
}
