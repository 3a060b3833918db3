//! Real programs: how long each allocation and each free of a trace takes, from an allocator
//! with nothing mapped to its last operation, what has to map memory included.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::allocator::{Allocator, Fresh};
use super::percentiles::{Point, Spread, since};
use super::{Error, names};
use crate::bench::Figures;
use crate::trace::{Operation, Trace};

/// The points of the distributions.
const POINTS: &[Point] = &[
    Point::P50,
    Point::P90,
    Point::P99,
    Point::P99_9,
    Point::P99_99,
    Point::Max,
];

/// What ours are meant to be at most, in nanoseconds: allocations, frees.
const BARS: [(Point, f64); 2] = [(Point::P99_99, 1e6), (Point::P99_99, 0.5e6)];

/// The two kinds of operations.
const KINDS: [&str; 2] = ["allocate", "free"];

/// What a round of a trace gave.
struct Round {
    /// Nanoseconds of each allocation, and of each free, measured one by one.
    times: [Vec<u64>; 2],
    /// Nanoseconds of an operation when they are not measured one by one.
    operation: f64,
}

/// One trace through one allocator.
pub(super) struct Replay<'t> {
    who: String,
    trace: &'t str,
    spreads: [Spread; 2],
    operation: Vec<f64>,
    round: Box<dyn Fn(u64) -> Result<Option<Round>, Error> + 't>,
}

impl<'t> Replay<'t> {
    /// The first `operations` of `trace`.
    pub(super) fn new<A: Fresh>(
        allocator: A,
        (name, trace): &'t (String, Trace),
        operations: usize,
    ) -> Self {
        let operations = operations.min(trace.operations().len());
        let who = allocator.name();
        let round = move |clock| {
            let operations = &trace.operations()[..operations];
            let times = once(&allocator, trace, |run| run.timed(operations, clock))?;
            // What the first run has mapped does not help the second one.
            let operation = once(&allocator, trace, |run| run.whole(operations))?;
            let both = times.zip(operation);
            Ok(both.map(|(times, operation)| Round { times, operation }))
        };
        Self {
            who,
            trace: name,
            spreads: [Spread::new(POINTS), Spread::new(POINTS)],
            operation: Vec::new(),
            round: Box::new(round),
        }
    }

    /// Takes a round.
    pub(super) fn round(&mut self, clock: u64) -> Result<(), Error> {
        let round = (self.round)(clock)?;
        let row = || names::row(&names::replay(self.trace), &self.who);
        let round = round.ok_or_else(|| Error::Wrong(row()))?;
        for (spread, times) in self.spreads.iter_mut().zip(round.times) {
            spread.add(times);
        }
        self.operation.push(round.operation);
        Ok(())
    }

    /// Adds the rows, compared with those of `ours`, which have the bars.
    pub(super) fn rows(&self, figures: &mut Figures, ours: &str) -> Result<(), Error> {
        let is_ours = self.who == ours;
        let work = names::replay(self.trace);
        let reference = names::row(&work, ours);
        let against = (!is_ours).then_some(reference.as_str());
        figures.push(
            &names::row(&work, &self.who),
            "ns",
            &self.operation,
            against,
        );
        for ((kind, spread), bar) in KINDS.into_iter().zip(&self.spreads).zip(BARS) {
            // A trace may free nothing.
            if spread.is_empty() {
                continue;
            }
            let row = |point: &str, who: &str| {
                names::row(&names::operation(self.trace, kind, point), who)
            };
            let reference = |point: &str| row(point, ours);
            let against: Option<&dyn Fn(&str) -> String> =
                if is_ours { None } else { Some(&reference) };
            let bars = if is_ours { &[bar][..] } else { &[] };
            spread.rows(figures, |point| row(point, &self.who), against, bars)?;
        }
        Ok(())
    }
}

