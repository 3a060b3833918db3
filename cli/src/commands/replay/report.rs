//! What a replay found, as text and as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use cupola_cli::trace::Trace;
use cupola_cli::trace::smallest::Smallest;
use serde::Serialize;

use super::engine::Failed;
use super::gauges::Gauges;
use super::latency::{Bucket, Percentiles};
use crate::commands::device::{DeviceReport, Leaks};
use crate::commands::exit::Exit;
use crate::commands::ignored::IgnoredReport;
use crate::commands::output::{bytes, count, verdict};

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) device: DeviceReport,
    pub(super) trace: TraceReport,
    pub(super) threads: usize,
    /// The seed by which operations were spread over streams, if they were.
    pub(super) seed: Option<u64>,
    pub(super) realtime: bool,
    pub(super) replay: Option<ReplayReport>,
    pub(super) smallest: Option<Smallest>,
    pub(super) leaks: Leaks,
}

/// What was replayed.
#[derive(Debug, Serialize)]
pub(super) struct TraceReport {
    pub(super) file: String,
    pub(super) operations: usize,
    pub(super) blocks: usize,
    pub(super) streams: u32,
    /// The most bytes alive at a time.
    pub(super) peak: u64,
    /// What the file holds and a trace cannot.
    #[serde(flatten)]
    pub(super) ignored: IgnoredReport,
}

/// One replay under one limit.
#[derive(Debug, Serialize)]
pub(super) struct ReplayReport {
    /// The hard limit of the pool in bytes.
    pub(super) limit: u64,
    pub(super) seconds: f64,
    /// Whether the pool was recorded or drawn in that time, which takes a part of it.
    pub(super) observed: bool,
    pub(super) operations_per_second: f64,
    /// Time of a thread for each operation, of those threads that have any, without a look at the
    /// clock between; `None` where there was other work as well.
    pub(super) nanoseconds: Option<f64>,
    /// Times of single allocations and frees, with two readings of the clock in each; `None` for
    /// a pool that was recorded or drawn.
    pub(super) allocate: Option<Percentiles>,
    pub(super) free: Option<Percentiles>,
    pub(super) failures: u64,
    /// Those of the replay without a look at the clock, which `seconds` are of, if there was one.
    pub(super) untimed_failures: Option<u64>,
    pub(super) first_failure: Option<Failure>,
    /// Blocks stamped and checked; `None` if that was not asked for.
    pub(super) checked: Option<usize>,
    /// Sampled bytes that did not hold what was written.
    pub(super) wrong_bytes: u64,
    pub(super) gauges: Gauges,
    /// Pictures that were written.
    pub(super) maps: Vec<PathBuf>,
    /// What was written for the viewer.
    pub(super) snapshot: Option<SnapshotReport>,
    /// Allocations did not fit, and all else was as it should be.
    pub(super) refused: bool,
    /// Nothing failed, nothing was wrong, every block was checked, and none is alive.
    pub(super) verified: bool,
}

/// A snapshot that was written.
#[derive(Debug, Serialize)]
pub(super) struct SnapshotReport {
    pub(super) file: PathBuf,
    pub(super) events: usize,
    /// The oldest ones, which there was no room for.
    pub(super) dropped: u64,
}

/// The allocation that failed first.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    /// Its position in the trace, from 0.
    pub(super) operation: usize,
    pub(super) error: String,
}

impl TraceReport {
    pub(super) fn new(file: String, trace: &Trace) -> Self {
        Self {
            file,
            operations: trace.operations().len(),
            blocks: trace.blocks(),
            streams: trace.streams(),
            peak: trace.peak_bytes(),
            ignored: trace.ignored().into(),
        }
    }

    pub(super) fn text(&self) -> String {
        let text = format!(
            "trace    {} on {}, {}, peak {}: {}\n",
            count(self.operations as u64, "operation"),
            count(self.streams, "stream"),
            count(self.blocks as u64, "block"),
            bytes(self.peak),
            self.file,
        );
        text + &self.ignored.text()
    }
}

impl From<&Failed> for Failure {
    fn from(failed: &Failed) -> Self {
        Self {
            operation: failed.operation,
            error: failed.error.to_string(),
        }
    }
}

/// A power of two of nanoseconds, in units of three digits.
fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..0x400 => format!("{nanoseconds} ns:"),
        0x400..0x10_0000 => format!("{:.1} us:", nanoseconds as f64 / 1e3),
        _ => format!("{:.1} ms:", nanoseconds as f64 / 1e6),
    }
}

