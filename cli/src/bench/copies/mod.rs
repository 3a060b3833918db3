//! A small copy beside a bulk one of the same direction: how long it takes, and what the bulk copy
//! loses by being put in chunks.
//!
//! A copy engine does the copies of one direction one after the other, whatever the priorities of
//! their streams. Each way is one of holding chunks back. Times of bulk copies are the device's,
//! those of small copies the host's, from the call to the end of a wait.

mod by_hand;

use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::{Context, CopyConfig, Device, Error, PoolConfig};
use cupola_sys::driver::DriverError;

use super::{Figures, median};
use by_hand::{ByHand, Direction, Gate, Memory, Small, Way};

/// Bytes of the small copy.
const SMALL: usize = 64 << 10;
/// Streams with small copies in the rows that look for one which is held up: more than a device has
/// connections to the host, which streams share then.
const CROWD: usize = 16;

/// Bytes of the bulk copy on a GPU.
const BULK: usize = 4 << 30;
/// The part of its rate alone that a bulk copy is to keep beside small ones.
const KEPT: f64 = 0.95;
/// Microseconds that a small copy is to take at most.
const LONGEST: f64 = 1000.0;

/// The ways to hold chunks back.
const GATES: [Gate; 4] = [
    Gate::OneStream,
    Gate::Window(1),
    Gate::Window(2),
    Gate::Host(2),
];

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum CopiesError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver by hand.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
}

/// Sizes of a measurement.
struct Plan {
    bulk: usize,
    chunks: &'static [usize],
    /// The chunk of the rows with many streams.
    crowded: usize,
    /// Of the scheduler.
    config: CopyConfig,
    /// Bulk copies alone, and small copies beside bulk ones.
    rounds: usize,
    samples: usize,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        match (quick, software) {
            (true, _) => Self {
                bulk: 1 << 20,
                chunks: &[256 << 10],
                crowded: 256 << 10,
                config: CopyConfig::default().chunk(256 << 10).threshold(0),
                rounds: 1,
                samples: 1,
            },
            (false, true) => Self {
                bulk: 256 << 20,
                chunks: &[1 << 20, 8 << 20],
                crowded: 8 << 20,
                config: CopyConfig::default(),
                rounds: 3,
                samples: 50,
            },
            (false, false) => Self {
                bulk: BULK,
                chunks: &[8 << 20, 16 << 20],
                crowded: 8 << 20,
                config: CopyConfig::default(),
                rounds: 3,
                samples: 1000,
            },
        }
    }
}

/// Measures copies on `device`; with `quick` so few that the figures mean nothing.
///
/// # Errors
/// What the driver returned.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, CopiesError> {
    let plan = Plan::new(quick, name.contains("software"));
    let context = device.primary()?;
    let pool = context.memory_pool(PoolConfig::limit(plan.bulk as u64 + (64 << 20)))?;
    let memory = Memory::new(&context, &pool, plan.bulk)?;
    let mut bench = Bench {
        figures: Figures::new("copies", name),
        context: &context,
        memory: &memory,
        plan,
        pause: Pause(1),
    };
    for direction in [Direction::Upload, Direction::Download] {
        bench.direction(direction)?;
    }
    Ok(bench.figures)
}

struct Bench<'c> {
    figures: Figures,
    context: &'c Context,
    memory: &'c Memory,
    plan: Plan,
    pause: Pause,
}

impl<'c> Bench<'c> {
    fn direction(&mut self, direction: Direction) -> Result<(), CopiesError> {
        // Warms up: the first copy of pages that the device has not seen takes longer.
        self.bulk(direction, Way::Whole)?.put()?;
        let mut small = Small::new(self.context, SMALL, direction)?;
        let mut alone = Vec::new();
        for _ in 0..self.plan.samples.min(200) {
            alone.push(microseconds(&mut small)?);
        }
        drop(small);
        let name = format!("{}: 64 KiB alone", direction.name());
        self.figures.push(&name, "us", &alone, None);

        let whole = self.rows(direction, Way::Whole, None)?;
        for &chunk in self.plan.chunks {
            for gate in GATES {
                self.rows(direction, Way::Chunks(chunk, gate), Some(whole))?;
            }
        }
        let scheduler = Way::Scheduler(self.plan.config);
        self.rows(direction, scheduler, Some(whole))?;
        for (what, most) in [("time beside", 1.0 / KEPT), ("64 KiB p99", LONGEST)] {
            let name = row(direction, scheduler, what);
            let row = self.figures.rows.iter_mut().find(|row| row.name == name);
            // Sizes and figures of the software device are others.
            if let Some(row) = row.filter(|_| self.plan.bulk == BULK) {
                row.want(most);
            }
        }
        for gate in [Gate::OneStream, Gate::Window(1), Gate::Host(2)] {
            self.crowd(direction, Way::Chunks(self.plan.crowded, gate))?;
        }
        self.crowd(direction, scheduler)
    }

