//! `PinnedBuffer<T>`: page-locked host memory that devices copy from and to.
//!
//! A copy runs after the call that ordered it, so the buffer knows the fence behind its
//! last copy. Looking at the elements waits for it, and so does dropping the buffer: no
//! Rust reference exists while the device may write.

mod home;
mod part;
mod slice;

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_sys::driver::CUdeviceptr;

use super::DeviceCopy;
use crate::driver::{ContextCore, Kind, RelaxedCapture};
use crate::error::{Error, Result, Site, Taints, Written};
use crate::event::EventPool;
use crate::pool::RegionHooks;
use crate::stream::Stream;
use crate::stream::fence::Fence;
use crate::stream::submit;
use crate::sync::deferred::DeferCallbacks;
pub(crate) use home::{BlockOwner, Home};
pub(crate) use part::{PinnedMemory, PinnedPart};
pub use slice::{PinnedSlice, PinnedSliceMut};

/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for every context of the driver, for calls that this
/// crate does not make; its own copies take streams of the buffer's context only. Never
/// write-combined, which makes reading on the host very slow.
const PORTABLE: u32 = 1;

/// `len` elements of pinned host memory.
#[doc(alias = "cuMemFreeHost")]
pub struct PinnedBuffer<T: DeviceCopy> {
    /// Dangling when there are no elements.
    start: NonNull<T>,
    len: usize,
    copies: Mutex<Copies>,
    /// Bytes that a copy has failed to write.
    taints: Taints,
    events: Arc<EventPool>,
    region_hooks: Option<RegionHooks>,
    home: Home,
    core: Arc<ContextCore>,
}

/// The copies that may still run.
pub(crate) enum Copies {
    /// Those up to the fence, which is made at the first copy.
    Until(Option<Fence>),
    /// Not known: waiting for them failed. The memory is never touched again.
    Unknown,
}

