//! DLPack: tensors that change hands between libraries without a copy (version 1.0 of its
//! specification, <https://dmlc.github.io/dlpack>).
//!
//! A producer fills a [`DLManagedTensorVersioned`] and gives its address away; the consumer calls its deleter
//! when it has no more use for the memory. Python's `__dlpack__` wraps that address in a capsule.
//!
//! ```
//! use cupola_managers::interop::{ForeignTensor, dlpack};
//! use cupola_managers::{ExecutionManager, PoolConfig};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let stream = context.streams().create(Default::default())?;
//! let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
//! let matrix = pool.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &stream)?;
//! // For a consumer whose work is on `stream`.
//! let raw = dlpack::export(matrix, &[2, 3], &context, &stream)?;
//!
//! // The consumer's side, here the same program.
//! // SAFETY: a tensor that was just exported, and that no other consumer has.
//! let mut tensor = unsafe { ForeignTensor::from_raw(raw, &context) }?;
//! assert_eq!(tensor.shape(), [2, 3]);
//! // SAFETY: the copy is on the stream, and waited for.
//! let numbers = unsafe { tensor.view::<f32>(&stream)? };
//! assert_eq!(numbers.to_vec(&stream)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::error;
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use super::layout::{elements, fits, is_contiguous};
use crate::buffer::{Buffer, DeviceCopy, DeviceSlice};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// `kDLCUDA`.
const CUDA: i32 = 2;
/// `DLPACK_MAJOR_VERSION`, whose layouts this reads and writes.
const MAJOR: u32 = 1;
const MINOR: u32 = 0;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;

/// `DLDevice`: where the memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// 2 is CUDA.
    pub device_type: i32,
    /// The ordinal.
    pub device_id: i32,
}

/// `DLDataType`: the type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 is a signed integer, 1 an unsigned one, 2 a float, 4 a bfloat, 6 a bool.
    pub code: u8,
    /// Bits of a lane.
    pub bits: u8,
    /// Lanes of a vector; 1 for scalars.
    pub lanes: u16,
}

/// `DLTensor`: an array that is borrowed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Of each element.
    pub dtype: DLDataType,
    /// Elements of each dimension.
    pub shape: *mut i64,
    /// In elements, by dimension; null for C order without holes.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Another one has another layout.
    pub major: u32,
    /// A later one has more flags and types.
    pub minor: u32,
}

/// `DLManagedTensorVersioned`: an array and its owner.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Of this layout.
    pub version: DLPackVersion,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Ends it; null where nothing needs an end.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// Bit 0: nothing may write to it.
    pub flags: u64,
    /// The array.
    pub dl_tensor: DLTensor,
}

/// The types of elements that DLPack has a name for.
pub trait DlElement: DeviceCopy {
    /// The name.
    const TYPE: DLDataType;
}

macro_rules! types {
    ($($element:ty: $code:literal),* $(,)?) => {$(
        impl DlElement for $element {
            const TYPE: DLDataType = DLDataType {
                code: $code,
                bits: (8 * size_of::<Self>()) as u8,
                lanes: 1,
            };
        }
    )*};
}

types! {
    i8: 0, i16: 0, i32: 0, i64: 0,
    u8: 1, u16: 1, u32: 1, u64: 1,
    f32: 2, f64: 2,
    bool: 6,
}

#[cfg(feature = "half")]
types! { half::f16: 2, half::bf16: 4 }

/// What a tensor of ours owns.
struct Exported<T: DeviceCopy> {
    tensor: DLManagedTensorVersioned,
    shape: Box<[i64]>,
    /// Dropped with it, in the order of the streams that it was used on.
    _buffer: Buffer<T>,
}

