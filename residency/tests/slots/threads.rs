//! Many threads, each with its stream.

use std::thread;

use cupola_random::Random;
use cupola_testing::{Machine, TestBench};

use super::{Bench, MIB, check, register};

// Without it a thread could use memory that another thread's request takes.
#[test]
fn threads_evict_each_others_slots() {
    let machine = Machine::builder().worker_threads(4);
    let bench = Bench::on(TestBench::builder().machine(machine).open().unwrap());
    // Two of the five always fit, so four threads with a slot each do not all.
    let residency = bench.residency(24 * MIB);
    let slots: Vec<_> = (0..5)
        .map(|seed| register(&residency, seed, (seed + 2) * MIB))
        .collect();
    thread::scope(|scope| {
        for thread in 0..4 {
            let (residency, slots, context) = (&residency, &slots, &bench.context);
            scope.spawn(move || {
                let stream = context.streams().create(Default::default()).unwrap();
                let mut random = Random::new(thread);
                for _ in 0..60 {
                    let seed = random.index(5);
                    let lease = residency.lease(&slots[seed], &stream).unwrap();
                    if random.one_in(2) {
                        check(&lease, seed as u64, &stream);
                    }
                    assert!(residency.usage().charged <= 24 * MIB);
                }
            });
        }
    });
    let metrics = residency.metrics();
    assert_eq!(metrics.hits + metrics.partial_hits + metrics.misses, 240);
    drop((slots, residency));
    bench.finish();
}
