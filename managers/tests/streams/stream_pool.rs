//! A pool of streams: who gets which.

use std::collections::BTreeMap;

use cupola_managers::stream::{StreamConfig, StreamPool, StreamPoolConfig};
use cupola_managers::{Error, ops};
use cupola_sys::driver::id;

use super::TestBench;
use super::test_bench::hold;

fn pool(bench: &TestBench, streams: usize) -> StreamPool {
    StreamPool::new(&bench.context, StreamPoolConfig::new(streams)).unwrap()
}

// Without it a caller could wait behind another's work while a stream is idle, or pay calls of the
// driver to learn what is known.
#[test]
fn an_idle_stream_goes_first_and_costs_no_call() {
    let bench = TestBench::with_workers(5);
    let pool = pool(&bench, 4);
    assert_eq!(pool.live(), 0, "made when they are needed");
    let leases: Vec<_> = (0..4).map(|_| pool.lease().unwrap()).collect();
    let serials: Vec<_> = leases.iter().map(|lease| lease.serial()).collect();
    let streams: BTreeMap<_, _> = serials.iter().map(|&serial| (serial, ())).collect();
    assert_eq!((streams.len(), pool.live(), pool.outstanding()), (4, 4, 4));
    // Work on all but the third, which ends its lease without any.
    let held: Vec<_> = [0, 1, 3].map(|busy| hold(&leases[busy])).into();
    drop(leases);
    // What is on the third is asked for once.
    bench.faults.reset();
    let lease = pool.lease().unwrap();
    assert_eq!(lease.serial(), serials[2]);
    assert!(bench.faults.count(id::cuEventRecord) > 0);
    ops::synchronize(&lease).unwrap();
    drop(lease);
    // That wait tells nothing of the lease's end: it is asked for again.
    for _ in 0..3 {
        assert_eq!(pool.lease().unwrap().serial(), serials[2]);
    }
    assert_eq!(
        pool.outstanding(),
        4,
        "the last of them, and three that are busy"
    );
    drop(held);
    for lease in serials.iter().map(|_| pool.lease().unwrap()) {
        ops::synchronize(&lease).unwrap();
    }
    assert_eq!(pool.live(), 4, "no more are made");
}

// Without it callers could be sent to one stream while others have less to do.
#[test]
fn the_least_outstanding_work_decides_when_all_are_busy() {
    let bench = TestBench::with_workers(4);
    let pool = pool(&bench, 3);
    let mut held = Vec::new();
    let mut leased = BTreeMap::<_, usize>::new();
    for _ in 0..30 {
        let lease = pool.lease().unwrap();
        held.push(hold(&lease));
        *leased.entry(lease.serial()).or_default() += 1;
    }
    assert_eq!(leased.values().copied().collect::<Vec<_>>(), [10; 3]);
    assert_eq!(pool.outstanding(), 30);
    drop(held);
    let lease = pool.lease().unwrap();
    ops::synchronize(&lease).unwrap();
}

// Without it a pool could have more streams than it says, streams of another kind, or none.
#[test]
fn a_pool_has_the_streams_that_it_was_told() {
    let bench = TestBench::new();
    let refused = StreamPool::new(&bench.context, StreamPoolConfig::new(0));
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "stream pool",
            ..
        })
    ));
    let (least, greatest) = bench.context.streams().priorities().unwrap();
    assert!(greatest < least, "the device tells priorities apart");
    let config = StreamPoolConfig::new(2).priority(greatest);
    let urgent = StreamPool::new(&bench.context, config).unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..50 {
                    let lease = urgent.lease().unwrap();
                    assert_eq!(lease.config(), StreamConfig::priority(greatest));
                    ops::host_function(&lease, || {}).unwrap();
                }
            });
        }
    });
    assert_eq!(urgent.live(), 2);
    let live = bench.context.streams().live();
    drop(urgent);
    assert_eq!(live - bench.context.streams().live(), 2, "they go with it");
}

// Without it a lease that is to cost nothing could ask the driver, or send all callers to one stream.
#[test]
fn a_lease_by_what_is_known_makes_no_call() {
    let bench = TestBench::with_workers(4);
    let pool = pool(&bench, 3);
    let mut leased = BTreeMap::<_, usize>::new();
    let mut held = Vec::new();
    for lease in 0..30 {
        if lease == 3 {
            bench.faults.reset();
        }
        let stream = pool.lease_as_known().unwrap();
        *leased.entry(stream.serial()).or_default() += 1;
        if lease < 3 {
            held.push(hold(&stream));
        }
    }
    assert_eq!(leased.values().copied().collect::<Vec<_>>(), [10; 3]);
    let calls = bench.faults.counts();
    assert!(calls.is_empty(), "{calls:?}");
    drop(held);
    let stream = pool.lease_as_known().unwrap();
    stream.ticket().unwrap().wait().unwrap();
    let serial = stream.serial();
    drop(stream);
    // The wait made known that all of it is done, but the lease itself, which ended after it.
    assert_eq!(pool.lease_as_known().unwrap().serial(), serial);
}
