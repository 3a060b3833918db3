//! Which launches an error is put down to.

use super::*;

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
    other.make_current().unwrap();
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
    other.make_current().unwrap();
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
