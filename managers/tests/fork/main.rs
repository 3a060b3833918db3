//! A fork of a process that uses CUDA: every operation refuses, and dropping makes no call.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
mod launches;

use core::ffi::{c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};

use cupola_managers::backend::{BackendKind, BackendRegistry, Cause, OpenError};
use cupola_managers::graph::{CaptureConfig, Graph, GraphBuilder};
use cupola_managers::host::PinnedPoolConfig;
use cupola_managers::managed::{ManagedConfig, ManagedContext};
use cupola_managers::pipeline::{CopyThreads, Pipeline, PipelineConfig};
use cupola_managers::stream::{StreamPool, StreamPoolConfig};
use cupola_managers::{
    Error, ExecutionManager, PoolConfig, RuntimeContext, State, StreamPurpose, ops,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use common::open;

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn _exit(status: c_int) -> !;
}

// Without it a child could call the driver in the context that its parent left current.
#[test]
fn a_child_makes_no_driver_call() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(8, &stream).unwrap();
    let guard = context.enter().unwrap();
    // The context is current, so nothing but the fork itself can stop an operation.
    ops::synchronize(&stream).unwrap();
    assert_eq!(context.not_forked(), Ok(()));
    table.reset();
    // SAFETY: the child calls nothing that takes a lock another thread may hold: it looks at
    // counters, and leaves without running anything else.
    let child = unsafe { fork() };
    if child == 0 {
        let refused = [
            context.not_forked(),
            ops::synchronize(&stream),
            ops::query(&stream).map(drop),
            ops::fill(&mut buffer, 1, &stream),
        ];
        let refused = refused.iter().all(|result| *result == Err(Error::Forked));
        drop((guard, buffer));
        let silent = table.counts().is_empty();
        // SAFETY: ends the child at once.
        unsafe { _exit(if refused { c_int::from(!silent) } else { 2 }) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    assert_eq!(
        status, 0,
        "256: the driver was called, 512: an operation ran"
    );
    ops::fill(&mut buffer, 1, &stream).unwrap();
    ops::synchronize(&stream).unwrap();
}

/// What a child of this process makes of `code`, which ends it.
fn in_a_child(code: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the child runs this thread's code alone: it is meant to take no lock that another thread
    // may hold, and leaves without running anything else; the alarm ends it if it does.
    let child = unsafe { fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        // SAFETY: ends the child if it sleeps.
        unsafe { alarm(20) };
        // A panic must not unwind into the child's copy of the test runner.
        let code = catch_unwind(AssertUnwindSafe(code)).unwrap_or(101);
        // SAFETY: ends the child at once.
        unsafe { _exit(code) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    status
}

// Without it a child could wait for a thread of its parent that tells of tickets, or for a lock that
// threads with leases in stock take.
#[test]
fn a_child_waits_for_no_ticket_and_ends_leases_in_stock() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    // So many that the thread has leases of the stream in stock, and some are buffers'.
    let buffers: Vec<_> = (0..100)
        .map(|_| pool.allocate::<u32>(8, &stream).unwrap())
        .collect();
    let (hold, held) = std::sync::mpsc::channel::<()>();
    ops::host_function(&stream, move || {
        let _ended = held.recv();
    })
    .unwrap();
    let ticket = stream.ticket().unwrap();
    let watch = ticket.on_done(|told| told.unwrap());
    let other = stream.clone();
    let status = in_a_child(|| {
        // The parent's thread may have asked for the ticket until now.
        let before = table.counts();
        let (sender, told) = std::sync::mpsc::channel();
        let at_once = ticket.on_done(move |result| sender.send(result).unwrap());
        let refused = [
            ticket.is_done().map(drop),
            ticket.wait(),
            told.try_recv().unwrap(),
            stream.ticket().map(drop),
        ];
        let refused = refused.iter().all(|result| *result == Err(Error::Forked));
        drop((at_once, watch, ticket));
        drop((buffers, other, stream));
        let silent = table.counts() == before;
        if refused { c_int::from(!silent) } else { 2 }
    });
    assert_eq!(
        status, 0,
        "14: it hung, 256: the driver was called, 512: something was not refused"
    );
    drop(hold);
}

// Without it a child could wait for a lock that a thread of its parent held, or give page-locked memory
// back that is its parent's.
#[test]
fn a_child_leaves_pinned_pools_alone() {
    let (table, _machine, _execution, context) = open();
    let config = PinnedPoolConfig::limit(8 << 20);
    let host = context.pinned_pool(config).unwrap();
    let buffer = host.allocate::<u8>(8).unwrap();
    let before = table.counts();
    let status = in_a_child(|| {
        // A page that both have would be another one for the host than for the device once one of
        // them writes to it.
        if is_mapped(buffer.as_ptr().addr()) {
            return 3;
        }
        let refused = [
            host.allocate::<u8>(8).map(drop),
            host.usage().map(drop),
            host.trim().map(drop),
            host.backing().map(drop),
            buffer.as_slice().map(drop),
            context.pinned_pool(config).map(drop),
        ];
        let refused = refused.iter().all(|result| *result == Err(Error::Forked));
        drop((buffer, host));
        let silent = table.counts() == before;
        if refused { c_int::from(!silent) } else { 2 }
    });
    assert_eq!(
        status, 0,
        "14: it hung, 256: the driver was called, 512: something was not refused, 768: it has the pages"
    );
}

/// Whether this process has memory at the address, as far as the system tells.
fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).unwrap_or_default();
        range.is_some_and(|(from, to)| (number(from)..number(to)).contains(&address))
    })
}

