//! Errors of kernels are put down to launches: to one in checked mode, else to a few. And what
//! happens at the moment when a context is lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::retry::{GaveUp, Retry};
use cupola_managers::{
    Blame, Buffer, Cause, Context, Error, ExecutionManager, Function, LaunchSite, PoisonPolicy,
    PoolConfig, Result, Stream,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

const NOWHERE: u64 = 0xdead_0000_0000;

struct Bench {
    table: FaultTable,
    execution: ExecutionManager,
    context: Context,
    stream: Stream,
    good: Function,
    bad: Function,
    buffer: Buffer<u32>,
}

fn kernel(name: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 to) {{\n.reg .b32 %r1;\n.reg .b64 %rd1;\n\
         ld.param.u64 %rd1, [to];\nmov.u32 %r1, 7;\ncvta.to.global.u64 %rd1, %rd1;\n\
         st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

impl Bench {
    fn new() -> Self {
        Self::of(&Machine::builder().build())
    }

    fn of(machine: &Machine) -> Self {
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        let head = ".version 6.0\n.target sm_60\n.address_size 64\n";
        let ptx = format!("{head}{}{}", kernel("good"), kernel("bad"));
        let module = context.modules().load_ptx(&ptx).unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        Self {
            good: module.function("good").unwrap(),
            bad: module.function("bad").unwrap(),
            buffer: pool.allocate(8, &stream).unwrap(),
            table,
            execution,
            context,
            stream,
        }
    }

    #[track_caller]
    fn run(kernel: &Function, address: u64, stream: &Stream) -> Result<()> {
        // SAFETY: the address is the buffer's; or of no buffer on purpose, which the software
        // device answers with an error.
        unsafe { ops::launch(kernel, LaunchConfig::linear(1, 1), (address,), stream) }
    }

    #[track_caller]
    fn good(&self) -> Result<()> {
        Self::run(&self.good, self.buffer.as_raw(), &self.stream)
    }

    #[track_caller]
    fn bad(&self) -> Result<()> {
        Self::run(&self.bad, NOWHERE, &self.stream)
    }

    fn first(&self) -> Arc<Cause> {
        match self.context.poison() {
            Some(Error::Poisoned { first, .. }) => first,
            other => panic!("not lost: {other:?}"),
        }
    }

    fn one_of(&self) -> Vec<LaunchSite> {
        match self.first().blame.as_deref() {
            Some(Blame::OneOf(list)) => list.clone(),
            other => panic!("{other:?}"),
        }
    }
}

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

// Without it an error could be put down to a kernel that is known to be well, or the one that
// failed be left out.
#[test]
fn otherwise_an_error_is_put_down_to_what_may_have_run() {
    let b = Bench::new();
    let other = b.context.streams().create(Default::default()).unwrap();
    Bench::run(&b.good, b.buffer.as_raw(), &other).unwrap();
    ops::synchronize(&other).unwrap();
    b.good().unwrap();
    while !ops::query(&b.stream).unwrap() {}
    b.bad().unwrap();
    let error = ops::synchronize(&b.stream).unwrap_err();
    let list = b.one_of();
    assert_eq!(list.len(), 1, "{error}");
    assert_eq!(
        (&*list[0].kernel, list[0].site.stream),
        ("bad", Some(b.stream.handle()))
    );
    let text = error.to_string();
    assert!(
        text.contains("possibly caused by kernel bad launched at"),
        "{text}"
    );
}

// Without it an error that another stream's call returns could be put down to that stream.
#[test]
fn the_error_may_come_out_of_another_streams_call() {
    let b = Bench::new();
    let other = b.context.streams().create(Default::default()).unwrap();
    b.bad().unwrap();
    let failed = loop {
        if let Err(error) = ops::query(&other) {
            break error;
        }
    };
    assert!(failed.is_sticky(), "{failed}");
    let list = b.one_of();
    assert_eq!((list.len(), &*list[0].kernel), (1, "bad"));
    assert_eq!(
        b.first().site.stream,
        Some(other.handle()),
        "where it came out"
    );
    assert_eq!(
        list[0].site.stream,
        Some(b.stream.handle()),
        "where it came from"
    );
}

// Without it the cost of remembering launches could not be avoided, or checked mode depend
// on it.
#[test]
fn launches_are_remembered_unless_told_otherwise() {
    let b = Bench::new();
    b.context.set_tracking(false);
    b.bad().unwrap();
    ops::synchronize(&b.stream).unwrap_err();
    assert_eq!(b.first().blame, None);
    let b = Bench::new();
    b.context.set_tracking(false);
    b.context.set_checked(true);
    b.bad().unwrap_err();
    let cause = b.first();
    assert!(
        matches!(cause.blame.as_deref(), Some(Blame::Launch(_))),
        "{cause}"
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

// Without it a launch could be named for certain beside work that the record does not name.
#[test]
fn no_launch_is_certain_once_other_work_may_run() {
    let check = |what: &str, unknown: &dyn Fn(&Bench)| {
        let b = Bench::new();
        unknown(&b);
        b.context.set_checked(true);
        b.bad().unwrap_err();
        assert_eq!(b.one_of().len(), 1, "{what}");
    };
    check("a stream", &|b| {
        let _ = b.stream.as_raw();
    });
    check("a function", &|b| {
        let _ = b.good.as_raw();
    });
    check("a module", &|b| {
        let _ = b.good.module().as_raw();
    });
    check("the context", &|b| {
        let _ = b.context.as_raw();
    });
    check("a launch that is not remembered", &|b| {
        b.context.set_tracking(false);
        b.good().unwrap();
    });
    check("the default stream", &|b| {
        drop(b.context.streams().legacy_default().unwrap());
    });
}

// Without it a fault of one device would be told with the call, the line and the kernels of
// another device's that came before, and its own culprit be lost.
#[test]
fn a_loss_after_the_process_was_lost_keeps_its_own_cause() {
    let b = Bench::new();
    let device = b.execution.devices().get(0).unwrap();
    let other = device.contexts().create(Default::default()).unwrap();
    let stream = other.streams().create(Default::default()).unwrap();
    b.bad().unwrap();
    ops::synchronize(&b.stream).unwrap_err();
    let first = b.first();
    assert_eq!(other.poison(), None);
    // Its calls succeed, as far as the driver goes.
    ops::synchronize(&stream).unwrap();
    assert_eq!(other.poison(), None);
    let next = b.table.count(id::cuStreamSynchronize) + 1;
    let code = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    b.table.fail(id::cuStreamSynchronize, next, code);
    let error = ops::synchronize(&stream).unwrap_err();
    assert_eq!(other.poison(), Some(error.clone()));
    let Error::Poisoned {
        first: own, before, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(own.call.status(), Some(code));
    assert_eq!(own.site.stream, Some(stream.handle()));
    assert_eq!(before.as_ref(), Some(&first), "and what came before it");
    let text = error.to_string();
    assert!(text.contains("LAUNCH_FAILED") && text.contains("ILLEGAL_ADDRESS"));
    let Some(Error::Poisoned { before, .. }) = b.context.poison() else {
        panic!("it is lost");
    };
    assert_eq!(before, None, "nothing came before the first");
}

// Without it a kernel would be named for certain whose only fault is that it was the first to be
// launched in its context after another context's kernel had ended the process.
#[test]
fn no_launch_is_certain_once_the_process_was_lost_elsewhere() {
    let b = Bench::new();
    let device = b.execution.devices().get(0).unwrap();
    let other = device.contexts().create(Default::default()).unwrap();
    let stream = other.streams().create(Default::default()).unwrap();
    let head = ".version 6.0\n.target sm_60\n.address_size 64\n";
    let ptx = format!("{head}{}", kernel("later"));
    let later = other.modules().load_ptx(&ptx).unwrap().function("later");
    let pool = other.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let buffer = pool.allocate::<u32>(8, &stream).unwrap();
    other.set_checked(true);
    b.bad().unwrap();
    ops::synchronize(&b.stream).unwrap_err();
    let next = b.table.count(id::cuStreamSynchronize) + 1;
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    b.table.fail(id::cuStreamSynchronize, next, code);
    let error = Bench::run(&later.unwrap(), buffer.as_raw(), &stream).unwrap_err();
    let blame = error.cause().unwrap().blame.as_deref();
    let Some(Blame::OneOf(launches)) = blame else {
        panic!("{blame:?}");
    };
    assert_eq!((launches.len(), &*launches[0].kernel), (1, "later"));
    assert!(error.to_string().contains("the process was lost before"));
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
        .args(["--exact", "abort_ends_the_process"])
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
        let of = || Bench::of(&Machine::builder().driver_version(version).build());
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
