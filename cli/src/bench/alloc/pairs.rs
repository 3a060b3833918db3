//! Hot pairs: a block is allocated and freed, and nothing else is alive on its stream. On
//! one thread, and on several which share only the allocator: each has a stream of its own.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::allocator::Allocator;
use super::percentiles::{Point, Spread, since};
use super::{Error, names};
use crate::bench::Figures;
use crate::bench::rounds::Case;

/// Pairs between two looks at the clock.
const BATCH: u64 = 256;

/// The points of a pair's distribution.
const POINTS: &[Point] = &[Point::P50, Point::P99, Point::P99_9];

/// Pairs of `bytes` on each of `threads` threads, which have a stream each.
pub(super) fn case<A: Allocator>(
    work: &str,
    allocator: &Arc<A>,
    threads: usize,
    bytes: u64,
) -> Result<Case, Error> {
    on_streams(work, allocator, (threads, threads), bytes)
}

/// The same with so many streams for all threads together.
pub(super) fn on_streams<A: Allocator>(
    work: &str,
    allocator: &Arc<A>,
    (threads, streams): (usize, usize),
    bytes: u64,
) -> Result<Case, Error> {
    let name = names::row(work, &allocator.name());
    let allocator = Arc::clone(allocator);
    let streams: Result<Vec<_>, _> = (0..streams).map(|_| allocator.stream()).collect();
    let streams = streams?;
    let case = Case::new(name, threads, move |turn| {
        let mut ok = allocator.enter();
        let stream = &streams[turn.thread % streams.len()];
        let lap = turn.measure(|| {
            for _ in 0..BATCH {
                ok &= pair(&*allocator, black_box(bytes), stream);
            }
            BATCH
        });
        (ok && allocator.settle(stream)).then_some(lap)
    });
    Ok(case.by_clock())
}

/// Pairs of `bytes` on one thread, each on the next one of so many streams. They are there for a
/// sample: the allocators of other rows would look at them too.
pub(super) fn in_turn<A: Allocator>(
    work: &str,
    allocator: &Arc<A>,
    streams: usize,
    bytes: u64,
) -> Case {
    let name = names::row(work, &allocator.name());
    let allocator = Arc::clone(allocator);
    let case = Case::new(name, 1, move |turn| {
        let mut ok = allocator.enter();
        let streams: Result<Vec<_>, _> = (0..streams).map(|_| allocator.stream()).collect();
        let streams = streams.ok()?;
        let pairs = || {
            let each = streams.iter();
            each.fold(true, |ok, stream| {
                ok & pair(&*allocator, black_box(bytes), stream)
            })
        };
        // The first block of each stream is no hit.
        ok &= pairs();
        let lap = turn.measure(|| {
            ok &= pairs();
            streams.len() as u64
        });
        ok &= streams.iter().all(|stream| allocator.settle(stream));
        ok.then_some(lap)
    });
    case.by_clock()
}

#[inline]
fn pair<A: Allocator>(allocator: &A, bytes: u64, stream: &A::Stream) -> bool {
    let block = allocator.allocate(bytes, stream);
    black_box(block).is_some_and(|block| allocator.free(block, stream))
}

/// Takes single pairs for a time, and returns the nanoseconds of each without the clock.
type Sample = dyn Fn(Duration, u64) -> Option<Vec<u64>>;

/// The distribution of single pairs on one thread.
pub(super) struct Single {
    who: String,
    bytes: u64,
    spread: Spread,
    sample: Box<Sample>,
}

impl Single {
    pub(super) fn new<A: Allocator>(allocator: &Arc<A>, bytes: u64) -> Result<Self, Error> {
        let who = allocator.name();
        let allocator = Arc::clone(allocator);
        let stream = allocator.stream()?;
        let sample = move |time, clock| {
            let mut ok = allocator.enter();
            let mut times = Vec::with_capacity(1 << 16);
            let begin = Instant::now();
            while begin.elapsed() < time {
                for _ in 0..BATCH {
                    let start = Instant::now();
                    ok &= pair(&*allocator, black_box(bytes), &stream);
                    times.push(since(start, clock));
                }
            }
            (ok && allocator.settle(&stream)).then_some(times)
        };
        Ok(Self {
            who,
            bytes,
            spread: Spread::new(POINTS),
            sample: Box::new(sample),
        })
    }

    /// The size of its blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn row(&self, point: &str, who: &str) -> String {
        names::row(&format!("one {}, {point}", names::pair(self.bytes)), who)
    }

    /// Takes a round: pairs for about `time`, each without the `clock`. Returns how many.
    pub(super) fn round(&mut self, time: Duration, clock: u64) -> Result<usize, Error> {
        let times = (self.sample)(time, clock);
        let times = times.ok_or_else(|| Error::Wrong(self.row("all", &self.who)))?;
        let pairs = times.len();
        self.spread.add(times);
        Ok(pairs)
    }

    /// Forgets the rounds so far: they warmed up.
    pub(super) fn forget(&mut self) {
        self.spread = Spread::new(POINTS);
    }

    /// Adds the rows, compared with those of `ours`, which have the `bars`.
    pub(super) fn rows(
        &self,
        figures: &mut Figures,
        ours: &str,
        bars: &[(Point, f64)],
    ) -> Result<(), Error> {
        let reference = |point: &str| self.row(point, ours);
        let is_ours = self.who == ours;
        let against: Option<&dyn Fn(&str) -> String> =
            if is_ours { None } else { Some(&reference) };
        let bars = if is_ours { bars } else { &[] };
        let row = |point: &str| self.row(point, &self.who);
        self.spread.rows(figures, row, against, bars)
    }
}
