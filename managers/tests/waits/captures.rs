//! Waits beside a capture, and in which mode of captures calls are made.

use super::*;

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

// Without it code and pinned memory that come and go beside another thread's capture would end it.
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

// Without it a wait or a question beside another thread's capture would end that capture.
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
