//! What it costs to have a stream, an event and a current context, and to open a device,
//! beside the driver's own calls and cudarc (feature `peers`; on a GPU only).
//!
//! Every row runs once inside each round, so that whatever else the machine does concerns
//! all of them.

mod cases;
mod open;
#[cfg(feature = "peers")]
mod peer;

use std::hint::black_box;
use std::path::PathBuf;

use cupola_managers::Device;

use super::{Figures, nanoseconds};
pub use open::{Way, open_once};

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] cupola_managers::Error),
    /// A call of a row failed.
    #[error("{0}: a call failed")]
    Failed(String),
    /// A peer failed.
    #[error("{0}: {1}")]
    Peer(&'static str, String),
    /// A process that opens a device did not say how long that took.
    #[error("a process that opens the device {way} failed: {problem}")]
    Open {
        /// How it opens it.
        way: &'static str,
        /// What it said.
        problem: String,
    },
}

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds: samples of each row.
    pub rounds: usize,
    /// Threads for the rows with several; 1 leaves these rows out.
    pub threads: usize,
    /// The command line, to be started for the rows that open a device; without it they are
    /// left out.
    pub program: Option<PathBuf>,
    /// Calls are few and figures mean nothing: to see that everything works.
    pub quick: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: 21,
            threads: 2,
            program: None,
            quick: false,
        }
    }
}

impl Options {
    /// Few calls, once: figures mean nothing.
    #[must_use]
    pub fn quick(self) -> Self {
        Self {
            rounds: 1,
            quick: true,
            ..self
        }
    }
}

/// One row: what a call does, how many calls make a sample, and how many threads call.
struct Case {
    name: String,
    calls: u32,
    threads: usize,
    against: Option<&'static str>,
    /// Makes so many calls; false when one failed.
    work: Box<dyn Fn(u32) -> bool + Sync>,
}

impl Case {
    fn new(name: &str, calls: u32, work: impl Fn() -> bool + Sync + 'static) -> Self {
        Self {
            name: name.into(),
            calls,
            threads: 1,
            against: None,
            // The loop is inside, so that a call through a pointer is not in the figures.
            work: Box::new(move |calls| (0..calls).fold(true, |ok, _| ok & black_box(work()))),
        }
    }

    fn against(mut self, row: &'static str) -> Self {
        self.against = Some(row);
        self
    }

    fn on(mut self, threads: usize) -> Self {
        self.name = format!("{}, {threads} threads", self.name);
        self.threads = threads;
        self
    }

    /// Nanoseconds of a call on one of the threads; `None` when one failed.
    fn sample(&self) -> Option<f64> {
        if self.threads == 1 {
            return self.time();
        }
        let barrier = std::sync::Barrier::new(self.threads);
        let times = std::thread::scope(|scope| {
            let thread = || {
                // Whatever a thread's first call costs is not the row's.
                let ready = (self.work)(1);
                barrier.wait();
                self.time().filter(|_| ready)
            };
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(thread)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().ok().flatten())
                .collect::<Option<Vec<_>>>()
        })?;
        Some(times.iter().sum::<f64>() / times.len() as f64)
    }

    fn time(&self) -> Option<f64> {
        let mut ok = true;
        let times = nanoseconds(1, 1, || ok = (self.work)(self.calls));
        let time = times.first()? / f64::from(self.calls);
        ok.then_some(time)
    }
}

/// Measures on `device`.
///
/// # Errors
/// The device or a peer failed.
pub fn run(device: &Device, name: String, options: &Options) -> Result<Figures, Error> {
    let mut figures = Figures::new("lifecycle", name);
    let cases = cases::all(device, options, &mut figures.notes)?;
    let mut samples = vec![Vec::new(); cases.len()];
    for round in 0..=options.rounds {
        for (case, samples) in cases.iter().zip(&mut samples) {
            let time = case
                .sample()
                .ok_or_else(|| Error::Failed(case.name.clone()))?;
            // The first round warms up.
            if round > 0 {
                samples.push(time);
            }
        }
    }
    for (case, samples) in cases.iter().zip(&samples) {
        figures.push(&case.name, "ns", samples, case.against);
    }
    for (row, most) in cases::BARS {
        if let Some(row) = figures.rows.iter_mut().find(|found| found.name == *row) {
            row.want(*most);
        }
    }
    figures.want(cases::CURRENT, cases::CHECK, &[cases::GET_CURRENT]);
    drop(cases);
    open::rows(&mut figures, device, options)?;
    Ok(figures)
}
