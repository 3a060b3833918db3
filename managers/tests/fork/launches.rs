//! Launches in a child, and the modes that they ask for.

use core::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cupola_managers::{Error, Stream, ops};
use cupola_sys::driver::id;

use super::common::open;
use super::in_a_child;

// Without it a child could launch a kernel on a stream on which its parent did: nothing but the number of its thread says
// that this is another process.
#[test]
fn a_child_launches_nothing_where_its_parent_did() {
    let (table, _machine, _execution, context) = open();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let function = context
        .modules()
        .load_ptx(ptx)
        .unwrap()
        .function("nothing")
        .unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let config = ops::LaunchConfig::linear(1, 1);
    // SAFETY: the kernel takes no arguments and touches no memory.
    let launch = || unsafe { ops::launch(&function, config, (), &stream) };
    for _ in 0..3 {
        launch().unwrap();
    }
    table.reset();
    let status = in_a_child(|| {
        let refused = launch() == Err(Error::Forked) && launch() == Err(Error::Forked);
        c_int::from(!refused || !table.counts().is_empty())
    });
    assert_eq!(status, 0);
    launch().unwrap();
    ops::synchronize(&stream).unwrap();
}

// Without it a child that sets a mode could sleep for ever: until a thread of its parent has set one.
#[test]
fn a_child_sets_modes_and_waits_for_no_thread() {
    let (_table, _machine, _execution, context) = open();
    // The more streams, the longer a thread that sets a mode has them locked.
    let fresh = |_| context.streams().create(Default::default()).unwrap();
    let streams: Vec<Stream> = (0..200).map(fresh).collect();
    let ends = AtomicBool::new(false);
    let first_failure = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Not for ever, should the other thread panic.
            let begin = Instant::now();
            while !ends.load(Ordering::Relaxed) && begin.elapsed() < Duration::from_secs(120) {
                context.set_tracking(false);
                context.set_tracking(true);
            }
        });
        let child = |_| {
            in_a_child(|| {
                for is_on in [true, false] {
                    context.set_tracking(is_on);
                    context.set_checked(is_on);
                }
                0
            })
        };
        let failed = (0..50).map(child).find(|status| *status != 0);
        ends.store(true, Ordering::Relaxed);
        failed
    });
    assert_eq!(first_failure, None, "14: it sleeps");
    drop(streams);
}

// Without it a child that launches a kernel could sleep for ever: until a thread of its parent has
// looked for a module's streams that are gone.
#[test]
fn a_child_launches_nothing_and_waits_for_no_thread() {
    let (table, _machine, _execution, context) = open();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let module = context.modules().load_ptx(ptx).unwrap();
    let function = module.function("nothing").unwrap();
    let config = ops::LaunchConfig::linear(1, 1);
    // SAFETY: the kernel takes no arguments and touches no memory.
    let launch = |stream: &Stream| unsafe { ops::launch(&function, config, (), stream) };
    let fresh = || context.streams().create(Default::default()).unwrap();
    let (one, other) = (fresh(), fresh());
    for _ in 0..4 {
        let stream = context.streams().legacy_default().unwrap();
        launch(&stream).unwrap();
        ops::synchronize(&stream).unwrap();
        // Its last event is not reached yet when the lease ends.
        let next = table.count(id::cuEventQuery) + 1;
        let not_yet = cupola_sys::driver::CUresult::CUDA_ERROR_NOT_READY;
        table.fail(id::cuEventQuery, next, not_yet);
        drop(stream);
    }
    let (arrived, arrives) = std::sync::mpsc::channel::<()>();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = std::sync::Mutex::new(ended);
    table.watch(move |call| {
        if call == id::cuEventQuery && arrived.send(()).is_ok() {
            let _ = ended.lock().unwrap().recv();
        }
    });
    std::thread::scope(|scope| {
        // A fifth stream: it looks for those that are gone.
        scope.spawn(|| launch(&one).unwrap());
        arrives.recv().unwrap();
        let status = in_a_child(|| c_int::from(launch(&other) != Err(Error::Forked)));
        drop(end);
        assert_eq!(status, 0, "14: it sleeps, 256: it launches");
    });
    launch(&other).unwrap();
    ops::synchronize(&other).unwrap();
}
