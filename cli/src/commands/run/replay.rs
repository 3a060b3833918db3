//! The first half of the main job: a real program's allocations through the pool, every block
//! stamped and checked.

use cupola::Context;
use cupola::kernels::Kernels;
use cupola_cli::trace::Trace;
use serde::Serialize;

use crate::commands::exit::Failure;
use crate::commands::ignored::IgnoredReport;
use crate::commands::replay::{self, Settings};

/// What the replay did.
#[derive(Debug, Serialize)]
pub(super) struct ReplayReport {
    pub(super) operations: usize,
    pub(super) blocks: usize,
    pub(super) seconds: f64,
    pub(super) operations_per_second: f64,
    /// The hard limit of the pool in bytes.
    pub(super) limit: u64,
    /// The most bytes that the trace has alive.
    pub(super) trace_peak: u64,
    /// The most bytes that the pool had from the driver, which the limit is on.
    pub(super) pool_peak: u64,
    /// Calls of the driver that the pool made for it.
    pub(super) driver_calls: u64,
    /// What the pool's memory comes from.
    pub(super) pool: String,
    /// What the trace's file holds and a trace cannot.
    #[serde(flatten)]
    pub(super) ignored: IgnoredReport,
    pub(super) stamps_checked: usize,
    /// Sampled bytes that did not hold what was written.
    pub(super) wrong_bytes: u64,
    /// Whether nothing was wrong, the limit was kept and no block is left.
    pub(super) verified: bool,
}

/// Replays `trace` under `limit` bytes.
pub(super) fn run(
    context: &Context,
    kernels: &Kernels,
    trace: &Trace,
    limit: u64,
    quiet: bool,
) -> Result<ReplayReport, Failure> {
    let settings = Settings {
        limit,
        threads: 1,
        kernels: Some(kernels),
        timed: false,
        realtime: false,
        stop: true,
        quiet,
    };
    let streams = replay::streams(context, trace)?;
    let (outcome, pool) = replay::run(context, &streams, trace, settings)?;
    if let Some(failed) = outcome.first_failure {
        return Err(failed.error.into());
    }
    let usage = pool.usage()?;
    let operations = trace.operations().len();
    Ok(ReplayReport {
        operations,
        blocks: trace.blocks(),
        seconds: outcome.seconds,
        operations_per_second: operations as f64 / outcome.seconds,
        limit: usage.limit,
        trace_peak: trace.peak_bytes(),
        pool_peak: usage.peak_mapped,
        driver_calls: usage.calls.total(),
        pool: pool.describe(),
        ignored: trace.ignored().into(),
        stamps_checked: outcome.checked,
        wrong_bytes: outcome.wrong_bytes,
        verified: outcome.wrong_bytes == 0
            && outcome.checked == trace.blocks()
            && (trace.peak_bytes()..=usage.limit).contains(&usage.peak_mapped)
            && usage.live == 0,
    })
}
