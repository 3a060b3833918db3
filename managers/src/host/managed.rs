//! `ManagedBuffer`: memory with one address for the host and the devices.

mod advice;

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_sys::driver::{
    CUdevice_attribute as Attribute, CUdeviceptr, CUmemAttach_flags, CUresult,
};

use super::error::HostMemoryError;
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, byte_len, check, repair, resolve};
use crate::driver::{ContextCore, Kind, RelaxedCapture};
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::fence::Fence;
use crate::stream::submit;
use crate::sync;
pub use advice::{ManagedAdvice, ManagedLocation};

/// `len` elements of managed memory (`cuMemAllocManaged`), which host and devices reach at one address;
/// the driver moves pages to where they are touched. The contents are not specified at first.
///
/// Work gets the elements by [`device`](Self::device) and [`device_mut`](Self::device_mut), which note the
/// stream that it is put on. Looking at them on the host ([`as_slice`](Self::as_slice)) waits for what is
/// on these streams by then, and so does dropping the buffer. A device on which the host must not touch
/// managed memory while anything runs (no `CONCURRENT_MANAGED_ACCESS`) has no such looks: they are
/// [`HostMemoryError::NoConcurrentAccess`], and copies ([`ops::read`](crate::ops::read)) do instead.
///
/// Failed operations leave no taint on it: what a view that is [raw](DeviceSlice::from_raw) was to hold is
/// for the caller to know.
///
/// ```
/// use cupola_managers::host::{ManagedAdvice, ManagedLocation};
/// use cupola_managers::{ExecutionManager, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let mut numbers = context.managed::<u32>(1000)?;
/// numbers.as_mut_slice()?.fill(1);
/// numbers.prefetch(.., ManagedLocation::Device, &stream)?;
/// // SAFETY: the fill is put on that stream.
/// ops::fill(unsafe { numbers.device_mut(&stream) }?.slice(500..)?, 2, &stream)?;
/// assert_eq!(numbers.as_slice()?[499..501], [1, 2]);
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[doc(alias = "cuMemAllocManaged")]
pub struct ManagedBuffer<T: DeviceCopy> {
    /// Dangling when there are no elements.
    start: NonNull<T>,
    len: usize,
    /// The streams that work may have been put on since the buffer was last borrowed mutably by the
    /// host: until then a view may be in a thread's hands, whose work is to come.
    users: Mutex<Vec<Stream>>,
    /// Whether the host may touch the memory while the device works.
    is_concurrent: bool,
    core: Arc<ContextCore>,
    element: PhantomData<T>,
}

// SAFETY: the memory is owned, and `T` is Send and Sync.
unsafe impl<T: DeviceCopy> Send for ManagedBuffer<T> {}
// SAFETY: the memory is owned, and `T` is Sync; the list of streams is behind a mutex.
unsafe impl<T: DeviceCopy> Sync for ManagedBuffer<T> {}

impl<T: DeviceCopy> ManagedBuffer<T> {
    #[track_caller]
    pub(crate) fn new(core: &Arc<ContextCore>, len: usize) -> Result<Self> {
        let bytes = byte_len::<T>(len)?;
        let driver = core.enter()?;
        let has = |attribute| {
            let mut value = 0;
            // SAFETY: `value` outlives the call.
            let asked =
                unsafe { driver.cuDeviceGetAttribute(&raw mut value, attribute, core.device()) };
            match asked {
                Ok(()) => Ok(value != 0),
                // A driver that does not know the attribute has not the feature.
                Err(call) if call.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => Ok(false),
                Err(call) => Err(core.failed(call)),
            }
        };
        if !has(Attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)? {
            return Err(refused(HostMemoryError::NoManagedMemory));
        }
        let is_concurrent = has(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)?;
        let mut start = NonNull::dangling();
        if bytes > 0 {
            let mut address = 0;
            let allocated = {
                let _relaxed = RelaxedCapture::uncounted(driver);
                let everywhere = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
                // SAFETY: `address` outlives the call, and the context is current.
                unsafe { driver.cuMemAllocManaged(&raw mut address, bytes, everywhere) }
            };
            core.check(allocated)?;
            // One address for host and device.
            let found = std::ptr::with_exposed_provenance_mut(address as usize);
            start = NonNull::new(found).ok_or_else(|| {
                Error::invalid("managed memory", "the driver gave a null address")
            })?;
            core.ledger().add(Kind::Managed, 1);
        }
        Ok(Self {
            start,
            len,
            users: Mutex::default(),
            is_concurrent,
            core: Arc::clone(core),
            element: PhantomData,
        })
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The address of the first element, on the host and on devices.
    #[must_use]
    pub fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    fn address(&self) -> CUdeviceptr {
        match self.bytes() {
            0 => 0,
            _ => self.start.as_ptr().expose_provenance() as CUdeviceptr,
        }
    }

    /// The elements, for work on `stream` that reads them. The stream is noted.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Capturing`], as nothing tells when a graph's launches are over;
    /// [`Error::Forked`]; what the driver returned.
    ///
    /// # Safety
    /// The view is only given to work that is put on `stream`, before the buffer is next looked at on
    /// the host or dropped.
    #[track_caller]
    pub unsafe fn device(&self, stream: &Stream) -> Result<DeviceSlice<'_, T>> {
        self.note(stream)?;
        // SAFETY: the elements stay until the buffer is dropped, which waits for the stream's work.
        Ok(unsafe { DeviceSlice::from_raw(self.address(), self.len) })
    }

