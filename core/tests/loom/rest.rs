//! Slots that rest: their life ended with its last lease, so they are used again when no other
//! slot is free.

use cupola_core::{FixedSlots, InsertError, Release};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model, who};

type Store = FixedSlots<Value, 1>;

/// Stores a value and has its last lease end it, if there is room: the slot rests then.
fn turn(store: &Store, number: u64, ended: &Ended) -> bool {
    match store.insert(Value::new(number, ended)) {
        Ok(handle) => {
            let lease = store.get(handle).unwrap();
            assert_eq!(lease.read(), number);
            assert!(matches!(store.release(handle), Ok(Release::Deferred)));
            lease.release().unwrap().end();
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
        let store = Arc::new(Store::new());
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
        let store = Arc::new(Store::new());
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
