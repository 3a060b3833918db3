//! Tensors that change hands between libraries.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cupola_managers::interop::dlpack::{
    DLDevice, DLManagedTensor, DLManagedTensorVersioned, ManagedTensor, TensorMemory,
};
use cupola_managers::interop::{ExportedTensor, ForeignTensor, StreamNumber};
use cupola_managers::{Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::{bench, hold};

/// Ends a tensor as a consumer does.
fn end(tensor: ManagedTensor) {
    // SAFETY: the tensors of these tests were given away to them.
    unsafe {
        match tensor {
            ManagedTensor::Versioned(tensor) => {
                (*tensor.as_ptr()).deleter.unwrap()(tensor.as_ptr());
            }
            ManagedTensor::Unversioned(tensor) => {
                (*tensor.as_ptr()).deleter.unwrap()(tensor.as_ptr());
            }
        }
    }
}

// Without it a tensor could have another shape or type than its buffer, or its memory be freed twice, never,
// or under work that runs.
#[test]
fn a_buffer_goes_out_and_comes_back_in_both_forms() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let consumer = bench.base.stream();
    for is_versioned in [true, false] {
        let numbers = bench.pool.upload(&[1i32, 2, 3, 4, 5, 6], stream).unwrap();
        let address = numbers.as_raw();
        let before = bench.pool.usage().unwrap().blocks;
        let exported = ExportedTensor::of_buffer(numbers, &[3, 1, 2], Some(&consumer)).unwrap();
        let raw: ManagedTensor = match is_versioned {
            true => exported.into_versioned().into(),
            false => exported.into_unversioned().unwrap().into(),
        };
        // SAFETY: exported just now.
        let tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
        assert_eq!(
            (tensor.shape(), tensor.strides()),
            (&[3, 1, 2][..], &[2, 2, 1][..])
        );
        assert_eq!((tensor.address(), tensor.bytes()), (address, 24));
        assert_eq!(tensor.memory(), TensorMemory::Device);
        assert!(!tensor.is_read_only() && !tensor.is_copied());
        // SAFETY: the copy is on the consumer's stream.
        let found = unsafe { tensor.view::<i32>(&consumer) }.unwrap();
        assert_eq!(found.to_vec(&consumer).unwrap(), [1, 2, 3, 4, 5, 6]);
        // SAFETY: no work is given it.
        let other = unsafe { tensor.view::<f32>(&consumer) };
        assert!(matches!(other, Err(Error::Invalid { field: "dtype", .. })));
        assert_eq!(bench.pool.usage().unwrap().blocks, before);
        // Given away and taken again, then dropped: the buffer with it.
        let raw = tensor.into_raw();
        // SAFETY: it is this test's alone again.
        drop(unsafe { ForeignTensor::from_raw(raw, context) }.unwrap());
        assert_eq!(bench.pool.usage().unwrap().blocks, before - 1);
    }
    let numbers = bench.pool.upload(&[1i32, 2], stream).unwrap();
    let refused = ExportedTensor::of_buffer(numbers, &[3], Some(stream));
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "shape", .. })
    ));
    assert_eq!(
        bench.pool.usage().unwrap().blocks,
        0,
        "it went with the error"
    );
    drop(consumer);
    bench.finish();
}

