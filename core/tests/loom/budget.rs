//! The budget: never over the limit, never a false refusal, exact account.

use cupola_core::Budget;
use loom::sync::Arc;
use loom::thread;

/// Would break if checking and charging were two steps.
#[test]
fn the_limit_is_never_exceeded() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(5));
        let charge = |bytes| {
            let budget = Arc::clone(&budget);
            move || {
                let charged = budget.reserve(bytes).is_ok_and(|r| r.commit() == bytes);
                assert!(budget.used() <= 5);
                if charged { bytes } else { 0 }
            }
        };
        let threads = [thread::spawn(charge(2)), thread::spawn(charge(3))];
        let mine = charge(4)();
        let others: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert_eq!(budget.used(), mine + others);
        assert!(budget.used() <= 5);
        assert!(budget.peak() <= 5 && budget.peak() >= budget.used());
    });
}

/// Would break by adding first and checking afterwards: the request that can never fit
/// would push out the one that always does.
#[test]
fn a_refused_request_makes_no_other_fail() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(10));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || assert!(budget.reserve(11).is_err()))
        };
        assert_eq!(budget.reserve(10).unwrap().commit(), 10);
        other.join().unwrap();
        assert_eq!((budget.used(), budget.peak()), (10, 10));
    });
}

/// Would break if bytes that come back were lost, or came back twice.
#[test]
fn cancelling_and_charging_leave_an_exact_account() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(4));
        let held = budget.reserve(3).unwrap();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || match budget.reserve(4) {
                Ok(reservation) => reservation.commit(),
                Err(refusal) => {
                    assert_eq!((refusal.used, refusal.limit), (3, 4));
                    0
                }
            })
        };
        held.cancel();
        let charged = other.join().unwrap();
        assert_eq!(budget.used(), charged);
        budget.release(charged).unwrap();
        assert_eq!(budget.used(), 0);
        assert!(budget.release(1).is_err());
    });
}

/// Would break without the limit's epoch in the word: a charge that had read the old limit
/// would land after `set_limit` has returned.
#[test]
fn after_a_lower_limit_nothing_beyond_it_is_granted() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(100));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.reserve(80).map(|r| r.commit()).is_ok())
        };
        let used = budget.set_limit(50);
        assert!(used == 0 || used == 80);
        assert_eq!(
            budget.used(),
            used,
            "nothing is granted after the limit took effect"
        );
        assert_eq!(other.join().unwrap(), used == 80);
        assert_eq!(budget.limit(), 50);
    });
}

/// Would break if a charge could miss a limit that was raised before it.
#[test]
fn a_higher_limit_counts_once_it_is_set() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(0));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || {
                budget.set_limit(8);
                assert!(budget.reserve(4).is_ok());
            })
        };
        let early = budget.reserve(4).is_ok();
        other.join().unwrap();
        assert!(budget.reserve(8).is_ok(), "early charge: {early}");
        assert_eq!(budget.used(), 0);
    });
}
