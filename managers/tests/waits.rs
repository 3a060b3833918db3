//! Waits that fail: no success is reported, and no memory is given back under a copy that
//! may still run.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cupola_managers::ops::LaunchConfig;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Error, Function, PoolConfig, Stream, ops};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, CUstreamCaptureMode as Mode, Driver, id};

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
    table.fail(id::cuEventSynchronize, 1, UNKNOWN);
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
    assert_ne!(next.as_raw(), address, "no request gets it");
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

// Without it a function's end would never be heard of by who waits for it, just when something
// went wrong; or it would be called after it was dropped.
#[test]
fn a_host_function_of_a_lost_context_is_dropped() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let hold = hold(&stream);
    let (done, wait) = channel::<()>();
    let called = Arc::new(AtomicBool::new(false));
    ops::host_function(&stream, {
        let called = Arc::clone(&called);
        move || {
            called.store(true, Ordering::SeqCst);
            let _ = done.send(());
        }
    })
    .unwrap();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail(id::cuStreamQuery, 1, code);
    assert_eq!(ops::query(&stream).unwrap_err().status(), Some(code));
    // It is still behind the one that is held up, and its sender is gone.
    let gone = Err(RecvTimeoutError::Disconnected);
    assert_eq!(wait.recv_timeout(Duration::from_secs(20)), gone);
    drop(hold);
    // Nor is one kept that comes too late.
    let (done, wait) = channel::<()>();
    let late = ops::host_function(&stream, move || drop(done));
    assert!(matches!(late, Err(Error::Poisoned { .. })));
    assert_eq!(wait.recv_timeout(Duration::from_secs(20)), gone);
    assert!(!called.load(Ordering::SeqCst));
}

// Without it one subscriber would be heard in the place of another, or none that comes late.
#[test]
fn all_subscribers_are_told_of_a_loss_once() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let watch = |number| {
        let told = Arc::clone(&told);
        context.on_loss(move |error| told.lock().unwrap().push((number, error.clone())))
    };
    let panics = context.on_loss(|_| panic!("in a subscriber"));
    let (one, gone, two) = (watch(1), watch(0), watch(2));
    drop(gone);
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail_from(id::cuStreamQuery, 1, code);
    for _ in 0..2 {
        ops::query(&stream).unwrap_err();
    }
    let late = watch(3);
    let lost = context.poison().unwrap();
    let expected = [1, 2, 3].map(|number| (number, lost.clone()));
    assert_eq!(*told.lock().unwrap(), expected);
    drop((one, two, late, panics));
}

// Without it a graph would call a function whose memory its first launch has freed.
#[test]
fn a_host_function_refuses_a_stream_that_is_being_captured() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    table.fail_from(id::cuStreamIsCapturing, 1, code);
    let shared = Arc::new(());
    let captured = Arc::clone(&shared);
    let refused = ops::host_function(&stream, move || drop(captured));
    let operation = "host_function";
    assert_eq!(refused, Err(Error::Capturing { operation }));
    assert_eq!(table.count(id::cuLaunchHostFunc), 0);
    assert_eq!(Arc::strong_count(&shared), 1, "it is dropped");
    let error = refused.unwrap_err();
    let text = error.to_string();
    assert!(text.contains(error.advice().unwrap()), "{text}");
    table.reset();
    let (done, wait) = channel();
    ops::host_function(&stream, move || done.send(()).unwrap()).unwrap();
    wait.recv().unwrap();
}

