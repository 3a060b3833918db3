//! Bulk copies in chunks.

use std::thread;

use cupola_managers::graph::Graph;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{
    CaptureConfig, Context, CopyConfig, CopyMode, Error, ExecutionManager, MemoryPool, Stream, ops,
};
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::{CUresult, id};

use super::test_bench::{TestBench, hold};

/// Bytes of the bus in a second.
const RATE: u64 = 1000 << 20;

fn small_chunks() -> CopyConfig {
    CopyConfig::default().chunk(1000).threshold(2000)
}

/// Sends `len` elements to the device and back by bulk copies.
fn there_and_back(context: &Context, pool: &MemoryPool, stream: &Stream, len: usize, seed: u32) {
    let mut host = context.buffers().pinned::<u32>(len).unwrap();
    for (place, value) in host.as_mut_slice().unwrap().iter_mut().zip(seed..) {
        *place = value;
    }
    let mut back = context.buffers().pinned::<u32>(len).unwrap();
    let mut device = pool.allocate::<u32>(len, stream).unwrap();
    let copies = context.copies();
    copies.copy_to_device(&host, &mut device, stream).unwrap();
    copies.copy_to_host(&device, &mut back, stream).unwrap();
    assert_eq!(back.as_slice().unwrap(), host.as_slice().unwrap());
}

// Without it chunks could leave elements out, copy them to other places, or come before the work that
// is on the stream, or after what follows there.
#[test]
fn the_chunks_are_the_whole() {
    for (len, chunk, threshold) in [
        (10_000, 4096, 0),
        (10_000, 1200, 9999),
        (10_000, 9999, 0),
        (10_000, 40_000, 0),
        (10_000, 4096, 40_000),
        (5, 1, 0),
        (1, 1, 0),
        (0, 8, 0),
    ] {
        let bench = super::bench();
        let context = &bench.base.context;
        let cut = CopyConfig::default().chunk(chunk).threshold(threshold);
        context.copies().configure(cut).unwrap();
        there_and_back(context, &bench.pool, &bench.stream, len, 1);
        bench.finish();
    }
}

// Without it the host could touch the memory of a copy, or free it, before the last chunk is done; or a
// bulk copy could wait on the host.
#[test]
fn the_host_waits_for_the_last_chunk() {
    let bench = super::bench();
    let context = &bench.base.context;
    context.copies().configure(small_chunks()).unwrap();
    let sevens = bench.pool.upload(&[7u8; 10_000], &bench.stream).unwrap();
    let mut pinned = context.buffers().pinned::<u8>(10_000).unwrap();
    for round in 0..2 {
        let held = hold(&bench.stream);
        context
            .copies()
            .copy_to_host(&sevens, &mut pinned, &bench.stream)
            .unwrap();
        let end = thread::spawn(move || {
            thread::sleep(std::time::Duration::from_millis(50));
            drop(held);
        });
        if round == 0 {
            assert_eq!(pinned.as_slice().unwrap(), [7; 10_000]);
        }
        end.join().unwrap();
    }
    drop((pinned, sevens));
    bench.finish();
}

// Without it memory could be used again, or given back, while a chunk still runs on a lane.
#[test]
fn memory_is_freed_behind_the_last_chunk() {
    for fails in [false, true] {
        let bench = super::bench();
        let context = &bench.base.context;
        context.copies().configure(small_chunks()).unwrap();
        let other = bench.base.stream();
        let host = context.buffers().pinned::<u8>(10_000).unwrap();
        let mut device = bench.pool.allocate::<u8>(10_000, &bench.stream).unwrap();
        let put = context.copies().copy_to_device(&host, &mut device, &other);
        put.unwrap();
        if fails {
            let failed = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
            bench.base.faults.reset();
            bench.base.faults.fail(id::cuStreamIsCapturing, 1, failed);
            ops::write(&mut device, &[1; 10_000], &other).unwrap_err();
            bench.base.faults.reset();
        }
        drop((device, host, other));
        bench.finish();
    }
}

