//! The pool on a device whose work can be held up.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

use super::*;
use crate::pool::cache::thread_cache::{RevokedCache, ThreadCache};
use crate::pool::heap::block_name;
use crate::stream::Stream;
use crate::{Context, Error, ExecutionManager, Live, ops};

const PAGE: u64 = 2 << 20;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

struct Bench {
    table: FaultTable,
    execution: ExecutionManager,
    context: Context,
}

impl Bench {
    fn new() -> Self {
        let table = FaultTable::new(Machine::builder().worker_threads(2).build().driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        table.reset();
        Self {
            table,
            execution,
            context,
        }
    }

    /// A pool that does not wait on the host.
    fn pool(&self, pages: u64, source: Source) -> MemoryPool {
        let config = PoolConfig {
            wait: Duration::ZERO,
            source,
            ..PoolConfig::limit(pages * PAGE)
        };
        self.context.memory_pool(config).unwrap()
    }

    fn stream(&self) -> Stream {
        self.context.streams().create(Default::default()).unwrap()
    }

    /// Everything that the test has is gone: so is everything of the driver's.
    fn check_empty(self) {
        let watch = self.execution.watch();
        drop((self.context, self.execution));
        assert_eq!(watch.live(), Live::default());
    }
}

/// Puts work on the stream that lasts until something is sent, or the sender dropped.
fn block(stream: &Stream) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    ops::host_function(stream, move || {
        let _ = released.recv();
    })
    .unwrap();
    release
}

fn free(block: RawBlock, stream: &Stream) {
    // SAFETY: all work that uses the block is on the stream.
    unsafe { block.free(stream) }.unwrap();
}

// Without it a page could be unmapped under work that still uses it, because another block of
// the page was given back late and with an older stamp.
#[test]
fn a_page_waits_for_the_last_work_on_it() {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let pool = bench.pool(2, Source::Best);
    // A slab that is free as a whole, and complete: its slots come back when the thread ends.
    std::thread::scope(|scope| {
        // Joined: the scope alone does not wait for the thread's end.
        let work = || free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
        scope.spawn(work).join().unwrap();
    });
    ops::synchronize(&stream).unwrap();
    // The rest of its page is used until the work ends.
    let rest = pool.allocate_raw(PAGE - (64 << 10), 1, &stream).unwrap();
    assert_eq!((rest.address() % PAGE, pool.mapped()), (64 << 10, PAGE));
    let release = block(&stream);
    free(rest, &stream);
    let refused = pool.allocate_raw(2 * PAGE, 1, &other);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(bench.table.count(id::cuMemUnmap), 0);
    release.send(()).unwrap();
    ops::synchronize(&stream).unwrap();
    free(pool.allocate_raw(2 * PAGE, 1, &other).unwrap(), &other);
    assert_eq!(pool.mapped(), 2 * PAGE);
    drop((pool, stream, other));
    bench.check_empty();
}

// Without it a pool of chunks would never end once it had given a chunk back.
#[test]
fn chunks_that_were_given_back_do_not_keep_a_pool() {
    let bench = Bench::new();
    let stream = bench.stream();
    let pool = bench.pool(64, Source::Chunks);
    let blocks = [(); 2].map(|()| pool.allocate_raw(20 << 20, 1, &stream).unwrap());
    let [kept, gone] = blocks;
    free(gone, &stream);
    assert_eq!(pool.trim(), Ok(32 << 20));
    // Blocks that only stand for a chunk do not count as out.
    assert!(pool.usage().unwrap().peak_held < 41 << 20);
    free(kept, &stream);
    drop(pool);
    assert_eq!(bench.table.count(id::cuMemFree_v2), 2);
    drop(stream);
    bench.check_empty();
}

