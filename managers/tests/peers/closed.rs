//! Pools that are closed to other devices again.

use cupola_managers::context::Waiting;
use cupola_managers::ops::LaunchConfig;
use cupola_managers::peer::PeerError;
use cupola_managers::pool::Source;
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sys::driver::{CUresult, id};

use super::{Side, finish, hold, machine, open_unchecked, peer_error};

fn config(source: Source) -> PoolConfig {
    PoolConfig {
        source,
        ..PoolConfig::limit(64 << 20)
    }
}

// Without it a pool could take the access away from work that uses it, wait for that work on the host, or
// refuse for ever though all of it is over.
#[test]
fn a_pool_is_closed_behind_its_uses() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let pool = &there.pool;
    pool.open_to(&here.context).unwrap();
    let mut number = there.upload(&[41]);
    let idle = there.upload(&[1]);
    let bump = here.kernel("bump");
    let held = hold(&here.stream);
    // SAFETY: the kernel changes the one element.
    unsafe {
        let config = LaunchConfig::linear(1, 1);
        ops::launch(&bump, config, (&mut number,), &here.stream).unwrap();
    }
    let in_use = |buffers, freed| PeerError::InUse {
        device: 0,
        peer: 1,
        buffers,
        freed,
    };
    let refused = pool.close_to(&here.context).unwrap_err();
    assert!(refused.to_string().contains("1 buffers"), "{refused}");
    assert_eq!(peer_error(Err::<(), _>(refused)), in_use(1, 0));
    // It is as open as before.
    number.used_on(&here.stream).unwrap();
    drop(number);
    let refused = pool.close_to(&here.context).unwrap_err();
    assert!(refused.is_retryable(), "{refused}");
    assert_eq!(peer_error(Err::<(), _>(refused)), in_use(0, 1));
    drop(held);
    ops::synchronize(&there.stream).unwrap();
    pool.close_to(&here.context).unwrap();
    let refused = idle.used_on(&here.stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    drop((idle, bump));
    finish(bench, sides);
}

// Without it what a pool has mapped before or since could stay the other device's, or be lost to it when the
// pool is opened again; on either kind of memory.
#[test]
fn a_pool_may_be_opened_and_closed_again_and_again() {
    for source in [Source::Best, Source::Chunks] {
        let (bench, sides) = open_unchecked(machine(2));
        let (here, there) = (&sides[0], &sides[1]);
        let pool = there.context.memory_pool(config(source)).unwrap();
        let mut before = pool.upload(&[1u32; 1000], &there.stream).unwrap();
        for round in 0..3 {
            pool.open_to(&here.context).unwrap();
            // More than the pool has, so that pages are mapped while it is open, and while it is closed.
            let mut during = pool.zeros::<u32>(2 << 20, &there.stream).unwrap();
            ops::order(&there.stream, &here.stream).unwrap();
            ops::fill(&mut before, round, &here.stream).unwrap();
            ops::fill(&mut during, round, &here.stream).unwrap();
            ops::order(&here.stream, &there.stream).unwrap();
            assert_eq!(before.to_vec(&there.stream).unwrap(), [round; 1000]);
            assert!(matches!(
                peer_error(pool.close_to(&here.context)),
                PeerError::InUse { buffers: 2, .. }
            ));
            drop((before, during));
            ops::synchronize(&there.stream).unwrap();
            pool.close_to(&here.context).unwrap();
            pool.close_to(&here.context).unwrap();
            before = pool.upload(&[1u32; 1000], &there.stream).unwrap();
            let after = pool.zeros::<u32>(6 << 20, &there.stream).unwrap();
            for refused in [
                before.used_on(&here.stream),
                ops::fill(&mut before, 9, &here.stream),
                after.used_on(&here.stream),
            ] {
                let refused = refused.unwrap_err();
                assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
            }
            drop(after);
            pool.trim().unwrap();
        }
        let granted = [id::cuCtxEnablePeerAccess, id::cuCtxDisablePeerAccess]
            .map(|symbol| bench.faults.count(symbol));
        assert_eq!(granted[0], granted[1], "an access is left");
        let refused = pool.close_to(&there.context).unwrap_err();
        assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
        drop((before, pool));
        finish(bench, sides);
    }
}

