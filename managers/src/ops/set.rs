//! Fills.

use cupola_sys::driver::id;

use crate::buffer::{DeviceCopy, DeviceSliceMut};
use crate::error::Result;
use crate::stream::Stream;

/// Sets every byte (`cuMemsetD8Async`).
///
/// # Errors
/// [`Error::WrongContext`](crate::Error::WrongContext) when the memory is another context's;
/// [`Error::Full`](crate::Error::Full) when there are too many events for one more, which memory of
/// another stream may need; [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked); in
/// [checked mode](crate::Context::set_checked) [`Error::Unverified`](crate::Error::Unverified);
/// what the driver returned.
#[track_caller]
pub fn set_bytes<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    byte: u8,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    to.join(stream)?;
    let bytes = to.len() * size_of::<T>();
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: `bytes` bytes of the device, freed after what is on the stream.
    stream.submit(id::cuMemsetD8Async, |driver, raw| unsafe {
        driver.cuMemsetD8Async(to.as_raw(), byte, bytes, raw)
    })
}

/// Sets every byte to zero.
///
/// # Errors
/// As [`set_bytes`].
#[track_caller]
pub fn zero<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    set_bytes(to, 0, stream)
}

/// Sets every element to `value` (`cuMemsetD32Async`).
///
/// # Errors
/// As [`set_bytes`].
#[track_caller]
pub fn fill<'d>(to: impl Into<DeviceSliceMut<'d, u32>>, value: u32, stream: &Stream) -> Result<()> {
    let to = to.into();
    to.join(stream)?;
    if to.is_empty() {
        return Ok(());
    }
    // SAFETY: `len` words of the device, freed after what is on the stream.
    stream.submit(id::cuMemsetD32Async, |driver, raw| unsafe {
        driver.cuMemsetD32Async(to.as_raw(), value, to.len(), raw)
    })
}