// Without it a request could be refused although all memory is free, in chunks too small for it.
#[test]
fn idle_chunks_make_room_for_a_larger_one() {
    let bench = Bench::new();
    let stream = bench.stream();
    let pool = bench.pool(32, Source::Chunks);
    free(pool.allocate_raw(20 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    // At addresses that the driver may have given before, in another shape.
    free(pool.allocate_raw(48 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    free(pool.allocate_raw(60 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    assert_eq!(pool.mapped(), 60 << 20);
    pool.trim().unwrap();
    let blocks = [(); 2].map(|()| pool.allocate_raw(20 << 20, 1, &stream).unwrap());
    assert_eq!(pool.mapped(), 64 << 20);
    for block in blocks {
        free(block, &stream);
    }
    drop((pool, stream));
    bench.check_empty();
}

// Without it the failure of another pool's context would refuse memory that this one could have.
#[test]
fn what_ails_another_pool_does_not_refuse_a_request() {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let limit = DeviceLimit::new(2 * PAGE);
    let pools = [(); 2].map(|()| {
        let config = PoolConfig::limit(2 * PAGE).within(&limit);
        bench.context.memory_pool(config).unwrap()
    });
    free(pools[0].allocate_raw(PAGE, 1, &stream).unwrap(), &stream);
    let block = pools[1].allocate_raw(PAGE, 1, &other).unwrap();
    // The first thing that the other pool is asked for.
    let release = self::block(&other);
    bench.table.fail_from(id::cuMemRelease, 1, UNKNOWN);
    let refused = pools[1].allocate_raw(PAGE, 1, &other);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    bench.table.reset();
    drop(release);
    let more = pools[1].allocate_raw(PAGE, 1, &other).unwrap();
    assert_eq!(limit.used(), 2 * PAGE);
    free(more, &other);
    free(block, &other);
    drop((pools, stream, other));
    bench.check_empty();
}

// Without it a request would wait for its own stream alone, while its memory is free as soon as
// another stream's work ends.
#[test]
fn a_request_waits_for_whichever_stream_is_first() {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let config = PoolConfig {
        wait: Duration::from_secs(20),
        ..PoolConfig::limit(2 * PAGE)
    };
    let pool = bench.context.memory_pool(config).unwrap();
    let own = pool.allocate_raw(PAGE / 2, 1, &stream).unwrap();
    let theirs = pool.allocate_raw(PAGE, 1, &other).unwrap();
    let (held, release) = (block(&stream), block(&other));
    free(own, &stream);
    free(theirs, &other);
    let begin = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            drop(release);
        });
        // Not aligned to the other stream's blocks: only a page that is unmapped there will do.
        let block = pool.allocate_raw(PAGE + PAGE / 4, 1, &stream).unwrap();
        free(block, &stream);
    });
    assert!(begin.elapsed() < Duration::from_secs(10));
    drop(held);
    drop((pool, stream, other));
    bench.check_empty();
}

// Without it a wrong alignment would be an error or none, by the content of the thread's cache.
#[test]
fn alignments_are_checked_on_every_way() {
    let bench = Bench::new();
    let stream = bench.stream();
    let pool = bench.pool(2, Source::Best);
    for _ in 0..2 {
        for align in [0, 3, 2 * PAGE] {
            let refused = pool.allocate_raw(1024, align, &stream);
            assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
        }
        // The second time a magazine has pieces.
        free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
    }
    drop((pool, stream));
    bench.check_empty();
}

// Without it a child could wait for ever for a lock that a thread of its parent's had at the fork.
#[cfg(unix)]
#[test]
fn a_child_takes_no_lock_for_a_name_or_a_callback() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(1, Source::Best), bench.stream());
    let held = (
        crate::sync::lock(block_name::all()),
        pool.pool().observer.lock_callback(),
    );
    // SAFETY: the child runs this thread's code alone, and leaves without running anything else.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: takes no pointers; a child that hangs is ended.
        unsafe { libc::alarm(5) };
        let refused = [
            pool.allocate_named::<u8>("of a fork", 1, &stream).map(drop),
            pool.allocate_raw_named("of a fork", 1, 1, &stream)
                .map(drop),
        ];
        pool.on_refusal(|_| false);
        let refused = refused.iter().all(|got| *got == Err(Error::Forked));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    drop(held);
    assert_eq!(waited, child);
    assert_eq!(status, 0, "14: it hung, 256: it was not refused");
    drop((pool, stream));
    bench.check_empty();
}

