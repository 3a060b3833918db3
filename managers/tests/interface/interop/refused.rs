//! Tensors that are not as the standard says.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::Error;
use cupola_managers::interop::ForeignTensor;
use cupola_managers::interop::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    ManagedTensor,
};

use super::bench;

/// A tensor of bytes.
pub(super) fn tensor(
    address: u64,
    shape: &mut [i64],
    strides: &mut [i64],
    manager_ctx: *mut c_void,
    deleter: unsafe extern "C" fn(*mut DLManagedTensorVersioned),
) -> DLManagedTensorVersioned {
    DLManagedTensorVersioned {
        version: DLPackVersion { major: 1, minor: 0 },
        manager_ctx,
        deleter: Some(deleter),
        flags: 0,
        dl_tensor: DLTensor {
            data: ptr::without_provenance_mut(address as usize),
            device: DLDevice {
                device_type: DLDevice::CUDA,
                device_id: 0,
            },
            ndim: shape.len() as i32,
            dtype: DLDataType {
                code: 1,
                bits: 8,
                lanes: 1,
            },
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        },
    }
}

/// How often a tensor of the test was deleted.
static DELETED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(_: *mut DLManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn count_unversioned(_: *mut DLManagedTensor) {
    DELETED.fetch_add(1, Ordering::Relaxed);
}

// Without it a tensor of another device, type or layout could be read as if it were one of ours, and one that is refused
// never be ended, or twice.
#[test]
fn tensors_that_cannot_be_taken_are_refused_and_ended() {
    type Change<'c> = &'c dyn Fn(&mut DLManagedTensorVersioned);
    let bench = bench();
    let context = &bench.base.context;
    let memory = bench.pool.zeros::<f32>(6, &bench.stream).unwrap();
    let address = memory.as_raw();
    let before = || DELETED.load(Ordering::Relaxed);
    let make = |shape: &mut [i64; 2], strides: &mut [i64; 2]| {
        let mut made = tensor(address, shape, strides, ptr::null_mut(), count);
        made.dl_tensor.dtype = DLDataType {
            code: 2,
            bits: 32,
            lanes: 1,
        };
        made
    };
    let take = |change: Change<'_>| {
        let (mut shape, mut strides) = ([2, 3], [3, 1]);
        let mut made = make(&mut shape, &mut strides);
        change(&mut made);
        let ended = before();
        // SAFETY: a tensor of this test, which lives as long as what is made of it.
        let taken = unsafe { ForeignTensor::from_raw(NonNull::from(&mut made), context) };
        let field = match &taken {
            Ok(_) => None,
            Err(refused) => match &refused.error {
                Error::Invalid { field, .. } => Some(*field),
                other => panic!("{other}"),
            },
        };
        assert_eq!(before(), ended, "it is still held");
        drop(taken);
        assert_eq!(before(), ended + 1, "{field:?}");
        field
    };
    let list = |numbers: [i64; 2]| Box::leak(Box::new(numbers)).as_mut_ptr();
    let good: [(&str, Change<'_>); 9] = [
        ("as it is", &|_| {}),
        ("no strides", &|it| {
            it.dl_tensor.strides = ptr::null_mut();
            it.version.minor = 1;
        }),
        ("later minor version", &|it| it.version.minor = 9),
        ("columns first", &|it| it.dl_tensor.strides = list([1, 2])),
        ("one for all", &|it| it.dl_tensor.strides = list([0, 1])),
        ("managed memory of no device", &|it| {
            it.dl_tensor.device.device_type = 13;
        }),
        ("a scalar", &|it| {
            it.dl_tensor.ndim = 0;
            it.dl_tensor.shape = ptr::null_mut();
            it.dl_tensor.strides = ptr::null_mut();
            it.version.minor = 2;
        }),
        ("nothing", &|it| {
            it.dl_tensor.shape = list([i64::MAX, 0]);
            it.dl_tensor.data = ptr::null_mut();
        }),
        ("vectors", &|it| it.dl_tensor.dtype.lanes = 2),
    ];
    for (name, change) in good {
        assert_eq!(take(change), None, "{name}");
    }
    let bad: [(&str, Change<'_>); 24] = [
        ("version", &|it| it.version.major = 2),
        // No field behind the flags is looked at.
        ("version", &|it| {
            it.version.major = 0;
            it.dl_tensor.ndim = i32::MAX;
        }),
        ("flags", &|it| it.flags = 1 << 3),
        ("device", &|it| it.dl_tensor.device.device_type = 1),
        ("device", &|it| it.dl_tensor.device.device_id = 1),
        ("device", &|it| it.dl_tensor.device.device_id = -1),
        ("ndim", &|it| it.dl_tensor.ndim = -1),
        ("shape", &|it| it.dl_tensor.shape = ptr::null_mut()),
        ("shape", &|it| it.dl_tensor.shape = list([-2, 3])),
        ("shape", &|it| it.dl_tensor.shape = list([i64::MAX, 3])),
        ("strides", &|it| {
            it.dl_tensor.strides = ptr::null_mut();
            it.version.minor = 2;
        }),
        ("strides", &|it| it.dl_tensor.strides = list([-3, 1])),
        ("strides", &|it| it.dl_tensor.strides = list([i64::MAX, 1])),
        ("strides", &|it| {
            it.dl_tensor.strides = list([i64::MAX, i64::MAX]);
        }),
        ("shape", &|it| {
            it.dl_tensor.strides = list([i64::MAX / 2, 1]);
        }),
        ("dtype", &|it| it.dl_tensor.dtype.lanes = 0),
        ("dtype", &|it| it.dl_tensor.dtype.bits = 0),
        ("dtype", &|it| it.dl_tensor.dtype.bits = 4),
        ("data", &|it| it.dl_tensor.data = ptr::null_mut()),
        ("data", &|it| {
            it.dl_tensor.data = ptr::null_mut();
            it.dl_tensor.byte_offset = 64;
        }),
        ("data", &|it| it.dl_tensor.byte_offset = 2),
        ("data", &|it| it.dl_tensor.byte_offset = u64::MAX),
        ("data", &|it| {
            it.dl_tensor.byte_offset = u64::MAX - address - 7;
        }),
        ("device", &|it| it.dl_tensor.device.device_type = 10),
    ];
    for (number, (field, change)) in bad.into_iter().enumerate() {
        assert_eq!(take(change), Some(field), "{number}");
    }

    let (mut shape, mut strides) = ([2, 3], [3, 1]);
    let made = make(&mut shape, &mut strides);
    let mut old = DLManagedTensor {
        dl_tensor: made.dl_tensor,
        manager_ctx: ptr::null_mut(),
        deleter: Some(count_unversioned),
    };
    old.dl_tensor.strides = ptr::null_mut();
    let ended = before();
    // SAFETY: a tensor of this test, which lives as long as what is made of it.
    drop(unsafe { ForeignTensor::from_raw(NonNull::from(&mut old), context) }.unwrap());
    old.dl_tensor.ndim = -1;
    // SAFETY: as above.
    let refused = unsafe { ForeignTensor::from_raw(NonNull::from(&mut old), context) };
    let refused = refused.unwrap_err();
    assert!(matches!(
        refused.error,
        Error::Invalid { field: "ndim", .. }
    ));
    assert_eq!(before(), ended + 1);
    // Left to the caller.
    let there = NonNull::from(&mut old);
    assert_eq!(refused.tensor.into_raw(), ManagedTensor::Unversioned(there));
    assert_eq!(before(), ended + 1);
    // Without a deleter nothing is called.
    old.deleter = None;
    // SAFETY: as above.
    let refused = unsafe { ForeignTensor::from_raw(NonNull::from(&mut old), context) };
    assert!(
        Error::from(refused.unwrap_err())
            .to_string()
            .contains("negative")
    );
    assert_eq!(before(), ended + 1);
    drop(memory);
    bench.finish();
}

// Without it an array with holes could be read as one without, or past its end.
#[test]
fn an_array_with_holes_is_its_memory_and_its_strides() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let bytes: Vec<u8> = (0..64).collect();
    let memory = bench.pool.upload(&bytes, stream).unwrap();
    let (mut shape, mut strides) = ([2, 3], [1, 16]);
    let mut made = tensor(
        memory.as_raw(),
        &mut shape,
        &mut strides,
        ptr::null_mut(),
        count,
    );
    made.dl_tensor.byte_offset = 4;
    // SAFETY: a tensor of this test, which lives as long as what is made of it.
    let tensor = unsafe { ForeignTensor::from_raw(NonNull::from(&mut made), context) }.unwrap();
    assert!(!tensor.is_contiguous());
    // SAFETY: no work is given it.
    let refused = unsafe { tensor.view::<u8>(stream) };
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "strides",
            ..
        })
    ));
    // SAFETY: the copy is on the stream.
    let view = unsafe { tensor.view_strided::<u8>(stream) }.unwrap();
    assert_eq!((view.first, &*view.strides), (0, &[1, 16][..]));
    let found = view.elements.to_vec(stream).unwrap();
    assert_eq!(found, &bytes[4..4 + 34]);
    drop((tensor, memory));
    bench.finish();
}
