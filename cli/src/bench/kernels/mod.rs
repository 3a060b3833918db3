//! What the device library's kernels move, beside the driver's own copies within the device.
//!
//! A kernel of one operation for each element waits for memory: the measure is bytes read and written in
//! a second, and what can be had of it is what a copy by the driver (`cuMemcpyDtoDAsync`) gets in the same
//! run. Times are the device's, of several launches in a row; the rounds of all take turns.

mod arrays;
mod by_hand;
mod grids;
mod modules;

use cupola_kernels::Kernels;
use cupola_managers::{Context, Device, Error, Event, EventConfig, Stream, StreamConfig, ops};

use super::Figures;
use arrays::{Arrays, CASES, COPY, Case, Outcome};

/// The part of a copy's bandwidth that a kernel is to reach.
const LEAST: f64 = 0.90;

/// A failure, or a wrong result.
#[derive(Debug, thiserror::Error)]
pub enum KernelsError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// A kernel left something else than it should.
    #[error("{kernel} over {bytes} bytes left {found} where {expected} is right")]
    Wrong {
        /// The kernel.
        kernel: &'static str,
        /// Bytes of its largest array.
        bytes: usize,
        /// What it left.
        found: f64,
        /// What it should have left.
        expected: f64,
    },
}

/// Sizes of a measurement.
struct Plan {
    /// Bytes of the largest array.
    sizes: &'static [usize],
    /// Bytes that the reductions of each module are compared over.
    modules: &'static [usize],
    rounds: usize,
    /// Launches between two events.
    launches: u32,
    /// Whether the figures are compared with the target.
    bars: bool,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        match (quick, software) {
            (true, _) => Self {
                sizes: &[64 << 10],
                modules: &[64 << 10],
                rounds: 1,
                launches: 1,
                bars: false,
            },
            (false, true) => Self {
                sizes: &[1 << 20, 4 << 20],
                modules: &[1 << 20],
                rounds: 3,
                launches: 1,
                bars: false,
            },
            (false, false) => Self {
                sizes: &[64 << 20, 256 << 20, 1 << 30],
                modules: &[16 << 20, 64 << 20, 256 << 20],
                rounds: 21,
                launches: 10,
                bars: true,
            },
        }
    }
}

/// Measures the device library on `device`; with `quick` so little that the figures mean nothing.
///
/// # Errors
/// What the driver returned, or that a result is wrong.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, KernelsError> {
    let plan = Plan::new(quick, name.contains("software"));
    let context = device.primary()?;
    let info = device.info()?;
    let kernels = Kernels::load(&context, info)?;
    let clock = Clock::new(&context)?;
    let mut figures = Figures::new("kernels", name);
    let note = "GB/s are bytes read and written; a size is that of the largest array";
    figures.notes.push(note.into());
    if info.compute_capability < (9, 0) {
        let note = "the device does not run the modules for sm_90: all reductions are those of an older one";
        figures.notes.push(note.into());
    }
    for &bytes in plan.sizes {
        // Three arrays and some; a device may have other users.
        let needed = 4 * bytes as u64;
        if needed > info.total_memory {
            let note = format!("{} is more than the device has room for", size_name(bytes));
            figures.notes.push(note);
            continue;
        }
        measure(&mut figures, &plan, &context, &kernels, &clock, bytes)?;
        let against = copy_row(bytes);
        let cases = grids::cases(&plan, &context, info, bytes, &against)?;
        by_hand::measure(&mut figures, &plan, &context, &clock, bytes, &cases)?;
    }
    for &bytes in plan.modules {
        let cases = modules::cases(&context, info, bytes, &copy_row(bytes))?;
        by_hand::measure(&mut figures, &plan, &context, &clock, bytes, &cases)?;
    }
    Ok(figures)
}

/// A stream, and events around what is measured on it.
struct Clock {
    stream: Stream,
    begin: Event,
    end: Event,
}

impl Clock {
    fn new(context: &Context) -> Result<Self, Error> {
        let timed = EventConfig {
            timing: true,
            ..EventConfig::default()
        };
        Ok(Self {
            stream: context.streams().create(StreamConfig::default())?,
            begin: context.events().create(timed)?,
            end: context.events().create(timed)?,
        })
    }

    /// Seconds that the device takes for each of so many calls of `work`.
    fn seconds(
        &self,
        calls: u32,
        mut work: impl FnMut(&Stream) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        ops::record(&self.begin, &self.stream)?;
        for _ in 0..calls {
            work(&self.stream)?;
        }
        ops::record(&self.end, &self.stream)?;
        ops::synchronize(&self.stream)?;
        let milliseconds = f64::from(ops::elapsed(&self.begin, &self.end)?);
        // What is less than a clock's tick took one.
        Ok(milliseconds.max(1e-4) / 1e3 / f64::from(calls))
    }
}

fn size_name(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        1024 => "1 GiB".into(),
        size => format!("{size} MiB"),
    }
}

/// The row of the driver's copy of that size.
fn copy_row(bytes: usize) -> String {
    format!("{}, {}", COPY.name, size_name(bytes))
}

/// The rows of one size.
fn measure(
    figures: &mut Figures,
    plan: &Plan,
    context: &Context,
    kernels: &Kernels,
    clock: &Clock,
    bytes: usize,
) -> Result<(), KernelsError> {
    let mut arrays = Arrays::new(context, bytes, &clock.stream)?;
    let cases: Vec<&Case> = [&COPY].into_iter().chain(CASES).collect();
    let mut rates = vec![Vec::new(); cases.len()];
    for round in 0..=plan.rounds {
        for (case, rates) in cases.iter().zip(&mut rates) {
            let work = |stream: &Stream| (case.launch)(kernels, &mut arrays, stream);
            let seconds = clock.seconds(plan.launches, work)?;
            if round > 0 {
                rates.push(case.traffic * bytes as f64 / seconds / 1e9);
                continue;
            }
            // The first round warms up, and is looked at.
            let Outcome { found, expected } = (case.result)(kernels, &mut arrays, &clock.stream)?;
            if (found - expected).abs() > 1e-6 * expected.abs() {
                return Err(KernelsError::Wrong {
                    kernel: case.name,
                    bytes,
                    found,
                    expected,
                });
            }
        }
    }
    let against = copy_row(bytes);
    for (case, rates) in cases.iter().zip(&rates) {
        let name = format!("{}, {}", case.name, size_name(bytes));
        if name == against {
            figures.push(&name, "GB/s", rates, None);
            continue;
        }
        figures.push(&name, "GB/s", rates, Some(&against));
        if plan.bars {
            figures.want_least(&name, LEAST, &against);
        }
    }
    Ok(())
}
