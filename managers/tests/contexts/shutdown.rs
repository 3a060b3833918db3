//! Shutdowns, and releases of a device, while contexts of all four kinds are there.

use std::any::Any;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Barrier};

use cupola_managers::buffer::Buffer;
use cupola_managers::context::{ContextKind, ContextsConfig, GreenConfig};
use cupola_managers::{
    Context, Device, Error, ExecutionConfig, ExecutionManager, PoolConfig, ShutdownReport, State,
    Stream, ops,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};
use quickcheck::quickcheck;

use super::{Ordering, Other, borrow, device, machine};

/// Where a shutdown begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Execution,
    Devices,
    Contexts,
}

const LEVELS: [Level; 3] = [Level::Execution, Level::Devices, Level::Contexts];

/// Contexts of all kinds: of each one that is leased, with a stream that is leased and one
/// that waits, and, but for the primary one, one that is not leased.
struct All {
    machine: Machine,
    table: FaultTable,
    execution: ExecutionManager,
    device: Device,
    contexts: Vec<Context>,
    streams: Vec<Stream>,
    /// Of the green context.
    buffer: Buffer<u32>,
    other: Arc<Other>,
    /// Ends of the borrowed contexts: the leased one, and the other.
    ended: [Arc<AtomicUsize>; 2],
}

impl All {
    fn new() -> Self {
        let machine = machine();
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let device = device(&execution);
        let managed = device.contexts();
        let (other, leased) = Other::new(&machine.driver(), 0);
        let (idle, unused) = Other::new(&machine.driver(), 0);
        let contexts = vec![
            device.primary().unwrap(),
            managed.green(GreenConfig::at_least(8)).unwrap(),
            managed.create(Default::default()).unwrap(),
            borrow(&device, &other).unwrap(),
        ];
        let streams: Vec<_> = contexts
            .iter()
            .map(|context| {
                let acquire = || context.streams().acquire(Default::default()).unwrap();
                let (kept, waits) = (acquire(), acquire());
                drop(waits);
                kept
            })
            .collect();
        drop(managed.green(GreenConfig::at_least(8)).unwrap());
        drop(managed.create_held(Default::default()).unwrap());
        drop(borrow(&device, &idle).unwrap());
        drop(idle);
        let pool = contexts[1].memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let buffer = pool.allocate::<u32>(64, &streams[1]).unwrap();
        Self {
            machine,
            table,
            execution,
            device,
            contexts,
            streams,
            buffer,
            other,
            ended: [leased, unused],
        }
    }

    fn shutdown(&self, level: Level) -> ShutdownReport {
        match level {
            Level::Execution => self.execution.shutdown(),
            Level::Devices => self.execution.devices().shutdown(),
            Level::Contexts => self.device.contexts().shutdown(),
        }
    }

    fn configure(&self, level: Level) {
        let configured = match level {
            Level::Execution => self.execution.configure(ExecutionConfig::default()),
            Level::Devices => self.execution.devices().configure(Default::default()),
            Level::Contexts => self.device.contexts().configure(ContextsConfig::default()),
        };
        configured.unwrap();
    }

    fn ended(&self) -> [usize; 2] {
        self.ended
            .each_ref()
            .map(|ended| ended.load(Ordering::Relaxed))
    }

    /// What is leased, in the order of a report: green contexts before the primary one,
    /// which they keep.
    fn expected(&self, level: Level) -> Vec<(&'static str, Option<ContextKind>)> {
        let mut expected = Vec::new();
        for context in self.contexts[1..].iter().chain(&self.contexts[..1]) {
            let kind = Some(context.kind());
            if kind == Some(ContextKind::Green) {
                expected.push(("Buffer", kind));
            }
            expected.extend([("Stream", kind), ("Context", kind)]);
        }
        if level != Level::Contexts {
            expected.push(("Device", None));
        }
        expected
    }

    fn found(&self, report: &ShutdownReport) -> Vec<(&'static str, Option<ContextKind>)> {
        let kind = |object: &cupola_managers::LeasedObject| {
            let mut contexts = self.contexts.iter();
            let context = contexts.find(|context| Some(context.handle()) == object.context);
            // The primary one may have another handle since, of another manager.
            let since = object.context.map(|_| ContextKind::Primary);
            let context = context.map(Context::kind).or(since);
            // The buffer leases its stream, too.
            let twice = (object.kind, context) == ("Stream", Some(ContextKind::Green));
            let leases = 1 + u64::from(twice);
            assert_eq!(
                (object.device, object.leases),
                (Some(0), leases),
                "{object}"
            );
            (object.kind, context)
        };
        report.leased.iter().map(kind).collect()
    }

