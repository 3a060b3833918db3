//! The budget and the pressure against plain arithmetic in 128 bits.

use cupola_core::{Budget, OverBudget, OverRelease, Pressure, Reservation};
use quickcheck::{Arbitrary, Gen, quickcheck};

#[derive(Clone, Copy, Debug)]
enum Step {
    Reserve(u64),
    Commit(u8),
    Cancel(u8),
    Release(u64),
    SetLimit(u64),
}

/// Mostly numbers that fit a few times into one another, now and then extreme ones.
fn bytes(g: &mut Gen) -> u64 {
    match u8::arbitrary(g) % 8 {
        0 => u64::arbitrary(g), // quickcheck likes 0 and the maximum
        1 => Budget::MAX_LIMIT - u64::from(u8::arbitrary(g)),
        _ => u64::from(u8::arbitrary(g)),
    }
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 8 {
            0..4 => Self::Reserve(bytes(g)),
            4 => Self::Commit(u8::arbitrary(g)),
            5 => Self::Cancel(u8::arbitrary(g)),
            6 => Self::Release(bytes(g)),
            _ => Self::SetLimit(bytes(g)),
        }
    }
}

quickcheck! {
    /// Without it a request could be granted beyond the limit, refused below it, or be
    /// lost from the account.
    fn a_budget_behaves_like_a_sum(limit: u64, steps: Vec<Step>) -> bool {
        let budget = Budget::new(limit);
        let mut limit = limit.min(Budget::MAX_LIMIT);
        let (mut used, mut peak) = (0_u128, 0_u128);
        let mut held: Vec<Reservation<'_>> = Vec::new();
        let pick = |which: u8, held: &[Reservation<'_>]| usize::from(which) % held.len().max(1);
        for step in steps {
            match step {
                Step::Reserve(requested) => {
                    let fits = used + u128::from(requested) <= u128::from(limit);
                    match budget.reserve(requested) {
                        Ok(reservation) => {
                            assert!(fits && reservation.bytes() == requested);
                            used += u128::from(requested);
                            held.push(reservation);
                        }
                        Err(refusal) => {
                            let used = budget.used();
                            assert!(!fits && refusal == OverBudget { requested, used, limit });
                        }
                    }
                }
                Step::Commit(_) | Step::Cancel(_) if held.is_empty() => {}
                Step::Commit(which) => {
                    let at = pick(which, &held);
                    let reservation = held.swap_remove(at);
                    let bytes = reservation.bytes();
                    assert_eq!(reservation.commit(), bytes);
                }
                Step::Cancel(which) => {
                    let at = pick(which, &held);
                    let reservation = held.swap_remove(at);
                    used -= u128::from(reservation.bytes());
                    reservation.cancel();
                }
                Step::Release(requested) => {
                    // Only committed bytes are a caller's to release.
                    let reserved: u128 = held.iter().map(|r| u128::from(r.bytes())).sum();
                    if u128::from(requested) <= used - reserved {
                        used -= u128::from(requested);
                        assert_eq!(budget.release(requested), Ok(()));
                    } else if u128::from(requested) > used {
                        let refusal = OverRelease { requested, used: budget.used() };
                        assert_eq!(budget.release(requested), Err(refusal));
                    }
                }
                Step::SetLimit(new) => {
                    limit = new.min(Budget::MAX_LIMIT);
                    assert_eq!(u128::from(budget.set_limit(new)), used);
                }
            }
            peak = peak.max(used);
            assert_eq!((u128::from(budget.used()), u128::from(budget.peak())), (used, peak));
            assert_eq!(budget.limit(), limit);
            assert_eq!(u128::from(budget.available()), u128::from(limit).saturating_sub(used));
            assert_eq!(budget.pressure(), Pressure::of(budget.used(), limit));
        }
        let reserved: u128 = held.iter().map(|r| u128::from(r.bytes())).sum();
        drop(held);
        u128::from(budget.used()) == used - reserved
    }

    /// Without it a bound could be off by one, or the arithmetic wrap for large limits.
    fn pressure_follows_the_percentage(used: u64, limit: u64) -> bool {
        let percent = |bound: u128| u128::from(used) * 100 >= u128::from(limit) * bound;
        let expected = if limit == 0 || (percent(95) && u128::from(used) * 100 != u128::from(limit) * 95) {
            Pressure::Critical
        } else if percent(80) {
            Pressure::High
        } else if percent(50) {
            Pressure::Medium
        } else {
            Pressure::Low
        };
        Pressure::of(used, limit) == expected
    }
}

/// Without it the documented bounds could move.
#[test]
fn pressure_at_its_bounds() {
    let steps = [
        (0, Pressure::Low),
        (499, Pressure::Low),
        (500, Pressure::Medium),
        (799, Pressure::Medium),
        (800, Pressure::High),
        (950, Pressure::High),
        (951, Pressure::Critical),
        (1001, Pressure::Critical),
    ];
    for (used, pressure) in steps {
        assert_eq!(Pressure::of(used, 1000), pressure, "at {used} of 1000");
    }
    assert_eq!(Pressure::of(0, 0), Pressure::Critical);
    assert_eq!(Pressure::of(u64::MAX, u64::MAX), Pressure::Critical);
    assert_eq!(Budget::new(0).pressure(), Pressure::Critical);
}
