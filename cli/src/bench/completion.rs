//! Futures beside waits on the host: how much later a program is told, and what the thread that
//! looks after futures costs while it waits and while nothing does; and how soon callers are told of
//! faults.
//!
//! A future is polled without a pause, so the figures are those of this crate and not of an
//! executor: a task that sleeps is woken later by what its executor takes.

use std::fs;
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use cupola::{MemoryPool, PoolConfig, Stream, StreamConfig};
use cupola_kernels::Kernels;
use cupola_managers::buffer::Buffer;
use cupola_managers::{Context, Device, Error, ops};

use super::{Figures, median};

/// The name of the thread that looks after futures.
const REACTOR: &str = "cupola-reactor";

/// Sizes of a measurement.
struct Plan {
    samples: usize,
    /// Microseconds that the longer work takes, longer than a future asks for itself.
    long: f64,
    /// A wait for which the reactor's time is measured, and a time in which nothing is awaited.
    wait: Duration,
    idle: Duration,
    /// Faults while callers wait, on the software device.
    #[cfg(feature = "sim")]
    faults: u32,
}

impl Plan {
    fn new(quick: bool) -> Self {
        match quick {
            true => Self {
                samples: 3,
                long: 100.0,
                wait: Duration::from_millis(20),
                idle: Duration::from_millis(20),
                #[cfg(feature = "sim")]
                faults: 5,
            },
            false => Self {
                samples: 2000,
                long: 100.0,
                wait: Duration::from_secs(10),
                idle: Duration::from_secs(2),
                #[cfg(feature = "sim")]
                faults: 10_000,
            },
        }
    }
}

/// Measures futures on `device`; with `quick` so few that the figures mean nothing.
///
/// # Errors
/// What the driver returned.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, Error> {
    let context = device.primary()?;
    let plan = Plan::new(quick);
    let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
    let kernels = Kernels::load(&context, device.info()?)?;
    let work = Work::new(&context, &pool, &kernels, SHORT)?;
    let mut figures = Figures::new("completion", name);

    let (waited, awaited) = work.pairs(plan.samples, 1, Work::awaits)?;
    figures.push("a short kernel, synchronize", "us", &waited, None);
    let row = "a short kernel, await";
    let most = median(&waited) + 1.0;
    (figures.push(row, "us", &awaited, Some("a short kernel, synchronize"))).want(most);

    let samples = plan.samples.min(50);
    let each = work.each(samples)?;
    // Launches take the host as long as these kernels take the device: the work is over when the host
    // begins to wait, and what it takes to begin is in the figures.
    let repeats = (plan.long / each).ceil().clamp(1.0, 10_000.0) as u32;
    let (waited, told) = work.pairs(plan.samples, repeats, Work::is_told)?;
    late(&mut figures, "many short kernels", &waited, &told);
    // These run on while the host waits.
    let mut elements = SHORT;
    let mut long = Work::new(&context, &pool, &kernels, elements)?;
    while long.each(samples)? < 3.0 * each && elements < LONG {
        elements *= 4;
        long = Work::new(&context, &pool, &kernels, elements)?;
    }
    let repeats = (plan.long / long.each(samples)?).ceil().max(1.0) as u32;
    let (waited, told) = long.pairs(plan.samples, repeats, Work::is_told)?;
    let p99 = late(&mut figures, "longer work", &waited, &told);
    figures.rows[p99].want(25.0);

    match work.cost_of_a_wait(plan.wait)? {
        Some(share) => {
            let row = format!("a wait of {} s", plan.wait.as_secs_f64());
            let share = figures.push(&row, "% of a core", &[100.0 * share], None);
            share.want(1.0);
        }
        None => figures.notes.push("the reactor's time is not known".into()),
    }
    if let Some(wakes) = wakes_of_the_idle(plan.idle) {
        let row = figures.push("nothing awaited", "wake-ups/s", &[wakes], None);
        row.want(0.0);
    }
    #[cfg(feature = "sim")]
    {
        let storm = super::faults::storm(plan.faults, 1)?;
        let name = "a fault on the software device, to its caller";
        figures.push(&format!("{name}, p50"), "ms", &[storm.quantile(0.5)], None);
        (figures.push(&format!("{name}, p99"), "ms", &[storm.quantile(0.99)], None)).want(5.0);
        figures.push(
            &format!("{name}, the latest"),
            "ms",
            &[storm.quantile(1.0)],
            None,
        );
        let problems = storm.problems.len() as f64;
        let row = "callers that hang, are told Ok or another cause; and what is left";
        figures.push(row, "in all", &[problems], None).want(0.0);
        let (faults, told) = (plan.faults, storm.told);
        figures
            .notes
            .push(format!("{faults} faults, {told} callers were told"));
        figures.notes.extend(storm.problems.into_iter().take(8));
    }
    let stats = context.streams().completion_stats();
    figures.notes.push(format!(
        "of the waits that were left to the reactor {} had a flag, {} had none",
        stats.flagged, stats.polled
    ));
    Ok(figures)
}

/// Elements of a short kernel, and at most of a longer one.
const SHORT: usize = 256;
const LONG: usize = 1 << 22;

