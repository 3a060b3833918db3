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
    drop((idle, out, side, pinned, event));
    bench.finish_later();
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
    drop(out);
    bench.finish_later();
}

// Without it a driver before a function of graphs could be asked for what it has not, or its user not
// be told which one it needs.
#[cfg(feature = "sim")]
#[test]
fn a_driver_that_is_too_old_says_what_it_lacks() {
    use cupola_managers::graph::GraphBuilder;
    use cupola_managers::ops::LaunchConfig;
    use cupola_sys::Version;

    let machine = cupola_sim::Machine::builder();
    let machine = machine.driver_version(Version::new(11, 3)).build();
    let bench = Bench::over(machine.driver());
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let config = CaptureConfig::default();
    let (graph, ()) = Graph::capture(&bench.context, config, |capture| {
        ops::fill(&mut out, 1, capture.stream())
    })
    .unwrap();
    let lacks = |error: Error, name: &str, since: Version| match error {
        Error::Unsupported { symbol, needs, .. } => assert_eq!((symbol, needs), (name, since)),
        other => panic!("{other:?}"),
    };
    let error = graph.instantiate().unwrap_err();
    lacks(error, "cuGraphInstantiateWithFlags", Version::new(11, 4));
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let kernel = bench.kernel("cupola_saxpy");
    let (n, x) = (10_u64, bench.pool.zeros::<f32>(10, &bench.stream).unwrap());
    let arguments = (n, 1.0_f32, &x, &x);
    // SAFETY: the node is refused.
    let error = unsafe { builder.kernel(&[], &kernel, LaunchConfig::linear(1, 1), arguments) };
    lacks(
        error.unwrap_err(),
        "cuGraphAddKernelNode_v2",
        Version::new(12, 0),
    );
    drop((graph, builder, kernel, out, x));
    bench.finish_later();
}
