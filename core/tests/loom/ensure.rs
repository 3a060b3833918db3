//! Values that are made on demand: `ensure_alive`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cupola_core::{EnsureError, FixedSlots, Handle, HandleError, Park, Release, StorePolicy, tag};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::{Ended, Value, model};

loom::lazy_static! {
    static ref LOCK: Mutex<()> = Mutex::new(());
    static ref CHANGED: Condvar = Condvar::new();
}

/// Threads sleep, so that one that is not woken is a deadlock that loom reports.
enum Sleep {}

impl Park for Sleep {
    fn wait(_: usize, ready: &mut dyn FnMut() -> bool) {
        let mut guard = LOCK.lock().unwrap();
        while !ready() {
            guard = CHANGED.wait(guard).unwrap();
        }
    }

    fn wake(_: usize) {
        drop(LOCK.lock().unwrap());
        CHANGED.notify_all();
    }
}

type Store = FixedSlots<Value, 1, tag::Slot, StorePolicy<u32, Sleep>>;

/// A store with one reserved slot.
fn reserved() -> (Arc<Store>, Handle<tag::Slot>) {
    let store = Arc::new(Store::new());
    let handle = store.reserve().unwrap();
    (store, handle)
}

/// Would break if two threads could both become the maker, or if one that waited looked at
/// the value before it was there.
#[test]
fn of_two_that_ask_one_makes_the_value() {
    model(&["mine", "the other's"], |seen| {
        let ended = Ended::default();
        let (store, handle) = reserved();
        let ask = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move |number| {
                let mut made = false;
                let lease = store.ensure_alive(handle, || {
                    made = true;
                    Ok(Value::new(number, &ended))
                });
                let number = lease.unwrap().read();
                (made, number)
            }
        };
        let other = thread::spawn({
            let ask = ask.clone();
            move || ask(1)
        });
        let (mine, number) = ask(2);
        let (others, same) = other.join().unwrap();
        assert!(mine ^ others);
        assert_eq!(number, same);
        assert_eq!(number, if mine { 2 } else { 1 });
        seen.note(if mine { "mine" } else { "the other's" });
        assert_eq!(store.held().leases, 0);
    });
}

/// Would break if a failure were lost, told twice, or left the slot unusable, or if the copy
/// of an error could be read after its end.
#[test]
fn a_failure_reaches_each_waiter_and_the_slot_stays_usable() {
    let outcomes = [
        "waited for the failure",
        "made it afterwards",
        "made it before",
    ];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let (store, handle) = reserved();
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let lease = store.ensure_alive(handle, || Err(7));
                lease.map(|lease| lease.read())
            })
        };
        let mut made = false;
        let mine = store.ensure_alive(handle, || {
            made = true;
            Ok(Value::new(1, &ended))
        });
        let mine = mine.map(|lease| lease.read());
        let others = other.join().unwrap();
        match (mine, others) {
            (Err(EnsureError::Init(7)), Err(EnsureError::Init(7))) => {
                assert!(!made);
                seen.note("waited for the failure");
            }
            (Ok(1), Err(EnsureError::Init(7))) => {
                assert!(made);
                seen.note("made it afterwards");
            }
            (Ok(1), Ok(1)) => {
                assert!(made);
                seen.note("made it before");
            }
            (mine, others) => panic!("{mine:?} and {others:?}"),
        }
        // Either way the slot is usable, and its value is there or can be made.
        let again = store.ensure_alive(handle, || Ok(Value::new(1, &ended)));
        assert_eq!(again.unwrap().read(), 1);
    });
}

/// Would break if a release could come between the value and the threads that waited for it.
#[test]
fn a_waiter_gets_a_value_that_is_released_at_once() {
    let outcomes = ["ended by release", "ended by a lease", "stale"];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let (store, handle) = reserved();
        let other = {
            let (store, ended, seen) = (Arc::clone(&store), ended.clone(), seen.clone());
            thread::spawn(move || {
                let lease = store.ensure_alive(handle, || Ok(Value::new(1, &ended)));
                if let Some(value) = lease.unwrap().release() {
                    value.end();
                }
                match store.release(handle) {
                    Ok(Release::Now(value)) => {
                        seen.note("ended by release");
                        value.end();
                    }
                    Ok(_) | Err(_) => {}
                }
            })
        };
        match store.ensure_alive(handle, || Ok(Value::new(1, &ended))) {
            Ok(lease) => {
                assert_eq!(lease.read(), 1);
                if let Some(value) = lease.release() {
                    seen.note("ended by a lease");
                    value.end();
                }
            }
            Err(refusal) => {
                assert!(matches!(refusal, EnsureError::Refused(HandleError::Stale)));
                seen.note("stale");
            }
        }
        other.join().unwrap();
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
    });
}

