//! What the main job found, as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::replay::ReplayReport;
use super::stream::StreamReport;
use crate::commands::device::{DeviceReport, Leaks};
use crate::commands::output::{bytes, count, verdict};

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) device: DeviceReport,
    pub(super) replay: ReplayReport,
    pub(super) stream: StreamReport,
    pub(super) leaks: Leaks,
}

impl ReplayReport {
    pub(super) fn text(&self) -> String {
        format!(
            "replay   {} operations in {:.2} s ({:.0} a second) under a limit of {}\n\
             \x20        at most {} mapped (the trace's peak: {}), {} driver calls; {}\n\
             {}\
             \x20        {} blocks stamped and checked, {} wrong bytes: {}\n",
            self.operations,
            self.seconds,
            self.operations_per_second,
            bytes(self.limit),
            bytes(self.pool_peak),
            bytes(self.trace_peak),
            self.driver_calls,
            self.pool,
            self.ignored.text(),
            self.stamps_checked,
            self.wrong_bytes,
            verdict(self.verified),
        )
    }
}

impl StreamReport {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "stream   {} of {} in {} of {}: {:.3} s, {:.1} MB/s\n",
            bytes(self.bytes),
            self.source,
            count(self.chunks as u64, "chunk"),
            bytes(self.chunk),
            self.seconds,
            self.megabytes_per_second,
        );
        if self.chunks == 0 {
            let _ = writeln!(text, "         nothing to compute or to compare");
            return text;
        }
        let _ = writeln!(
            text,
            "         reading {:.2} ms, upload {:.2} ms, compute {:.2} ms, download {:.2} ms: {:.2} ms, overlapped in {:.2} ms",
            self.read_ms,
            self.upload_ms,
            self.compute_ms,
            self.download_ms,
            self.serial_ms,
            self.span_ms,
        );
        let _ = writeln!(
            text,
            "         overlap efficiency {:.1} %: {:.2} x faster than in sequence, of {:.2} x possible; bound by {}",
            self.efficiency * 100.0,
            self.speedup,
            self.possible,
            self.bound,
        );
        let _ = writeln!(
            text,
            "         histogram and CRC-32 of {} compared with the CPU's, {} wrong: {}",
            count(self.chunks as u64, "chunk"),
            self.wrong_chunks,
            verdict(self.verified),
        );
        text
    }
}

impl Report {
    /// Every result was right and nothing leaked.
    pub(super) fn verified(&self) -> bool {
        self.replay.verified && self.stream.verified && self.leaks.none()
    }

    pub(super) fn verdict(&self) -> String {
        let mut text = self.leaks.text();
        let _ = writeln!(text, "{}", verdict(self.verified()));
        text
    }
}
