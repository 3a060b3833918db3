//! How many blocks of a kernel a multiprocessor runs at a time.

use super::Function;
use crate::error::Result;

impl Function {
    /// The most blocks of `threads` threads with `shared_bytes` of dynamic shared memory that one
    /// multiprocessor runs at a time (`cuOccupancyMaxActiveBlocksPerMultiprocessor`).
    ///
    /// # Errors
    /// [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked); what the
    /// driver returned.
    #[doc(hidden)]
    #[track_caller]
    pub fn active_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let core = self.core();
        let driver = core.enter()?;
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        let mut blocks = 0;
        // SAFETY: `blocks` outlives the call, the function's module is loaded and its context current.
        let asked = unsafe {
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.raw(),
                threads,
                shared_bytes as usize,
            )
        };
        core.check(asked)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }
}
