//! A budget against plain arithmetic in 128 bits; bytes say what is done. Shared by the
//! properties and the fuzz target.

use cupola_core::{Budget, OverBudget, OverRelease, Pressure, Reservation};

/// Mostly numbers that fit a few times into one another, now and then extreme ones.
fn amount(kind: u8, small: u8) -> u64 {
    let small = u64::from(small);
    match kind % 16 {
        0 => u64::MAX - small,
        1 => Budget::MAX_LIMIT - small,
        2 => small << 40,
        _ => small,
    }
}

/// Does what `bytes` say, three of them a step, and panics where the two differ.
pub(crate) fn replay(bytes: &[u8]) {
    let mut steps = bytes
        .chunks_exact(3)
        .map(|step| (step[0], step[1], step[2]));
    let Some((_, kind, small)) = steps.next() else {
        return;
    };
    let budget = Budget::new(amount(kind, small));
    let mut limit = amount(kind, small).min(Budget::MAX_LIMIT);
    let (mut used, mut peak) = (0_u128, 0_u128);
    let mut held: Vec<Reservation<'_>> = Vec::new();
    for (step, kind, small) in steps {
        let asked = amount(kind, small);
        let at = usize::from(step / 16) % held.len().max(1);
        match step % 16 {
            0..6 => {
                let fits = used + u128::from(asked) <= u128::from(limit);
                match budget.reserve(asked) {
                    Ok(reservation) => {
                        assert!(fits && reservation.bytes() == asked);
                        used += u128::from(asked);
                        held.push(reservation);
                    }
                    Err(error) => {
                        let refusal = OverBudget {
                            requested: asked,
                            used: budget.used(),
                            limit,
                        };
                        assert!(!fits && error == refusal);
                    }
                }
            }
            6..9 => {
                // Only committed bytes are a caller's to release.
                let reserved: u128 = held.iter().map(|r| u128::from(r.bytes())).sum();
                if u128::from(asked) <= used - reserved {
                    used -= u128::from(asked);
                    assert_eq!(budget.release(asked), Ok(()));
                } else if u128::from(asked) > used {
                    let refusal = OverRelease {
                        requested: asked,
                        used: budget.used(),
                    };
                    assert_eq!(budget.release(asked), Err(refusal));
                }
            }
            9 => {
                limit = asked.min(Budget::MAX_LIMIT);
                assert_eq!(u128::from(budget.set_limit(asked)), used);
            }
            _ if held.is_empty() => {}
            10..13 => {
                let reservation = held.swap_remove(at);
                let bytes = reservation.bytes();
                assert_eq!(reservation.commit(), bytes);
            }
            _ => {
                let reservation = held.swap_remove(at);
                used -= u128::from(reservation.bytes());
                drop(reservation);
            }
        }
        peak = peak.max(used);
        assert_eq!(u128::from(budget.used()), used);
        assert_eq!(u128::from(budget.peak()), peak);
        assert_eq!(budget.limit(), limit);
        let room = u128::from(limit).saturating_sub(used);
        assert_eq!(u128::from(budget.available()), room);
        assert_eq!(budget.pressure(), Pressure::of(budget.used(), limit));
    }
    let reserved: u128 = held.iter().map(|r| u128::from(r.bytes())).sum();
    drop(held);
    assert_eq!(u128::from(budget.used()), used - reserved);
}
