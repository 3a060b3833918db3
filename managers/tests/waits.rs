//! Waits that fail: no success is reported, and no memory is given back under a copy that
//! may still run.

mod common;

use std::sync::Arc;

use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sys::driver::{CUresult, id};

use common::open;

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

// Without it pinned memory could be looked at, or freed, while the device writes it.
#[test]
fn pinned_memory_is_kept_while_a_copy_may_run() {
    let (table, machine, execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    ops::fill(&mut buffer, 6, &stream).unwrap();

    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    table.fail(id::cuEventSynchronize, 1, UNKNOWN);
    assert_eq!(pinned.as_slice().unwrap_err().status(), Some(UNKNOWN));
    assert_eq!(
        pinned.as_slice().unwrap(),
        [6; 100],
        "the next attempt works"
    );

    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    table.fail_from(id::cuEventSynchronize, 1, UNKNOWN);
    drop(pinned);
    let live = execution.live();
    assert_eq!((live.pinned, live.abandoned), (0, 1));
    assert_eq!(machine.usage().host_allocations, 1);
    table.reset();

    // A copy without a mark behind it is waited for by its stream.
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    table.fail(id::cuEventRecord, 1, UNKNOWN);
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap_err();
    assert_eq!(table.count(id::cuStreamSynchronize), 1);
    assert_eq!(pinned.as_slice().unwrap(), [6; 100]);
}

// Without it a failed wait could let a slice be read before its copy is done.
#[test]
fn a_read_whose_wait_fails_is_an_error_after_a_second_wait() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    ops::fill(&mut buffer, 6, &stream).unwrap();
    table.reset();
    table.fail(id::cuStreamSynchronize, 1, UNKNOWN);
    let mut back = [0; 100];
    let error = ops::read(&buffer, &mut back, &stream).unwrap_err();
    assert_eq!(error.status(), Some(UNKNOWN));
    assert_eq!(table.count(id::cuStreamSynchronize), 2);
    ops::read(&buffer, &mut back, &stream).unwrap();
    assert_eq!(back, [6; 100]);
}

// Without it a pipeline that cannot know whether its copies run could hand its slots out.
#[test]
fn a_pipeline_that_cannot_wait_is_of_no_use_and_keeps_its_memory() {
    let (table, machine, execution, context) = open();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    let mut run = || {
        pipeline.run::<Error>(
            |input| Ok(Some(input.len())),
            |step| match step.index {
                2 => Err(Error::Full { kind: "test" }),
                _ => ops::copy(step.input, step.output, step.stream).map(|()| 100),
            },
            |_| Ok(()),
        )
    };
    assert_eq!(run(), Err(Error::Full { kind: "test" }));
    table.fail_from(
        id::cuStreamSynchronize,
        table.count(id::cuStreamSynchronize) + 1,
        UNKNOWN,
    );
    assert_eq!(run(), Err(Error::Full { kind: "test" }), "the first error");
    let calls = table.count(id::cuMemcpyHtoDAsync_v2);
    assert!(matches!(run(), Err(Error::Invalid { .. })));
    assert_eq!(
        table.count(id::cuMemcpyHtoDAsync_v2),
        calls,
        "nothing more was put on it"
    );
    drop(pipeline);
    assert_eq!(execution.live().abandoned, 6, "three slots of two");
    assert_eq!(machine.usage().host_allocations, 6);
}

