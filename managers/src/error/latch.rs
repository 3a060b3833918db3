//! `Latch`: remembers the first error after which a context is lost.
//!
//! One way: a context that was lost never comes back, so nothing resets it.

use std::sync::{Arc, Weak};

use super::Cause;
use super::loss::{OnLoss, Watchers};
use crate::sync::OnceLock;

/// Empty, or the first sticky error; and the watchers that are told when that comes.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Latch {
    first: OnceLock<Arc<Cause>>,
    watchers: Watchers,
}

impl Latch {
    /// The error that the latch holds.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Cause>> {
        self.first.get()
    }

    /// Adds a watcher. True when the caller is to tell it now, because the latch is set.
    ///
    /// First the watcher is in the list, then the latch is looked at; a thread that sets the latch
    /// looks at the list after. So one of the two finds the other, and perhaps both.
    pub(crate) fn watch(&self, watcher: Weak<dyn OnLoss>) -> bool {
        if mutant!("latch_watcher_looks_first") {
            let is_set = self.get().is_some();
            self.watchers.add(watcher);
            return is_set;
        }
        self.watchers.add(watcher);
        self.get().is_some()
    }

    /// The watchers, which the caller that has set the latch is to tell.
    pub(crate) fn take_watchers(&self) -> Vec<Arc<dyn OnLoss>> {
        self.watchers.take()
    }

    /// Sets the latch if `cause` is sticky and it held no error before. Returns the first error
    /// when `cause` came after it, and gives `cause` back otherwise.
    pub(crate) fn note(&self, cause: Cause) -> Result<Cause, &Arc<Cause>> {
        if let Some(first) = self.get() {
            return Err(first);
        }
        let is_sticky = cause.call.class().is_sticky() || mutant!("latch_of_any_error");
        if is_sticky && self.first.set(Arc::new(cause.clone())).is_err() {
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
