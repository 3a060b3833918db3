//! `Latch`: remembers the first error after which a context is lost.
//!
//! One way: a context that was lost never comes back, so nothing resets it.

use std::sync::Arc;

use super::Cause;
use crate::sync::OnceLock;

/// Empty, or the first sticky error.
#[derive(Debug, Default)]
pub(crate) struct Latch(OnceLock<Arc<Cause>>);

impl Latch {
    /// The error that the latch holds.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Cause>> {
        self.0.get()
    }

    /// Sets the latch if `cause` is sticky and nothing was there before. Returns the first
    /// error when `cause` came after it, and gives `cause` back otherwise.
    pub(crate) fn note(&self, cause: Cause) -> Result<Cause, &Arc<Cause>> {
        if let Some(first) = self.get() {
            return Err(first);
        }
        let is_sticky = cause.call.class().is_sticky() || mutant!("latch_of_any_error");
        if is_sticky && self.0.set(Arc::new(cause.clone())).is_err() {
            if mutant!("latch_second_is_first") {
                return Ok(cause);
            }
            return self.get().map_or(Ok(cause), Err);
        }
        Ok(cause)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::Site;
    use super::*;
    use cupola_sys::driver::{CUresult, DriverError, id};

    // Without it a later error could replace the cause, or an ordinary one set the latch.
    #[test]
    fn keeps_the_first_sticky_error() {
        let latch = Latch::default();
        let fail = |symbol, code| Cause::new(DriverError::Failed { symbol, code }, Site::here());
        let oom = fail(id::cuMemAlloc_v2, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(
            (latch.note(oom.clone()), latch.get()),
            (Ok(oom.clone()), None)
        );
        let first = fail(
            id::cuStreamSynchronize,
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        );
        assert_eq!(latch.note(first.clone()), Ok(first.clone()));
        let second = fail(id::cuEventQuery, CUresult::CUDA_ERROR_LAUNCH_FAILED);
        let kept = Arc::new(first);
        assert_eq!(latch.note(second), Err(&kept));
        assert_eq!(latch.note(oom), Err(&kept));
        assert_eq!(latch.get(), Some(&kept));
    }
}
