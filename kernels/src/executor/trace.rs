//! `ExecutionTrace`: the executions that were timed, one row a stream.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cupola_managers::trace_events::{Argument, Span, TraceWriter, Track};

use super::times::{ExecutionTimes, Timing};

/// The executions that were timed, see [`Executor::trace`](super::Executor::trace).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionTrace {
    /// In the order in which they were put.
    pub executions: Vec<ExecutionTimes>,
    /// How many have not ended yet, or were lost with the context.
    pub unread: usize,
    /// How many were older than those that the executor remembers.
    pub forgotten: u64,
}

const GROUP: u32 = 1;

impl ExecutionTrace {
    /// Writes them in the trace event format (JSON), for <https://ui.perfetto.dev> or
    /// `chrome://tracing`: a row for each stream, on which an execution is a slice. Times are those of
    /// the host's clock, from when the executor was made.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_chrome_trace(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut rows: Vec<u64> = (self.executions.iter()).map(|times| times.stream).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut trace = TraceWriter::begin(to)?;
        trace.name_group(GROUP, "executions, by stream")?;
        for (row, stream) in rows.iter().enumerate() {
            trace.name_row(track(row), &format!("stream {stream}"))?;
        }
        // Slices of a row must not overlap. Those of one stream do not, but by the rounding of times
        // from two anchors.
        let mut ends = vec![0.0_f64; rows.len()];
        let mut in_order: Vec<_> = self.executions.iter().collect();
        in_order.sort_by_key(|times| times.begun);
        for times in in_order {
            let row = rows.partition_point(|&stream| stream < times.stream);
            let begun = milliseconds(times.begun);
            let start = begun.max(ends[row]);
            let end = (begun + milliseconds(times.execute)).max(start);
            ends[row] = end;
            let arguments = [
                Argument::Number("queue wait in us", microseconds(times.queue_wait)),
                Argument::Number("launch in us", microseconds(times.launch)),
                Argument::Number("put at us", microseconds(times.put)),
            ];
            let span = Span { start, end };
            trace.slice(track(row), span, &times.label, None, &arguments)?;
        }
        trace.end()
    }
}

fn track(row: usize) -> Track {
    let (group, row) = (GROUP, row + 1);
    Track { group, row }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The executions that were timed last.
pub(super) struct Log {
    remembered: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    timings: VecDeque<Arc<Timing>>,
    forgotten: u64,
}

impl Log {
    pub(super) fn new(remembered: usize) -> Self {
        Self {
            remembered,
            kept: Mutex::default(),
        }
    }

    /// Adds one, in the place of the oldest if there are too many.
    pub(super) fn add(&self, timing: Arc<Timing>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.timings.push_back(timing);
        if kept.timings.len() > self.remembered {
            let oldest = kept.timings.pop_front();
            kept.forgotten += 1;
            // Its events go back without the lock.
            drop(kept);
            drop(oldest);
        }
    }

    pub(super) fn trace(&self) -> ExecutionTrace {
        let (timings, forgotten) = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            (Vec::from_iter(kept.timings.iter().cloned()), kept.forgotten)
        };
        let read = timings.iter().filter_map(|timing| timing.read_if_done());
        let executions: Vec<_> = read.collect();
        ExecutionTrace {
            unread: timings.len() - executions.len(),
            executions,
            forgotten,
        }
    }
}
