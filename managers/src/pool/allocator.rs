//! `Allocator`: the trait of types that hand out device memory, for code that takes any of them.
//!
//! A pool is one. A layer in front of it (that logs, counts or cuts blocks up) and an allocator in
//! its place (the driver's own pool, another library's) are others, and code that asks for an
//! `Allocator` takes them all.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use cupola_sys::driver::CUdeviceptr;

use super::{MemoryPool, RawBlock};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, byte_len};
use crate::context::Context;
use crate::driver::{ContextCore, Kind};
use crate::error::{Error, FreeError, Result, Site};
use crate::stream::Stream;

/// Hands out device memory in the order of streams.
///
/// ```no_run
/// use cupola_managers::pool::{Allocation, Allocator};
/// use cupola_managers::{FreeError, Result, Stream};
///
/// /// Prints the calls of another allocator.
/// struct Logged<A>(A);
///
/// // SAFETY: the blocks are those of the other allocator, which meets the conditions.
/// unsafe impl<A: Allocator> Allocator for Logged<A> {
///     type Block = A::Block;
///
///     fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<A::Block> {
///         let block = self.0.allocate_block(bytes, align, stream)?;
///         println!("{bytes} bytes at {:#x}", self.0.block_address(&block));
///         Ok(block)
///     }
///
///     fn block_address(&self, block: &A::Block) -> u64 {
///         self.0.block_address(block)
///     }
///
///     unsafe fn free_block(
///         &self,
///         block: A::Block,
///         stream: &Stream,
///     ) -> Result<(), FreeError<A::Block>> {
///         println!("{:#x} is free", self.0.block_address(&block));
///         // SAFETY: needs a block of this allocator whose work is on the stream: as this does.
///         unsafe { self.0.free_block(block, stream) }
///     }
/// }
///
/// # fn f(pool: cupola_managers::MemoryPool, stream: &Stream) -> Result<()> {
/// let scratch = Allocation::new(Logged(pool), 1 << 20, 256, stream)?;
/// # drop(scratch); Ok(()) }
/// ```
///
/// # Safety
/// A block has as many bytes as were asked for, at a multiple of the alignment, of the memory of
/// the stream's context. They are the block's until it is freed, and nothing else uses them later
/// than the work that is on the stream when it is handed out. The address stays the same.
pub unsafe trait Allocator {
    /// A block that was handed out. Dropping it leaks the memory.
    type Block;

    /// `bytes` bytes at a multiple of `align`, for use on `stream`. A block of none has address 0.
    ///
    /// # Errors
    /// That there is too little memory, or that the stream or the alignment will not do.
    fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<Self::Block>;

    /// Where the block is on the device.
    fn block_address(&self, block: &Self::Block) -> CUdeviceptr;

    /// Takes a block back in the order of `stream`.
    ///
    /// # Errors
    /// With the block, if nothing has happened; else with one of no bytes, at address 0.
    ///
    /// # Safety
    /// The block is this allocator's. All work that uses it is on `stream` by now, or `stream` has
    /// been made to wait for it and for the stream that the block was allocated on; and nothing
    /// uses it later.
    unsafe fn free_block(
        &self,
        block: Self::Block,
        stream: &Stream,
    ) -> Result<(), FreeError<Self::Block>>;
}

// SAFETY: `allocate_raw` hands out as many bytes at that alignment, which are the `RawBlock`'s
// until it is freed.
unsafe impl Allocator for MemoryPool {
    type Block = RawBlock;

    #[track_caller]
    fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<RawBlock> {
        self.allocate_raw(bytes, align, stream)
    }

    fn block_address(&self, block: &RawBlock) -> CUdeviceptr {
        block.address()
    }

    #[track_caller]
    unsafe fn free_block(
        &self,
        block: RawBlock,
        stream: &Stream,
    ) -> Result<(), FreeError<RawBlock>> {
        // SAFETY: `free` needs all work that uses the block on `stream`: a condition of this
        // function.
        unsafe { block.free(stream) }
    }
}

