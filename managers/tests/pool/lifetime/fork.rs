//! The child of a fork has a copy of its parent's pools, and of the locks that threads held.
#![cfg(unix)]

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_core::OverBudget;
use cupola_managers::Error;
use cupola_managers::interop::{ExternalMemory, ExternalMemoryConfig};
use cupola_managers::pool::{Backing, DeviceLimit, SharedBudget};
use cupola_managers::vmm::ImportCharge;

use crate::*;

// Without it a child could wait for ever for a lock of its parent's pool, or unmap its memory.
#[test]
fn a_child_is_refused_and_may_drop_everything() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = bench_on(backing);
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        let (other, large) = (bench.pool(64 << 20), bench.pool(64 << 20));
        // A magazine may take the first; the second goes past them, to a lock that threads take.
        let blocks = [1 << 20, 5 << 20].map(|bytes| pool.allocate_raw(bytes, 256, &stream));
        let mut blocks = Some(blocks.map(Result::unwrap));
        let captured = bench.stream();
        let graph = large.graph_memory(&captured).unwrap();
        let buffers = [(); 3].map(|()| other.allocate::<u8>(5 << 20, &stream).unwrap());
        let mut kept = Some((buffers, other, large, graph));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // These are within the pool's locks, and in caches of their own, most of the time.
            for seed in 0..3 {
                let (pool, bench, done) = (&pool, &bench, &done);
                scope.spawn(move || {
                    let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                    while !done.load(Ordering::Relaxed) {
                        let bytes = 1 + (random.below(8 << 20) >> random.below(16));
                        pool.on_refusal(|_| false);
                        let name = ["one", "two", "three"][random.index(3)];
                        if let Ok(block) = pool.allocate_raw_named(name, bytes, 256, &stream) {
                            free(block, &stream);
                        }
                    }
                });
            }
            for round in 0..20 {
                std::thread::sleep(Duration::from_millis(1));
                // SAFETY: the child runs this thread's code alone, and leaves without running
                // anything else.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    // SAFETY: takes no pointers; a child that hangs is ended.
                    unsafe { libc::alarm(20) };
                    let before = bench.faults.counts();
                    let (_, _, large, graph) = kept.as_ref().unwrap();
                    let refused = [
                        pool.allocate_raw(100, 256, &stream).map(drop).err(),
                        pool.allocate_raw(3 << 20, 512, &stream).map(drop).err(),
                        large.allocate::<u8>(100, &stream).map(drop).err(),
                        pool.allocate_named::<u8>("one", 100, &stream)
                            .map(drop)
                            .err(),
                        pool.allocate_raw_named("two", 100, 256, &stream)
                            .map(drop)
                            .err(),
                        pool.graph_memory(&stream).map(drop).err(),
                        pool.record(1).err(),
                        pool.take_recording().map(drop).err(),
                        pool.history().map(drop).err(),
                        pool.layout().map(drop).err(),
                        pool.trim().err(),
                        pool.set_limit(0).err(),
                        pool.usage().err(),
                        pool.available().err(),
                    ];
                    let refused = refused.iter().all(|error| *error == Some(Error::Forked));
                    pool.on_refusal(|_| true);
                    let _looked = (pool.named(), pool.pressure_level(), pool.mapped());
                    let _looked = (pool.account(), pool.limit(), pool.describe());
                    let buffers = bench.context.buffers();
                    let _looked = (buffers.handles().count(), buffers.live(), buffers.stats());
                    let refused = refused && graph.held() == 0 && graph.mapped().is_err();
                    // SAFETY: nothing uses the blocks here.
                    let free =
                        |block: RawBlock| unsafe { block.free(&stream) }.map_err(Error::from);
                    let freed = blocks.take().unwrap().map(free);
                    // A magazine of the child's own copy may take one.
                    let refused = refused
                        && matches!(freed, [Ok(()) | Err(Error::Forked), Err(Error::Forked)]);
                    drop(kept.take());
                    let silent = bench.faults.counts() == before;
                    let code = i32::from(!refused) + 2 * i32::from(!silent);
                    // SAFETY: ends the child at once.
                    unsafe { libc::_exit(code) };
                }
                let mut status = -1;
                // SAFETY: `status` outlives the call.
                let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(waited, child);
                if status != 0 {
                    done.store(true, Ordering::Relaxed);
                }
                assert_eq!(
                    status, 0,
                    "round {round}: 256: not refused, 512: the driver was called, 14: it hung"
                );
            }
            done.store(true, Ordering::Relaxed);
        });
        blocks
            .into_iter()
            .flatten()
            .for_each(|block| free(block, &stream));
        drop((kept, pool, stream, captured));
        bench.finish();
    }
}

