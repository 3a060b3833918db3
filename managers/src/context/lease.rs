//! [`Context`]: a lease of a context, and the way to the managers of its objects.

use std::fmt;
use std::sync::Arc;

use cupola_sys::driver::{CUcontext, Driver};

use super::ContextInner;
use crate::buffer::{BufferManager, DeviceCopy, PinnedSlice, PinnedSliceMut};
use crate::copies::{CopyMode, CopyScheduler, MEASURED_BYTES};
use crate::driver::{ContextCore, ContextKind, CurrentGuard};
use crate::error::{Error, LossWatch, PoisonPolicy, Result};
use crate::event::EventManager;
use crate::handle::ContextHandle;
use crate::host::{
    self, HostCaching, ManagedBuffer, PinnedBacking, PinnedPool, PinnedPoolConfig, RegisterError,
    RegisteredBuffer,
};
use crate::module::ModuleManager;
use crate::pool::{MemoryPool, PoolConfig};
use crate::stream::StreamManager;

/// A leased context, and the managers of the objects in it. Clones share the context.
#[derive(Clone)]
pub struct Context(pub(super) Arc<ContextInner>);

impl Context {
    /// The context's handle.
    #[must_use]
    pub fn handle(&self) -> ContextHandle {
        self.0.handle
    }

    /// Where it came from.
    #[must_use]
    pub fn kind(&self) -> ContextKind {
        self.0.core.kind()
    }

