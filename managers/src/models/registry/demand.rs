//! Objects that are made when they are first asked for, as devices, contexts and functions are: one
//! thread makes one, and the others sleep.

use std::sync::Arc;

use loom::thread;

use super::Items;
use crate::error::Error;
use crate::models::model;

// Without it two threads could both make a device, or a thread that waited could sleep for ever.
#[test]
fn one_of_several_threads_makes_the_object_for_all() {
    model(&["mine", "the other's"], |seen| {
        let items = Items::new();
        let handle = items.store.reserve().unwrap();
        let ask = {
            let items = items.clone();
            move || {
                let mut is_maker = false;
                let item = items.store.ensure_alive(handle, |seat| {
                    is_maker = true;
                    items.make(seat)
                });
                let item = item.unwrap();
                item.read();
                (is_maker, item)
            }
        };
        let other = thread::spawn(ask.clone());
        let (mine, item) = ask();
        let (others, same) = other.join().unwrap();
        assert!(mine ^ others);
        assert!(Arc::ptr_eq(&item, &same));
        assert_eq!(items.made(), 1);
        seen.note(if mine { "mine" } else { "the other's" });
        drop((ask, item, same, items.store.shut()));
        items.close();
    });
}

// Without it a thread that waited could be left asleep when the making fails, be told of success,
// or find the handle dead.
#[test]
fn a_failure_goes_to_all_waiting_threads_and_the_next_may_try() {
    let outcomes = ["one failure for both", "one each"];
    model(&outcomes, |seen| {
        let items = Items::new();
        let handle = items.store.reserve().unwrap();
        let failure = Error::Full { kind: "model" };
        let ask = {
            let (items, failure) = (items.clone(), failure.clone());
            move || {
                let mut tries = 0;
                let got = items.store.ensure_alive(handle, |_seat| {
                    tries += 1;
                    Err(failure.clone())
                });
                (tries, got.map(drop))
            }
        };
        let other = thread::spawn(ask.clone());
        let (mine, got) = ask();
        let (others, same) = other.join().unwrap();
        assert_eq!((&got, &same), (&Err(failure.clone()), &Err(failure)));
        seen.note(match mine + others {
            1 => "one failure for both",
            2 => "one each",
            tries => panic!("{tries} tries"),
        });
        let item = items.store.ensure_alive(handle, |seat| items.make(seat));
        item.unwrap().read();
        drop((ask, items.store.shut()));
        items.close();
    });
}
