//! The sharded counter against an integer, and under real threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cupola_core::ShardedCounter;
use quickcheck::quickcheck;

const THREADS: usize = 3;
const ROUNDS: u64 = 20_000;
/// How often each thread waits for the next reading.
const WAITS: usize = 1_000;

quickcheck! {
    /// Without it a hint beyond the shards could be lost, or a total that wraps could lose
    /// the difference. Steps add or subtract any amount on any shard.
    fn a_sharded_counter_behaves_like_a_number(steps: Vec<(bool, usize, u64)>) -> bool {
        let (one, three) = (ShardedCounter::<1>::new(), ShardedCounter::<3>::new());
        let mut number = 0_u64;
        steps.into_iter().all(|(up, hint, amount)| {
            // Amounts near 2^64 make totals wrap in a few steps.
            let amount = if hint % 4 == 0 { !amount } else { amount };
            if up {
                number = number.wrapping_add(amount);
                one.add(hint, amount);
                three.add(hint, amount);
            } else {
                number = number.wrapping_sub(amount);
                one.sub(hint, amount);
                three.sub(hint, amount);
            }
            (one.read(), three.read()) == (number, number)
        })
    }
}

/// Without it a reading below zero would show only in a long run: each thread adds before
/// it subtracts, often on another shard.
#[test]
fn a_sharded_counter_survives_threads() {
    let counter = ShardedCounter::<2>::new();
    let running = AtomicUsize::new(THREADS);
    let mut readings = 0_u64;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (counter, running) = (&counter, &running);
            scope.spawn(move || {
                for round in 0..ROUNDS as usize {
                    counter.add(thread + round, 1);
                    counter.sub(thread, 1);
                }
                counter.add(thread, ROUNDS);
                running.fetch_sub(1, Ordering::Release);
            });
        }
        while running.load(Ordering::Acquire) > 0 {
            let reading = counter.read();
            // A reader that gives up may count what was subtracted meanwhile: no more than
            // all that is ever added.
            assert!(
                reading <= 2 * THREADS as u64 * ROUNDS,
                "{reading} at a time"
            );
            readings += 1;
        }
    });
    assert!(readings > 0);
    assert_eq!(counter.read(), THREADS as u64 * ROUNDS);
}

/// Without it what comes and goes could be counted more than once. Threads add one and
/// subtract it, twice for each reading at most, so that fewer subtractions come during a
/// reading than it takes to make the reader give up; at no instant are there more than one
/// for each thread.
#[test]
fn what_comes_and_goes_is_counted_once_under_threads() {
    let counter = ShardedCounter::<2>::new();
    let (readings, running) = (AtomicUsize::new(1), AtomicUsize::new(THREADS));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (counter, readings, running) = (&counter, &readings, &running);
            scope.spawn(move || {
                let mut last = 0;
                for _ in 0..WAITS {
                    while readings.load(Ordering::Relaxed) == last {
                        thread::yield_now();
                    }
                    last = readings.load(Ordering::Relaxed);
                    for round in 0..2 {
                        counter.add(thread + round, 1);
                        counter.sub(thread, 1);
                    }
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let mut most = 0;
        while running.load(Ordering::Relaxed) > 0 {
            most = most.max(counter.read());
            readings.fetch_add(1, Ordering::Relaxed);
        }
        assert!(most <= THREADS as u64, "{most} at a time");
    });
    assert_eq!(counter.read(), 0);
}

/// Without it readings could go back while there are only additions.
#[test]
fn readings_rise_under_threads() {
    let counter = ShardedCounter::<4>::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let counter = &counter;
            scope.spawn(move || (0..ROUNDS).for_each(|_| counter.add(thread, 2)));
        }
        let (mut last, all) = (0, THREADS as u64 * ROUNDS * 2);
        while last < all {
            let now = counter.read();
            assert!((last..=all).contains(&now), "{now} after {last}");
            last = now;
        }
    });
}
