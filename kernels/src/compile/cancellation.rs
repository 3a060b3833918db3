//! [`Cancellation`]: how a compile is stopped before its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a compile, from any thread. Clones are the same; what was cancelled stays so.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Not cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the compile to stop. It ends with
    /// [`CompileError::Cancelled`](super::CompileError::Cancelled) once the compiler has asked,
    /// which it does between steps of its own; one without `nvrtcSetFlowCallback` (before CUDA
    /// 12.9) does not ask: it compiles to the end, and the result is dropped.
    pub fn cancel(&self) {
        // Says nothing of other memory.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag, for the compiler's callback. It never goes back to false: the callback must go on
    /// to say what it said once.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
