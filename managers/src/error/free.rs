//! `FreeError`: why an object was not freed, with the object.

use core::fmt;

use super::Error;

/// A free that was refused. Nothing has happened, and the object that was to be freed is in here,
/// for another try.
///
/// With `?` in a function that returns this crate's [`Error`] the value is dropped: a
/// [`Buffer`](crate::Buffer) then frees itself, if that is possible by now, and a
/// [`RawBlock`](crate::pool::RawBlock) is leaked, as with any other drop of one.
pub struct FreeError<T> {
    what: T,
    error: Error,
}

impl<T> FreeError<T> {
    /// `what` was not freed, and is whole: for [`Allocator`](crate::pool::Allocator)s of other
    /// code.
    #[cold]
    pub fn new(what: T, error: Error) -> Self {
        Self { what, error }
    }

    /// Why it was refused.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The object that was to be freed.
    pub fn into_inner(self) -> T {
        self.what
    }

    /// The object that was to be freed, and the error.
    pub fn into_parts(self) -> (T, Error) {
        (self.what, self.error)
    }
}

impl<T> From<FreeError<T>> for Error {
    fn from(refused: FreeError<T>) -> Self {
        refused.error
    }
}

impl<T> fmt::Display for FreeError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T> fmt::Debug for FreeError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeError")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T> std::error::Error for FreeError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}
