//! Slots in place: handles, leases, release, reap, close.

use cupola_core::{FixedSlots, Handle, HandleError, InsertError, Lease, Release, tag};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Seen, Value, model, who};

type Store<const N: usize> = FixedSlots<Value, N>;

/// A store with one value, numbered 1.
fn one<const N: usize>(ended: &Ended) -> (Arc<Store<N>>, Handle<tag::Slot>) {
    let store = Arc::new(Store::<N>::new());
    let handle = store.insert(Value::new(1, ended)).unwrap();
    (store, handle)
}

/// Releases, and destroys a value that comes out at once.
fn release<const N: usize>(store: &Store<N>, handle: Handle<tag::Slot>, seen: &Seen) -> bool {
    let outcome = store.release(handle);
    let ok = outcome.is_ok();
    if let Ok(Release::Now(value)) = outcome {
        seen.note("ended by release");
        value.end();
    }
    ok
}

/// Looks at value 1 if it is there, and destroys it if this was the last look.
fn look(lease: Result<Lease<'_, Value, tag::Slot>, HandleError>, seen: &Seen) {
    match lease {
        Ok(lease) => {
            assert_eq!(lease.read(), 1);
            if let Some(value) = lease.release() {
                seen.note("ended by a lease");
                value.end();
            }
        }
        Err(refusal) => {
            assert_eq!(refusal, HandleError::Stale);
            seen.note("stale");
        }
    }
}

/// Would break without the generation check in `pin`: the old handle would read value 2.
#[test]
fn a_stale_handle_never_reaches_the_next_value() {
    let outcomes = [
        "ended by release",
        "ended by a lease",
        "stale",
        "full",
        "reused",
    ];
    model(&outcomes, |seen| {
        let ended = Ended::default();
        let (store, old) = one::<1>(&ended);
        let other = {
            let (store, ended, seen) = (Arc::clone(&store), ended.clone(), seen.clone());
            thread::spawn(move || {
                assert!(release(&store, old, &seen));
                match store.insert(Value::new(2, &ended)) {
                    Ok(new) => {
                        assert_ne!(new, old);
                        assert_eq!(store.get(new).unwrap().read(), 2);
                        seen.note("reused");
                    }
                    Err(_) => seen.note("full"),
                }
            })
        };
        look(store.get(old), seen);
        other.join().unwrap();
        assert_eq!(store.get(old).unwrap_err(), HandleError::Stale);
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if `release` took a leased value, or if `unpin` were relaxed.
#[test]
fn a_lease_keeps_its_value_and_the_value_comes_out_once() {
    model(&["ended by release", "ended by a lease", "stale"], |seen| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || release(&store, handle, &seen))
        };
        look(store.get(handle), seen);
        assert!(other.join().unwrap());
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
    });
}

/// Would break if generation and phase were changed in two steps.
#[test]
fn of_two_releases_one_succeeds() {
    model(&["ended by release", "mine", "the other's"], |seen| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || release(&store, handle, &seen))
        };
        let mine = release(&store, handle, seen);
        assert!(mine ^ other.join().unwrap());
        seen.note(if mine { "mine" } else { "the other's" });
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if two ends of leases could both, or neither, count as the last.
#[test]
fn of_two_leases_the_last_hands_the_value_out() {
    model(&["ended by release", "ended by a lease", "stale"], |seen| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let threads = [seen.clone(), seen.clone()].map(|seen| {
            let store = Arc::clone(&store);
            thread::spawn(move || look(store.get(handle), &seen))
        });
        assert!(release(&store, handle, seen));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
    });
}

/// Would break if `release` were not a Release: the thread that ends the value would not see what
/// the releasing thread did before.
#[test]
fn writes_before_a_release_come_before_the_end() {
    model(&["ended by release", "ended by a lease"], |seen| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let note = Arc::new(Value::new(2, &ended));
        let lease = store.get(handle).unwrap();
        let other = {
            let (store, note, seen) = (Arc::clone(&store), Arc::clone(&note), seen.clone());
            thread::spawn(move || {
                note.write();
                assert!(release(&store, handle, &seen));
            })
        };
        if let Some(value) = lease.release() {
            note.read();
            seen.note("ended by a lease");
            value.end();
        }
        other.join().unwrap();
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if a dropped last lease lost the value, or if `reap` did not order itself
/// after the leases.
#[test]
fn a_dropped_last_lease_leaves_the_value_to_one_reaper() {
    fn reap(store: &Store<1>, handle: Handle<tag::Slot>, seen: &Seen, by: &'static str) {
        if let Some((reaped, value)) = store.reap() {
            assert_eq!(reaped, handle);
            seen.note(by);
            value.end();
        }
    }
    model(
        &["ended by release", "reaped", "reaped by the other"],
        |seen| {
            let ended = Ended::default();
            let (store, handle) = one::<1>(&ended);
            let lease = store.get(handle).unwrap();
            let other = {
                let (store, seen) = (Arc::clone(&store), seen.clone());
                thread::spawn(move || {
                    assert!(release(&store, handle, &seen));
                    reap(&store, handle, &seen, "reaped by the other");
                })
            };
            assert_eq!(lease.read(), 1);
            drop(lease);
            reap(&store, handle, seen, "reaped");
            other.join().unwrap();
            reap(&store, handle, seen, "reaped");
            assert_eq!(ended.count(), 1);
            assert!(store.held().is_empty());
            store.insert(Value::new(2, &ended)).unwrap();
        },
    );
}

/// Would break if `claim` gave one bit to two callers.
#[test]
fn two_inserts_get_two_slots() {
    model(&["mine first", "mine second"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<2>::new());
        let put = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move |number| {
                let handle = store.insert(Value::new(number, &ended)).unwrap();
                assert_eq!(store.get(handle).unwrap().read(), number);
                handle.index()
            }
        };
        let other = thread::spawn({
            let put = put.clone();
            move || put(1)
        });
        let mine = put(2);
        assert_eq!(other.join().unwrap() + mine, 1);
        seen.note(if mine == 0 {
            "mine first"
        } else {
            "mine second"
        });
        assert_eq!(store.live(), 2);
        assert!(matches!(
            store.insert(Value::new(3, &ended)),
            Err(InsertError::Full(_))
        ));
    });
}

