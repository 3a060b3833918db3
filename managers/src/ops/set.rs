//! Fills.

use std::ptr;

use cupola_sys::driver::{CUdeviceptr, id};

use crate::buffer::{DeviceCopy, DeviceSliceMut};
use crate::error::{Error, Result, Written};
use crate::stream::Stream;

/// Sets every byte (`cuMemsetD8Async`).
///
/// # Errors
/// [`Error::WrongContext`](crate::Error::WrongContext) when the memory is another context's;
/// [`Error::Full`](crate::Error::Full) when there are too many events for one more, which memory of
/// another stream may need; [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked); in
/// [checked mode](crate::Context::set_checked) [`Error::Unverified`](crate::Error::Unverified);
/// what the driver returned.
#[doc(alias = "cuMemsetD8Async")]
#[track_caller]
pub fn set_bytes<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    byte: u8,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    let set = put_bytes(&to, byte, stream);
    to.end_write(stream, set, || Written::All)
}

#[track_caller]
fn put_bytes<T: DeviceCopy>(to: &DeviceSliceMut<'_, T>, byte: u8, stream: &Stream) -> Result<()> {
    to.join(stream)?;
    let bytes = to.len() * size_of::<T>();
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: `bytes` bytes of the device, freed after the work on the stream.
    stream.submit(id::cuMemsetD8Async, |driver, raw| unsafe {
        driver.cuMemsetD8Async(to.as_raw(), byte, bytes, raw)
    })
}

/// Sets every byte to zero.
///
/// # Errors
/// As [`set_bytes`].
#[doc(alias = "cuMemsetD8Async")]
#[track_caller]
pub fn zero<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    set_bytes(to, 0, stream)
}

/// Sets every element to `value` (`cuMemsetD8Async`, `cuMemsetD16Async`, `cuMemsetD32Async`).
///
/// A device fills with 1, 2 or 4 bytes over and over. So any value of such a size will do, and a
/// larger one whose bytes are those of a smaller number repeated, as those of zero and of `[x; n]`
/// are.
///
/// # Errors
/// As [`set_bytes`]; [`Error::Invalid`] naming `value`, before anything is put on the stream, when
/// its bytes do not repeat so, or when the memory, of a type that need not be aligned, is not
/// aligned to the number that repeats. [`write()`](crate::ops::write()) or a kernel can set such
/// elements.
#[doc(alias = "cuMemsetD8Async")]
#[doc(alias = "cuMemsetD16Async")]
#[doc(alias = "cuMemsetD32Async")]
#[track_caller]
pub fn fill<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    value: T,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    let filled = put_pattern(&to, &value, stream);
    to.end_write(stream, filled, || Written::All)
}

#[track_caller]
fn put_pattern<T: DeviceCopy>(
    to: &DeviceSliceMut<'_, T>,
    value: &T,
    stream: &Stream,
) -> Result<()> {
    let bytes = to.len() * size_of::<T>();
    if bytes == 0 {
        return to.join(stream);
    }
    let pattern = Pattern::of_value(value, to.as_raw())?;
    to.join(stream)?;
    let address = to.as_raw();
    // The memory is `bytes` bytes of the device, freed after the work on the stream, and aligned to
    // the pattern, which is of a size that divides them.
    match pattern {
        // SAFETY: as many bytes as there are.
        Pattern::Byte(byte) => stream.submit(id::cuMemsetD8Async, |driver, raw| unsafe {
            driver.cuMemsetD8Async(address, byte, bytes, raw)
        }),
        // SAFETY: half as many pairs of bytes, at an even address.
        Pattern::Short(short) => stream.submit(id::cuMemsetD16Async, |driver, raw| unsafe {
            driver.cuMemsetD16Async(address, short, bytes / 2, raw)
        }),
        // SAFETY: a quarter as many words, at a multiple of four.
        Pattern::Word(word) => stream.submit(id::cuMemsetD32Async, |driver, raw| unsafe {
            driver.cuMemsetD32Async(address, word, bytes / 4, raw)
        }),
    }
}

/// A number that a device can write over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Byte(u8),
    Short(u16),
    Word(u32),
}

impl Pattern {
    /// The one that a value is made of.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `value`.
    #[track_caller]
    pub(crate) fn of_value<T: DeviceCopy>(value: &T, address: CUdeviceptr) -> Result<Self> {
        // SAFETY: the bytes of a value, none of which is padding (`DeviceCopy`).
        let bytes = unsafe {
            std::slice::from_raw_parts(ptr::from_ref(value).cast::<u8>(), size_of::<T>())
        };
        match Self::of(bytes, address) {
            Some(pattern) => Ok(pattern),
            None => Err(no_pattern::<T>(address)),
        }
    }

    /// The number, and how many bytes of it count.
    pub(crate) fn number(self) -> (u32, u32) {
        match self {
            Self::Byte(byte) => (byte.into(), 1),
            Self::Short(short) => (short.into(), 2),
            Self::Word(word) => (word, 4),
        }
    }

    /// The largest that a value is made of, at an address that is aligned to it. `None` of a value
    /// that is made of none.
    fn of(value: &[u8], address: CUdeviceptr) -> Option<Self> {
        fn unit<const N: usize>(value: &[u8], address: CUdeviceptr) -> Option<[u8; N]> {
            let &first = value.first_chunk::<N>()?;
            let repeats =
                value.len().is_multiple_of(N) && value.chunks_exact(N).all(|unit| unit == first);
            (repeats && address.is_multiple_of(N as u64)).then_some(first)
        }
        unit(value, address)
            .map(|word| Self::Word(u32::from_ne_bytes(word)))
            .or_else(|| Some(Self::Short(u16::from_ne_bytes(unit(value, address)?))))
            .or_else(|| Some(Self::Byte(unit::<1>(value, address)?[0])))
    }
}

#[cold]
#[track_caller]
fn no_pattern<T>(address: CUdeviceptr) -> Error {
    let problem = format!(
        "the bytes of this {} do not repeat after 1, 2 or 4 of them at {address:#x}, which is all \
         that a device fills with; write() or a kernel sets other elements",
        std::any::type_name::<T>()
    );
    Error::invalid("value", problem)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Pattern;

    // Without it elements could get bytes that are not their value's, or memory be filled that is
    // not aligned to what is written, which drivers refuse.
    #[test]
    fn a_pattern_is_all_of_a_value_and_fits_its_address() {
        let property = |small: Vec<u8>, times: u8, address: u8| {
            let unit: Vec<u8> = small.into_iter().take(5).collect();
            let value = unit.repeat(usize::from(times % 5));
            let address = u64::from(address);
            let written = |pattern| match pattern {
                Pattern::Byte(byte) => vec![byte],
                Pattern::Short(short) => short.to_ne_bytes().to_vec(),
                Pattern::Word(word) => word.to_ne_bytes().to_vec(),
            };
            match Pattern::of(&value, address).map(written) {
                Some(bytes) => {
                    address.is_multiple_of(bytes.len() as u64)
                        && value.len().is_multiple_of(bytes.len())
                        && value == bytes.repeat(value.len() / bytes.len())
                }
                // None of the three sizes would have done.
                None => [1, 2, 4].iter().all(|&size| {
                    value.is_empty()
                        || !value.len().is_multiple_of(size)
                        || !address.is_multiple_of(size as u64)
                        || value.chunks(size).any(|part| part != &value[..size])
                }),
            }
        };
        quickcheck::quickcheck(property as fn(Vec<u8>, u8, u8) -> bool);
    }
}
