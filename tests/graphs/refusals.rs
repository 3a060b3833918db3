//! What a capture forbids is refused before the driver ends it.

use cupola_managers::graph::{CaptureConfig, CaptureMode, Graph};
use cupola_managers::{Error, ErrorClass, ops};
use cupola_sys::driver::CUresult;

use crate::common::Bench;

// Without it a wait or a copy to ordinary memory would end the capture, and the error name the end of
// it instead of the operation.
#[test]
fn operations_that_a_capture_forbids_are_refused_and_end_nothing() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let mut side = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let mut pinned = bench.context.buffers().pinned::<u32>(10).unwrap();
    let event = bench.context.events().create(Default::default()).unwrap();
    ops::record(&event, &bench.stream).unwrap();
    let mut idle = {
        let empty = |_: &mut cupola_managers::graph::Capture<'_>| Ok::<_, Error>(());
        let (graph, ()) = Graph::capture(&bench.context, Default::default(), empty).unwrap();
        graph.instantiate().unwrap()
    };
    for mode in [
        CaptureMode::Global,
        CaptureMode::ThreadLocal,
        CaptureMode::Relaxed,
    ] {
        let config = CaptureConfig::default().mode(mode);
        let (graph, ()) = Graph::capture(&bench.context, config, |capture| {
            let stream = &capture.branch()?;
            ops::fill(&mut side, 1, stream)?;
            let refused = |what: &str, done: Result<(), Error>| {
                assert!(
                    matches!(done, Err(Error::Capturing { .. })),
                    "{what}: {done:?}"
                );
            };
            for stream in [stream, capture.stream()] {
                refused("synchronize", ops::synchronize(stream));
                refused("query", ops::query(stream).map(drop));
                refused("write", ops::write(&mut out, &[2; 10], stream));
                refused("read", ops::read(&out, &mut [0; 10], stream));
                refused("to_vec", out.to_vec(stream).map(drop));
                refused("up", ops::copy_to_device(&pinned, &mut out, stream));
                refused("down", ops::copy_to_host(&out, &mut pinned, stream));
                refused("host", ops::host_function(stream, || ()));
                refused("ticket", stream.ticket().map(drop));
                refused("record", ops::record(&event, stream));
                refused("wait", ops::wait(stream, &event));
                refused("order", ops::order(stream, &bench.stream));
                refused("order", ops::order(&bench.stream, stream));
                refused("launch", idle.launch(stream));
            }
            assert_eq!(ops::health(stream), ops::StreamHealth::Capturing);
            assert!(capture.order(stream, &bench.stream).is_err());
            // Beside the capture all goes on, in every mode.
            ops::synchronize(&bench.stream)?;
            ops::synchronize_event(&event)?;
            let beside = bench.pool.upload(&[3_u32; 10], &bench.stream)?;
            assert_eq!(beside.to_vec(&bench.stream)?, [3; 10]);
            idle.launch(&bench.stream)?;
            ops::fill(&mut out, 4, capture.stream())
        })
        .unwrap();
        let mut executable = graph.instantiate().unwrap();
        executable.launch(&bench.stream).unwrap();
        ops::synchronize(&bench.stream).unwrap();
    }
    bench.finish_after((idle, out, side, pinned, event));
}

// Without it code that does not know of a capture could end it, and the work after that be lost
// without an error; or the thread could capture nothing any more.
#[test]
fn a_capture_that_other_code_ends_is_an_error() {
    let bench = Bench::open();
    let driver = bench.execution.driver().clone();
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    for _ in 0..3 {
        let captured = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
            ops::fill(&mut out, 1, capture.stream())?;
            // SAFETY: the stream is alive.
            let waited = unsafe { driver.cuStreamSynchronize(capture.stream().as_raw()) };
            let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            assert_eq!(waited.unwrap_err().status(), Some(unsupported));
            Ok::<_, Error>(())
        });
        let error = captured.unwrap_err();
        let invalidated = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        assert_eq!(error.status(), Some(invalidated), "{error}");
        assert_eq!(error.class(), ErrorClass::Capture);
        let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
            ops::fill(&mut out, 2, capture.stream())
        })
        .unwrap();
        graph.instantiate().unwrap().launch(&bench.stream).unwrap();
        assert_eq!(out.to_vec(&bench.stream).unwrap(), [2; 10]);
    }
    bench.finish_after(out);
}