    /// The streams of a way, when no other ones are there: streams may share what leads to the
    /// device.
    fn bulk(&self, direction: Direction, way: Way) -> Result<ByHand<'c>, CopiesError> {
        self.context.streams().trim(0)?;
        ByHand::new(self.context, self.memory, direction, way)
    }

    /// The rows of one way to put bulk copies. Seconds of a bulk copy alone, which those of the
    /// other ways are divided by.
    fn rows(
        &mut self,
        direction: Direction,
        way: Way,
        whole: Option<f64>,
    ) -> Result<f64, CopiesError> {
        let bulk = self.bulk(direction, way)?;
        let (mut puts, mut alone, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.plan.rounds {
            let start = Instant::now();
            bulk.put()?;
            puts.push(start.elapsed().as_secs_f64() * 1e6);
            alone.push(bulk.seconds()?);
        }
        let mut small = Small::new(self.context, SMALL, direction)?;
        let mut waits = Vec::new();
        // A bulk copy in one call lets few small ones through.
        while waits.len() < self.plan.samples && beside.len() < 10 {
            self.pause.beside(&bulk, || {
                waits.push(microseconds(&mut small)?);
                Ok(())
            })?;
            beside.push(bulk.seconds()?);
        }
        let whole = whole.unwrap_or(median(&alone));
        let bytes = self.plan.bulk as f64;
        let rates: Vec<f64> = alone.iter().map(|time| bytes / time / 1e9).collect();
        let of_one_call = |times: &[f64]| -> Vec<f64> {
            let of_one_call = times.iter().map(|time| time / whole);
            of_one_call.collect()
        };
        let name = |what: &str| row(direction, way, what);
        let figures = &mut self.figures;
        figures.push(&name("put in"), "us", &puts, None);
        figures.push(&name("alone"), "GB/s", &rates, None);
        figures.push(&name("time alone"), "x", &of_one_call(&alone), None);
        figures.push(&name("time beside"), "x", &of_one_call(&beside), None);
        figures.push(&name("64 KiB p50"), "us", &waits, None);
        waits.sort_by(f64::total_cmp);
        let p99 = waits[(waits.len() * 99).div_ceil(100) - 1];
        figures.push(&name("64 KiB p99"), "us", &[p99], None);
        Ok(median(&alone))
    }

    /// The longest wait of a small copy on each of many streams: one that shares with the chunks what
    /// leads to the device waits for all that are put there.
    fn crowd(&mut self, direction: Direction, way: Way) -> Result<(), CopiesError> {
        let bulk = self.bulk(direction, way)?;
        let mut streams = (0..CROWD)
            .map(|_| Small::new(self.context, SMALL, direction))
            .collect::<Result<Vec<_>, _>>()?;
        let mut longest = vec![0.0f64; CROWD];
        for first in 0..CROWD {
            let mut next = first;
            self.pause.beside(&bulk, || {
                let wait = microseconds(&mut streams[next])?;
                longest[next] = longest[next].max(wait);
                next = (next + 1) % CROWD;
                Ok(())
            })?;
            bulk.seconds()?;
        }
        let what = format!("longest 64 KiB on each of {CROWD} streams");
        let row = row(direction, way, &what);
        self.figures.push(&row, "us", &longest, None);
        Ok(())
    }
}

/// The name of a row.
fn row(direction: Direction, way: Way, what: &str) -> String {
    format!("{}: {}, {what}", direction.name(), way.name())
}

/// Microseconds of a small copy.
fn microseconds(small: &mut Small) -> Result<f64, CopiesError> {
    let start = Instant::now();
    small.copy()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

/// Pauses of the host between small copies, of lengths that keep no step with the chunks.
struct Pause(u64);

impl Pause {
    /// Puts a bulk copy on another thread, and does `small` at least once and until it is done.
    fn beside(
        &mut self,
        bulk: &ByHand<'_>,
        mut small: impl FnMut() -> Result<(), CopiesError>,
    ) -> Result<(), CopiesError> {
        thread::scope(|scope| {
            let put = scope.spawn(|| bulk.put());
            loop {
                self.spin();
                let is_put = put.is_finished();
                small()?;
                if is_put && bulk.is_done()? {
                    return put.join().unwrap_or(Ok(()));
                }
            }
        })
    }

    /// Spins for 50 to 450 microseconds.
    fn spin(&mut self) {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1);
        let length = Duration::from_micros(50 + (self.0 >> 33) % 400);
        let start = Instant::now();
        while start.elapsed() < length {
            std::hint::spin_loop();
        }
    }
}