// Without it copies at the same time could share a lane, so that one waits for the stream of another,
// or lanes could be made without end.
#[test]
fn copies_at_the_same_time_have_lanes_of_their_own() {
    let bench = TestBench::with_workers(4);
    let context = &bench.context;
    context.copies().configure(small_chunks()).unwrap();
    let pool = bench.pool(8 << 20);
    let (late, stream) = (bench.stream(), bench.stream());
    let host = context.buffers().pinned::<u8>(10_000).unwrap();
    let too = context.buffers().pinned::<u8>(10_000).unwrap();
    let mut one = pool.zeros::<u8>(10_000, &late).unwrap();
    let mut two = pool.zeros::<u8>(10_000, &stream).unwrap();
    ops::synchronize(&late).unwrap();
    let held = hold(&late);
    context
        .copies()
        .copy_to_device(&host, &mut one, &late)
        .unwrap();
    context
        .copies()
        .copy_to_device(&too, &mut two, &stream)
        .unwrap();
    ops::synchronize(&stream).unwrap();
    drop(held);
    ops::synchronize(&late).unwrap();
    let live = context.streams().live();
    for _ in 0..10 {
        context
            .copies()
            .copy_to_device(&too, &mut two, &stream)
            .unwrap();
        ops::synchronize(&stream).unwrap();
    }
    assert_eq!(context.streams().live(), live);
    drop((one, two, host, too, late, stream, pool));
    bench.finish();
}

// Without it each copy that lacks a stream or an event would leave the others of its lane behind.
#[test]
fn a_lane_that_cannot_be_made_leaves_nothing() {
    let bench = TestBench::new();
    let context = &bench.context;
    context.copies().configure(small_chunks()).unwrap();
    let (pool, stream) = (bench.pool(8 << 20), bench.stream());
    let host = context.buffers().pinned::<u8>(10_000).unwrap();
    let mut device = pool.zeros::<u8>(10_000, &stream).unwrap();
    ops::copy_to_device(&host, &mut device, &stream).unwrap();
    ops::synchronize(&stream).unwrap();
    let live = || (context.streams().live(), context.events().live());
    let before = live();
    let failed = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for (call, k) in [
        (id::cuStreamCreateWithPriority, 2),
        (id::cuEventCreate, 1),
        (id::cuEventCreate, 2),
    ] {
        context.streams().trim(0).unwrap();
        context.events().trim(0).unwrap();
        bench.faults.reset();
        bench.faults.fail(call, k, failed);
        let refused = context.copies().copy_to_device(&host, &mut device, &stream);
        assert_eq!(refused.unwrap_err().status(), Some(failed), "{call:?} {k}");
        assert_eq!(live(), before, "{call:?} {k}");
    }
    bench.faults.reset();
    drop((device, host, pool, stream));
    bench.finish();
}

// Without it copies of several threads could mix their chunks up.
#[test]
fn copies_of_several_threads_and_contexts_are_right() {
    let bench = TestBench::with_workers(4);
    let created = {
        let device = bench.execution.devices().get(0).unwrap();
        device.contexts().create(Default::default()).unwrap()
    };
    thread::scope(|scope| {
        for (seed, context) in (1..).zip([&bench.context, &bench.context, &created]) {
            scope.spawn(move || {
                context.copies().configure(small_chunks()).unwrap();
                let stream = context.streams().create(Default::default()).unwrap();
                let pool = context
                    .memory_pool(super::PoolConfig::limit(8 << 20))
                    .unwrap();
                for round in 0..20 {
                    there_and_back(context, &pool, &stream, 5000, seed * 1000 + round);
                }
            });
        }
    });
    drop(created);
    bench.finish();
}

