use std::sync::Mutex;
use std::time::Duration;

use cupola_sys::driver::{CUresult, id};

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::ops;
use crate::pool::inspect::counters::Happened;
use crate::pool::{PoolConfig, RawBlock, Source};
use crate::test_bench::{PoolBench, TestBench};

const MIB: u64 = 1 << 20;

fn configs() -> [PoolConfig; 2] {
    let mut chunks = PoolConfig::limit(64 * MIB);
    chunks.source = Source::Chunks;
    [PoolConfig::limit(64 * MIB), chunks]
}

// Without it a replay of a graph could write to memory that has another user by then.
#[test]
fn memory_of_a_graph_is_its_own_while_it_may_run() {
    for config in configs() {
        let bench = PoolBench::new(config);
        let other = bench.base.stream();
        // Warm: the hit path must not be taken either.
        for bytes in [300, 100_000, 3 * MIB] {
            bench.put(bench.take(bytes));
        }
        let memory = bench.pool.graph_memory(&bench.stream).unwrap();
        let mut used = Vec::new();
        for bytes in [300, 100_000, 3 * MIB] {
            let block = bench.take(bytes);
            let range = block.address()..block.address() + block.bytes();
            bench.put(block);
            // For the graph it is free again.
            let again = bench.take(bytes);
            assert_eq!(again.address(), range.start);
            bench.put(again);
            used.push(range);
        }
        memory.end();
        assert!(!memory.is_open());
        ops::synchronize(&bench.stream).unwrap();
        let is_used = |address: u64| used.iter().any(|range| range.contains(&address));
        let check = |stream: &Stream| {
            bench.pool.trim().unwrap();
            let mut taken = Vec::new();
            for bytes in [256, 300, 100_000, 3 * MIB, 7 * MIB] {
                for _ in 0..3 {
                    if let Ok(block) = bench.pool.allocate_raw(bytes, 1, stream) {
                        assert!(!is_used(block.address()), "{bytes}");
                        assert!(!is_used(block.address() + block.bytes() - 1));
                        taken.push(block);
                    }
                }
            }
            assert!(taken.len() > 5);
            for block in taken {
                // SAFETY: nothing uses it.
                unsafe { block.free(stream) }.unwrap();
            }
        };
        check(&bench.stream);
        check(&other);
        assert!(memory.mapped().unwrap() >= 3 * MIB);
        drop(memory);
        bench.pool.trim().unwrap();
        assert_eq!(bench.pool.mapped(), 0);
        drop(other);
        bench.finish();
    }
}

// Without it a block from before the capture, freed in it, could be handed to others while the
// graph still uses it.
#[test]
fn what_the_stream_frees_meanwhile_is_held_back() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let before = [bench.take(700), bench.take(9 * MIB)];
    let addresses: Vec<_> = before.iter().map(RawBlock::address).collect();
    let named = bench.pool.allocate_named::<u8>("x", 5, &bench.stream);
    let handle = named.as_ref().unwrap().handle();
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let bytes: u64 = before.iter().map(RawBlock::bytes).sum();
    before.into_iter().for_each(|block| bench.put(block));
    drop(named);
    assert!(bench.base.context.buffers().info(handle).is_err());
    assert_eq!(memory.held(), bytes + 256);
    assert_eq!(bench.pool.usage().unwrap().live, 0);
    memory.end();
    ops::synchronize(&bench.stream).unwrap();
    bench.pool.trim().unwrap();
    let others: Vec<_> = (0..4)
        .flat_map(|_| [bench.take(700), bench.take(9 * MIB)])
        .collect();
    assert!(
        others
            .iter()
            .all(|other| !addresses.contains(&other.address()))
    );
    others.into_iter().for_each(|block| bench.put(block));
    drop(memory);
    // Now all streams may have it.
    let all = bench.pool.trim();
    ops::synchronize(&bench.stream).unwrap();
    assert!(all.unwrap() + bench.pool.trim().unwrap() > 0);
    assert_eq!(bench.pool.mapped(), 0);
    bench.finish();
}

