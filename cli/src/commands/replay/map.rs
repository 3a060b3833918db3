//! `--map`: pictures of the pool's memory at its fullest, and at the first failure.
//!
//! They show what the pool's layout has at that moment: pages with memory, what is alive, what is
//! freed and perhaps in use, and what threads keep. A layout takes as long as there are blocks. So
//! there is none of every page that the pool grows by: it is drawn when it has grown and something
//! is freed next, and after some pictures only when it has grown by a part.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cupola::MemoryPool;
use cupola::managers::pool::Layout;
use cupola_cli::picture::Picture;
use cupola_cli::trace::Trace;

use super::worker::{Observation, What};
use crate::commands::destination::Destination;
use crate::commands::exit::Failure;
use crate::commands::output::bytes;

/// So many pictures are drawn of pools that have grown at all.
const ALL: usize = 128;

/// After those, the pool must have grown by one part in so many.
const PARTS: u64 = 64;

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
    /// The last operation that was told of.
    last: usize,
    /// The most bytes mapped, and behind which operation.
    most: (u64, usize),
    /// As many are in the picture of the fullest pool.
    drawn: u64,
    /// There is more now than in that picture.
    due: bool,
    /// How often it was drawn.
    drawings: usize,
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
            last: 0,
            most: (0, 0),
            drawn: 0,
            due: false,
            drawings: 0,
            fullest: None,
            failure: None,
        }
    }

    /// Is told before and after each operation.
    pub(super) fn observe(&mut self, seen: Observation) {
        match seen.what {
            What::Asks { bytes } => {
                // At the limit a pool may unmap what it has.
                if self.pool.mapped().saturating_add(bytes) > self.pool.limit() {
                    self.draw();
                }
            }
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
                self.grown(seen.operation);
            }
            What::Frees => {
                self.draw();
                self.live.remove(&seen.block);
            }
            What::Failed { bytes: asked } if self.failure.is_none() => {
                let note = format!("an allocation of {} failed", bytes(asked));
                self.failure = self.moment(seen.operation, vec![note]);
            }
            What::Failed { .. } => {}
            What::Ended => self.draw(),
        }
        self.last = seen.operation;
    }

    /// Looks whether the pool is fuller than in its picture.
    fn grown(&mut self, operation: usize) {
        let mapped = self.pool.mapped();
        if mapped > self.most.0 {
            self.most = (mapped, operation);
        }
        let more = mapped.saturating_sub(self.drawn);
        self.due = more > 0 && (self.drawings < ALL || more >= self.drawn / PARTS);
    }

    /// Draws the pool if it is fuller than in its picture.
    fn draw(&mut self) {
        let mapped = self.pool.mapped();
        if std::mem::take(&mut self.due) && mapped > self.drawn {
            self.drawings += 1;
            self.drawn = mapped;
            self.fullest = self.moment(self.last, Vec::new());
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
        let (most, operation) = self.most;
        if let Some(fullest) = &mut self.fullest
            && self.drawn < most
        {
            let note = format!("the most was {}, at operation {operation}", bytes(most));
            fullest.notes.push(note);
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

#[cfg(all(test, feature = "sim"))]
mod tests {
    use cupola::{Cupola, PoolConfig, Select};

    use super::super::engine::{self, Settings};
    use super::*;

    /// Replays a trace, looks on, and checks what was seen.
    fn look(text: &str, check: impl FnOnce(&Map<'_>)) {
        let trace = Trace::read(text.as_bytes()).unwrap();
        let cupola = Cupola::open(Select::Software).unwrap();
        let context = cupola.device(0).unwrap().primary().unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 30)).unwrap();
        let streams = engine::streams(&context, &trace).unwrap();
        let settings = Settings {
            limit: 8 << 30,
            threads: 1,
            kernels: None,
            timed: false,
            realtime: false,
            stop: false,
            quiet: true,
        };
        let mut map = Map::new(&trace, &pool);
        let mut look = |seen| map.observe(seen);
        engine::run_in(&context, &pool, &streams, &trace, settings, Some(&mut look)).unwrap();
        assert!(map.most.0 > 0);
        check(&map);
    }

    /// Without it a pool that grows page by page was drawn at every page: a trace of 100 000
    /// blocks took 39 s.
    #[test]
    fn a_pool_is_drawn_when_it_has_grown_and_not_while_it_grows() {
        let blocks = (0..400).map(|block| format!("a {block} 5000000 0\n"));
        look(&blocks.collect::<String>(), |map| {
            assert_eq!(map.drawings, 1);
            assert_eq!(map.drawn, map.most.0);
            assert_eq!(map.fullest.as_ref().unwrap().live.len(), 400);
        });
        // Two steps up and one down.
        let teeth = (0..400).map(|block| {
            let (first, second) = (2 * block, 2 * block + 1);
            format!("a {first} 5000000 0\na {second} 5000000 0\nf {first}\n")
        });
        look(&teeth.collect::<String>(), |map| {
            assert!((ALL..2 * ALL).contains(&map.drawings), "{}", map.drawings);
            assert!(map.drawn >= map.most.0 - map.most.0 / PARTS);
        });
    }
}