// Without it a chunk that fails could be taken for put, or the chunks before it could still run when the
// memory is used again.
#[test]
fn a_chunk_that_fails_is_told() {
    let bench = TestBench::new();
    let context = &bench.context;
    context.copies().configure(small_chunks()).unwrap();
    let (pool, stream) = (bench.pool(8 << 20), bench.stream());
    let mut host = context.buffers().pinned::<u8>(10_000).unwrap();
    let mut device = pool.zeros::<u8>(10_000, &stream).unwrap();
    let failed = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for (round, call) in (1..).zip([
        id::cuMemcpyHtoDAsync_v2,
        id::cuEventRecord,
        id::cuStreamWaitEvent,
    ]) {
        host.as_mut_slice().unwrap().fill(round);
        bench.faults.reset();
        bench.faults.fail(call, 5, failed);
        let refused = context.copies().copy_to_device(&host, &mut device, &stream);
        let refused = refused.unwrap_err();
        assert_eq!(refused.status(), Some(failed));
        assert_eq!(refused.location().unwrap().file(), file!(), "{call:?}");
        bench.faults.reset();
        assert!(matches!(device.to_vec(&stream), Err(Error::Tainted { .. })));
        context
            .copies()
            .copy_to_device(&host, &mut device, &stream)
            .unwrap();
        assert_eq!(device.to_vec(&stream).unwrap(), [round; 10_000]);
    }
    drop((device, host, pool, stream));
    bench.finish();
}

// Without it a program would look in vain for the overlap that its device does not allow, or be told
// that there is none.
#[test]
fn copies_that_block_are_told_from_others() {
    for mode in [CopyMode::Asynchronous, CopyMode::Blocking] {
        // A copy that is timed takes longer than any call.
        let device = DeviceConfig::new().upload_bandwidth(RATE / 8);
        let bench = TestBench::on(Machine::builder().worker_threads(2).device(device));
        if mode == CopyMode::Blocking {
            let driver = bench.machine.driver();
            let watched = bench.faults.watch(move |call| {
                if call == id::cuEventRecord {
                    // In place of a copy that blocks: the call behind it does, before it is made.
                    // SAFETY: no condition; the context is the thread's.
                    unsafe { driver.cuCtxSynchronize() }.unwrap();
                }
            });
            assert!(watched);
        }
        assert_eq!(bench.context.copy_mode().unwrap(), mode);
        let copies = bench.faults.count(id::cuMemcpyHtoDAsync_v2);
        assert!(copies > 0);
        let pool = bench.pool(8 << 20);
        let config = PipelineConfig::new(1, 1);
        let pipeline = Pipeline::<u8, u8>::new(&bench.context, &pool, config).unwrap();
        assert_eq!(pipeline.copy_mode().unwrap(), mode);
        assert_eq!(bench.faults.count(id::cuMemcpyHtoDAsync_v2), copies, "once");
        drop((pipeline, pool));
        bench.finish();
    }
}

// Without it a copy could be put that cannot be done, or be cut in chunks of nothing.
#[test]
fn what_cannot_be_copied_is_refused() {
    let machine = Machine::builder().devices(2).worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = |device| execution.devices().get(device).unwrap().primary().unwrap();
    let (here, there) = (context(0), context(1));
    let pool = here.memory_pool(super::PoolConfig::limit(8 << 20)).unwrap();
    let stream = here.streams().create(Default::default()).unwrap();
    let foreign = there.streams().create(Default::default()).unwrap();
    let cut = CopyConfig::default().chunk(10).threshold(20);
    here.copies().configure(cut).unwrap();
    let host = here.buffers().pinned::<u8>(100).unwrap();
    let mut device = pool.zeros::<u8>(100, &stream).unwrap();
    let copies = here.copies();
    let refused = copies.copy_to_device(&host, &mut device, &foreign);
    assert_eq!(
        refused.unwrap_err(),
        Error::WrongContext { what: "the stream" }
    );
    let refused = copies.copy_to_device(host.slice(1..).unwrap(), &mut device, &stream);
    assert!(matches!(refused.unwrap_err(), Error::Invalid { .. }));
    let captured = Graph::capture(&here, CaptureConfig::default(), |capture| {
        let refused = copies.copy_to_device(&host, &mut device, capture.stream());
        assert!(matches!(refused, Err(Error::Capturing { .. })));
        Ok::<_, Error>(())
    });
    captured.unwrap();
    match copies.configure(CopyConfig::default().chunk(0)) {
        Err(Error::Invalid { field, .. }) => assert_eq!(field, "copies.chunk"),
        other => panic!("{other:?}"),
    }
    assert_eq!(copies.config(), cut);
}