// Without it a wait for the legacy stream, or a question about it, would end the capture of any
// blocking stream; and pinned memory that was copied in a capture never be had or given back.
#[test]
fn what_would_end_a_capture_is_refused() {
    let (table, _machine, _execution, context) = open();
    let streams = context.streams();
    let stream = streams.create(Default::default()).unwrap();
    let legacy = streams.legacy_default().unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    // What the driver says of the legacy stream then, and of a stream that is captured itself.
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    table.reset();
    table.fail_from(id::cuStreamIsCapturing, 1, code);
    let refused = |done: Result<(), Error>, operation| {
        assert_eq!(done, Err(Error::Capturing { operation }));
    };
    refused(ops::synchronize(&legacy), "synchronize");
    refused(ops::query(&legacy).map(drop), "query");
    refused(
        ops::copy_to_device(&pinned, &mut buffer, &stream),
        "copy_to_device",
    );
    refused(
        ops::copy_to_host(&buffer, &mut pinned, &stream),
        "copy_to_host",
    );
    let none = [
        id::cuStreamSynchronize,
        id::cuStreamQuery,
        id::cuEventRecord,
    ];
    assert_eq!(none.map(|call| table.count(call)), [0; 3]);
    let copies = [id::cuMemcpyHtoDAsync_v2, id::cuMemcpyDtoHAsync_v2];
    assert_eq!(copies.map(|call| table.count(call)), [0; 2]);
    // Any other stream is waited for.
    ops::synchronize(&stream).unwrap();
    assert!(ops::query(&stream).unwrap());
    assert_eq!(pinned.as_slice().unwrap(), [0; 100]);
    table.reset();
    ops::synchronize(&legacy).unwrap();
    ops::copy_to_device(&pinned, &mut buffer, &stream).unwrap();
    assert!(ops::query(&legacy).is_ok());
}

/// Holds up what is put on the stream from now on, until the sender is dropped.
fn hold(stream: &Stream) -> Sender<()> {
    let (hold, held) = channel::<()>();
    ops::host_function(stream, move || {
        let _ended = held.recv();
    })
    .unwrap();
    hold
}

// Without it a copy from or to a slice would wait for what other threads put behind it.
#[test]
fn a_write_and_a_read_wait_for_their_copy_only() {
    let (table, machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let is_late = Arc::new(AtomicBool::new(false));
    let (hold, held) = channel::<()>();
    let held = Arc::new(Mutex::new(held));
    // Just before the wait, what holds the stream up comes on it.
    table.watch({
        let (driver, stream, is_late) = (
            machine.driver(),
            stream.as_raw().addr(),
            Arc::clone(&is_late),
        );
        move |call| {
            if call == id::cuEventSynchronize || call == id::cuStreamSynchronize {
                let task = Box::new((Arc::clone(&held), Arc::clone(&is_late)));
                let (stream, task) = (
                    std::ptr::without_provenance_mut(stream),
                    Box::into_raw(task).cast(),
                );
                // SAFETY: the stream is alive, and `wait` takes the box back.
                unsafe { driver.cuLaunchHostFunc(stream, Some(wait), task) }.unwrap();
            }
        }
    });
    ops::write(&mut buffer, &[6; 100], &stream).unwrap();
    assert!(!is_late.load(Ordering::SeqCst), "a write waits for more");
    drop(hold);
    ops::synchronize(&stream).unwrap();
    let mut back = [0; 100];
    ops::read(&buffer, &mut back, &stream).unwrap();
    assert_eq!(back, [6; 100]);
}

type Held = (Arc<Mutex<std::sync::mpsc::Receiver<()>>>, Arc<AtomicBool>);

/// # Safety
/// `task` is a box of `Held` that is the callee's.
unsafe extern "C" fn wait(task: *mut core::ffi::c_void) {
    // SAFETY: the caller's promise.
    let (held, is_late) = *unsafe { Box::from_raw(task.cast::<Held>()) };
    // Long enough that no test comes to it, unless it waits for this.
    let ended = held.lock().unwrap().recv_timeout(Duration::from_secs(20));
    if ended == Err(RecvTimeoutError::Timeout) {
        is_late.store(true, Ordering::SeqCst);
    }
}

// Without it a copy would be captured whose slice is gone when the graph runs, or the process
// end for a mistake that can be told.
#[test]
fn a_write_and_a_read_refuse_a_stream_that_is_being_captured() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let other = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &other).unwrap();
    table.reset();
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    table.fail_from(id::cuStreamIsCapturing, 1, code);
    let mut back = [0; 100];
    for (operation, done) in [
        ("write", ops::write(&mut buffer, &[6; 100], &stream)),
        ("read", ops::read(&buffer, &mut back, &stream)),
    ] {
        assert_eq!(done, Err(Error::Capturing { operation }));
        assert!(done.unwrap_err().advice().is_some());
    }
    for put in [
        id::cuMemcpyHtoDAsync_v2,
        id::cuMemcpyDtoHAsync_v2,
        id::cuStreamWaitEvent,
        id::cuEventRecord,
        id::cuStreamSynchronize,
    ] {
        assert_eq!(table.count(put), 0, "before anything is put");
    }
    table.reset();
    ops::write(&mut buffer, &[6; 100], &stream).unwrap();
    ops::read(&buffer, &mut back, &stream).unwrap();
    assert_eq!(back, [6; 100]);
}