// Without it a caller that looks at a pool, and each thread that ends, would pay for every cache
// that there is with a call that interrupts all processors.
#[test]
fn all_lanes_cost_one_barrier_and_a_thread_that_ends_pays_none() {
    use crate::sync::asymmetric_fence::tests::PAID;
    let bench = Bench::new();
    let pool = bench.pool(64, Source::Best);
    let streams: Vec<_> = (0..50).map(|_| bench.stream()).collect();
    let on_all = || {
        for stream in &streams {
            free(pool.allocate_raw(256, 1, stream).unwrap(), stream);
        }
    };
    on_all();
    let paid = |work: &dyn Fn()| {
        let before = PAID.get();
        work();
        PAID.get() - before
    };
    streams
        .iter()
        .for_each(|stream| ops::synchronize(stream).unwrap());
    assert_eq!(paid(&|| pool.pool().drain()), 1);
    assert_eq!(paid(&|| drop(pool.layout().unwrap())), 1);
    let look = || assert_eq!(pool.pool().mapped_gauges().counters.buffers().0, 0);
    assert_eq!(paid(&look), 1);
    assert_eq!(paid(&|| pool.record(10).unwrap()), 1);
    drop(pool.take_recording().unwrap());
    let other = std::thread::scope(|scope| {
        // Runs after this thread's caches are gone, which were made after it.
        struct Tell(std::cell::Cell<Option<mpsc::Sender<u64>>>);
        impl Drop for Tell {
            fn drop(&mut self) {
                let paid = PAID.try_with(std::cell::Cell::get);
                if let (Some(tell), Ok(paid)) = (self.0.take(), paid) {
                    let _ = tell.send(paid);
                }
            }
        }
        std::thread_local! {
            static TELL: Tell = const { Tell(std::cell::Cell::new(None)) };
        }
        let (tell, told) = mpsc::channel();
        let on_all = &on_all;
        scope.spawn(move || {
            TELL.with(|it| it.0.set(Some(tell)));
            on_all();
        });
        told.recv()
    });
    // Platforms whose destructors run in another order may tell nothing.
    let is_told = other.is_ok() || !cfg!(target_os = "linux");
    assert!(is_told, "the thread tells what it has paid");
    assert_eq!(other.unwrap_or(0), 0);
    assert_eq!(pool.usage().unwrap().caches, 50);
    drop((pool, streams));
    bench.check_empty();
}

// Without it a thread that must not wait would wait for another one that maps pages.
#[test]
fn a_request_that_may_not_wait_is_told_that_another_thread_maps() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(4, Source::Best), bench.stream());
    let mapper = pool.pool().pages.lock();
    let busy = pool.try_allocate_raw(PAGE, 256, &stream);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    let deadline = std::time::Instant::now() + Duration::from_millis(5);
    let busy = pool.allocate_raw_until(deadline, 100, 256, &stream);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    assert!(busy.unwrap_err().is_retryable());
    drop(mapper);
    let block = pool.try_allocate_raw(PAGE, 256, &stream).unwrap();
    free(block, &stream);
    drop((pool, stream));
    bench.check_empty();
}

// Without it a request would be refused although unused memory has just gone into the cache of
// another thread, which the request has looked through before.
#[test]
fn what_goes_into_a_lane_is_a_sign() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(1, Source::Best), bench.stream());
    let signs = || pool.pool().signs();
    let allocate = || pool.allocate_raw(256, 1, &stream).unwrap();
    // The cache has 16 at a time of the 64 of a slab.
    let mut blocks: Vec<_> = std::iter::repeat_with(allocate).take(16).collect();
    let before = signs();
    blocks.push(allocate());
    assert_ne!(signs(), before, "out of the slabs");
    let before = signs();
    blocks.extend(std::iter::repeat_with(allocate).take(15));
    assert_eq!(signs(), before, "a hit is none");
    blocks.extend(std::iter::repeat_with(allocate).take(16));
    // The cache has room for 32; the others go to the transfer cache.
    blocks.drain(..).for_each(|block| free(block, &stream));
    let before = signs();
    blocks.extend(std::iter::repeat_with(allocate).take(32));
    assert_eq!(signs(), before, "a hit is none");
    blocks.push(allocate());
    assert_ne!(signs(), before, "out of a depot");
    blocks.drain(..).for_each(|block| free(block, &stream));
    drop((pool, stream));
    bench.check_empty();
}