// Without it a use on another stream could begin before the memory is there.
#[test]
fn the_first_use_elsewhere_waits_for_the_allocation() {
    let (table, _machine, _execution, context) = open();
    let (home, other) = (
        context.streams().create(Default::default()).unwrap(),
        context.streams().create(Default::default()).unwrap(),
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    // What the second one gets the first one's work may still use.
    drop(pool.allocate::<u32>(100, &home).unwrap());
    let mut buffer = pool.allocate::<u32>(100, &home).unwrap();
    table.fail(id::cuStreamWaitEvent, 1, UNKNOWN);
    assert_eq!(
        ops::fill(&mut buffer, 1, &other).unwrap_err().status(),
        Some(UNKNOWN)
    );
    assert_eq!(table.count(id::cuMemsetD32Async), 0, "not without the wait");
    ops::fill(&mut buffer, 1, &other).unwrap();
    let waits = table.count(id::cuStreamWaitEvent);
    assert_eq!(waits, 2);
    buffer.free().unwrap();
    assert_eq!(
        table.count(id::cuStreamWaitEvent),
        waits,
        "no stream waits for the free"
    );
}

// Without it memory could be freed while another stream may use it, or freed twice.
#[test]
fn memory_is_freed_behind_its_uses_or_not_at_all() {
    let (table, _machine, execution, context) = open();
    let (home, other) = (
        context.streams().create(Default::default()).unwrap(),
        context.streams().create(Default::default()).unwrap(),
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    // While one is open streams are made to wait for each other.
    let graph = pool
        .graph_memory(&context.streams().create(Default::default()).unwrap())
        .unwrap();
    let buffer = pool.allocate::<u32>(100, &home).unwrap();
    buffer.used_on(&other).unwrap();
    table.reset();
    table.fail(id::cuStreamWaitEvent, 1, UNKNOWN);
    let refused = buffer.free().unwrap_err();
    assert_eq!(refused.error().status(), Some(UNKNOWN));
    let buffer = refused.into_inner();
    assert_eq!(pool.usage().unwrap().live, 400, "not without the wait");
    buffer.free().unwrap();
    let live = execution.live();
    assert_eq!((live.buffers, live.abandoned), (0, 0));
    assert_eq!(pool.usage().unwrap().live, 0);

    // Dropped where neither an event nor the host can wait for the other stream.
    let buffer = pool.allocate::<u32>(100, &home).unwrap();
    let address = buffer.as_raw();
    buffer.used_on(&other).unwrap();
    table.reset();
    table.fail_from(id::cuStreamWaitEvent, 1, UNKNOWN);
    table.fail_from(id::cuStreamSynchronize, 1, UNKNOWN);
    drop(buffer);
    table.reset();
    drop(graph);
    let live = execution.live();
    assert_eq!((live.buffers, live.abandoned), (0, 1));
    pool.trim().unwrap();
    assert_eq!(pool.mapped(), pool.page(), "still charged");
    let next = pool.allocate::<u32>(100, &home).unwrap();
    assert_ne!(next.as_raw(), address, "nobody gets it");
}

// Without it a copy that runs in spite of its error could write memory that is read or freed.
#[test]
fn a_copy_that_fails_is_waited_for() {
    let (table, machine, execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    ops::fill(&mut buffer, 6, &stream).unwrap();
    table.reset();
    table.fail(id::cuMemcpyDtoHAsync_v2, 1, UNKNOWN);
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap_err();
    assert_eq!(table.count(id::cuStreamSynchronize), 1);
    pinned.as_slice().unwrap();

    table.fail(id::cuMemcpyDtoHAsync_v2, 2, UNKNOWN);
    table.fail_from(id::cuStreamSynchronize, 2, UNKNOWN);
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap_err();
    assert!(matches!(pinned.as_slice(), Err(Error::Invalid { .. })));
    drop(pinned);
    assert_eq!(execution.live().abandoned, 1);
    assert_eq!(machine.usage().host_allocations, 1);
    table.reset();
}

// Without it a function that the driver still calls could be freed before that.
#[test]
fn a_host_function_is_dropped_only_if_the_driver_did_not_take_it() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let shared = Arc::new(());
    let put = |code| {
        table.reset();
        table.fail(id::cuLaunchHostFunc, 1, code);
        let captured = Arc::clone(&shared);
        let error = ops::host_function(&stream, move || drop(captured)).unwrap_err();
        (Arc::strong_count(&shared), error.is_retryable())
    };
    assert_eq!(put(CUresult::CUDA_ERROR_INVALID_VALUE), (1, false));
    assert_eq!(put(CUresult::CUDA_ERROR_OUT_OF_MEMORY), (1, true));
    assert_eq!(put(UNKNOWN), (2, false));
    // It may be called: trying again could have it called twice.
    assert_eq!(put(CUresult::CUDA_ERROR_NOT_READY), (3, false));
}

// Without it code could be unloaded while a kernel runs it.
#[test]
fn a_module_is_unloaded_after_the_work_in_its_context() {
    let (table, machine, execution, context) = open();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let unload = || {
        let module = context.modules().load_ptx(ptx).unwrap();
        context.modules().release(module.handle()).unwrap();
    };
    unload();
    let calls = (
        table.count(id::cuCtxSynchronize),
        table.count(id::cuModuleUnload),
    );
    assert_eq!(calls, (1, 1));
    table.fail_from(id::cuCtxSynchronize, 2, UNKNOWN);
    unload();
    assert_eq!(table.count(id::cuModuleUnload), 1, "not without the wait");
    let live = execution.live();
    assert_eq!((live.modules, live.abandoned), (0, 1));
    assert_eq!(machine.usage().modules, 1);
}
