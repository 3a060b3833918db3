//! Bytes of a budget, which order giving back before taking again.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::Budget;

use super::{Plain, ROUNDS, THREADS, together};

/// Would race if `reserve` or `release` were relaxed: the thread that has all bytes has the word.
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
                drop(reservation);
            } else {
                budget.release(reservation.commit()).unwrap();
            }
        }
    });
    assert_eq!(word.read(), granted.into_inner());
    assert_eq!(budget.used(), 0);
}
