//! What a trace's file holds and a trace cannot, beside figures of the trace.

use cupola_cli::trace::Ignored;
use serde::Serialize;

/// Fields of a report.
#[derive(Debug, Serialize)]
pub(crate) struct IgnoredReport {
    older_blocks: u64,
    older_bytes: u64,
    recorded_failures: u64,
    events_of_other_devices: u64,
    empty_allocations: u64,
    #[serde(skip)]
    lines: Vec<String>,
}

impl From<Ignored> for IgnoredReport {
    fn from(ignored: Ignored) -> Self {
        Self {
            older_blocks: ignored.older_blocks,
            older_bytes: ignored.older_bytes,
            recorded_failures: ignored.failures,
            events_of_other_devices: ignored.other_devices,
            empty_allocations: ignored.empty,
            lines: ignored.lines(),
        }
    }
}

impl IgnoredReport {
    /// Lines that follow the one about the trace; none if all of it was replayed.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.iter();
        lines
            .map(|line| format!("         NOT REPLAYED: {line}\n"))
            .collect()
    }
}
