//! `--map`: pictures of the pool's memory at its fullest, and at the first failure.
//!
//! They show what the pool's layout has at that moment: pages with memory, what is alive, what is
//! freed and perhaps in use, and what threads keep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cupola::MemoryPool;
use cupola::managers::memory::Layout;
use cupola::picture::Picture;
use cupola::trace::Trace;

use super::worker::{Observation, What};
use crate::cli::destination::Destination;
use crate::cli::exit::Failure;
use crate::cli::output::bytes;

/// Where the pictures go.
pub(super) struct MapFiles {
    fullest: Destination,
    /// `None` where there is no file to be beside.
    failure: Option<Destination>,
}

impl MapFiles {
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let fullest = Destination::new(path)?;
        let failure = fullest.beside("failure.svg")?;
        Ok(Self { fullest, failure })
    }

    /// What it writes, with the option that asks for it.
    pub(super) fn destinations(&self) -> Vec<(&'static str, Option<&Destination>)> {
        vec![
            ("--map", Some(&self.fullest)),
            ("--map (the picture of a failure)", self.failure.as_ref()),
        ]
    }
}

/// A block of the trace that is alive.
#[derive(Clone, Copy)]
struct Live {
    address: u64,
    stream: u32,
    block: usize,
}

/// The pool at one operation.
struct Moment {
    operation: usize,
    layout: Layout,
    live: Vec<Live>,
    notes: Vec<String>,
}

/// Follows a replay on one thread.
pub(super) struct Map<'t> {
    trace: &'t Trace,
    pool: MemoryPool,
    live: HashMap<usize, Live>,
    /// The trace's streams by their numbers in the pool.
    streams: HashMap<u64, u32>,
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
            streams: HashMap::new(),
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
                stream,
                serial,
            } => {
                let live = Live {
                    address,
                    stream,
                    block: seen.block,
                };
                self.live.insert(seen.block, live);
                self.streams.insert(serial, stream);
                let mapped = self.pool.mapped();
                if mapped > self.most {
                    self.most = mapped;
                    self.fullest = self.moment(operation, Vec::new());
                }
            }
            What::Freed => drop(self.live.remove(&seen.block)),
            What::Failed { bytes: asked } if self.failure.is_none() => {
                let note = format!("an allocation of {} failed", bytes(asked));
                self.failure = self.moment(operation, vec![note]);
            }
            What::Failed { .. } => {}
        }
    }

    /// `None` when the pool cannot be looked at, in the child of a fork.
    fn moment(&self, operation: usize, mut notes: Vec<String>) -> Option<Moment> {
        let layout = self.pool.layout().ok()?;
        notes.push(format!(
            "the pool has {} mapped, of a limit of {}",
            bytes(layout.mapped),
            bytes(layout.limit),
        ));
        Some(Moment {
            operation,
            layout,
            live: self.live.values().copied().collect(),
            notes,
        })
    }

    /// Writes the pictures: one of the fullest pool, and one of the first failure, if there was
    /// any. Says in `written` which files there are.
    pub(super) fn write(
        mut self,
        files: &MapFiles,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Failure> {
        if self.fullest.is_none() {
            // Nothing was ever mapped: it is as full now as at the beginning.
            self.fullest = self.moment(0, Vec::new());
        }
        let pictures = [
            ("most memory mapped", &self.fullest, Some(&files.fullest)),
            ("first failure", &self.failure, files.failure.as_ref()),
        ];
        for (what, moment, file) in pictures {
            let (Some(moment), Some(file)) = (moment, file) else {
                continue;
            };
            let picture = self.picture(what, moment).svg();
            file.write(|to| to.write_all(picture.as_bytes()))?;
            written.push(file.path().to_owned());
        }
        Ok(())
    }

    fn picture(&self, what: &str, moment: &Moment) -> Picture {
        // The trace's numbers of streams, and who asked, where the trace knows.
        let live = moment.live.iter().map(|live| (live.address, live));
        let live: HashMap<u64, &Live> = live.collect();
        let picture = Picture::of_pool(&moment.layout, |piece| match live.get(&piece.address) {
            Some(live) => {
                let site = self.trace.site(live.block);
                (Some(live.stream.into()), site.unwrap_or("").to_owned())
            }
            None => {
                let stream = self.streams.get(&piece.stream).copied();
                (stream.map(Into::into), String::new())
            }
        });
        Picture {
            title: format!("{what}, at operation {}", moment.operation),
            notes: moment.notes.clone(),
            ..picture
        }
    }
}
