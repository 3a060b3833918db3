//! Every driver call that a pool makes fails once, each with codes of three kinds.

use std::collections::BTreeSet;

use cupola_managers::memory::{Backing, DeviceLimit};
use cupola_managers::{PoisonPolicy, Result};
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, SYMBOLS};

use super::*;

/// A block that is freed whatever happens.
struct Kept<'s>(Option<RawBlock>, &'s Stream);

impl<'s> Kept<'s> {
    fn new(pool: &MemoryPool, bytes: u64, stream: &'s Stream) -> Result<Self> {
        let block = pool.allocate_raw(bytes, 256, stream)?;
        Ok(Self(Some(block), stream))
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            free(block, self.1);
        }
    }
}

/// Grows, shrinks, gives back, and takes from the other stream.
fn life(pool: &MemoryPool, limit: u64, [one, two]: [&Stream; 2]) -> Result<()> {
    pool.set_limit(limit)?;
    let kept = Kept::new(pool, 300, one)?;
    for bytes in [10_000, PAGE / 2, 3 * PAGE] {
        Kept::new(pool, bytes, one)?;
    }
    let other = Kept::new(pool, 3 * PAGE, two)?;
    pool.trim()?;
    drop(other);
    pool.available()?;
    pool.set_limit(limit / 2)?;
    Kept::new(pool, PAGE, two)?;
    drop(kept);
    pool.trim().map(drop)
}

// Without it a path that runs only when something fails could leak memory, charge it twice or
// not at all, or leave a pool that works no more.
#[test]
fn every_call_of_a_pool_may_fail() {
    for (backing, limit) in [(Backing::Pages, 4 * PAGE), (Backing::Chunks, 40 * PAGE)] {
        let mut done = BTreeSet::new();
        for k in 1.. {
            let bench = Bench::new(backing);
            let (pool, one, two) = (bench.pool(limit), bench.stream(), bench.stream());
            bench.table.reset();
            life(&pool, limit, [&one, &two]).unwrap();
            let counts = bench.table.counts();
            drop((pool, one, two));
            bench.finish();
            let left: Vec<_> = counts
                .into_iter()
                .filter(|&(_, count)| count >= k)
                .map(|(function, _)| function)
                .collect();
            if left.is_empty() {
                break;
            }
            for function in left {
                done.insert(function);
                for code in [
                    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
                    CUresult::CUDA_ERROR_OPERATING_SYSTEM,
                    CUresult::CUDA_ERROR_LAUNCH_FAILED,
                ] {
                    case(backing, limit, (function, k, code));
                }
            }
        }
        let names = done.iter().map(|id| SYMBOLS[usize::from(id.0)].as_str());
        let names: Vec<_> = names.collect();
        println!("{backing}: {names:?}");
        let asked = if backing == Backing::Pages { 12 } else { 7 };
        assert!(names.len() >= asked, "{names:?}");
    }
}

fn case(backing: Backing, limit: u64, (function, k, code): (SymbolId, u64, CUresult)) {
    let name = SYMBOLS[usize::from(function.0)].as_str();
    let bench = Bench::new(backing);
    let (pool, one, two) = (bench.pool(limit), bench.stream(), bench.stream());
    bench.table.reset();
    bench.table.fail(function, k, code);
    let outcome = life(&pool, limit, [&one, &two]);
    let what = format!("{backing}, {name} call {k} {code:?}: {outcome:?}");
    if let Err(error) = &outcome {
        assert_eq!(error.status(), Some(code), "{what}");
    }
    bench.table.reset();
    assert_eq!(pool.mapped(), bench.on_device(), "{what}");
    let lost = bench.context.poison().is_some();
    if lost {
        pool.allocate_raw(1, 1, &one).unwrap_err();
    } else {
        assert_eq!(pool.usage().unwrap().live, 0, "{what}");
        life(&pool, limit, [&one, &two]).unwrap_or_else(|error| panic!("{what}: then {error}"));
        assert_eq!(pool.mapped(), bench.on_device(), "{what}");
    }
    drop((pool, one, two));
    assert_eq!(bench.on_device(), 0, "{what}");
    let watch = bench.execution.watch();
    let Bench {
        context,
        execution,
        table,
        machine,
    } = bench;
    drop((context, execution, table));
    assert!(watch.live().is_empty(), "{what}: {:?}", watch.live());
    assert_eq!(machine.leaks(), None, "{what}");
}

