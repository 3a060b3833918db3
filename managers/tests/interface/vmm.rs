//! Physical memory and addresses by themselves.

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::Access;
use cupola_managers::{Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::bench;

const MIB: u64 = 1 << 20;

// Without it memory could lose its contents on the way from one address to another, or addresses move.
#[test]
fn memory_moves_with_its_contents() {
    let bench = bench();
    let stream = &bench.stream;
    let limit = DeviceLimit::new(8 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    assert_eq!(memory.granularity(), 2 * MIB);
    let mut one = memory.reserve(16 * MIB).unwrap();
    let mut two = memory.reserve(4 * MIB).unwrap();
    one.map(4 * MIB, memory.create(4 * MIB).unwrap()).unwrap();
    one.map(8 * MIB, memory.create(2 * MIB).unwrap()).unwrap();
    one.set_access(4 * MIB..10 * MIB, Access::ReadWrite)
        .unwrap();
    assert_eq!((one.mapped(), limit.used()), (6 * MIB, 6 * MIB));
    // SAFETY: 6 MiB of mapped memory, which nothing else uses.
    let all = unsafe { DeviceSliceMut::<u8>::from_raw(one.address() + 4 * MIB, 6 << 20) };
    ops::fill(all, 9, stream).unwrap();
    ops::synchronize(stream).unwrap();
    // SAFETY: the fill was waited for.
    let piece = unsafe { one.unmap(4 * MIB) }.unwrap();
    two.map(0, piece).unwrap();
    two.set_access(0..4 * MIB, Access::Read).unwrap();
    // SAFETY: 4 MiB of mapped memory.
    let there = unsafe { DeviceSlice::<u8>::from_raw(two.address(), 4 << 20) };
    assert_eq!(there.to_vec(stream).unwrap(), vec![9; 4 << 20]);
    let pieces: Vec<_> = one
        .pieces()
        .map(|(at, piece)| (at, piece.bytes()))
        .collect();
    assert_eq!(pieces, [(8 * MIB, 2 * MIB)]);
    drop((one, two));
    assert_eq!((limit.used(), memory.bytes()), (0, 0));
    let calls = memory.driver_calls();
    assert_eq!(
        (calls.create, calls.release, calls.map, calls.unmap),
        (2, 2, 3, 3)
    );
    drop(memory);
    bench.finish();
}

// Without it memory could not be in two places, count twice, or go while one of them has it.
#[test]
fn memory_may_be_in_two_places() {
    let bench = bench();
    let stream = &bench.stream;
    let limit = DeviceLimit::new(4 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let piece = memory.create(2 * MIB).unwrap();
    assert!(piece.is_unique());
    // A ring whose end is followed by its beginning.
    let mut ring = memory.reserve(4 * MIB).unwrap();
    ring.map(0, piece.clone()).unwrap();
    ring.map(2 * MIB, piece.clone()).unwrap();
    ring.set_access(0..4 * MIB, Access::ReadWrite).unwrap();
    assert_eq!((ring.mapped(), limit.used()), (4 * MIB, 2 * MIB));
    let at = ring.address() + 2 * MIB - 4;
    // SAFETY: 8 bytes of mapped memory, across the end of the first place, which nothing else uses.
    let across = unsafe { DeviceSliceMut::<u32>::from_raw(at, 2) };
    ops::fill(across, 4, stream).unwrap();
    ops::synchronize(stream).unwrap();
    // SAFETY: mapped memory: the beginning of the first place.
    let front = unsafe { DeviceSlice::<u32>::from_raw(ring.address(), 1) };
    assert_eq!(front.to_vec(stream).unwrap(), [4]);
    let problem = piece.clone().give_back().unwrap_err();
    assert!(matches!(problem, Error::Invalid { .. }), "{problem}");
    drop(piece);
    // SAFETY: the copies were waited for.
    let out = unsafe { ring.unmap(0) }.unwrap();
    assert!(!out.is_unique());
    drop(out);
    assert_eq!((limit.used(), memory.bytes()), (2 * MIB, 2 * MIB));
    // SAFETY: as above.
    let out = unsafe { ring.unmap(2 * MIB) }.unwrap();
    assert!(out.is_unique());
    out.give_back().unwrap();
    assert_eq!((limit.used(), memory.bytes()), (0, 0));
    let calls = memory.driver_calls();
    assert_eq!((calls.create, calls.release), (1, 1));
    drop(ring);
    drop(memory);
    bench.finish();
}

// Without it a mistake would reach the driver, or the limit be passed.
#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let bench = bench();
    let limit = DeviceLimit::new(8 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let other = bench.base.context.virtual_memory(&limit).unwrap();
    for bytes in [0, 1, MIB, 2 * MIB + 1, u64::MAX] {
        assert!(matches!(
            memory.create(bytes),
            Err(Error::Invalid { field: "bytes", .. })
        ));
        assert!(matches!(
            memory.reserve(bytes),
            Err(Error::Invalid { field: "bytes", .. })
        ));
    }
    let mut range = memory.reserve(8 * MIB).unwrap();
    range.map(4 * MIB, memory.create(2 * MIB).unwrap()).unwrap();
    let mut four = memory.create(4 * MIB).unwrap();
    let Err(Error::OverLimit(account)) = other.create(4 * MIB) else {
        panic!("the limit is 8 MiB");
    };
    assert_eq!(account.requested, 4 * MIB);
    assert_eq!(account.shared, Some((6 * MIB, 8 * MIB)));
    // Between pages, into what is mapped, from it, and beyond the end.
    for offset in [1, 2 * MIB, 4 * MIB, 6 * MIB, 8 * MIB, u64::MAX - 1] {
        let refused = range.map(offset, four).unwrap_err();
        let is_named = matches!(
            refused.error,
            Error::Invalid {
                field: "offset",
                ..
            }
        );
        assert!(is_named, "{offset}: {refused}");
        four = refused.memory;
    }
    let foreign = other.create(2 * MIB).unwrap();
    let refused = range.map(6 * MIB, foreign).unwrap_err();
    assert!(
        matches!(refused.error, Error::WrongContext { .. }),
        "{refused}"
    );
    range.map(0, four).unwrap();
    // Not whole pieces, none, and not all mapped.
    for part in [
        0..2 * MIB,
        2 * MIB..6 * MIB,
        4 * MIB..4 * MIB,
        4 * MIB..8 * MIB,
    ] {
        let refused = range.set_access(part.clone(), Access::Read);
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{part:?}");
    }
    range.set_access(0..6 * MIB, Access::Read).unwrap();
    // SAFETY: nothing uses the range.
    let none = unsafe { range.unmap(2 * MIB) };
    assert!(
        matches!(
            none,
            Err(Error::Invalid {
                field: "offset",
                ..
            })
        ),
        "{none:?}"
    );
    drop((range, refused));
    assert_eq!(limit.used(), 0);
    drop((memory, other));
    bench.finish();
}

// Without it a driver that fails could leave bytes charged that nothing has, or the other way round.
#[test]
fn a_failed_call_changes_no_account() {
    let bench = bench();
    let limit = DeviceLimit::new(8 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let faults = &bench.base.faults;
    faults.fail(id::cuMemCreate, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let Err(Error::OutOfMemory { account, .. }) = memory.create(2 * MIB) else {
        panic!("the driver has none");
    };
    assert_eq!(account.requested, 2 * MIB);
    assert_eq!((limit.used(), memory.bytes()), (0, 0));
    let mut range = memory.reserve(4 * MIB).unwrap();
    faults.fail(id::cuMemMap, 1, CUresult::CUDA_ERROR_UNKNOWN);
    let refused = range.map(0, memory.create(2 * MIB).unwrap()).unwrap_err();
    range.map(0, refused.memory).unwrap();
    faults.fail(id::cuMemUnmap, 1, CUresult::CUDA_ERROR_UNKNOWN);
    // SAFETY: nothing uses the range.
    assert!(unsafe { range.unmap(0) }.is_err());
    assert_eq!((range.mapped(), limit.used()), (2 * MIB, 2 * MIB));
    drop(range);
    assert_eq!(limit.used(), 0);
    drop(memory);
    bench.finish();
}

// Without it a program could tell another process that memory is free which the driver holds on to.
#[test]
fn memory_that_cannot_be_unmapped_is_not_given_back() {
    let bench = bench();
    let limit = DeviceLimit::new(8 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let piece = memory.create(2 * MIB).unwrap();
    let mut range = memory.reserve(2 * MIB).unwrap();
    range.map(0, piece.clone()).unwrap();
    (bench.base.faults).fail(id::cuMemUnmap, 1, CUresult::CUDA_ERROR_UNKNOWN);
    drop(range);
    assert!(piece.is_unique());
    let refused = piece.give_back().unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
    assert_eq!((limit.used(), memory.bytes()), (2 * MIB, 2 * MIB));
}

// Without it memory of the process alone could be given away, a device that shares none be asked to, or
// memory be charged that another process's limit has.
#[cfg(target_os = "linux")]
#[test]
fn only_exportable_memory_is_exported() {
    use cupola_managers::vmm::ImportCharge::{OtherLimit, ThisLimit};
    let bench = bench();
    let limit = DeviceLimit::new(8 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let private = memory.create(2 * MIB).unwrap();
    assert!(matches!(
        private.export(),
        Err(Error::Invalid {
            field: "memory",
            ..
        })
    ));
    let faults = &bench.base.faults;
    // A driver that does not know the attribute, as one of a device without the ability.
    let lacks = || {
        let unknown = CUresult::CUDA_ERROR_INVALID_VALUE;
        faults.reset();
        faults.fail(id::cuDeviceGetAttribute, 1, unknown);
    };
    lacks();
    assert!(matches!(
        memory.create_exportable(2 * MIB),
        Err(Error::Invalid {
            field: "device",
            ..
        })
    ));
    let piece = memory.create_exportable(2 * MIB).unwrap();
    let file = || piece.export().unwrap();
    lacks();
    assert!(matches!(
        memory.import(file(), 2 * MIB, ThisLimit),
        Err(Error::Invalid {
            field: "device",
            ..
        })
    ));
    assert!(matches!(
        memory.import(file(), 1, ThisLimit),
        Err(Error::Invalid { field: "bytes", .. })
    ));
    // No memory's.
    let (reader, _writer) = std::io::pipe().unwrap();
    let other = memory.import(reader.into(), 2 * MIB, ThisLimit);
    assert!(other.is_err_and(|error| error.status().is_some()));
    assert_eq!((limit.used(), memory.bytes()), (4 * MIB, 4 * MIB));
    let free = memory.import(file(), 2 * MIB, OtherLimit).unwrap();
    let charged = memory.import(file(), 2 * MIB, ThisLimit).unwrap();
    assert_eq!((limit.used(), memory.bytes()), (6 * MIB, 8 * MIB));
    assert!(charged.export().is_err());
    // A length that is not the memory's: the driver maps all of it or nothing.
    let wrong = memory.import(file(), 4 * MIB, OtherLimit).unwrap();
    let mut range = memory.reserve(8 * MIB).unwrap();
    let refused = range.map(0, wrong).unwrap_err();
    assert!(refused.error.status().is_some(), "{refused}");
    let calls = memory.driver_calls();
    assert_eq!((calls.export, calls.import), (5, 4));
    drop((private, piece, free, charged, range, refused));
    assert_eq!((limit.used(), memory.bytes()), (0, 0));
    drop(memory);
    bench.finish();
}
