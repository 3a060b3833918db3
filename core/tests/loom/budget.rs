//! The budget: never over the limit, never a false refusal, exact account.

use cupola_core::{Budget, Pressure, Reservation};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model, who};

/// Would break if checking and charging were two steps.
#[test]
fn the_limit_is_never_exceeded() {
    model(&["two and three", "four"], |seen| {
        let budget = Arc::new(Budget::new(5));
        let charge = |bytes| {
            let budget = Arc::clone(&budget);
            move || {
                let charged = budget.reserve(bytes).map_or(0, Reservation::commit);
                assert!(budget.used() <= 5);
                charged
            }
        };
        let threads = [thread::spawn(charge(2)), thread::spawn(charge(3))];
        let mine = charge(4)();
        let others: u64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        seen.note(match (mine, others) {
            (0, 5) => "two and three",
            (4, 0) => "four",
            _ => "too little or too much",
        });
        assert_eq!(budget.used(), mine + others);
        assert_eq!(budget.peak(), budget.used());
    });
}

/// Would break by adding first and checking afterwards: the request that can never fit
/// would push out the one that always does.
#[test]
fn a_refused_request_makes_no_other_fail() {
    model(&["refused first", "refused last"], |seen| {
        let budget = Arc::new(Budget::new(10));
        let other = {
            let (budget, seen) = (Arc::clone(&budget), seen.clone());
            thread::spawn(move || {
                let refusal = budget.reserve(11).unwrap_err();
                seen.note(if refusal.used == 0 {
                    "refused first"
                } else {
                    "refused last"
                });
            })
        };
        assert_eq!(budget.reserve(10).unwrap().commit(), 10);
        other.join().unwrap();
        assert_eq!((budget.used(), budget.peak()), (10, 10));
    });
}

/// Would break if bytes that come back were lost, or came back twice.
#[test]
fn cancelling_and_charging_leave_an_exact_account() {
    model(&["charged", "refused"], |seen| {
        let budget = Arc::new(Budget::new(4));
        let held = budget.reserve(3).unwrap();
        let other = {
            let (budget, seen) = (Arc::clone(&budget), seen.clone());
            thread::spawn(move || match budget.reserve(4) {
                Ok(reservation) => {
                    seen.note("charged");
                    reservation.commit()
                }
                Err(refusal) => {
                    seen.note("refused");
                    assert_eq!((refusal.used, refusal.limit), (3, 4));
                    0
                }
            })
        };
        drop(held);
        let charged = other.join().unwrap();
        assert_eq!(budget.used(), charged);
        budget.release(charged).unwrap();
        assert_eq!(budget.used(), 0);
        assert!(budget.release(1).is_err());
    });
}

/// Would break if `release` or `reserve` were relaxed: memory could be made while the
/// memory whose bytes it reuses is still being freed.
#[test]
fn freeing_memory_comes_before_its_bytes_are_charged_again() {
    model(&["taken", "refused"], |seen| {
        let budget = Arc::new(Budget::new(4));
        let memory = Arc::new(Value::new(1, &Ended::default()));
        let bytes = budget.reserve(3).unwrap().commit();
        let other = {
            let (budget, memory, seen) = (Arc::clone(&budget), Arc::clone(&memory), seen.clone());
            thread::spawn(move || {
                if budget.reserve(4).is_ok() {
                    memory.write();
                    seen.note("taken");
                } else {
                    seen.note("refused");
                }
            })
        };
        memory.write();
        budget.release(bytes).unwrap();
        other.join().unwrap();
    });
}

/// Would break if a charge could miss a release that came between its look at the word and its
/// exchange: the word is the same then, and the memory is just being freed.
#[test]
fn a_charge_comes_after_the_release_that_it_did_not_see() {
    model(&["both", "mine", "the other's"], |seen| {
        let budget = Arc::new(Budget::new(4));
        let memory = Arc::new(Value::new(1, &Ended::default()));
        let turn = {
            let (budget, memory) = (Arc::clone(&budget), Arc::clone(&memory));
            move || {
                let charged = budget.reserve(4).map(Reservation::commit);
                if let Ok(bytes) = charged {
                    memory.write();
                    budget.release(bytes).unwrap();
                }
                charged.is_ok()
            }
        };
        let other = thread::spawn(turn.clone());
        let mine = turn();
        seen.note(who(mine, other.join().unwrap()));
    });
}