    /// The elements, for work on `stream` that writes them. The stream is noted.
    ///
    /// # Errors
    /// As [`device`](Self::device).
    ///
    /// # Safety
    /// As [`device`](Self::device).
    #[track_caller]
    pub unsafe fn device_mut(&mut self, stream: &Stream) -> Result<DeviceSliceMut<'_, T>> {
        self.note(stream)?;
        // SAFETY: the elements stay until the buffer is dropped, which waits for the stream's work.
        Ok(unsafe { DeviceSliceMut::from_raw(self.address(), self.len) })
    }

    /// The elements, on the host. Waits for the work on the streams that were noted.
    ///
    /// # Errors
    /// [`Error::Host`] with [`HostMemoryError::NoConcurrentAccess`]; [`Error::Poisoned`],
    /// [`Error::Forked`], or what the driver returned: the contents are unspecified then.
    /// [`Error::Invalid`] when a device has written bytes that are no value of `T` (see [`DeviceCopy`]).
    #[track_caller]
    pub fn as_slice(&self) -> Result<&[T]> {
        self.wait()?;
        // SAFETY: `len` elements of memory of foreign code, which is initialised as far as the language
        // goes, and no work uses it: it was waited for, and none may be put while `self` is borrowed.
        unsafe { check(self.start.as_ptr(), self.len) }?;
        // SAFETY: as before.
        Ok(unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) })
    }

    /// The elements, on the host, for writing. Waits for the work on the streams that were noted.
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice); an element that was no value is zeros from then on.
    #[track_caller]
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        // No view is there any more that work could be put with.
        drop(self.take_users());
        // SAFETY: as in `as_slice`, and `self` is borrowed mutably.
        unsafe { repair(self.start.as_ptr(), self.len) }?;
        // SAFETY: as before.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }

    /// Notes that work of the stream uses the memory.
    #[track_caller]
    fn note(&self, stream: &Stream) -> Result<()> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext {
                what: "the managed buffer",
            });
        }
        self.core.not_forked()?;
        stream.refuse_captured("a use of managed memory")?;
        let mut users = sync::lock(&self.users);
        if !users.iter().any(|user| user.is(stream)) {
            users.push(stream.clone());
        }
        Ok(())
    }

    /// Notes that work of the stream uses the memory; it waits, on the device, for the work that the streams noted
    /// before have by now.
    #[track_caller]
    pub(crate) fn ready_on(&self, stream: &Stream) -> Result<()> {
        let users = sync::lock(&self.users).clone();
        self.note(stream)?;
        for user in users.iter().filter(|user| !user.is(stream)) {
            submit::order(user, stream)?;
        }
        Ok(())
    }

    /// Waits until the host may touch the memory.
    #[track_caller]
    fn wait(&self) -> Result<()> {
        self.core.healthy()?;
        if !self.is_concurrent {
            return Err(refused(HostMemoryError::NoConcurrentAccess));
        }
        let users = sync::lock(&self.users).clone();
        for stream in users {
            let mut fence = Fence::new(&self.core, stream.events())?;
            fence.record(&stream)?;
            fence.synchronize(self.core.site())?;
        }
        Ok(())
    }

    fn take_users(&mut self) -> Vec<Stream> {
        let users = self.users.get_mut();
        std::mem::take(users.unwrap_or_else(PoisonError::into_inner))
    }

    /// The address and the bytes of some elements.
    #[track_caller]
    fn part(&self, range: &impl RangeBounds<usize>) -> Result<(CUdeviceptr, usize)> {
        let (start, len) = resolve(range, self.len)?;
        let size = size_of::<T>();
        Ok((self.address() + (start * size) as u64, len * size))
    }
}

impl<T: DeviceCopy> Drop for ManagedBuffer<T> {
    /// Waits for the work on the streams that were noted.
    fn drop(&mut self) {
        if self.bytes() == 0 {
            return;
        }
        let site = self.core.site();
        let address = self.address();
        let users = self.take_users();
        if !users.iter().all(|stream| submit::settle(stream, site)) {
            // The device may still use it.
            self.core.ledger().remove(Kind::Managed, 1);
            self.core.ledger().add(Kind::Abandoned, 1);
            return;
        }
        let _counted_as_abandoned = self.core.dispose(Kind::Managed, |driver| {
            let _relaxed = RelaxedCapture::uncounted(driver);
            // SAFETY: allocated by `new`; no work runs that uses it, and nothing refers to it.
            unsafe { driver.cuMemFree_v2(address) }
        });
    }
}

impl<T: DeviceCopy> fmt::Debug for ManagedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedBuffer")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

fn refused(error: HostMemoryError) -> Error {
    Error::Host(Box::new(error))
}
