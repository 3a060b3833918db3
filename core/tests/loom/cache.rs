//! Caches of free slots.

use cupola_core::{FixedSlots, InsertError, Release, With, tag};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model, who};

type Store<const N: usize> = FixedSlots<Value, N>;

/// Would break if a slot could be in two caches, or in one and in the store, or if its bit
/// did not pass on the end of its last life.
#[test]
fn a_cache_and_the_store_never_share_a_slot() {
    model(&["both", "mine", "the other's"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let other = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            thread::spawn(move || {
                let mut cache = store.cache(0);
                match cache.insert(Value::new(1, &ended)) {
                    Ok(handle) => {
                        assert_eq!(store.get(handle).unwrap().read(), 1);
                        cache.release(handle).unwrap().now().unwrap().end();
                        true
                    }
                    Err(refusal) => {
                        assert!(matches!(refusal, InsertError::Full(_)));
                        false
                    }
                }
            })
        };
        let mine = match store.insert(Value::new(2, &ended)) {
            Ok(handle) => {
                assert_eq!(store.get(handle).unwrap().read(), 2);
                store.release(handle).unwrap().now().unwrap().end();
                true
            }
            Err(_) => false,
        };
        let others = other.join().unwrap();
        assert_eq!(ended.count(), usize::from(mine) + usize::from(others));
        seen.note(who(mine, others));
    });
}

/// Would break if slots that are released through another thread's cache came back before
/// their values had been taken out, or not at all.
#[test]
fn what_one_cache_fills_another_frees() {
    model(&["deferred", "at once"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<2>::new());
        let mut cache = store.cache(0);
        let handle = cache.insert(Value::new(1, &ended)).unwrap();
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || {
                let mut cache = store.cache(1);
                match cache.release(handle) {
                    Ok(Release::Now(value)) => {
                        seen.note("at once");
                        value.end();
                    }
                    Ok(_) => seen.note("deferred"),
                    Err(refusal) => panic!("{refusal}"),
                }
            })
        };
        if let Ok(lease) = store.get(handle) {
            assert_eq!(lease.read(), 1);
            if let Some(value) = lease.release() {
                value.end();
            }
        }
        let second = cache.insert(Value::new(2, &ended)).unwrap();
        assert_ne!(second, handle);
        other.join().unwrap();
        drop(cache);
        assert_eq!(ended.count(), 1);
        // Every slot but the second's is free again.
        assert!(store.insert(Value::new(3, &ended)).is_ok());
        assert!(store.insert(Value::new(4, &ended)).is_err());
    });
}

/// Would break if a cache could fill a slot of a closed store.
#[test]
fn after_close_a_cache_fills_nothing() {
    model(&["stored", "refused"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Store::<1>::new());
        let other = {
            let (store, ended) = (Arc::clone(&store), ended.clone());
            thread::spawn(move || usize::from(store.cache(0).insert(Value::new(1, &ended)).is_ok()))
        };
        store.close();
        store.drain(|_, value| value.end());
        let drained = ended.count();
        assert_eq!(drained, other.join().unwrap());
        seen.note(if drained == 1 { "stored" } else { "refused" });
    });
}

type Late = FixedSlots<Value, 1, tag::Slot, With<cupola_core::Late>>;

/// Stores a value and takes it out again, if there is room.
fn turn(store: &Late, number: u64, ended: &Ended) -> bool {
    match store.insert(Value::new(number, ended)) {
        Ok(handle) => {
            assert_eq!(store.get(handle).unwrap().read(), number);
            store.release(handle).unwrap().now().unwrap().end();
            true
        }
        Err(refusal) => {
            assert!(matches!(refusal, InsertError::Full(_)));
            false
        }
    }
}

/// Would break if a slot that rests could be woken twice, or before its value was moved out.
#[test]
fn a_resting_slot_is_woken_once_and_whole() {
    model(&["both", "mine", "the other's"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Late::new());
        let other = thread::spawn({
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move || turn(&store, 1, &ended)
        });
        let mine = turn(&store, 2, &ended);
        let others = other.join().unwrap();
        assert_eq!(ended.count(), usize::from(mine) + usize::from(others));
        seen.note(who(mine, others));
        assert!(turn(&store, 3, &ended));
    });
}

/// Would break if a slot that waits for `reap` were taken for one that rests, or the other
/// way round.
#[test]
fn a_slot_to_reap_is_not_one_that_rests() {
    model(&["stored", "full"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(Late::new());
        let handle = store.insert(Value::new(1, &ended)).unwrap();
        let lease = store.get(handle).unwrap();
        assert!(matches!(store.release(handle), Ok(Release::Deferred)));
        drop(lease);
        let other = thread::spawn({
            let (store, ended) = (Arc::clone(&store), ended.clone());
            move || turn(&store, 2, &ended)
        });
        let (reaped, value) = store.reap().unwrap();
        assert_eq!((reaped, value.read()), (handle, 1));
        value.end();
        assert!(store.reap().is_none());
        let stored = other.join().unwrap();
        seen.note(if stored { "stored" } else { "full" });
        assert_eq!(ended.count(), 1 + usize::from(stored));
        assert!(turn(&store, 3, &ended));
    });
}
