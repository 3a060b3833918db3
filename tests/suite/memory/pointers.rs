//! Addresses of other code: memory that is there, and memory that is not.

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Error, PointerFault, PointerProblem, Stream, ops};

use crate::common::Bench;

const ELEMENTS: usize = 1024;

/// What an upload of so many elements to an address returns.
fn upload(address: u64, elements: usize, stream: &Stream) -> Result<(), Error> {
    let host = vec![7_u32; elements];
    // SAFETY: what is not there is refused before it is used, which is what these tests are about.
    let view = unsafe { DeviceSliceMut::<u32>::from_raw(address, elements) };
    ops::write(view, &host, stream)
}

#[track_caller]
fn refused(result: Result<(), Error>) -> PointerFault {
    match result {
        Err(Error::Pointer(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

// Without it an address of a buffer that was freed, or of more elements than are there, could reach
// the device: it would write over another buffer, or lose the context.
#[test]
fn an_address_is_refused_unless_a_buffer_has_room_there() {
    let bench = Bench::open();
    let (context, stream) = (&bench.context, &bench.stream);
    context.set_pointer_checks(true);
    let pool = context.memory_pool(PoolConfig::limit(64 << 20)).unwrap();
    let kept = pool.allocate::<u32>(ELEMENTS, stream).unwrap();
    let freed = pool.allocate::<u32>(ELEMENTS, stream).unwrap();
    let address = kept.as_raw();
    upload(address, ELEMENTS, stream).unwrap();
    upload(address + 400, ELEMENTS - 100, stream).unwrap();
    assert_eq!(kept.to_vec(stream).unwrap(), [7; ELEMENTS]);

    let long = refused(upload(address + 400, ELEMENTS, stream));
    let room = 4 * ELEMENTS as u64 - 400;
    assert_eq!(long.problem, PointerProblem::TooShort { room });
    assert_eq!(
        (long.address, long.bytes),
        (address + 400, 4 * ELEMENTS as u64)
    );
    let text = Error::Pointer(Box::new(long)).to_string();
    assert!(
        text.contains("allocated at ") && text.contains(file!()),
        "{text}"
    );

    let gone = freed.as_raw();
    drop(freed);
    let fault = refused(upload(gone + 8, 1, stream));
    assert_eq!(fault.problem, PointerProblem::Free);
    let text = fault.to_string();
    let order = [text.find("allocated at"), text.find("freed by a drop")];
    assert!(order[0].is_some() && order[0] < order[1], "{text}");
    // SAFETY: as in `upload`.
    let view = unsafe { DeviceSlice::<u32>::from_raw(gone, ELEMENTS) };
    refused(view.to_vec(stream).map(drop));

    // Nothing was put, and nothing was lost.
    ops::synchronize(stream).unwrap();
    assert_eq!(kept.to_vec(stream).unwrap(), [7; ELEMENTS]);
    context.set_pointer_checks(false);
    drop((kept, pool));
    bench.finish();
}

// Without it memory that no pool of this crate has noted could be refused although it is there, or
// be taken although it is not.
#[test]
fn other_memory_is_known_as_far_as_the_driver_tells() {
    let bench = Bench::open();
    let (context, stream) = (&bench.context, &bench.stream);
    let before = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let old = before.allocate::<u32>(ELEMENTS, stream).unwrap();
    let pinned = context.buffers().pinned::<u32>(ELEMENTS).unwrap();
    context.set_pointer_checks(true);
    upload(old.as_raw(), ELEMENTS, stream).unwrap();
    ops::synchronize(stream).unwrap();

    let driver = context.driver();
    let bytes = 4 * ELEMENTS;
    let mut foreign = 0;
    let entered = context.enter().unwrap();
    // SAFETY: `foreign` outlives the call.
    unsafe { driver.cuMemAlloc_v2(&raw mut foreign, bytes) }.unwrap();
    upload(foreign, ELEMENTS, stream).unwrap();
    let fault = refused(upload(foreign + 4, ELEMENTS, stream));
    let room = bytes as u64 - 4;
    assert_eq!(fault.problem, PointerProblem::TooShort { room });
    assert_eq!(fault.history, []);
    ops::synchronize(stream).unwrap();
    // SAFETY: it was allocated so, and nothing uses it.
    unsafe { driver.cuMemFree_v2(foreign) }.unwrap();
    drop(entered);
    for address in [foreign, 0x10, u64::MAX - 0xfff] {
        let fault = refused(upload(address, 1, stream));
        assert_eq!(fault.problem, PointerProblem::NoMemory, "{address:#x}");
    }
    // The device reads and writes it as well.
    upload(pinned.as_ptr().addr() as u64, ELEMENTS, stream).unwrap();
    ops::synchronize(stream).unwrap();
    // An empty view is no use of an address.
    upload(0, 0, stream).unwrap();
    context.set_pointer_checks(false);
    drop((old, pinned, before));
    bench.finish();
}
