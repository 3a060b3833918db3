//! Counters that every thread adds to.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::ShardedCounter;

use super::pairs::{ONE, many};
use crate::bench::ring::Line;
use crate::bench::rounds::Case;

/// Additions between two looks at the clock.
const BATCH: u64 = 1024;

trait Counter: Default + Sync + 'static {
    /// Adds 1.
    fn add(&self, thread: usize);

    fn read(&self) -> u64;
}

impl Counter for Line<AtomicU64> {
    fn add(&self, _: usize) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counter for ShardedCounter<16> {
    fn add(&self, thread: usize) {
        Self::add(self, thread, 1);
    }

    fn read(&self) -> u64 {
        Self::read(self)
    }
}

/// All rows.
pub(super) fn cases(threads: usize) -> Vec<Case> {
    let mut cases = vec![];
    let alone = rows(&mut cases, ONE, 1);
    if threads > 1 {
        let together = rows(&mut cases, &many(threads), threads);
        let last = cases.split_off(cases.len() - together.len());
        let last = last.into_iter().zip(alone);
        cases.extend(last.map(|(case, alone)| case.alone(alone)));
    }
    cases
}

/// Adds the rows of one group, and returns their names.
fn rows(cases: &mut Vec<Case>, group: &str, threads: usize) -> [String; 2] {
    let names = ["one word", "ShardedCounter<16>"];
    let [one, sharded] = names.map(|name| format!("{group}: counter, {name}"));
    cases.push(adding::<Line<AtomicU64>>(one.clone(), threads));
    let case = adding::<ShardedCounter<16>>(sharded.clone(), threads);
    cases.push(case.against(one.clone()));
    [one, sharded]
}

/// Every thread adds 1 again and again.
fn adding<C: Counter>(name: String, threads: usize) -> Case {
    let counter = C::default();
    Case::new(name, threads, move |turn| {
        let before = counter.read();
        let mut added = 0;
        let lap = turn.measure(|| {
            for _ in 0..BATCH {
                counter.add(turn.thread);
            }
            added += BATCH;
            BATCH
        });
        // Others add at the same time.
        let sum = counter.read() - before;
        (sum == added || threads > 1 && sum > added).then_some(lap)
    })
}
