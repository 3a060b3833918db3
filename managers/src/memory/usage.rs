//! `Usage`: a pool's gauges and counters.

use cupola_core::Pressure;

/// What a [`MemoryPool`](super::MemoryPool) holds and has done. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// In blocks that are alive.
    pub live: u64,
    /// The most that was ever alive at a time.
    pub peak: u64,
    /// The limit.
    pub limit: u64,
    /// How full the pool is.
    pub pressure: Pressure,
    /// Blocks that are alive, without those of no bytes.
    pub blocks: u64,
    /// What the driver holds for the pool, live blocks included; `None` where it does not
    /// keep memory for reuse.
    pub reserved: Option<u64>,
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks taken back.
    pub frees: u64,
    /// Requests that did not fit the limit.
    pub refused: u64,
    /// Requests that fit the limit but not the device.
    pub exhausted: u64,
    /// How often unused memory was given back to the device.
    pub trims: u64,
}