// Without it a consumer could find the strides of DLPack 1.2 missing, or what it must not write, or may keep, unsaid.
#[test]
fn what_is_exported_is_what_the_standard_says() {
    let bench = bench();
    let stream = &bench.stream;
    let numbers = bench.pool.upload(&[1i16, 2, 3, 4, 5, 6], stream).unwrap();
    let address = numbers.as_raw();
    let exported = ExportedTensor::of_buffer(numbers, &[2, 3], None).unwrap();
    let raw = exported.read_only().copied().into_versioned();
    // SAFETY: exported just now; two lengths, two strides.
    unsafe {
        let tensor = raw.as_ref();
        assert_eq!((tensor.version.major, tensor.flags), (1, 0b11));
        let array = &tensor.dl_tensor;
        assert_eq!((array.data.addr() as u64, array.byte_offset), (address, 0));
        assert_eq!((array.device.device_type, array.device.device_id), (2, 0));
        assert_eq!(
            (array.dtype.code, array.dtype.bits, array.dtype.lanes),
            (0, 16, 1)
        );
        assert_eq!(array.ndim, 2);
        assert_eq!(std::slice::from_raw_parts(array.shape, 2), [2, 3]);
        assert_eq!(std::slice::from_raw_parts(array.strides, 2), [3, 1]);
    }
    // SAFETY: exported just now.
    let mut tensor = unsafe { ForeignTensor::from_raw(raw, &bench.base.context) }.unwrap();
    assert!(tensor.is_read_only() && tensor.is_copied());
    // SAFETY: no work is given it.
    let refused = unsafe { tensor.view_mut::<i16>(stream) };
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "flags", .. })
    ));
    drop(tensor);
    let numbers = bench.pool.upload(&[1i16], stream).unwrap();
    let exported = ExportedTensor::of_buffer(numbers, &[], None).unwrap();
    let refused = exported.read_only().into_unversioned();
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "flags", .. })
    ));
    let (old, new) = (
        NonNull::<DLManagedTensor>::dangling(),
        NonNull::<DLManagedTensorVersioned>::dangling(),
    );
    let names = |tensor: ManagedTensor| [tensor.capsule_name(), tensor.used_capsule_name()];
    assert_eq!(names(old.into()), [c"dltensor", c"used_dltensor"]);
    assert_eq!(
        names(new.into()),
        [c"dltensor_versioned", c"used_dltensor_versioned"]
    );
    bench.finish();
}

// Without it scalars and arrays without elements could be refused, or have an address.
#[test]
fn scalars_and_nothing_go_out_and_come_back() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let scalar = bench.pool.upload(&[7u64], stream).unwrap();
    let nothing = bench.pool.allocate::<u64>(0, stream).unwrap();
    for (buffer, shape, found) in [(scalar, &[][..], &[7][..]), (nothing, &[4, 0][..], &[][..])] {
        let exported = ExportedTensor::of_buffer(buffer, shape, Some(stream)).unwrap();
        let raw = exported.into_versioned();
        // SAFETY: exported just now.
        let tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
        assert_eq!(tensor.shape(), shape);
        assert_eq!(tensor.address() == 0, found.is_empty());
        // SAFETY: the copy is on the stream.
        let view = unsafe { tensor.view::<u64>(stream) }.unwrap();
        assert_eq!(view.to_vec(stream).unwrap(), found);
    }
    let pinned = context.buffers().pinned::<u8>(0).unwrap();
    let raw = ExportedTensor::of_pinned(pinned, &[0])
        .unwrap()
        .into_versioned();
    // SAFETY: exported just now.
    assert!(unsafe { raw.as_ref() }.dl_tensor.data.is_null());
    end(raw.into());
    bench.finish();
}

// Without it a consumer on another stream could read a buffer before the work that writes it, on its own stream or on one
// that has used it since.
#[test]
fn the_consumers_stream_waits_for_all_work_on_the_buffer() {
    let bench = bench();
    let (other, consumer) = (bench.base.stream(), bench.base.stream());
    let mut numbers = bench.pool.zeros::<u8>(64, &bench.stream).unwrap();
    ops::order(&bench.stream, &other).unwrap();
    ops::fill(numbers.slice_mut(32..).unwrap(), 2, &other).unwrap();
    ops::fill(numbers.slice_mut(..32).unwrap(), 1, &bench.stream).unwrap();
    let exported = ExportedTensor::of_buffer(numbers, &[64], Some(&consumer)).unwrap();
    let raw = exported.into_versioned();
    // SAFETY: exported just now.
    let tensor = unsafe { ForeignTensor::from_raw(raw, &bench.base.context) }.unwrap();
    // SAFETY: the copy is on the stream. Strict mode would find a race.
    let found = unsafe { tensor.view::<u8>(&consumer) }.unwrap();
    let found = found.to_vec(&consumer).unwrap();
    assert_eq!((&found[..32], &found[32..]), (&[1; 32][..], &[2; 32][..]));
    drop((tensor, other, consumer));
    bench.finish();
}

