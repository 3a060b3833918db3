//! What a profiler and a subscriber of `tracing` see of a pipeline's work on the host.

use std::ffi::CStr;
use std::fmt::Display;

use tracing::span::EnteredSpan;
use tracing::{Level, debug, enabled, trace, trace_span, warn};

use super::nvtx::{self, Range};
use super::report::Report;
use crate::error::Error;
use crate::pipeline::downloads::CopyThread;
use crate::stream::Stream;

/// A part of this thread's work on an item, which ends when this is dropped.
pub(in crate::pipeline) struct Scope {
    _range: Range,
    _span: EnteredSpan,
}

impl Scope {
    /// The item's stages are put on their streams.
    pub(in crate::pipeline) fn submit(item: u64) -> Self {
        Self {
            _range: Range::begin(c"submit", item),
            _span: trace_span!("submit", item).entered(),
        }
    }

    /// A thread of its own puts the item's download.
    pub(in crate::pipeline) fn download(item: u64) -> Self {
        Self {
            _range: Range::begin(c"download", item),
            _span: trace_span!("download", item).entered(),
        }
    }

    /// The thread waits for the item.
    pub(in crate::pipeline) fn wait(item: u64) -> Self {
        Self {
            _range: Range::begin(c"wait", item),
            _span: trace_span!("wait", item).entered(),
        }
    }
}

/// A pipeline of this depth was made.
pub(in crate::pipeline) fn made(depth: usize, streams: [&Stream; 3]) {
    nvtx::attach();
    const NAMES: [&CStr; 3] = [c"cupola upload", c"cupola compute", c"cupola download"];
    for (stream, name) in streams.into_iter().zip(NAMES) {
        nvtx::name_stream(stream.raw(), name);
    }
    let [upload, compute, download] = streams.map(Stream::serial);
    debug!(depth, upload, compute, download, "pipeline made");
}

/// The step of a slot's items of this length was captured as a graph.
pub(in crate::pipeline) fn captured(slot: usize, len: usize) {
    debug!(slot, len, "step captured as a graph");
}

/// An item is put by calls of its own, for another reason than the one before it.
pub(in crate::pipeline) fn direct(reason: &dyn Display) {
    debug!(%reason, "item put by calls");
}

/// Steps were to be captured, and are not any more.
pub(in crate::pipeline) fn refused(reason: &dyn Display) {
    warn!(%reason, "steps go back to calls");
}

/// An adaptive pipeline has a slot more.
pub(in crate::pipeline) fn grown(depth: usize) {
    debug!(depth, "pipeline grown");
}

/// An adaptive pipeline stays as deep as it is: there is no memory for a slot more.
pub(in crate::pipeline) fn not_grown(depth: usize, error: &Error) {
    debug!(depth, %error, "pipeline cannot grow");
}

/// It was decided which thread puts downloads.
pub(in crate::pipeline) fn copy_thread(choice: &CopyThread) {
    debug!(is_running = choice.is_running(), "{choice}");
}

/// A run begins.
pub(in crate::pipeline) fn begun() {
    trace!("pipeline run begun");
}

/// A run has ended like this.
pub(in crate::pipeline) fn ended(report: &Report, failed_item: Option<u64>) {
    if !enabled!(Level::DEBUG) {
        return;
    }
    let &Report {
        items, full_waits, ..
    } = report;
    if let Some(overlap) = &report.overlap {
        let (diagnosis, utilisation) = (overlap.diagnosis(), overlap.utilisation());
        let efficiency = overlap.efficiency;
        debug!(items, full_waits, failed_item, efficiency, %diagnosis, %utilisation, "pipeline run ended");
    } else {
        debug!(items, full_waits, failed_item, "pipeline run ended");
    }
}
