//! `CopyBatch`: many small copies in one call of the driver.

use std::fmt;

use cupola_sys::driver::{
    CUdeviceptr, CUmemLocation, CUmemLocationType, CUmemcpyAttributes, CUmemcpySrcAccessOrder,
    CUstream, Driver, DriverError, id,
};

use super::copy::{copy_raw, download_raw, same_len, upload_raw};
use crate::buffer::{
    DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedMemory, PinnedPart, PinnedSlice, PinnedSliceMut,
};
use crate::error::{Result, Written};
use crate::stream::Stream;

/// Copies that are handed to the driver together (`cuMemcpyBatchAsync`, CUDA 12.8), so that many small
/// ones cost one call.
///
/// The batch as a whole is in the order of its stream; its copies are in no order among themselves, and
/// by the borrows none of them reads what another one writes. Nothing is put on the stream before
/// [`submit`](Self::submit).
///
/// ```no_run
/// use cupola_managers::ops::{Batched, CopyBatch};
/// use cupola_managers::{Buffer, PinnedBuffer, Stream};
///
/// fn send(from: &[PinnedBuffer<f32>], to: &mut [Buffer<f32>], on: &Stream) -> cupola_managers::Result<()> {
///     let mut batch = CopyBatch::new(on);
///     for (from, to) in from.iter().zip(to) {
///         batch.upload(from, to)?;
///     }
///     if batch.submit()? == Batched::OneByOne {
///         eprintln!("a driver before CUDA 12.8");
///     }
///     Ok(())
/// }
/// ```
#[doc(alias = "cuMemcpyBatchAsync")]
#[must_use = "the copies are put on the stream by `submit`"]
pub struct CopyBatch<'b> {
    stream: &'b Stream,
    copies: Vec<Entry<'b>>,
}

/// How the copies of a batch were put on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Batched {
    /// In one call of the driver.
    Together,
    /// In a call for each: the driver is older than CUDA 12.8, the stream is the legacy default
    /// stream, for which the driver has no batches, or there are not two copies.
    OneByOne,
}

/// One copy, which is of some bytes.
enum Entry<'b> {
    Upload(PinnedPart<'b>, DeviceSliceMut<'b, u8>),
    Download(DeviceSlice<'b, u8>, PinnedPart<'b>),
    Within(DeviceSlice<'b, u8>, DeviceSliceMut<'b, u8>),
}

impl<'b> Entry<'b> {
    fn pinned(&self) -> Option<&'b dyn PinnedMemory> {
        match self {
            Self::Upload(pinned, _) | Self::Download(_, pinned) => Some(pinned.memory()),
            Self::Within(..) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Upload(_, device) | Self::Within(_, device) => device.len(),
            Self::Download(device, _) => device.len(),
        }
    }

    /// Where it reads and where it writes; host addresses as the unified address space has them.
    fn addresses(&self) -> (CUdeviceptr, CUdeviceptr) {
        let host = |part: &PinnedPart<'_>| part.as_ptr().expose_provenance() as CUdeviceptr;
        match self {
            Self::Upload(from, to) => (host(from), to.as_raw()),
            Self::Download(from, to) => (from.as_raw(), host(to)),
            Self::Within(from, to) => (from.as_raw(), to.as_raw()),
        }
    }

    /// Refuses to read what an operation has failed to write.
    fn check_written(&self, stream: &Stream) -> Result<()> {
        match self {
            Self::Upload(from, _) => from.check_written(),
            Self::Download(from, _) | Self::Within(from, _) => from.check_written(stream),
        }
    }

    /// The end of the copy.
    fn end_write(&self, stream: &Stream, result: Result<()>) -> Result<()> {
        match self {
            Self::Upload(_, to) | Self::Within(_, to) => {
                to.end_write(stream, result, || Written::All)
            }
            Self::Download(_, to) => {
                to.end_write(&result);
                result
            }
        }
    }

    /// # Safety
    /// Both sides are good until the copy is done.
    #[track_caller]
    unsafe fn put(&self, stream: &Stream) -> Result<()> {
        let bytes = self.bytes();
        // SAFETY: both sides have this many bytes, until the copy is done by this function's condition.
        unsafe {
            match self {
                Self::Upload(from, to) => upload_raw(from.as_ptr(), to.as_raw(), bytes, stream),
                Self::Download(from, to) => download_raw(from.as_raw(), to.as_ptr(), bytes, stream),
                Self::Within(from, to) => copy_raw(from.as_raw(), to.as_raw(), bytes, stream),
            }
        }
    }
}

impl<'b> CopyBatch<'b> {
    /// No copies, for `stream`.
    pub fn new(stream: &'b Stream) -> Self {
        Self {
            stream,
            copies: Vec::new(),
        }
    }

    /// How many copies it has. Those of no elements are none.
    #[must_use]
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    /// Whether there is nothing to copy.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Adds a copy from pinned memory to the device. The lengths are equal.
    ///
    /// # Errors
    /// As [`copy_to_device`](super::copy_to_device): the copy is not in the batch then.
    #[track_caller]
    pub fn upload<T: DeviceCopy>(
        &mut self,
        from: impl Into<PinnedSlice<'b, T>>,
        to: impl Into<DeviceSliceMut<'b, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        to.check_context(self.stream)?;
        from.check_context(self.stream)?;
        to.join(self.stream)?;
        self.add(Entry::Upload(from.part(), to.cast()?));
        Ok(())
    }

