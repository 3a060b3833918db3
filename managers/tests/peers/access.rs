//! Access of one context to the memory of another.

use std::sync::Barrier;
use std::thread;

use cupola_managers::context::Waiting;
use cupola_managers::ops::LaunchConfig;
use cupola_managers::peer::PeerError;
use cupola_managers::pool::Source;
use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
use cupola_sys::driver::{CUresult, id};

use super::{Side, TestBench, finish, hold, machine, open, open_unchecked, peer_error};

/// Whether a kernel of the first device can change memory of the driver's own of the second. After a
/// fault the first device's context is lost.
fn reaches(here: &Side, there: &Side) -> bool {
    let config = PoolConfig {
        source: Source::Chunks,
        ..PoolConfig::limit(64 << 20)
    };
    let pool = there.context.memory_pool(config).unwrap();
    let number = pool.upload(&[41u32], &there.stream).unwrap();
    ops::synchronize(&there.stream).unwrap();
    let bump = here.kernel("bump");
    let config = LaunchConfig::linear(1, 1);
    // SAFETY: the kernel changes the number, and the launch is waited for.
    let launched = unsafe { ops::launch(&bump, config, (number.as_raw(),), &here.stream) };
    launched.unwrap();
    match ops::synchronize(&here.stream) {
        Ok(()) => {
            assert_eq!(number.to_vec(&there.stream).unwrap(), [42]);
            true
        }
        Err(error) => {
            assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
            false
        }
    }
}

fn enabled(bench: &TestBench) -> (u64, u64) {
    let calls = |symbol| bench.faults.count(symbol);
    (
        calls(id::cuCtxEnablePeerAccess),
        calls(id::cuCtxDisablePeerAccess),
    )
}

// Without it each grant could enable the access, which the driver refuses the second time, or the
// first drop take it away from the others.
#[test]
fn grants_of_one_pair_are_one_access() {
    let (bench, sides) = open(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let first = here.context.peer_access(&there.context).unwrap();
    assert_eq!((first.device(), first.peer()), (0, 1));
    let second = here.context.peer_access(&there.context).unwrap();
    assert_eq!(enabled(&bench), (1, 0));
    drop(first);
    assert!(reaches(here, there));
    assert_eq!(enabled(&bench), (1, 0));
    second.end().unwrap();
    assert_eq!(enabled(&bench), (1, 1));
    // Again, by another execution manager in the same contexts.
    let other = ExecutionManager::new(bench.faults.driver()).unwrap();
    let context = |ordinal| other.devices().get(ordinal).unwrap().primary().unwrap();
    let (own, peer) = (context(0), context(1));
    let first = here.context.peer_access(&there.context).unwrap();
    let second = own.peer_access(&peer).unwrap();
    assert_eq!(enabled(&bench), (2, 1));
    drop(first);
    assert_eq!(enabled(&bench), (2, 1));
    drop(second);
    assert_eq!(enabled(&bench), (2, 2));
    drop((own, peer, other));
    finish(bench, sides);
}

// Without it an access would go both ways, or stay after its end.
#[test]
fn access_goes_one_way_and_ends() {
    for (grant, expected) in [(Some((0, 1)), true), (Some((1, 0)), false), (None, false)] {
        let (bench, sides) = open_unchecked(machine(2));
        let access = grant.map(|(device, peer): (usize, usize)| {
            let access = sides[device].context.peer_access(&sides[peer].context);
            access.unwrap()
        });
        assert_eq!(reaches(&sides[0], &sides[1]), expected, "{grant:?}");
        drop((access, sides));
        drop(bench);
    }
    let (bench, sides) = open_unchecked(machine(2));
    drop(sides[0].context.peer_access(&sides[1].context).unwrap());
    assert!(!reaches(&sides[0], &sides[1]), "after its end");
    drop((bench, sides));
}

// Without it work that was put with the access could run after its end, which is a fault.
#[test]
fn the_last_drop_waits_for_the_work() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let config = PoolConfig {
        source: Source::Chunks,
        ..PoolConfig::limit(64 << 20)
    };
    let pool = there.context.memory_pool(config).unwrap();
    let number = pool.upload(&[41u32], &there.stream).unwrap();
    ops::synchronize(&there.stream).unwrap();
    let bump = here.kernel("bump");
    let access = here.context.peer_access(&there.context).unwrap();
    let held = hold(&here.stream);
    // SAFETY: the kernel changes the number, and the stream is waited for.
    unsafe {
        let config = LaunchConfig::linear(1, 1);
        ops::launch(&bump, config, (number.as_raw(),), &here.stream).unwrap();
    }
    let dropped = thread::spawn(move || drop(access));
    // Without a wait it would be over by now, nearly always.
    thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(enabled(&bench).1, 0);
    drop(held);
    dropped.join().unwrap();
    ops::synchronize(&here.stream).unwrap();
    assert_eq!(number.to_vec(&there.stream).unwrap(), [42]);
    drop((number, pool, bump));
    finish(bench, sides);
}

