//! Memory of the program that is registered: page-locked in place.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use cupola_sys::driver::{CUdevice_attribute as Attribute, CUresult, DriverError};

use super::error::HostMemoryError;
use crate::buffer::{DeviceCopy, Home, PinnedBuffer, PinnedSlice, PinnedSliceMut, byte_len};
use crate::driver::{ContextCore, RelaxedCapture};
use crate::error::{Cause, Error, Result};
use crate::event::EventPool;

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const PORTABLE_AND_MAPPED: u32 = 1 | 2;
/// `CU_MEMHOSTREGISTER_READ_ONLY`.
const READ_ONLY: u32 = 8;

/// Whether the device may write the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    ReadWrite,
    ReadOnly,
}

/// Memory of the program's own, by default a vector, that is page-locked in place (`cuMemHostRegister`)
/// as long as this is there: [`Context::register_host`](crate::Context::register_host). It is a
/// [`PinnedBuffer`] of the elements, which this dereferences to; operations take it as they take one.
///
/// Dropping it waits for its copies, unregisters the memory, and drops its owner.
/// [`into_inner`](Self::into_inner) gives that back.
///
/// ```
/// use cupola_managers::{ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// let numbers = context.register_host(vec![7u32; 1000])?;
/// let mut there = pool.allocate(1000, &stream)?;
/// ops::copy_to_device(&numbers, &mut there, &stream)?;
/// assert_eq!(numbers.into_inner()?, [7; 1000]);
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[doc(alias = "cuMemHostUnregister")]
pub struct RegisteredBuffer<T: DeviceCopy, M: Send + 'static = Vec<T>> {
    pinned: PinnedBuffer<T>,
    memory: PhantomData<fn() -> M>,
}

impl<T: DeviceCopy, M: Send + 'static> RegisteredBuffer<T, M> {
    /// Registers the `len` elements at `start`, which `memory` owns.
    ///
    /// # Safety
    /// `start` is aligned and the address of `len` initialised elements, which stay where they are and
    /// which nothing else touches, until `memory` is dropped or moved out.
    #[track_caller]
    pub(crate) unsafe fn new(
        memory: M,
        start: *mut T,
        len: usize,
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
    ) -> Result<Self, RegisterError<M>> {
        // SAFETY: the elements are there as long as `memory`, which is dropped after the buffer.
        let registered = unsafe { register(start, len, Access::ReadWrite, core) };
        match registered {
            Ok(start) => {
                let home = Home::Registered(Box::new(memory));
                // SAFETY: by this function's condition the elements are initialised and no other code
                // touches them; they were registered just now.
                let pinned = unsafe { PinnedBuffer::at_home(start, len, home, core, events) };
                Ok(Self {
                    pinned,
                    memory: PhantomData,
                })
            }
            Err(error) => Err(RegisterError { memory, error }),
        }
    }

    /// Waits for the copies, unregisters the memory, and gives its owner back.
    ///
    /// # Errors
    /// As [`PinnedBuffer::as_mut_slice`]: a caller that wants the memory in spite of a failed copy asks
    /// that before, and clears the taint. What the driver returned. [`Error::Invalid`] when the buffer
    /// was exchanged for one of other memory. The owner is dropped then, if the device has left the
    /// memory alone.
    #[track_caller]
    pub fn into_inner(mut self) -> Result<M> {
        self.pinned.end_copies()?;
        self.pinned.into_registered()
    }
}

impl<T: DeviceCopy, M: Send + 'static> Deref for RegisteredBuffer<T, M> {
    type Target = PinnedBuffer<T>;

    fn deref(&self) -> &PinnedBuffer<T> {
        &self.pinned
    }
}

impl<T: DeviceCopy, M: Send + 'static> DerefMut for RegisteredBuffer<T, M> {
    fn deref_mut(&mut self) -> &mut PinnedBuffer<T> {
        &mut self.pinned
    }
}

impl<'p, T: DeviceCopy, M: Send + 'static> From<&'p RegisteredBuffer<T, M>> for PinnedSlice<'p, T> {
    fn from(buffer: &'p RegisteredBuffer<T, M>) -> Self {
        Self::from(&buffer.pinned)
    }
}

impl<'p, T: DeviceCopy, M: Send + 'static> From<&'p mut RegisteredBuffer<T, M>>
    for PinnedSliceMut<'p, T>
{
    fn from(buffer: &'p mut RegisteredBuffer<T, M>) -> Self {
        Self::from(&mut buffer.pinned)
    }
}

/// For what takes pinned memory for good: a future's copy, a graph.
impl<T: DeviceCopy, M: Send + 'static> From<RegisteredBuffer<T, M>> for PinnedBuffer<T> {
    fn from(buffer: RegisteredBuffer<T, M>) -> Self {
        buffer.pinned
    }
}

impl<T: DeviceCopy, M: Send + 'static> fmt::Debug for RegisteredBuffer<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredBuffer")
            .field("len", &self.pinned.len())
            .finish_non_exhaustive()
    }
}

/// Memory that was not registered, and why. With `?` in a function that returns [`Error`] the memory
/// is dropped.
pub struct RegisterError<M> {
    memory: M,
    error: Error,
}

impl<M> RegisterError<M> {
    /// Why it was not registered.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The memory.
    pub fn into_inner(self) -> M {
        self.memory
    }
}

impl<M> From<RegisterError<M>> for Error {
    fn from(refused: RegisterError<M>) -> Self {
        refused.error
    }
}

impl<M> fmt::Display for RegisterError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<M> fmt::Debug for RegisterError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisterError")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<M> std::error::Error for RegisterError<M> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

/// Borrowed memory that is registered. Dropped, it waits for the copies and unregisters it.
struct Borrowed<T: DeviceCopy> {
    pinned: PinnedBuffer<T>,
    access: Access,
}

