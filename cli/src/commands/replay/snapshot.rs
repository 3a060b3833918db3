//! `--snapshot`: what the pool did, for PyTorch's memory viewer.

use cupola::managers::pool::history::{Action, Event};
use cupola::{Error, MemoryPool};
use cupola_cli::trace::Trace;
use cupola_cli::trace::snapshot::{Encoding, Frame, Snapshot};

use super::report::SnapshotReport;
use crate::commands::destination::Destination;
use crate::commands::exit::Failure;

/// Events beside allocations and frees that there is room for: what is mapped and unmapped.
const MAPPINGS: usize = 1 << 20;

/// Records a replay on one thread.
pub(super) struct Recorder<'a> {
    pool: MemoryPool,
    trace: &'a Trace,
    file: &'a Destination,
}

impl<'a> Recorder<'a> {
    pub(super) fn start(
        pool: &MemoryPool,
        trace: &'a Trace,
        file: &'a Destination,
    ) -> Result<Self, Error> {
        // What the program never freed is freed at the end.
        Self::with_room(2 * trace.blocks() + MAPPINGS, pool, trace, file)
    }

    /// Records the last `events` events.
    fn with_room(
        events: usize,
        pool: &MemoryPool,
        trace: &'a Trace,
        file: &'a Destination,
    ) -> Result<Self, Error> {
        pool.record(events)?;
        Ok(Self {
            pool: pool.clone(),
            trace,
            file,
        })
    }

    /// The replay is over.
    pub(super) fn write(self) -> Result<SnapshotReport, Failure> {
        let recording = self.pool.take_recording()?;
        let layout = self.pool.layout()?;
        // On one thread requests come in the order of the trace, one for each of its blocks. The
        // oldest may be gone: it is counted from the end.
        let is_request = |event: &Event| matches!(event.action, Action::Allocate | Action::Refuse);
        let kept = recording.events.iter().filter(|event| is_request(event));
        let mut blocks = self.trace.blocks().saturating_sub(kept.count())..self.trace.blocks();
        let snapshot = Snapshot::of_pool(&recording, &layout, |event| {
            if !is_request(event) {
                // The replay's own, of no request.
                return Some(Vec::new());
            }
            let site = blocks.next().and_then(|block| self.trace.site(block));
            Some(site.map(frame).into_iter().collect())
        });
        let encoding = match self.file.path().extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => Encoding::Json,
            _ => Encoding::Pickle,
        };
        self.file.write(|to| snapshot.write(to, encoding))?;
        Ok(SnapshotReport {
            file: self.file.path().to_owned(),
            events: recording.events.len(),
            dropped: recording.dropped,
        })
    }
}

/// A call site as a trace has it, `file:line function`.
fn frame(site: &str) -> Frame {
    let (place, name) = site.split_once(' ').unwrap_or((site, ""));
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    Frame {
        filename: file.to_owned(),
        name: name.to_owned(),
        line: line.parse().unwrap_or_default(),
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use cupola::{Cupola, PoolConfig, Select, StreamConfig};

    use super::*;

    /// Without it the lines of a file could be those of other blocks: as many blocks on as there
    /// was no room for.
    #[test]
    fn call_sites_are_those_of_the_events_that_are_left() {
        let events: Vec<_> = (0..9)
            .map(|block| {
                let frame = serde_json::json!({"filename": "a.py", "name": "f", "line": block});
                serde_json::json!({
                    "action": "alloc", "addr": 4096 * (block + 1), "size": 512, "stream": 0,
                    "frames": [frame],
                })
            })
            .collect();
        let text = serde_json::json!({"device_traces": [events]}).to_string();
        let trace = Trace::read(text.as_bytes()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let file = Destination::new(&path).unwrap();

        let cupola = Cupola::open(Select::Software).unwrap();
        let context = cupola.device(0).unwrap().primary().unwrap();
        let pool = context.memory_pool(PoolConfig::limit(4 << 20)).unwrap();
        let stream = context.streams().create(StreamConfig::default()).unwrap();
        let recorder = Recorder::with_room(4, &pool, &trace, &file).unwrap();
        let blocks: Vec<_> = (0..trace.blocks())
            .map(|_| pool.allocate::<u8>(512, &stream).unwrap())
            .collect();
        let report = recorder.write().unwrap();
        assert_eq!(report.events, 4);
        // The page that was mapped, and five blocks.
        assert!(report.dropped >= 5, "{}", report.dropped);
        drop(blocks);

        let written: serde_json::Value =
            serde_json::from_reader(std::fs::File::open(&path).unwrap()).unwrap();
        let events = written["device_traces"][0].as_array().unwrap();
        let lines = events
            .iter()
            .map(|event| event["frames"][0]["line"].as_u64());
        assert_eq!(lines.collect::<Vec<_>>(), [5, 6, 7, 8].map(Some));
    }
}
