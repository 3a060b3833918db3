//! Peaks, and their reset.

use crate::error::Result;
use crate::pool::MemoryPool;
use crate::pool::pages::page_mapper::Charges;
use crate::pool::state::Pool;

impl MemoryPool {
    /// Begins all peaks of [`usage`](Self::usage) anew, at the present figures: `peak_mapped`,
    /// `peak_held`, and where the pool is recorded `peak_live`.
    ///
    /// A recording without events tells the peak of the live bytes in a part of a program:
    ///
    /// ```no_run
    /// # fn f(pool: &cupola_managers::MemoryPool, step: impl Fn()) -> cupola_managers::Result<()> {
    /// pool.record(0)?;
    /// step();
    /// println!("at most {:?} bytes", pool.usage()?.peak_live);
    /// pool.reset_peaks()?;
    /// step();
    /// println!("at most {} bytes", pool.take_recording()?.peak_live);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "reset_peak_memory_stats")]
    pub fn reset_peaks(&self) -> Result<()> {
        self.pool().reset_peaks()
    }
}

impl Pool {
    /// Bytes that are alive, as they were asked for.
    pub(crate) fn live(&self) -> u64 {
        let counters = self.traffic();
        counters.live_bytes()
    }

    fn reset_peaks(&self) -> Result<()> {
        self.core.not_forked()?;
        let mapped = self.budget.used();
        self.observer.counters().reset_peak(mapped);
        // Pages that were mapped meanwhile are in one of the two.
        self.note_mapped();
        self.central.lock().reset_peak();
        self.observer.history().reset_peak();
        Ok(())
    }
}
