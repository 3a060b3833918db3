//! `Latch`: remembers the first error after which a context is lost.
//!
//! One word and one way: a context that was lost never comes back, so nothing resets it.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, DriverError};

/// Set in every word that holds an error.
const SET: u64 = 1 << 63;

/// Empty, or the first sticky error: its function in bits 32 to 47, its code below.
#[derive(Debug, Default)]
pub(crate) struct Latch(AtomicU64);

impl Latch {
    /// The error that the latch holds.
    #[inline]
    pub(crate) fn get(&self) -> Option<DriverError> {
        // Relaxed: the word is all there is to see.
        let word = self.0.load(Ordering::Relaxed);
        (word & SET != 0).then_some(DriverError::Failed {
            symbol: SymbolId(((word >> 32) & 0xffff) as u16),
            code: CUresult((word & 0xffff_ffff) as u32),
        })
    }

    /// Sets the latch if `call` is sticky and nothing was there before. Returns the first
    /// error when `call` came after it.
    pub(crate) fn note(&self, call: DriverError) -> Option<DriverError> {
        let DriverError::Failed { symbol, code } = call else {
            return self.get();
        };
        if call.class().is_sticky() {
            let word = SET | (u64::from(symbol.0) << 32) | u64::from(code.0);
            let first = self
                .0
                .compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
            if first.is_ok() {
                return None;
            }
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cupola_sys::driver::id;

    // Without it a later error could replace the cause, or an ordinary one set the latch.
    #[test]
    fn keeps_the_first_sticky_error() {
        let latch = Latch::default();
        let fail = |symbol, code| DriverError::Failed { symbol, code };
        let oom = fail(id::cuMemAlloc_v2, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!((latch.note(oom), latch.get()), (None, None));
        let first = fail(
            id::cuStreamSynchronize,
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        );
        assert_eq!((latch.note(first), latch.get()), (None, Some(first)));
        let second = fail(id::cuEventQuery, CUresult::CUDA_ERROR_LAUNCH_FAILED);
        assert_eq!(
            (latch.note(second), latch.note(oom)),
            (Some(first), Some(first))
        );
        assert_eq!(latch.get(), Some(first));
    }
}