// Without it a child could ask the driver about a device, or sleep until a thread of its
// parent has made one.
#[test]
fn a_child_gets_no_device() {
    let machine = Machine::builder().worker_threads(1).build();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let devices = execution.devices();
    let known = devices.get(0).unwrap();
    devices.release(known.handle()).unwrap();
    let handle = devices.handle(0).unwrap();
    // Long enough that it is under way when the process is forked.
    table.delay(id::cuDeviceGet, 2, std::time::Duration::from_millis(300));
    std::thread::scope(|scope| {
        let maker = scope.spawn(|| devices.ensure_alive(handle).map(drop));
        while table.count(id::cuDeviceGet) < 2 {
            std::thread::yield_now();
        }
        let status = in_a_child(|| {
            let refused = [
                devices.get(0).map(drop),
                devices.ensure_alive(handle).map(drop),
                known.info().map(drop),
                known.primary().map(drop),
            ];
            c_int::from(refused.iter().any(|result| *result != Err(Error::Forked)))
        });
        assert_eq!(status, 0, "256: something was not refused");
        maker.join().unwrap().unwrap();
    });
    devices.get(0).unwrap().info().unwrap();
}

// Without it a child could wait for a lock that a thread held when the process was forked: of
// the list of contexts, of a shared stream that is being made.
#[test]
fn a_child_waits_for_no_lock_of_a_context() {
    let (table, _machine, _execution, context) = open();
    let function = id::cuStreamCreateWithPriority;
    table.delay(function, 1, std::time::Duration::from_millis(300));
    std::thread::scope(|scope| {
        let maker = scope.spawn(|| {
            context
                .streams()
                .shared(StreamPurpose::KernelExecution)
                .map(drop)
        });
        while table.count(function) < 1 {
            std::thread::yield_now();
        }
        let status = in_a_child(|| {
            let shared = context.streams().shared(StreamPurpose::KernelExecution);
            c_int::from(shared.map(drop) != Err(Error::Forked))
        });
        assert_eq!(status, 0, "256: it was not refused");
        maker.join().unwrap().unwrap();
    });
}

