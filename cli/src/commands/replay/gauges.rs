//! What the pool says of itself at the end of a replay.

use std::fmt::Write as _;

use cupola::managers::pool::{DriverCalls, Usage};
use serde::Serialize;

use crate::commands::output::{bytes, count};

/// The pool at the end. Sizes in bytes.
#[derive(Debug, Serialize)]
pub(super) struct Gauges {
    pub(super) pool: String,
    /// The most that it had from the driver at a time: what the limit is on.
    pub(super) peak_mapped: u64,
    /// The most that was out of its heap at a time: in blocks as they are rounded up, and in
    /// magazines and slabs.
    pub(super) peak_held: u64,
    pub(super) mapped: u64,
    pub(super) cached: u64,
    pub(super) pending: u64,
    pub(super) live: u64,
    /// The part of allocations that a magazine of the thread served.
    pub(super) hit_rate: f64,
    /// Requests that had pages mapped.
    pub(super) grown: u64,
    /// Pages taken from one place to be used at another.
    pub(super) remapped: u64,
    /// Times that everything that threads kept was taken back.
    pub(super) drains: u64,
    /// Requests that made their stream wait for another one.
    pub(super) device_waits: u64,
    /// Requests that waited on the host.
    pub(super) host_waits: u64,
    pub(super) driver_calls: Calls,
}

/// Calls of the driver by name.
#[derive(Debug, Serialize)]
#[allow(non_snake_case, reason = "the driver's own names")]
pub(super) struct Calls {
    total: u64,
    cuMemAddressReserve: u64,
    cuMemAddressFree: u64,
    cuMemCreate: u64,
    cuMemRelease: u64,
    cuMemMap: u64,
    cuMemSetAccess: u64,
    cuMemUnmap: u64,
    cuMemAlloc: u64,
    cuMemFree: u64,
    cuMemGetInfo: u64,
    cuEventRecord: u64,
    cuEventQuery: u64,
    cuStreamWaitEvent: u64,
    cuEventCreate: u64,
    cuStreamIsCapturing: u64,
    cuThreadExchangeStreamCaptureMode: u64,
    cuCtxSetCurrent: u64,
    cuDeviceGetAttribute: u64,
    cuMemGetAllocationGranularity: u64,
}

impl From<DriverCalls> for Calls {
    fn from(calls: DriverCalls) -> Self {
        Self {
            total: calls.total(),
            cuMemAddressReserve: calls.reserve,
            cuMemAddressFree: calls.unreserve,
            cuMemCreate: calls.create,
            cuMemRelease: calls.release,
            cuMemMap: calls.map,
            cuMemSetAccess: calls.set_access,
            cuMemUnmap: calls.unmap,
            cuMemAlloc: calls.alloc,
            cuMemFree: calls.free,
            cuMemGetInfo: calls.info,
            cuEventRecord: calls.record,
            cuEventQuery: calls.query,
            cuStreamWaitEvent: calls.wait,
            cuEventCreate: calls.event,
            cuStreamIsCapturing: calls.capturing,
            cuThreadExchangeStreamCaptureMode: calls.capture_mode,
            cuCtxSetCurrent: calls.set_current,
            cuDeviceGetAttribute: calls.attribute,
            cuMemGetAllocationGranularity: calls.granularity,
        }
    }
}

impl Gauges {
    pub(super) fn new(pool: String, usage: &Usage) -> Self {
        Self {
            pool,
            peak_mapped: usage.peak_mapped,
            peak_held: usage.peak_held,
            mapped: usage.mapped,
            cached: usage.cached,
            pending: usage.pending,
            live: usage.live,
            hit_rate: usage.hit_rate(),
            grown: usage.grown,
            remapped: usage.remapped,
            drains: usage.drains,
            device_waits: usage.device_waits,
            host_waits: usage.host_waits,
            driver_calls: usage.calls.into(),
        }
    }

    /// Beside a trace with `peak` bytes alive at most.
    pub(super) fn text(&self, peak: u64) -> String {
        let mut text = format!("         {}\n", self.pool);
        let _ = writeln!(
            text,
            "         at most {} mapped ({:.4} x the trace's peak), {} in blocks, magazines and slabs",
            bytes(self.peak_mapped),
            self.peak_mapped as f64 / peak.max(1) as f64,
            bytes(self.peak_held),
        );
        let _ = writeln!(
            text,
            "         {:.2} % of allocations from magazines; {} mapped pages, {} remapped, {}, {} on the device, {} on the host",
            self.hit_rate * 100.0,
            count(self.grown, "allocation"),
            count(self.remapped, "page"),
            count(self.drains, "drain"),
            count(self.device_waits, "wait"),
            self.host_waits,
        );
        let calls = &self.driver_calls;
        let _ = writeln!(
            text,
            "         {} driver calls: create {}, map {}, access {}, unmap {}, release {}, record {}, query {}, wait {}, is capturing {}, capture mode {}",
            calls.total,
            calls.cuMemCreate,
            calls.cuMemMap,
            calls.cuMemSetAccess,
            calls.cuMemUnmap,
            calls.cuMemRelease,
            calls.cuEventRecord,
            calls.cuEventQuery,
            calls.cuStreamWaitEvent,
            calls.cuStreamIsCapturing,
            calls.cuThreadExchangeStreamCaptureMode,
        );
        text
    }
}