    /// Nothing can be made, and an attempt keeps nothing.
    fn refuses(&self) {
        let managed = self.device.contexts();
        assert_eq!(managed.state(), State::ShutDown);
        let before = Arc::strong_count(&self.other);
        for refused in [
            managed.primary(),
            managed.create(Default::default()),
            managed.green(GreenConfig::at_least(8)),
            borrow(&self.device, &self.other),
        ] {
            assert_eq!(refused.unwrap_err(), Error::ShutDown { kind: "Context" });
        }
        assert_eq!(Arc::strong_count(&self.other), before);
        for context in &self.contexts {
            let stale = managed.lease(context.handle());
            assert!(matches!(stale, Err(Error::StaleHandle { .. })));
        }
    }

    /// What is leased works, also what orders streams by events of the crate's own.
    fn works(&mut self) {
        ops::order(&self.streams[1], &self.streams[0]).unwrap();
        ops::fill(&mut self.buffer, 7, &self.streams[0]).unwrap();
        ops::synchronize(&self.streams[0]).unwrap();
        let mut back = [0; 64];
        ops::read(&self.buffer, &mut back, &self.streams[1]).unwrap();
        assert_eq!(back, [7; 64]);
        for stream in &self.streams {
            ops::synchronize(stream).unwrap();
        }
    }

    /// Gives everything back but the execution manager, in an order: whether nothing is left.
    fn end(self, order: impl IntoIterator<Item = u8>) -> bool {
        let mut things: Vec<Box<dyn Any>> = vec![
            Box::new(self.device),
            Box::new(self.buffer),
            Box::new(self.other),
        ];
        things.extend(self.contexts.into_iter().map(|it| Box::new(it) as _));
        things.extend(self.streams.into_iter().map(|it| Box::new(it) as _));
        let mut order = order.into_iter();
        while !things.is_empty() {
            let pick = usize::from(order.next().unwrap_or(0)) % things.len();
            drop(things.swap_remove(pick));
        }
        let counts = self.ended.map(|ended| ended.load(Ordering::Relaxed));
        counts == [1, 1]
            && self.execution.shutdown().is_complete()
            && self.machine.leaks().is_none()
    }
}

// Without it a shutdown could overlook a context of some kind, end it under its users, end
// what is other code's, or keep other code's token.
#[test]
fn a_shutdown_ends_unleased_objects_of_every_kind() {
    for level in LEVELS {
        let mut all = All::new();
        let report = all.shutdown(level);
        println!("{level:?}: {report}");
        assert_eq!(all.found(&report), all.expected(level), "{report}");
        // Four streams, and a context of each kind but the primary.
        assert_eq!((report.destroyed, report.errors.len()), (7, 0), "{report}");
        assert_eq!(report.alive.is_some(), level == Level::Execution);
        assert_eq!(all.ended(), [0, 1]);
        let calls = [id::cuGreenCtxDestroy, id::cuCtxDestroy_v2];
        assert_eq!(calls.map(|call| all.table.count(call)), [1, 1]);
        all.refuses();
        // The same once more, and nothing to destroy.
        let again = all.shutdown(level);
        assert_eq!(all.found(&again), all.expected(level), "{again}");
        assert_eq!(again.destroyed, 0, "{again}");
        all.works();
        assert!(all.end([]));
    }
}

// Without it what outlives a shutdown could leak, or end twice, in some order of drops.
#[test]
fn any_order_of_drops_after_a_shutdown_leaves_nothing() {
    fn property(level: u8, order: Vec<u8>) -> bool {
        let all = All::new();
        let level = LEVELS[usize::from(level) % LEVELS.len()];
        drop(all.shutdown(level));
        all.end(order)
    }
    quickcheck(property as fn(u8, Vec<u8>) -> bool);
}

// Without it a level that was shut down could stay so, or what comes after could be mixed
// up with what is leased from before.
#[test]
fn every_level_is_configured_again_beside_what_is_leased() {
    for level in LEVELS {
        let mut all = All::new();
        drop(all.shutdown(level));
        all.configure(level);
        let device = device(&all.execution);
        let same = device.handle() == all.device.handle();
        assert_eq!(same, level == Level::Contexts);
        let green = device.contexts().green(GreenConfig::at_least(8)).unwrap();
        assert_eq!(green.kind(), ContextKind::Green);
        // A context of other code is one context, whichever life it is borrowed in.
        let theirs = borrow(&device, &all.other).unwrap();
        assert_ne!(theirs.handle(), all.contexts[3].handle());
        let event = theirs.events().create(Default::default()).unwrap();
        ops::record(&event, &all.streams[3]).unwrap();
        ops::synchronize_event(&event).unwrap();
        all.works();
        // The next shutdown finds both lives.
        let report = all.shutdown(level);
        println!("{level:?}: {report}");
        // The green and the borrowed one; the four of before, of which the primary one is theirs.
        let (contexts, devices) = ("Context", "Device");
        let both = [contexts, devices].map(|kind| report.leased_of(kind).count());
        let expected = if same { [6, 0] } else { [6, 2] };
        assert_eq!(both, expected, "{report}");
        drop((event, theirs, green, device));
        assert!(all.end([3, 1, 4, 1, 5, 9, 2, 6]));
    }
}

