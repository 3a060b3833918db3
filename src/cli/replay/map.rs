//! `--map`: pictures of the pool's memory at its fullest, and at the first failure.
//!
//! They show the blocks that the replay has alive, and the pages that these are on; what the
//! pool keeps besides is in the notes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cupola::MemoryPool;
use cupola::picture::{Block, Picture, Region, State};
use cupola::trace::Trace;

use super::worker::{Observation, What};
use crate::cli::exit::Failure;
use crate::cli::output::bytes;

/// A block of the trace that is alive.
#[derive(Clone, Copy)]
struct Live {
    address: u64,
    bytes: u64,
    stream: u32,
    block: usize,
}

/// The pool at one operation.
struct Moment {
    operation: usize,
    live: Vec<Live>,
    notes: Vec<String>,
}

/// Follows a replay on one thread.
pub(super) struct Map<'t> {
    trace: &'t Trace,
    pool: MemoryPool,
    live: HashMap<usize, Live>,
    most: u64,
    fullest: Option<Moment>,
    failure: Option<Moment>,
}

impl<'t> Map<'t> {
    pub(super) fn new(trace: &'t Trace, pool: &MemoryPool) -> Self {
        Self {
            trace,
            pool: pool.clone(),
            live: HashMap::new(),
            most: 0,
            fullest: None,
            failure: None,
        }
    }

    /// Is told of each operation.
    pub(super) fn observe(&mut self, seen: Observation) {
        let operation = seen.operation;
        match seen.what {
            What::Allocated {
                address,
                bytes,
                stream,
            } => {
                let live = Live {
                    address,
                    bytes,
                    stream,
                    block: seen.block,
                };
                self.live.insert(seen.block, live);
                let mapped = self.pool.mapped();
                if mapped > self.most {
                    self.most = mapped;
                    self.fullest = Some(self.moment(operation, Vec::new()));
                }
            }
            What::Freed => drop(self.live.remove(&seen.block)),
            What::Failed { bytes: asked } if self.failure.is_none() => {
                let note = format!("an allocation of {} failed", bytes(asked));
                self.failure = Some(self.moment(operation, vec![note]));
            }
            What::Failed { .. } => {}
        }
    }

    fn moment(&self, operation: usize, mut notes: Vec<String>) -> Moment {
        notes.push(format!(
            "the pool has {} mapped, of a limit of {}",
            bytes(self.pool.mapped()),
            bytes(self.pool.limit()),
        ));
        Moment {
            operation,
            live: self.live.values().copied().collect(),
            notes,
        }
    }

    /// Writes the pictures: one of the fullest pool to `path`, and one of the first failure, if
    /// there was any, beside it. Returns which files there are.
    pub(super) fn write(self, path: &Path) -> Result<Vec<PathBuf>, Failure> {
        let beside = path.with_extension("failure.svg");
        let pictures = [
            ("most memory mapped", &self.fullest, path),
            ("first failure", &self.failure, &beside),
        ];
        let mut written = Vec::new();
        for (what, moment, path) in pictures {
            let Some(moment) = moment else {
                continue;
            };
            let picture = self.picture(what, moment);
            std::fs::write(path, picture.svg()).map_err(|error| Failure::file(path, error))?;
            written.push(path.to_owned());
        }
        Ok(written)
    }

    fn picture(&self, what: &str, moment: &Moment) -> Picture {
        let page = self.pool.page().max(1);
        let blocks: Vec<Block> = moment
            .live
            .iter()
            .map(|live| Block {
                range: live.address..live.address + live.bytes,
                state: State::Live,
                stream: live.stream.into(),
                label: self.trace.site(live.block).unwrap_or("").to_owned(),
            })
            .collect();
        // A page that a live block is on is mapped.
        let pages = blocks.iter().filter(|block| !block.range.is_empty());
        let pages = pages.map(|block| {
            let range = &block.range;
            range.start / page * page..range.end.next_multiple_of(page)
        });
        let mapped: Vec<_> = pages.collect();
        let base = mapped.iter().map(|range| range.start).min().unwrap_or(0);
        let end = mapped.iter().map(|range| range.end).max().unwrap_or(0);
        Picture {
            title: format!("{what}, at operation {}", moment.operation),
            notes: moment.notes.clone(),
            regions: vec![Region {
                name: "pages of live blocks".into(),
                base,
                bytes: end - base,
                mapped,
                blocks,
            }],
        }
    }
}