// Without it a pool whose end meets an error could keep everything for itself.
#[test]
fn the_end_of_a_pool_gives_back_all_it_can() {
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for (function, left) in [
        (id::cuMemUnmap, PAGE),
        (id::cuMemRelease, PAGE),
        (id::cuMemAddressFree, 0),
    ] {
        let bench = Bench::new(Backing::Pages);
        let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
        let blocks = [(); 4].map(|()| pool.allocate_raw(PAGE, 256, &stream).unwrap());
        for block in blocks {
            free(block, &stream);
        }
        bench.table.reset();
        bench.table.fail(function, 1, code);
        drop(pool);
        assert!(bench.on_device() <= left, "{:?}", bench.machine.usage());
        assert_eq!(bench.execution.live().abandoned, 1);
    }
}

// Without it a single failed question would cost all of a pool's memory.
#[test]
fn the_end_of_a_pool_waits_again() {
    for function in [
        id::cuEventCreate,
        id::cuEventRecord,
        id::cuEventQuery,
        id::cuStreamIsCapturing,
    ] {
        let bench = Bench::new(Backing::Pages);
        let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
        free(pool.allocate_raw(PAGE, 256, &stream).unwrap(), &stream);
        bench.table.reset();
        let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        bench.table.fail_from(function, 1, code);
        drop(pool);
        assert!(bench.table.count(function) >= 1);
        bench.table.reset();
        assert_eq!(bench.on_device(), 0);
        drop(stream);
        bench.finish();
    }
}

// Without it a policy that looks at the pool would wait for a lock that its own thread has.
#[test]
fn a_policy_may_use_the_pool_whose_call_lost_the_context() {
    for function in [id::cuMemCreate, id::cuMemSetAccess, id::cuMemGetInfo_v2] {
        let bench = Bench::new(Backing::Pages);
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        let (tell, told) = channel();
        let inner = pool.clone();
        let policy = PoisonPolicy::call(move |_| {
            inner.layout().unwrap();
            let _ = inner.set_limit(PAGE);
            tell.send(()).unwrap();
        });
        bench.execution.set_poison_policy(policy);
        bench.table.reset();
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        bench.table.fail(function, 1, code);
        let request = std::thread::spawn({
            let (pool, stream) = (pool.clone(), stream.clone());
            move || drop(pool.allocate_raw(40 * PAGE, 256, &stream).unwrap_err())
        });
        told.recv_timeout(Duration::from_secs(20)).unwrap();
        request.join().unwrap();
        bench.execution.set_poison_policy(PoisonPolicy::Keep);
    }
}

// Without it the pools of other contexts would lose a lost context's share of their limit for ever,
// or take what is still on the device for room.
#[test]
fn a_limit_counts_what_a_pool_leaves_as_long_as_its_context_lives() {
    for (code, left) in [
        (CUresult::CUDA_ERROR_OPERATING_SYSTEM, PAGE),
        (CUresult::CUDA_ERROR_LAUNCH_FAILED, 0),
    ] {
        let bench = Bench::new(Backing::Pages);
        let limit = DeviceLimit::new(4 * PAGE);
        let config = PoolConfig::limit(4 * PAGE).within(&limit);
        let (pool, stream) = (bench.context.memory_pool(config).unwrap(), bench.stream());
        let blocks = [(); 4].map(|()| pool.allocate_raw(PAGE, 256, &stream).unwrap());
        for block in blocks {
            free(block, &stream);
        }
        bench.table.reset();
        bench.table.fail(id::cuMemUnmap, 1, code);
        drop(pool);
        assert_eq!(limit.used(), left, "{code:?}");
    }
}

// Without it memory that was never had would count as the most that was mapped.
#[test]
fn what_the_driver_refuses_was_never_mapped() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        bench.table.reset();
        for function in [id::cuMemCreate, id::cuMemAlloc_v2] {
            bench
                .table
                .fail_from(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        pool.allocate_raw(10 * PAGE, 256, &stream).unwrap_err();
        assert_eq!(pool.usage().unwrap().peak_mapped, 0);
        bench.table.reset();
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a pool that goes while its stream is captured would leave its memory behind, though
// nothing uses that any more.
#[test]
fn a_pool_may_end_in_a_capture_when_its_work_is_complete() {
    let bench = Bench::new(Backing::Pages);
    let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
    free(pool.allocate_raw(3 * PAGE, 256, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    bench.table.reset();
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    bench.table.fail_from(id::cuStreamIsCapturing, 1, code);
    drop(pool);
    assert_eq!(bench.on_device(), 0);
    bench.table.reset();
    drop(stream);
    bench.finish();
}