// Without it the numbers of Python's streams could order work with other streams than the consumer's.
#[test]
fn a_consumers_stream_is_found_by_its_number() {
    let bench = bench();
    let (context, theirs) = (&bench.base.context, bench.base.stream());
    let lease = |number| {
        let number = StreamNumber::from_dlpack(number).unwrap();
        // SAFETY: the stream is alive until the end of the test.
        unsafe { number.lease(context) }.unwrap()
    };
    assert!(lease(Some(-1)).is_none());
    let legacy = lease(None).unwrap();
    for default in [Some(1), Some(2)] {
        assert_eq!(lease(default).unwrap().serial(), legacy.serial());
    }
    let raw = theirs.as_raw();
    let consumer = lease(Some(raw.addr() as i128)).unwrap();
    assert_eq!(consumer.as_raw(), raw);
    for stream in [&legacy, &consumer] {
        let numbers = bench.pool.upload(&[3u32; 4], &bench.stream).unwrap();
        let exported = ExportedTensor::of_buffer(numbers, &[4], Some(stream)).unwrap();
        let raw = exported.into_versioned();
        // SAFETY: exported just now.
        let tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
        // SAFETY: the copy is on the stream.
        let found = unsafe { tensor.view::<u32>(stream) }.unwrap();
        assert_eq!(found.to_vec(stream).unwrap(), [3; 4]);
    }
    drop((legacy, consumer, theirs));
    bench.finish();
}

// Without it memory of another library could be freed while our work uses it.
#[test]
fn the_end_of_a_tensor_waits_for_its_work() {
    let bench = bench();
    let other = bench.base.stream();
    let numbers = bench.pool.upload(&[7u8; 64], &bench.stream).unwrap();
    let mut out = bench.pool.zeros::<u8>(64, &other).unwrap();
    let exported = ExportedTensor::of_buffer(numbers, &[64], Some(&other)).unwrap();
    let raw = exported.into_versioned();
    // SAFETY: exported just now.
    let tensor = unsafe { ForeignTensor::from_raw(raw, &bench.base.context) }.unwrap();
    let held = hold(&other);
    // SAFETY: the copy is on the stream, and comes before the end of the tensor.
    let sevens = unsafe { tensor.view::<u8>(&other) }.unwrap();
    ops::copy(sevens, &mut out, &other).unwrap();
    let end = thread::spawn(move || {
        drop(tensor);
    });
    thread::sleep(Duration::from_millis(30));
    assert!(!end.is_finished(), "its work is held up");
    drop(held);
    end.join().unwrap();
    assert_eq!(out.to_vec(&other).unwrap(), [7; 64]);
    drop((out, other));
    bench.finish();
}