// Without it the limit could be passed by graphs, memory that the pool does not use be kept from
// them, or a refusal never come: each search closes a batch of the stream that both pools share.
#[test]
fn a_graph_shares_the_limit_of_its_pool() {
    let bench = PoolBench::new(PoolConfig::limit(16 * MIB));
    let other = bench.base.stream();
    bench.put(bench.take(15 * MIB));
    assert_eq!(bench.pool.mapped(), 16 * MIB);
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    // Memory that the pool keeps for reuse makes room.
    let (first, second) = (bench.take(5 * MIB), bench.take(5 * MIB));
    assert!(bench.pool.mapped() <= 16 * MIB);
    let more = |bytes, stream| bench.pool.allocate_raw(bytes, 1, stream).is_err();
    assert!(more(7 * MIB, &bench.stream));
    bench.put(first);
    // Pages that the graph may use are not moved, although no block on them is in use.
    assert!(more(8 * MIB, &bench.stream));
    assert_eq!(memory.mapped().unwrap(), 10 * MIB);
    let twice = bench.pool.graph_memory(&bench.stream);
    assert!(matches!(twice, Err(Error::Invalid { .. })));
    memory.end();
    memory.end();
    bench.put(second);
    // Nor for others.
    assert!(more(7 * MIB, &other));
    drop(memory);
    let block = bench.take(15 * MIB);
    bench.put(block);
    drop(other);
    bench.finish();
}

// Without it a block that outlives its graph's memory could be unmapped under its owner.
#[test]
fn a_block_may_outlive_its_graph_and_its_pool() {
    let bench = PoolBench::new(PoolConfig::limit(16 * MIB));
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let mut buffer = bench.pool.allocate::<u32>(1000, &bench.stream).unwrap();
    drop(memory);
    let pool = bench.pool.clone();
    ops::write(&mut buffer, &[7; 1000], &bench.stream).unwrap();
    let mut read = [0; 1000];
    ops::read(&buffer, &mut read, &bench.stream).unwrap();
    assert_eq!(read, [7; 1000]);
    drop(pool);
    drop(buffer);
    bench.finish();
}

// Without it the pool could make a call in a capture that ends the capture.
#[test]
fn nothing_is_put_on_a_stream_that_is_captured() {
    let bench = PoolBench::new(PoolConfig::limit(16 * MIB));
    let before = bench.take(9000);
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    bench.base.faults.reset();
    let captured = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    let asked = id::cuStreamIsCapturing;
    bench.base.faults.fail_from(asked, 1, captured);
    for bytes in [300, 100_000, 3 * MIB, 5 * MIB] {
        bench.put(bench.take(bytes));
    }
    bench.put(before);
    assert!(bench.pool.allocate_raw(17 * MIB, 1, &bench.stream).is_err());
    assert!(bench.pool.allocate_raw(15 * MIB, 1, &bench.stream).is_err());
    for function in [
        id::cuEventRecord,
        id::cuStreamWaitEvent,
        id::cuStreamSynchronize,
    ] {
        assert_eq!(bench.base.faults.count(function), 0);
    }
    bench.base.faults.reset();
    memory.end();
    drop(memory);
    bench.finish();
}

// Without it a block that is freed while its graph's memory is dropped could be lost, and with it
// the end of the pool.
#[test]
fn a_free_beside_the_end_of_a_graph_is_not_lost() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let buffer = bench.pool.allocate::<u8>(5 << 10, &bench.stream).unwrap();
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let moment = || std::thread::sleep(Duration::from_millis(50));
    std::thread::scope(|scope| {
        // Keeps the free where it has found the graph and not yet left the block there.
        let central = bench.pool.pool().central.lock();
        let free = scope.spawn(|| drop(buffer));
        moment();
        let end = scope.spawn(|| drop(memory));
        moment();
        drop(central);
        free.join().unwrap();
        end.join().unwrap();
    });
    ops::synchronize(&bench.stream).unwrap();
    bench.pool.trim().unwrap();
    assert_eq!(bench.pool.mapped(), 0);
    bench.finish();
}

// Without it a request that waits while its graph's memory is dropped would get a block of a pool
// that is gone.
#[test]
fn a_request_may_outlast_its_graphs_memory() {
    for mut config in configs() {
        config.wait = Duration::from_secs(20);
        let bench = PoolBench::new(config);
        let other = bench.base.stream();
        // All of the limit, and in use for a while.
        let all = bench.pool.allocate_raw(64 * MIB, 1, &other).unwrap();
        let (release, released) = std::sync::mpsc::channel::<()>();
        ops::host_function(&other, move || {
            let _ = released.recv();
        })
        .unwrap();
        // SAFETY: all work that uses it is on the stream.
        unsafe { all.free(&other) }.unwrap();
        let memory = bench.pool.graph_memory(&bench.stream).unwrap();
        let inner = Arc::downgrade(memory.graph.memory());
        let waiting = || {
            let pool = inner.upgrade().unwrap();
            pool.observer.counters().times(Happened::WaitedOnHost) > 0
        };
        let block = std::thread::scope(|scope| {
            let late = scope.spawn(|| bench.take(3 * MIB));
            while !waiting() {
                std::thread::yield_now();
            }
            drop(memory);
            drop(release);
            late.join().unwrap()
        });
        assert!(inner.upgrade().is_some(), "the block's pool is gone");
        bench.put(block);
        assert!(inner.upgrade().is_none());
        drop(other);
        bench.finish();
    }
}