// Without it the access that other code has enabled would be an error, or be taken away from it.
#[test]
fn access_of_other_code_is_left_to_it() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    {
        let _current = here.context.enter().unwrap();
        let driver = bench.execution.driver();
        // SAFETY: the peer lives.
        unsafe { driver.cuCtxEnablePeerAccess(there.context.as_raw(), 0) }.unwrap();
    }
    let access = here.context.peer_access(&there.context).unwrap();
    access.end().unwrap();
    assert_eq!(enabled(&bench).1, 0);
    assert!(reaches(here, there));
    // Other code has taken ours away meanwhile.
    let access = there.context.peer_access(&here.context).unwrap();
    {
        let _current = there.context.enter().unwrap();
        let driver = bench.execution.driver();
        // SAFETY: the peer lives.
        unsafe { driver.cuCtxDisablePeerAccess(here.context.as_raw()) }.unwrap();
    }
    access.end().unwrap();
    assert_eq!(bench.execution.live().abandoned, 0);
    finish(bench, sides);
}

// Without it a refusal would be a code that says nothing of what to do.
#[test]
fn refusals_say_what_to_do() {
    let (bench, sides) = open(machine(2).without_peer_access(0, 1));
    let (here, there) = (&sides[0], &sides[1]);
    let refused = here.context.peer_access(&there.context);
    let text = refused.as_ref().unwrap_err().to_string();
    assert!(text.contains("copy_between"), "{text}");
    assert_eq!(
        peer_error(refused),
        PeerError::NoLink { device: 0, peer: 1 }
    );
    drop(there.context.peer_access(&here.context).unwrap());
    let refused = here.context.peer_access(&here.context);
    assert_eq!(peer_error(refused), PeerError::SameDevice { device: 0 });
    let device = bench.execution.devices().get(0).unwrap();
    let created = device.contexts().create(Waiting::Auto).unwrap();
    let refused = here.context.peer_access(&created);
    assert_eq!(peer_error(refused), PeerError::SameDevice { device: 0 });
    let code = CUresult::CUDA_ERROR_TOO_MANY_PEERS;
    bench.faults.reset();
    bench.faults.fail(id::cuCtxEnablePeerAccess, 1, code);
    let refused = there.context.peer_access(&here.context);
    assert!(matches!(peer_error(refused), PeerError::TooMany { .. }));
    let other = TestBench::on(machine(2));
    let foreign = Side::new(&other, 1);
    let refused = there.context.peer_access(&foreign.context).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    device.contexts().release(created.handle()).unwrap();
    drop((created, foreign, device));
    other.finish();
    finish(bench, sides);
}

// Without it threads that ask at once could enable twice, or check twice.
#[test]
fn threads_that_ask_at_once_enable_once() {
    let (bench, sides) = open(machine(2));
    let before = bench.faults.count(id::cuModuleLoadData);
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                let access = sides[0].context.peer_access(&sides[1].context).unwrap();
                barrier.wait();
                drop(access);
            });
        }
    });
    assert_eq!(enabled(&bench), (1, 1));
    assert_eq!(bench.faults.count(id::cuModuleLoadData), before + 1);
    finish(bench, sides);
}

// Without it a context that is lost could be waited for for ever, be asked to disable what it has not,
// or keep the other one from ending.
#[test]
fn a_lost_context_leaves_its_peer_alone() {
    for lost in [0, 1] {
        let (bench, sides) = open_unchecked(machine(2));
        let accesses = [(0, 1), (1, 0)].map(|(device, peer): (usize, usize)| {
            let access = sides[device].context.peer_access(&sides[peer].context);
            access.unwrap()
        });
        // An address of nothing.
        let bump = sides[lost].kernel("bump");
        let config = LaunchConfig::linear(1, 1);
        // SAFETY: the address is no memory's: the kernel faults, and nothing else.
        unsafe { ops::launch(&bump, config, (64u64,), &sides[lost].stream) }.unwrap();
        ops::synchronize(&sides[lost].stream).unwrap_err();
        let (own, other) = (&sides[lost], &sides[1 - lost]);
        let refused = own.context.peer_access(&other.context).unwrap_err();
        assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
        let refused = other.context.peer_access(&own.context).unwrap_err();
        assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
        assert!(other.context.poison().is_none());
        drop(accesses);
        let mut buffer = other.upload(&[1, 2, 3]);
        ops::fill(&mut buffer, 4, &other.stream).unwrap();
        assert_eq!(buffer.to_vec(&other.stream).unwrap(), [4; 3]);
        drop(buffer);
        drop((bench, sides));
    }
}
