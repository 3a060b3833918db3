//! A context that was lost: every later call says so, with the first cause. On the software
//! device only, because on a GPU the process could do no more CUDA work afterwards.
#![cfg(feature = "sim")]

mod common;

use std::sync::Arc;

use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Blame, Cause, Context, Error, ExecutionManager, Stream};
use cupola_sim::Machine;
use cupola_sys::driver::CUresult;

/// Launches a kernel that writes where there is no memory. The end of its code waits for it.
fn write_nowhere(context: &Context, stream: &Stream) -> Result<Function, Error> {
    let file = cupola_kernels::Embedded::with_entry("cupola_scale").expect("an embedded kernel");
    let module = context.modules().load_ptx(file.ptx())?;
    let scale = module.function("cupola_scale")?;
    let nowhere = 0xdead_0000_0000u64;
    let arguments = (32u64, 1.0f32, nowhere, nowhere);
    // SAFETY: not safe, on purpose: the software device answers with an error.
    unsafe { ops::launch(&scale, LaunchConfig::linear(1, 32), arguments, stream) }?;
    Ok(scale)
}

fn first_cause(context: &Context) -> Arc<Cause> {
    match context.poison() {
        Some(Error::Poisoned { first, .. }) => first,
        other => panic!("not lost: {other:?}"),
    }
}

// Without it work could go on in a lost context and report success, or hide what happened.
#[test]
fn the_first_cause_is_what_every_later_call_returns() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let watch = execution.watch();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let event = context.events().create(Default::default()).unwrap();
    let pool = context
        .memory_pool(cupola_managers::PoolConfig::limit(8 << 20))
        .unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    ops::synchronize(&stream).unwrap();
    assert_eq!(context.poison(), None);

    let kernel = write_nowhere(&context, &stream).unwrap();
    let first = ops::synchronize(&stream).unwrap_err();
    assert_eq!(first.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert!(first.is_sticky() && !first.is_retryable(), "{first}");
    let cause = first_cause(&context);
    assert_eq!(Some(&*cause), first.cause());
    let Some(Blame::OneOf(suspects)) = cause.blame.as_deref() else {
        panic!("{cause}");
    };
    assert_eq!(suspects.len(), 1, "all else was waited for: {cause}");
    assert_eq!(suspects[0].kernel, "cupola_scale");
    assert_eq!(suspects[0].site.stream, Some(stream.handle()));

    let later = [
        ops::fill(&mut buffer, 1, &stream).unwrap_err(),
        ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap_err(),
        ops::record(&event, &stream).unwrap_err(),
        ops::wait(&stream, &event).unwrap_err(),
        ops::query(&stream).unwrap_err(),
        ops::synchronize(&stream).unwrap_err(),
        ops::host_function(&stream, || {}).unwrap_err(),
        ops::read(&buffer, &mut [0; 100], &stream).unwrap_err(),
        write_nowhere(&context, &stream).unwrap_err(),
        context.streams().create(Default::default()).unwrap_err(),
        context.events().create(Default::default()).unwrap_err(),
        context.memory_info().unwrap_err(),
        context.buffers().pinned::<u8>(1).map(drop).unwrap_err(),
        pool.allocate::<u8>(1, &stream).map(drop).unwrap_err(),
        pipeline
            .run::<Error>(|_| Ok(Some(1)), |_| Ok(0), |_| Ok(()))
            .unwrap_err()
            .error,
    ];
    for error in later {
        assert_eq!(
            error,
            Error::Poisoned {
                first: Arc::clone(&cause),
                device: 0,
                before: None
            }
        );
        let text = error.to_string();
        assert!(
            text.contains("ILLEGAL_ADDRESS") && text.contains("cuStreamSynchronize"),
            "{text}"
        );
    }

    drop((
        pipeline, pinned, buffer, pool, event, kernel, stream, context, execution,
    ));
    let live = watch.live();
    let mut left = live;
    left.abandoned = 0;
    assert!(
        left.is_empty(),
        "only what the driver refused to take back is left: {live:?}"
    );
    assert_eq!(machine.leaks(), None, "the context took everything with it");
}

// Without it the latch could name the call at which the error came out, and nothing more.
#[test]
fn checked_mode_names_the_kernel() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    context.set_checked(true);
    let error = write_nowhere(&context, &stream).unwrap_err();
    let cause = first_cause(&context);
    assert_eq!(error.cause(), Some(&*cause));
    let Some(Blame::Launch(launch)) = cause.blame.as_deref() else {
        panic!("{cause}");
    };
    assert_eq!(launch.kernel, "cupola_scale");
    assert_eq!(launch.site.location.file(), file!());
    let later = ops::synchronize(&stream).unwrap_err().to_string();
    assert!(
        later.contains("caused by kernel cupola_scale launched at"),
        "{later}"
    );
}

// Without it one lost context could take down those of other devices, or of this one.
#[test]
fn other_contexts_go_on() {
    let machine = Machine::builder().devices(2).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let lost = execution.devices().get(0).unwrap().primary().unwrap();
    let well = execution.devices().get(1).unwrap().primary().unwrap();
    let stream = lost.streams().create(Default::default()).unwrap();
    write_nowhere(&lost, &stream).unwrap();
    ops::synchronize(&stream).unwrap_err();
    let stream = well.streams().create(Default::default()).unwrap();
    let pool = well
        .memory_pool(cupola_managers::PoolConfig::limit(8 << 20))
        .unwrap();
    let mut buffer = pool.allocate::<u32>(10, &stream).unwrap();
    ops::fill(&mut buffer, 4, &stream).unwrap();
    let mut back = [0; 10];
    ops::read(&buffer, &mut back, &stream).unwrap();
    assert_eq!((back, well.poison()), ([4; 10], None));
    first_cause(&lost);
}

// Without it a pipeline could wait for ever, or deliver what was never computed.
#[test]
fn a_fault_in_a_pipeline_ends_its_run() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let pool = context
        .memory_pool(cupola_managers::PoolConfig::limit(8 << 20))
        .unwrap();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    let mut seen = 0;
    let error = pipeline
        .run::<Error>(
            |input| Ok(Some(input.len())),
            |step| {
                if step.index == 10 {
                    write_nowhere(&context, step.stream)?;
                }
                ops::copy(step.input, step.output, step.stream).map(|()| 100)
            },
            |item| {
                assert!(item.index < 10);
                seen += 1;
                Ok(())
            },
        )
        .unwrap_err()
        .error;
    assert!(error.is_sticky(), "{error}");
    assert!(seen <= 10);
    assert_eq!(error.call(), Some(first_cause(&context).call));
    drop((pipeline, pool, context, execution));
    assert_eq!(machine.leaks(), None);
}
