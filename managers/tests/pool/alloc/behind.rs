//! Blocks that are freed behind the work of several streams.

use cupola_managers::pool::{Backing, RawBlock};
use cupola_managers::{Error, Stream, ops};

use crate::{PAGE, bench_on, hold, on_both, trim_to};

/// Frees a block behind the work of its stream and of another.
fn free_behind(block: RawBlock, stream: &Stream, other: &Stream) {
    // SAFETY: all work of these tests that could use the block is on the two streams by now.
    unsafe { block.free_behind(stream, std::slice::from_ref(other)) }.unwrap();
}

// Without it memory that another stream still uses could be handed out again, or the stream of the
// block be made to wait for that one.
#[test]
fn memory_is_free_behind_each_of_its_streams_and_none_of_them_waits() {
    on_both(|bench| {
        let (pool, home, other) = (bench.pool(256 << 20), bench.stream(), bench.stream());
        for bytes in [1000, 1 << 20, 3 << 20] {
            let block = pool.allocate_raw(bytes, 256, &home).unwrap();
            let address = block.address();
            let held = hold(&other);
            free_behind(block, &home, &other);
            ops::synchronize(&home).unwrap();
            let next = pool.allocate_raw(bytes, 256, &home).unwrap();
            assert_ne!(
                next.address(),
                address,
                "{bytes}: the other stream's work may run"
            );
            drop(held);
            ops::synchronize(&other).unwrap();
            free_behind(next, &home, &other);
        }
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.device_waits), (0, 0), "{usage:?}");
        for stream in [&home, &other] {
            ops::synchronize(stream).unwrap();
        }
        trim_to(&pool, 0);
        drop((pool, home, other));
        bench.finish();
    });
}

// Without it a block of a graph's memory could be free for the next capture while another stream
// still uses it, and one of another context's stream be lost.
#[test]
fn a_graphs_block_waits_for_the_other_stream_and_a_strange_stream_is_refused() {
    let bench = bench_on(Backing::Pages);
    let (pool, home, other) = (bench.pool(256 << 20), bench.stream(), bench.stream());
    let memory = pool.graph_memory(&home).unwrap();
    let block = pool.allocate_raw(PAGE, 256, &home).unwrap();
    memory.end();
    let held = hold(&other);
    free_behind(block, &home, &other);
    assert!(
        !ops::query(&home).unwrap(),
        "the stream waits for the other"
    );
    drop(held);
    ops::synchronize(&home).unwrap();

    let device = bench.execution.devices().get(0).unwrap();
    let strange = device.contexts().create(Default::default()).unwrap();
    let stream = strange.streams().create(Default::default()).unwrap();
    let block = pool.allocate_raw(PAGE, 256, &home).unwrap();
    // SAFETY: no work uses the block.
    let refused = unsafe { block.free_behind(&home, std::slice::from_ref(&stream)) };
    let (block, error) = refused.unwrap_err().into_parts();
    assert!(matches!(error, Error::WrongContext { .. }), "{error}");
    free_behind(block, &home, &other);
    assert_eq!(pool.usage().unwrap().live, 0);
    drop((device, stream, strange, memory, pool, home, other));
    bench.finish();
}
