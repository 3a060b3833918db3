//! The ledger: processes are threads here, and one that ends is stepped no further. Every order of their steps
//! is gone through in `tests/properties/ledger.rs`; what these models add is what a processor's memory lets
//! them see.

use cupola_core::ledger::{Operation, Outcome, Owner, UNIT, Words};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model, who};

fn owner(pid: u32) -> Owner {
    Owner::new(pid, 1).unwrap()
}

/// A ledger of so many units, whose rows the processes 1 and 2 have.
fn ledger(units: u64) -> Arc<Words> {
    let words = Words::new();
    words.set_limit(units * UNIT);
    assert_eq!([1, 2].map(|pid| words.join(owner(pid))), [Some(0), Some(1)]);
    Arc::new(words)
}

/// Whether the row has so many units from now on.
fn charge(words: &Words, row: usize, units: u64) -> bool {
    match Operation::charge(row, units * UNIT).run(words) {
        Outcome::Done { .. } => true,
        Outcome::Refused { used, limit } => {
            assert!(used <= limit);
            false
        }
        other => panic!("{other:?}"),
    }
}

/// Takes back what process 1 had.
fn reclaim(words: &Words) -> Outcome {
    Operation::reclaim(0, owner(1)).run(words)
}

/// Would break if checking and charging were two steps.
#[test]
fn processes_never_have_more_than_the_limit() {
    model(&["mine", "the other's"], |seen| {
        let words = ledger(5);
        let other = thread::spawn({
            let words = Arc::clone(&words);
            move || charge(&words, 1, 4)
        });
        let mine = charge(&words, 0, 3);
        assert!(words.used() <= 5 * UNIT);
        let others = other.join().unwrap();
        seen.note(who(mine, others));
        let sum = 3 * u64::from(mine) + 4 * u64::from(others);
        assert_eq!(words.used(), sum * UNIT);
    });
}

/// Would break if an exchange of the total did not order what came before it: memory could be made while the
/// memory whose bytes it reuses is still being freed.
#[test]
fn freeing_comes_before_another_process_charges() {
    model(&["taken", "refused"], |seen| {
        let words = ledger(4);
        let memory = Arc::new(Value::new(1, &Ended::default()));
        assert!(charge(&words, 0, 3));
        let other = thread::spawn({
            let (words, memory, seen) = (Arc::clone(&words), Arc::clone(&memory), seen.clone());
            move || {
                let taken = charge(&words, 1, 4);
                if taken {
                    memory.write();
                }
                seen.note(if taken { "taken" } else { "refused" });
            }
        });
        memory.write();
        assert!(charge(&words, 0, 0));
        other.join().unwrap();
    });
}

/// Would break if the number of a row's last operation could be seen without its journal, or a journal that was
/// written over with the number from before.
#[test]
fn a_member_is_seen_whole() {
    model(&["0", "3", "1"], |seen| {
        let words = ledger(5);
        let reader = thread::spawn({
            let words = Arc::clone(&words);
            move || words.member(0).expect("it is not damaged").unwrap()
        });
        assert!(charge(&words, 0, 3));
        assert!(charge(&words, 0, 1));
        seen.note(match reader.join().unwrap().bytes / UNIT {
            0 => "0",
            3 => "3",
            1 => "1",
            _ => "what it never had",
        });
    });
}

/// Would break if a process that takes a row back could write over its journal before the number is seen to
/// have risen.
#[test]
fn a_member_that_is_reclaimed_is_seen_whole() {
    model(&["0", "3", "gone"], |seen| {
        let words = ledger(5);
        let reader = thread::spawn({
            let words = Arc::clone(&words);
            move || words.member(0).expect("it is not damaged")
        });
        assert!(charge(&words, 0, 3));
        let before = 3 * UNIT;
        assert_eq!(reclaim(&words), Outcome::Done { before });
        let member = reader.join().unwrap();
        seen.note(match member.map(|member| member.bytes / UNIT) {
            Some(0) => "0",
            Some(3) => "3",
            None => "gone",
            Some(_) => "what it never had",
        });
    });
}