    /// Adds a copy from the device to pinned memory. The lengths are equal.
    ///
    /// # Errors
    /// As [`copy_to_host`](super::copy_to_host): the copy is not in the batch then.
    #[track_caller]
    pub fn download<T: DeviceCopy>(
        &mut self,
        from: impl Into<DeviceSlice<'b, T>>,
        to: impl Into<PinnedSliceMut<'b, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        from.check_context(self.stream)?;
        to.check_context(self.stream)?;
        from.join(self.stream)?;
        self.add(Entry::Download(from.cast()?, to.part()));
        Ok(())
    }

    /// Adds a copy within the device. The lengths are equal.
    ///
    /// # Errors
    /// As [`copy`](super::copy()): the copy is not in the batch then.
    #[track_caller]
    pub fn copy<T: DeviceCopy>(
        &mut self,
        from: impl Into<DeviceSlice<'b, T>>,
        to: impl Into<DeviceSliceMut<'b, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        from.join(self.stream)?;
        to.join(self.stream)?;
        self.add(Entry::Within(from.cast()?, to.cast()?));
        Ok(())
    }

    fn add(&mut self, copy: Entry<'b>) {
        if copy.bytes() > 0 {
            self.copies.push(copy);
        }
    }

    /// Puts the copies on the stream, in one call where the driver has it.
    ///
    /// # Errors
    /// [`Error::Capturing`](crate::Error::Capturing) when a capture is open on the stream: the driver
    /// captures no batches. Else as [`copy_to_device`](super::copy_to_device). After an error of the
    /// driver the contents of all targets are unspecified, and what may run was waited for.
    #[track_caller]
    pub fn submit(self) -> Result<Batched> {
        let Self { stream, copies } = self;
        stream.refuse_captured("a batch of copies")?;
        let mut batched = put(&copies, stream);
        for copy in &copies {
            let result = batched.as_ref().map(drop).map_err(Clone::clone);
            if let Err(error) = copy.end_write(stream, result) {
                batched = Err(error);
            }
        }
        batched
    }
}

impl fmt::Debug for CopyBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyBatch")
            .field("stream", &self.stream.handle())
            .field("copies", &self.copies.len())
            .finish()
    }
}

#[track_caller]
fn put(copies: &[Entry<'_>], stream: &Stream) -> Result<Batched> {
    for copy in copies {
        copy.check_written(stream)?;
    }
    let mut pinned: Vec<_> = copies.iter().filter_map(Entry::pinned).collect();
    // Each is locked once, and by all threads in one order.
    pinned.sort_unstable_by_key(|memory| PinnedPart::identity(*memory));
    pinned.dedup_by_key(|memory| PinnedPart::identity(*memory));
    // What is begun and not ended waits when it is dropped.
    let mut copying = Vec::with_capacity(pinned.len());
    for memory in pinned {
        copying.push(memory.begin_copy(stream)?);
    }
    let driver = stream.core().driver();
    let has_batches = driver.has(id::cuMemcpyBatchAsync_v2) || driver.has(id::cuMemcpyBatchAsync);
    let mut batched = Batched::OneByOne;
    // SAFETY: both sides of each copy are as long as it is. Pinned memory remembers the copies and waits
    // for them before a caller writes or frees it; device memory is freed after the work on the
    // stream. The stream is alive, and it is not the legacy one
    // where batches are put.
    unsafe {
        if copies.len() > 1 && has_batches && !stream.is_legacy() {
            batched = Batched::Together;
            let call = id::cuMemcpyBatchAsync_v2;
            // Unlike other calls for a stream it wants some context to be current: else R580 calls a
            // value invalid.
            stream.core().enter()?;
            stream.submit(call, |driver, raw| together(copies, driver, raw))?;
        } else {
            // No closure, which would not know this function's caller.
            for copy in copies {
                copy.put(stream)?;
            }
        }
    }
    while let Some(copying) = copying.pop() {
        copying.end(Ok(()))?;
    }
    Ok(batched)
}

/// # Safety
/// Both sides of each copy are good until it is done. The stream is alive, and is not the legacy one.
unsafe fn together(
    copies: &[Entry<'_>],
    driver: &Driver,
    stream: CUstream,
) -> Result<(), DriverError> {
    let mut targets: Vec<_> = copies.iter().map(|copy| copy.addresses().1).collect();
    let mut sources: Vec<_> = copies.iter().map(|copy| copy.addresses().0).collect();
    let mut sizes: Vec<_> = copies.iter().map(Entry::bytes).collect();
    // Hints are for managed and pageable memory.
    let nowhere = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID,
        ..CUmemLocation::default()
    };
    let mut attributes = CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        srcLocHint: nowhere,
        dstLocHint: nowhere,
        flags: 0,
    };
    let (mut first, count) = (0, copies.len());
    let (targets, sources) = (targets.as_mut_ptr(), sources.as_mut_ptr());
    let (sizes, attributes) = (sizes.as_mut_ptr(), &raw mut attributes);
    // SAFETY: the lists have `count` elements, the attributes are those of all copies from the first
    // on, and all outlive the call, which copies them; the copies are this function's condition.
    unsafe {
        if driver.has(id::cuMemcpyBatchAsync_v2) {
            let first = &raw mut first;
            return driver.cuMemcpyBatchAsync_v2(
                targets, sources, sizes, count, attributes, first, 1, stream,
            );
        }
        let mut failed = 0;
        let (first, failed) = (&raw mut first, &raw mut failed);
        driver.cuMemcpyBatchAsync(
            targets, sources, sizes, count, attributes, first, 1, failed, stream,
        )
    }
}