// Without it a child could wait for a lock of a manager that a thread of its parent held when
// the process was forked: a shutdown's, while the driver destroys something.
#[test]
fn a_child_waits_for_no_lock_of_a_manager() {
    let (table, _machine, _execution, context) = open();
    let (streams, events) = (context.streams(), context.events());
    let (modules, buffers) = (context.modules(), context.buffers());
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k() {\nret;\n}\n";
    let module = modules.load_ptx(text).unwrap();
    let functions = module.functions();
    let function = functions.get("k").unwrap();
    let stream = streams.create(Default::default()).unwrap();
    let event = events.create(Default::default()).unwrap();
    drop(streams.acquire(Default::default()).unwrap());
    drop(events.acquire(Default::default()).unwrap());
    let slow = [id::cuStreamDestroy_v2, id::cuEventDestroy_v2];
    for function in slow {
        table.delay(function, 1, std::time::Duration::from_millis(300));
    }
    std::thread::scope(|scope| {
        let closers = [
            scope.spawn(|| streams.shutdown()),
            scope.spawn(|| events.shutdown()),
        ];
        while slow.iter().any(|&function| table.count(function) < 1) {
            std::thread::yield_now();
        }
        let status = in_a_child(|| {
            // SAFETY: the process ends by it if it hangs.
            unsafe { alarm(10) };
            let refused = [
                streams.acquire(Default::default()).map(drop),
                streams.shared(StreamPurpose::KernelExecution).map(drop),
                streams.release(stream.handle()),
                streams.trim(0),
                streams.configure(Default::default()),
                events.acquire(Default::default()).map(drop),
                events.release(event.handle()),
                events.trim(0),
                events.configure(Default::default()),
                modules.load_ptx(text).map(drop),
                modules.release(module.handle()),
                modules.configure(Default::default()),
                buffers.configure(Default::default()),
                functions.get("k").map(drop),
                functions.release(function.handle()),
            ];
            let reports = [
                streams.shutdown(),
                events.shutdown(),
                modules.shutdown(),
                buffers.shutdown(),
            ];
            // What makes no call and takes no lock is answered.
            let known = [
                streams.stats().created,
                events.stats().created,
                modules.stats().created,
                functions.stats().created,
            ];
            let are_shut = [streams.state(), events.state()].map(|state| state == State::ShutDown);
            let is_wrong = refused.iter().any(|result| *result != Err(Error::Forked));
            let is_reported = reports.iter().all(|report| {
                report.errors == [Error::Forked]
                    && report.leased.is_empty()
                    && report.destroyed == 0
            });
            c_int::from(is_wrong)
                + 2 * c_int::from(!is_reported)
                + 4 * c_int::from(known != [2, 2, 1, 1] || are_shut != [true; 2])
        });
        assert_eq!(
            status, 0,
            "14: it waited; 256, 512, 1024: which was not refused"
        );
        for closer in closers {
            let report = closer.join().unwrap();
            assert_eq!((report.destroyed, report.leased.len()), (1, 1), "{report}");
        }
    });
    drop(function);
    assert!(modules.shutdown().errors.is_empty());
}