// SAFETY: the memory is owned, and `T` is Send and Sync.
unsafe impl<T: DeviceCopy> Send for PinnedBuffer<T> {}
// SAFETY: the memory is owned, and `T` is Sync; the state that changes behind a shared reference is
// behind a mutex, and the home is not looked at behind one.
unsafe impl<T: DeviceCopy> Sync for PinnedBuffer<T> {}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// `cuMemHostAlloc`, then zeros.
    #[track_caller]
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        len: usize,
    ) -> Result<Self> {
        let bytes = super::byte_len::<T>(len)?;
        let mut start = NonNull::<T>::dangling();
        if bytes > 0 {
            let driver = core.enter()?;
            let mut raw = std::ptr::null_mut();
            let allocated = {
                let _relaxed = RelaxedCapture::uncounted(driver);
                // SAFETY: `raw` outlives the call, and the context is current.
                unsafe { driver.cuMemHostAlloc(&raw mut raw, bytes, PORTABLE) }
            };
            core.check(allocated)?;
            start = NonNull::new(raw.cast())
                .ok_or_else(|| Error::invalid("pinned memory", "the driver gave a null address"))?;
            // SAFETY: `bytes` bytes were allocated there just now.
            unsafe { start.cast::<u8>().write_bytes(0, bytes) };
        }
        Ok(Self::with_home(start, len, Home::Driver, core, events))
    }

    /// Elements whose memory goes to `home` when the buffer is dropped.
    ///
    /// # Safety
    /// `start` is aligned for `T`, and the address of `len` elements, more than no bytes, whose bytes
    /// are all initialised. They are page-locked for the context as `home` says, and nothing else
    /// touches them until it has them back.
    pub(crate) unsafe fn at_home(
        start: NonNull<T>,
        len: usize,
        home: Home,
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
    ) -> Self {
        Self::with_home(start, len, home, core, events)
    }

    fn with_home(
        start: NonNull<T>,
        len: usize,
        home: Home,
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
    ) -> Self {
        let bytes = (len * size_of::<T>()) as u64;
        if bytes > 0 {
            core.ledger().add(Kind::Pinned, 1);
            core.ledger().add(Kind::PinnedBytes, bytes);
        }
        Self {
            start,
            len,
            copies: Mutex::new(Copies::Until(None)),
            taints: Taints::default(),
            events: Arc::clone(events),
            region_hooks: RegionHooks::of(core.driver()),
            home,
            core: Arc::clone(core),
        }
    }

    /// Where kernels read and write it, over the bus (`cuMemHostGetDevicePointer`); 0 when it has no
    /// elements.
    #[track_caller]
    pub(crate) fn device_address(&self) -> Result<CUdeviceptr> {
        let mut address = 0;
        if self.is_empty() {
            return Ok(address);
        }
        let driver = self.core.enter()?;
        // SAFETY: `address` outlives the call, and the memory was allocated as pinned in this context,
        // which is current.
        let found = unsafe {
            driver.cuMemHostGetDevicePointer_v2(&raw mut address, self.start.as_ptr().cast(), 0)
        };
        self.core.check(found)?;
        Ok(address)
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

    /// The elements. Waits for the last copy from or to this buffer.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`], or what the driver returned: the contents are
    /// unspecified then. [`Error::Invalid`] when a copy may still run because waiting for it has
    /// failed, or when a device has written bytes that are no value of `T` (see [`DeviceCopy`]).
    /// [`Error::Tainted`] when a copy was to write elements, has failed, and none has written them
    /// since: see [`Buffer`](crate::Buffer#failed-operations).
    #[track_caller]
    pub fn as_slice(&self) -> Result<&[T]> {
        self.wait()?;
        self.taint()?;
        self.tell(false);
        // SAFETY: `len` initialised elements, and no copy runs.
        unsafe { super::check(self.start.as_ptr(), self.len) }?;
        // SAFETY: `len` initialised elements; no copy runs, and ordering one that writes
        // takes `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(self.host_may_touch().as_ptr(), self.len) })
    }

    /// The elements, for writing. Waits for the last copy from or to this buffer.
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice); an element that was no value of `T` is zeros from then on.
    #[track_caller]
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        self.taint()?;
        self.tell(true);
        // SAFETY: `len` initialised elements, no copy runs, and `self` is borrowed mutably.
        unsafe { super::repair(self.start.as_ptr(), self.len) }?;
        // SAFETY: `len` initialised elements, no copy runs, and `self` is borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.host_may_touch().as_ptr(), self.len) })
    }

    /// Whether a copy was to write elements, has failed, and none has written them since.
    ///
    /// # Errors
    /// [`Error::Tainted`].
    pub fn taint(&self) -> Result<()> {
        self.taints.check(0..self.bytes())
    }

    /// Takes all elements for written: what they hold is what the program expects, in spite of a copy
    /// that has failed to write them.
    #[doc(alias = "clear_poison")]
    pub fn clear_taint(&mut self) {
        self.taints.lift(&(0..self.bytes()), Written::All);
    }

    /// Waits for the copies, and makes zeros of elements that are no values, so that other code may
    /// look at them; whatever the outcome.
    ///
    /// # Errors
    /// As [`as_mut_slice`](Self::as_mut_slice).
    #[track_caller]
    pub(crate) fn end_copies(&mut self) -> Result<()> {
        let waited = self.wait();
        // SAFETY: `len` initialised elements, and `self` is borrowed mutably. Copies are over, or in a
        // lost context, where there is no better time.
        let repaired = unsafe { super::repair(self.start.as_ptr(), self.len) };
        waited?;
        self.taint()?;
        repaired
    }

    /// The owner of registered memory, which is not registered any more. The copies are over.
    ///
    /// # Errors
    /// What the driver returned: the memory is abandoned then. [`Error::Invalid`] when its memory is
    /// not registered, or of another owner.
    #[track_caller]
    pub(crate) fn into_registered<M: 'static>(mut self) -> Result<M> {
        let other = || Error::invalid("registered memory", "the buffer is one of another memory");
        match &self.home {
            Home::Registered(memory) if memory.is::<M>() => {}
            _ => return Err(other()),
        }
        let Home::Registered(memory) = std::mem::replace(&mut self.home, Home::Borrowed) else {
            return Err(other());
        };
        let memory = memory.downcast::<M>().map_err(|_| other())?;
        match self.unregister() {
            Ok(()) => Ok(*memory),
            Err(error) => {
                // The device may still reach it.
                let _kept = std::mem::ManuallyDrop::new(memory);
                Err(error)
            }
        }
    }

    /// Ends the registration that the buffer was made for (`cuMemHostUnregister`), whose copies are over;
    /// the buffer has no elements after it.
    ///
    /// # Errors
    /// What the driver returned: the memory is registered still, and counted as abandoned.
    #[track_caller]
    pub(crate) fn unregister(&mut self) -> Result<()> {
        let bytes = self.bytes();
        self.len = 0;
        if bytes == 0 {
            return Ok(());
        }
        self.core.ledger().remove(Kind::PinnedBytes, bytes);
        let start = self.host_may_touch().as_ptr().cast();
        self.core.dispose(Kind::Pinned, |driver| {
            let _relaxed = RelaxedCapture::uncounted(driver);
            // SAFETY: registered for this buffer, whose copies are over.
            unsafe { driver.cuMemHostUnregister(start) }
        })
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The memory, for the host. Every access of the host goes through here, and so does its
    /// end, when the caller has waited for the copies.
    pub(crate) fn host_may_touch(&self) -> NonNull<T> {
        self.start
    }

    /// Tells a driver that checks programs of an access by the host.
    #[track_caller]
    fn tell(&self, writes: bool) {
        if let Some(region_hooks) = &self.region_hooks {
            let bytes = self.len * size_of::<T>();
            region_hooks.host_access(
                (self.start.as_ptr().cast(), bytes),
                writes,
                Location::caller(),
            );
        }
    }

    /// The address of the first element. Reading or writing through it while a copy runs is
    /// a data race; [`as_slice`](Self::as_slice) waits.
    #[must_use]
    pub fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// Refuses a stream of another context.
    pub(crate) fn check_context(&self, stream: &Stream) -> Result<()> {
        match stream.is_in(&self.core) {
            true => Ok(()),
            false => Err(Error::WrongContext {
                what: "the pinned buffer",
            }),
        }
    }

    /// Begins to order a copy from or to this buffer on `stream`: after the copies before
    /// it, and remembered, so that no thread touches the memory until it has completed. The stream is not
    /// captured: nothing could tell that then, as the wait for an event of a capture ends it.
    #[track_caller]
    pub(crate) fn begin_copy<'p>(&'p self, stream: &'p Stream) -> Result<Copying<'p>> {
        self.check_context(stream)?;
        self.core.not_forked()?;
        let defer = DeferCallbacks::new();
        let mut copies = self.lock();
        match &mut *copies {
            Copies::Until(Some(fence)) => fence.wait_on(stream)?,
            Copies::Until(none) => *none = Some(Fence::new(&self.core, &self.events)?),
            Copies::Unknown => return Err(Self::lost()),
        }
        Ok(Copying {
            copies,
            stream,
            ended: false,
            _defer: defer,
        })
    }

    /// Waits for the copies that were ordered before. Copies that other threads order meanwhile
    /// only read the memory: one that writes it takes `&mut self`.
    #[track_caller]
    pub(crate) fn wait(&self) -> Result<()> {
        self.core.not_forked()?;
        let fence = match &*self.lock() {
            Copies::Until(Some(fence)) if !fence.is_done() => fence.clone(),
            Copies::Until(_) => return Ok(()),
            Copies::Unknown => return Err(Self::lost()),
        };
        // Without the lock, which other threads need to order copies.
        fence.synchronize(self.core.site())?;
        if let Copies::Until(Some(last)) = &mut *self.lock() {
            last.forget(&fence);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn copies(&mut self) -> &mut Copies {
        self.copies
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Never gives the memory back nor lets a caller look at it: a copy that this buffer does not
    /// know of may still run.
    pub(crate) fn abandon(&mut self) {
        *self.copies() = Copies::Unknown;
    }

    fn lost() -> Error {
        Error::invalid(
            "pinned buffer",
            "a copy may still run: waiting for it failed",
        )
    }
}

impl Copies {
    /// Whether no copy runs any more, waiting if need be.
    pub(crate) fn settle(&self, site: Site) -> bool {
        match self {
            Self::Until(fence) => fence.as_ref().is_none_or(|fence| fence.settle(site)),
            Self::Unknown => false,
        }
    }

    /// Whether no copy runs any more, as far as is known without a call.
    pub(crate) fn are_done(&self) -> bool {
        match self {
            Self::Until(fence) => fence.as_ref().is_none_or(Fence::is_done),
            Self::Unknown => false,
        }
    }

    /// Whether no copy runs any more (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// What the driver returned.
    pub(crate) fn query(&self, site: Site) -> Result<bool> {
        match self {
            Self::Until(None) => Ok(true),
            Self::Until(Some(fence)) => fence.query(site),
            Self::Unknown => Ok(false),
        }
    }
}

/// A copy that is being ordered; no other one is meanwhile.
#[must_use = "the fence behind the copy is recorded when it ends"]
pub(crate) struct Copying<'p> {
    copies: MutexGuard<'p, Copies>,
    stream: &'p Stream,
    /// The fence is behind the copy, or the error instead of it is known.
    ended: bool,
    /// Behind the lock, so that it is dropped after it.
    _defer: DeferCallbacks,
}

impl Copying<'_> {
    /// Puts the fence behind the copy, which was put on the stream with this result.
    #[track_caller]
    pub(crate) fn end(mut self, copied: Result<()>) -> Result<()> {
        let ordered = match (&copied, &mut *self.copies) {
            (Ok(()), Copies::Until(Some(fence))) => fence.record(self.stream),
            _ => copied,
        };
        if ordered.is_err() {
            self.settle(Site::here());
        }
        self.ended = true;
        ordered
    }

    /// The copy is on its way, or may be in spite of its error, and there is no fence behind
    /// it: waits here, which waits for the copies before it too.
    fn settle(&mut self, site: Site) {
        // Until it is known.
        *self.copies = Copies::Unknown;
        if submit::settle(self.stream, site) {
            *self.copies = Copies::Until(None);
        }
    }
}

impl Drop for Copying<'_> {
    /// Waits for a copy whose caller has panicked, because it may be on its way.
    fn drop(&mut self) {
        if !self.ended {
            self.settle(self.stream.core().site());
        }
    }
}

