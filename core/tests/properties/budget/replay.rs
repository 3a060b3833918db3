//! A budget and its gauge against plain arithmetic in 128 bits; bytes say what is done.
//! Shared by the properties and the fuzz target.

use cupola_core::{
    Budget, OverBudget, OverRelease, Pressure, PressureGauge, Reservation, Thresholds,
};

const MARGIN: u8 = 10;

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

/// The level after `from`, threshold by threshold.
fn level(from: Pressure, used: u128, limit: u128) -> Pressure {
    const LEVELS: [Pressure; 4] = [
        Pressure::Low,
        Pressure::Medium,
        Pressure::High,
        Pressure::Critical,
    ];
    let holds = |level: usize, margin: u128| match level {
        1 => used * 100 >= limit * (50 - margin),
        2 => used * 100 >= limit * (80 - margin),
        _ => limit == 0 || used * 100 > limit * (95 - margin),
    };
    let start = LEVELS.iter().position(|level| *level == from).unwrap();
    let mut level = start;
    while level < 3 && holds(level + 1, 0) {
        level += 1;
    }
    if level == start {
        while level > 0 && !holds(level, u128::from(MARGIN)) {
            level -= 1;
        }
    }
    LEVELS[level]
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
    let gauge = PressureGauge::new(Thresholds::DEFAULT.with_margin(MARGIN));
    let (mut pressure, mut crossings) = (Pressure::Low, 0);
    let (mut used, mut peak) = (0_u128, 0_u128);
    let mut held: Vec<Reservation<'_>> = Vec::new();
    let fits = |used: u128, limit: u64, more: u64| used + u128::from(more) <= u128::from(limit);
    for (step, kind, small) in steps {
        let asked = amount(kind, small);
        let at = usize::from(step / 16) % held.len().max(1);
        let refusal = OverBudget {
            requested: asked,
            used: budget.used(),
            limit,
        };
        match step % 16 {
            0..4 => match budget.reserve(asked) {
                Ok(reservation) => {
                    assert!(fits(used, limit, asked) && reservation.bytes() == asked);
                    used += u128::from(asked);
                    held.push(reservation);
                }
                Err(error) => assert!(!fits(used, limit, asked) && error == refusal),
            },
            4 => {
                let most = asked.saturating_mul(u64::from(step / 16));
                match budget.reserve_up_to(asked, most) {
                    Ok(reservation) => {
                        let room = u128::from(limit) - used;
                        let expected = room.min(u128::from(most.max(asked)));
                        assert!(fits(used, limit, asked));
                        assert_eq!(u128::from(reservation.bytes()), expected);
                        used += expected;
                        held.push(reservation);
                    }
                    Err(error) => assert!(!fits(used, limit, asked) && error == refusal),
                }
            }
            5 => {
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
            6 => {
                limit = asked.min(Budget::MAX_LIMIT);
                assert_eq!(u128::from(budget.set_limit(asked)), used);
            }
            _ if held.is_empty() => {}
            7..9 => {
                let reservation = held.swap_remove(at);
                let bytes = reservation.bytes();
                assert_eq!(reservation.commit(), bytes);
            }
            9..11 => {
                let reservation = held.swap_remove(at);
                used -= u128::from(reservation.bytes());
                reservation.cancel();
            }
            11..13 => {
                let before = held[at].bytes();
                match held[at].grow(asked) {
                    Ok(()) => {
                        assert!(fits(used, limit, asked));
                        assert_eq!(held[at].bytes(), before + asked);
                        used += u128::from(asked);
                    }
                    Err(error) => {
                        assert!(!fits(used, limit, asked) && error == refusal);
                        assert_eq!(held[at].bytes(), before);
                    }
                }
            }
            13 => {
                let before = held[at].bytes();
                held[at].shrink_to(asked);
                assert_eq!(held[at].bytes(), before.min(asked));
                used -= u128::from(before - before.min(asked));
            }
            _ => {
                let before = held[at].bytes();
                let part = held[at].split(asked);
                assert_eq!(part.is_some(), asked <= before);
                if let Some(part) = part {
                    assert_eq!((part.bytes(), held[at].bytes()), (asked, before - asked));
                    held.push(part);
                }
            }
        }
        peak = peak.max(used);
        assert_eq!(u128::from(budget.used()), used);
        assert_eq!(u128::from(budget.peak()), peak);
        assert_eq!(budget.limit(), limit);
        let room = u128::from(limit).saturating_sub(used);
        assert_eq!(u128::from(budget.available()), room);
        assert_eq!(budget.pressure(), Pressure::of(budget.used(), limit));

        let now = level(pressure, used, u128::from(limit));
        let crossing = gauge.observe(&budget);
        if now == pressure {
            assert_eq!(crossing, None);
        } else {
            crossings += 1;
            let crossing = crossing.unwrap();
            assert_eq!((crossing.from, crossing.to), (pressure, now));
            assert_eq!(
                (crossing.number, crossing.rises()),
                (crossings, now > pressure)
            );
            assert_eq!(gauge.observe(&budget), None);
        }
        pressure = now;
        assert_eq!((gauge.level(), gauge.crossings()), (pressure, crossings));
    }
    let reserved: u128 = held.iter().map(|r| u128::from(r.bytes())).sum();
    drop(held);
    assert_eq!(u128::from(budget.used()), used - reserved);
}
