//! Errors of driver calls at a pool's end and beside it, one by one; every call of whole lives is
//! in `lives.rs`.

use cupola_managers::PoisonPolicy;
use cupola_managers::pool::{Backing, DeviceLimit};
use cupola_sys::driver::CUresult;

use crate::*;

// Without it a pool whose end meets an error could keep everything for itself.
#[test]
fn the_end_of_a_pool_gives_back_all_it_can() {
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for (function, left) in [
        (id::cuMemUnmap, PAGE),
        (id::cuMemRelease, PAGE),
        (id::cuMemAddressFree, 0),
    ] {
        let bench = bench_on(Backing::Pages);
        let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
        let blocks = [(); 4].map(|()| pool.allocate_raw(PAGE, 256, &stream).unwrap());
        for block in blocks {
            free(block, &stream);
        }
        bench.faults.reset();
        bench.faults.fail(function, 1, code);
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
        let bench = bench_on(Backing::Pages);
        let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
        free(pool.allocate_raw(PAGE, 256, &stream).unwrap(), &stream);
        bench.faults.reset();
        let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        bench.faults.fail_from(function, 1, code);
        drop(pool);
        assert!(bench.faults.count(function) >= 1);
        bench.faults.reset();
        assert_eq!(bench.on_device(), 0);
        drop(stream);
        bench.finish();
    }
}

// Without it a policy that looks at the pool would wait for a lock that its own thread has.
#[test]
fn a_policy_may_use_the_pool_whose_call_lost_the_context() {
    for function in [id::cuMemCreate, id::cuMemSetAccess, id::cuMemGetInfo_v2] {
        let bench = bench_on(Backing::Pages);
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        let (tell, told) = channel();
        let inner = pool.clone();
        let policy = PoisonPolicy::call(move |_| {
            inner.layout().unwrap();
            let _ = inner.set_limit(PAGE);
            tell.send(()).unwrap();
        });
        bench.execution.set_poison_policy(policy);
        bench.faults.reset();
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        bench.faults.fail(function, 1, code);
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
        let bench = bench_on(Backing::Pages);
        let limit = DeviceLimit::new(4 * PAGE);
        let config = PoolConfig::limit(4 * PAGE).within(&limit);
        let (pool, stream) = (bench.context.memory_pool(config).unwrap(), bench.stream());
        let blocks = [(); 4].map(|()| pool.allocate_raw(PAGE, 256, &stream).unwrap());
        for block in blocks {
            free(block, &stream);
        }
        bench.faults.reset();
        bench.faults.fail(id::cuMemUnmap, 1, code);
        drop(pool);
        assert_eq!(limit.used(), left, "{code:?}");
    }
}

// Without it memory that was never had would count as the most that was mapped.
#[test]
fn what_the_driver_refuses_was_never_mapped() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        bench.faults.reset();
        for function in [id::cuMemCreate, id::cuMemAlloc_v2] {
            bench
                .faults
                .fail_from(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        pool.allocate_raw(10 * PAGE, 256, &stream).unwrap_err();
        assert_eq!(pool.usage().unwrap().peak_mapped, 0);
        bench.faults.reset();
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a pool that goes while its stream is captured would leave its memory behind, though
// nothing uses that any more.
#[test]
fn a_pool_may_end_in_a_capture_when_its_work_is_complete() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
    free(pool.allocate_raw(3 * PAGE, 256, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    bench.faults.reset();
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    bench.faults.fail_from(id::cuStreamIsCapturing, 1, code);
    drop(pool);
    assert_eq!(bench.on_device(), 0);
    bench.faults.reset();
    drop(stream);
    bench.finish();
}

// Without it one block that cannot be freed would keep all of its pool's memory for ever, and of a
// limit that other pools share.
#[test]
fn a_block_that_is_given_up_keeps_no_more_than_its_pages() {
    on_both(|bench| {
        let (home, other) = (bench.stream(), bench.stream());
        let backing = bench.pool(1 << 30).backing();
        // What the driver takes back at once.
        let unit = match backing {
            Backing::Pages => PAGE,
            _ => 32 << 20,
        };
        let shared = DeviceLimit::new(8 * unit);
        let config = PoolConfig::limit(8 * unit).within(&shared);
        let pool = bench.context.memory_pool(config).unwrap();
        let buffers = [(); 5].map(|()| pool.allocate::<u8>(unit as usize, &home).unwrap());
        let small = pool.allocate::<u8>(1000, &home).unwrap();
        let table = &bench.faults;
        let [a, b, lost, c, d] = buffers;
        {
            // Else no stream has to wait for another.
            let _graph = pool.graph_memory(&bench.stream()).unwrap();
            let unknown = CUresult::CUDA_ERROR_UNKNOWN;
            for buffer in [lost, small] {
                buffer.used_on(&other).unwrap();
                table.reset();
                table.fail_from(id::cuStreamWaitEvent, 1, unknown);
                table.fail_from(id::cuStreamSynchronize, 1, unknown);
                drop(buffer);
                table.reset();
            }
        }
        let live = bench.execution.live();
        assert_eq!((live.abandoned, live.abandoned_bytes), (2, unit + 1024));
        drop([a, b, c, d]);
        assert_eq!(shared.used(), 6 * unit);
        drop(pool);
        assert_eq!((shared.used(), bench.on_device()), (2 * unit, 2 * unit));
        let live = bench.execution.live();
        assert_eq!((live.abandoned, live.abandoned_bytes), (2, 2 * unit));
        // Another pool has the rest of the limit.
        let config = PoolConfig::limit(8 * unit).within(&shared);
        let pool = bench.context.memory_pool(config).unwrap();
        drop(pool.allocate::<u8>(6 * unit as usize, &home).unwrap());
    });
}
