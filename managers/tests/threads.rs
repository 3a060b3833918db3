//! A stream of each thread, and how a stream is.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cupola_managers::ops::{self, StreamHealth};
use cupola_managers::{
    Context, ContextsConfig, Error, ExecutionManager, PoolConfig, StreamsConfig,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUcontext, CUresult, id};

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
    thread::scope(|scope| {
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
        let thread = thread::spawn(move || context.thread_stream().unwrap());
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
    let (go, wait) = channel::<()>();
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

/// A thread that has a stream in the context, and ends when the sender is dropped.
fn worker(context: &Context) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel::<()>();
    let (ready, is_ready) = channel();
    let context = context.clone();
    let worker = thread::spawn(move || {
        drop(context.thread_stream().unwrap());
        drop(context);
        ready.send(()).unwrap();
        let _ = stopped.recv();
    });
    is_ready.recv().unwrap();
    (stop, worker)
}

/// A thread that is giving its stream back, and takes its time: in a context that is lost a stream
/// has no other life, and is destroyed.
fn ends_slowly(table: &FaultTable, context: &Context) -> JoinHandle<()> {
    let (stop, worker) = worker(context);
    let stream = context.streams().create(Default::default()).unwrap();
    table.reset();
    table.fail(id::cuStreamQuery, 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    assert!(!ops::health(&stream).is_usable());
    drop(stream);
    table.reset();
    table.delay(id::cuStreamDestroy_v2, 1, Duration::from_millis(300));
    drop(stop);
    while table.count(id::cuStreamDestroy_v2) < 1 {
        thread::yield_now();
    }
    worker
}

// Without it a context could stay when it is released, and its place be taken, because a thread
// that used it just ends.
#[test]
fn a_released_context_is_gone_while_its_threads_end() {
    let (table, _machine, execution, context) = open();
    let device = execution.devices().get(0).unwrap();
    let contexts = device.contexts();
    drop(context);
    let capacity = 2;
    contexts
        .configure(ContextsConfig {
            capacity,
            ..contexts.config()
        })
        .unwrap();
    let context = contexts.create_held(Default::default()).unwrap();
    let worker = ends_slowly(&table, &context);
    let handle = context.handle();
    drop(context);
    contexts.release(handle).unwrap();
    assert_eq!(execution.watch().live().contexts, 1);
    drop(contexts.create(Default::default()).unwrap());
    worker.join().unwrap();
}

/// Keeps a context of other code, and ends with a thread that works in it.
struct Token {
    worker: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
    ended: Sender<()>,
}

impl Drop for Token {
    fn drop(&mut self) {
        if let Some((stop, worker)) = self.worker.get_mut().unwrap().take() {
            drop(stop);
            worker.join().unwrap();
        }
        self.ended.send(()).unwrap();
    }
}

// Without it a thread that ends could wait for ever for another one that ends: for one that is
// joined by what keeps a context of other code.
#[test]
fn what_keeps_a_context_may_wait_for_its_threads() {
    let machine = Machine::builder().worker_threads(1).build();
    let table = FaultTable::new(machine.driver());
    let (mut raw, mut popped): (CUcontext, CUcontext) =
        (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        table.driver().cuInit(0).unwrap();
        table.driver().cuCtxCreate_v2(&raw mut raw, 0, 0).unwrap();
        table.driver().cuCtxPopCurrent_v2(&raw mut popped).unwrap();
    }
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let (ended, is_ended) = channel();
    let token = Arc::new(Token {
        worker: Mutex::new(None),
        ended,
    });
    // SAFETY: no code destroys the context while it is borrowed.
    let context = unsafe { device.contexts().borrow(raw, token.clone()) }.unwrap();
    *token.worker.lock().unwrap() = Some(worker(&context));
    drop(token);
    device.contexts().release(context.handle()).unwrap();
    let slow = ends_slowly(&table, &context);
    // Now that thread has it alone.
    drop(context);
    let ended = is_ended.recv_timeout(Duration::from_secs(20));
    assert!(ended.is_ok(), "two threads that end wait for each other");
    slow.join().unwrap();
    // SAFETY: made above, and no code uses it any more.
    unsafe { table.driver().cuCtxDestroy_v2(raw) }.unwrap();
    drop((device, execution));
    assert_eq!(machine.leaks(), None);
}
