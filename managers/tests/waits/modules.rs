//! The end of a module waits for its kernels.

use super::*;

// Without it code could be unloaded while a kernel runs it, or its end wait for the work of
// others and break their captures.
#[test]
fn a_module_is_unloaded_after_its_kernels() {
    let bench = TestBench::with_workers(4);
    let (table, context) = (&bench.faults, &bench.context);
    let streams = [(); 3].map(|()| bench.stream());
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
    let live = bench.execution.live();
    assert_eq!((live.modules, live.abandoned), (0, 0));
    assert_eq!(bench.machine.usage().modules, 0);
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