/// An allocator by reference or shared.
macro_rules! by_pointer {
    ($($pointer:ty),*) => {$(
        // SAFETY: the blocks are those of the allocator behind the pointer, which meets the
        // conditions.
        unsafe impl<A: Allocator + ?Sized> Allocator for $pointer {
            type Block = A::Block;

            #[track_caller]
            fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<A::Block> {
                (**self).allocate_block(bytes, align, stream)
            }

            fn block_address(&self, block: &A::Block) -> CUdeviceptr {
                (**self).block_address(block)
            }

            #[track_caller]
            unsafe fn free_block(
                &self,
                block: A::Block,
                stream: &Stream,
            ) -> Result<(), FreeError<A::Block>> {
                // SAFETY: needs a block of this allocator whose work is on the stream: as this
                // does.
                unsafe { (**self).free_block(block, stream) }
            }
        }
    )*};
}

by_pointer! { &A, Arc<A> }

/// The driver's own pool of a context's device (`cuMemAllocAsync`, `cuMemFreeAsync`): without a
/// limit of this crate's, and shared with all code of the process that uses it.
#[derive(Clone)]
pub struct DriverAllocator {
    core: Arc<ContextCore>,
}

/// A block of a [`DriverAllocator`]. Dropping it leaks the memory.
#[derive(Debug)]
#[must_use = "a block that is dropped is leaked"]
pub struct DriverBlock {
    address: CUdeviceptr,
}

impl DriverAllocator {
    /// The least alignment of the driver's blocks.
    const ALIGN: u64 = 256;

    /// The driver's pool for this context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self {
            core: Arc::clone(context.core()),
        }
    }

    fn check_context(&self, stream: &Stream) -> Result<()> {
        match stream.is_in(&self.core) {
            true => Ok(()),
            false => Err(Error::WrongContext {
                what: "the driver's pool",
            }),
        }
    }
}

// SAFETY: by the driver's documentation of `cuMemAllocAsync`, its blocks meet the conditions.
unsafe impl Allocator for DriverAllocator {
    type Block = DriverBlock;

    /// Memory of the driver's pool (`cuMemAllocAsync`), aligned to 256 bytes at most.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `align`; [`Error::WrongContext`]; [`Error::Unsupported`] by a
    /// driver before CUDA 11.2; [`Error::Poisoned`], [`Error::Forked`]; the error that the driver
    /// returned.
    #[track_caller]
    fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<DriverBlock> {
        if !align.is_power_of_two() || align > Self::ALIGN {
            let problem = format!("{align} is not a power of two up to {}", Self::ALIGN);
            return Err(Error::invalid("align", problem));
        }
        self.check_context(stream)?;
        let bytes = byte_len::<u8>(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let mut address = 0;
        if bytes > 0 {
            // Not waited for in checked mode: the memory would be lost with the error of the wait.
            // SAFETY: `address` outlives the call; the stream is alive.
            stream.put(|driver, raw| unsafe {
                driver.cuMemAllocAsync(&raw mut address, bytes, raw)
            })?;
        }
        Ok(DriverBlock { address })
    }

    fn block_address(&self, block: &DriverBlock) -> CUdeviceptr {
        block.address
    }

    /// Gives the block back to the driver's pool (`cuMemFreeAsync`).
    ///
    /// # Errors
    /// [`Error::WrongContext`], [`Error::Forked`], with the block. The driver's error, with a
    /// block of no bytes: this one may be free or not, which is not tried twice. It counts as
    /// [abandoned](crate::Live::abandoned).
    ///
    /// # Safety
    /// The conditions of [`Allocator::free_block`].
    #[track_caller]
    unsafe fn free_block(
        &self,
        block: DriverBlock,
        stream: &Stream,
    ) -> Result<(), FreeError<DriverBlock>> {
        if block.address == 0 {
            return Ok(());
        }
        if let Err(error) = self.check_context(stream) {
            return Err(FreeError::new(block, error));
        }
        let freed = self.core.give_back(Site::here(), |driver| {
            // SAFETY: from `allocate_block`, and freed once; by the conditions of `free_block` the
            // stream comes after all work that uses it.
            unsafe { driver.cuMemFreeAsync(block.address, stream.raw()) }
        });
        match freed {
            Ok(()) => Ok(()),
            Err(Error::Forked) => Err(FreeError::new(block, Error::Forked)),
            Err(error) => {
                self.core.ledger().add(Kind::Abandoned, 1);
                Err(FreeError::new(DriverBlock { address: 0 }, error))
            }
        }
    }
}

impl fmt::Debug for DriverAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverAllocator").finish_non_exhaustive()
    }
}

