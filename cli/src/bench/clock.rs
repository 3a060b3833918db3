//! Samples: how long an operation takes, on one thread or on several at a time.
//!
//! Each thread works until its own time is over, so that no thread runs alone for long after
//! the others have finished. The processor time of each thread says whether other work of
//! the machine came between.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// What one thread did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lap {
    operations: u64,
    begin: Instant,
    wall: Duration,
    processor: Duration,
}

/// What all threads did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Nanoseconds an operation, on each thread: of processor time for one thread, by the
    /// clock for several.
    pub(super) nanoseconds: f64,
    /// The same by the clock for one thread too; for several, all that they did from the
    /// moment that the first one began until the last one ended. Threads that had to take
    /// turns on a processor look no faster than they were.
    pub(super) by_clock: f64,
    /// Processor time as a part of the time that passed, for the thread that had least.
    pub(super) share: f64,
}

/// Where the threads of a sample wait for each other.
struct Gate {
    arrived: AtomicUsize,
    threads: usize,
}

/// One thread's part of a sample.
pub(super) struct Turn<'s> {
    /// The number of the thread, from 0.
    pub(super) thread: usize,
    gate: &'s Gate,
    time: Duration,
}

impl Turn<'_> {
    /// Waits until every thread of the sample has come here.
    pub(super) fn ready(&self) {
        self.gate.arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while self.gate.arrived.load(Ordering::Acquire) < self.gate.threads {
            pause(&mut spins);
        }
    }

    /// Calls `batch` until the time is over; it returns how many operations it did.
    pub(super) fn time(&self, mut batch: impl FnMut() -> u64) -> Lap {
        let start = Instant::now();
        once(|| {
            let mut operations = 0;
            loop {
                operations += batch();
                if start.elapsed() >= self.time {
                    return operations;
                }
            }
        })
    }

    /// A batch to warm up, then as many as there is time for, all threads together.
    pub(super) fn measure(&self, mut batch: impl FnMut() -> u64) -> Lap {
        batch();
        self.ready();
        self.time(batch)
    }
}

/// Calls `work`, which returns how many operations it did.
pub(super) fn once(work: impl FnOnce() -> u64) -> Lap {
    let (processor, start) = (ThreadTime::now(), Instant::now());
    let operations = work();
    Lap {
        operations,
        begin: start,
        wall: start.elapsed(),
        processor: processor.elapsed(),
    }
}

/// Runs `work` on `threads` threads, each on a processor of its own if there are as many;
/// one thread is the caller's. `None` when one of them failed.
pub(super) fn together(
    threads: usize,
    time: Duration,
    work: impl Fn(Turn<'_>) -> Option<Lap> + Sync,
) -> Option<Sample> {
    let gate = Gate {
        arrived: AtomicUsize::new(0),
        threads,
    };
    let turn = |thread| Turn {
        thread,
        gate: &gate,
        time,
    };
    if threads == 1 {
        let lap = work(turn(0))?;
        return Some(Sample {
            nanoseconds: lap.processor.as_secs_f64() * 1e9 / lap.operations as f64,
            by_clock: lap.rate().recip(),
            share: lap.share(),
        });
    }
    let laps: Option<Vec<Lap>> = thread::scope(|scope| {
        let start = |thread| {
            let (turn, work) = (turn(thread), &work);
            scope.spawn(move || {
                pin(thread);
                work(turn)
            })
        };
        let workers: Vec<_> = (0..threads).map(start).collect();
        let results = workers.into_iter().map(thread::ScopedJoinHandle::join);
        results.map(|lap| lap.ok().flatten()).collect()
    });
    let laps = laps?;
    // Operations of all threads in a nanosecond.
    let rate: f64 = laps.iter().map(Lap::rate).sum();
    let operations: u64 = laps.iter().map(Lap::operations).sum();
    Some(Sample {
        nanoseconds: threads as f64 / rate,
        by_clock: threads as f64 * span(&laps) / operations as f64,
        share: laps.iter().map(Lap::share).fold(f64::INFINITY, f64::min),
    })
}

/// Nanoseconds from the first beginning to the last end.
fn span(laps: &[Lap]) -> f64 {
    let begin = laps.iter().map(|lap| lap.begin).min();
    let end = laps.iter().map(|lap| lap.begin + lap.wall).max();
    let span = end.zip(begin).map(|(end, begin)| end - begin);
    span.map_or(f64::NAN, |span| span.as_secs_f64() * 1e9)
}

impl Lap {
    pub(super) fn operations(&self) -> u64 {
        self.operations
    }

    fn rate(&self) -> f64 {
        self.operations as f64 / (self.wall.as_secs_f64() * 1e9)
    }

    fn share(&self) -> f64 {
        self.processor.as_secs_f64() / self.wall.as_secs_f64()
    }
}

/// One look of a waiting loop; lets others run when it takes long.
pub(super) fn pause(spins: &mut u32) {
    *spins = spins.wrapping_add(1);
    if spins.is_multiple_of(4096) {
        thread::yield_now();
    } else {
        spin_loop();
    }
}

/// Keeps the calling thread on one processor. Where that is not possible the scheduler
/// decides, and the figures vary more.
fn pin(thread: usize) {
    let processors = processors();
    #[cfg(target_os = "linux")]
    if !processors.is_empty() {
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut set = CpuSet::new();
        set.set(processors[thread % processors.len()]);
        let _ = sched_setaffinity(None, &set);
    }
    let _ = (thread, processors);
}

/// The processors that this program may use: first one of each core, then those that
/// share a core with an earlier one.
fn processors() -> &'static [usize] {
    static PROCESSORS: OnceLock<Vec<usize>> = OnceLock::new();
    PROCESSORS.get_or_init(|| {
        let mut found = allowed();
        found.sort_by_key(|&processor| (place_in_core(processor), processor));
        found
    })
}

#[cfg(target_os = "linux")]
fn allowed() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Vec<usize> {
    Vec::new()
}

/// How many processors of the same core have smaller numbers.
fn place_in_core(processor: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let list = std::fs::read_to_string(path).unwrap_or_default();
    let mut place = 0;
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse(), last.parse::<usize>()) {
            place += (first..=last).filter(|&other| other < processor).count();
        }
    }
    place
}

/// How many processors there are for the threads of a sample.
pub(super) fn parallelism() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the figure of several threads could be the sum or a part of what one
    /// operation takes each of them.
    #[test]
    fn a_figure_is_of_one_operation_on_one_thread() {
        for threads in [1, 2] {
            let sample = together(threads, Duration::from_millis(5), |turn| {
                Some(turn.measure(|| {
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(100) {}
                    100
                }))
            });
            // At least a microsecond each, though not much more unless disturbed. Processor
            // time can be a little less than the time that passed.
            let sample = sample.unwrap();
            assert!(sample.nanoseconds > 200.0, "{sample:?}");
            assert!(sample.share > 0.0 && sample.share < 1.5, "{sample:?}");
            assert!(sample.by_clock > 990.0, "{sample:?}");
        }
        assert!(together(2, Duration::ZERO, |_| None).is_none());
    }

    /// Without it threads that ran one after the other could look as if they had run at once.
    #[test]
    fn threads_that_take_turns_are_not_faster_together() {
        let gate = std::sync::Mutex::new(());
        let sample = together(2, Duration::from_millis(2), |turn| {
            let _gate = gate.lock();
            Some(turn.time(|| {
                thread::sleep(Duration::from_micros(100));
                100
            }))
        });
        let sample = sample.unwrap();
        // Each thread needs a microsecond for an operation, and waits for as long.
        assert!(sample.by_clock > 1_500.0, "{sample:?}");
    }
}
