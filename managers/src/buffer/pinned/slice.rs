//! Parts of pinned memory, for copies.
//!
//! A part has no event of its own: a copy of it is one of its buffer, which no thread looks at, and
//! which is not freed, before all copies of all parts are over.

use std::fmt;
use std::ops::RangeBounds;

use super::{Copying, PinnedBuffer, PinnedPart};
use crate::buffer::{DeviceCopy, resolve};
use crate::error::{Result, Written};
use crate::stream::Stream;

macro_rules! parts {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        pub struct $name<'p, T: DeviceCopy> {
            buffer: &'p PinnedBuffer<T>,
            start: usize,
            len: usize,
        }

        impl<'p, T: DeviceCopy> $name<'p, T> {
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

            /// Some of the elements.
            ///
            /// # Errors
            /// [`Error::Invalid`](crate::Error::Invalid) when the range does not lie in the part.
            #[track_caller]
            pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
                let (start, len) = resolve(&range, self.len)?;
                Ok(Self { start: self.start + start, len, ..self })
            }

            /// The address of the first element; see [`PinnedBuffer::as_ptr`].
            #[must_use]
            pub fn as_ptr(&self) -> *mut T {
                self.buffer.as_ptr().wrapping_add(self.start)
            }

            pub(crate) fn check_context(&self, stream: &Stream) -> Result<()> {
                self.buffer.check_context(stream)
            }

            /// The same bytes, whatever the elements.
            pub(crate) fn part(&self) -> PinnedPart<'p> {
                let start = self.start * size_of::<T>();
                PinnedPart::new(self.buffer, start..start + self.len * size_of::<T>())
            }

            /// See [`PinnedBuffer::begin_copy`].
            #[track_caller]
            pub(crate) fn begin_copy(&self, stream: &'p Stream) -> Result<Copying<'p>> {
                self.buffer.begin_copy(stream)
            }
        }

        impl<T: DeviceCopy> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({}, {})", stringify!($name), self.start, self.len)
            }
        }
    };
}

parts! {
    /// Part of a [`PinnedBuffer`], to copy from.
    PinnedSlice
}

parts! {
    /// Part of a [`PinnedBuffer`], to copy to.
    PinnedSliceMut
}

impl<T: DeviceCopy> PinnedSlice<'_, T> {
    /// Refuses to read elements that a copy has failed to write.
    pub(crate) fn taint(&self) -> Result<()> {
        let start = (self.start * size_of::<T>()) as u64;
        self.buffer.taints.check(start..start + self.bytes())
    }
}

impl<T: DeviceCopy> PinnedSliceMut<'_, T> {
    /// The end of a copy that was to write the elements: after a failure they are not readable.
    pub(crate) fn end_write(
        &self,
        result: Result<()>,
        written: impl FnOnce() -> Written,
    ) -> Result<()> {
        let start = (self.start * size_of::<T>()) as u64;
        let bytes = start..start + self.bytes();
        self.buffer.taints.end_write(bytes, &result, written);
        result
    }
}

impl<T: DeviceCopy> Clone for PinnedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: DeviceCopy> Copy for PinnedSlice<'_, T> {}

impl<T: DeviceCopy> PinnedSliceMut<'_, T> {
    /// The same elements for a shorter time.
    #[must_use]
    pub fn reborrow(&mut self) -> PinnedSliceMut<'_, T> {
        PinnedSliceMut { ..*self }
    }
}

impl<'p, T: DeviceCopy> From<&'p PinnedBuffer<T>> for PinnedSlice<'p, T> {
    fn from(buffer: &'p PinnedBuffer<T>) -> Self {
        Self {
            buffer,
            start: 0,
            len: buffer.len(),
        }
    }
}

impl<'p, T: DeviceCopy> From<&'p mut PinnedBuffer<T>> for PinnedSliceMut<'p, T> {
    fn from(buffer: &'p mut PinnedBuffer<T>) -> Self {
        let len = buffer.len();
        Self {
            buffer,
            start: 0,
            len,
        }
    }
}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// Some elements, to copy from: [`as_slice`](Self::as_slice) is for the host.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when the range does not lie in the buffer.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<PinnedSlice<'_, T>> {
        PinnedSlice::from(self).slice(range)
    }

    /// Some elements, to copy to: [`as_mut_slice`](Self::as_mut_slice) is for the host. Copies to
    /// two parts run one after the other, as copies to the whole do.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when the range does not lie in the buffer.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<PinnedSliceMut<'_, T>> {
        PinnedSliceMut::from(self).slice(range)
    }
}