// Without it a request would be refused while another thread has a transfer cache's batches in its
// hands, on the way to the heap.
#[test]
fn a_batch_on_its_way_to_the_heap_is_in_no_threads_hands() {
    let gives: [fn(&MemoryPool, &Stream); 2] = [
        |pool, stream| free(pool.allocate_raw(5 << 20, 1, stream).unwrap(), stream),
        |pool, _| assert!(pool.trim().is_ok()),
    ];
    for give in gives {
        let bench = Bench::new();
        let (pool, stream) = (bench.pool(32, Source::Best), bench.stream());
        let allocate = || pool.allocate_raw(1 << 20, 1, &stream).unwrap();
        let blocks: Vec<_> = std::iter::repeat_with(allocate).take(32).collect();
        blocks.into_iter().for_each(|block| free(block, &stream));
        // Half of them is in the cache.
        let blocks: Vec<_> = std::iter::repeat_with(allocate).take(16).collect();
        let state = Arc::clone(&pool.pool().all_states()[0]);
        // SAFETY: this is the only thread that has the pool so far.
        let waiting = unsafe { state.transfer_cache().kept() };
        assert_ne!(waiting, 0);
        std::thread::scope(|scope| {
            let central = pool.pool().central.lock();
            let (is_there, there) = mpsc::channel();
            let (pool, stream) = (&pool, &stream);
            scope.spawn(move || {
                is_there.send(()).unwrap();
                give(pool, stream);
            });
            there.recv().unwrap();
            // Time to take something in its hands.
            std::thread::sleep(Duration::from_millis(50));
            // SAFETY: batches are taken out within the section that is this thread's.
            assert_eq!(unsafe { state.transfer_cache().kept() }, waiting);
            drop(central);
        });
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { state.transfer_cache().kept() }, 0);
        blocks.into_iter().for_each(|block| free(block, &stream));
        drop((state, pool, stream));
        bench.check_empty();
    }
}

// Without it a thread that uses many streams, or two whose numbers are some power of two apart,
// would take the pool's locks for each allocation and free that a magazine serves.
#[test]
fn a_hit_takes_no_lock_however_many_streams_a_thread_uses() {
    let bench = Bench::new();
    let pool = bench.pool(64, Source::Best);
    let streams: Vec<_> = (0..300).map(|_| bench.stream()).collect();
    let use_all = || {
        for stream in &streams {
            free(pool.allocate_raw(1024, 1, stream).unwrap(), stream);
        }
    };
    let (warm, is_warm) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    let (over, is_over) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            use_all();
            warm.send(()).unwrap();
            gone.recv().unwrap();
            use_all();
            over.send(()).unwrap();
        });
        is_warm.recv().unwrap();
        let pool = pool.pool();
        let locks = (pool.streams.table(), pool.caches.lock());
        let central = pool.central.lock();
        go.send(()).unwrap();
        let done = is_over.recv_timeout(Duration::from_secs(20));
        drop((central, locks));
        assert!(done.is_ok(), "a hit waits for a lock");
    });
    let usage = pool.usage().unwrap();
    assert_eq!(
        (usage.allocations, usage.misses, usage.detours),
        (600, 300, 0)
    );
    drop((pool, streams));
    bench.check_empty();
}

