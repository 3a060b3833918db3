//! `Metrics`: what a residency has done.

use std::time::Duration;

/// What a residency has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Leases of slots that had all their memory.
    pub hits: u64,
    /// Leases of slots that had a part of it.
    pub partial_hits: u64,
    /// Leases of slots that had none.
    pub misses: u64,
    /// Bytes that were copied to the device.
    pub bytes_loaded: u64,
    /// Bytes of those that were copied ahead of their announced request.
    pub bytes_loaded_ahead: u64,
    /// Leases that found bytes which were loaded ahead of them.
    pub hits_ahead: u64,
    /// Bytes of device memory, in whole pieces, that were loaded ahead and given up before their request came.
    pub bytes_ahead_wasted: u64,
    /// Bytes of device memory that slots have given up.
    pub bytes_evicted: u64,
    /// Slots that have given memory up, counted once for each slot that was loaded in their place.
    pub evictions: u64,
    /// Bytes that were copied to the host, because they had been changed.
    pub bytes_written_back: u64,
    /// Hits that waited behind requests which lack memory, because as many as may had passed those.
    pub hits_held_back: u64,
    /// How often a request that found no room waited for leases to end.
    pub room_waits: u64,
    /// How often a thread waited for work on the device, to have a slot's memory.
    pub waits: u64,
    /// How long threads were busy with maps and calls for copies, waits included.
    pub time_loading: Duration,
}

/// What a residency has at a time, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Device memory of slots.
    pub resident: u64,
    /// Device memory that is set aside for slots which are loaded [progressively](crate::Residency::lease_progressively).
    pub reserved: u64,
    /// Device memory that no slot has, kept for the next one.
    pub stock: u64,
    /// Device memory of slots that are leased.
    pub leased: u64,
    /// Device memory of pinned slots that are not leased.
    pub pinned: u64,
    /// What is charged to the limit, by this residency and by others that share it.
    pub charged: u64,
    /// The limit.
    pub limit: u64,
    /// Host memory of host copies and staging.
    pub host: u64,
    /// The limit of host memory.
    pub host_limit: u64,
    /// Slots that there are.
    pub slots: usize,
}