const PTX: &str =
    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";

fn launch(function: &Function, stream: &Stream) {
    // SAFETY: the kernel takes no arguments and touches no memory.
    unsafe { ops::launch(function, LaunchConfig::linear(1, 1), (), stream) }.unwrap();
}

// Without it code could be unloaded while a kernel runs it, or its end wait for the work of
// others and break their captures.
#[test]
fn a_module_is_unloaded_after_its_kernels() {
    let machine = Machine::builder().worker_threads(4).build();
    let table = FaultTable::new(machine.driver());
    let execution = cupola_managers::ExecutionManager::new(table.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let streams = [(); 3].map(|()| context.streams().create(Default::default()).unwrap());
    let load = || context.modules().load_ptx(PTX).unwrap().function("nothing");
    drop(load().unwrap());
    let function = load().unwrap();
    launch(&function, &streams[1]);
    drop(function);
    assert_eq!(table.count(id::cuModuleUnload), 2);
    // It waits for each on which it did, in whatever order two modules are launched.
    let functions = [load().unwrap(), load().unwrap()];
    let held = hold(&streams[2]);
    for function in &functions {
        launch(function, &streams[1]);
        launch(function, &streams[2]);
    }
    table.watch({
        let held = Mutex::new(Some(held));
        let (unloaded, is_held) = (Mutex::new(0), AtomicBool::new(true));
        move |call| {
            // Asked for the second time: it was not ready.
            if call == id::cuEventQuery && std::mem::replace(&mut *unloaded.lock().unwrap(), 1) == 1
            {
                is_held.store(false, Ordering::SeqCst);
                drop(held.lock().unwrap().take());
            }
            let early = call == id::cuModuleUnload && is_held.load(Ordering::SeqCst);
            assert!(!early, "unloaded before its kernel ran");
        }
    });
    drop(functions);
    assert_eq!(table.count(id::cuModuleUnload), 4);
    assert_eq!(table.count(id::cuCtxSynchronize), 0);
    // A stream that is gone is covered by its last event.
    let function = load().unwrap();
    let [one, ..] = streams;
    launch(&function, &one);
    drop(one);
    context.streams().trim(0).unwrap();
    drop(function);
    // Where other code launches is not known.
    let function = load().unwrap();
    let _ = function.as_raw();
    drop(function);
    assert_eq!(table.count(id::cuCtxSynchronize), 1);
    let live = execution.live();
    assert_eq!((live.modules, live.abandoned), (0, 0));
    assert_eq!(machine.usage().modules, 0);
}

// Without it code could be unloaded that may still run.
#[test]
fn a_module_that_cannot_be_waited_for_stays_loaded() {
    let ways: [&[(SymbolId, CUresult)]; 3] = [
        // A capture on its stream, which a wait would break.
        &[(
            id::cuStreamIsCapturing,
            CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        )],
        // No events, nor the context.
        &[
            (id::cuEventRecord, UNKNOWN),
            (id::cuCtxSynchronize, UNKNOWN),
        ],
        // A lost context: that nothing of it runs any more is not said.
        &[
            (id::cuEventRecord, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
            (id::cuCtxSynchronize, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        ],
    ];
    for failures in ways {
        let (table, machine, execution, context) = open();
        let stream = context.streams().create(Default::default()).unwrap();
        let module = context.modules().load_ptx(PTX).unwrap();
        launch(&module.function("nothing").unwrap(), &stream);
        table.reset();
        for (call, code) in failures {
            table.fail_from(*call, 1, *code);
        }
        drop(module);
        assert_eq!(table.count(id::cuModuleUnload), 0);
        let live = execution.live();
        assert_eq!((live.modules, live.abandoned), (0, 1));
        assert_eq!(machine.usage().modules, 1);
    }
}

// Without it the end of a module would end a capture of another stream of the context just where
// it must not: in the place of an event that could not be had.
#[test]
fn a_module_without_events_waits_for_no_other_stream() {
    let (table, machine, execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let load = || {
        let module = context.modules().load_ptx(PTX).unwrap();
        launch(&module.function("nothing").unwrap(), &stream);
        module
    };
    let module = load();
    table.reset();
    table.fail_from(id::cuEventRecord, 1, UNKNOWN);
    drop(module);
    assert_eq!(table.count(id::cuCtxSynchronize), 0);
    assert_eq!(table.count(id::cuModuleUnload), 0);
    assert_eq!(execution.live().abandoned, 1);
    // What passes is tried again.
    for passing in [id::cuEventRecord, id::cuEventQuery] {
        let module = load();
        table.reset();
        table.fail(passing, 1, UNKNOWN);
        drop(module);
        assert!(table.count(passing) > 1);
        assert_eq!(table.count(id::cuCtxSynchronize), 0);
        assert_eq!(table.count(id::cuModuleUnload), 1);
    }
    assert_eq!(execution.live().abandoned, 1);
    assert_eq!(machine.usage().modules, 1);
}

// Without it the drop of a module would never return, and take a core, where a capture took the
// event that it waits by and the stream with it.
#[test]
fn a_module_gives_up_a_wait_that_a_capture_has_cut_short() {
    let (table, machine, execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let module = context.modules().load_ptx(PTX).unwrap();
    launch(&module.function("nothing").unwrap(), &stream);
    table.reset();
    let event = CUresult::CUDA_ERROR_CAPTURED_EVENT;
    table.fail(id::cuEventQuery, 1, event);
    // Not before the event is recorded, nor just after.
    let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    table.fail_from(id::cuStreamIsCapturing, 3, code);
    let (done, wait) = channel();
    std::thread::spawn(move || {
        drop(module);
        let _ = done.send(());
    });
    wait.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(table.count(id::cuModuleUnload), 0);
    assert_eq!(execution.live().abandoned, 1);
    assert_eq!(machine.usage().modules, 1);
}

// Without it each short lease of a stream would cost an event and more of the host's memory for as
// long as a module that launched there, until there were no events left.
#[test]
fn a_module_keeps_nothing_of_streams_that_are_gone() {
    let (table, _machine, execution, context) = open();
    let function = context.modules().load_ptx(PTX).unwrap().function("nothing");
    let function = function.unwrap();
    for _ in 0..500 {
        let stream = context.streams().legacy_default().unwrap();
        launch(&function, &stream);
        ops::synchronize(&stream).unwrap();
        // Its last event is not reached yet when the lease ends.
        let next = table.count(id::cuEventQuery) + 1;
        table.fail(id::cuEventQuery, next, CUresult::CUDA_ERROR_NOT_READY);
        drop(stream);
    }
    let events = execution.live().events;
    assert!(events < 100, "{events}");
    drop(function);
    assert_eq!(table.count(id::cuModuleUnload), 1);
}

// Without it pinned memory of a lost context could be freed while a copy of before writes it.
#[test]
fn pinned_memory_of_a_lost_context_is_kept_if_a_copy_may_run() {
    let (table, machine, execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let (mut used, idle) = (
        context.buffers().pinned::<u32>(100).unwrap(),
        context.buffers().pinned::<u32>(100).unwrap(),
    );
    ops::fill(&mut buffer, 6, &stream).unwrap();
    ops::copy_to_host(&buffer, &mut used, &stream).unwrap();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail_from(id::cuEventSynchronize, 1, code);
    assert_eq!(used.as_slice().unwrap_err().status(), Some(code));
    drop((used, idle));
    assert_eq!(table.count(id::cuMemFreeHost), 1);
    assert_eq!(machine.usage().host_allocations, 1);
    assert_eq!(execution.live().abandoned, 1);
}

/// Sets this thread's mode of captures; which it was.
fn exchange(driver: &Driver, mode: Mode) -> Mode {
    let mut mode = mode;
    // SAFETY: `mode` outlives the call.
    unsafe { driver.cuThreadExchangeStreamCaptureMode(&raw mut mode) }.unwrap();
    mode
}

/// The mode of captures in which each of these calls is made from now on.
fn modes_of<const N: usize>(
    table: &FaultTable,
    machine: &Machine,
    asked: [SymbolId; N],
) -> Arc<Mutex<Vec<(SymbolId, Mode)>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    table.watch({
        let (seen, driver) = (Arc::clone(&seen), machine.driver());
        move |call| {
            if asked.contains(&call) {
                let mode = exchange(&driver, Mode::CU_STREAM_CAPTURE_MODE_RELAXED);
                exchange(&driver, mode);
                seen.lock().unwrap().push((call, mode));
            }
        }
    });
    seen
}

// Without it code and pinned memory that come and go beside another thread's capture would end
// it, in CI unseen: there is none on the software device.
#[test]
fn code_and_pinned_memory_come_and_go_in_relaxed_mode() {
    let (table, machine, execution, context) = open();
    let asked = [
        id::cuModuleLoadDataEx,
        id::cuModuleUnload,
        id::cuMemHostAlloc,
        id::cuMemFreeHost,
        id::cuEventSynchronize,
        id::cuEventQuery,
    ];
    let seen = modes_of(&table, &machine, asked);
    let (driver, local) = (machine.driver(), Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    let before = exchange(&driver, local);
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let pinned = context.buffers().pinned::<u32>(100).unwrap();
    let function = context.modules().load_ptx(PTX).unwrap().function("nothing");
    launch(&function.unwrap(), &stream);
    ops::copy_to_device(&pinned, &mut buffer, &stream).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [0; 100]);
    ops::write(&mut buffer, &[1; 100], &stream).unwrap();
    drop((pinned, execution));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    for call in asked {
        assert!(seen.iter().any(|(one, _)| *one == call), "{call:?}");
    }
    for (call, mode) in seen {
        let name = cupola_sys::driver::SYMBOLS[usize::from(call.0)].as_str();
        assert_eq!(mode, Mode::CU_STREAM_CAPTURE_MODE_RELAXED, "{name}");
    }
    assert_eq!(exchange(&driver, before), local, "as it was");
}

// Without it a wait or a question beside another thread's capture would end that capture, in CI
// unseen: there is none on the software device.
#[test]
fn waits_on_the_host_are_made_in_relaxed_mode() {
    let (table, machine, _execution, context) = open();
    let asked = [
        id::cuStreamSynchronize,
        id::cuStreamQuery,
        id::cuEventSynchronize,
        id::cuEventQuery,
    ];
    let seen = modes_of(&table, &machine, asked);
    let (driver, local) = (machine.driver(), Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    let before = exchange(&driver, local);
    let is_relaxed = |what: &str, call| {
        assert_eq!(exchange(&driver, local), local, "{what}: as it was");
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert!(seen.iter().any(|(one, _)| *one == call), "{what}");
        for (_, mode) in seen {
            assert_eq!(mode, Mode::CU_STREAM_CAPTURE_MODE_RELAXED, "{what}");
        }
    };
    let stream = context.streams().create(Default::default()).unwrap();
    let event = context.events().create(Default::default()).unwrap();
    ops::record(&event, &stream).unwrap();
    ops::synchronize_event(&event).unwrap();
    is_relaxed("synchronize_event", id::cuEventSynchronize);
    assert!(ops::query_event(&event).unwrap());
    is_relaxed("query_event", id::cuEventQuery);
    ops::synchronize(&stream).unwrap();
    is_relaxed("synchronize", id::cuStreamSynchronize);
    assert!(ops::query(&stream).unwrap());
    is_relaxed("query", id::cuStreamQuery);
    assert_eq!(ops::health(&stream), ops::StreamHealth::Idle);
    is_relaxed("health", id::cuStreamQuery);
    context.set_checked(true);
    ops::record(&event, &stream).unwrap();
    context.set_checked(false);
    is_relaxed("checked mode", id::cuStreamSynchronize);

    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let pinned = context.buffers().pinned::<u32>(100).unwrap();
    ops::copy_to_device(&pinned, &mut buffer, &stream).unwrap();
    drop(pinned);
    is_relaxed("the end of pinned memory", id::cuEventSynchronize);
    let pinned = context.buffers().pinned::<u32>(100).unwrap();
    table.fail(
        id::cuEventRecord,
        table.count(id::cuEventRecord) + 1,
        UNKNOWN,
    );
    ops::copy_to_device(&pinned, &mut buffer, &stream).unwrap_err();
    is_relaxed("a copy without a mark", id::cuStreamSynchronize);

    let mut items = 10;
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    let ran = pipeline.run::<Error>(
        |input| {
            items -= 1;
            Ok((items > 0).then_some(input.len()))
        },
        |step| ops::copy(step.input, step.output, step.stream).map(|()| 100),
        |_| Ok(()),
    );
    ran.unwrap();
    is_relaxed("a pipeline", id::cuEventSynchronize);
    drop(pipeline);
    seen.lock().unwrap().clear();
    exchange(&driver, before);
}
