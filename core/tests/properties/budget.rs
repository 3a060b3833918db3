//! The budget and the pressure against plain arithmetic in 128 bits.

mod replay;

use cupola_core::{Budget, Pressure, Thresholds};
use quickcheck::quickcheck;
use replay::replay;

quickcheck! {
    /// Without it a request could be granted beyond the limit, refused below it, or be
    /// lost from the account.
    fn a_budget_behaves_like_a_sum(steps: Vec<u8>) -> bool {
        replay(&steps);
        true
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

/// Without it the margin could count from the wrong side, or for a level not yet reached.
#[test]
fn a_level_ends_below_its_threshold_by_the_margin() {
    let thresholds = Thresholds::DEFAULT.with_margin(10);
    let steps = [
        (799, Pressure::Medium),
        (800, Pressure::High),
        (700, Pressure::High),
        (699, Pressure::Medium),
        (799, Pressure::Medium),
        (951, Pressure::Critical),
        (851, Pressure::Critical),
        (850, Pressure::High),
        (400, Pressure::Medium),
        (399, Pressure::Low),
        (499, Pressure::Low),
        (1000, Pressure::Critical),
        (0, Pressure::Low),
    ];
    let mut level = Pressure::Low;
    for (used, expected) in steps {
        level = thresholds.next(level, used, 1000);
        assert_eq!(level, expected, "at {used} of 1000");
    }
    assert_eq!(thresholds.next(Pressure::Low, 0, 0), Pressure::Critical);
}
