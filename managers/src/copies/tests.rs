use crate::test_bench::{TestBench, hold};

use super::*;

/// Bytes of a chunk.
const CHUNK: usize = 1000;

/// Memory of a copy, and a stream for it.
struct Ends {
    host: crate::PinnedBuffer<u8>,
    device: crate::Buffer<u8>,
    stream: Stream,
}

/// A bench, and two copies of 8 chunks.
fn bench() -> (TestBench, [Ends; 2]) {
    let bench = TestBench::with_workers(3);
    let config = CopyConfig::default().chunk(CHUNK).threshold(CHUNK);
    bench.context.copies().configure(config).unwrap();
    let pool = bench.pool(8 << 20);
    let ends = || {
        let stream = bench.stream();
        let host = bench.context.buffers().pinned(8 * CHUNK).unwrap();
        let device = pool.zeros(8 * CHUNK, &stream).unwrap();
        crate::ops::synchronize(&stream).unwrap();
        Ends {
            host,
            device,
            stream,
        }
    };
    let ends = [ends(), ends()];
    drop(pool);
    (bench, ends)
}

fn begin<'m>(bench: &'m TestBench, ends: &'m mut Ends) -> BulkCopy<'m, u8> {
    let copies = bench.context.copies();
    let begun = copies.copy_to_device(&ends.host, &mut ends.device, &ends.stream);
    begun.unwrap()
}

// Without it more chunks could be with the device than a small copy is to wait for.
#[test]
fn as_many_chunks_are_in_flight_as_may_be() {
    let bench = TestBench::with_workers(2);
    let (stream, arbiter) = (bench.stream(), Arbiter::default());
    let held = hold(&stream);
    let chunks = [0; 2].map(|_| Arc::new(stream.ticket().unwrap()));
    for chunk in &chunks {
        let mut turn = arbiter.turn(2);
        assert!(turn.full().is_none());
        turn.put(Arc::clone(chunk));
    }
    for _ in 0..2 {
        let turn = arbiter.turn(2);
        assert!(
            turn.full()
                .is_some_and(|oldest| Arc::ptr_eq(oldest, &chunks[0]))
        );
    }
    drop(held);
    chunks[1].wait().unwrap();
    assert!(arbiter.turn(1).full().is_none(), "all have ended");
    drop((chunks, arbiter, stream));
    bench.finish();
}

// Without it a copy behind other work would keep turns from the copies that this work may wait for.
#[test]
fn a_copy_that_is_not_ready_takes_no_turn() {
    let (bench, [mut late, mut other]) = bench();
    let held = hold(&late.stream);
    let mut copy = begin(&bench, &mut late);
    assert!(!copy.advance().unwrap());
    assert_eq!(copy.elements_put(), 0);
    begin(&bench, &mut other).wait().unwrap();
    assert!(!copy.advance().unwrap());
    drop(held);
    copy.wait().unwrap();
    assert_eq!(copy.elements_put(), 8 * CHUNK);
    drop(copy);
    drop((late, other));
    bench.finish();
}
