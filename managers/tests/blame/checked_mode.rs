//! Checked mode: each operation waits for its work.

use super::*;

// Without it the latch could name another kernel than the one that failed, or none.
#[test]
fn checked_mode_names_the_kernel_among_several() {
    let b = Bench::new();
    b.context.set_checked(true);
    for _ in 0..3 {
        b.good().unwrap();
    }
    let error = b.bad().unwrap_err();
    let line = line!() - 1;
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    let cause = b.first();
    assert_eq!(error.cause(), Some(&*cause));
    let Some(Blame::Launch(launch)) = cause.blame.as_deref() else {
        panic!("{cause}");
    };
    assert_eq!(launch.kernel, "bad");
    assert_eq!(launch.site.stream, Some(b.stream.handle()));
    assert_eq!(
        (launch.site.location.file(), launch.site.location.line()),
        (file!(), line)
    );
    assert_eq!(cause.call.symbol().as_str(), "cuLaunchKernel");
    let later = b.good().unwrap_err().to_string();
    for part in [
        "kernel bad launched at",
        file!(),
        "ILLEGAL_ADDRESS",
        "cuLaunchKernel",
    ] {
        assert!(later.contains(part), "{part} is not in: {later}");
    }
    assert!(
        !later.contains("good") && !later.contains("possibly"),
        "{later}"
    );
}

// Without it a launch from before checked mode could be covered by the certainty of a later one.
#[test]
fn a_launch_from_before_checked_mode_stays_suspect() {
    let b = Bench::new();
    let other = b.context.streams().create(Default::default()).unwrap();
    Bench::run(&b.good, b.buffer.as_raw(), &other).unwrap();
    b.context.set_checked(true);
    let error = b.bad().unwrap_err();
    let kernels: Vec<_> = b.one_of().into_iter().map(|one| one.kernel).collect();
    assert_eq!(kernels, ["bad", "good"], "{error}");
}

// Without it checked mode could miss what is no launch, or name another call.
#[test]
fn checked_mode_waits_behind_everything_that_orders_work() {
    let mut b = Bench::new();
    let mut pinned = b.context.buffers().pinned::<u32>(8).unwrap();
    let event = b.context.events().create(Default::default()).unwrap();
    b.context.set_checked(true);
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let s = &b.stream.clone();
    let fail = |what: &str, result: Result<()>| {
        let error = result.expect_err(what);
        let Error::Unverified { operation, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*operation, what);
        assert!(!error.is_retryable() && error.to_string().contains(error.advice().unwrap()));
        assert_eq!(
            error.call().map(|call| call.symbol().as_str()),
            Some("cuStreamSynchronize"),
            "{error}"
        );
        assert_eq!(
            error.location().map(std::panic::Location::file),
            Some(file!()),
            "{error}"
        );
        assert_eq!(
            error.cause().and_then(|cause| cause.site.stream),
            Some(s.handle())
        );
    };
    let next = || {
        let k = b.table.count(id::cuStreamSynchronize) + 1;
        b.table.fail(id::cuStreamSynchronize, k, code);
    };
    next();
    fail("cuMemsetD32Async", ops::fill(&mut b.buffer, 1, s));
    b.buffer.clear_taint();
    next();
    fail(
        "cuMemcpyDtoHAsync_v2",
        ops::copy_to_host(&b.buffer, &mut pinned, s),
    );
    next();
    fail("cuEventRecord", ops::record(&event, s));
    next();
    fail("cuLaunchHostFunc", ops::host_function(s, || ()));
    next();
    let address = b.buffer.as_raw();
    fail("cuLaunchKernel", Bench::run(&b.good, address, s));
}

// Without it a launch or an order that was never put could be reported as one that must not be
// put again, because a step before it was waited for.
#[test]
fn checked_mode_waits_for_operations_and_not_for_their_steps() {
    let b = Bench::new();
    let other = b.context.streams().create(Default::default()).unwrap();
    let pool = b.context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    drop(pool.allocate::<u32>(8, &b.stream).unwrap());
    // Of memory that was used before on its stream, which others wait for.
    let buffer = pool.allocate::<u32>(8, &b.stream).unwrap();
    b.context.set_checked(true);
    b.table.reset();
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let launch = || {
        // SAFETY: the address is the buffer's.
        unsafe { ops::launch(&b.good, LaunchConfig::linear(1, 1), (&buffer,), &other) }
    };
    // A step of the launch on another stream than the buffer's: it is the step that failed.
    b.table.fail(id::cuStreamWaitEvent, 1, code);
    let error = launch().unwrap_err();
    assert!(matches!(error, Error::Driver(_)), "{error}");
    assert!(error.is_retryable());
    assert_eq!(b.table.count(id::cuLaunchKernel), 0);
    assert_eq!(b.table.count(id::cuStreamSynchronize), 0);
    // The launch itself: once it is put, that is what could not be waited for.
    b.table.fail(id::cuStreamSynchronize, 1, code);
    let error = launch().unwrap_err();
    let launched =
        matches!(&error, Error::Unverified { operation, .. } if *operation == "cuLaunchKernel");
    assert!(launched && !error.is_retryable(), "{error}");
    assert_eq!(b.table.count(id::cuLaunchKernel), 1);
    // An order is two steps, both made before anything is waited for.
    b.table.fail(id::cuStreamSynchronize, 2, code);
    let waits = b.table.count(id::cuStreamWaitEvent);
    let error = ops::order(&b.stream, &other).unwrap_err();
    assert!(matches!(error, Error::Unverified { .. }), "{error}");
    assert_eq!(b.table.count(id::cuStreamWaitEvent), waits + 1);
}

// Without it checked mode could break a capture that is none of its business.
#[test]
fn checked_mode_does_not_wait_for_a_captured_stream() {
    let b = Bench::new();
    b.context.set_checked(true);
    b.good().unwrap();
    assert_eq!(b.table.count(id::cuStreamIsCapturing), 1);
    let waits = b.table.count(id::cuStreamSynchronize);
    assert_eq!(waits, 1);
    // A blocking stream's capture: the code says so, and the capture is well.
    let implicit = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    b.table.fail(id::cuStreamIsCapturing, 2, implicit);
    b.good().unwrap();
    assert_eq!(
        b.table.count(id::cuStreamSynchronize),
        waits,
        "not waited for"
    );
    // Asking may itself return the error of the work.
    b.table.fail(
        id::cuStreamIsCapturing,
        3,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
    );
    let error = b.good().unwrap_err();
    assert_eq!(
        error.call().map(|call| call.symbol().as_str()),
        Some("cuLaunchKernel")
    );
    assert!(b.first().blame.is_some());
}