// Without it a pool could be closed in name alone.
#[test]
fn a_closed_pools_pages_are_out_of_reach() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let number = there.upload(&[41]);
    there.pool.open_to(&here.context).unwrap();
    let (bump, at) = (here.kernel("bump"), number.as_raw());
    // SAFETY: the kernel changes the one element, and is waited for.
    let launch = || unsafe {
        ops::launch(&bump, LaunchConfig::linear(1, 1), (at,), &here.stream)
            .and_then(|()| ops::synchronize(&here.stream))
    };
    launch().unwrap();
    there.pool.close_to(&here.context).unwrap();
    let faulted = launch().unwrap_err();
    assert_eq!(faulted.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert_eq!(number.to_vec(&there.stream).unwrap(), [42]);
    drop((number, bump));
    drop((bench, sides));
}

// Without it a context could lose its access with another one of its device, which pages do not tell
// apart, or a device keep it behind both.
#[test]
fn pages_are_closed_with_the_last_context_of_a_device() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let device = bench.execution.devices().get(0).unwrap();
    let other = Side::of(device.contexts().create(Waiting::Auto).unwrap());
    let mut number = there.upload(&[1]);
    let calls = || bench.faults.count(id::cuMemSetAccess);
    there.pool.open_to(&here.context).unwrap();
    let opened = calls();
    there.pool.open_to(&other.context).unwrap();
    there.pool.close_to(&here.context).unwrap();
    assert_eq!(calls(), opened, "the other context has it");
    let refused = number.used_on(&here.stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    ops::fill(&mut number, 7, &other.stream).unwrap();
    ops::synchronize(&other.stream).unwrap();
    assert_eq!(number.to_vec(&there.stream).unwrap(), [7]);
    drop(number);
    ops::synchronize(&there.stream).unwrap();
    there.pool.close_to(&other.context).unwrap();
    assert_eq!(calls(), opened + 1);
    device.contexts().release(other.context.handle()).unwrap();
    drop((other, device));
    finish(bench, sides);
}

// Without it an access that the driver did not take away could be used on, or be left for ever.
#[test]
fn a_close_that_fails_is_made_again() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let number = there.upload(&[1]);
    there.pool.open_to(&here.context).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for reopened in [false, true] {
        bench.faults.reset();
        bench.faults.fail(id::cuMemSetAccess, 1, code);
        let refused = there.pool.close_to(&here.context).unwrap_err();
        assert_eq!(refused.status(), Some(code));
        let refused = number.used_on(&here.stream).unwrap_err();
        assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
        if reopened {
            there.pool.open_to(&here.context).unwrap();
            assert_eq!(bench.faults.count(id::cuMemSetAccess), 2);
        }
        there.pool.close_to(&here.context).unwrap();
        assert_eq!(
            bench.faults.count(id::cuMemSetAccess),
            2 + u64::from(reopened)
        );
        there.pool.open_to(&here.context).unwrap();
    }
    drop(number);
    finish(bench, sides);
}

// Without it a direct copy could lose its access, which it uses though it asks for none.
#[test]
fn a_copy_between_keeps_the_pool_open_that_it_may_use() {
    let (bench, sides) = open_unchecked(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let (from, mut to) = (there.upload(&[7; 10]), here.upload(&[0; 10]));
    // Not open yet: nothing to keep.
    ops::copy_between(&from, &mut to, &here.stream).unwrap();
    there.pool.open_to(&here.context).unwrap();
    there.pool.close_to(&here.context).unwrap();
    there.pool.open_to(&here.context).unwrap();
    let held = hold(&here.stream);
    ops::copy_between(&from, &mut to, &here.stream).unwrap();
    let refused = peer_error(there.pool.close_to(&here.context));
    assert!(
        matches!(refused, PeerError::InUse { buffers: 1, .. }),
        "{refused:?}"
    );
    drop((held, from));
    ops::synchronize(&there.stream).unwrap();
    there.pool.close_to(&here.context).unwrap();
    assert_eq!(to.to_vec(&here.stream).unwrap(), [7; 10]);
    drop(to);
    finish(bench, sides);
}