/// Rows of how much later a caller is told than one is that synchronises: the place of the last one.
fn late(figures: &mut Figures, what: &str, waited: &[f64], told: &[f64]) -> usize {
    let peer = format!("{what}, synchronize");
    figures.push(&peer, "us", waited, None);
    let row = format!("{what}, told by the reactor");
    figures.push(&row, "us", told, Some(&peer));
    let median = median(waited);
    let mut at = |name: String, times: &[f64], part: f64| {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let late = sorted[((sorted.len() - 1) as f64 * part) as usize] - median;
        figures.push(&name, "us", &[late], None);
    };
    // What the host itself is late now and then.
    at(
        format!("{what}, synchronize beside its median, p99"),
        waited,
        0.99,
    );
    at(format!("{what}, later than synchronize, p50"), told, 0.5);
    at(format!("{what}, later than synchronize, p99"), told, 0.99);
    figures.rows.len() - 1
}

/// A kernel on a stream, as often as wanted.
struct Work<'a> {
    kernels: &'a Kernels,
    stream: Stream,
    input: Buffer<f32>,
    output: std::cell::RefCell<Buffer<f32>>,
}

impl<'a> Work<'a> {
    fn new(
        context: &Context,
        pool: &MemoryPool,
        kernels: &'a Kernels,
        elements: usize,
    ) -> Result<Self, Error> {
        let stream = context.streams().create(StreamConfig::default())?;
        let work = Self {
            kernels,
            input: pool.zeros(elements, &stream)?,
            output: pool.zeros(elements, &stream)?.into(),
            stream,
        };
        // The first launch loads the kernel, and the first wait of each kind starts what it needs.
        work.put(1)?;
        work.is_told()?;
        Ok(work)
    }

    /// Microseconds that one more kernel takes.
    fn each(&self, samples: usize) -> Result<f64, Error> {
        let (one, _) = self.pairs(samples, 1, Self::synchronizes)?;
        let (many, _) = self.pairs(samples, 16, Self::synchronizes)?;
        Ok(((median(&many) - median(&one)) / 15.0).max(0.1))
    }

    fn put(&self, repeats: u32) -> Result<(), Error> {
        let mut output = self.output.borrow_mut();
        for _ in 0..repeats {
            (self.kernels).scale(1.5, &self.input, &mut *output, &self.stream)?;
        }
        Ok(())
    }

    fn synchronizes(&self) -> Result<(), Error> {
        ops::synchronize(&self.stream)
    }

    fn awaits(&self) -> Result<(), Error> {
        let mut future = pin!((&self.stream).into_future());
        let mut task = Task::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut task) {
                return done;
            }
            std::hint::spin_loop();
        }
    }

    /// Leaves the wait to the reactor from the first.
    fn is_told(&self) -> Result<(), Error> {
        let told = Arc::new(AtomicBool::new(false));
        let tells = Arc::clone(&told);
        let ticket = self.stream.ticket()?;
        let _watch = ticket.on_done(move |_| tells.store(true, Ordering::Release));
        while !told.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        ticket.wait()
    }

    /// Microseconds from the first launch to the end of a wait on the host, and to that of `wait`,
    /// alternately.
    fn pairs(
        &self,
        samples: usize,
        repeats: u32,
        wait: impl Fn(&Self) -> Result<(), Error>,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let timed = |wait: &dyn Fn(&Self) -> Result<(), Error>| {
            let begin = Instant::now();
            self.put(repeats)?;
            wait(self)?;
            Ok::<_, Error>(begin.elapsed().as_secs_f64() * 1e6)
        };
        let (mut waited, mut others) = (Vec::new(), Vec::new());
        for _ in 0..samples {
            waited.push(timed(&Self::synchronizes)?);
            others.push(timed(&wait)?);
        }
        Ok((waited, others))
    }

    /// The part of a core that the reactor takes while work of this length is awaited.
    fn cost_of_a_wait(&self, length: Duration) -> Result<Option<f64>, Error> {
        ops::host_function(&self.stream, move || thread::sleep(length))?;
        let ticket = self.stream.ticket()?;
        let (begin, before) = (Instant::now(), running_time());
        let watch = ticket.on_done(drop);
        ticket.wait()?;
        let (waited, after) = (begin.elapsed(), running_time());
        drop(watch);
        let taken = before.zip(after);
        Ok(taken.map(|(before, after)| (after - before) / waited.as_secs_f64()))
    }
}

/// A file of the reactor's in `/proc`. There is one reactor for the device that is measured.
fn of_the_reactor(file: &str) -> Option<String> {
    let tasks = fs::read_dir("/proc/self/task").ok()?.flatten();
    let mut tasks = tasks.map(|task| task.path());
    let reactor = tasks.find(|task| {
        let name = fs::read_to_string(task.join("comm"));
        name.is_ok_and(|name| name.trim() == REACTOR)
    })?;
    fs::read_to_string(reactor.join(file)).ok()
}

/// Seconds that the reactor has run.
fn running_time() -> Option<f64> {
    let nanoseconds = of_the_reactor("schedstat")?;
    let nanoseconds: f64 = nanoseconds.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// How often the reactor has gone to sleep.
fn sleeps() -> Option<u64> {
    let status = of_the_reactor("status")?;
    let of = |line: &str| {
        line.strip_prefix("voluntary_ctxt_switches:")?
            .trim()
            .parse()
            .ok()
    };
    status.lines().find_map(of)
}

/// How often a second the reactor wakes while nothing is awaited, after it has seen that.
fn wakes_of_the_idle(time: Duration) -> Option<f64> {
    thread::sleep(Duration::from_millis(10));
    let (begin, before) = (Instant::now(), sleeps()?);
    thread::sleep(time);
    Some((sleeps()? - before) as f64 / begin.elapsed().as_secs_f64())
}