/// A tensor that counts how often it is deleted, in the memory of `address`.
fn counting(address: u64, deleted: &AtomicU32) -> Box<DLManagedTensorVersioned> {
    unsafe extern "C" fn count(tensor: *mut DLManagedTensorVersioned) {
        // SAFETY: made below, with the address of a counter that outlives it.
        unsafe { &*(*tensor).manager_ctx.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    }
    let (shape, strides) = (Box::leak(Box::new([64i64])), Box::leak(Box::new([1i64])));
    Box::new(super::refused::tensor(
        address,
        shape,
        strides,
        ptr::from_ref(deleted).cast_mut().cast(),
        count,
    ))
}

// Without it a tensor could be deleted under work that may still run, or be kept in secret.
#[test]
fn a_tensor_whose_work_cannot_be_waited_for_is_abandoned() {
    let bench = bench();
    let deleted = AtomicU32::new(0);
    let memory = bench.pool.zeros::<u8>(64, &bench.stream).unwrap();
    let mut raw = counting(memory.as_raw(), &deleted);
    let take = |raw: &mut DLManagedTensorVersioned| {
        // SAFETY: of this test, and taken once at a time.
        unsafe { ForeignTensor::from_raw(NonNull::from(raw), &bench.base.context) }.unwrap()
    };
    let tensor = take(&mut raw);
    // SAFETY: no work is given it.
    unsafe { tensor.view::<i8>(&bench.stream) }.unwrap_err();
    drop(tensor);
    assert_eq!(deleted.load(Ordering::Relaxed), 1, "nothing to wait for");
    let tensor = take(&mut raw);
    // SAFETY: no work is given it.
    unsafe { tensor.view::<u8>(&bench.stream) }.unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench
        .base
        .faults
        .fail_from(id::cuStreamSynchronize, 1, code);
    drop(tensor);
    bench.base.faults.reset();
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
    assert_eq!(bench.base.execution.live().abandoned, 1);
    drop(memory);
}

// Without it a consumer's thread that ends a tensor, or one that does so after all else of the program is gone, could
// find nothing to end it with.
#[test]
fn a_tensor_ends_on_any_thread_and_after_all_else() {
    let bench = bench();
    let numbers = bench.pool.upload(&[1.0f64; 32], &bench.stream).unwrap();
    let exported = ExportedTensor::of_buffer(numbers, &[32], None).unwrap();
    let there = thread::spawn(move || exported.into_versioned().as_ptr().expose_provenance());
    let there = there.join().unwrap();
    let pinned = bench.base.context.buffers().pinned::<f64>(4).unwrap();
    let pinned = ExportedTensor::of_pinned(pinned, &[4]).unwrap();
    let pinned = pinned
        .into_unversioned()
        .unwrap()
        .as_ptr()
        .expose_provenance();
    let machine = bench.base.machine.clone();
    drop((bench.pool, bench.stream, bench.base));
    assert!(machine.usage().contexts == 1, "the tensors keep it");
    let ended = thread::spawn(move || {
        let there = ptr::with_exposed_provenance_mut::<DLManagedTensorVersioned>(there);
        end(NonNull::new(there).unwrap().into());
        let pinned = ptr::with_exposed_provenance_mut::<DLManagedTensor>(pinned);
        end(NonNull::new(pinned).unwrap().into());
    });
    ended.join().unwrap();
    assert_eq!(machine.leaks(), None);
    assert!(machine.findings().is_empty());
}

// Without it the host could look at pinned memory under a copy, or a device find it at another address.
#[test]
fn pinned_memory_goes_to_the_host_and_comes_back() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let numbers = bench.pool.upload(&[5u32, 6, 7, 8], stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(4).unwrap();
    ops::copy_to_host(&numbers, &mut pinned, stream).unwrap();
    // Waits for the copy.
    let raw = ExportedTensor::of_pinned(pinned, &[2, 2])
        .unwrap()
        .into_versioned();
    // SAFETY: exported just now.
    let array = unsafe { raw.as_ref() }.dl_tensor;
    assert_eq!(
        (array.device.device_type, array.device.device_id),
        (DLDevice::CUDA_HOST, 0)
    );
    // SAFETY: four numbers, which nothing writes.
    let found = unsafe { std::slice::from_raw_parts(array.data.cast::<u32>(), 4) };
    assert_eq!(found, [5, 6, 7, 8]);
    // SAFETY: exported just now.
    let mut tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
    assert_eq!(tensor.memory(), TensorMemory::PinnedHost);
    // SAFETY: the fill is on the stream, and nothing else uses the memory.
    let view = unsafe { tensor.view_mut::<u32>(stream) }.unwrap();
    ops::fill(view.slice(2..).unwrap(), 9, stream).unwrap();
    // SAFETY: nothing else uses the memory.
    let found = unsafe { tensor.host_view::<u32>() }.unwrap();
    assert_eq!(found, [5, 6, 9, 9]);
    // SAFETY: as above.
    let refused = unsafe { tensor.host_view::<i32>() };
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "dtype", .. })
    ));
    drop((tensor, numbers));
    bench.finish();
}

// Without it managed memory could be given to a consumer before the work on it, or be freed under the consumer's.
#[test]
fn managed_memory_goes_out_and_comes_back() {
    let bench = bench();
    let (context, consumer) = (&bench.base.context, bench.base.stream());
    let mut managed = context.managed::<u32>(16).unwrap();
    // SAFETY: the fill is on the stream.
    let view = unsafe { managed.device_mut(&bench.stream) }.unwrap();
    ops::fill(view, 3, &bench.stream).unwrap();
    let exported = ExportedTensor::of_managed(managed, &[4, 4], Some(&consumer)).unwrap();
    let raw = exported.into_versioned();
    // SAFETY: exported just now.
    let tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
    assert_eq!(tensor.memory(), TensorMemory::Managed);
    // SAFETY: the copy is on the stream.
    let found = unsafe { tensor.view::<u32>(&consumer) }.unwrap();
    assert_eq!(found.to_vec(&consumer).unwrap(), [3; 16]);
    // SAFETY: no other library has it.
    let refused = unsafe { tensor.host_view::<u32>() };
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "device",
            ..
        })
    ));
    drop((tensor, consumer));
    bench.finish();
}
