//! `Buffer<T>`: typed device memory, and views of parts of it.

mod cast;
mod free;
mod ready;
mod split;
mod taint;

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};

use cupola_sys::driver::CUdeviceptr;

use super::block::Block;
use super::{BufferHandle, DeviceCopy, check_pointer};
use crate::error::{Error, Result};
use crate::stream::Stream;
pub use cast::CastError;

/// `len` elements of device memory, freed in stream order when dropped.
///
/// The contents are unspecified until elements are written. A buffer may have no elements: it then
/// has no memory and costs no driver call.
///
/// It belongs to the stream it was allocated on. It may be used on other streams of its context, and of
/// contexts that its pool is [open to](crate::MemoryPool::open_to):
/// work that used the memory before is over for them, and no later user gets the memory before they
/// have done with it.
///
/// **The order of uses on different streams is the caller's**, with
/// [`ops::order`](crate::ops::order), events and [`ops::wait`](crate::ops::wait), or waits on the
/// host: a write on one stream beside a read or a write on another without that is a race, and the
/// values read are unspecified. The first use on a stream gives no such order: it waits for the
/// allocation alone. In strict mode the software device reports such races (`stream-race`): of
/// copies and fills, and of kernels where that is asked for, as a `TestBench` of `cupola-testing`
/// does. The device that `Cupola::open` takes looks for none.
///
/// The drop makes no driver call and waits for nothing, but that its stream is made to wait for streams of
/// other contexts that have used it, on the device, and for that of the last buffer of a pool
/// whose handles are gone: it ends the pool, waits for the work that may still use freed memory,
/// and gives all memory back.
///
/// # Failed operations
///
/// An operation that was to write elements, and returns an error of the driver that the context
/// survives, leaves them tainted: a copy, a fill, a launch that was given them as `&mut`. What they
/// hold is no result, and no later operation takes it for one: a read of them, by a copy, a download
/// or a launch that is given them as `&`, returns [`Error::Tainted`] with that first failure, and
/// taints what it was to write. That is so until
/// * a copy or a fill has written all of them;
/// * the operation that failed is made again, and taken: the same rectangle, or the same launch with
///   the same arguments;
/// * [`clear_taint`](Self::clear_taint) says that they are as the program wants them.
///
/// A launch may read and write what it is given as `&mut`, so it is neither refused, nor does it end
/// the taint but by that rule: whether it has written all is not known. An operation that this crate
/// itself refuses, such as [`Error::Invalid`] or [`Error::Full`], leaves the elements as they were.
/// Work that is captured into a graph, and memory that is used [by its address](Self::as_raw), are not
/// followed. A [`Ticket`](crate::Ticket) or a future that could not be asked says nothing about the
/// work that it waits for, and taints nothing.
///
/// A buffer that a stream allocates or frees while it captures needs a [graph
/// memory](crate::MemoryPool#capture).
pub struct Buffer<T: DeviceCopy> {
    block: Block,
    len: usize,
    element: PhantomData<T>,
}

// Two words, and no more for one that may not be there: see `Block`.
const _: () = assert!(size_of::<Option<Buffer<f64>>>() == 2 * size_of::<usize>());

impl<T: DeviceCopy> Buffer<T> {
    #[inline]
    pub(crate) fn new(block: Block, len: usize) -> Self {
        Self {
            block,
            len,
            element: PhantomData,
        }
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

    /// The buffer's handle in its context's [`BufferManager`](super::BufferManager).
    #[must_use]
    pub fn handle(&self) -> BufferHandle {
        self.block.handle()
    }

    /// The stream it was allocated on and will be freed on.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        self.block.home()
    }

