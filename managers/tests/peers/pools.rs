//! Pools that are open to other devices.

use cupola_managers::ops::LaunchConfig;
use cupola_managers::peer::PeerError;
use cupola_managers::pool::{Backing, Source};
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sys::driver::{CUresult, id};

use super::{finish, hold, machine, open, open_unchecked, peer_error};

fn config(source: Source) -> PoolConfig {
    PoolConfig {
        source,
        ..PoolConfig::limit(64 << 20)
    }
}

// Without it memory that a pool gets later, or had before, would be a fault of the other device.
#[test]
fn all_memory_of_an_open_pool_is_the_peers_to_use() {
    for (source, backing) in [
        (Source::Best, Backing::Pages),
        (Source::Chunks, Backing::Chunks),
    ] {
        let (bench, sides) = open(machine(3));
        let (here, there) = (&sides[0], &sides[1]);
        let pool = there.context.memory_pool(config(source)).unwrap();
        assert_eq!(pool.backing(), backing);
        let mut before = pool.upload(&[1u32; 1000], &there.stream).unwrap();
        ops::synchronize(&there.stream).unwrap();
        let refused = ops::fill(&mut before, 2, &here.stream).unwrap_err();
        assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
        pool.open_to(&here.context).unwrap();
        pool.open_to(&here.context).unwrap();
        pool.open_to(&there.context).unwrap();
        let refused = ops::fill(&mut before, 2, &sides[2].stream).unwrap_err();
        assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
        ops::fill(&mut before, 41, &here.stream).unwrap();
        // More than the pool had.
        let mut after = pool.zeros::<u32>(4 << 20, &there.stream).unwrap();
        let bump = here.kernel("bump");
        let add = here.kernel("add");
        ops::order(&there.stream, &here.stream).unwrap();
        // SAFETY: the kernels change the first element of a buffer.
        unsafe {
            ops::launch(
                &bump,
                LaunchConfig::linear(1, 1),
                (&mut before,),
                &here.stream,
            )
            .unwrap();
            let last = after.slice_mut((4 << 20) - 1..).unwrap();
            let arguments = (last, &before);
            ops::launch(&add, LaunchConfig::linear(1, 1), arguments, &here.stream).unwrap();
        }
        let seen = after.slice((4 << 20) - 1..).unwrap();
        let mut element = [0];
        ops::read(seen, &mut element, &here.stream).unwrap();
        assert_eq!(element, [42]);
        pool.open_to(&sides[2].context).unwrap();
        ops::fill(&mut after, 3, &sides[2].stream).unwrap();
        ops::order(&sides[2].stream, &there.stream).unwrap();
        assert_eq!(after.to_vec(&there.stream).unwrap()[4095], 3);
        drop((before, after, bump, add, pool));
        finish(bench, sides);
    }
}

// Without it memory could have its next user while a kernel of another device still uses it.
#[test]
fn memory_comes_back_behind_the_other_device() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    there.pool.open_to(&here.context).unwrap();
    let bump = here.kernel("bump");
    let mut number = there.upload(&[41]);
    let at = number.as_raw();
    let held = hold(&here.stream);
    // SAFETY: the kernel changes the one element.
    unsafe {
        let config = LaunchConfig::linear(1, 1);
        ops::launch(&bump, config, (&mut number,), &here.stream).unwrap();
    }
    drop(number);
    let other = there.context.streams().create(Default::default()).unwrap();
    let apart = there.pool.allocate::<u32>(1, &other).unwrap();
    assert_ne!(apart.as_raw(), at, "its user is not done");
    let next = there.pool.allocate::<u32>(1, &there.stream).unwrap();
    assert_eq!(next.as_raw(), at);
    let mut next = next;
    ops::fill(&mut next, 7, &there.stream).unwrap();
    drop(held);
    // The kernel would have made it 8, or changed it after that.
    ops::synchronize(&here.stream).unwrap();
    assert_eq!(next.to_vec(&there.stream).unwrap(), [7]);
    drop((next, apart, bump, other));
    finish(bench, sides);
}

// Without it a pool could be said to be open to a device that reaches nothing, or be half open.
#[test]
fn a_pool_is_opened_whole_or_not() {
    let (bench, sides) = open_unchecked(machine(2).without_peer_access(0, 1));
    let (here, there) = (&sides[0], &sides[1]);
    let mut numbers = there.upload(&[1; 100]);
    let refused = peer_error(there.pool.open_to(&here.context));
    assert_eq!(refused, PeerError::NoLink { device: 0, peer: 1 });
    let refused = ops::fill(&mut numbers, 2, &here.stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    // The other way there is a link, and the driver fails.
    let ours = here.upload(&[1; 100]);
    bench.faults.reset();
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    bench.faults.fail(id::cuMemSetAccess, 1, code);
    let refused = here.pool.open_to(&there.context).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    let refused = ours.used_on(&there.stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    here.pool.open_to(&there.context).unwrap();
    ours.used_on(&there.stream).unwrap();
    drop((numbers, ours));
    finish(bench, sides);
}

// Without it work that has used a peer's memory before could go on with it when the peer is lost.
#[test]
fn memory_of_a_lost_peer_is_refused_each_time() {
    let (bench, sides) = open(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    there.pool.open_to(&here.context).unwrap();
    let mut buffer = there.pool.zeros::<u32>(1000, &there.stream).unwrap();
    ops::order(&there.stream, &here.stream).unwrap();
    for value in [1, 2] {
        ops::fill(&mut buffer, value, &here.stream).unwrap();
    }
    ops::synchronize(&here.stream).unwrap();
    let bump = there.kernel("bump");
    // SAFETY: the address is no memory's: the kernel faults, and nothing else.
    unsafe { ops::launch(&bump, LaunchConfig::linear(1, 1), (64u64,), &there.stream) }.unwrap();
    ops::synchronize(&there.stream).unwrap_err();
    let calls = || bench.faults.count(id::cuMemsetD32Async);
    let before = calls();
    let refused = ops::fill(&mut buffer, 3, &here.stream).unwrap_err();
    assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
    assert_eq!(calls(), before, "the driver was called");
    here.upload(&[1]);
}
