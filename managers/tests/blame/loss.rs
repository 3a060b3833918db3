//! The moment when a context is lost: the latch, the policy, the message.

use super::*;

// Without it a supervisor could be told twice, never, or under a lock that it needs.
#[test]
fn a_policy_is_called_once_for_each_context() {
    let b = Bench::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (seen, inner) = (Arc::clone(&told), b.context.clone());
    let (other, stream) = (
        b.context.events().create(Default::default()).unwrap(),
        b.stream.clone(),
    );
    b.execution
        .set_poison_policy(PoisonPolicy::call(move |error| {
            // It may use the crate.
            assert!(inner.poison().is_some());
            assert!(ops::record(&other, &stream).is_err());
            seen.lock().unwrap().push(error.clone());
            panic!("a panic ends in the function");
        }));
    b.bad().unwrap();
    ops::synchronize(&b.stream).unwrap_err();
    b.good().unwrap_err();
    assert_eq!(*told.lock().unwrap(), vec![b.context.poison().unwrap()]);
    b.execution.set_poison_policy(PoisonPolicy::Keep);
}

/// As other code may leave the thread.
fn no_context(b: &Bench) {
    // SAFETY: no context is always allowed.
    unsafe { b.execution.driver().cuCtxSetCurrent(std::ptr::null_mut()) }.unwrap();
}

// Without it a context that is lost could pass for a healthy one because no context is told what
// the call returned that said so.
#[test]
fn a_call_without_a_caller_sets_the_latch() {
    let code = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    let arm = |b: &Bench, function| b.table.fail(function, b.table.count(function) + 1, code);
    let lost_by = |context: &Context, symbol: &str| match context.poison() {
        Some(Error::Poisoned { first, .. }) => assert_eq!(first.call.symbol().as_str(), symbol),
        other => panic!("{symbol}: {other:?}"),
    };
    // Cleanup, which makes its context current at the second attempt.
    let b = Bench::new();
    let pinned = b.context.buffers().pinned::<u8>(64).unwrap();
    no_context(&b);
    arm(&b, id::cuCtxSetCurrent);
    drop(pinned);
    lost_by(&b.context, "cuCtxSetCurrent");
    // A guard that restores.
    let b = Bench::new();
    let contexts = b.execution.devices().get(0).unwrap();
    let own = contexts.contexts().create(Default::default()).unwrap();
    own.make_current().unwrap();
    let guard = b.context.enter().unwrap();
    arm(&b, id::cuCtxPopCurrent_v2);
    drop(guard);
    lost_by(&b.context, "cuCtxPopCurrent_v2");
    // A new context that stays on the thread.
    let b = Bench::new();
    arm(&b, id::cuCtxPopCurrent_v2);
    let device = b.execution.devices().get(0).unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    lost_by(&own, "cuCtxPopCurrent_v2");
}

// Without it a kernel that is on its stream already could be launched again, because the wait of
// checked mode returned a code that is good to be tried again.
#[test]
fn what_could_not_be_waited_for_is_not_tried_again() {
    let b = Bench::new();
    b.context.set_checked(true);
    for (function, code) in [
        (id::cuStreamSynchronize, CUresult::CUDA_ERROR_OUT_OF_MEMORY),
        (id::cuStreamSynchronize, CUresult::CUDA_ERROR_NOT_READY),
        (id::cuStreamIsCapturing, CUresult::CUDA_ERROR_OUT_OF_MEMORY),
    ] {
        let before = b.table.count(id::cuLaunchKernel);
        b.table.fail(function, b.table.count(function) + 1, code);
        let error = Retry::new(3).run(|_| b.good()).unwrap_err();
        assert_eq!(b.table.count(id::cuLaunchKernel) - before, 1, "{error}");
        assert_eq!(error.why, GaveUp::NotRetryable);
        assert_eq!(error.last.status(), Some(code));
    }
    assert_eq!(b.context.poison(), None);
    b.good().unwrap();
}

// Without it a policy that looks at the very buffer whose copy failed would hang for ever.
#[test]
fn a_policy_runs_under_no_lock() {
    let mut b = Bench::new();
    let pinned = Arc::new(b.context.buffers().pinned::<u32>(8).unwrap());
    let looked = Arc::new(AtomicU32::new(0));
    let (seen, buffer) = (Arc::clone(&looked), Arc::clone(&pinned));
    b.context.set_poison_policy(PoisonPolicy::call(move |_| {
        let _ = buffer.as_slice();
        seen.fetch_add(1, Ordering::SeqCst);
    }));
    b.table.fail(
        id::cuMemcpyHtoDAsync_v2,
        1,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    );
    let stream = b.stream.clone();
    ops::copy_to_device(&*pinned, &mut b.buffer, &stream).unwrap_err();
    assert_eq!(looked.load(Ordering::SeqCst), 1);
    b.context.set_poison_policy(PoisonPolicy::Keep);
}

// Without it a process that was to end could go on serving errors.
#[test]
fn abort_ends_the_process() {
    const CHILD: &str = "CUPOLA_TEST_ABORT";
    if std::env::var_os(CHILD).is_some() {
        let b = Bench::new();
        b.context.set_poison_policy(PoisonPolicy::Abort);
        b.bad().unwrap();
        let _ = ops::synchronize(&b.stream);
        std::process::exit(0);
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "loss::abort_ends_the_process"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(
        told.contains("ILLEGAL_ADDRESS") && told.contains("; aborting"),
        "{told}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(child.status.signal(), Some(6), "{child:?}");
    }
}

// Without it an error would say less than the driver knows; or the words of another failure; or
// a driver be asked that cannot answer, or before there is an error.
#[test]
fn an_error_says_what_the_driver_says() {
    for (version, answers) in [((13, 0), true), ((12, 9), true), ((12, 8), false)] {
        let version = Version::new(version.0, version.1);
        let of = || Bench::of(Machine::builder().driver_version(version));
        let b = of();
        b.good().unwrap();
        ops::synchronize(&b.stream).unwrap();
        assert_eq!(b.table.count(id::cuLogsDumpToMemory), 0);
        b.table.reset();
        // One that the driver knows nothing of, and one that says to try again.
        for (call, code) in [(1, 999), (2, 600)] {
            b.table.fail(id::cuMemGetInfo_v2, call, CUresult(code));
            let error = b.context.memory_info().unwrap_err();
            assert_eq!(error.cause().unwrap().explanation(), None);
        }
        assert_eq!(b.table.count(id::cuLogsDumpToMemory), u64::from(answers));
        b.bad().unwrap();
        let error = ops::synchronize(&b.stream).unwrap_err();
        let checked = of();
        checked.context.set_checked(true);
        let alone = checked.bad().unwrap_err();
        for error in [&error, &b.context.poison().unwrap(), &alone] {
            let said = error.cause().unwrap().explanation();
            assert_eq!(said.is_some(), answers, "{version}: {error}");
            let text = error.to_string();
            if let Some(said) = said {
                assert!(said.contains("bad") && said.contains("0xdead"), "{said}");
                assert!(
                    text.ends_with(&format!(")\nthe driver says: {said}"))
                        || text.contains("start a new process\nthe driver says: "),
                    "{text}"
                );
            }
            assert_eq!(
                text.matches("the driver says").count(),
                usize::from(answers)
            );
        }
        // A refused call that the driver explains, of a call without a stream.
        let b = of();
        let bad = "not PTX";
        let error = b.context.modules().load_ptx(bad).unwrap_err();
        assert!(matches!(error, Error::Load { .. }), "{error}");
        assert_eq!(error.cause().unwrap().explanation().is_some(), answers);
    }
}
