//! Runs a trace through a pool, for `cupola run` and `cupola replay`.
//!
//! Unless it is told not to, every block is stamped by a kernel right after its allocation, on
//! its stream, at both ends and at sampled offsets, and checked by another right before its
//! free: a block that shares memory with a live one, or is handed out while its old owner's
//! work still runs, shows as wrong bytes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use cupola::kernels::Kernels;
use cupola::managers::ops;
use cupola::{Context, Error, MemoryPool, PoolConfig, Stream, StreamConfig};
use cupola_cli::trace::Trace;

use super::latency::Latencies;
use super::plan::Plan;
use super::start::Start;
use super::worker::{Handed, Observation, Worker};
use crate::commands::exit::{Exit, Failure};
use crate::commands::output::Progress;

/// How to replay.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'k> {
    /// The hard limit of the pool in bytes.
    pub(crate) limit: u64,
    /// How many threads the streams are dealt to.
    pub(crate) threads: usize,
    /// What stamps and checks blocks; `None` for allocations alone.
    pub(crate) kernels: Option<&'k Kernels>,
    /// Whether each operation is timed. Reading the clock takes about as long as a good pool.
    pub(crate) timed: bool,
    /// Whether operations wait for the time that the trace has for them.
    pub(crate) realtime: bool,
    /// Whether the first allocation that does not fit ends the replay.
    pub(crate) stop: bool,
    /// Whether nothing is shown while it runs.
    pub(crate) quiet: bool,
}

/// An allocation that did not fit.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The position in the trace.
    pub(crate) operation: usize,
    pub(crate) error: Error,
}

/// What a replay did.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// From the first operation of any thread to the last one's end, in checked mode with all
    /// that is on the device.
    pub(crate) seconds: f64,
    /// The same of each thread that had anything to do, from its first operation to its last
    /// one's end, added up.
    pub(super) thread_seconds: f64,
    /// Blocks stamped and checked.
    pub(crate) checked: usize,
    /// Sampled bytes that did not hold what was written.
    pub(crate) wrong_bytes: u64,
    /// Allocations that did not fit, whose frees were left out.
    pub(crate) failures: u64,
    /// The one that comes first in the trace.
    pub(crate) first_failure: Option<Failed>,
    pub(super) allocate: Latencies,
    pub(super) free: Latencies,
}

/// What the threads share.
pub(super) struct Shared<'a> {
    pub(super) pool: &'a MemoryPool,
    pub(super) streams: &'a [Stream],
    pub(super) trace: &'a Trace,
    pub(super) settings: Settings<'a>,
    /// Blocks on their way from one thread to another.
    pub(super) handed: Vec<Mutex<Handed>>,
    /// One thread has failed: the others stop waiting for it.
    pub(super) over: AtomicBool,
    pub(super) start: Start,
}