/// Would break without the limit's epoch in the word: a charge that had read the old limit
/// would land after `set_limit` has returned.
#[test]
fn after_a_lower_limit_nothing_beyond_it_is_granted() {
    model(&["granted before", "refused after"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.reserve(80).map(Reservation::commit).is_ok())
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
        seen.note(if used == 80 {
            "granted before"
        } else {
            "refused after"
        });
    });
}

/// Would break if a charge that is refused at first, and looks again, could take the new bytes with
/// the old limit.
#[test]
fn a_charge_that_looks_again_goes_by_the_new_limit() {
    model(&["granted before", "refused"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let _ = budget.reserve(90).unwrap().commit();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.reserve(20).map(Reservation::commit).is_ok())
        };
        budget.release(90).unwrap();
        let used = budget.set_limit(10);
        assert_eq!(other.join().unwrap(), used == 20);
        seen.note(if used == 20 {
            "granted before"
        } else {
            "refused"
        });
    });
}

/// Would break if a charge could miss a limit that was raised before it.
#[test]
fn a_higher_limit_counts_once_it_is_set() {
    model(&["granted", "refused"], |seen| {
        let budget = Arc::new(Budget::new(0));
        let other = {
            let (budget, seen) = (Arc::clone(&budget), seen.clone());
            thread::spawn(move || {
                let granted = budget.reserve(4).is_ok();
                seen.note(if granted { "granted" } else { "refused" });
            })
        };
        budget.set_limit(8);
        assert!(budget.reserve(4).is_ok());
        other.join().unwrap();
        assert!(budget.reserve(8).is_ok());
        assert_eq!(budget.used(), 0);
    });
}

/// Would break if a refusal could come of bytes and a limit of different instants: the 10
/// bytes fit beside the 90 of 100, and alone into the 50.
#[test]
fn a_charge_that_fits_at_every_instant_is_granted() {
    model(&["before the new limit", "after it"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let _ = budget.reserve(90).unwrap().commit();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.reserve(10).map(Reservation::commit))
        };
        budget.release(90).unwrap();
        let used = budget.set_limit(50);
        assert_eq!(other.join().unwrap(), Ok(10));
        seen.note(if used == 10 {
            "before the new limit"
        } else {
            "after it"
        });
    });
}

/// Would break if a release could lower what is in use before the peak is raised.
#[test]
fn the_peak_outlives_its_charge() {
    model(&["before the release", "after it"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let bytes = budget.reserve(60).unwrap().commit();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || (budget.used(), budget.peak()))
        };
        budget.release(bytes).unwrap();
        let (used, peak) = other.join().unwrap();
        assert_eq!(peak, 60);
        seen.note(if used == 60 {
            "before the release"
        } else {
            "after it"
        });
    });
}

/// Would break if the peak that one thread is told did not bind the others, or itself: a
/// charge of another thread counts from when it is in use.
#[test]
fn the_peak_does_not_fall() {
    model(&["60, 60", "60, 100", "100, 100"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let bytes = budget.reserve(60).unwrap().commit();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || {
                let first = budget.peak();
                budget.release(bytes).unwrap();
                (first, budget.peak())
            })
        };
        let _ = budget.reserve(40).unwrap().commit();
        let peaks = other.join().unwrap();
        seen.note(match peaks {
            (60, 60) => "60, 60",
            (60, 100) => "60, 100",
            (100, 100) => "100, 100",
            _ => "fell",
        });
        assert_eq!(budget.peak(), peaks.1);
    });
}

/// Would break if the level of usage could come of bytes and a limit of different instants: 90
/// bytes of 1000 are little, and so are none of 50.
#[test]
fn pressure_is_of_one_instant() {
    model(&["before the new limit", "after it"], |seen| {
        let budget = Arc::new(Budget::new(1000));
        let _ = budget.reserve(90).unwrap().commit();
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || (budget.limit(), budget.pressure()))
        };
        budget.release(90).unwrap();
        budget.set_limit(50);
        let (limit, pressure) = other.join().unwrap();
        assert_eq!(pressure, Pressure::Low);
        seen.note(if limit == 1000 {
            "before the new limit"
        } else {
            "after it"
        });
    });
}

/// Would break if bytes that were charged under a new limit could be counted against the old one.
#[test]
fn what_is_left_is_of_one_instant() {
    model(&["100", "10", "5"], |seen| {
        let budget = Arc::new(Budget::new(100));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.available())
        };
        budget.set_limit(10);
        let _ = budget.reserve(5).unwrap().commit();
        seen.note(match other.join().unwrap() {
            100 => "100",
            10 => "10",
            5 => "5",
            _ => "of no instant",
        });
    });
}
