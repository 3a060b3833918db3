//! A counter that is read while it goes up and down.

use cupola_core::ShardedCounter;

use super::{ROUNDS, THREADS, together};

/// Would break if a reader could count an addition without its subtraction many times
/// over, or the other way round.
pub(crate) fn a_counter_goes_up_and_down() {
    let counter = ShardedCounter::<3>::new();
    together(THREADS, &|number| {
        for round in 0..ROUNDS {
            if number == 0 {
                assert!(counter.read() < THREADS as u64);
                continue;
            }
            counter.add(number, 1);
            counter.sub(number + round, 1);
        }
    });
    assert_eq!(counter.read(), 0);
}
