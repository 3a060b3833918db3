//! Any bytes as a tensor, and as an array, of another library: what is taken lies in memory as arithmetic without limits
//! says, and a tensor is ended once. The fuzz target `descriptors` compiles this file too.

use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::interop::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    ManagedTensor, TensorMemory,
};
use cupola_managers::interop::{ArrayInterface, ForeignTensor};
use cupola_managers::{Context, ExecutionManager};

/// Numbers at which something may overflow, or mean another thing.
const EDGES: [i64; 15] = [
    0,
    1,
    2,
    3,
    4,
    8,
    -1,
    -4,
    1 << 31,
    1 << 32,
    1 << 61,
    i64::MAX / 4,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN,
];

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    /// 0 behind the end.
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// One of the edges, a small number, or any.
    fn number(&mut self) -> i64 {
        let pick = self.byte();
        match pick {
            0..=15 => EDGES[usize::from(pick) % EDGES.len()],
            16..=240 => i64::from(pick % 16),
            241.. => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn numbers(&mut self, len: usize) -> Vec<i64> {
        (0..len).map(|_| self.number()).collect()
    }
}

/// Takes what the bytes say.
///
/// # Panics
/// When what is taken is not as it should be.
pub(crate) fn check(bytes: &[u8]) {
    let mut reader = Reader(bytes);
    match reader.byte() % 4 {
        0 => array(&mut reader),
        1 => tensor(&mut reader, false),
        _ => tensor(&mut reader, true),
    }
}

fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let driver = cupola_sim::Machine::builder().build().driver();
        let execution = ExecutionManager::new(driver).unwrap();
        execution.devices().get(0).unwrap().primary().unwrap()
    })
}

/// The product of the lengths, and the lowest and the highest offset; `None` without elements.
fn offsets(shape: &[u64], strides: &[i64]) -> (Option<(i128, i128)>, u128) {
    if shape.contains(&0) {
        return (None, 0);
    }
    let (mut low, mut high, mut product) = (0, 0, 1_u128);
    for (&len, &stride) in shape.iter().zip(strides) {
        let reach = i128::from(len - 1) * i128::from(stride);
        (low, high) = (low + reach.min(0), high + reach.max(0));
        product *= u128::from(len);
    }
    (Some((low, high)), product)
}

unsafe extern "C" fn count(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the tensors below have the address of a counter there.
    unsafe { &*(*tensor).manager_ctx.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn count_unversioned(tensor: *mut DLManagedTensor) {
    // SAFETY: the tensors below have the address of a counter there.
    unsafe { &*(*tensor).manager_ctx.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

fn tensor(reader: &mut Reader<'_>, is_versioned: bool) {
    let deleted = AtomicU32::new(0);
    let manager_ctx = ptr::from_ref(&deleted).cast_mut().cast();
    let ndim = i32::from(reader.byte() % 6) - i32::from(reader.byte() == 1);
    let dimensions = ndim.max(0) as usize;
    let (mut shape, mut strides) = (reader.numbers(dimensions), reader.numbers(dimensions));
    let has_strides = !reader.byte().is_multiple_of(4);
    let array = DLTensor {
        data: ptr::without_provenance_mut(reader.number() as usize),
        device: DLDevice {
            device_type: [2, 2, 2, 3, 13, 1][usize::from(reader.byte() % 6)],
            device_id: i32::from(reader.byte() == 1),
        },
        ndim,
        dtype: DLDataType {
            code: reader.byte() % 8,
            bits: [8, 16, 32, 64, 128, 4, 0, 24][usize::from(reader.byte() % 8)],
            lanes: u16::from(reader.byte() % 4),
        },
        shape: shape.as_mut_ptr(),
        strides: match has_strides {
            true => strides.as_mut_ptr(),
            false => ptr::null_mut(),
        },
        byte_offset: reader.number() as u64,
    };
    let mut new = DLManagedTensorVersioned {
        version: DLPackVersion {
            major: 1 + u32::from(reader.byte() == 1),
            minor: u32::from(reader.byte() % 4),
        },
        manager_ctx,
        deleter: Some(count),
        flags: u64::from(reader.byte() % 9),
        dl_tensor: array,
    };
    let mut old = DLManagedTensor {
        dl_tensor: array,
        manager_ctx,
        deleter: Some(count_unversioned),
    };
    let raw: ManagedTensor = match is_versioned {
        true => NonNull::from(&mut new).into(),
        false => NonNull::from(&mut old).into(),
    };
    // SAFETY: as many lengths and strides as it says, and alive until the end of this function.
    let taken = unsafe { ForeignTensor::from_raw(raw, context()) };
    assert_eq!(deleted.load(Ordering::Relaxed), 0);
    if let Ok(tensor) = &taken {
        let (reach, product) = offsets(tensor.shape(), tensor.strides());
        let dtype = tensor.dtype();
        let item = u128::from(dtype.bits / 8) * u128::from(dtype.lanes);
        assert!(product <= usize::MAX as u128 && item > 0);
        let span = reach.map_or(0, |(low, high)| {
            assert_eq!(low, 0);
            (high as u128 + 1) * item
        });
        assert_eq!(u128::from(tensor.bytes()), span);
        assert_eq!(tensor.address() != 0, span > 0);
        assert!(u128::from(tensor.address()) + span <= 1 << 64);
        if span > 0 && tensor.memory() != TensorMemory::PinnedHost {
            let first = array.data.addr() as u128 + u128::from(array.byte_offset);
            assert_eq!(u128::from(tensor.address()), first);
        }
    }
    drop(taken);
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
}

fn array(reader: &mut Reader<'_>) {
    let dimensions = usize::from(reader.byte() % 5);
    let shape = reader.numbers(dimensions);
    let shape: Vec<u64> = shape.into_iter().map(|len| len as u64).collect();
    let typestr = match reader.byte() {
        0 => String::from_utf8_lossy(&reader.numbers(1)[0].to_le_bytes()).into_owned(),
        pick => ["<u4", "<u4", "<u4", ">u4", "|u4", "<f4"][usize::from(pick % 6)].to_owned(),
    };
    let version = u32::from(reader.byte() % 5);
    let data = reader.number() as u64;
    let mut shown = ArrayInterface::new(version, &shape, &typestr, data);
    let strides = usize::from(reader.byte() % 6);
    if strides > 0 {
        shown.strides = Some(reader.numbers(match strides {
            1 => dimensions + 1,
            _ => dimensions,
        }));
    }
    shown.is_masked = reader.byte() == 1;
    shown.is_read_only = reader.byte() == 1;
    shown.stream = Some(u64::from(reader.byte() % 8)).filter(|&stream| stream < 7);
    // SAFETY: no work is given it.
    if let Ok(view) = unsafe { shown.view::<u32>() } {
        let product: u128 = shape.iter().fold(1, |product, &len| {
            if shape.contains(&0) {
                0
            } else {
                product * u128::from(len)
            }
        });
        assert_eq!(view.len() as u128, product);
    }
    // SAFETY: no work is given it.
    if let Ok(view) = unsafe { shown.view_strided::<u32>() } {
        let (reach, _) = offsets(&shape, &view.strides);
        let (low, high) = reach.unwrap_or((0, -1));
        assert_eq!(view.elements.len() as i128, high - low + 1);
        assert_eq!(view.first as i128, -low);
        assert!(reach.is_none() || i128::from(data) + 4 * low > 0);
        assert!(i128::from(data) + 4 * (high + 1) <= 1 << 64);
        assert!(!shown.is_masked && version <= 3 && shown.stream != Some(0) && typestr == "<u4");
    }
}
