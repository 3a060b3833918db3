//! Memory that changes hands between libraries.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::interop::dlpack::{
    DLDataType, DLDevice, DLManagedTensorVersioned, DLPackVersion, DLTensor, export,
};
use cupola_managers::interop::{ArrayInterface, ForeignTensor};
use cupola_managers::{Error, ops};

use super::{bench, hold};

// Without it a tensor could have another shape or type than its buffer, or its memory be freed twice, never,
// or under work that runs.
#[test]
fn a_buffer_goes_out_and_comes_back() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let consumer = bench.base.stream();
    let numbers = bench.pool.upload(&[1i32, 2, 3, 4, 5, 6], stream).unwrap();
    let address = numbers.as_raw();
    let before = bench.pool.usage().unwrap().blocks;
    let raw = export(numbers, &[3, 1, 2], context, &consumer).unwrap();
    // SAFETY: exported just now.
    let mut tensor = unsafe { ForeignTensor::from_raw(raw, context) }.unwrap();
    assert_eq!(tensor.shape(), [3, 1, 2]);
    assert_eq!((tensor.address(), tensor.is_read_only()), (address, false));
    // SAFETY: the copy is on the consumer's stream.
    let found = unsafe { tensor.view::<i32>(&consumer) }.unwrap();
    assert_eq!(found.to_vec(&consumer).unwrap(), [1, 2, 3, 4, 5, 6]);
    // SAFETY: no work is given it.
    let other = unsafe { tensor.view::<f32>(&consumer) };
    assert!(matches!(
        other,
        Err(Error::Invalid {
            field: "tensor",
            ..
        })
    ));
    assert_eq!(bench.pool.usage().unwrap().blocks, before);
    // Given away and taken again, then dropped: the buffer with it.
    let raw = tensor.into_raw();
    // SAFETY: it is this test's alone again.
    drop(unsafe { ForeignTensor::from_raw(raw, context) }.unwrap());
    assert_eq!(bench.pool.usage().unwrap().blocks, before - 1);
    let numbers = bench.pool.upload(&[1i32, 2], stream).unwrap();
    let refused = export(numbers, &[3], context, stream);
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "shape", .. })
    ));
    drop(consumer);
    bench.finish();
}

// Without it memory of another library could be freed while our work uses it.
#[test]
fn the_end_of_a_tensor_waits_for_its_work() {
    let bench = bench();
    let other = bench.base.stream();
    let numbers = bench.pool.upload(&[7u8; 64], &bench.stream).unwrap();
    let mut out = bench.pool.zeros::<u8>(64, &other).unwrap();
    let raw = export(numbers, &[64], &bench.base.context, &other).unwrap();
    // SAFETY: exported just now.
    let mut tensor = unsafe { ForeignTensor::from_raw(raw, &bench.base.context) }.unwrap();
    let held = hold(&other);
    // SAFETY: the copy is on the stream, and comes before the end of the tensor.
    let sevens = unsafe { tensor.view::<u8>(&other) }.unwrap();
    ops::copy(sevens, &mut out, &other).unwrap();
    let end = std::thread::spawn(move || {
        drop(tensor);
    });
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert!(!end.is_finished(), "its work is held up");
    drop(held);
    end.join().unwrap();
    assert_eq!(out.to_vec(&other).unwrap(), [7; 64]);
    drop((out, other));
    bench.finish();
}

