//! Device memory: what allocating and freeing a block costs, beside the driver's own
//! stream-ordered allocator, cudarc (feature `peers`) and, from what their programs printed,
//! RMM and PyTorch.
//!
//! Every row is the median over rounds, and every allocator has its turn in each round, so
//! that whatever else the machine does concerns all of them. All figures are by the clock, no
//! sample is left out, and the blocks of the rows with many live ones are checked for overlap.

mod allocator;
#[cfg(feature = "peers")]
mod cudarc;
mod driver;
mod exchange;
mod external;
mod hits;
mod hopeless;
mod live;
mod names;
mod notes;
mod ours;
mod pairs;
mod percentiles;
mod replay;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cupola_managers::Device;
use cupola_sys::driver::DriverError;

use super::Figures;
use super::rounds::{Case, Wrong, measure};
use super::traces::{self, Problem};
use crate::trace::{Trace, TraceError};
use allocator::{Allocator, Fresh};
use driver::DriverPool;
use exchange::Place;
use notes::notes;
use ours::Raw;
use pairs::Single;
use percentiles::Point;
use replay::Replay;

/// Whose rows all others are compared with.
const OURS: &str = ours::RAW;

/// Rounds, unless told.
pub const ROUNDS: usize = 15;

/// Rounds of a trace: it is long, and each of its rounds is twice the trace.
const TRACE_ROUNDS: usize = 3;

/// Time that a sample takes, unless told.
pub const SAMPLE: Duration = Duration::from_millis(20);

/// Operations of a trace that are enough to see that everything works.
const QUICK_OPERATIONS: usize = 2_000;

/// What a hot pair of ours is meant to take at most, in nanoseconds.
const PAIR: f64 = 30.0;
/// The slowest in a hundred of them.
const PAIR_P99: f64 = 100.0;
/// A hot pair of a `Buffer`.
const BUFFER_PAIR: f64 = 20.0;
/// Streams that one thread goes through.
const STREAMS: usize = 256;
/// A pair on each of them in turn.
const IN_TURN: f64 = 40.0;
/// A step among many live blocks.
const LIVE: f64 = 100.0;
/// The threads of the two bars below.
const BAR_THREADS: usize = 16;
/// Millions of pairs a second that as many threads are meant to do at least.
const THREADS_RATE: f64 = 200.0;
/// The same when each frees what another one has allocated.
const EXCHANGE_RATE: f64 = 50.0;

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] cupola_managers::Error),
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A call of a row failed, or blocks overlap.
    #[error("{0}: a call failed, or a result is wrong")]
    Wrong(String),
    /// A peer failed.
    #[error("{0}: {1}")]
    Peer(&'static str, String),
    /// A trace cannot be read.
    #[error("{0}: {1}")]
    Trace(String, TraceError),
    /// Two traces have the same name, and rows are told apart by it.
    #[error("two traces are called {0:?}, and their rows would be too")]
    SameName(String),
    /// What a peer's program printed cannot be read.
    #[error("{}: {}", .0.display(), .1)]
    Output(PathBuf, std::io::Error),
}

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Samples of each row.
    pub rounds: usize,
    /// Time that a sample takes.
    pub sample: Duration,
    /// Most threads: there are rows of 1, 4 and as many, and of as many that free each
    /// other's blocks.
    pub threads: usize,
    /// Files with allocation traces; the bundled one if there are none.
    pub traces: Vec<PathBuf>,
    /// Files with what the programs of peers printed in the same run.
    pub peer_output: Vec<PathBuf>,
    /// Only the beginning of each trace, once.
    pub quick: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: ROUNDS,
            sample: SAMPLE,
            threads: BAR_THREADS,
            traces: Vec::new(),
            peer_output: Vec::new(),
            quick: false,
        }
    }
}

impl Options {
    /// One short sample of each row: figures mean nothing.
    #[must_use]
    pub fn quick(self) -> Self {
        Self {
            rounds: 1,
            sample: Duration::from_millis(1),
            quick: true,
            ..self
        }
    }