/// Would break if freeing a slot did not order its last use before its next.
#[test]
fn a_slot_passes_from_owner_to_owner() {
    model(
        &["ended by release", "both", "mine", "the other's"],
        |seen| {
            let ended = Ended::default();
            let store = Arc::new(Store::<1>::new());
            let turn = {
                let (store, ended, seen) = (Arc::clone(&store), ended.clone(), seen.clone());
                move |number| match store.insert(Value::new(number, &ended)) {
                    Ok(handle) => {
                        assert_eq!(store.get(handle).unwrap().read(), number);
                        release(&store, handle, &seen)
                    }
                    Err(refusal) => {
                        assert_eq!(refusal.into_value().read(), number);
                        false
                    }
                }
            };
            let other = thread::spawn({
                let turn = turn.clone();
                move || turn(1)
            });
            let mine = turn(2);
            let others = other.join().unwrap();
            assert_eq!(ended.count(), usize::from(mine) + usize::from(others));
            seen.note(who(mine, others));
        },
    );
}

/// Would break if closing were a flag beside the state words that `get` reads first.
#[test]
fn after_close_leases_only_fall() {
    model(&["leased", "closed", "stale", "held"], |seen| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || match store.get(handle) {
                Ok(lease) => {
                    assert_eq!(lease.read(), 1);
                    seen.note("leased");
                }
                Err(HandleError::Closed) => seen.note("closed"),
                Err(_) => seen.note("stale"),
            })
        };
        store.close();
        let (first, then) = (store.held(), store.held());
        assert!(then.leases <= first.leases);
        assert_eq!(store.get(handle).unwrap_err(), HandleError::Closed);
        if !store.drain(|_, value| value.end()).is_empty() {
            seen.note("held");
        }
        other.join().unwrap();
        assert!(store.drain(|_, value| value.end()).is_empty());
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if an insert that began before `close` could finish after it.
#[test]
fn after_close_no_value_appears() {
    model(&["stored", "refused"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let other = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            thread::spawn(move || match store.insert(Value::new(1, &ended)) {
                Ok(_) => 1,
                Err(refusal) => {
                    assert!(matches!(refusal, InsertError::Closed(_)));
                    0
                }
            })
        };
        store.close();
        store.drain(|_, value| value.end());
        let drained = ended.count();
        assert_eq!(drained, other.join().unwrap());
        seen.note(if drained == 1 { "stored" } else { "refused" });
        assert!(store.is_closed());
    });
}

/// Would break if a vacancy granted leases early, or ignored `close`.
#[test]
fn a_vacancy_is_seen_filled_or_not_at_all() {
    model(&["filled", "not ready"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let vacancy = store.vacancy().unwrap();
        let handle = vacancy.handle();
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || match store.get(handle) {
                Ok(lease) => {
                    assert_eq!(lease.read(), 1);
                    seen.note("filled");
                }
                Err(refusal) => {
                    assert_eq!(refusal, HandleError::NotReady);
                    seen.note("not ready");
                }
            })
        };
        assert_eq!(vacancy.fill(Value::new(1, &ended)).unwrap(), handle);
        other.join().unwrap();
    });
}

/// Would break if `fill` did not go by the slot's own word.
#[test]
fn after_close_no_vacancy_is_filled() {
    model(&["filled", "given back", "refused"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let other = {
            let (store, ended, seen) = (Arc::clone(&store), ended.clone(), seen.clone());
            thread::spawn(move || {
                let Ok(vacancy) = store.vacancy() else {
                    seen.note("refused");
                    return 0;
                };
                let filled = vacancy.fill(Value::new(1, &ended)).is_ok();
                seen.note(if filled { "filled" } else { "given back" });
                usize::from(filled)
            })
        };
        store.close();
        store.drain(|_, value| value.end());
        let drained = ended.count();
        assert_eq!(drained, other.join().unwrap());
        assert!(store.held().is_empty());
    });
}