/// Gives a buffer away as a tensor of this shape, in C order, to a consumer whose work will be on `stream`. That
/// stream waits for the buffer, on the device.
///
/// The tensor ends when its deleter is called, from whatever thread: the memory is used again when the work that is on
/// `stream` by then is over. A tensor whose deleter is never called is leaked.
///
/// # Errors
/// The buffer is dropped then. [`Error::Invalid`] when the shape does not have as many elements as the buffer;
/// [`Error::WrongContext`] when the stream is another driver's; what the driver returned.
#[track_caller]
pub fn export<T: DlElement>(
    buffer: Buffer<T>,
    shape: &[u64],
    context: &Context,
    stream: &Stream,
) -> Result<NonNull<DLManagedTensorVersioned>> {
    fits(shape, buffer.len())?;
    buffer.used_on(stream)?;
    let too_long = || Error::invalid("shape", "it does not fit DLPack");
    let shape = shape.iter().map(|&len| i64::try_from(len).ok());
    let shape: Option<Box<[i64]>> = shape.collect();
    let shape = shape.ok_or_else(too_long)?;
    let ndim = i32::try_from(shape.len()).map_err(|_| too_long())?;
    let device_id = i32::try_from(context.ordinal()).map_err(|_| too_long())?;
    let mut exported = Box::new(Exported {
        tensor: DLManagedTensorVersioned {
            version: DLPackVersion {
                major: MAJOR,
                minor: MINOR,
            },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete::<T>),
            flags: 0,
            dl_tensor: DLTensor {
                data: ptr::without_provenance_mut(buffer.as_raw() as usize),
                device: DLDevice {
                    device_type: CUDA,
                    device_id,
                },
                ndim,
                dtype: T::TYPE,
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        },
        shape,
        _buffer: buffer,
    });
    exported.tensor.dl_tensor.shape = exported.shape.as_mut_ptr();
    let exported = NonNull::from(Box::leak(exported));
    // SAFETY: the owner was leaked just now.
    let tensor = unsafe {
        let owner = exported.as_ptr();
        (*owner).tensor.manager_ctx = owner.cast();
        NonNull::new_unchecked(&raw mut (*owner).tensor)
    };
    Ok(tensor)
}

/// # Safety
/// `tensor` was exported here with this type, and is not used again.
unsafe extern "C" fn delete<T: DeviceCopy>(tensor: *mut DLManagedTensorVersioned) {
    if tensor.is_null() {
        return;
    }
    // SAFETY: an exported tensor's owner is the box that `export` has leaked; both by the condition of this
    // function.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Exported<T>>()) });
}

/// Why a tensor was not taken. It is still the caller's, who calls its deleter.
#[derive(Debug)]
pub struct TensorError {
    /// The tensor.
    pub tensor: NonNull<DLManagedTensorVersioned>,
    /// The reason.
    pub error: Error,
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl error::Error for TensorError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<TensorError> for Error {
    fn from(refused: TensorError) -> Self {
        refused.error
    }
}

/// A tensor of another library, in the memory of one of our contexts. Dropping it waits for the work on
/// the streams that it was viewed for, and calls its deleter.
#[derive(Debug)]
pub struct ForeignTensor {
    tensor: NonNull<DLManagedTensorVersioned>,
    shape: Box<[u64]>,
    len: usize,
    /// Those that it was viewed for.
    streams: Vec<Stream>,
    is_read_only: bool,
}

// SAFETY: a tensor may be used and deleted on any thread, by the conditions of `from_raw`.
unsafe impl Send for ForeignTensor {}

impl ForeignTensor {
    /// Takes a tensor over: whole arrays in C order, of one of [`DlElement`]'s types.
    ///
    /// # Errors
    /// With the tensor: [`Error::Invalid`] when its version, device, type, shape or strides are others, or its
    /// memory is null or not aligned.
    ///
    /// # Safety
    /// `tensor` is one as DLPack describes it, and the caller's to give away. Its memory is of `context`, or
    /// of one that shares its memory, and was made ready for the streams of this context that
    /// it will be viewed for. Its deleter may be called on any thread.
    pub unsafe fn from_raw(
        tensor: NonNull<DLManagedTensorVersioned>,
        context: &Context,
    ) -> Result<Self, TensorError> {
        // SAFETY: a tensor, by the condition of this function.
        match unsafe { inspect(tensor, context) } {
            Ok((shape, len, is_read_only)) => Ok(Self {
                tensor,
                shape,
                len,
                streams: Vec::new(),
                is_read_only,
            }),
            Err(error) => Err(TensorError { tensor, error }),
        }
    }

    /// Elements of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DLDataType {
        self.array().dtype
    }

    /// Whether nothing may write to it.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The address of its first element.
    #[must_use]
    pub fn address(&self) -> u64 {
        let array = self.array();
        (array.data.addr() as u64).wrapping_add(array.byte_offset)
    }

