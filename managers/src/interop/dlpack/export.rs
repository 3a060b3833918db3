//! Memory of ours as tensors for other libraries.

use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};

use super::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    DlElement, IS_COPIED, MAJOR, MINOR, READ_ONLY,
};
use crate::buffer::{Buffer, PinnedBuffer};
use crate::error::{Error, Result};
use crate::host::ManagedBuffer;
use crate::interop::layout::{compact, fits};
use crate::stream::Stream;

/// Memory that becomes a tensor, in C order without holes, for one consumer: of
/// [version 1](Self::into_versioned), or [of before](Self::into_unversioned), as the consumer asks for. Dropped before
/// that, the memory goes with it.
///
/// The tensor ends when its deleter is called, on whichever thread, and the memory with it, as if the buffer were dropped
/// there. A tensor whose deleter is never called is leaked.
pub struct ExportedTensor {
    data: *mut c_void,
    device: DLDevice,
    dtype: DLDataType,
    flags: u64,
    kept: Kept,
}

/// What a tensor refers to.
struct Kept {
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    /// Dropped last, in the order of the streams that it was used on.
    _owner: Box<dyn Send>,
}

// SAFETY: the address is of memory that the owner, which is Send, has; nothing is read through it here.
unsafe impl Send for ExportedTensor {}

impl ExportedTensor {
    /// Device memory (`kDLCUDA`) as a tensor of this shape, for a consumer whose work will be on `consumer`. That stream
    /// waits, on the device, for the work on the buffer that other streams have by now, and the memory is used again
    /// when the work that is on it when the tensor ends is over.
    ///
    /// Without a consumer's stream nothing waits (`stream=-1`): the consumer orders its work behind that of the buffer's
    /// streams, and calls the deleter when it is over. What a Python consumer passes is a
    /// [`StreamNumber`](crate::interop::StreamNumber).
    ///
    /// # Errors
    /// The buffer is dropped then. [`Error::Invalid`] when the shape does not have as many elements as the buffer;
    /// [`Error::Tainted`] when an operation has failed to write it; [`Error::WrongContext`] when the stream's work may not
    /// use the memory; [`Error::Capturing`]; [`Error::Full`] when there are too many events; [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned.
    #[track_caller]
    pub fn of_buffer<T: DlElement>(
        buffer: Buffer<T>,
        shape: &[u64],
        consumer: Option<&Stream>,
    ) -> Result<Self> {
        fits(shape, buffer.len())?;
        buffer.taint()?;
        if let Some(consumer) = consumer {
            buffer.ready_on(consumer)?;
        }
        let device_id = i32::try_from(buffer.ordinal());
        let device = DLDevice {
            device_type: DLDevice::CUDA,
            device_id: device_id.map_err(|_| too_long())?,
        };
        let data = ptr::without_provenance_mut(buffer.as_raw() as usize);
        Self::new::<T>(data, device, shape, Box::new(buffer))
    }

    /// Pinned memory (`kDLCUDAHost`) as a tensor of this shape, for a consumer on the host. Waits for the copies from and
    /// to the buffer.
    ///
    /// Work of the consumer on a device is over when it calls the deleter.
    ///
    /// # Errors
    /// The buffer is dropped then. [`Error::Invalid`] when the shape does not have as many elements as the buffer, or
    /// when a device has written bytes that are no value; [`Error::Tainted`]; [`Error::Poisoned`], [`Error::Forked`];
    /// what the driver returned.
    #[track_caller]
    pub fn of_pinned<T: DlElement>(mut buffer: PinnedBuffer<T>, shape: &[u64]) -> Result<Self> {
        fits(shape, buffer.len())?;
        buffer.end_copies()?;
        let device = DLDevice {
            device_type: DLDevice::CUDA_HOST,
            device_id: 0,
        };
        let data = match buffer.is_empty() {
            true => ptr::null_mut(),
            false => buffer.as_ptr().cast(),
        };
        Self::new::<T>(data, device, shape, Box::new(buffer))
    }

    /// Managed memory (`kDLCUDAManaged`) as a tensor of this shape, for a consumer whose work will be on `consumer`: as
    /// [`of_buffer`](Self::of_buffer). The deleter waits for the work on that stream.
    ///
    /// # Errors
    /// Those of [`of_buffer`](Self::of_buffer), but for taints, which managed memory has not.
    #[track_caller]
    pub fn of_managed<T: DlElement>(
        buffer: ManagedBuffer<T>,
        shape: &[u64],
        consumer: Option<&Stream>,
    ) -> Result<Self> {
        fits(shape, buffer.len())?;
        if let Some(consumer) = consumer {
            buffer.ready_on(consumer)?;
        }
        let device = DLDevice {
            device_type: DLDevice::CUDA_MANAGED,
            device_id: 0,
        };
        let data = match buffer.is_empty() {
            true => ptr::null_mut(),
            false => buffer.as_ptr().cast(),
        };
        Self::new::<T>(data, device, shape, Box::new(buffer))
    }