// Without it a context that the driver does not end could go untold.
#[test]
fn a_shutdown_tells_which_contexts_could_not_be_ended() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    drop(contexts.green(GreenConfig::at_least(8)).unwrap());
    drop(contexts.create_held(Default::default()).unwrap());
    let calls = [
        (id::cuGreenCtxDestroy, CUresult::CUDA_ERROR_UNKNOWN),
        (id::cuCtxDestroy_v2, CUresult::CUDA_ERROR_INVALID_VALUE),
        (
            id::cuDevicePrimaryCtxRelease_v2,
            CUresult::CUDA_ERROR_INVALID_CONTEXT,
        ),
    ];
    for (call, code) in calls {
        table.fail(call, 1, code);
    }
    let report = execution.shutdown();
    let mut codes: Vec<_> = report.errors.iter().filter_map(Error::status).collect();
    codes.sort_by_key(|code| code.0);
    let mut expected = calls.map(|(_, code)| code);
    expected.sort_by_key(|code| code.0);
    assert_eq!(codes, expected, "{report}");
    let alive = report.alive.unwrap();
    assert_eq!((alive.contexts, alive.abandoned), (0, 3));
    assert_eq!(report.leased_of("Context").count(), 0);
    drop(device);
    // Each was tried once.
    drop(execution);
    assert!(calls.iter().all(|(call, _)| table.count(*call) == 1));
}

// Without it a device that was given up could go on making contexts that no manager knows,
// or take from a user what it leases.
#[test]
fn a_released_device_makes_no_more_contexts() {
    let mut all = All::new();
    let managed = all.execution.devices();
    managed.release(all.device.handle()).unwrap();
    // What was not leased is gone, other code's token with it.
    assert_eq!(all.ended(), [0, 1]);
    assert_eq!(all.execution.live().contexts, 4);
    all.refuses();
    // The managers in a leased context are open, as the context is.
    for context in &all.contexts {
        assert_eq!(context.streams().state(), State::Ready);
        let stream = context.streams().acquire(Default::default()).unwrap();
        ops::synchronize(&stream).unwrap();
    }
    // The device starts anew.
    let managed = all.execution.devices();
    let again = managed.get(0).unwrap();
    assert_ne!(again.handle(), all.device.handle());
    let green = again.contexts().green(GreenConfig::at_least(8)).unwrap();
    let stream = green.streams().create(Default::default()).unwrap();
    ops::fill(&mut all.buffer, 1, &all.streams[1]).unwrap();
    ops::synchronize(&stream).unwrap();
    drop((stream, green, again));
    // A shutdown finds what was released and is leased. The primary context was that of
    // before, and is told of once.
    let report = all.execution.shutdown();
    assert_eq!(all.found(&report), all.expected(Level::Execution));
    all.refuses();
    all.works();
    assert!(all.end([7, 0, 3]));
}

// Without it a shutdown beside the release of a device could see the contexts neither of the
// one nor of the other, and leave their managers open.
#[test]
fn a_shutdown_beside_the_release_of_a_device_finds_its_contexts() {
    for _ in 0..50 {
        let machine = machine();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = device(&execution);
        let context = device.primary().unwrap();
        let handle = device.handle();
        drop(device);
        let barrier = Barrier::new(2);
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                // Stale when the shutdown comes first.
                let _ = execution.devices().release(handle);
            });
            barrier.wait();
            execution.shutdown()
        });
        assert_eq!(report.leased_of("Context").count(), 1, "{report}");
        let refused = context.streams().acquire(Default::default());
        assert!(matches!(refused, Err(Error::ShutDown { .. })));
        drop(context);
        assert!(execution.shutdown().is_complete());
        assert_eq!(machine.leaks(), None);
    }
}

// Without it a context could be made behind the release of its device, or behind a shutdown,
// and stay in a manager that no shutdown looks at.
#[test]
fn contexts_of_all_kinds_are_made_while_a_device_ends() {
    for round in 0..20 {
        let machine = machine();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = device(&execution);
        let (other, ended) = Other::new(&machine.driver(), 0);
        let barrier = Barrier::new(5);
        std::thread::scope(|scope| {
            for kind in 0..4 {
                let (device, other, barrier) = (&device, &other, &barrier);
                scope.spawn(move || {
                    let contexts = device.contexts();
                    barrier.wait();
                    loop {
                        let made = match kind {
                            0 => device.primary(),
                            1 => contexts.create(Default::default()),
                            2 => contexts.green(GreenConfig::at_least(8)),
                            _ => borrow(device, other),
                        };
                        match made {
                            Ok(context) => {
                                let _ = contexts.release(context.handle());
                            }
                            Err(Error::ShutDown { .. }) => break,
                            Err(Error::StaleHandle { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            barrier.wait();
            if round % 2 == 0 {
                execution.devices().release(device.handle()).unwrap();
            } else {
                drop(execution.shutdown());
            }
        });
        // The device is leased, and nothing is in it.
        assert!(execution.live().is_empty(), "{:?}", execution.live());
        drop(other);
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        assert_eq!(machine.leaks(), None);
    }
}