    /// Its elements in C order, for work on `stream`, which the drop of the tensor waits for.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are of another type.
    ///
    /// # Safety
    /// All work that is given the slice is on `stream`, and before the tensor is dropped.
    pub unsafe fn view<T: DlElement>(&mut self, stream: &Stream) -> Result<DeviceSlice<'_, T>> {
        let dtype = self.dtype();
        if dtype != T::TYPE {
            let problem = format!("its elements are {dtype:?}, not {:?}", T::TYPE);
            return Err(Error::invalid("tensor", problem));
        }
        if !self
            .streams
            .iter()
            .any(|known| known.serial() == stream.serial())
        {
            self.streams.push(stream.clone());
        }
        // SAFETY: as many elements of this type are there, as was seen when the tensor was taken; they stay as long
        // as it does, and its drop waits for the work on the stream, which is all, by the condition of this function.
        Ok(unsafe { DeviceSlice::from_raw(self.address(), self.len) })
    }

    /// Gives the tensor away: its memory is not waited for.
    #[must_use]
    pub fn into_raw(self) -> NonNull<DLManagedTensorVersioned> {
        let mut this = ManuallyDrop::new(self);
        (this.shape, this.streams) = (Box::default(), Vec::new());
        this.tensor
    }

    fn array(&self) -> &DLTensor {
        // SAFETY: the tensor is this value's.
        unsafe { &self.tensor.as_ref().dl_tensor }
    }
}

/// The shape of a tensor, its elements, and whether it is read only, if it is one that can be taken.
///
/// # Safety
/// `tensor` is one as DLPack describes it.
unsafe fn inspect(
    tensor: NonNull<DLManagedTensorVersioned>,
    context: &Context,
) -> Result<(Box<[u64]>, usize, bool)> {
    let invalid = |problem: String| Error::invalid("tensor", problem);
    // SAFETY: the version comes first in every layout.
    let version = unsafe { (&raw const (*tensor.as_ptr()).version).read() };
    if version.major != MAJOR {
        return Err(invalid(format!(
            "it is of DLPack {}.{}, not {MAJOR}",
            version.major, version.minor
        )));
    }
    // SAFETY: a tensor of this layout, by the condition of this function.
    let DLManagedTensorVersioned {
        flags, dl_tensor, ..
    } = unsafe { tensor.as_ref() };
    let ours = (CUDA, context.ordinal());
    let device = dl_tensor.device;
    if (device.device_type, u32::try_from(device.device_id).ok()) != (ours.0, Some(ours.1)) {
        return Err(invalid(format!(
            "it is on {device:?}, not on CUDA device {}",
            ours.1
        )));
    }
    let dimensions = usize::try_from(dl_tensor.ndim);
    let dimensions = dimensions.map_err(|_| invalid("it has less than no dimensions".into()))?;
    // SAFETY: as many lengths, by the condition of this function.
    let shape = unsafe { list(dl_tensor.shape, dimensions) }
        .ok_or_else(|| invalid("it has no shape".into()))?;
    let shape: Option<Box<[u64]>> = shape.iter().map(|&len| u64::try_from(len).ok()).collect();
    let shape = shape.ok_or_else(|| invalid("a dimension is negative".into()))?;
    let len = elements(&shape)?;
    if !dl_tensor.strides.is_null() {
        // SAFETY: as many strides, by the condition of this function.
        let strides = unsafe { list(dl_tensor.strides, dimensions) }.unwrap_or(&[]);
        if !is_contiguous(&shape, strides) {
            return Err(invalid(format!(
                "strides {strides:?} of {shape:?} are not those of C order"
            )));
        }
    }
    let dtype = dl_tensor.dtype;
    let size = u64::from(dtype.bits / 8).max(1);
    let address = (dl_tensor.data.addr() as u64).checked_add(dl_tensor.byte_offset);
    let is_there = address.is_some_and(|at| len == 0 || (at != 0 && at.is_multiple_of(size)));
    if !is_there {
        return Err(invalid(format!("no element is at {address:?}")));
    }
    Ok((shape, len, flags & READ_ONLY != 0))
}

/// So many numbers; `None` where there are some at null.
///
/// # Safety
/// There are as many, unless the address is null.
unsafe fn list<'l>(start: *const i64, len: usize) -> Option<&'l [i64]> {
    if len == 0 {
        return Some(&[]);
    }
    if start.is_null() {
        return None;
    }
    // SAFETY: as many numbers, by the condition of this function.
    Some(unsafe { std::slice::from_raw_parts(start, len) })
}

impl Drop for ForeignTensor {
    fn drop(&mut self) {
        for stream in &self.streams {
            // In a lost context nothing runs; a stream that is captured has no work of ours that runs.
            let _ = stream.ticket().and_then(|ticket| ticket.wait());
        }
        // SAFETY: the tensor is this value's, and its deleter is called once, after all work.
        unsafe {
            if let Some(deleter) = self.tensor.as_ref().deleter {
                deleter(self.tensor.as_ptr());
            }
        }
    }
}
