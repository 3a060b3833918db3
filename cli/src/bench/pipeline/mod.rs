//! The three-stream pipeline beside a loop of the driver's own calls that does the same, and beside the
//! same work in sequence (a pipeline of one slot), all in one run.
//!
//! Each item is uploaded, goes through one kernel, and is downloaded. How long the kernel works is tuned
//! so that it takes as long as the upload, a tenth longer, ten times as long, and a tenth. The
//! *asymptote* of an item is the time of the busiest stage alone, `max(f * max(h, d), k)`: f is how much
//! longer a transfer takes while the other direction runs. The *bound* of the speed-up is the time in
//! sequence by that.

mod crowd;
mod kernel;
mod ours;
mod raw;
mod sampling;
mod stages;
mod submit;

use std::time::Duration;

use cupola_managers::pipeline::{Asymptote, Graphs, Pipeline, PipelineConfig, Step};
use cupola_managers::{Context, Device, Error};
use cupola_sys::driver::DriverError;

use super::{Figures, median};
use cupola::{MemoryPool, PoolConfig};
use kernel::Work;
use stages::Stages;

/// The stages of one item of a case.
struct Case {
    name: &'static str,
    elements: usize,
    /// Time of the kernel as a part of the upload's.
    share: f64,
    /// The least part of the asymptote's rate that is meant to be reached.
    least: f64,
}

/// Sizes of a measurement.
struct Plan {
    cases: Vec<Case>,
    items: u64,
    /// Items of a run that looks at what sampling costs.
    sampled: u64,
    rounds: usize,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        // The interpreter needs no megabytes to be busy for long.
        let (large, small, items, sampled, rounds) = match (quick, software) {
            (true, _) => (1 << 10, 1 << 9, 4, 64, 1),
            (false, true) => (32 << 10, 8 << 10, 12, 200, 3),
            // 300 us and 50 us of transfer.
            (false, false) => (4 << 20, 640 << 10, 200, 5000, 7),
        };
        let case = |name, elements, share, least| Case {
            name,
            elements,
            share,
            least,
        };
        Self {
            cases: vec![
                case("1:1", large, 1.0, 0.98),
                case("1.1:1", large, 1.1, 0.98),
                case("10:1", large, 10.0, 0.97),
                case("1:10", large, 0.1, 0.97),
                case("1:1, short stages", small, 1.0, 0.90),
            ],
            items,
            sampled,
            rounds,
        }
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.cases.iter().map(|case| case.elements)
    }

    fn largest(&self) -> usize {
        self.sizes().max().unwrap_or(0)
    }

    fn smallest(&self) -> usize {
        self.sizes().min().unwrap_or(0)
    }
}

/// Slots of the pipelines that overlap.
const DEPTH: usize = 3;

/// The most that an item may take beside the same loop of the driver's calls.
const BESIDE_RAW: f64 = 1.02;

/// What the pool has from the driver beside what is asked for: it takes whole pages.
const PAGES: u64 = 32 << 20;

/// A failure, or a wrong result.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver that is compared with.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
    /// An item that is not what the kernel makes of it.
    #[error("{0}: an item is wrong")]
    Wrong(&'static str),
}

/// Measures the pipeline on `device`; with `quick` so few items that the figures mean nothing.
///
/// # Errors
/// What the driver returned, or that a result is wrong.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, PipelineError> {
    let context = device.primary()?;
    let plan = Plan::new(quick, name.contains("software"));
    let bytes = (plan.largest() * size_of::<f32>()) as u64;
    // Those of the stages alone, of a pipeline with one slot, of two with three, and of the raw loop.
    let slots = 2 * (1 + 1 + 3 * DEPTH as u64);
    let pool = context.memory_pool(PoolConfig::limit(slots * bytes + PAGES))?;
    let mut figures = Figures::new("pipeline", name);
    figures.notes.push(
        "an asymptote is the time of the busiest stage alone, transfers with both directions at \
         work; a speed-up can be no more than its bound, and 3 with stages that disturb each other \
         in nothing"
            .into(),
    );
    let work = Work::load(&context)?;
    let mut measured: Option<(usize, Stages)> = None;
    for case in &plan.cases {
        let stages = match measured.take() {
            Some((elements, stages)) if elements == case.elements => stages,
            _ => alone(&mut figures, &context, &pool, &work, (case, &plan))?,
        };
        overlap(&mut figures, (&context, &pool, &work), &plan, case, &stages)?;
        measured = Some((case.elements, stages));
    }
    let small = sampling::Plan {
        elements: plan.smallest(),
        items: plan.sampled,
        rounds: plan.rounds,
    };
    sampling::rows(&mut figures, &context, &pool, &small, &work)?;
    submit::run(&mut figures, &context, &pool, &work, quick)?;
    crowd::run(&mut figures, &context, &pool, &work, quick)?;
    Ok(figures)
}

