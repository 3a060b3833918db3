//! Evictions while kernels, copies and graphs run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cupola_kernels::Kernels;
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops;
use cupola_random::Random;

use super::common::Bench;
use super::{MIB, Model, register, residency, times};

/// Models of as many pages. Four of them always fit, one for each thread.
const SIZES: [u64; 9] = [1, 1, 1, 2, 2, 2, 3, 3, 3];
const LIMIT: u64 = 24 * MIB;

fn checksum(seed: u64) -> u32 {
    let bytes = SIZES[seed as usize] * 2 * MIB;
    let mut all = vec![0; bytes as usize];
    Model { seed, bytes }.fill(0, &mut all);
    crc32fast::hash(&all)
}

// Without it memory could be taken from work that runs: an illegal address, or a wrong result.
#[test]
fn evictions_under_load_touch_no_work_that_runs() {
    let bench = Bench::open();
    let residency = residency(&bench, LIMIT);
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let slots: Vec<_> = (0..9)
        .map(|seed| register(&residency, seed, SIZES[seed as usize] * 2 * MIB))
        .collect();
    let sums: Vec<u32> = (0..9).map(checksum).collect();
    let evictions = times(200, 100_000);
    let requests = AtomicU64::new(0);
    thread::scope(|scope| {
        for number in 0..4 {
            let (bench, residency, kernels) = (&bench, &residency, &kernels);
            let (slots, sums, requests) = (&slots, &sums, &requests);
            scope.spawn(move || {
                let stream = bench.another_stream();
                let mut random = Random::new(number);
                let mut crc = bench.pool.zeros::<u32>(1, &stream).unwrap();
                let mut copy = bench.pool.zeros::<u8>(64, &stream).unwrap();
                // One model of each thread's is read by a graph too.
                let own = number as usize * 2;
                // The driver wants to see memory there.
                let lease = residency.lease(&slots[own], &stream).unwrap();
                let (graph, ()) =
                    Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
                        let start = slots[own].address();
                        // SAFETY: the model's bytes, which are there with a lease.
                        let start = unsafe { DeviceSlice::<u8>::from_raw(start, 64) };
                        ops::copy(start, &mut copy, capture.stream())
                    })
                    .unwrap();
                let mut graph = graph.instantiate().unwrap();
                drop(lease);
                while residency.metrics().evictions < evictions {
                    let seed = random.index(9);
                    let lease = residency.lease(&slots[seed], &stream).unwrap();
                    let bytes = lease.slot().bytes() as usize;
                    if seed == own {
                        graph.launch(&stream).unwrap();
                    }
                    // SAFETY: the kernel is on the stream of the lease, before its end.
                    let all = unsafe { lease.slice::<u8>(0..bytes) }.unwrap();
                    ops::zero(&mut crc, &stream).unwrap();
                    kernels.crc32(all, &mut crc, &stream).unwrap();
                    // Its work goes on without the lease, half of the time unwaited for.
                    drop(lease);
                    requests.fetch_add(1, Ordering::Relaxed);
                    if random.one_in(2) {
                        assert_eq!(crc.to_vec(&stream).unwrap()[0], sums[seed], "{seed}");
                    }
                    if seed == own {
                        let mut wanted = vec![0; 64];
                        Model {
                            seed: seed as u64,
                            bytes: 0,
                        }
                        .fill(0, &mut wanted);
                        assert_eq!(copy.to_vec(&stream).unwrap(), wanted);
                    }
                }
            });
        }
    });
    let usage = residency.usage();
    assert!(usage.charged <= LIMIT, "{usage:?}");
    println!(
        "{} requests, {:?}",
        requests.into_inner(),
        residency.metrics()
    );
    drop((slots, kernels, residency));
    bench.finish_later();
}