    /// 1, 4 and all threads, as far as there are as many.
    fn thread_counts(&self) -> Vec<usize> {
        let mut counts = vec![1, 4, self.threads];
        counts.retain(|count| *count <= self.threads);
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// As [`thread_counts`](Self::thread_counts), without one.
    fn several(&self) -> Vec<usize> {
        let mut counts = self.thread_counts();
        counts.retain(|count| *count > 1);
        counts
    }

    /// Threads of the rows that hand over: an even number; none where there are no two.
    fn partners(&self) -> Option<usize> {
        (self.threads > 1).then_some(self.threads & !1)
    }

    fn traces(&self) -> Result<Vec<(String, Trace)>, Error> {
        let found = if self.traces.is_empty() {
            traces::bundled().map(|trace| vec![trace])
        } else {
            traces::read(&self.traces, false)
        };
        found.map_err(|problem| match problem {
            Problem::Unread(name, error) => Error::Trace(name, error),
            Problem::Alike(name) => Error::SameName(name),
        })
    }
}

/// Measures on `device`.
///
/// # Errors
/// The device or a peer failed, or a file cannot be read.
pub fn run(device: &Device, name: String, options: &Options) -> Result<Figures, Error> {
    // Before anything takes time.
    let traces = options.traces()?;
    device.primary()?.make_current()?;
    let mut figures = Figures::new("alloc", name);
    figures.notes = notes(options);
    figures.notes.extend(traces::lacks(&traces));
    let ours = Arc::new(Raw::new(device)?);
    let typed = Arc::new(ours.typed());
    let driver = Arc::new(DriverPool::new(device)?);

    let mut rows = Rows::new(options);
    rows.room = device.info()?.total_memory / 4;
    rows.add(&ours, &Place::ALL)?;
    rows.add(&typed, &[Place::Home])?;
    rows.add(&driver, &[Place::Home])?;
    rows.misses(&ours)?;
    rows.misses(&driver)?;
    figures.notes.extend(rows.without_misses());
    #[cfg(feature = "peers")]
    if super::is_system_driver(device)? {
        for peer in cudarc::Cudarc::both(device)? {
            rows.add(&Arc::new(peer), &[])?;
        }
    } else {
        let note = "without cudarc's rows: it takes the system's driver only";
        figures.notes.push(note.into());
    }
    #[cfg(not(feature = "peers"))]
    figures
        .notes
        .push("without cudarc: build with --features peers".into());
    rows.measure(&mut figures)?;
    hits::rows(&mut figures, &ours)?;
    let sample = (options.rounds, options.sample);
    hopeless::rows(&mut figures, &ours, sample)?;

    replays(&mut figures, &traces, &ours, &driver, options)?;
    let room = device.info()?.total_memory / 8 * 7;
    for trace in &traces {
        replays_on_threads(&mut figures, trace, (&ours, &driver), options, room)?;
    }
    for path in &options.peer_output {
        external::rows(&mut figures, path, OURS)?;
    }
    bars(&mut figures, options);
    Ok(figures)
}

/// The rows of all allocators.
struct Rows<'o> {
    options: &'o Options,
    /// Bytes that what is alive in a row of many blocks may have.
    room: u64,
    /// The cases of each kind of work.
    cases: Vec<(String, Vec<Case>)>,
    singles: Vec<Single>,
}

impl<'o> Rows<'o> {
    fn new(options: &'o Options) -> Self {
        Self {
            options,
            room: 0,
            cases: Vec::new(),
            singles: Vec::new(),
        }
    }

    /// Adds the rows of `allocator`. The first one is what the others are compared with.
    fn add<A: Allocator>(&mut self, allocator: &Arc<A>, places: &[Place]) -> Result<(), Error> {
        for bytes in names::SIZES {
            let work = names::pair(bytes);
            let case = pairs::case(&work, allocator, 1, bytes)?;
            self.push(work, case);
            self.singles.push(Single::new(allocator, bytes)?);
        }
        self.push(names::live(), live::case(allocator)?);
        for bytes in names::SIZES {
            let alone = names::row(&names::threads(1, bytes), &allocator.name());
            for threads in self.options.thread_counts() {
                let work = names::threads(threads, bytes);
                let case = pairs::case(&work, allocator, threads, bytes)?;
                let case = if threads > 1 {
                    case.alone(alone.clone())
                } else {
                    case
                };
                self.push(work, case);
            }
        }
        for bytes in names::SIZES {
            let work = names::in_turn(STREAMS, bytes);
            let case = pairs::in_turn(&work, allocator, STREAMS, bytes);
            self.push(work, case);
        }
        let Some(threads) = self.options.partners() else {
            return Ok(());
        };
        for bytes in names::SIZES {
            let work = names::one_stream(2, bytes);
            let case = pairs::on_streams(&work, allocator, (2, 1), bytes)?;
            self.push(work, case);
        }
        for place in places {
            for bytes in names::SIZES {
                let work = names::exchange(threads, bytes, place.name());
                self.push(work, exchange::case(allocator, threads, bytes, *place)?);
            }
        }
        Ok(())
    }

    /// Adds the rows of several threads that miss.
    fn misses<A: Allocator>(&mut self, allocator: &Arc<A>) -> Result<(), Error> {
        for threads in self.options.several() {
            let Some(each) = live::each(self.room, threads) else {
                continue;
            };
            let case = live::misses(allocator, threads, each)?;
            self.push(names::misses(threads, each), case);
        }
        Ok(())
    }