    /// Ordinal of the device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.0.core.ordinal()
    }

    /// The driver that the context is of.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        self.0.core.driver()
    }

    /// The streams of this context.
    #[must_use]
    pub fn streams(&self) -> &StreamManager {
        &self.0.streams
    }

    /// The events of this context.
    #[must_use]
    pub fn events(&self) -> &EventManager {
        &self.0.events
    }

    /// The device and pinned memory of this context.
    #[must_use]
    pub fn buffers(&self) -> &BufferManager {
        &self.0.buffers
    }

    /// The modules of this context.
    #[must_use]
    pub fn modules(&self) -> &ModuleManager {
        &self.0.modules
    }

    /// The bulk copies of this context.
    #[must_use]
    pub fn copies(&self) -> CopyScheduler<'_> {
        let inner = &*self.0;
        CopyScheduler::new(&inner.copies, &inner.streams, &inner.events, &inner.core)
    }

    /// What a copy of pinned memory does to the thread that puts it on this device: whether it may
    /// block. No attribute tells, so the first call for the context times six copies of 4 MiB, which
    /// takes a few milliseconds, and wants this much pinned and device memory meanwhile. Call it
    /// while the device has little else to copy.
    ///
    /// # Errors
    /// As [`memory_pool`](Self::memory_pool), [`MemoryPool::allocate`],
    /// [`BufferManager::pinned`](crate::buffer::BufferManager::pinned),
    /// [`ops::copy_to_device`](crate::ops::copy_to_device) and
    /// [`ops::synchronize`](crate::ops::synchronize).
    #[track_caller]
    pub fn copy_mode(&self) -> Result<CopyMode> {
        if let Some(mode) = self.0.copies.known_mode() {
            return Ok(mode);
        }
        let stream = self.streams().acquire(Default::default())?;
        let pool = self.memory_pool(PoolConfig::limit(2 * MEASURED_BYTES as u64))?;
        let host = self.buffers().pinned(MEASURED_BYTES)?;
        let mut device = pool.allocate(MEASURED_BYTES, &stream)?;
        let mode = CopyMode::measure(&host, &mut device, &stream)?;
        if mode == CopyMode::Blocking {
            tracing::warn!(device = self.ordinal(), "{mode}");
        }
        Ok(self.0.copies.note_mode(mode))
    }

    /// The same, if it was measured.
    pub(crate) fn known_copy_mode(&self) -> Option<CopyMode> {
        self.0.copies.known_mode()
    }

    /// A pool of device memory with a limit of its own.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemPoolCreate")]
    #[track_caller]
    pub fn memory_pool(&self, config: PoolConfig) -> Result<MemoryPool> {
        MemoryPool::new(self.core(), self.0.buffers.table(), config)
    }

    /// A pool of page-locked host memory with a limit of its own.
    ///
    /// # Errors
    /// As [`pinned_backing`](Self::pinned_backing), unless the memory is write-combined;
    /// [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub fn pinned_pool(&self, config: PinnedPoolConfig) -> Result<PinnedPool> {
        self.core().healthy()?;
        let backing = match config.caching {
            HostCaching::Cached => self.pinned_backing()?,
            HostCaching::WriteCombined => PinnedBacking::Allocated { refused: None },
        };
        let buffers = &self.0.buffers;
        let (events, table) = (buffers.events(), buffers.table());
        Ok(PinnedPool::new(self.core(), events, table, config, backing))
    }

    /// How the device gets page-locked host memory from a [`PinnedPool`]. The first call for the
    /// context tries it with 64 KiB, which takes some ten microseconds.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned, or the system
    /// ([`Error::Host`]).
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub fn pinned_backing(&self) -> Result<PinnedBacking> {
        self.0.host.backing(self.core())
    }

    /// Page-locks a vector in place (`cuMemHostRegister`), with the elements that it has. Whole pages are
    /// locked: a driver may refuse elements that share one with other registered memory. So it is for
    /// large vectors; small ones are better copied through a [`PinnedPool`].
    ///
    /// # Errors
    /// A [`RegisterError`], which has the vector: [`Error::Host`] with
    /// [`AlreadyRegistered`](crate::HostMemoryError::AlreadyRegistered) or
    /// [`NoRegistration`](crate::HostMemoryError::NoRegistration); [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub fn register_host<T: DeviceCopy>(
        &self,
        mut memory: Vec<T>,
    ) -> Result<RegisteredBuffer<T>, RegisterError<Vec<T>>> {
        let (start, len) = (memory.as_mut_ptr(), memory.len());
        // SAFETY: a vector's elements stay where they are when it moves, and nothing but it touches them.
        unsafe { self.register_host_raw(memory, start, len) }
    }

    /// Page-locks memory of any owner in place, as [`register_host`](Self::register_host): a mapping of a
    /// file, memory of another library. `memory` is dropped when it was unregistered.
    ///
    /// # Errors
    /// As [`register_host`](Self::register_host), and [`Error::Invalid`] for a null address.
    ///
    /// # Safety
    /// `start` is aligned, and the address of `len` initialised elements that may be read and written.
    /// They stay where they are, and nothing else touches them, until `memory` is dropped or moved out of
    /// the buffer.
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub unsafe fn register_host_raw<T: DeviceCopy, M: Send + 'static>(
        &self,
        memory: M,
        start: *mut T,
        len: usize,
    ) -> Result<RegisteredBuffer<T, M>, RegisterError<M>> {
        let events = self.0.buffers.events();
        // SAFETY: this function's own condition.
        unsafe { RegisteredBuffer::new(memory, start, len, self.core(), events) }
    }

    /// Page-locks borrowed elements in place while `work` runs (`cuMemHostRegister`), and waits for the
    /// copies of them at its end: a value that a caller could forget to drop would leave the device with
    /// memory that is gone.
    ///
    /// # Errors
    /// As [`register_host`](Self::register_host); as [`PinnedBuffer::as_mut_slice`] when the elements
    /// were not written as they were to be, after the call of `work`. An element that is no value is
    /// zeros then.
    ///
    /// # Aborts
    /// If the end of a copy cannot be waited for in a context that is not lost: the device would write to
    /// memory that is the caller's again.
    ///
    /// [`PinnedBuffer::as_mut_slice`]: crate::PinnedBuffer::as_mut_slice
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub fn with_registered<T: DeviceCopy, R>(
        &self,
        memory: &mut [T],
        work: impl FnOnce(PinnedSliceMut<'_, T>) -> R,
    ) -> Result<R> {
        host::with_registered(memory, self.core(), self.0.buffers.events(), work)
    }

    /// The same of elements that are only read, and may be in memory that must not be written, such as a
    /// mapping of a file (`CU_MEMHOSTREGISTER_READ_ONLY`).
    ///
    /// # Errors
    /// As [`register_host`](Self::register_host); [`Error::Host`] with
    /// [`NoReadOnlyRegistration`](crate::HostMemoryError::NoReadOnlyRegistration) before CUDA 11.4 and
    /// for devices without it.
    ///
    /// # Aborts
    /// As [`with_registered`](Self::with_registered).
    #[doc(alias = "cuMemHostRegister")]
    #[track_caller]
    pub fn with_registered_read_only<T: DeviceCopy, R>(
        &self,
        memory: &[T],
        work: impl FnOnce(PinnedSlice<'_, T>) -> R,
    ) -> Result<R> {
        host::with_registered_read_only(memory, self.core(), self.0.buffers.events(), work)
    }

    /// Managed memory of `len` elements, whose contents are not specified.
    ///
    /// # Errors
    /// [`Error::Host`] with [`NoManagedMemory`](crate::HostMemoryError::NoManagedMemory);
    /// [`Error::Invalid`] when they are more bytes than there are addresses; [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemAllocManaged")]
    #[track_caller]
    pub fn managed<T: DeviceCopy>(&self, len: usize) -> Result<ManagedBuffer<T>> {
        ManagedBuffer::new(self.core(), len)
    }

    /// Free and total bytes of the device, counting every process (`cuMemGetInfo_v2`).
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemGetInfo")]
    #[track_caller]
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        let driver = self.0.core.enter()?;
        // SAFETY: both outlive the call, and the context is current.
        let asked = unsafe { driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        self.0.core.check(asked)?;
        Ok(MemoryInfo {
            free: free as u64,
            total: total as u64,
        })
    }

    /// Makes the context current on this thread, for calls that this crate does not make;
    /// its own operations need no such guard. Dropping the guard restores the context that
    /// was current before (`cuCtxPushCurrent_v2`, `cuCtxPopCurrent_v2`), unless that was
    /// destroyed meanwhile; see [`CurrentGuard`] for guards that are dropped in another order than
    /// theirs. For a [green](super::ContextManager::green) context it is the primary
    /// context that is made current, as for all operations in it.
    ///
    /// An operation of this crate in another context may make that one current on this thread, and
    /// leaves it so: between such an operation and a foreign call, enter again. Work that is put on a
    /// stream leaves what is current alone, and does not make its own context current either.
    ///
    /// # Errors
    /// [`Error::Forked`]; what the driver returned, or the error that the context was lost to.
    #[doc(alias = "cuCtxPushCurrent")]
    #[doc(alias = "cuCtxPopCurrent")]
    #[track_caller]
    pub fn enter(&self) -> Result<CurrentGuard<'_>> {
        self.0.core.guard()
    }

    /// Makes the context current on this thread and leaves it so (`cuCtxSetCurrent`, if
    /// `cuCtxGetCurrent` says that it is not), for calls that this crate does not make. For a
    /// [green](super::ContextManager::green) context it is the primary one.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to; [`Error::Forked`].
    #[doc(alias = "cuCtxSetCurrent")]
    #[doc(alias = "cuCtxGetCurrent")]
    #[inline]
    #[track_caller]
    pub fn make_current(&self) -> Result<()> {
        self.0.core.enter().map(drop)
    }

    /// Refuses the child of a fork, in which no object of the context works. It makes no driver call
    /// and takes no lock: a program asks before it takes a lock of its own that another thread may have
    /// held when the process was forked.
    ///
    /// # Errors
    /// [`Error::Forked`].
    #[doc(alias = "fork")]
    #[inline]
    pub fn not_forked(&self) -> Result<()> {
        self.0.core.not_forked()
    }

    /// The error that made the context unusable, if one did. It never goes away.
    #[must_use]
    pub fn poison(&self) -> Option<Error> {
        self.0.core.poison()
    }

    /// Whether every operation waits for its work on the device.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.0.core.is_checked()
    }

    /// Turns checked mode on or off: every operation then waits on the host for the work
    /// that it put on its stream, so that an error is returned by the operation that caused
    /// it, and the latch names that one. Slow; for finding a fault, not for production.
    ///
    /// A launch that fails is named alone ([`Blame::Launch`](crate::Blame::Launch)) when
    /// no other launch of this crate may have run in this context at that time: not one from before
    /// checked mode that no thread has waited for, not one of another thread, and not one that is
    /// not remembered any more. Else the launches that are known are named too
    /// ([`Blame::OneOf`](crate::Blame::OneOf)), as they are once there was a launch without
    /// [tracking](Self::set_tracking), other code was given a raw handle (`as_raw` of the context,
    /// a stream, a module or a function), or the context or a stream is of other code, or another
    /// context of the execution manager has met an error that the process is lost to. Other
    /// contexts of the process, and other code that shares a primary context, are not seen.
    ///
    /// When the wait itself fails, which says nothing about the work, the operation returns
    /// [`Error::Unverified`]: its work is on the stream.
    ///
    /// A stream that is being captured is not waited for, which would break the capture: its
    /// work runs when the graph does. Memory that is freed by dropping is not waited for
    /// either.
    pub fn set_checked(&self, checked: bool) {
        self.0.core.set_checked(checked);
    }

    /// Has the addresses looked for that operations are given by
    /// [`DeviceSlice::from_raw`](crate::buffer::DeviceSlice::from_raw) and
    /// [`DeviceSliceMut::from_raw`](crate::buffer::DeviceSliceMut::from_raw), launches among them, or
    /// no more, as at first. An operation is refused ([`Error::Pointer`]) unless there is memory that
    /// work in this context may use at the address, with room for all elements; the error tells what
    /// became of the buffer that was there.
    ///
    /// Pools that are made from now on note each block by its address, which makes their operations
    /// slower: for finding a fault, not for production. Other memory, that of pools from before
    /// among it, is known as far as the driver tells, which takes four calls. Views of a
    /// [`Buffer`](crate::Buffer) are not looked for: they lie in memory that is alive. Nor are numbers that a
    /// kernel takes for addresses.
    pub fn set_pointer_checks(&self, checks: bool) {
        self.0.core.set_checks_pointers(checks);
    }

    /// Turns the memory of recent launches off, or on again, as it is at first. It costs a launch
    /// some nanoseconds, and an error's [`Cause::blame`](crate::Cause::blame) is made from it:
    /// launches that were not remembered are not suspected. Checked mode remembers its own in any
    /// case.
    pub fn set_tracking(&self, tracking: bool) {
        self.0.core.set_tracked(tracking);
    }

    /// Sets the action that is taken, once, when this context is lost, in the place of its
    /// [execution manager](crate::ExecutionManager::set_poison_policy)'s. Nothing happens for a
    /// context that is lost already: ask [`poison`](Self::poison) after setting this.
    ///
    /// A primary context and its [green](super::ContextManager::green) ones are lost together, which is
    /// one loss: the policy is carried out of the context whose operation met the error. Set the
    /// policy of each of them, if not the execution manager's. Where several execution managers have
    /// a context, the policy of each is carried out once: first that of the one whose operation met
    /// the error.
    pub fn set_poison_policy(&self, policy: PoisonPolicy) {
        self.0.core.set_poison_policy(policy);
    }

    /// Calls `function` when this context is lost, or now if it is: once, with the
    /// [`Error::Poisoned`] that every operation returns from then on, as long as the returned
    /// [`LossWatch`] is there. Any number of subscribers are told, after the
    /// [policy](Self::set_poison_policy) is carried out and in the order in which they came.
    /// Subscribers of a primary context and of its [green](super::ContextManager::green) ones are told of
    /// one loss.
    ///
    /// A loss is noticed by a call that fails: a program that only waits for other events makes
    /// none. The function runs on the thread of that call, which may be dropping an object, when
    /// the crate holds no lock that the operation took: it may use the crate. A panic ends in it.
    pub fn on_loss(&self, function: impl FnOnce(&Error) + Send + 'static) -> LossWatch {
        let watch = LossWatch::new(function);
        self.0.core.watch(watch.watcher());
        watch
    }

    /// The driver's context, for calls that this crate does not make. It is alive as long
    /// as this lease. From now on no error is put down to one launch of the context for
    /// certain ([`Blame`](crate::Blame)): work of other code is not seen. A context that was made
    /// of a [green](super::ContextManager::green) one may be current to one thread at a time, and this
    /// crate makes streams with it on some.
    #[must_use]
    pub fn as_raw(&self) -> CUcontext {
        self.0.core.launches().note_unknown();
        self.0.core.raw()
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.0.core
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.core, f)
    }
}

/// Memory of a device in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that no process uses.
    pub free: u64,
    /// All bytes.
    pub total: u64,
}