    /// All elements, for reading.
    #[must_use]
    #[inline]
    pub fn view(&self) -> DeviceSlice<'_, T> {
        DeviceSlice {
            address: self.block.address(),
            len: self.len,
            block: Some(&self.block),
            element: PhantomData,
        }
    }

    /// All elements, for writing.
    #[must_use]
    #[inline]
    pub fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut {
            address: self.block.address(),
            len: self.len,
            block: Some(&self.block),
            element: PhantomData,
        }
    }

    /// Some elements, for reading.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the range does not lie in the buffer.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.view().slice(range)
    }

    /// Some elements, for writing.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the range does not lie in the buffer.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.view_mut().slice(range)
    }

    /// The device address; 0 for a buffer without elements.
    ///
    /// Work on it through this address is not known to the buffer: call
    /// [`used_on`](Self::used_on) before putting it on another stream than
    /// [`stream`](Self::stream), and do not let it outlive the buffer.
    #[must_use]
    #[inline]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.block.address()
    }

    /// Declares that work with this buffer will be put on `stream`: the work comes after all work
    /// that used the memory before the buffer had it, and the memory is free only behind it. The
    /// crate's own operations do this themselves. It does not order the work with that of other
    /// streams on the buffer. The drop makes the buffer's own stream wait for nothing: the memory
    /// is kept back until `stream` has come as far as it is then.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Full`] when there are too many events for one more;
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "record_stream")]
    #[doc(alias = "record_use")]
    #[track_caller]
    pub fn used_on(&self, stream: &Stream) -> Result<()> {
        self.block.join(stream)
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("block", &self.block)
            .field("len", &self.len)
            .finish()
    }
}

/// The elements of `range` among `len`, as start and length.
#[track_caller]
pub(crate) fn resolve(range: &impl RangeBounds<usize>, len: usize) -> Result<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok((start, end - start)),
        _ => {
            let problem = format!(
                "{:?}..{:?} does not lie in {len} elements",
                range.start_bound(),
                range.end_bound()
            );
            Err(Error::invalid("range", problem))
        }
    }
}

macro_rules! views {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        pub struct $name<'b, T: DeviceCopy> {
            address: CUdeviceptr,
            len: usize,
            /// The memory's owner; `None` for memory that this crate does not own.
            block: Option<&'b Block>,
            element: PhantomData<T>,
        }

        impl<'b, T: DeviceCopy> $name<'b, T> {
            /// Names memory that this crate does not own.
            ///
            /// # Safety
            /// `address` is that of `len` elements, allocated for `'b` and until all work
            /// that this view is given to has completed.
            #[must_use]
            pub unsafe fn from_raw(address: CUdeviceptr, len: usize) -> Self {
                Self { address, len, block: None, element: PhantomData }
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
            #[inline]
            pub fn bytes(&self) -> u64 {
                (self.len * size_of::<T>()) as u64
            }

            /// The device address of the first element.
            #[must_use]
            #[inline]
            pub fn as_raw(&self) -> CUdeviceptr {
                self.address
            }

            /// Some of the elements.
            ///
            /// # Errors
            /// [`Error::Invalid`] when the range does not lie in the view.
            #[track_caller]
            pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
                let (start, len) = resolve(&range, self.len)?;
                let address = self.address + (start * size_of::<T>()) as u64;
                Ok(Self { address, len, ..self })
            }

            /// The same bytes as elements of another type, as many as they are.
            ///
            /// # Errors
            /// [`Error::Invalid`] when the bytes are not a whole number of them, or the
            /// address is not aligned for them.
            #[track_caller]
            pub fn cast<U: DeviceCopy>(self) -> Result<$name<'b, U>> {
                let (bytes, size) = (self.len * size_of::<T>(), size_of::<U>());
                if size == 0 || bytes % size != 0 {
                    let problem = format!("{bytes} bytes are no whole number of {size}-byte elements");
                    return Err(Error::invalid("element", problem));
                }
                if self.address % align_of::<U>() as u64 != 0 {
                    let problem = format!("{:#x} is not aligned to {}", self.address, align_of::<U>());
                    return Err(Error::invalid("element", problem));
                }
                Ok($name { address: self.address, len: bytes / size, block: self.block, element: PhantomData })
            }

            /// The same memory as bytes.
            #[inline]
            pub(crate) fn as_bytes(&self) -> $name<'_, u8> {
                $name {
                    address: self.address,
                    len: self.len * size_of::<T>(),
                    block: self.block,
                    element: PhantomData,
                }
            }

            /// Refuses a stream on which the memory cannot be used, without a call of the driver.
            #[track_caller]
            pub(crate) fn check_context(&self, stream: &Stream) -> Result<()> {
                match self.block {
                    Some(block) => block.check_use(stream),
                    None => Ok(()),
                }
            }

            /// The addresses.
            fn range(&self) -> Range<CUdeviceptr> {
                self.address..self.address + self.bytes()
            }

            /// See [`Block::tell_use`].
            pub(crate) fn tell_use(&self, stream: &Stream) {
                if let Some(block) = self.block {
                    block.tell_use(stream);
                }
            }

            /// See [`Block::join_across`].
            #[inline(always)]
            #[track_caller]
            pub(crate) fn join_across(&self, stream: &Stream) -> Result<()> {
                match self.block {
                    Some(block) => block.join_across(stream),
                    None => Ok(()),
                }
            }

            /// Prepares a use on `stream`.
            #[track_caller]
            pub(crate) fn join(&self, stream: &Stream) -> Result<()> {
                match self.block {
                    Some(block) => block.join(stream),
                    None => check_pointer(stream.core(), self.address, self.bytes()),
                }
            }
        }

        impl<T: DeviceCopy> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x}, {})", stringify!($name), self.address, self.len)
            }
        }
    };
}

