//! The check of the first use.

use cupola_managers::peer::{PeerError, PeerPath};
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sim::DeviceConfig;
use cupola_sys::driver::{CUresult, id};

use super::{finish, machine, open, open_unchecked, peer_error};

// Without it a link that loses bytes would be used, as most programs do; or a pair be refused that is
// well, or be checked again and again.
#[test]
fn a_corrupt_link_is_found_by_the_first_copy() {
    let (bench, sides) = open(machine(2).corrupt_link(1, 0));
    let (here, there) = (&sides[0], &sides[1]);
    let copies = || bench.faults.count(id::cuMemcpyPeerAsync);
    let from = there.upload(&[1; 100]);
    let mut to = here.upload(&[2; 100]);
    for _ in 0..2 {
        let PeerError::Corrupt(wrong) = peer_error(ops::copy_between(&from, &mut to, &here.stream))
        else {
            panic!("another error");
        };
        assert_eq!((wrong.device, wrong.peer), (1, 0));
        assert_eq!(wrong.path, PeerPath::Copy);
        assert_eq!(wrong.offset, (64 << 10) - 64);
        assert_ne!(wrong.expected, wrong.found);
        assert!(wrong.wrong > 64 && wrong.bytes == 4 << 20, "{wrong}");
    }
    let text = ops::copy_between(&from, &mut to, &here.stream).unwrap_err();
    let text = text.to_string();
    assert!(text.contains("ACS") && text.contains("IOMMU"), "{text}");
    let checked = copies();
    assert_eq!(to.to_vec(&here.stream).unwrap(), [2; 100]);
    // The other way is well.
    let mut back = there.upload(&[0; 100]);
    ops::copy_between(&to, &mut back, &here.stream).unwrap();
    ops::copy_between(&to, &mut back, &here.stream).unwrap();
    assert_eq!(copies(), 2 * checked + 2, "checked once");
    ops::order(&here.stream, &there.stream).unwrap();
    assert_eq!(back.to_vec(&there.stream).unwrap(), [2; 100]);
    drop((from, to, back));
    finish(bench, sides);
}

// Without it an access would be given over a link that loses bytes, or stay enabled after its refusal.
#[test]
fn a_corrupt_link_gives_no_access() {
    for (corrupt, path) in [((1, 0), PeerPath::ReadCopy), ((0, 1), PeerPath::WriteCopy)] {
        let (bench, sides) = open(machine(2).corrupt_link(corrupt.0, corrupt.1));
        let (here, there) = (&sides[0], &sides[1]);
        for _ in 0..2 {
            let PeerError::Corrupt(wrong) = peer_error(here.context.peer_access(&there.context))
            else {
                panic!("another error");
            };
            assert_eq!((wrong.device, wrong.peer, wrong.path), (0, 1, path));
        }
        assert_eq!(bench.faults.count(id::cuModuleLoadData), 1, "checked once");
        let calls = |symbol| bench.faults.count(symbol);
        assert_eq!(
            calls(id::cuCtxEnablePeerAccess),
            calls(id::cuCtxDisablePeerAccess)
        );
        assert!(matches!(
            peer_error(there.pool.open_to(&here.context)),
            PeerError::Corrupt(_)
        ));
        finish(bench, sides);
    }
}

// Without it a program could not do without the check.
#[test]
fn the_check_can_be_left_out() {
    let (bench, sides) = open_unchecked(machine(2).corrupt_link(1, 0));
    let (here, there) = (&sides[0], &sides[1]);
    let from = there.upload(&[1; 32 << 10]);
    let mut to = here.upload(&[2; 32 << 10]);
    ops::copy_between(&from, &mut to, &here.stream).unwrap();
    assert_eq!(bench.faults.count(id::cuMemcpyPeerAsync), 1);
    let there_is = to.to_vec(&here.stream).unwrap();
    assert!(there_is.contains(&2), "the link is corrupt");
    drop(here.context.peer_access(&there.context).unwrap());
    assert_eq!(bench.faults.count(id::cuModuleLoadData), 0);
    drop((from, to));
    finish(bench, sides);
}

// Without it a check that could not be made would be taken for one that was, or for a broken pair.
#[test]
fn a_check_that_fails_is_made_again() {
    let (bench, sides) = open(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let from = here.upload(&[1; 100]);
    let mut to = there.upload(&[2; 100]);
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.faults.reset();
    bench.faults.fail_from(id::cuMemAlloc_v2, 2, code);
    let refused = ops::copy_between(&from, &mut to, &here.stream).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    bench.faults.reset();
    ops::copy_between(&from, &mut to, &here.stream).unwrap();
    bench.faults.reset();
    bench
        .faults
        .fail(id::cuModuleLoadData, 1, CUresult::CUDA_ERROR_INVALID_IMAGE);
    let refused = here.context.peer_access(&there.context).unwrap_err();
    assert!(matches!(refused, Error::Driver(_)), "{refused}");
    drop(here.context.peer_access(&there.context).unwrap());
    let calls = |symbol| bench.faults.count(symbol);
    assert_eq!(
        calls(id::cuCtxEnablePeerAccess),
        calls(id::cuCtxDisablePeerAccess)
    );
    ops::order(&here.stream, &there.stream).unwrap();
    drop((from, to));
    finish(bench, sides);
}

// Without it a device that its pool has filled could make no copy, although the copy needs no memory.
#[test]
fn a_device_without_room_is_checked_with_less() {
    let small = DeviceConfig::new().memory(34 << 20);
    let machine = machine(1).add_device(small);
    let (bench, sides) = open(machine);
    let (here, there) = (&sides[0], &sides[1]);
    let pool = there
        .context
        .memory_pool(PoolConfig::limit(32 << 20))
        .unwrap();
    let mut all = pool.allocate::<u8>(32 << 20, &there.stream).unwrap();
    ops::zero(&mut all, &there.stream).unwrap();
    ops::synchronize(&there.stream).unwrap();
    let from = here.pool.zeros::<u8>(100, &here.stream).unwrap();
    ops::synchronize(&here.stream).unwrap();
    let to = all.slice_mut(..100).unwrap();
    ops::copy_between(&from, to, &here.stream).unwrap();
    ops::synchronize(&here.stream).unwrap();
    drop((from, all, pool));
    finish(bench, sides);
}
