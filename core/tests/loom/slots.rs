//! Slots in place: handles, leases, release, reap, close.

use cupola_core::{FixedSlots, Handle, HandleError, InsertError, Release, tag};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value};

type Store<const N: usize> = FixedSlots<Value, N>;

fn end(outcome: Result<Release<Value>, HandleError>) {
    if let Ok(Release::Now(value)) = outcome {
        value.end();
    }
}

/// A store with one value, numbered 1.
fn one<const N: usize>(ended: &Ended) -> (Arc<Store<N>>, Handle<tag::Slot>) {
    let store = Arc::new(Store::<N>::new());
    let handle = store.insert(Value::new(1, ended)).unwrap();
    (store, handle)
}

/// Would break without the generation check in `pin`: the old handle would read value 2.
#[test]
fn a_stale_handle_never_reaches_the_next_value() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, old) = one::<1>(&ended);
        let other = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            thread::spawn(move || {
                end(store.release(old));
                if let Ok(new) = store.insert(Value::new(2, &ended)) {
                    assert_ne!(new, old);
                    assert_eq!(store.get(new).unwrap().read(), 2);
                }
            })
        };
        if let Ok(lease) = store.get(old) {
            assert_eq!(lease.read(), 1);
            if let Some(value) = lease.release() {
                value.end();
            }
        }
        other.join().unwrap();
        assert_eq!(store.get(old).unwrap_err(), HandleError::Stale);
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if `release` took a leased value, or if `unpin` were relaxed.
#[test]
fn a_lease_keeps_its_value_and_the_value_comes_out_once() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || end(store.release(handle)))
        };
        if let Ok(lease) = store.get(handle) {
            assert_eq!(lease.read(), 1);
            if let Some(value) = lease.release() {
                value.end();
            }
        }
        other.join().unwrap();
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
    });
}

/// Would break if generation and phase were changed in two steps.
#[test]
fn of_two_releases_one_succeeds() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let outcome = store.release(handle);
                let won = outcome.is_ok();
                end(outcome);
                won
            })
        };
        let outcome = store.release(handle);
        let won = outcome.is_ok();
        end(outcome);
        assert!(won ^ other.join().unwrap());
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if two ends of leases could both, or neither, count as the last.
#[test]
fn of_two_leases_the_last_hands_the_value_out() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let look = |store: Arc<Store<1>>| {
            move || {
                if let Ok(lease) = store.get(handle) {
                    assert_eq!(lease.read(), 1);
                    if let Some(value) = lease.release() {
                        value.end();
                    }
                }
            }
        };
        let threads = [
            thread::spawn(look(Arc::clone(&store))),
            thread::spawn(look(Arc::clone(&store))),
        ];
        end(store.release(handle));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
    });
}

/// Would break if a dropped last lease lost the value, or if `reap` did not order itself
/// after the leases.
#[test]
fn a_dropped_last_lease_leaves_the_value_to_one_reaper() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let reap = move |store: &Store<1>| {
            if let Some((reaped, value)) = store.reap() {
                assert_eq!(reaped, handle);
                value.end();
            }
        };
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                if let Ok(lease) = store.get(handle) {
                    assert_eq!(lease.read(), 1);
                }
                reap(&store);
            })
        };
        end(store.release(handle));
        reap(&store);
        other.join().unwrap();
        reap(&store);
        assert_eq!(ended.count(), 1);
        assert!(store.held().is_empty());
        store.insert(Value::new(2, &ended)).unwrap();
    });
}

/// Would break if `claim` gave one bit to two callers.
#[test]
fn two_inserts_get_two_slots() {
    loom::model(|| {
        let ended = Ended::default();
        let store = Arc::new(Store::<2>::new());
        let put = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move |number| {
                let handle = store.insert(Value::new(number, &ended)).unwrap();
                assert_eq!(store.get(handle).unwrap().read(), number);
                handle
            }
        };
        let other = thread::spawn({
            let put = put.clone();
            move || put(1)
        });
        let mine = put(2);
        assert_ne!(other.join().unwrap(), mine);
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
    loom::model(|| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let turn = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move |number| match store.insert(Value::new(number, &ended)) {
                Ok(handle) => {
                    assert_eq!(store.get(handle).unwrap().read(), number);
                    end(store.release(handle));
                    1
                }
                Err(refusal) => {
                    assert_eq!(refusal.into_value().read(), number);
                    0
                }
            }
        };
        let other = thread::spawn({
            let turn = turn.clone();
            move || turn(1)
        });
        let mine = turn(2);
        let ended_now = mine + other.join().unwrap();
        assert!(ended_now >= 1);
        assert_eq!(ended.count(), ended_now);
    });
}

/// Would break if closing were a flag beside the state words that `get` reads first.
#[test]
fn after_close_leases_only_fall() {
    loom::model(|| {
        let ended = Ended::default();
        let (store, handle) = one::<1>(&ended);
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                if let Ok(lease) = store.get(handle) {
                    assert_eq!(lease.read(), 1);
                }
            })
        };
        store.close();
        let first = store.held();
        let then = store.held();
        assert!(then.leases <= first.leases);
        assert_eq!(store.get(handle).unwrap_err(), HandleError::Closed);
        store.drain(|_, value| value.end());
        other.join().unwrap();
        let held = store.drain(|_, value| value.end());
        assert!(held.is_empty());
        assert_eq!(ended.count(), 1);
    });
}

/// Would break if an insert that began before `close` could finish after it.
#[test]
fn after_close_no_value_appears() {
    loom::model(|| {
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
        let stored = other.join().unwrap();
        assert_eq!(drained, stored);
        assert!(store.is_closed());
    });
}

/// Would break if a vacancy granted leases early, or ignored `close`.
#[test]
fn a_vacancy_is_seen_filled_or_not_at_all() {
    loom::model(|| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let vacancy = store.vacancy().unwrap();
        let handle = vacancy.handle();
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || match store.get(handle) {
                Ok(lease) => assert_eq!(lease.read(), 1),
                Err(refusal) => assert_eq!(refusal, HandleError::NotReady),
            })
        };
        assert_eq!(vacancy.fill(Value::new(1, &ended)).unwrap(), handle);
        other.join().unwrap();
    });
}

/// Would break if `fill` did not go by the slot's own word.
#[test]
fn after_close_no_vacancy_is_filled() {
    loom::model(|| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let other = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            thread::spawn(move || {
                let Ok(vacancy) = store.vacancy() else {
                    return 0;
                };
                usize::from(vacancy.fill(Value::new(1, &ended)).is_ok())
            })
        };
        store.close();
        store.drain(|_, value| value.end());
        let drained = ended.count();
        assert_eq!(drained, other.join().unwrap());
        assert!(store.held().is_empty());
    });
}