impl Shared<'_> {
    pub(super) fn stop(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.start.open();
    }

    pub(super) fn stopped(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn handed(&self, slot: u32) -> MutexGuard<'_, Handed> {
        // A thread that panicked ends the program; until then its block is as good as any.
        let slot = &self.handed[slot as usize];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Is told of each operation of the first thread.
pub(super) type Observer<'o> = &'o mut (dyn FnMut(Observation) + Send);

/// A pool that waits for what still runs: the kernels of a replay all end, and on the software
/// device the host may be many seconds ahead of them.
pub(super) fn config(limit: u64) -> PoolConfig {
    let mut config = PoolConfig::limit(limit);
    config.wait = Duration::from_secs(60);
    config
}

/// The streams of `trace`. Those of one replay are there for a while after it, and count: the next
/// one takes the same.
///
/// # Errors
/// What the driver returned.
pub(crate) fn streams(context: &Context, trace: &Trace) -> Result<Vec<Stream>, Error> {
    (0..trace.streams().max(1))
        .map(|_| context.streams().create(StreamConfig::default()))
        .collect()
}

/// Replays `trace` on `streams` through a new pool, and hands the pool back with what it did.
///
/// # Errors
/// What the driver returned, or a thread cannot be started; allocations that do not fit are
/// counted.
pub(crate) fn run(
    context: &Context,
    streams: &[Stream],
    trace: &Trace,
    settings: Settings<'_>,
) -> Result<(Outcome, MemoryPool), Failure> {
    let pool = context.memory_pool(config(settings.limit))?;
    let outcome = run_in(context, &pool, streams, trace, settings, None)?;
    Ok((outcome, pool))
}

/// [`run`] in a pool that is there already.
pub(super) fn run_in(
    context: &Context,
    pool: &MemoryPool,
    streams: &[Stream],
    trace: &Trace,
    settings: Settings<'_>,
    observer: Option<Observer<'_>>,
) -> Result<Outcome, Failure> {
    let plan = Plan::new(trace, settings.threads);
    let threads = plan.threads.len();
    // Counts wrong bytes; not from the pool, whose figures are compared with the trace's.
    let own = context.memory_pool(PoolConfig::limit(threads as u64 * (2 << 20)))?;
    let shared = Shared {
        pool,
        streams,
        trace,
        settings,
        handed: (0..plan.handed).map(|_| Mutex::default()).collect(),
        over: AtomicBool::new(false),
        start: Start::new(threads),
    };
    let total = trace.operations().len() as u64;
    let mut progress = Some(Progress::new("replay", total, settings.quiet));
    let mut observer = observer;
    let mut workers = Vec::with_capacity(threads);
    for (thread, steps) in plan.threads.iter().enumerate() {
        let mut wrong = own.allocate::<u64>(1, &streams[0])?;
        ops::zero(&mut wrong, &streams[0])?;
        workers.push(Worker {
            shared: &shared,
            steps,
            slots: plan.own[thread],
            wrong,
            progress: progress.take(),
            observer: observer.take(),
        });
    }
    ops::synchronize(&streams[0])?;

    let first = workers.remove(0);
    let done = std::thread::scope(|scope| {
        let mut others = Vec::with_capacity(workers.len());
        let mut lacking = Ok(());
        for worker in workers {
            match Builder::new().spawn_scoped(scope, move || worker.run()) {
                Ok(other) => others.push(other),
                Err(error) => {
                    let which = others.len() + 2;
                    let problem = format!("thread {which} of {threads} cannot start: {error}");
                    lacking = Err(Failure::new(Exit::Device, problem));
                    // Those that wait for it do not have to.
                    shared.stop();
                    break;
                }
            }
        }
        let mut done = vec![lacking.and_then(|()| Ok(first.run()?))];
        for other in others {
            match other.join() {
                Ok(result) => done.push(result.map_err(Failure::from)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });

    // Where a thread stopped early, blocks were still on their way: one that is dropped is lost.
    let mut left = Ok(());
    for slot in shared.handed {
        if let Handed::Ready(block) = slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
            left = left.and(block.give_back(streams));
        }
    }

    let mut outcome = Outcome::default();
    let mut thread_time = Duration::ZERO;
    let mut span: Option<(Instant, Instant)> = None;
    for tally in done {
        let tally = tally?;
        if tally.steps > 0 {
            let (begin, end) = span.unwrap_or((tally.begin, tally.end));
            span = Some((begin.min(tally.begin), end.max(tally.end)));
            thread_time += tally.end - tally.begin;
        }
        outcome.checked += tally.checked;
        outcome.failures += tally.failures;
        outcome.allocate.extend(&tally.allocate);
        outcome.free.extend(&tally.free);
        outcome.wrong_bytes += tally.wrong_bytes;
        let before = |first: &Failed, second: &Failed| first.operation < second.operation;
        outcome.first_failure = match (outcome.first_failure.take(), tally.first_failure) {
            (Some(first), Some(second)) if before(&second, &first) => Some(second),
            (first, second) => first.or(second),
        };
    }
    left?;
    outcome.thread_seconds = thread_time.as_secs_f64();
    outcome.seconds = span.map_or(0.0, |(begin, end)| (end - begin).as_secs_f64());
    Ok(outcome)
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use cupola::{Cupola, Select};

    use super::*;

    /// Without it a panic in one thread could leave the others waiting for its blocks, and the
    /// program hanging instead of ending with it.
    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let text = "a 1 10 0\na 2 10 0\nf 2 1\nf 1\n";
        let trace = Trace::read(text.as_bytes()).unwrap();
        let cupola = Cupola::open(Select::Software).unwrap();
        let context = cupola.device(0).unwrap().primary().unwrap();
        let pool = context.memory_pool(PoolConfig::limit(4 << 20)).unwrap();
        let settings = Settings {
            limit: 4 << 20,
            threads: 2,
            kernels: None,
            timed: false,
            realtime: false,
            stop: false,
            quiet: true,
        };
        // Of the first thread's first operation: the second thread waits for block 2.
        let mut look = |_| panic!("on purpose");
        let streams = streams(&context, &trace).unwrap();
        let run = || run_in(&context, &pool, &streams, &trace, settings, Some(&mut look));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