impl<T: DeviceCopy> Borrowed<T> {
    /// # Safety
    /// `start` is aligned and the address of `len` initialised elements, which nothing else touches
    /// before the value is dropped, which happens in any case; they may be read where the access is
    /// only for reading.
    #[track_caller]
    unsafe fn new(
        start: *mut T,
        len: usize,
        access: Access,
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
    ) -> Result<Self> {
        // SAFETY: the elements are there until the value is dropped.
        let start = unsafe { register(start, len, access, core) }?;
        // SAFETY: by this function's condition, and they were registered just now.
        let pinned = unsafe { PinnedBuffer::at_home(start, len, Home::Borrowed, core, events) };
        Ok(Self { pinned, access })
    }

    /// Waits for the copies; the elements are values after it.
    #[track_caller]
    fn end_copies(&mut self) -> Result<()> {
        match self.access {
            Access::ReadWrite => self.pinned.end_copies(),
            // The device writes nothing.
            Access::ReadOnly => self.pinned.wait(),
        }
    }

    /// Ends the registration.
    #[track_caller]
    fn end(mut self) -> Result<()> {
        self.end_copies()?;
        self.pinned.unregister()
    }
}

impl<T: DeviceCopy> Drop for Borrowed<T> {
    fn drop(&mut self) {
        // After a panic nothing else has done it. The buffer's own end waits once more, and knows what to
        // do if that fails.
        let _told_before = self.end_copies();
    }
}

/// Registers `memory` while `work` runs.
#[track_caller]
pub(crate) fn with_registered<T: DeviceCopy, R>(
    memory: &mut [T],
    core: &Arc<ContextCore>,
    events: &Arc<EventPool>,
    work: impl FnOnce(PinnedSliceMut<'_, T>) -> R,
) -> Result<R> {
    let (start, len) = (memory.as_mut_ptr(), memory.len());
    // SAFETY: the elements are borrowed by this function, which drops the value before it returns or
    // unwinds.
    let mut borrowed = unsafe { Borrowed::new(start, len, Access::ReadWrite, core, events) }?;
    let value = work(PinnedSliceMut::from(&mut borrowed.pinned));
    borrowed.end()?;
    Ok(value)
}

/// Registers `memory` for reading while `work` runs.
#[track_caller]
pub(crate) fn with_registered_read_only<T: DeviceCopy, R>(
    memory: &[T],
    core: &Arc<ContextCore>,
    events: &Arc<EventPool>,
    work: impl FnOnce(PinnedSlice<'_, T>) -> R,
) -> Result<R> {
    let (start, len) = (memory.as_ptr().cast_mut(), memory.len());
    // SAFETY: the elements are borrowed by this function, which drops the value before it returns or
    // unwinds; they are only read, and `work` gets a view that is only read.
    let borrowed = unsafe { Borrowed::new(start, len, Access::ReadOnly, core, events) }?;
    let value = work(PinnedSlice::from(&borrowed.pinned));
    borrowed.end()?;
    Ok(value)
}

/// `cuMemHostRegister`. No bytes are not registered.
///
/// # Safety
/// `len` elements at `start` that stay there until they are unregistered.
#[track_caller]
unsafe fn register<T>(
    start: *mut T,
    len: usize,
    access: Access,
    core: &ContextCore,
) -> Result<NonNull<T>> {
    let bytes = byte_len::<T>(len)?;
    let place = NonNull::new(start)
        .ok_or_else(|| Error::invalid("registered memory", "the address is null"))?;
    core.healthy()?;
    if bytes == 0 {
        return Ok(place);
    }
    let driver = core.enter()?;
    let has = |attribute| {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        unsafe { driver.cuDeviceGetAttribute(&raw mut value, attribute, core.device()) }
            .map(|()| value != 0)
    };
    let flags = match access {
        Access::ReadWrite => PORTABLE_AND_MAPPED,
        Access::ReadOnly => {
            let attribute = Attribute::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED;
            match has(attribute) {
                Ok(true) => PORTABLE_AND_MAPPED | READ_ONLY,
                // A driver that does not know the attribute has no such registrations.
                Ok(false) => return Err(refused(HostMemoryError::NoReadOnlyRegistration)),
                Err(call) if call.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => {
                    return Err(refused(HostMemoryError::NoReadOnlyRegistration));
                }
                Err(call) => return Err(core.failed(call)),
            }
        }
    };
    let registered = {
        let _relaxed = RelaxedCapture::uncounted(driver);
        // SAFETY: the bytes are there until they are unregistered, by this function's condition.
        unsafe { driver.cuMemHostRegister_v2(start.cast(), bytes, flags) }
    };
    let Err(call) = registered else {
        return Ok(place);
    };
    let cause = Cause::new(call, core.site());
    Err(match reason(&call) {
        Some(Reason::Device) => refused(HostMemoryError::NoRegistration { cause }),
        Some(Reason::Memory) => {
            // The device's word for all memory, where it takes none.
            let supported = Attribute::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED;
            match has(supported) {
                Ok(false) => refused(HostMemoryError::NoRegistration { cause }),
                _ => refused(HostMemoryError::AlreadyRegistered { cause }),
            }
        }
        None => core.failed(call),
    })
}

/// What a refused registration is about.
enum Reason {
    Device,
    Memory,
}

fn reason(call: &DriverError) -> Option<Reason> {
    match call.status()? {
        CUresult::CUDA_ERROR_NOT_SUPPORTED | CUresult::CUDA_ERROR_NOT_PERMITTED => {
            Some(Reason::Device)
        }
        CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => Some(Reason::Memory),
        _ => None,
    }
}

fn refused(error: HostMemoryError) -> Error {
    Error::Host(Box::new(error))
}