impl<T: DeviceCopy> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len * size_of::<T>() == 0 {
            return;
        }
        let ledger_bytes = (self.len * size_of::<T>()) as u64;
        self.core.ledger().remove(Kind::PinnedBytes, ledger_bytes);
        let copies = std::mem::replace(self.copies(), Copies::Unknown);
        let home = std::mem::replace(&mut self.home, Home::Driver);
        let start = self.host_may_touch().as_ptr().cast();
        home.take_back(start, copies, &self.core);
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::test_bench::TestBench;
    use cupola_sys::driver::{CUresult, id};

    // Without it the memory could be looked at while a copy runs that has no fence behind it.
    #[test]
    fn a_copy_that_a_panic_cuts_short_is_waited_for() {
        let bench = TestBench::new();
        let (table, context, stream) = (&bench.faults, &bench.context, bench.stream());
        let buffer = context.buffers().pinned::<u32>(8).unwrap();
        drop(buffer.begin_copy(&stream).unwrap());
        assert_eq!(table.count(id::cuStreamSynchronize), 1);
        assert_eq!(buffer.as_slice(), Ok(&[0; 8][..]));
        table.reset();
        let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        for wait in [id::cuStreamSynchronize, id::cuCtxSynchronize] {
            table.fail_from(wait, 1, code);
        }
        drop(buffer.begin_copy(&stream).unwrap());
        table.reset();
        let refused = buffer.as_slice().map(drop);
        assert_eq!(refused, Err(PinnedBuffer::<u32>::lost()));
        drop(buffer);
        assert_eq!(table.count(id::cuMemFreeHost), 0, "a copy may still run");
        assert_eq!(bench.execution.live().abandoned, 1);
    }
}