// Without it a hit that took the slow way would look like any other.
#[test]
fn hits_off_the_hit_path_are_told() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(4, Source::Best), bench.stream());
    let pair = || free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
    (0..3).for_each(|_| pair());
    assert_eq!(pool.usage().unwrap().detours, 0);
    pool.record(16).unwrap();
    pair();
    let usage = pool.usage().unwrap();
    assert_eq!((usage.detours, usage.misses, usage.spills), (2, 1, 0));
    drop((pool, stream));
    bench.check_empty();
}

// Without it an allocation under a name that was made before would take the lock that all pools of
// the process share.
#[test]
fn a_name_that_was_made_is_used_without_a_lock() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(1, Source::Best), bench.stream());
    let name = pool.name(&format!("{} {}", "made", "late")).unwrap();
    assert_eq!(pool.name("made late"), Ok(name));
    let (over, is_over) = mpsc::channel();
    let held = crate::sync::lock(block_name::all());
    std::thread::scope(|scope| {
        let (pool, stream) = (&pool, &stream);
        scope.spawn(move || {
            let raw = pool.allocate_raw_named(name, 100, 1, stream).unwrap();
            let buffer = pool.allocate_named::<u32>(name, 25, stream).unwrap();
            let named = pool.named();
            free(raw, stream);
            drop(buffer);
            over.send(named).unwrap();
        });
        let named = is_over.recv_timeout(Duration::from_secs(20));
        drop(held);
        let usage = NamedUsage {
            blocks: 2,
            bytes: 200,
        };
        assert_eq!(named, Ok(vec![("made late", usage)]));
    });
    drop((pool, stream));
    bench.check_empty();
}

// Without it the slots that a thread takes at once, and those that it frees while the pool is
// recorded, would be in its magazines, where no thread gives them back, though the pool is over its
// limit.
#[test]
fn threads_keep_nothing_small_either_over_a_lowered_limit() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(8, Source::Best), bench.stream());
    let kept = || -> u64 {
        let caches = pool.pool().caches.lock();
        let seized = ThreadCache::revoke_all(&caches);
        seized.iter().map(RevokedCache::kept).sum()
    };
    let large = pool.allocate_raw(4 * PAGE, 1, &stream).unwrap();
    let first = pool.allocate_raw(1024, 1, &stream).unwrap();
    assert_ne!(kept(), 0);
    // Full magazines of another thread, on their way.
    std::thread::scope(|scope| {
        let work = || {
            let blocks: Vec<_> = (0..200)
                .map(|_| pool.allocate_raw(1024, 1, &stream).unwrap())
                .collect();
            blocks.into_iter().for_each(|block| free(block, &stream));
        };
        scope.spawn(work).join().unwrap();
    });
    pool.set_limit(PAGE).unwrap();
    for recorded in [false, true] {
        if recorded {
            pool.record(16).unwrap();
        }
        let blocks: Vec<_> = (0..40)
            .map(|_| {
                let block = pool.allocate_raw(1024, 1, &stream).unwrap();
                assert_eq!(kept(), 0);
                block
            })
            .collect();
        for block in blocks {
            free(block, &stream);
            assert_eq!(kept(), 0);
        }
    }
    for block in [first, large] {
        free(block, &stream);
    }
    drop((pool, stream));
    bench.check_empty();
}

// Without it a block whose free was refused before anything happened would be out for ever, and
// with it the whole pool and its charge.
#[test]
fn a_free_that_is_refused_gives_the_block_back() {
    let (bench, elsewhere) = (Bench::new(), Bench::new());
    let (pool, stream) = (bench.pool(1, Source::Best), bench.stream());
    let theirs = elsewhere.stream();
    let free_there = |block: RawBlock| -> crate::Result<()> {
        // SAFETY: nothing uses the block.
        unsafe { block.free(&theirs) }?;
        Ok(())
    };
    for bytes in [1024, PAGE] {
        let block = pool.allocate_raw(bytes, 1, &stream).unwrap();
        let address = block.address();
        // SAFETY: nothing uses the block.
        let refused = unsafe { block.free(&theirs) }.unwrap_err();
        assert!(matches!(refused.error(), Error::WrongContext { .. }));
        assert_eq!(refused.to_string(), refused.error().to_string());
        let block = refused.into_inner();
        assert_eq!(block.address(), address);
        assert_eq!(pool.usage().unwrap().blocks, 1);
        free(block, &stream);
        assert_eq!(pool.usage().unwrap().blocks, 0);
    }
    let nothing = pool.allocate_raw(0, 1, &stream).unwrap();
    assert!(matches!(
        free_there(nothing),
        Err(Error::WrongContext { .. })
    ));
    assert_eq!(pool.usage().unwrap().blocks, 1, "leaked, as with a drop");
    drop((stream, theirs));
    let _kept = std::mem::ManuallyDrop::new((pool, bench));
    elsewhere.check_empty();
}