/// How often a tensor of another library was deleted.
static DELETED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(_: *mut DLManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

// Without it a tensor of another device, type or layout could be read as if it were one of ours, or one that is
// refused be ended for its owner.
#[test]
fn tensors_that_cannot_be_taken_are_refused() {
    let bench = bench();
    let memory = bench.pool.zeros::<f32>(6, &bench.stream).unwrap();
    let (mut shape, mut strides) = ([2i64, 3], [3i64, 1]);
    let mut tensor = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let mut tensor = DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 9 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(count),
            flags: 1,
            dl_tensor: DLTensor {
                data: ptr::without_provenance_mut::<c_void>(memory.as_raw() as usize),
                device: DLDevice {
                    device_type: 2,
                    device_id: 0,
                },
                ndim: 2,
                dtype: DLDataType {
                    code: 2,
                    bits: 32,
                    lanes: 1,
                },
                shape: shape.as_mut_ptr(),
                strides: strides.as_mut_ptr(),
                byte_offset: 0,
            },
        };
        change(&mut tensor);
        // SAFETY: a tensor of this test, which lives as long as what is made of it.
        let taken =
            unsafe { ForeignTensor::from_raw(NonNull::from(&mut tensor), &bench.base.context) };
        taken
            .map(|tensor| (tensor.is_read_only(), tensor.shape().to_vec()))
            .map_err(|it| it.error)
    };
    assert_eq!(tensor(&|_| {}), Ok((true, vec![2, 3])));
    assert_eq!(
        tensor(&|it| it.dl_tensor.strides = ptr::null_mut()),
        Ok((true, vec![2, 3]))
    );
    assert_eq!(DELETED.load(Ordering::Relaxed), 2);
    let mut columns = [1i64, 2];
    let columns = columns.as_mut_ptr();
    let bad: [&dyn Fn(&mut DLManagedTensorVersioned); 9] = [
        &|it| it.dl_tensor.strides = columns,
        &|it| it.version.major = 2,
        &|it| it.dl_tensor.device.device_type = 1,
        &|it| it.dl_tensor.device.device_id = 1,
        &|it| it.dl_tensor.device.device_id = -1,
        &|it| it.dl_tensor.ndim = -1,
        &|it| it.dl_tensor.shape = ptr::null_mut(),
        &|it| it.dl_tensor.byte_offset = 2,
        &|it| it.dl_tensor.data = ptr::null_mut(),
    ];
    for (number, change) in bad.into_iter().enumerate() {
        let refused = tensor(change);
        assert!(
            matches!(
                refused,
                Err(Error::Invalid {
                    field: "tensor",
                    ..
                })
            ),
            "{number}: {refused:?}"
        );
    }
    assert_eq!(DELETED.load(Ordering::Relaxed), 2, "their owners have them");
    drop(memory);
    bench.finish();
}

// Without it a Python library could be shown another array than there is, or one of its be read beyond its end.
#[test]
fn arrays_are_shown_as_python_shows_them() {
    let bench = bench();
    let stream = &bench.stream;
    let numbers = bench
        .pool
        .upload(&[1.5f32, 2.5, 3.5, 4.5, 5.5, 6.5], stream)
        .unwrap();
    let shown = ArrayInterface::of(&numbers, &[2, 3], stream).unwrap();
    let text = shown.to_string();
    let (address, raw) = (numbers.as_raw(), stream.as_raw().addr());
    assert_eq!(
        text,
        format!(
            "{{'version': 3, 'shape': (2, 3, ), 'typestr': '<f4', 'data': ({address}, False), 'strides': None, 'stream': {raw}}}"
        )
    );
    // SAFETY: the buffer outlives it, and the work is on its stream.
    let view = |shown: &ArrayInterface| unsafe { shown.view::<f32>() }.map(|it| it.len());
    assert_eq!(view(&shown), Ok(6));
    let change = |change: &dyn Fn(&mut ArrayInterface)| {
        let mut changed = shown.clone();
        change(&mut changed);
        view(&changed)
    };
    assert_eq!(change(&|it| it.strides = Some(vec![12, 4])), Ok(6));
    assert_eq!(change(&|it| it.shape = vec![0, 3]), Ok(0));
    let bad: [&dyn Fn(&mut ArrayInterface); 6] = [
        &|it| it.typestr = "<f8".into(),
        &|it| it.strides = Some(vec![4, 8]),
        &|it| it.strides = Some(vec![13, 4]),
        &|it| it.strides = Some(vec![4]),
        &|it| it.data = 0,
        &|it| it.data += 2,
    ];
    for (number, change_it) in bad.into_iter().enumerate() {
        assert!(
            matches!(change(change_it), Err(Error::Invalid { .. })),
            "{number}"
        );
    }
    assert!(ArrayInterface::of(&numbers, &[4], stream).is_err());
    drop(numbers);
    bench.finish();
}
