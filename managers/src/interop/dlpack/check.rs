//! What another library says of a tensor, held against the standard.

use super::abi::{
    COMPLEX, DLDataType, DLDevice, DLManagedTensorVersioned, DLTensor, IS_COPIED, IS_PADDED, MAJOR,
    MINOR_WITH_STRIDES, ManagedTensor, READ_ONLY,
};
use super::owned::OwnedTensor;
use crate::error::{Error, Result};
use crate::interop::layout::Layout;

/// Where the memory of a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMemory {
    /// On the device (`kDLCUDA`).
    Device,
    /// In pinned pages of the host (`kDLCUDAHost`).
    PinnedHost,
    /// Where the driver has moved it (`kDLCUDAManaged`).
    Managed,
}

/// A tensor that can be taken.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) memory: TensorMemory,
    /// Strides count elements.
    pub(super) layout: Layout,
    pub(super) dtype: DLDataType,
    /// Of the first element; 0 where there is none.
    pub(super) address: u64,
    /// Bytes from the lowest to the end of the highest element.
    pub(super) bytes: u64,
    pub(super) is_read_only: bool,
    pub(super) is_copied: bool,
}

/// Whether a tensor may leave its strides out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strides {
    Optional,
    Required,
}

/// Looks at a tensor for a context of the device with this ordinal.
///
/// # Errors
/// [`Error::Invalid`] with the field of the tensor that is not as the standard says, or not as this crate can
/// use it.
///
/// # Safety
/// The tensor is one as DLPack describes it, of whichever version it says.
pub(super) unsafe fn check(tensor: &OwnedTensor, ordinal: u32) -> Result<Checked> {
    let (flags, strides) = match tensor.as_raw() {
        // SAFETY: a tensor, by the condition of this function.
        ManagedTensor::Versioned(tensor) => unsafe { check_version(tensor.as_ptr()) }?,
        ManagedTensor::Unversioned(_) => (0, Strides::Optional),
    };
    // SAFETY: a tensor of a layout that is known: the one of before versions, or that of this major version.
    let array = unsafe { tensor.array() };
    let dimensions = usize::try_from(array.ndim)
        .map_err(|_| Error::invalid("ndim", format!("{} is negative", array.ndim)))?;
    // SAFETY: as many lengths, and as many strides, by the condition of this function.
    let (shape, given) = unsafe {
        (
            list(array.shape, dimensions),
            list(array.strides, dimensions),
        )
    };
    let shape = shape.ok_or_else(|| Error::invalid("shape", "it is null"))?;
    if given.is_none() && strides == Strides::Required {
        let problem = "they are null, which ended with DLPack 1.2";
        return Err(Error::invalid("strides", problem));
    }
    let checked = check_array(array, shape, given, ordinal)?;
    Ok(Checked {
        is_read_only: flags & READ_ONLY != 0,
        is_copied: flags & IS_COPIED != 0,
        ..checked
    })
}

/// The flags of a tensor that has a version, and what the version says of strides.
///
/// # Safety
/// It is a tensor of whichever version it says.
unsafe fn check_version(tensor: *const DLManagedTensorVersioned) -> Result<(u64, Strides)> {
    // SAFETY: the version, the deleter and the flags are at the same places in every layout that has a version.
    let (version, flags) = unsafe {
        (
            (&raw const (*tensor).version).read(),
            (&raw const (*tensor).flags).read(),
        )
    };
    if version.major != MAJOR {
        let (major, minor) = (version.major, version.minor);
        let problem = format!("it is {major}.{minor}; ask the producer for {MAJOR}");
        return Err(Error::invalid("version", problem));
    }
    if flags & !(READ_ONLY | IS_COPIED | IS_PADDED) != 0 {
        let problem = format!("{flags:#x} has some that are not known");
        return Err(Error::invalid("flags", problem));
    }
    let strides = match version.minor {
        ..MINOR_WITH_STRIDES => Strides::Optional,
        MINOR_WITH_STRIDES.. => Strides::Required,
    };
    Ok((flags, strides))
}

/// The array, whose lengths and strides were read.
fn check_array(
    array: &DLTensor,
    shape: &[i64],
    strides: Option<&[i64]>,
    ordinal: u32,
) -> Result<Checked> {
    let memory = check_device(array.device, ordinal)?;
    let (item, align) = item(array.dtype)?;
    let shape: Option<Box<[u64]>> = shape.iter().map(|&len| u64::try_from(len).ok()).collect();
    let shape = shape.ok_or_else(|| Error::invalid("shape", "a dimension is negative"))?;
    if let Some(strides) = strides
        && strides.iter().any(|&stride| stride < 0)
    {
        let problem = format!("{strides:?} has a negative one; copy the array first");
        return Err(Error::invalid("strides", problem));
    }
    let layout = Layout::new(shape, strides, 1)?;
    let bytes = layout.span.checked_mul(item);
    let bytes = bytes.filter(|&bytes| i64::try_from(bytes).is_ok());
    let bytes = bytes.ok_or_else(|| {
        let problem = format!("{:?} has more bytes than memory has", layout.shape);
        Error::invalid("shape", problem)
    })?;
    let address = match layout.elements {
        0 => 0,
        _ => address(array, bytes, align)?,
    };
    Ok(Checked {
        memory,
        layout,
        dtype: array.dtype,
        address,
        bytes,
        is_read_only: false,
        is_copied: false,
    })
}

/// The address of the first element, with so many bytes from there on.
fn address(array: &DLTensor, bytes: u64, align: u64) -> Result<u64> {
    if array.data.is_null() {
        return Err(Error::invalid("data", "it is null"));
    }
    let start = array.data.addr() as u64;
    let problem = |problem: &str| {
        let offset = array.byte_offset;
        Error::invalid("data", format!("{start:#x} and {offset} bytes: {problem}"))
    };
    let first = start.checked_add(array.byte_offset);
    let first = first.filter(|first| first.checked_add(bytes).is_some());
    let first = first.ok_or_else(|| problem("the elements are beyond all addresses"))?;
    match first.is_multiple_of(align) {
        true => Ok(first),
        false => Err(problem("not aligned for its elements")),
    }
}

fn check_device(device: DLDevice, ordinal: u32) -> Result<TensorMemory> {
    match device.device_type {
        // The standard has 0 there, which names no device.
        DLDevice::CUDA_HOST => Ok(TensorMemory::PinnedHost),
        DLDevice::CUDA_MANAGED => Ok(TensorMemory::Managed),
        DLDevice::CUDA if u32::try_from(device.device_id) == Ok(ordinal) => {
            Ok(TensorMemory::Device)
        }
        _ => {
            let problem =
                format!("{device:?} is neither CUDA device {ordinal} nor pinned or managed memory");
            Err(Error::invalid("device", problem))
        }
    }
}

/// Bytes of an element, and of what it is aligned to.
fn item(dtype: DLDataType) -> Result<(u64, u64)> {
    let DLDataType { code, bits, lanes } = dtype;
    let problem = |problem: &str| Err(Error::invalid("dtype", format!("{dtype:?}: {problem}")));
    if bits == 0 || lanes == 0 {
        return problem("it has no bits");
    }
    if !bits.is_multiple_of(8) {
        return problem("its lanes are not of whole bytes");
    }
    let lane = u64::from(bits / 8);
    let parts = if code == COMPLEX { 2 } else { 1 };
    let align = (lane / parts).max(1);
    let align = if align.is_power_of_two() { align } else { 1 };
    Ok((lane * u64::from(lanes), align))
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