// Without it pieces that a late request puts by for its thread would lie in a closed cache, and
// keep the graph's memory and its pool for ever.
#[test]
fn a_late_request_leaves_nothing_in_a_closed_cache() {
    let [config, _] = configs();
    let bench = PoolBench::new(config);
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let graph = Arc::clone(memory.graph.memory());
    let inner = Arc::downgrade(&graph);
    let (made, cache) = std::sync::mpsc::channel();
    let (locked, go) = std::sync::mpsc::channel();
    let there = &bench;
    std::thread::scope(|scope| {
        let late = scope.spawn(move || {
            // Its cache is there, and all that is mapped is in use.
            let some = [256, 2 * MIB - (16 << 10)].map(|bytes| there.take(bytes));
            made.send(()).unwrap();
            go.recv().unwrap();
            there.put(there.take(5000));
            some.into_iter().for_each(|block| there.put(block));
        });
        cache.recv().unwrap();
        let mapping = graph.pages.lock();
        locked.send(()).unwrap();
        // It waits for the mapper by then, with its cache in hand.
        std::thread::sleep(Duration::from_millis(100));
        drop(memory);
        drop(mapping);
        drop(graph);
        late.join().unwrap();
    });
    assert!(inner.upgrade().is_none(), "something is left");
    bench.finish();
}

// Without it a request that had pages on their way when its graph's memory was dropped, and then
// failed, would leave that memory and its pool to themselves for ever.
#[test]
fn a_late_request_that_fails_keeps_nothing() {
    let [config, _] = configs();
    let bench = PoolBench::new(config);
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let inner = Arc::downgrade(memory.graph.memory());
    bench.base.faults.reset();
    let create = id::cuMemCreate;
    bench
        .base
        .faults
        .delay(create, 1, Duration::from_millis(200));
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.base.faults.fail_from(create, 2, full);
    std::thread::scope(|scope| {
        let late = scope.spawn(|| bench.pool.allocate_raw(8 * MIB, 1, &bench.stream).is_err());
        while bench.base.faults.count(create) == 0 {
            std::thread::yield_now();
        }
        drop(memory);
        assert!(late.join().unwrap());
    });
    bench.base.faults.reset();
    assert!(inner.upgrade().is_none(), "something is left");
    bench.finish();
}

// Without it a program that makes room when it learns that there is none could not do so for a
// graph; nor by giving up that graph's memory, which the request is in.
#[test]
fn a_refusal_of_a_graphs_request_is_told_to_the_callback() {
    for config in configs() {
        let bench = PoolBench::new(config);
        let other = bench.base.stream();
        let all = bench.pool.allocate_raw(60 * MIB, 1, &other).unwrap();
        let spare = Mutex::new(Some((all, other.clone())));
        let memory = Arc::new(Mutex::new(Some(
            bench.pool.graph_memory(&bench.stream).unwrap(),
        )));
        let asked = Arc::new(AtomicUsize::new(0));
        let (seen, graph) = (Arc::clone(&asked), Arc::clone(&memory));
        bench.pool.on_refusal(move |refusal| {
            assert!(matches!(refusal, Error::OverLimit(_)), "{refusal}");
            seen.fetch_add(1, Ordering::Relaxed);
            match spare.lock().unwrap().take() {
                // SAFETY: nothing uses it.
                Some((block, stream)) => unsafe { block.free(&stream) }.unwrap(),
                // Then the graph's memory, which the next refused request is in.
                None => drop(graph.lock().unwrap().take()),
            }
            true
        });
        let first = bench.take(32 * MIB);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(memory.lock().unwrap().as_ref().unwrap().mapped().unwrap() >= 32 * MIB);
        let refused = bench.pool.allocate_raw(40 * MIB, 1, &bench.stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 1 + 64);
        assert!(memory.lock().unwrap().is_none());
        bench.put(first);
        bench.pool.on_refusal(|_| false);
        bench.put(bench.take(60 * MIB));
        drop(other);
        bench.finish();
    }
}

// Without it a second memory for the graph of one stream would cost a whole pool, to be refused.
#[test]
fn a_second_graph_memory_of_a_stream_is_refused_before_it_is_made() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(2 * MIB), bench.stream());
    let memory = pool.graph_memory(&stream).unwrap();
    let made = || bench.faults.count(id::cuMemGetAllocationGranularity);
    let before = made();
    let second = pool.graph_memory(&stream);
    assert!(matches!(second, Err(Error::Invalid { .. })), "{second:?}");
    assert_eq!(made(), before);
    drop((memory, pool, stream));
    bench.finish();
}