// Without it a driver before a function of graphs could be asked for what it has not, or its user not
// be told which one it needs; or be refused what an older function does.
#[cfg(feature = "sim")]
#[test]
fn a_driver_that_is_too_old_says_what_it_lacks() {
    use cupola_managers::graph::{ConditionStart, GraphBuilder, Update};
    use cupola_managers::ops::{LaunchAttributes, LaunchConfig, launch_with};
    use cupola_sys::Version;
    use cupola_sys::driver::flags::GraphInstantiateFlags;

    let at = |major, minor| {
        let machine = cupola_sim::Machine::builder();
        let machine = machine.driver_version(Version::new(major, minor)).build();
        Bench::over(machine.driver())
    };
    let lacks = |error: Error, name: &str, major, minor| match error {
        Error::Unsupported { symbol, needs, .. } => {
            assert_eq!((symbol, needs), (name, Version::new(major, minor)));
        }
        other => panic!("{other:?}"),
    };
    let bench = at(11, 3);
    let kernel = bench.kernel("cupola_saxpy");
    let x = bench.pool.upload(&[1.0_f32; 10], &bench.stream).unwrap();
    let mut y = bench.pool.zeros::<f32>(10, &bench.stream).unwrap();
    let config = LaunchConfig::linear(1, 32);
    let build = |y: &mut cupola_managers::Buffer<f32>, factor: f32| {
        let mut builder = GraphBuilder::new(&bench.context).unwrap();
        let filled = builder.fill(&[], &mut *y, 5.0).unwrap();
        // SAFETY: the kernel reads ten elements of `x` and changes those of `y`.
        let node = unsafe { builder.kernel(&[filled], &kernel, config, (10_u64, factor, &x, y)) };
        (builder.finish(), node.unwrap())
    };
    // All of this by functions of before CUDA 11.4.
    let (graph, node) = build(&mut y, 1.0);
    let mut executable = graph.instantiate().unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(y.to_vec(&bench.stream).unwrap(), [6.0; 10]);
    assert_eq!(
        executable.update(&build(&mut y, 2.0).0).unwrap(),
        Update::Done
    );
    executable.launch(&bench.stream).unwrap();
    assert_eq!(y.to_vec(&bench.stream).unwrap(), [7.0; 10]);
    let arguments = (10_u64, 3.0_f32, &x, &mut y);
    // SAFETY: as above.
    unsafe { executable.set_kernel(node, &kernel, config, arguments) }.unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(y.to_vec(&bench.stream).unwrap(), [8.0; 10]);

    let flags = GraphInstantiateFlags::AUTO_FREE_ON_LAUNCH;
    let error = graph.instantiate_with(flags).unwrap_err();
    lacks(error, "cuGraphInstantiateWithFlags", 11, 4);
    let error = executable.set_enabled(node, false).unwrap_err();
    lacks(error, "cuGraphNodeSetEnabled", 11, 6);
    let attributes = LaunchAttributes::new().priority(0);
    let arguments = (10_u64, 3.0_f32, &x, &mut y);
    // SAFETY: as above.
    let launched = unsafe { launch_with(&kernel, config, attributes, arguments, &bench.stream) };
    lacks(launched.unwrap_err(), "cuLaunchKernelEx", 11, 6);
    bench.finish_after((graph, executable, kernel, x, y));

    let bench = at(12, 2);
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let error = builder.condition(ConditionStart::Kept).unwrap_err();
    lacks(error, "cuGraphConditionalHandleCreate", 12, 3);
    let kernel = bench.kernel("cupola_saxpy");
    let x = bench.pool.zeros::<f32>(10, &bench.stream).unwrap();
    // SAFETY: no launch is made.
    let node = unsafe { builder.kernel(&[], &kernel, config, (10_u64, 1.0_f32, &x, &x)) };
    let error = builder.device_updatable(node.unwrap()).unwrap_err();
    lacks(error, "device-updatable kernel nodes", 12, 4);
    bench.finish_after((builder, kernel, x));
}
