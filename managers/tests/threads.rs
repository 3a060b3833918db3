//! A stream of each thread, and how a stream is.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

use cupola_managers::ops::{self, StreamHealth};
use cupola_managers::{Error, PoolConfig, StreamsConfig};
use cupola_sys::driver::{CUresult, id};

use common::open;

// Without it threads could share a stream that is to be their own, or a thread get another
// with each call.
#[test]
fn each_thread_has_one_stream_of_its_own() {
    let (table, _machine, _execution, context) = open();
    let mine = context.thread_stream().unwrap();
    table.reset();
    for _ in 0..10 {
        assert_eq!(context.thread_stream().unwrap().handle(), mine.handle());
    }
    assert_eq!(table.counts(), BTreeMap::new());
    let seen = Mutex::new(HashSet::from([mine.handle()]));
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        let threads = [(); 8].map(|()| {
            scope.spawn(|| {
                let stream = context.thread_stream().unwrap();
                assert!(seen.lock().unwrap().insert(stream.handle()));
                barrier.wait();
            })
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(context.streams().live(), 1, "those of ended threads wait");
}

// Without it threads that come and go could each cost a driver's stream.
#[test]
fn the_stream_of_an_ended_thread_is_used_again() {
    let (table, machine, execution, context) = open();
    let mut kept = None;
    for n in 0..200 {
        let context = context.clone();
        let thread = std::thread::spawn(move || context.thread_stream().unwrap());
        let stream = thread.join().unwrap();
        // What outlives its thread stays good.
        ops::synchronize(&stream).unwrap();
        if n == 0 {
            kept = Some(stream);
        }
    }
    assert!(table.count(id::cuStreamCreateWithPriority) <= 2);
    drop((kept, context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a thread could keep a context alive that it used once, or leave it in use.
#[test]
fn a_thread_keeps_no_context_alive() {
    let (_table, machine, execution, context) = open();
    let watch = execution.watch();
    let other = execution
        .devices()
        .get(0)
        .unwrap()
        .contexts()
        .create(Default::default())
        .unwrap();
    drop((
        context.thread_stream().unwrap(),
        other.thread_stream().unwrap(),
    ));
    execution
        .devices()
        .get(0)
        .unwrap()
        .contexts()
        .release(other.handle())
        .unwrap();
    drop((other, context, execution));
    assert!(watch.live().is_empty(), "{:?}", watch.live());
    assert_eq!(machine.leaks(), None);
}

// Without it a stream that a shutdown ended could be handed out again.
#[test]
fn a_shutdown_ends_the_streams_of_threads() {
    let (_table, _machine, _execution, context) = open();
    let before = context.thread_stream().unwrap();
    let _ = context.streams().shutdown();
    assert_eq!(
        context.thread_stream().unwrap_err(),
        Error::ShutDown { kind: "Stream" }
    );
    context
        .streams()
        .configure(StreamsConfig::default())
        .unwrap();
    let after = context.thread_stream().unwrap();
    assert_ne!(after.handle(), before.handle());
    ops::order(&before, &after).unwrap();
}

// Without it a stream could pass for idle while it works, or a driver that does not answer
// for a lost one.
#[test]
fn health_says_how_a_stream_is() {
    let (table, machine, _execution, context) = open();
    let stream = context.thread_stream().unwrap();
    assert_eq!(ops::health(&stream), StreamHealth::Idle);
    let (go, wait) = std::sync::mpsc::channel::<()>();
    ops::host_function(&stream, move || {
        let _ = wait.recv();
    })
    .unwrap();
    assert_eq!(ops::health(&stream), StreamHealth::Busy);
    drop(go);
    ops::synchronize(&stream).unwrap();
    table.reset();
    table.fail(id::cuStreamQuery, 1, CUresult::CUDA_ERROR_UNKNOWN);
    let health = ops::health(&stream);
    assert!(
        matches!(&health, StreamHealth::Unknown(e) if e.status() == Some(CUresult::CUDA_ERROR_UNKNOWN))
    );
    assert!(!health.is_usable() && ops::health(&stream).is_usable());
    table.reset();
    table.fail(
        id::cuStreamIsCapturing,
        1,
        CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    );
    assert_eq!(ops::health(&stream), StreamHealth::Capturing);
    table.reset();
    table.fail(id::cuStreamQuery, 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let StreamHealth::Lost(first) = ops::health(&stream) else {
        panic!("not lost");
    };
    assert!(first.is_sticky());
    assert!(matches!(
        ops::health(&stream),
        StreamHealth::Lost(Error::Poisoned { .. })
    ));
    drop((stream, machine));
    let pool = context.memory_pool(PoolConfig::limit(1));
    assert!(pool.is_err(), "the context is lost");
}
