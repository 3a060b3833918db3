//! What the main job found, as text and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use cupola::managers::context::Live;
use cupola::{Cupola, DeviceInfo};
use serde::Serialize;

use super::replay::ReplayReport;
use super::stream::StreamReport;
use crate::cli::output::bytes;

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) device: DeviceReport,
    pub(super) replay: ReplayReport,
    pub(super) stream: StreamReport,
    pub(super) leaks: Leaks,
}

/// The device that the job ran on.
#[derive(Debug, Serialize)]
pub(super) struct DeviceReport {
    backend: String,
    name: String,
    driver: String,
    driver_version: String,
    compute_capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    copy_engines: u32,
    open_seconds: f64,
    /// Why it is not a GPU.
    why_not_gpu: Option<String>,
}

/// What is left after everything was dropped.
#[derive(Debug, Serialize)]
pub(super) struct Leaks {
    /// Objects that the managers still count.
    pub(super) objects: u64,
    /// Driver objects that could not be destroyed.
    pub(super) abandoned: u64,
    /// What the software machine still holds.
    pub(super) on_device: Option<String>,
}

impl DeviceReport {
    pub(super) fn new(cupola: &Cupola, info: &DeviceInfo, opened: Duration) -> Self {
        Self {
            backend: cupola.backend().to_string(),
            name: info.name.clone(),
            driver: cupola.driver().library_path().map_or_else(
                || cupola.driver().describe(),
                |path| path.display().to_string(),
            ),
            driver_version: cupola.driver().driver_version().to_string(),
            compute_capability: format!(
                "{}.{}",
                info.compute_capability.0, info.compute_capability.1
            ),
            multiprocessors: info.multiprocessors,
            memory_bytes: info.total_memory,
            copy_engines: info.async_engines,
            open_seconds: opened.as_secs_f64(),
            why_not_gpu: cupola.why_not_gpu().map(ToString::to_string),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(why) = &self.why_not_gpu {
            let _ = writeln!(text, "{why}");
        }
        let _ = writeln!(
            text,
            "device   {} ({}), compute capability {}, {} multiprocessors, {}, {} copy engines",
            self.name,
            self.backend,
            self.compute_capability,
            self.multiprocessors,
            bytes(self.memory_bytes),
            self.copy_engines,
        );
        let _ = writeln!(
            text,
            "driver   CUDA {}, {}; open in {:.0} ms",
            self.driver_version,
            self.driver,
            self.open_seconds * 1e3
        );
        text
    }
}

impl ReplayReport {
    pub(super) fn text(&self) -> String {
        format!(
            "replay   {} operations in {:.2} s ({:.0} a second) under a limit of {}\n\
             \x20        peak {} (the trace's own: {}); {}\n\
             \x20        {} blocks stamped and checked, {} wrong bytes: {}\n",
            self.operations,
            self.seconds,
            self.operations_per_second,
            bytes(self.limit),
            bytes(self.pool_peak),
            bytes(self.trace_peak),
            self.pool,
            self.stamps_checked,
            self.wrong_bytes,
            verdict(self.verified),
        )
    }
}

impl StreamReport {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "stream   {} of {} in {} chunks of {}: {:.3} s, {:.1} MB/s\n",
            bytes(self.bytes),
            self.source,
            self.chunks,
            bytes(self.chunk),
            self.seconds,
            self.megabytes_per_second,
        );
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
            "         histogram and CRC-32 of {} chunks compared with the CPU's, {} wrong: {}",
            self.chunks,
            self.wrong_chunks,
            verdict(self.verified),
        );
        text
    }
}

impl Leaks {
    pub(super) fn new(live: &Live, on_device: Option<String>) -> Self {
        let Live {
            contexts,
            streams,
            events,
            modules,
            pools,
            buffers,
            pinned,
            abandoned,
            ..
        } = *live;
        let objects = contexts + streams + events + modules + pools + buffers + pinned;
        Self {
            objects,
            abandoned,
            on_device,
        }
    }

    fn none(&self) -> bool {
        self.objects == 0 && self.abandoned == 0 && self.on_device.is_none()
    }
}

impl Report {
    /// Every result was right and nothing leaked.
    pub(super) fn verified(&self) -> bool {
        self.replay.verified && self.stream.verified && self.leaks.none()
    }

    pub(super) fn verdict(&self) -> String {
        let mut text = format!(
            "leaks    {} objects, {} abandoned{}\n",
            self.leaks.objects,
            self.leaks.abandoned,
            self.leaks
                .on_device
                .as_ref()
                .map_or_else(String::new, |found| format!("; {found}")),
        );
        let _ = writeln!(text, "{}", verdict(self.verified()));
        text
    }
}

fn verdict(right: bool) -> &'static str {
    if right { "verified" } else { "WRONG" }
}