// Without it a child could be handed its parent's driver, or wait for a thread that opens a
// backend in its parent.
#[test]
fn a_child_gets_no_backend_of_its_parent() {
    let machine = Machine::builder().worker_threads(1).build();
    let registry = BackendRegistry::new();
    let source = machine.clone();
    let open = move || Ok(source.driver());
    registry.register("open", BackendKind::Real, open).unwrap();
    let (arrived, arrives) = std::sync::mpsc::channel::<()>();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = std::sync::Mutex::new(ended);
    let parent = std::process::id();
    registry
        .register("opening", BackendKind::Real, move || {
            if std::process::id() == parent {
                arrived.send(())?;
                ended.lock().map_err(|_| "poisoned")?.recv()?;
            }
            Err("no driver".into())
        })
        .unwrap();
    let execution = registry.open("open").unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let runtime = RuntimeContext::builder(&context).pool_limit(1 << 20);
    let runtime = runtime.build().unwrap();
    let _guard = runtime.enter();
    std::thread::scope(|scope| {
        scope.spawn(|| registry.open("opening").unwrap_err());
        arrives.recv().unwrap();
        // SAFETY: the child runs this thread's code alone; the other thread waits in a channel
        // and holds no lock that is taken here.
        let child = unsafe { fork() };
        if child == 0 {
            let cause = |name: &str| match registry.open(name) {
                Err(OpenError::Unavailable { why, .. }) => why,
                _ => {
                    // SAFETY: ends the child at once.
                    unsafe { _exit(1) }
                }
            };
            let forked = matches!(cause("open").cause(), Cause::Forked);
            let own = matches!(cause("opening").cause(), Cause::Source { .. });
            let scratch = cupola_managers::runtime::scratch::<u8>(8);
            let refused = matches!(scratch, Err(Error::Forked));
            let code = c_int::from(!forked) * 2 + c_int::from(!own) * 4 + c_int::from(!refused) * 8;
            // SAFETY: as above.
            unsafe { _exit(code) };
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { waitpid(child, &raw mut status, 0) };
        end.send(()).unwrap();
        assert_eq!((waited, status), (child, 0));
    });
    registry.open("open").unwrap();
}

// Without it a child could wait for a lock that a thread of its parent holds, or use a pipeline's
// memory, which the parent's device still copies.
#[test]
fn a_child_refuses_pipelines_and_what_is_made_of_them() {
    let (table, _machine, _execution, context) = open();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let config = PipelineConfig::new(8, 8);
    let mut pipeline = Pipeline::<u8, u8>::new(&context, &pool, config).unwrap();
    let input = pipeline.try_input().unwrap();
    input.submit::<Error>(8, |_| Ok(8)).unwrap();
    // Its thread is in a download when the process is forked, and is not there in the child.
    let config = config.copy_threads(CopyThreads::Always);
    let mut by_thread = Pipeline::<u8, u8>::new(&context, &pool, config).unwrap();
    let slow = std::time::Duration::from_millis(300);
    table.delay(id::cuMemcpyDtoHAsync_v2, 2, slow);
    let input = by_thread.try_input().unwrap();
    input.submit::<Error>(8, |_| Ok(8)).unwrap();
    while table.count(id::cuMemcpyDtoHAsync_v2) < 2 {
        std::thread::yield_now();
    }
    let config = ManagedConfig::new(8, 8).asynchronous();
    let mut managed = ManagedContext::<u8, u8>::new(&context, &pool, config, |_| Ok(8)).unwrap();
    let step = managed.step(&[1]).unwrap();
    let streams = StreamPool::new(&context, StreamPoolConfig::new(1)).unwrap();
    drop(streams.lease().unwrap());
    table.reset();
    let status = in_a_child(|| {
        let submit = |pipeline: &mut Pipeline<u8, u8>| {
            let input = pipeline.try_input().unwrap();
            input.submit::<Error>(8, |_| Ok(8)).map(drop)
        };
        let items = [
            submit(&mut pipeline).map_err(|error| error.error),
            pipeline.try_output().map(drop).map_err(|error| error.error),
            pipeline.output().map(drop).map_err(|error| error.error),
            pipeline.cancel().map(drop).map_err(|error| error.error),
            submit(&mut by_thread).map_err(|error| error.error),
            by_thread
                .try_output()
                .map(drop)
                .map_err(|error| error.error),
            by_thread.output().map(drop).map_err(|error| error.error),
            by_thread.synchronize(),
            by_thread.cancel().map(drop).map_err(|error| error.error),
        ];
        let others = [
            managed.step(&[1]).map(drop),
            managed.triple_buffered_step(&[1]).map(drop),
            managed.drain(|_| Ok(())),
            managed.reset(),
            step.wait().map(drop),
            streams.lease().map(drop),
            StreamPool::new(&context, StreamPoolConfig::new(1)).map(drop),
        ];
        let refused = items.iter().chain(&others);
        let refused = refused.filter(|result| **result == Err(Error::Forked));
        drop((pipeline, by_thread, managed));
        let all = refused.count() == items.len() + others.len();
        c_int::from(!all) | c_int::from(!table.counts().is_empty()) << 1
    });
    assert_eq!(
        status, 0,
        "256: one was not refused, 512: the driver was called"
    );
}

// Without it a child could launch a graph of its parent, or free what the parent's launches use.
#[test]
fn a_child_launches_no_graph_and_leaves_what_it_uses_alone() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(8, &stream).unwrap();
    let capture = |buffer: &mut _| {
        Graph::capture(&context, CaptureConfig::default(), |capture| {
            ops::fill(buffer, 3, capture.stream())
        })
        .unwrap()
        .0
    };
    let graph = capture(&mut buffer);
    let mut executable = graph.instantiate().unwrap();
    let mut builder = GraphBuilder::new(&context).unwrap();
    executable.launch(&stream).unwrap();
    ops::synchronize(&stream).unwrap();
    table.reset();
    let status = in_a_child(|| {
        let refused = [
            executable.launch(&stream),
            executable.upload(&stream),
            executable.synchronize(),
            executable.update(&graph).map(drop),
            graph.instantiate().map(drop),
            graph.try_clone().map(drop),
            graph.nodes().map(drop),
            builder.empty(&[]).map(drop),
            builder.fill(&[], &mut buffer, 4).map(drop),
            GraphBuilder::new(&context).map(drop),
            Graph::capture(&context, CaptureConfig::default(), |_| Ok::<_, Error>(())).map(drop),
        ];
        let refused = refused.iter().all(|result| *result == Err(Error::Forked));
        drop((buffer, executable, graph, builder));
        match (refused, table.counts().is_empty()) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        }
    });
    assert_eq!(status, 0, "256: the driver was called, 512: work was put");
}
