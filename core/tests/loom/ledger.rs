//! Leases on record.

use cupola_core::{FixedSlots, Ledger, Release};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model};

/// Would break if a lease could be seen before its record.
#[test]
fn no_lease_is_without_its_record() {
    model(&["leased", "released before"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(FixedSlots::<Value, 1>::new());
        let ledger = Arc::new(Ledger::<u32, 1>::new());
        let handle = store.insert(Value::new(1, &ended)).unwrap();
        let other = {
            let (store, ledger) = (Arc::clone(&store), Arc::clone(&ledger));
            thread::spawn(move || {
                // Never ended, so that its record has to be there from now on.
                ledger.get(&store, handle, 7).map(std::mem::forget).is_ok()
            })
        };
        match store.release(handle) {
            Ok(Release::Deferred) => {
                assert_eq!(ledger.holders(&store, handle).collect::<Vec<_>>(), [7]);
                seen.note("leased");
            }
            Ok(outcome) => {
                outcome.now().unwrap().end();
                seen.note("released before");
            }
            Err(refusal) => panic!("{refusal}"),
        }
        let leased = other.join().unwrap();
        assert_eq!(ledger.holders(&store, handle).count(), usize::from(leased));
    });
}

/// Would break if a lease's record could stay when somebody looks at it as it ends.
#[test]
fn a_record_goes_with_its_lease() {
    model(&["seen", "not seen"], |seen| {
        let ended = Ended::default();
        let store = Arc::new(FixedSlots::<Value, 1>::new());
        let ledger = Arc::new(Ledger::<u32, 1>::new());
        let handle = store.insert(Value::new(1, &ended)).unwrap();
        let other = {
            let (ledger, seen) = (Arc::clone(&ledger), seen.clone());
            let store = Arc::clone(&store);
            thread::spawn(move || match ledger.holders(&store, handle).count() {
                0 => seen.note("not seen"),
                _ => seen.note("seen"),
            })
        };
        drop(ledger.get(&store, handle, 7).unwrap());
        other.join().unwrap();
        assert_eq!(ledger.holders(&store, handle).count(), 0);
        // There is room for the next record.
        let lease = ledger.get(&store, handle, 8).unwrap();
        assert_eq!(ledger.holders(&store, handle).collect::<Vec<_>>(), [8]);
        assert_eq!((ledger.missed(), lease.read()), (0, 1));
    });
}