/// Would break if a value could appear in a closed store, or if a waiter could be left
/// waiting by a maker that is refused.
#[test]
fn after_close_no_value_is_made_known() {
    let outcomes = ["made", "withheld", "refused"];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let (store, handle) = reserved();
        let other = {
            let (store, ended, seen) = (Arc::clone(&store), ended.clone(), seen.clone());
            thread::spawn(
                move || match store.ensure_alive(handle, || Ok(Value::new(1, &ended))) {
                    Ok(lease) => {
                        seen.note("made");
                        if let Some(value) = lease.release() {
                            value.end();
                        }
                    }
                    Err(EnsureError::Withheld { value, refusal }) => {
                        assert_eq!(refusal, HandleError::Closed);
                        seen.note("withheld");
                        value.end();
                    }
                    Err(EnsureError::Refused(refusal)) => {
                        assert!(matches!(refusal, HandleError::Closed | HandleError::Stale));
                        seen.note("refused");
                    }
                    Err(EnsureError::Init(_) | _) => unreachable!(),
                },
            )
        };
        store.close();
        store.drain(|_, value| value.end());
        other.join().unwrap();
        assert!(store.drain(|_, value| value.end()).is_empty());
        assert!(ended.count() <= 1);
    });
}

/// Would break if the count of threads that wait for a failed attempt were lost: two wait at
/// once, and the last of them ends the failure.
#[test]
fn of_two_that_wait_for_a_failure_each_is_told() {
    let outcomes = ["both told", "one told", "none told"];
    model(&outcomes, |seen| {
        let (store, handle) = reserved();
        let ask = {
            let store = Arc::clone(&store);
            move |error| {
                let mut tried = false;
                let told = store.ensure_alive(handle, || {
                    tried = true;
                    Err(error)
                });
                match told {
                    Err(EnsureError::Init(told)) => {
                        assert!(!tried || told == error);
                        usize::from(!tried)
                    }
                    other => panic!("{other:?}"),
                }
            }
        };
        let others = [1, 2].map(|error| {
            let ask = ask.clone();
            thread::spawn(move || ask(error))
        });
        let told = ask(3)
            + others
                .map(|other| other.join().unwrap())
                .iter()
                .sum::<usize>();
        seen.note(["none told", "one told", "both told"][told]);
        assert_eq!(store.held().leases, 0);
        assert!(matches!(store.release(handle), Ok(Release::Empty)));
    });
}

/// Would break if a waiter could be left waiting by a maker whose value is refused, or be
/// told of a value that no thread stored.
#[test]
fn a_waiter_for_a_refused_value_is_refused() {
    let outcomes = ["waited or came late, refused", "both have it"];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let (store, handle) = reserved();
        let ask = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move || match store.ensure_alive(handle, || Ok(Value::new(1, &ended))) {
                Ok(lease) => {
                    assert_eq!(lease.read(), 1);
                    true
                }
                Err(EnsureError::Withheld { value, refusal }) => {
                    assert_eq!(refusal, HandleError::Closed);
                    value.end();
                    false
                }
                Err(EnsureError::Refused(refusal)) => {
                    assert_eq!(refusal, HandleError::Closed);
                    false
                }
                Err(other) => panic!("{other:?}"),
            }
        };
        let others = [ask.clone(), ask].map(thread::spawn);
        store.close();
        let had = others.map(|other| other.join().unwrap());
        if had == [false, false] {
            seen.note("waited or came late, refused");
            assert!(store.drain(|_, _| panic!("nothing was stored")).is_empty());
        } else {
            // A thread that came before the close has it; one that came after it does not.
            seen.note("both have it");
            store.drain(|_, value| value.end());
            assert_eq!(ended.count(), 1);
        }
    });
}

/// Cannot wait: panics instead.
enum Fragile {}

