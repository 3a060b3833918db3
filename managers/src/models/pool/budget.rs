//! Two limits at once: a pool's own, and the one that pools share.

use cupola_core::Budget;
use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pool::limit::budget::{PoolBudget, charge, release};

// Without it two pools could exceed the limit that they share for an instant, or a refusal
// use up a limit for ever.
#[test]
fn a_refused_charge_costs_neither_limit() {
    model(&["both", "one"], |seen| {
        let limits = Arc::new(([PoolBudget::new(3), PoolBudget::new(3)], Budget::new(4)));
        let charged = |limits: &([PoolBudget; 2], Budget), which: usize| {
            let (own, shared) = (&limits.0[which], Some(&limits.1));
            let charged = charge(own, shared, 3);
            assert!(own.used() <= 3 && limits.1.used() <= 4);
            if charged {
                release(own, shared, 3);
            }
            charged
        };
        let other = thread::spawn({
            let limits = limits.clone();
            move || charged(&limits, 1)
        });
        let mine = charged(&limits, 0);
        let theirs = other.join().unwrap();
        seen.note(match (mine, theirs) {
            (true, true) => "both",
            (false, false) => "none",
            _ => "one",
        });
        let own = limits.0.iter().map(|own| own.used());
        assert_eq!(own.sum::<u64>() + limits.1.used(), 0);
    });
}

// Without it a request that fits could be refused because a graph's memory, which has the pool's
// own limit, is about to be refused a charge that the shared one has no room for.
#[test]
fn a_charge_that_is_refused_is_not_seen() {
    model(&["charged"], |seen| {
        // Another pool has a part of the shared limit all the time.
        let limits = Arc::new((PoolBudget::new(4), Budget::new(4)));
        let _theirs = limits.1.reserve(1).unwrap().commit();
        let pool = thread::spawn({
            let limits = limits.clone();
            move || {
                assert_eq!(limits.0.available(), 4, "there is room");
                assert!(charge(&limits.0, Some(&limits.1), 3), "it fits both");
            }
        });
        let graph = charge(&limits.0, Some(&limits.1), 4);
        assert!(!graph, "it does not fit");
        seen.note("charged");
        pool.join().unwrap();
        assert_eq!((limits.0.used(), limits.1.used()), (3, 4));
    });
}
