//! The software device: how fast its engine runs kernels, beside plain Rust loops in the
//! same run, and what a launch costs that does nothing.
//!
//! The kernels are in `kernels.cu`; LLVM made `kernels.ptx` from it. Every output is
//! checked. Times with one worker are processor time of the thread, so that other work of
//! the machine disturbs them little; those with several workers, and latencies, are by the
//! clock.

mod cases;
mod launches;
mod memory;

use std::sync::Arc;
use std::time::Instant;

use cpu_time::ThreadTime;
use cupola_sim::exec::{
    Kernel, KernelError, LaunchConfig, LaunchError, LaunchOptions, LoadError, Program, launch,
};
use cupola_sim::ptx::{Module, ParseError};
use cupola_sys::driver::DriverError;

use super::{Figures, median};
use cases::Case;
use memory::Memory;

/// The kernels.
const PTX: &str = include_str!("kernels.ptx");

/// Launches of a kernel that are timed, unless told.
pub const RUNS: usize = 15;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernels do not parse.
    #[error("the kernels: {0}")]
    Parse(#[from] ParseError),
    /// The kernels do not load.
    #[error("the kernels: {0}")]
    Load(#[from] LoadError),
    /// No kernel is called what was asked for.
    #[error("no kernel is called {0:?}")]
    NoKernel(String),
    /// A kernel cannot run.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A kernel failed.
    #[error("{0}: {1}")]
    Launch(&'static str, LaunchError),
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// An output differs from the plain loop's.
    #[error("{0}: the output is wrong at element {1}")]
    Wrong(&'static str, usize),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads for the rows with several workers.
    pub workers: usize,
    /// Launches that are timed, for each row.
    pub runs: usize,
    /// Measure only the kernel of this name in `kernels.cu`, and no launches.
    pub only: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            runs: RUNS,
            only: None,
        }
    }
}

impl Options {
    /// One launch of each kernel: its results are checked, the figures mean nothing.
    #[must_use]
    pub fn quick(self) -> Self {
        Self {
            runs: 1,
            workers: self.workers.min(2),
            ..self
        }
    }
}

/// Measures the software device.
///
/// # Errors
/// A kernel failed or gave a wrong result: then there are no figures.
pub fn run(options: &Options) -> Result<Figures, Error> {
    let mut figures = Figures::new("sim", "the software device's engine".into());
    let mut memory = Memory::default();
    let program = Program::load(&Module::parse(PTX)?, &mut memory)?;
    let wanted = |case: &Case| options.only.as_ref().is_none_or(|only| only == case.entry);
    for case in cases::all(&mut memory).into_iter().filter(wanted) {
        let kernel = program.kernel(case.entry)?;
        measure(&mut figures, &case, &kernel, &mut memory, options)?;
    }
    match &options.only {
        None => launches::run(&mut figures, options)?,
        Some(name) if figures.rows.is_empty() => return Err(Error::NoKernel(name.clone())),
        Some(_) => {}
    }
    Ok(figures)
}

/// The rows of one kernel.
fn measure(
    figures: &mut Figures,
    case: &Case,
    kernel: &Arc<Kernel>,
    memory: &mut Memory,
    options: &Options,
) -> Result<(), Error> {
    let config = LaunchConfig {
        grid: case.grid,
        block: case.block,
        dynamic_shared: 0,
    };
    let go = |memory: &mut Memory, workers: usize| {
        let options = LaunchOptions {
            workers,
            ..LaunchOptions::default()
        };
        memory.write(case.out.0, &case.out.1);
        let (processor, clock) = (ThreadTime::now(), Instant::now());
        let result = launch(kernel, config, &case.params, memory, options);
        let times = [processor.elapsed(), clock.elapsed()].map(|t| t.as_secs_f64() * 1e3);
        let stats = result.map_err(|error| Error::Launch(case.entry, error))?;
        let got = memory.read(case.out.0, case.want.len());
        match case.want.wrong(&got) {
            Some(at) => Err(Error::Wrong(case.entry, at)),
            None => Ok((times, stats.instructions)),
        }
    };
    let (mut plain, mut one, mut clock, mut all) = (vec![], vec![], vec![], vec![]);
    let mut instructions = 0;
    // Alternately, so that whatever else the machine does concerns all of them.
    for round in 0..=options.runs {
        let start = ThreadTime::now();
        (case.plain)();
        let loop_time = start.elapsed().as_secs_f64() * 1e3;
        let ([processor, wall], count) = go(memory, 1)?;
        let ([_, together], _) = go(memory, options.workers)?;
        instructions = count;
        // The first round warms up.
        if round > 0 {
            plain.push(loop_time);
            one.push(processor);
            clock.push(wall);
            all.push(together);
        }
    }
    let name = |what: &str| format!("{}: {what}", case.name);
    let loop_name = name("plain Rust loop");
    let workers = name(&format!("{} workers", options.workers));
    let wall = name("one worker, by the clock");
    figures.push(&loop_name, "ms", &plain, None);
    let row = figures.push(&name("one worker"), "ms", &one, Some(&loop_name));
    if let Some(bar) = case.bar {
        row.want(bar);
    }
    // A warp instruction counts for the 32 lanes that it is executed for.
    let rate = 32.0 * instructions as f64 / median(&one) / 1e6;
    figures.push(&name("lane instructions"), "G/s", &[rate], None);
    if options.workers > 1 {
        figures.push(&wall, "ms", &clock, None);
        figures.push(&workers, "ms", &all, Some(&wall));
    }
    Ok(())
}