views! {
    /// Part of a [`Buffer`], for reading.
    DeviceSlice
}

views! {
    /// Part of a [`Buffer`], for writing.
    DeviceSliceMut
}

impl<'b, T: DeviceCopy> DeviceSlice<'b, T> {
    /// The memory's owner; `None` for memory that this crate does not own.
    #[inline]
    pub(crate) fn owner(&self) -> Option<&'b Block> {
        self.block
    }
}

impl<T: DeviceCopy> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: DeviceCopy> Copy for DeviceSlice<'_, T> {}

impl<T: DeviceCopy> DeviceSliceMut<'_, T> {
    /// The same elements for a shorter time.
    #[must_use]
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut {
            address: self.address,
            len: self.len,
            block: self.block,
            element: PhantomData,
        }
    }

    /// The same elements, for reading.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice {
            address: self.address,
            len: self.len,
            block: self.block,
            element: PhantomData,
        }
    }
}

impl<'b, T: DeviceCopy> From<&'b Buffer<T>> for DeviceSlice<'b, T> {
    fn from(buffer: &'b Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'b, T: DeviceCopy> From<&'b mut Buffer<T>> for DeviceSliceMut<'b, T> {
    fn from(buffer: &'b mut Buffer<T>) -> Self {
        buffer.view_mut()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a cast could name bytes that are not the view's.
    #[test]
    fn a_cast_keeps_the_bytes() {
        // SAFETY: only the numbers are looked at, the memory is not.
        let view = unsafe { DeviceSlice::<u64>::from_raw(0x1008, 3) };
        let words = view.cast::<u32>().unwrap();
        assert_eq!(
            (words.as_raw(), words.len(), words.bytes()),
            (0x1008, 6, 24)
        );
        assert!(
            view.cast::<[u64; 2]>().is_err(),
            "24 bytes are no whole number of 16"
        );
        assert!(view.cast::<u128>().is_err());
        assert!(view.cast::<[u64; 0]>().is_err());
        let odd = view.cast::<u8>().unwrap().slice(1..9).unwrap();
        assert!(odd.cast::<u64>().is_err(), "the address is odd");
    }

    // Without it a range could reach outside of its buffer, or overflow.
    #[test]
    fn ranges_are_those_of_a_slice() {
        fn property(start: usize, end: usize, len: u8) -> bool {
            let len = usize::from(len);
            let (start, end) = (start % 300, end % 300);
            let data = vec![0u8; len];
            let ours = resolve(&(start..end), len).ok().map(|(s, n)| s..s + n);
            let inclusive = resolve(&(start..=end), len).ok().map(|(s, n)| s..s + n);
            ours == data.get(start..end).map(|_| start..end)
                && inclusive == data.get(start..=end).map(|_| start..end + 1)
        }
        quickcheck::quickcheck(property as fn(usize, usize, u8) -> bool);
        assert!(resolve(&(0..=usize::MAX), 4).is_err());
        assert_eq!(resolve(&.., 4).unwrap(), (0, 4));
    }
}