/// Would break if a new owner could miss the last operation of the one before it, and write over its journal.
#[test]
fn a_row_passes_from_process_to_process() {
    model(&["passed", "taken"], |seen| {
        let words = ledger(5);
        let other = thread::spawn({
            let (words, seen) = (Arc::clone(&words), seen.clone());
            move || {
                let row = words.join(owner(3));
                if let Some(row) = row {
                    assert!(charge(&words, row, 2));
                    assert_eq!(words.used(), 2 * UNIT);
                }
                seen.note(if row.is_some() { "passed" } else { "taken" });
                row.is_some()
            }
        });
        assert!(charge(&words, 0, 4));
        assert!(charge(&words, 0, 0));
        words.leave(0, owner(1));
        let passed = other.join().unwrap();
        assert_eq!(words.used(), 2 * UNIT * u64::from(passed));
    });
}

/// Would break if a process that is killed or stopped could hold another one up, or be taken back for more or
/// less than it had.
#[test]
fn a_process_may_stop_for_ever_at_any_step() {
    for steps in 0..12 {
        loom::model(move || {
            let words = ledger(5);
            assert!(charge(&words, 0, 1));
            let stopped = thread::spawn({
                let words = Arc::clone(&words);
                move || {
                    let mut operation = Operation::charge(0, 3 * UNIT);
                    for _ in 0..steps {
                        if operation.step(&words).is_some() {
                            break;
                        }
                    }
                }
            });
            assert!(charge(&words, 1, 2), "it fits, whatever the other does");
            stopped.join().unwrap();
            assert!(matches!(words.used() / UNIT, 3 | 5));
            assert!(matches!(reclaim(&words), Outcome::Done { .. }));
            assert_eq!(words.used(), 2 * UNIT);
            assert!(charge(&words, 1, 5));
        });
    }
}

/// Would break if two processes could take the same bytes back, or one that is late those of the row's new
/// owner.
#[test]
fn a_row_is_reclaimed_once_and_its_new_owner_left_alone() {
    model(&["before", "after"], |seen| {
        let words = ledger(5);
        assert!(charge(&words, 0, 3));
        let late = thread::spawn({
            let words = Arc::clone(&words);
            move || matches!(reclaim(&words), Outcome::Done { before } if before > 0)
        });
        let mine = matches!(reclaim(&words), Outcome::Done { before } if before > 0);
        let is_new = words.join(owner(3)).is_some_and(|row| {
            assert!(charge(&words, row, 2));
            true
        });
        let theirs = late.join().unwrap();
        assert!(mine ^ theirs, "it is taken back once");
        seen.note(if mine { "before" } else { "after" });
        assert_eq!(words.used(), 2 * UNIT * u64::from(is_new));
        assert_eq!(words.owner(0), is_new.then(|| owner(3)));
    });
}

/// Would break if a new limit were no operation: a charge that had read the old one would land after
/// `set_limit` has returned.
#[test]
fn after_a_lower_limit_no_process_is_granted_more() {
    model(&["granted before", "refused after"], |seen| {
        let words = ledger(10);
        let other = thread::spawn({
            let words = Arc::clone(&words);
            move || charge(&words, 1, 8)
        });
        words.set_limit(5 * UNIT);
        let used = words.used();
        let granted = other.join().unwrap();
        assert_eq!(
            words.used(),
            used,
            "nothing is granted after the limit took effect"
        );
        assert_eq!(granted, used > 0);
        seen.note(if granted {
            "granted before"
        } else {
            "refused after"
        });
    });
}

/// Would break if a refusal could come of bytes and a limit of different instants: the unit fits beside the 9
/// of 10, and alone into the 5.
#[test]
fn a_process_that_fits_at_every_instant_is_granted() {
    model(&["granted"], |seen| {
        let words = ledger(10);
        assert!(charge(&words, 0, 9));
        let other = thread::spawn({
            let words = Arc::clone(&words);
            move || charge(&words, 1, 1)
        });
        assert!(charge(&words, 0, 0));
        words.set_limit(5 * UNIT);
        assert!(other.join().unwrap());
        seen.note("granted");
    });
}
