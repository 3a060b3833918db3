//! Copies from and to variables of modules.

use crate::buffer::DeviceCopy;
use crate::error::{Error, Result};
use crate::module::Global;
use crate::ops;
use crate::stream::Stream;

impl<T: DeviceCopy> Global<T> {
    /// Sets the variable, in the order of `stream`, and waits until that is done, as
    /// [`ops::write`](crate::ops::write()) does. Kernels on other streams may see the old value, the
    /// new one or part of each, unless they come after this.
    ///
    /// # Errors
    /// As [`ops::write`](crate::ops::write()).
    ///
    /// # Aborts
    /// As [`ops::write`](crate::ops::write()).
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "cudaMemcpyToSymbol")]
    #[track_caller]
    pub fn write(&self, from: &[T], stream: &Stream) -> Result<()> {
        self.check_context(stream)?;
        // SAFETY: the variable is there as long as `self`, and the copy is over with the call.
        ops::write(unsafe { self.view_mut() }, from, stream)
    }

    /// The variable's elements, copied in the order of `stream`; waits until that is done, as
    /// [`ops::read`](crate::ops::read) does.
    ///
    /// # Errors
    /// As [`ops::read`](crate::ops::read).
    ///
    /// # Aborts
    /// As [`ops::write`](crate::ops::write()).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "cudaMemcpyFromSymbol")]
    #[track_caller]
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        self.check_context(stream)?;
        // SAFETY: the variable is there as long as `self`, and the copy is over with the call.
        unsafe { self.view() }.to_vec(stream)
    }

    #[track_caller]
    fn check_context(&self, stream: &Stream) -> Result<()> {
        match stream.is_in(self.module().core()) {
            true => Ok(()),
            false => Err(Error::WrongContext {
                what: "the variable",
            }),
        }
    }
}