    /// Which of the rows of several threads that miss there are none of, and why.
    fn without_misses(&self) -> Vec<String> {
        let counts = self.options.several().into_iter();
        let without = counts.filter(|&threads| live::each(self.room, threads).is_none());
        without
            .map(|threads| {
                format!(
                    "without live blocks of {threads} threads: the device has too little memory"
                )
            })
            .collect()
    }

    /// Adds the case to those that do the same work.
    fn push(&mut self, work: String, case: Case) {
        let case = case.against(names::row(&work, OURS));
        match self.cases.iter_mut().find(|(known, _)| *known == work) {
            Some((_, cases)) => cases.push(case),
            None => self.cases.push((work, vec![case])),
        }
    }

    fn measure(mut self, figures: &mut Figures) -> Result<(), Error> {
        let Options { rounds, sample, .. } = *self.options;
        if let Some(threads) = self.options.partners() {
            let alone = exchange::alone(threads)?;
            self.cases.push((exchange::ALONE.into(), vec![alone]));
        }
        let cases = self.cases.into_iter().flat_map(|(_, cases)| cases);
        measure(figures, cases.collect(), rounds, sample)
            .map_err(|Wrong(row)| Error::Wrong(row))?;
        self.singles.sort_by_key(Single::bytes);
        for round in 0..=rounds {
            for single in &mut self.singles {
                single.round(sample, percentiles::clock())?;
                if round == 0 {
                    single.forget();
                }
            }
        }
        for single in &self.singles {
            single.rows(figures, OURS, &[(Point::P50, PAIR), (Point::P99, PAIR_P99)])?;
        }
        Ok(())
    }
}

fn replays(
    figures: &mut Figures,
    traces: &[(String, Trace)],
    ours: &Raw,
    driver: &DriverPool,
    options: &Options,
) -> Result<(), Error> {
    // What the rows before this one have mapped is not in the way.
    ours.trim()?;
    driver.trim()?;
    let operations = if options.quick {
        QUICK_OPERATIONS
    } else {
        usize::MAX
    };
    for trace in traces {
        let mut replays = [
            Replay::new(ours.clone(), trace, operations),
            Replay::new(driver.clone(), trace, operations),
        ];
        for _ in 0..options.rounds.min(TRACE_ROUNDS) {
            for replay in &mut replays {
                replay.round(percentiles::clock())?;
            }
        }
        for replay in &replays {
            replay.rows(figures, OURS)?;
        }
    }
    Ok(())
}

/// A trace on several threads, as far as the device has as much memory.
fn replays_on_threads(
    figures: &mut Figures,
    (name, trace): &(String, Trace),
    (ours, driver): (&Raw, &DriverPool),
    options: &Options,
    room: u64,
) -> Result<(), Error> {
    let operations = if options.quick {
        QUICK_OPERATIONS
    } else {
        usize::MAX
    };
    for threads in options.several() {
        let work = names::replay_on(name, threads);
        if trace.peak_bytes().saturating_mul(threads as u64) > room {
            let note = format!("without {work}: the device has too little memory");
            figures.notes.push(note);
            continue;
        }
        let rows = [ours.name(), driver.name()].map(|who| names::row(&work, &who));
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..options.rounds.min(TRACE_ROUNDS) {
            let taken = [
                replay::on_threads(ours, trace, operations, threads)?,
                replay::on_threads(driver, trace, operations, threads)?,
            ];
            for ((times, taken), row) in times.iter_mut().zip(taken).zip(&rows) {
                times.push(taken.ok_or_else(|| Error::Wrong(row.clone()))?);
            }
        }
        for (row, times) in rows.iter().zip(&times) {
            let against = (*row != rows[0]).then_some(rows[0].as_str());
            let row = figures.push(row, "ns", times, against);
            row.million_per_second = Some(threads as f64 * 1e3 / row.median);
        }
    }
    Ok(())
}

/// Says of our rows what they are meant to reach.
fn bars(figures: &mut Figures, options: &Options) {
    let mut want = |work: &str, who: &str, most: f64| {
        let name = names::row(work, who);
        if let Some(row) = figures.rows.iter_mut().find(|row| row.name == name) {
            row.want(most);
        }
    };
    want(&names::live(), OURS, LIVE);
    for bytes in names::SIZES {
        want(&names::pair(bytes), OURS, PAIR);
        want(&names::pair(bytes), ours::TYPED, BUFFER_PAIR);
        want(&names::in_turn(STREAMS, bytes), OURS, IN_TURN);
        if options.threads != BAR_THREADS {
            continue;
        }
        // So many nanoseconds a pair, on each thread.
        let time = |rate: f64| BAR_THREADS as f64 * 1e3 / rate;
        want(
            &names::threads(BAR_THREADS, bytes),
            OURS,
            time(THREADS_RATE),
        );
        for place in Place::ALL {
            let work = names::exchange(BAR_THREADS, bytes, place.name());
            want(&work, OURS, time(EXCHANGE_RATE));
        }
    }
}