/// A block of any [`Allocator`], which is freed on its stream when it is dropped.
///
/// A [`Buffer`](crate::Buffer) knows the streams that use it; this knows its own alone. So the user
/// puts uses on other streams in order, and getting at the elements is `unsafe`.
#[must_use = "the memory is freed when this is dropped"]
pub struct Allocation<A: Allocator> {
    block: ManuallyDrop<A::Block>,
    bytes: u64,
    stream: Stream,
    allocator: A,
}

impl<A: Allocator> Allocation<A> {
    /// `bytes` bytes at a multiple of `align`, for use on `stream`.
    ///
    /// # Errors
    /// Those of [`Allocator::allocate_block`].
    #[track_caller]
    pub fn new(allocator: A, bytes: u64, align: u64, stream: &Stream) -> Result<Self> {
        Ok(Self {
            block: ManuallyDrop::new(allocator.allocate_block(bytes, align, stream)?),
            bytes,
            stream: stream.clone(),
            allocator,
        })
    }

    /// The device address.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.allocator.block_address(&self.block)
    }

    /// Size in bytes, as it was asked for.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The stream in whose order it is freed.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Where it is from.
    pub fn allocator(&self) -> &A {
        &self.allocator
    }

    /// The bytes, as elements.
    ///
    /// # Errors
    /// Those of [`DeviceSlice::cast`].
    ///
    /// # Safety
    /// All work that uses them is put on [`stream`](Self::stream), or that is made to wait for the
    /// work before this is dropped; and the other stream has been made to wait for this one before.
    /// No [`free`](Self::free) of it has been refused by a driver.
    #[track_caller]
    pub unsafe fn view<T: DeviceCopy>(&self) -> Result<DeviceSlice<'_, T>> {
        // SAFETY: the block has as many bytes, and work on them is in order: the conditions here.
        unsafe { DeviceSlice::<u8>::from_raw(self.as_raw(), self.bytes as usize) }.cast()
    }

    /// The bytes, as elements, for writing.
    ///
    /// # Errors
    /// Those of [`DeviceSliceMut::cast`].
    ///
    /// # Safety
    /// The conditions of [`view`](Self::view).
    #[track_caller]
    pub unsafe fn view_mut<T: DeviceCopy>(&mut self) -> Result<DeviceSliceMut<'_, T>> {
        // SAFETY: the block has as many bytes, and work on them is in order: the conditions here.
        unsafe { DeviceSliceMut::<u8>::from_raw(self.as_raw(), self.bytes as usize) }.cast()
    }

    /// Frees the memory, as dropping does, and returns the error.
    ///
    /// # Errors
    /// Those of [`Allocator::free_block`], with this: where the allocator does not know whether the
    /// block is free its address is 0 from then on. One that is dropped where this would fail is
    /// leaked.
    #[track_caller]
    pub fn free(self) -> Result<(), FreeError<Self>> {
        let mut whole = ManuallyDrop::new(self);
        match whole.end() {
            Ok(()) => {
                // SAFETY: neither is used again: `whole` is not dropped.
                unsafe {
                    ptr::drop_in_place(&raw mut whole.stream);
                    ptr::drop_in_place(&raw mut whole.allocator);
                }
                Ok(())
            }
            Err(error) => Err(FreeError::new(ManuallyDrop::into_inner(whole), error)),
        }
    }

    /// Frees the block, which is gone then; after an error it is there as before.
    #[track_caller]
    fn end(&mut self) -> Result<()> {
        // SAFETY: after a success nothing looks at it again, and else it is put back.
        let block = unsafe { ManuallyDrop::take(&mut self.block) };
        // SAFETY: the block is of this allocator; by the conditions of `view` all work that uses it
        // is on the stream, or the stream waits for it.
        match unsafe { self.allocator.free_block(block, &self.stream) } {
            Ok(()) => Ok(()),
            Err(refused) => {
                let (block, error) = refused.into_parts();
                self.block = ManuallyDrop::new(block);
                Err(error)
            }
        }
    }
}

impl<A: Allocator> Drop for Allocation<A> {
    fn drop(&mut self) {
        let _leaked = self.end();
    }
}

impl<A: Allocator> fmt::Debug for Allocation<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({:#x}, {})", self.as_raw(), self.bytes)
    }
}
