//! Two limits at once: a pool's own, and the one that pools share.

use std::sync::Arc as StdArc;

use cupola_core::{Budget, OverBudget};
use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pool::limit::budget::{PoolBudget, charge, release};
use crate::pool::limit::limit_budget::{LimitBudget, Refusal};
use crate::pool::limit::shared_budget::SharedBudget;

// Without it two pools could exceed the limit that they share for an instant, or a refusal
// use up a limit for ever.
#[test]
fn a_refused_charge_costs_neither_limit() {
    model(&["both", "one"], |seen| {
        let limits = Arc::new((
            [PoolBudget::new(3), PoolBudget::new(3)],
            LimitBudget::new(4),
        ));
        let charged = |limits: &([PoolBudget; 2], LimitBudget), which: usize| {
            let (own, shared) = (&limits.0[which], Some(&limits.1));
            let charged = charge(own, shared, 3).is_ok();
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
        let limits = Arc::new((PoolBudget::new(4), LimitBudget::new(4)));
        limits.1.charge(1).unwrap().keep();
        let pool = thread::spawn({
            let limits = limits.clone();
            move || {
                assert_eq!(limits.0.available(), 4, "there is room");
                assert_eq!(
                    charge(&limits.0, Some(&limits.1), 3),
                    Ok(()),
                    "it fits both"
                );
            }
        });
        let graph = charge(&limits.0, Some(&limits.1), 4);
        assert_eq!(graph, Err(Refusal::Own), "it does not fit");
        seen.note("charged");
        pool.join().unwrap();
        assert_eq!((limits.0.used(), limits.1.used()), (3, 4));
    });
}

/// An account of other processes too.
#[derive(Debug)]
struct Account(Budget);

impl SharedBudget for Account {
    fn charge(&self, bytes: u64) -> Result<(), OverBudget> {
        self.0.reserve(bytes).map(|charge| drop(charge.commit()))
    }

    fn release(&self, bytes: u64) {
        self.0.release(bytes).unwrap();
    }

    fn used(&self) -> u64 {
        self.0.used()
    }

    fn limit(&self) -> u64 {
        self.0.limit()
    }

    fn reclaim(&self) -> u64 {
        0
    }
}

// Without it a request that fits could be refused because another thread's charge, which the account of all
// processes has no room for, is on this process's limit for a moment.
#[test]
fn a_charge_that_all_processes_refuse_is_not_seen() {
    model(&["granted"], |seen| {
        let account = StdArc::new(Account(Budget::new(4)));
        // Another process has a part of it all the time.
        let _ = account.0.reserve(1).unwrap().commit();
        let limit = LimitBudget::within(4, StdArc::clone(&account) as StdArc<dyn SharedBudget>);
        let limit = Arc::new(limit);
        let small = thread::spawn({
            let limit = limit.clone();
            move || {
                assert_eq!(limit.available(), 3, "there is room");
                limit.charge(3).expect("it fits both").keep();
            }
        });
        let large = limit.charge(4).map(drop);
        assert_ne!(large, Ok(()), "it does not fit");
        small.join().unwrap();
        assert_eq!((limit.used(), account.used()), (3, 4));
        limit.release(3);
        assert_eq!((limit.used(), account.used()), (0, 1));
        seen.note("granted");
    });
}
