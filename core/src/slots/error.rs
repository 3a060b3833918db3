//! Errors of a store: for handles, for values made on demand, and for new values (which come
//! back).

use core::fmt;

/// The reason why a handle was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandleError {
    /// The handle names no value of this store: it was released, or not issued yet.
    Stale,
    /// The handle's slot has been reserved but its value is not there yet.
    NotReady,
    /// The store is closed and grants no leases.
    Closed,
    /// The slot has as many leases out as it can count (2^20 - 1).
    Saturated,
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stale => "stale handle: what it named was released",
            Self::NotReady => "the handle's value is not there yet",
            Self::Closed => "the store is closed",
            Self::Saturated => "too many leases on one slot",
        })
    }
}

impl core::error::Error for HandleError {}

/// The reason why [`ensure_alive`](crate::Slots::ensure_alive) gave no lease.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnsureError<T, E> {
    /// The handle was refused, and nothing was made.
    Refused(HandleError),
    /// The attempt to make the value failed, in this thread or in the one that it waited for.
    Init(E),
    /// The value was made and could not be stored, as the store was closed meanwhile or too
    /// many threads waited: here it is, to be destroyed.
    Withheld {
        /// The value that was made.
        value: T,
        /// The reason why it was not stored.
        refusal: HandleError,
    },
}

impl<T, E> From<HandleError> for EnsureError<T, E> {
    fn from(refusal: HandleError) -> Self {
        Self::Refused(refusal)
    }
}

// Without the value, which need not be `Debug`.
impl<T, E: fmt::Debug> fmt::Debug for EnsureError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => f.debug_tuple("Refused").field(refusal).finish(),
            Self::Init(error) => f.debug_tuple("Init").field(error).finish(),
            Self::Withheld { refusal, .. } => f
                .debug_struct("Withheld")
                .field("refusal", refusal)
                .finish_non_exhaustive(),
        }
    }
}

impl<T, E: fmt::Display> fmt::Display for EnsureError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Init(error) => error.fmt(f),
            Self::Withheld { refusal, .. } => {
                write!(f, "the value was made and not stored: {refusal}")
            }
        }
    }
}

impl<T, E: core::error::Error> core::error::Error for EnsureError<T, E> {}

/// The reason why a value was not stored; gives the value back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError<T> {
    /// No slot is free and the store cannot grow.
    Full(T),
    /// The store is closed.
    Closed(T),
}

impl<T> InsertError<T> {
    /// The value that was not stored.
    pub fn into_value(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }

    /// The same refusal about another value.
    pub(crate) fn with<U>(self, value: U) -> InsertError<U> {
        match self {
            Self::Full(_) => InsertError::Full(value),
            Self::Closed(_) => InsertError::Closed(value),
        }
    }
}

// Written out so that an error can be unwrapped or logged whatever the value is.
impl<T> fmt::Debug for InsertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for InsertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "no slot is free and the store cannot grow",
            Self::Closed(_) => "the store is closed",
        })
    }
}

impl<T> core::error::Error for InsertError<T> {}