/// Replays `trace` from an allocator with nothing mapped, and leaves nothing mapped.
fn once<A: Fresh, T>(
    allocator: &A,
    trace: &Trace,
    replay: impl FnOnce(Run<'_, A>) -> Option<T>,
) -> Result<Option<T>, Error> {
    let allocator = allocator.fresh()?;
    let result = replay(Run::new(&allocator, trace)?);
    allocator.trim()?;
    Ok(result)
}

/// Nanoseconds of an operation where `threads` threads replay a trace at the same time, each on
/// streams of its own: of the slowest thread. `None` when one failed.
pub(super) fn on_threads<A: Fresh>(
    allocator: &A,
    trace: &Trace,
    operations: usize,
    threads: usize,
) -> Result<Option<f64>, Error> {
    let operations = &trace.operations()[..operations.min(trace.operations().len())];
    let allocator = allocator.fresh()?;
    let runs: Result<Vec<_>, _> = (0..threads).map(|_| Run::new(&allocator, trace)).collect();
    let gate = Barrier::new(threads);
    let runs = runs?.into_iter();
    let replay = |run: Run<'_, A>| {
        gate.wait();
        run.whole(operations)
    };
    let replay = &replay;
    let times: Option<Vec<f64>> = thread::scope(|scope| {
        let threads: Vec<_> = runs.map(|run| scope.spawn(move || replay(run))).collect();
        let times = threads.into_iter().map(|thread| thread.join().ok()?);
        times.collect()
    });
    allocator.trim()?;
    Ok(times.and_then(|times| times.into_iter().max_by(f64::total_cmp)))
}

/// Blocks and streams of one replay.
struct Run<'r, A: Allocator> {
    allocator: &'r A,
    streams: Vec<A::Stream>,
    blocks: Vec<Option<(A::Block, usize)>>,
}

impl<'r, A: Allocator> Run<'r, A> {
    fn new(allocator: &'r A, trace: &Trace) -> Result<Self, Error> {
        let streams = trace.operations().iter().map(|operation| match operation {
            Operation::Allocate { stream, .. } => *stream as usize + 1,
            Operation::Free { .. } => 1,
        });
        let streams: Result<Vec<_>, _> = (0..streams.max().unwrap_or(1))
            .map(|_| allocator.stream())
            .collect();
        let blocks = std::iter::repeat_with(|| None).take(trace.blocks());
        Ok(Self {
            allocator,
            streams: streams?,
            blocks: blocks.collect(),
        })
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> bool {
        match operation {
            Operation::Allocate {
                block,
                bytes,
                stream,
            } => {
                let stream = stream as usize;
                let made = self.allocator.allocate(bytes.max(1), &self.streams[stream]);
                self.blocks[block] = made.map(|made| (made, stream));
                self.blocks[block].is_some()
            }
            Operation::Free { block, .. } => self.free(block),
        }
    }

    fn free(&mut self, block: usize) -> bool {
        let made = self.blocks[block].take();
        made.is_some_and(|(made, stream)| self.allocator.free(made, &self.streams[stream]))
    }

    /// Each operation by itself; `None` when one failed.
    fn timed(mut self, operations: &[Operation], clock: u64) -> Option<[Vec<u64>; 2]> {
        let mut ok = self.allocator.enter();
        let mut times = [const { Vec::new() }; 2];
        for times in &mut times {
            times.reserve(operations.len());
        }
        for operation in operations {
            let kind = usize::from(matches!(operation, Operation::Free { .. }));
            let start = Instant::now();
            ok &= self.step(*operation);
            times[kind].push(since(start, clock));
        }
        (self.end() && ok).then_some(times)
    }

    /// Nanoseconds of an operation; `None` when one failed.
    fn whole(mut self, operations: &[Operation]) -> Option<f64> {
        let mut ok = self.allocator.enter();
        let start = Instant::now();
        for operation in operations {
            ok &= self.step(*operation);
        }
        let time = start.elapsed().as_secs_f64() * 1e9 / operations.len() as f64;
        (self.end() && ok).then_some(time)
    }

    /// Frees what is still alive, and waits.
    fn end(&mut self) -> bool {
        let alive: Vec<usize> = (0..self.blocks.len())
            .filter(|&block| self.blocks[block].is_some())
            .collect();
        let freed = alive
            .into_iter()
            .fold(true, |ok, block| ok & self.free(block));
        let settled = |ok, stream| ok & self.allocator.settle(stream);
        self.streams.iter().fold(freed, settled)
    }
}