// Without it a second memory for the graph of one stream would cost a whole pool, to be refused.
#[test]
fn a_second_graph_memory_of_a_stream_is_refused_before_it_is_made() {
    let bench = Bench::new();
    let (pool, stream) = (bench.pool(1, Source::Best), bench.stream());
    let memory = pool.graph_memory(&stream).unwrap();
    let made = || bench.table.count(id::cuMemGetAllocationGranularity);
    let before = made();
    let second = pool.graph_memory(&stream);
    assert!(matches!(second, Err(Error::Invalid { .. })), "{second:?}");
    assert_eq!(made(), before);
    drop((memory, pool, stream));
    bench.check_empty();
}

// Without it a thread that must not wait would be told to come back later, though its memory is
// there and takes no page.
#[test]
fn what_needs_no_page_is_had_while_another_thread_maps() {
    let bench = Bench::new();
    let pool = bench.pool(4, Source::Best);
    let (stream, other) = (bench.stream(), bench.stream());
    // On a thread of its own, whose caches are emptied with it.
    std::thread::scope(|scope| {
        let work = || free(pool.allocate_raw(1000, 1, &stream).unwrap(), &stream);
        scope.spawn(work).join().unwrap();
    });
    ops::synchronize(&stream).unwrap();
    pool.pool().close_and_poll_soon().unwrap();
    // All else is taken: no slab can be made of it.
    let rest: Vec<_> = std::iter::from_fn(|| {
        let block = pool.try_allocate_raw(PAGE / 4, 256, &other);
        block.ok()
    })
    .collect();
    let mapper = pool.pool().pages.lock();
    let slot = pool.try_allocate_raw(1000, 1, &other).unwrap();
    let busy = pool.try_allocate_raw(PAGE, 1, &other);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    drop(mapper);
    free(slot, &other);
    rest.into_iter().for_each(|block| free(block, &other));
    drop((pool, stream, other));
    bench.check_empty();
}

// Without it a request of one chunk would cost all those that are smaller, and a wait for all work
// of the context for each.
#[test]
fn the_chunk_that_is_enough_goes_alone() {
    let bench = Bench::new();
    let (stream, pool) = (bench.stream(), bench.pool(200, Source::Chunks));
    let sizes = [40 << 20, 72 << 20, 100 << 20];
    let blocks = sizes.map(|bytes| pool.allocate_raw(bytes, 1, &stream).unwrap());
    blocks.into_iter().for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    pool.pool().drain();
    pool.pool().close_and_poll_soon().unwrap();
    let frees = || bench.table.count(id::cuMemFree_v2);
    let chunks = || {
        let mapper = pool.pool().pages.lock();
        let there = mapper.chunks().backed();
        let mut sizes: Vec<_> = there.map(|chunk| chunk.bytes() >> 20).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(chunks(), [40, 72, 100]);
    let release = |bytes| {
        let mut mapper = pool.pool().pages.lock();
        pool.pool().release_chunks(&mut mapper, bytes).unwrap();
    };
    release(50 << 20);
    assert_eq!((frees(), chunks()), (1, vec![40, 100]));
    release(120 << 20);
    assert_eq!((frees(), chunks()), (3, vec![]));
    drop((pool, stream));
    bench.check_empty();
}
