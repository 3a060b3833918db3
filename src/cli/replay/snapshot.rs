//! `--snapshot`: what the pool did, for PyTorch's memory viewer.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use cupola::managers::memory::history::Action;
use cupola::trace::snapshot::{Encoding, Frame, Snapshot};
use cupola::trace::{Operation, Trace};
use cupola::{Error, MemoryPool};

use crate::cli::exit::Failure;

/// Events beside allocations and frees that there is room for: what is mapped and unmapped.
const MAPPINGS: usize = 1 << 20;

/// Records a replay on one thread.
pub(super) struct Recorder<'a> {
    pool: MemoryPool,
    trace: &'a Trace,
    path: &'a Path,
}

impl<'a> Recorder<'a> {
    pub(super) fn start(
        pool: &MemoryPool,
        trace: &'a Trace,
        path: &'a Path,
    ) -> Result<Self, Error> {
        // What the program never freed is freed at the end.
        pool.record(2 * trace.blocks() + MAPPINGS)?;
        Ok(Self {
            pool: pool.clone(),
            trace,
            path,
        })
    }

    /// The replay is over.
    pub(super) fn write(self) -> Result<(), Failure> {
        let recording = self.pool.take_recording()?;
        let layout = self.pool.layout()?;
        // On one thread requests come in the order of the trace: each is its program's.
        let mut blocks = self
            .trace
            .operations()
            .iter()
            .filter_map(|step| match step {
                Operation::Allocate { block, .. } => Some(*block),
                Operation::Free { .. } => None,
            });
        let snapshot = Snapshot::of_pool(&recording, &layout, |event| {
            let block = match event.action {
                Action::Allocate | Action::Refuse => blocks.next(),
                // Nobody's but the replay's.
                _ => return Some(Vec::new()),
            };
            let site = block.and_then(|block| self.trace.site(block));
            Some(site.map(frame).into_iter().collect())
        });
        let encoding = match self.path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => Encoding::Json,
            _ => Encoding::Pickle,
        };
        let failed = |error| Failure::file(self.path, error);
        let file = File::create(self.path).map_err(failed)?;
        snapshot
            .write(BufWriter::new(file), encoding)
            .map_err(failed)
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