// Without it a block in a child would go to a pool that is gone, when that was dropped first.
#[test]
fn a_child_may_drop_pools_before_their_blocks() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = bench_on(backing);
        let stream = bench.stream();
        for (bytes, in_graph) in [(100, false), (5 << 20, false), (100, true), (5 << 20, true)] {
            let pool = bench.pool(64 << 20);
            let memory = in_graph.then(|| pool.graph_memory(&stream).unwrap());
            let mut buffer = Some(pool.allocate::<u8>(bytes, &stream).unwrap());
            if let Some(memory) = &memory {
                memory.end();
            }
            let mut handles = Some((pool, memory));
            // SAFETY: the child runs this thread's code alone, and leaves without running
            // anything else.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: takes no pointers; a child that hangs is ended.
                unsafe { libc::alarm(20) };
                drop(handles.take());
                drop(buffer.take());
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(0) };
            }
            let mut status = -1;
            // SAFETY: `status` outlives the call.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!((waited, status), (child, 0), "{bytes} bytes, {in_graph}");
            drop((handles, buffer));
        }
        drop(stream);
        bench.finish();
    }
}

/// An account of processes that keeps the thread which charges it, and so the limit's turn, as long as the test
/// wants.
#[derive(Debug, Default)]
struct SlowAccount {
    is_charging: AtomicBool,
    may_go_on: AtomicBool,
}

impl SharedBudget for SlowAccount {
    fn charge(&self, _bytes: u64) -> Result<(), OverBudget> {
        self.is_charging.store(true, Ordering::Relaxed);
        while !self.may_go_on.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn release(&self, _bytes: u64) {}

    fn used(&self) -> u64 {
        0
    }

    fn limit(&self) -> u64 {
        u64::MAX
    }

    fn reclaim(&self) -> u64 {
        0
    }
}

// Without it a child would spin for ever where a thread of its parent was just charging the limit.
#[test]
fn a_child_does_not_wait_for_its_parents_turn_at_a_limit() {
    let bench = bench_on(Backing::Pages);
    let (account, stream) = (Arc::new(SlowAccount::default()), bench.stream());
    let shared = Arc::clone(&account) as Arc<dyn SharedBudget>;
    let limit = DeviceLimit::within(64 << 20, shared);
    let memory = bench.context.virtual_memory(&limit).unwrap();
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(64 << 20).within(&limit))
        .unwrap();
    let page = memory.granularity();
    let file = || File::open("/dev/null").unwrap().into();
    std::thread::scope(|scope| {
        let charging = scope.spawn(|| memory.create(page));
        while !account.is_charging.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // SAFETY: the child runs this thread's code alone, and leaves without running anything else.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: takes no pointers; a child that hangs is ended.
            unsafe { libc::alarm(20) };
            let external = ExternalMemoryConfig::new(page).within(&limit);
            let refused = [
                memory.create(page).map(drop).err(),
                memory.create_exportable(page).map(drop).err(),
                memory
                    .import(file(), page, ImportCharge::ThisLimit)
                    .map(drop)
                    .err(),
                // SAFETY: the descriptor is of no memory.
                unsafe { ExternalMemory::import(&bench.context, file(), external) }
                    .map(drop)
                    .err(),
                pool.allocate_raw(3 << 20, 512, &stream).map(drop).err(),
                pool.available().err(),
            ];
            let refused = refused.iter().all(|error| *error == Some(Error::Forked));
            let _looked = (pool.pressure_level(), limit.used(), limit.pressure_level());
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        account.may_go_on.store(true, Ordering::Relaxed);
        assert_eq!(
            (waited, status),
            (child, 0),
            "256: not refused, 14: it hung"
        );
        drop(charging.join().unwrap().unwrap());
    });
    drop((pool, memory, stream));
    bench.finish();
}