impl ReplayReport {
    fn text(&self, report: &Report) -> String {
        let mut text = format!(
            "replay   {:.3} s ({:.0} operations a second){}, {}, limit {} ({:.4} x the peak)\n",
            self.seconds,
            self.operations_per_second,
            if self.observed {
                " while looked at"
            } else {
                ""
            },
            count(report.threads as u64, "thread"),
            bytes(self.limit),
            self.limit as f64 / report.trace.peak.max(1) as f64,
        );
        if let Some(nanoseconds) = self.nanoseconds {
            let _ = writeln!(text, "         {nanoseconds:.1} ns for an operation");
        }
        for (what, times) in [("allocate", &self.allocate), ("free", &self.free)] {
            let Some(times) = times else {
                continue;
            };
            let _ = write!(text, "         {what:8} p50 {} ns", times.p50);
            // One in so many: of fewer it would be the longest by another name.
            for (name, of, time) in [
                ("p99", 100, times.p99),
                ("p99.9", 1_000, times.p999),
                ("p99.99", 10_000, times.p9999),
            ] {
                if times.count >= of {
                    let _ = write!(text, ", {name} {time} ns");
                }
            }
            let _ = writeln!(text, ", max {} ns", times.max);
            // As many as are below each power of two.
            let ranges = times.histogram.iter();
            let ranges: Vec<_> = ranges
                .map(|Bucket { below, count }| format!("{} {count}", time(*below)))
                .collect();
            let _ = writeln!(text, "         {:8} < {}", "", ranges.join(", < "));
        }
        text += &self.gauges.text(report.trace.peak);
        let _ = writeln!(text, "         {}", count(self.failures, "failure"));
        if let Some(failures @ 1..) = self.untimed_failures {
            let _ = writeln!(
                text,
                "         {} in the replay without a clock",
                count(failures, "failure")
            );
        }
        if let Some(failure) = &self.first_failure {
            let Failure { operation, error } = failure;
            let _ = writeln!(text, "         first at operation {operation}: {error}");
        }
        for map in &self.maps {
            let _ = writeln!(text, "         picture in {}", map.display());
        }
        if let Some(SnapshotReport { file, dropped, .. }) = &self.snapshot {
            let _ = writeln!(text, "         snapshot in {}", file.display());
            if *dropped > 0 {
                let _ = writeln!(text, "         NOT IN IT: the {dropped} oldest events");
            }
        }
        if let Some(checked) = self.checked {
            let _ = writeln!(
                text,
                "         {checked} blocks stamped and checked, {} wrong bytes",
                self.wrong_bytes
            );
        }
        text
    }
}

/// What a search for the smallest limit has found, for people.
fn found(smallest: &Smallest, peak: u64) -> String {
    let of = |limit: u64| {
        format!(
            "{} ({limit} bytes), {:.4} x the peak",
            bytes(limit),
            limit as f64 / peak.max(1) as f64,
        )
    };
    let mut text = match smallest.limit {
        Some(limit) => format!("smallest limit {}\n", of(limit)),
        None => "smallest limit none: the trace does not fit the device\n".into(),
    };
    if !smallest.larger_failed.is_empty() {
        let failed = smallest.larger_failed.len() as u64;
        let _ = match smallest.safe_from {
            Some(limit) => writeln!(
                text,
                "         safe from {}: {} between the two failed",
                of(limit),
                count(failed, "limit")
            ),
            None => writeln!(
                text,
                "         {} failed, the last tried too",
                count(failed, "larger limit")
            ),
        };
    }
    let _ = writeln!(
        text,
        "         {} tried{}; nothing is said of those between them, nor of replays with kernels, which lag behind: none ran",
        count(smallest.tried.len() as u64, "limit"),
        if smallest.cut_short {
            ", and no time to try all around"
        } else {
            ""
        },
    );
    text
}

impl Report {
    /// Every result was right and nothing leaked.
    pub(super) fn verified(&self) -> bool {
        let replayed = self.replay.as_ref().is_none_or(|replay| replay.verified);
        let found = self.smallest.as_ref();
        let found = found.is_none_or(|smallest| smallest.limit.is_some());
        replayed && found && self.leaks.none()
    }

    /// Nothing is wrong, but the limit or the device is too small.
    fn refused(&self) -> bool {
        let replay = self.replay.as_ref();
        let smallest = self.smallest.as_ref();
        let refused = replay.is_some_and(|replay| replay.refused)
            || smallest.is_some_and(|smallest| smallest.limit.is_none());
        refused && self.leaks.none()
    }

    /// How the program ends.
    pub(super) fn exit(&self) -> Exit {
        match self.verified() {
            true => Exit::Done,
            false if self.refused() => Exit::Refused,
            false => Exit::Wrong,
        }
    }

    /// What is said at the end.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(replay) = &self.replay {
            text += &replay.text(self);
        }
        if let Some(smallest) = &self.smallest {
            text += &found(smallest, self.trace.peak);
        }
        text += &self.leaks.text();
        let word = match self.exit() {
            Exit::Refused => "refused: it does not fit",
            exit => verdict(exit == Exit::Done),
        };
        let _ = writeln!(text, "{word}");
        text
    }
}