impl Park for Fragile {
    fn wait(_: usize, _: &mut dyn FnMut() -> bool) {
        resume_unwind(Box::new("as a test"));
    }

    fn wake(_: usize) {}
}

/// Would break if an attempt could fail for its waiters when none of them is left: the
/// last of them ends the failure, so the slot would stay failed for ever.
#[test]
fn a_waiter_that_panics_leaves_a_usable_slot() {
    let outcomes = ["left", "told", "made it"];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let store = Arc::new(FixedSlots::<Value, 1, tag::Slot, StorePolicy<u32, Fragile>>::new());
        let handle = store.reserve().unwrap();
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let failed = catch_unwind(AssertUnwindSafe(|| {
                    store
                        .ensure_alive(handle, || Err(7))
                        .map(|lease| lease.read())
                }));
                assert!(matches!(
                    failed,
                    Ok(Err(EnsureError::Init(7)) | Ok(1)) | Err(_)
                ));
            })
        };
        let mut made = false;
        let mine = catch_unwind(AssertUnwindSafe(|| {
            let made = &mut made;
            let lease = store.ensure_alive(handle, || {
                *made = true;
                Ok(Value::new(1, &ended))
            });
            lease.map(|lease| lease.read())
        }));
        other.join().unwrap();
        match mine {
            Err(_) => seen.note("left"),
            Ok(Err(EnsureError::Init(7))) => seen.note("told"),
            Ok(Ok(1)) => seen.note("made it"),
            Ok(other) => panic!("{other:?}"),
        }
        assert_eq!(store.held().leases, 0);
        let released = store.release(handle).expect("the slot is not lost");
        assert_eq!(released.now().map(Value::end).is_some(), made);
        assert!(store.held().is_empty());
    });
}

/// An error whose copies are looks at a value.
struct Told(Arc<Value>);

impl Clone for Told {
    fn clone(&self) -> Self {
        self.0.read();
        Self(Arc::clone(&self.0))
    }
}

/// Would break if an attempt could begin before the one that failed has ended, for its maker and for
/// all threads that are told.
#[test]
fn an_attempt_comes_after_the_one_that_failed() {
    let outcomes = ["told", "failed", "came late"];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let store = Arc::new(FixedSlots::<Value, 1, tag::Slot, StorePolicy<Told, Sleep>>::new());
        let handle = store.reserve().unwrap();
        let note = Arc::new(Value::new(1, &ended));
        let other = {
            let (store, note, seen) = (Arc::clone(&store), Arc::clone(&note), seen.clone());
            thread::spawn(move || {
                let mut tried = false;
                let lease = store.ensure_alive(handle, || {
                    tried = true;
                    Err(Told(note))
                });
                seen.note(match lease {
                    Ok(_) => "came late",
                    Err(_) if tried => "failed",
                    Err(_) => "told",
                });
            })
        };
        let failed = store.ensure_alive(handle, || Err(Told(Arc::clone(&note))));
        assert!(matches!(failed, Err(EnsureError::Init(_))));
        let made = store.ensure_alive(handle, || {
            note.write();
            Ok(Value::new(2, &ended))
        });
        drop(made);
        other.join().unwrap();
    });
}

/// Would break if a slot's last life could still be ending when its next value is made.
#[test]
fn a_reserved_slot_is_filled_after_its_last_life() {
    model(&["not yet", "life not seen", "made"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::new());
        let passed = Arc::new(AtomicU64::new(0));
        let other = {
            let (store, passed, ended) = (Arc::clone(&store), Arc::clone(&passed), ended.clone());
            thread::spawn(move || {
                let first = store.insert(Value::new(1, &ended)).unwrap();
                store.release(first).unwrap().now().unwrap().end();
                // Without any ordering of its own.
                passed.store(store.reserve().unwrap().to_bits(), Ordering::Relaxed);
            })
        };
        match Handle::from_bits(passed.load(Ordering::Relaxed)) {
            None => seen.note("not yet"),
            Some(handle) => match store.ensure_alive(handle, || Ok(Value::new(2, &ended))) {
                Ok(lease) => {
                    assert_eq!(lease.read(), 2);
                    seen.note("made");
                }
                Err(refusal) => {
                    assert!(matches!(refusal, EnsureError::Refused(HandleError::Stale)));
                    seen.note("life not seen");
                }
            },
        }
        other.join().unwrap();
    });
}