/// The stages alone, as rows.
fn alone(
    figures: &mut Figures,
    context: &Context,
    pool: &MemoryPool,
    work: &Work,
    (case, plan): (&Case, &Plan),
) -> Result<Stages, PipelineError> {
    let stages = Stages::measure(context, pool, work, case.elements, plan.rounds)?;
    let bytes = (case.elements * size_of::<f32>()) as f64;
    let rate = |us: f64| bytes / us / 1e3;
    let kib = case.elements * size_of::<f32>() / 1024;
    let of = |what: &str| format!("{what}, {kib} KiB");
    let upload = of("upload alone");
    figures.push(&upload, "us", &stages.upload, None);
    figures.push(&of("download alone"), "us", &stages.download, None);
    figures.push(
        &of("both directions at once"),
        "us",
        &stages.both,
        Some(&upload),
    );
    figures.push(
        &of("upload rate"),
        "GB/s",
        &[rate(median(&stages.upload))],
        None,
    );
    figures.push(
        &of("download rate"),
        "GB/s",
        &[rate(median(&stages.download))],
        None,
    );
    figures.push(
        &of("rate of both directions at once"),
        "GB/s",
        &[2.0 * rate(median(&stages.both))],
        None,
    );
    Ok(stages)
}

/// One case: in sequence, by the driver's calls, and by the pipeline, by turns.
fn overlap(
    figures: &mut Figures,
    (context, pool, work): (&Context, &MemoryPool, &Work),
    plan: &Plan,
    case: &Case,
    stages: &Stages,
) -> Result<(), PipelineError> {
    let (name, elements) = (case.name, case.elements);
    let (h, d) = (median(&stages.upload), median(&stages.download));
    let load = work.tune(context, pool, elements, h * case.share)?;
    let ours = |depth, graphs| ours::Loop::new(context, pool, elements, depth, graphs);
    let mut serial = ours(1, Graphs::Never)?;
    let mut overlapped = ours(DEPTH, Graphs::Never)?;
    let mut as_graphs = ours(DEPTH, Graphs::Steps)?;
    let mut raw = raw::Loop::new(context, pool, elements, DEPTH)?;
    let [
        mut in_sequence,
        mut by_calls,
        mut by_pipeline,
        mut by_graphs,
    ] = [const { Vec::new() }; 4];
    // By turns, since what comes first may matter; the first round warms up.
    for round in 0..=plan.rounds {
        let before = (round % 2 == 0)
            .then(|| raw.run(work, load.rounds, plan.items))
            .transpose()?;
        let ours = overlapped.run(work, load.rounds, plan.items)?;
        let calls = match before {
            Some(calls) => calls,
            None => raw.run(work, load.rounds, plan.items)?,
        };
        let graphs = as_graphs.run(work, load.rounds, plan.items)?;
        let alone = serial.run(work, load.rounds, plan.items.div_ceil(4))?;
        if round > 0 {
            in_sequence.push(alone);
            by_calls.push(calls);
            by_pipeline.push(ours);
            by_graphs.push(graphs);
        }
    }
    let us = |time: f64| Duration::from_secs_f64(time / 1e6);
    let alone = Asymptote {
        upload: us(h),
        compute: us(load.us),
        download: us(d),
        both_copies: us(median(&stages.both)),
    };
    let asymptote = alone.step().as_secs_f64() * 1e6;
    let of = |what: &str| format!("{name}: {what}");
    let (sequence, calls) = (of("in sequence"), of("by the driver's calls"));
    let unit = "us/item";
    figures.push(&of("kernel alone"), "us", &[load.us], None);
    figures.push(&of("asymptote"), unit, &[asymptote], None);
    figures.push(&sequence, unit, &in_sequence, None);
    figures.push(&calls, unit, &by_calls, Some(&sequence));
    figures.push(&of("by the pipeline"), unit, &by_pipeline, Some(&sequence));
    figures.push(
        &of("by the pipeline, as graphs"),
        unit,
        &by_graphs,
        Some(&sequence),
    );
    let ours = median(&by_pipeline);
    let beside = ours / median(&by_calls);
    let row = figures.push(&of("pipeline / driver's calls"), "x", &[beside], None);
    row.want(BESIDE_RAW);
    let row = figures.push(&of("pipeline / asymptote"), "x", &[ours / asymptote], None);
    row.want(1.0 / case.least);
    let graphs = median(&by_graphs) / asymptote;
    let row = figures.push(&of("pipeline, as graphs / asymptote"), "x", &[graphs], None);
    row.want(1.0 / case.least);
    let calls = median(&by_calls) / asymptote;
    figures.push(&of("driver's calls / asymptote"), "x", &[calls], None);
    let speedup = median(&in_sequence) / ours;
    figures.push(&of("speed-up"), "x", &[speedup], None);
    let bound = alone.speedup();
    figures.push(&of("bound of the speed-up"), "x", &[bound], None);
    drop((serial, overlapped, as_graphs, raw));
    let config = PipelineConfig::new(elements, elements).measured();
    let mut pipeline = Pipeline::new(context, pool, config)?;
    let put = |step: Step<'_, f32, f32>| {
        work.put(step.input, step.output, load.rounds, step.stream)?;
        Ok(elements)
    };
    sampling::device_rows(figures, name, &mut pipeline, &alone, plan.items, put)?;
    Ok(())
}
