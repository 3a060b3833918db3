use cupola_sys::driver::{CUresult, id};

use super::*;
use crate::ops;
use crate::pool::{MemoryPool, PoolConfig, Source};
use crate::test_bench::{PoolBench, hold};

const MIB: u64 = 1 << 20;

/// The layout, which adds up.
fn layout_of(pool: &MemoryPool) -> Layout {
    let layout = pool.layout().unwrap();
    let mut end = 0;
    for block in &layout.blocks {
        assert!(block.address >= end && block.bytes > 0, "{block:?}");
        end = block.address + block.bytes;
    }
    let backed = layout.regions.iter().flat_map(|region| &region.runs);
    let backed = backed.filter(|run| run.state != RunState::Bare);
    let backed: u64 = backed.map(|run| run.bytes).sum();
    let blocks: u64 = layout.blocks.iter().map(|block| block.bytes).sum();
    assert_eq!(backed, blocks);
    assert!(backed <= layout.mapped && layout.mapped <= layout.limit);
    layout
}

fn sum(layout: &Layout, state: BlockState) -> u64 {
    let blocks = layout.blocks.iter().filter(|block| block.state == state);
    blocks.map(|block| block.bytes).sum()
}

#[track_caller]
fn find(layout: &Layout, address: u64) -> Block {
    let mut blocks = layout.blocks.iter();
    *blocks.find(|block| block.address == address).unwrap()
}

// Without it a picture of the pool could leave memory out, count it twice, or say the wrong
// thing of it.
#[test]
fn every_mapped_byte_is_in_one_block() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    assert_eq!(layout_of(&bench.pool).blocks, []);
    let other = bench.base.stream();
    let buffer = bench.pool.allocate_named::<u8>("weights", 5 << 20, &other);
    let buffer = buffer.unwrap();
    let raw = bench.take(9 * MIB - 100);
    let small = bench.take(300);
    let exact = bench.take(100_000);
    let (small_at, exact_at) = (small.address(), exact.address());
    bench.put(exact);
    bench.put(small);

    let layout = layout_of(&bench.pool);
    let block = find(&layout, buffer.as_raw());
    assert_eq!(
        (block.state, block.requested, block.name),
        (BlockState::Live, 5 << 20, Some("weights"))
    );
    assert_eq!((block.buffer, block.stream), (Some(other.handle()), 0));
    let block = find(&layout, raw.address());
    assert_eq!(
        (block.requested, block.stream, block.buffer),
        (9 * MIB - 100, bench.stream.serial(), None)
    );
    for at in [small_at, exact_at] {
        let block = find(&layout, at);
        assert_eq!((block.state, block.requested), (BlockState::Cached, 0));
        assert_eq!(block.stream, bench.stream.serial());
    }
    assert!(sum(&layout, BlockState::Slot) > 0);
    assert!(sum(&layout, BlockState::Ready) > 0);
    assert_eq!(sum(&layout, BlockState::Live), (5 << 20) + raw.bytes());

    drop(buffer);
    bench.put(raw);
    bench.pool.trim().unwrap();
    let layout = layout_of(&bench.pool);
    assert_eq!(sum(&layout, BlockState::Live), 0);
    assert_eq!(sum(&layout, BlockState::Cached), 0);
}

// Without it memory that work still uses could be drawn as free.
#[test]
fn what_work_may_still_use_is_pending() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let block = bench.take(10 * MIB);
    let held = hold(&bench.stream);
    let at = block.address();
    bench.put(block);
    let pending = find(&layout_of(&bench.pool), at);
    assert_eq!(pending.state, BlockState::Pending);
    assert_eq!(pending.stream, bench.stream.serial());
    drop(held);
    ops::synchronize(&bench.stream).unwrap();
    bench.pool.trim().unwrap();
    assert_eq!(sum(&layout_of(&bench.pool), BlockState::Pending), 0);
}

// Without it a chunk that was given back could be drawn as memory.
#[test]
fn chunks_that_were_given_back_are_no_memory() {
    let mut config = PoolConfig::limit(128 * MIB);
    config.source = Source::Chunks;
    let bench = PoolBench::new(config);
    let first = bench.take(40 * MIB);
    let second = bench.take(40 * MIB);
    bench.put(first);
    bench.pool.trim().unwrap();
    let layout = bench.pool.layout().unwrap();
    let live = find(&layout, second.address());
    assert_eq!(live.state, BlockState::Live);
    let all: u64 = layout.blocks.iter().map(|block| block.bytes).sum();
    assert_eq!(all, layout.mapped);
    bench.put(second);
}

// Without it looking at a pool could stop it, or find it in the middle of something.
#[test]
fn a_pool_may_be_looked_at_under_load() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    std::thread::scope(|scope| {
        let bench = &bench;
        let loads: Vec<_> = (0..2_u64)
            .map(|thread| {
                scope.spawn(move || {
                    for round in 0..2000 {
                        let bytes = [300, 9000, 3 * MIB][(round + thread) as usize % 3];
                        bench.put(bench.take(bytes));
                    }
                })
            })
            .collect();
        while loads.iter().any(|load| !load.is_finished()) {
            layout_of(&bench.pool);
        }
    });
}

// Without it memory that no user will ever get could be drawn as kept for reuse.
#[test]
fn what_is_withheld_is_not_cached() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let table = &bench.base.faults;
    let other = bench.base.stream();
    let buffer = bench.pool.allocate::<u8>(5 << 20, &bench.stream).unwrap();
    let lost = buffer.as_raw();
    buffer.used_on(&other).unwrap();
    // Else no stream has to wait for another.
    let memory = bench.pool.graph_memory(&other).unwrap();
    let unknown = CUresult::CUDA_ERROR_UNKNOWN;
    table.reset();
    table.fail_from(id::cuStreamWaitEvent, 1, unknown);
    table.fail_from(id::cuStreamSynchronize, 1, unknown);
    drop(buffer);
    table.reset();
    drop(memory);
    assert_eq!(
        find(&layout_of(&bench.pool), lost).state,
        BlockState::Abandoned
    );

    let held = [bench.take(9 * MIB), bench.take(300)];
    let addresses = [0, 1].map(|at: usize| held[at].address());
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    held.into_iter().for_each(|block| bench.put(block));
    for at in addresses {
        let block = find(&layout_of(&bench.pool), at);
        assert_eq!((block.state, block.requested), (BlockState::Held, 0));
    }
    drop(memory);
    ops::synchronize(&bench.stream).unwrap();
    bench.pool.trim().unwrap();
    let layout = layout_of(&bench.pool);
    let states: Vec<_> = layout.blocks.iter().map(|block| block.state).collect();
    assert!(!states.contains(&BlockState::Held) && !states.contains(&BlockState::Cached));
    assert_eq!(find(&layout, lost).state, BlockState::Abandoned);
}
