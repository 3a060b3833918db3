//! Bytes of a budget, which order giving back before taking again.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::{Budget, PressureGauge, Thresholds};

use super::{Plain, ROUNDS, THREADS, together};

/// Would race if `reserve` or `release` were relaxed: who has all bytes has the word.
pub(crate) fn bytes_pass_from_thread_to_thread() {
    let budget = Budget::new(10);
    let word = Plain::default();
    let granted = AtomicU64::new(0);
    together(THREADS, &|number| {
        for round in 0..ROUNDS * 4 {
            // Now and then the limit moves, but never to where two could have them all.
            if number == 0 && round % 64 == 0 {
                budget.set_limit(10 + (round as u64 / 64) % 4);
            }
            let Ok(reservation) = budget.reserve(8) else {
                continue;
            };
            word.write(word.read() + 1);
            granted.fetch_add(1, Ordering::Relaxed);
            if round % 2 == 0 {
                reservation.cancel();
            } else {
                budget.release(reservation.commit()).unwrap();
            }
        }
    });
    assert_eq!(word.read(), granted.into_inner());
    assert_eq!(budget.used(), 0);
}

/// Would lose a crossing, report it twice, or race with who gave the bytes back.
pub(crate) fn each_crossing_is_told_to_one() {
    let budget = Budget::new(100);
    let gauge = PressureGauge::new(Thresholds::DEFAULT.with_margin(5));
    let told = AtomicU64::new(0);
    let look = || {
        while let Some(crossing) = gauge.observe(&budget) {
            assert_ne!(crossing.from, crossing.to);
            told.fetch_add(1, Ordering::Relaxed);
        }
    };
    together(THREADS, &|number| {
        for round in 0..ROUNDS {
            let Ok(mut held) = budget.reserve((round * 7 + number) as u64 % 40) else {
                continue;
            };
            look();
            if held.grow(20).is_ok() {
                look();
                held.shrink_to(held.bytes() / 2);
                look();
            }
            drop(held.split(3));
            look();
            drop(held);
            look();
        }
    });
    assert_eq!(budget.used(), 0);
    assert_eq!(gauge.level(), budget.pressure());
    assert_eq!(gauge.crossings(), told.into_inner());
}
