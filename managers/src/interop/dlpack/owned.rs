//! The end of a tensor of another library.

use std::fmt;

use super::abi::{DLTensor, ManagedTensor};
use crate::error::Error;

/// A tensor that was given away to this program. Dropping it calls its deleter, once.
#[derive(Debug)]
pub struct OwnedTensor {
    tensor: ManagedTensor,
    is_given_away: bool,
}

// SAFETY: a tensor's deleter may be called on any thread: condition of `new`.
unsafe impl Send for OwnedTensor {}
// SAFETY: a shared reference reads an address alone.
unsafe impl Sync for OwnedTensor {}

impl OwnedTensor {
    /// # Safety
    /// The tensor is one as DLPack describes it, and the caller's to give away. Its deleter may be called on any thread.
    pub(super) unsafe fn new(tensor: ManagedTensor) -> Self {
        Self {
            tensor,
            is_given_away: false,
        }
    }

    /// The tensor, which stays this value's.
    pub(super) fn as_raw(&self) -> ManagedTensor {
        self.tensor
    }

    /// Gives the tensor away: its deleter is the caller's to call.
    #[must_use]
    pub fn into_raw(mut self) -> ManagedTensor {
        self.give_away()
    }

    /// As [`into_raw`](Self::into_raw): the drop does nothing after it.
    pub(super) fn give_away(&mut self) -> ManagedTensor {
        self.is_given_away = true;
        self.tensor
    }

    /// Its array.
    ///
    /// # Safety
    /// The tensor was not given away, and is of a layout that this module knows.
    pub(super) unsafe fn array(&self) -> &DLTensor {
        // SAFETY: the tensor is this value's and so alive, and of this layout, by the condition of this function.
        unsafe {
            match self.tensor {
                ManagedTensor::Versioned(tensor) => &(*tensor.as_ptr()).dl_tensor,
                ManagedTensor::Unversioned(tensor) => &(*tensor.as_ptr()).dl_tensor,
            }
        }
    }
}

impl Drop for OwnedTensor {
    fn drop(&mut self) {
        if self.is_given_away {
            return;
        }
        // SAFETY: the tensor is this value's, whose end this is, so no other code calls the deleter. It is at the same
        // place in every layout that has a version, so that it can be called whichever it is.
        unsafe {
            match self.tensor {
                ManagedTensor::Versioned(tensor) => {
                    let deleter = (&raw const (*tensor.as_ptr()).deleter).read();
                    if let Some(deleter) = deleter {
                        deleter(tensor.as_ptr());
                    }
                }
                ManagedTensor::Unversioned(tensor) => {
                    let deleter = (&raw const (*tensor.as_ptr()).deleter).read();
                    if let Some(deleter) = deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

/// Why a tensor was not taken. Dropping this, or making an [`Error`] of it, ends the tensor as its deleter does;
/// [`OwnedTensor::into_raw`] leaves that to the caller.
#[derive(Debug)]
pub struct TensorError {
    /// The tensor.
    pub tensor: OwnedTensor,
    /// The reason. [`Error::Invalid`] names the field of the tensor.
    pub error: Error,
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for TensorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<TensorError> for Error {
    fn from(refused: TensorError) -> Self {
        refused.error
    }
}