    fn new<T: DlElement>(
        data: *mut c_void,
        device: DLDevice,
        shape: &[u64],
        owner: Box<dyn Send>,
    ) -> Result<Self> {
        if i32::try_from(shape.len()).is_err() {
            return Err(too_long());
        }
        let lens = shape.iter().map(|&len| i64::try_from(len).ok());
        let lens: Option<Box<[i64]>> = lens.collect();
        Ok(Self {
            data,
            device,
            dtype: T::TYPE,
            flags: 0,
            kept: Kept {
                shape: lens.ok_or_else(too_long)?,
                // Not null: since DLPack 1.2 an array has them.
                strides: compact(shape, 1),
                _owner: owner,
            },
        })
    }

    /// The same, which the consumer must not write.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self {
            flags: self.flags | READ_ONLY,
            ..self
        }
    }

    /// The same, as a copy that was made for the consumer (`copy=True`): nothing else uses the memory as long as the
    /// tensor.
    #[must_use]
    pub fn copied(self) -> Self {
        Self {
            flags: self.flags | IS_COPIED,
            ..self
        }
    }

    /// The tensor of DLPack 1.0 and later, for a capsule with the name `dltensor_versioned`. It is the consumer's, which
    /// calls its deleter.
    #[must_use = "the memory is leaked unless the deleter is called"]
    pub fn into_versioned(self) -> NonNull<DLManagedTensorVersioned> {
        let flags = self.flags;
        let (dl_tensor, manager_ctx) = self.leak();
        NonNull::from(Box::leak(Box::new(DLManagedTensorVersioned {
            version: DLPackVersion {
                major: MAJOR,
                minor: MINOR,
            },
            manager_ctx,
            deleter: Some(delete_versioned),
            flags,
            dl_tensor,
        })))
    }

    /// The tensor as of before DLPack 1.0, for a capsule with the name `dltensor`: for consumers that pass no
    /// `max_version`. It is the consumer's, which calls its deleter.
    ///
    /// # Errors
    /// [`Error::Invalid`] of a tensor that must not be written, which this form cannot say; the memory is dropped then.
    pub fn into_unversioned(self) -> Result<NonNull<DLManagedTensor>> {
        if self.flags & READ_ONLY != 0 {
            let problem = "a tensor without a version cannot say that it is read only";
            return Err(Error::invalid("flags", problem));
        }
        let (dl_tensor, manager_ctx) = self.leak();
        Ok(NonNull::from(Box::leak(Box::new(DLManagedTensor {
            dl_tensor,
            manager_ctx,
            deleter: Some(delete_unversioned),
        }))))
    }

    /// The array, and the address of what keeps it, which is the caller's now.
    fn leak(self) -> (DLTensor, *mut c_void) {
        // Below `i32::MAX`, as was seen in `new`.
        let ndim = self.kept.shape.len() as i32;
        let kept = Box::leak(Box::new(self.kept));
        let array = DLTensor {
            data: self.data,
            device: self.device,
            ndim,
            dtype: self.dtype,
            shape: kept.shape.as_mut_ptr(),
            strides: kept.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        (array, ptr::from_mut(kept).cast())
    }
}

impl fmt::Debug for ExportedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportedTensor")
            .field("data", &self.data)
            .field("device", &self.device)
            .field("dtype", &self.dtype)
            .field("shape", &self.kept.shape)
            .finish_non_exhaustive()
    }
}

fn too_long() -> Error {
    Error::invalid("shape", "it does not fit DLPack")
}

/// # Safety
/// `tensor` was made by `into_versioned`, and is not used again.
unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    if tensor.is_null() {
        return;
    }
    // SAFETY: `into_versioned` has leaked the box of the tensor, and that of what keeps it; both are taken back here
    // alone, by the condition of this function.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Kept>()));
    }
}

/// # Safety
/// `tensor` was made by `into_unversioned`, and is not used again.
unsafe extern "C" fn delete_unversioned(tensor: *mut DLManagedTensor) {
    if tensor.is_null() {
        return;
    }
    // SAFETY: `into_unversioned` has leaked the box of the tensor, and that of what keeps it; both are taken back here
    // alone, by the condition of this function.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Kept>()));
    }
}
