//! An owned buffer as one of other elements.

use core::fmt;

use super::Buffer;
use crate::buffer::DeviceCopy;
use crate::error::{Error, Result};

/// A cast that was refused, with the buffer as it was.
///
/// With `?` in a function that returns this crate's [`Error`] the buffer is dropped.
pub struct CastError<T: DeviceCopy> {
    buffer: Buffer<T>,
    error: Error,
}

impl<T: DeviceCopy> CastError<T> {
    /// Why it was refused.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The buffer.
    #[must_use]
    pub fn into_inner(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: DeviceCopy> From<CastError<T>> for Error {
    fn from(refused: CastError<T>) -> Self {
        refused.error
    }
}

impl<T: DeviceCopy> fmt::Display for CastError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T: DeviceCopy> fmt::Debug for CastError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CastError")
            .field("buffer", &self.buffer)
            .field("error", &self.error)
            .finish()
    }
}

impl<T: DeviceCopy> std::error::Error for CastError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// The same memory as elements of another type, as many as its bytes are. It costs nothing.
    ///
    /// # Errors
    /// With the buffer, [`Error::Invalid`] when the bytes are not a whole number of them, or the
    /// address is not aligned for them (see
    /// [`allocate_aligned`](crate::MemoryPool::allocate_aligned)).
    #[track_caller]
    pub fn cast<U: DeviceCopy>(self) -> Result<Buffer<U>, CastError<T>> {
        let len = match self.view().cast::<U>() {
            Ok(view) => view.len(),
            Err(error) => {
                return Err(CastError {
                    buffer: self,
                    error,
                });
            }
        };
        Ok(Buffer::new(self.block, len))
    }
}
