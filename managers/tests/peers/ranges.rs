//! Address ranges that other devices may access.

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::peer::PeerError;
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, ImportCharge};
use cupola_managers::{Error, ops};
use cupola_sys::driver::CUresult;

use super::{TestBench, finish, machine, open, open_unchecked, peer_error};

const PAGE: u64 = 2 << 20;

// Without it another device would get memory that it was not given, keep it, or be refused what it was.
#[test]
fn a_range_is_granted_piece_by_piece() {
    let (bench, sides) = open(machine(2));
    let (here, there) = (&sides[0], &sides[1]);
    let memory = there
        .context
        .virtual_memory(&DeviceLimit::new(4 * PAGE))
        .unwrap();
    let mut range = memory.reserve(4 * PAGE).unwrap();
    for piece in 0..2 {
        range
            .map(piece * PAGE, memory.create(PAGE).unwrap())
            .unwrap();
    }
    range.set_access(0..2 * PAGE, Access::ReadWrite).unwrap();
    let refused = range.grant_peer(PAGE..3 * PAGE, &here.context, Access::ReadWrite);
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    range
        .grant_peer(PAGE..2 * PAGE, &here.context, Access::ReadWrite)
        .unwrap();
    let granted = range.address() + PAGE;
    // SAFETY: memory of the range, which the host waits for.
    let view = |at| unsafe { DeviceSliceMut::<u8>::from_raw(at, 64) };
    ops::fill(view(granted), 7, &here.stream).unwrap();
    ops::synchronize(&here.stream).unwrap();
    let mut bytes = [0; 64];
    ops::read(view(granted).as_slice(), &mut bytes, &there.stream).unwrap();
    assert_eq!(bytes, [7; 64]);
    range.revoke_peer(PAGE..2 * PAGE, &here.context).unwrap();
    let refused = range.revoke_peer(PAGE..2 * PAGE, &there.context);
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    ops::fill(view(granted), 8, &there.stream).unwrap();
    ops::synchronize(&there.stream).unwrap();
    let faulted =
        ops::fill(view(granted), 9, &here.stream).and_then(|()| ops::synchronize(&here.stream));
    let code = faulted.unwrap_err().status();
    assert!(
        matches!(
            code,
            Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS | CUresult::CUDA_ERROR_INVALID_VALUE)
        ),
        "{code:?}"
    );
    drop((range, memory));
    drop((bench, sides));
}

// Without it a grant to a device without a link would be the driver's code, or a lie.
#[test]
fn a_range_is_not_granted_without_a_link() {
    let (bench, sides) = open_unchecked(machine(2).without_peer_access(0, 1));
    let memory = sides[1]
        .context
        .virtual_memory(&DeviceLimit::new(PAGE))
        .unwrap();
    let mut range = memory.reserve(PAGE).unwrap();
    range.map(0, memory.create(PAGE).unwrap()).unwrap();
    range.set_access(0..PAGE, Access::ReadWrite).unwrap();
    let refused = range.grant_peer(0..PAGE, &sides[0].context, Access::Read);
    assert_eq!(
        peer_error(refused),
        PeerError::NoLink { device: 0, peer: 1 }
    );
    let refused = range.grant_peer(0..PAGE, &sides[1].context, Access::Read);
    assert_eq!(peer_error(refused), PeerError::SameDevice { device: 1 });
    drop((range, memory));
    finish(bench, sides);
}

// Without it memory of another process, which is imported on its own device, would be out of the reach
// of the others.
#[cfg(unix)]
#[test]
fn memory_of_another_process_is_granted_to_a_peer() {
    let exporter = TestBench::on(machine(2));
    let memory = exporter
        .context
        .virtual_memory(&DeviceLimit::new(PAGE))
        .unwrap();
    let piece = memory.create_exportable(PAGE).unwrap();
    let file = piece.export().unwrap();
    let mut range = memory.reserve(PAGE).unwrap();
    range.map(0, piece).unwrap();
    range.set_access(0..PAGE, Access::ReadWrite).unwrap();
    let stream = exporter.stream();
    // SAFETY: memory of the range, which the host waits for.
    let view = unsafe { DeviceSliceMut::<u8>::from_raw(range.address(), 64) };
    ops::fill(view, 7, &stream).unwrap();
    ops::synchronize(&stream).unwrap();

    let (bench, sides) = open(machine(2));
    let limit = DeviceLimit::new(PAGE);
    let theirs = sides[0].context.virtual_memory(&limit).unwrap();
    let imported = theirs.import(file, PAGE, ImportCharge::ThisLimit).unwrap();
    drop((range, memory, stream));
    exporter.finish();
    let mut range = theirs.reserve(PAGE).unwrap();
    range.map(0, imported).unwrap();
    range.set_access(0..PAGE, Access::ReadWrite).unwrap();
    range
        .grant_peer(0..PAGE, &sides[1].context, Access::Read)
        .unwrap();
    // SAFETY: as before.
    let view = unsafe { DeviceSliceMut::<u8>::from_raw(range.address(), 64) };
    let mut bytes = [0; 64];
    ops::read(view.as_slice(), &mut bytes, &sides[1].stream).unwrap();
    assert_eq!(bytes, [7; 64]);
    drop((range, theirs));
    finish(bench, sides);
}
