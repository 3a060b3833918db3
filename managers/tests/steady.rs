//! What operations cost in driver calls, counted by a table around the software device.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

use cupola_managers::pipeline::{CopyThreads, Graphs, Pipeline, PipelineConfig, Sampling};
use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, id};

use common::open;

/// Counts what each thread asks of the system's allocator.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all that it promises the system's allocator does; counting changes no memory of a caller's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has nothing more to count.
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, and `alloc` had the block from there.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Without it opening a driver could create contexts or streams that no caller asked for.
#[test]
fn nothing_is_made_before_it_is_asked_for() {
    let table = FaultTable::new(Machine::builder().build().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let called: Vec<_> = table.counts().into_keys().collect();
    let expected = [
        id::cuDeviceGet,
        id::cuDeviceGetCount,
        id::cuDriverGetVersion,
        id::cuInit,
    ];
    assert_eq!(called, expected);
    device.info().unwrap();
    let asked = table.count(id::cuDeviceGetAttribute);
    device.info().unwrap();
    assert_eq!(table.count(id::cuDeviceGetAttribute), asked, "read once");
    assert!(execution.live().is_empty());
}

/// Takes so many whole items through a pipeline.
fn run(pipeline: &mut Pipeline<u32, u32>, items: u64) {
    let mut left = items;
    let report = pipeline.run::<Error>(
        |input| {
            let more = left > 0;
            left -= u64::from(more);
            Ok(more.then_some(input.len()))
        },
        |step| {
            let len = step.input.len();
            ops::copy(step.input, step.output, step.stream).map(|()| len)
        },
        |_| Ok(()),
    );
    assert_eq!(report.unwrap().items, items);
}

/// Calls of one run of `items` items through a pipeline.
fn calls(items: u64, config: PipelineConfig) -> BTreeMap<SymbolId, u64> {
    let (table, _machine, _execution, context) = open();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    table.reset();
    run(&mut pipeline, items);
    table.counts()
}

// Without it a step could wait on the host more than once, or create events and memory.
#[test]
fn a_steady_step_makes_ten_calls_and_waits_once() {
    let expected = [
        (id::cuMemcpyHtoDAsync_v2, 100),
        (id::cuMemcpyDtoDAsync_v2, 100), // the step's own
        (id::cuMemcpyDtoHAsync_v2, 100),
        (id::cuEventRecord, 300),
        (id::cuStreamWaitEvent, 200),
        (id::cuEventSynchronize, 100),
        (id::cuThreadExchangeStreamCaptureMode, 200),
    ];
    let config = PipelineConfig::new(100, 100);
    let mut expected: BTreeMap<_, _> = expected.into_iter().collect();
    // A thread that puts the downloads makes the same calls.
    for threads in [CopyThreads::Never, CopyThreads::Always] {
        assert_eq!(of_a_hundred_steps(config.copy_threads(threads)), expected);
    }
    // Launched as a graph it makes four.
    let launched = config.graphs(Graphs::Steps);
    let as_graph = [
        (id::cuGraphLaunch, 100),
        (id::cuEventSynchronize, 100),
        (id::cuThreadExchangeStreamCaptureMode, 200),
    ];
    for config in [launched, launched.depth(4).split(2, 2)] {
        assert_eq!(of_a_hundred_steps(config), as_graph.into());
    }
    // With fewer inputs and outputs on the device than slots it waits there, and nothing else.
    expected.insert(id::cuStreamWaitEvent, 400);
    assert_eq!(of_a_hundred_steps(config.split(2, 2)), expected);
}

// Without it the calls of a step could ask the driver what is current: each names a stream or an event.
#[test]
fn a_steady_step_does_not_ask_what_is_current() {
    let asked = |items| {
        let (table, _machine, _execution, context) = open();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let config = PipelineConfig::new(100, 100);
        let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
        table.reset();
        run(&mut pipeline, items);
        table.count(id::cuCtxGetCurrent)
    };
    assert_eq!(asked(110), asked(10));
}

/// Calls of a hundred steps among others.
fn of_a_hundred_steps(config: PipelineConfig) -> BTreeMap<SymbolId, u64> {
    let (few, many) = (calls(10, config), calls(110, config));
    many.iter()
        .map(|(&function, &count)| (function, count - few.get(&function).copied().unwrap_or(0)))
        .filter(|&(_, count)| count > 0)
        .collect()
}

// Without it a step could take memory of the host, which grows or stalls a program that runs for days.
#[test]
fn a_steady_step_allocates_nothing() {
    let config = PipelineConfig::new(100, 100);
    for config in [
        config,
        config.split(2, 2),
        config.copy_threads(CopyThreads::Always),
        config.graphs(Graphs::Steps),
        config.measured(),
        config.sampling(one_run_in(32)),
    ] {
        allocates_nothing(config);
    }
}

fn allocates_nothing(config: PipelineConfig) {
    let (table, _machine, _execution, context) = open();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    let mut asked_by = |items: u64| {
        let before = ASKED.get();
        run(&mut pipeline, items);
        ASKED.get() - before
    };
    asked_by(100);
    // The software device has memory of its own for each operation: so nothing gets that far.
    for function in [
        id::cuMemcpyHtoDAsync_v2,
        id::cuMemcpyDtoDAsync_v2,
        id::cuMemcpyDtoHAsync_v2,
        id::cuEventRecord,
        id::cuStreamWaitEvent,
        id::cuEventSynchronize,
        id::cuEventQuery,
        id::cuGraphLaunch,
        id::cuEventElapsedTime,
    ] {
        table.fail_from(function, 1, CUresult::CUDA_SUCCESS);
    }
    let (few, many) = (asked_by(10), asked_by(1010));
    assert_eq!(few, many, "a thousand steps more");
    assert!(ASKED.get() > 0, "nothing is counted");
    table.reset();
}

// Without it measuring could change the order, or cost the run that does not measure.
#[test]
fn measuring_adds_six_marks_and_six_looks_to_a_step() {
    let config = PipelineConfig::new(100, 100);
    let (plain, measured) = (calls(50, config), calls(50, config.measured()));
    let more = |function: SymbolId| {
        let count = |calls: &BTreeMap<SymbolId, u64>| calls.get(&function).copied().unwrap_or(0);
        count(&measured) - count(&plain)
    };
    // And one mark where the run begins.
    assert_eq!(more(id::cuEventRecord), 6 * 50 + 1);
    assert_eq!(more(id::cuEventElapsedTime), 6 * 50);
    for same in [
        id::cuStreamWaitEvent,
        id::cuEventSynchronize,
        id::cuEventCreate,
    ] {
        assert_eq!(more(same), 0);
    }
}

fn one_run_in(items: u64) -> Sampling {
    Sampling::OneRunIn(NonZeroU64::new(items).unwrap())
}

// Without it a sample could cost what measuring everything does, or a step between two samples anything.
#[test]
fn a_sample_costs_its_own_items_alone() {
    // The last eight of each window of 32: of 160 items five times that.
    let config = PipelineConfig::new(100, 100).sampling(one_run_in(32));
    let (plain, sampled) = (
        calls(160, PipelineConfig::new(100, 100)),
        calls(160, config),
    );
    let more = |function: SymbolId| {
        let count = |calls: &BTreeMap<SymbolId, u64>| calls.get(&function).copied().unwrap_or(0);
        count(&sampled) - count(&plain)
    };
    // And a mark where a window begins, and the time from that to the next.
    assert_eq!(more(id::cuEventRecord), 5 * (6 * 8 + 1));
    assert_eq!(more(id::cuEventElapsedTime), 5 * 6 * 8 + 4);
    let others = [id::cuEventRecord, id::cuEventElapsedTime];
    let same = |calls: &BTreeMap<SymbolId, u64>| {
        let mut calls = calls.clone();
        calls.retain(|function, _| !others.contains(function));
        calls
    };
    assert_eq!(same(&sampled), same(&plain));
}

// Without it work on a buffer's own stream could cost events, or each use on another
// stream cost them again.
#[test]
fn only_the_first_use_on_another_stream_costs_a_wait() {
    let (table, _machine, _execution, context) = open();
    let (home, other) = (
        context.streams().create(Default::default()).unwrap(),
        context.streams().create(Default::default()).unwrap(),
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &home).unwrap();
    table.reset();
    for _ in 0..10 {
        ops::fill(&mut buffer, 1, &home).unwrap();
    }
    assert_eq!(table.counts(), [(id::cuMemsetD32Async, 10)].into());
    // Nothing had the memory before.
    for _ in 0..10 {
        ops::fill(&mut buffer, 1, &other).unwrap();
    }
    assert_eq!(table.count(id::cuEventRecord), 0);
    assert_eq!(table.count(id::cuStreamWaitEvent), 0);
    ops::synchronize(&other).unwrap();
    drop(buffer);
    drop(pool.allocate::<u32>(100, &home).unwrap());
    // What had it before may still run on its stream.
    let mut buffer = pool.allocate::<u32>(100, &home).unwrap();
    table.reset();
    for _ in 0..10 {
        ops::fill(&mut buffer, 1, &other).unwrap();
    }
    assert_eq!(table.count(id::cuEventRecord), 1);
    assert_eq!(table.count(id::cuStreamWaitEvent), 1);
    table.reset();
    drop(buffer);
    assert_eq!(table.counts(), BTreeMap::new(), "it is freed behind both");
}

// Without it a buffer of nothing, or a copy of nothing, could reach the driver, which
// refuses some of them.
#[test]
fn nothing_costs_no_call() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(0)).unwrap();
    table.reset();
    let mut empty = pool.allocate::<u32>(0, &stream).unwrap();
    let pinned = context.buffers().pinned::<u32>(0).unwrap();
    ops::fill(&mut empty, 1, &stream).unwrap();
    ops::zero(&mut empty, &stream).unwrap();
    ops::write(&mut empty, &[], &stream).unwrap();
    ops::read(&empty, &mut [], &stream).unwrap();
    drop((empty, pinned));
    assert_eq!(table.counts(), BTreeMap::new());
}
