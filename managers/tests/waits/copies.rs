//! Copies and the memory of the host that they use.

use super::*;

type Held = (Arc<Mutex<std::sync::mpsc::Receiver<()>>>, Arc<AtomicBool>);

/// # Safety
/// `task` is a box of `Held` that is the callee's.
unsafe extern "C" fn wait(task: *mut core::ffi::c_void) {
    // SAFETY: `task` is such a box, and the driver calls this once for each (`# Safety`).
    let (held, is_late) = *unsafe { Box::from_raw(task.cast::<Held>()) };
    // Long enough that no test comes to it, unless it waits for this.
    let ended = held.lock().unwrap().recv_timeout(Duration::from_secs(20));
    if ended == Err(RecvTimeoutError::Timeout) {
        is_late.store(true, Ordering::SeqCst);
    }
}

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
    pinned.clear_taint();
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
        let run = pipeline.run::<Error>(
            |input| Ok(Some(input.len())),
            |step| match step.index {
                2 => Err(Error::Full { kind: "test" }),
                _ => ops::copy(step.input, step.output, step.stream).map(|()| 100),
            },
            |_| Ok(()),
        );
        run.map_err(|error| error.error)
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
    pinned.clear_taint();
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

// Without it a program could wait for work that waits for the program: what comes on the stream
// behind a copy is no part of it.
#[test]
fn pinned_memory_waits_for_its_own_copies_only() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let sixes = pool.upload(&[6u32; 100], &stream).unwrap();
    let mut pinned = [(); 2].map(|()| context.buffers().pinned::<u32>(100).unwrap());
    for pinned in &mut pinned {
        ops::copy_to_host(&sixes, pinned, &stream).unwrap();
    }
    let held = hold(&stream);
    // Many copies later, each with its own end.
    let mut later = [(); 40].map(|()| context.buffers().pinned::<u32>(100).unwrap());
    for later in &mut later {
        ops::copy_to_host(&sixes, later, &stream).unwrap();
    }
    let (done, waited) = channel();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let both = pinned.each_ref().map(|pinned| pinned.as_slice().unwrap());
            done.send(both == [[6; 100]; 2]).unwrap();
        });
        let waited = waited.recv_timeout(Duration::from_secs(20));
        drop(held);
        assert_eq!(waited, Ok(true), "it waits for later work");
    });
    assert_eq!(later[39].as_slice().unwrap(), [6; 100]);
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
