//! A counter that is read while it goes up and down.

use cupola_core::ShardedCounter;

use super::{ROUNDS, THREADS, together};

/// Would break if a subtraction could be seen without its addition: the result would be
/// below zero, which is to say near 2^64. A reader that subtractions overtake again and
/// again may say too much, but never more than was added.
pub(crate) fn a_counter_goes_up_and_down() {
    let counter = ShardedCounter::<3>::new();
    together(THREADS, &|number| {
        for round in 0..ROUNDS {
            if number == 0 {
                assert!(counter.read() <= ((THREADS - 1) * ROUNDS) as u64);
                continue;
            }
            counter.add(number, 1);
            counter.sub(number + round, 1);
        }
    });
    assert_eq!(counter.read(), 0);
}
