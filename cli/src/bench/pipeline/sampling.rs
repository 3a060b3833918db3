//! What it costs to measure a pipeline, and what is found: part of `bench pipeline`.
//!
//! The same small steps, of some 50 us on a GPU, through three pipelines that take turns: one that measures
//! nothing, one that measures what [`Sampling::SPARSE`] does, and one that measures every item.

use std::num::NonZeroU64;
use std::time::Instant;

use cupola_managers::pipeline::{Asymptote, Pipeline, PipelineConfig, Sampling, Step, StepTimes};
use cupola_managers::{Context, Error, MemoryPool};

use super::kernel::Work;
use crate::bench::Figures;

/// Sizes of a measurement.
pub(super) struct Plan {
    /// Elements of an item.
    pub(super) elements: usize,
    /// Items of a run.
    pub(super) items: u64,
    /// Runs of each pipeline.
    pub(super) rounds: usize,
}

const NOT: &str = "step, not measured";
const SAMPLED: &str = "step, sampled";
const ALL: &str = "step, all measured";

/// Adds the rows.
///
/// # Errors
/// What the driver returned.
pub(super) fn rows(
    figures: &mut Figures,
    context: &Context,
    pool: &MemoryPool,
    plan: &Plan,
    work: &Work,
) -> Result<(), Error> {
    let sampled = match plan.items > 4096 {
        true => Sampling::SPARSE,
        // So few items that the figures mean nothing: but some are measured.
        false => Sampling::OneRunIn(NonZeroU64::new(plan.items / 4).unwrap_or(NonZeroU64::MIN)),
    };
    let make = |sampling| {
        let config = PipelineConfig::new(plan.elements, plan.elements).sampling(sampling);
        Pipeline::<f32, f32>::new(context, pool, config)
    };
    let mut found = [
        (NOT, make(Sampling::Off)?, Vec::new()),
        (SAMPLED, make(sampled)?, Vec::new()),
        (ALL, make(Sampling::All)?, Vec::new()),
    ];
    let mut times = StepTimes::default();
    // The first round warms up.
    for round in 0..=plan.rounds {
        for (name, pipeline, rounds) in &mut found {
            let microseconds = run(pipeline, plan, work)?;
            if round == 0 {
                continue;
            }
            rounds.push(microseconds);
            if *name == ALL
                && let Some(more) = pipeline.step_times()
            {
                times.merge(more);
            }
        }
    }
    for (name, _, rounds) in &found {
        figures.push(name, "us/item", rounds, (*name != NOT).then_some(NOT));
    }
    if sampled == Sampling::SPARSE {
        figures.want(SAMPLED, 1.01, &[NOT]);
    }
    if let Some(mean) = times.interval.mean() {
        figures.push(
            "step interval mean",
            "us",
            &[mean.as_secs_f64() * 1e6],
            None,
        );
    }
    for (name, percent) in [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("max", 100.0)] {
        for (what, histogram) in [("latency", &times.latency), ("interval", &times.interval)] {
            if let Some(time) = histogram.percentile(percent) {
                let microseconds = time.as_secs_f64() * 1e6;
                figures.push(&format!("step {what} {name}"), "us", &[microseconds], None);
            }
        }
    }
    Ok(())
}

/// Microseconds for an item of a run.
fn run(pipeline: &mut Pipeline<f32, f32>, plan: &Plan, work: &Work) -> Result<f64, Error> {
    let mut left = plan.items;
    let start = Instant::now();
    pipeline.run(
        |_| {
            let more = left > 0;
            left -= u64::from(more);
            Ok::<_, Error>(more.then_some(plan.elements))
        },
        |step| {
            work.put(step.input, step.output, 1, step.stream)?;
            Ok(plan.elements)
        },
        |_| Ok(()),
    )?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / plan.items as f64)
}

/// Runs so many whole items with `repeats` kernels each through a pipeline that measures them, and adds how
/// far they came towards `asymptote` by the device's clock, and how busy its engines were.
///
/// # Errors
/// What the driver returned.
pub(super) fn device_rows(
    figures: &mut Figures,
    ratio: &str,
    pipeline: &mut Pipeline<f32, f32>,
    asymptote: &Asymptote,
    items: u64,
    mut put: impl FnMut(Step<'_, f32, f32>) -> Result<usize, Error>,
) -> Result<(), Error> {
    let mut overlap = None;
    // The first run warms up.
    for _ in 0..2 {
        let mut left = items;
        let report = pipeline.run(
            |input| {
                let more = left > 0;
                left -= u64::from(more);
                Ok::<_, Error>(more.then_some(input.len()))
            },
            &mut put,
            |_| Ok(()),
        )?;
        overlap = report.overlap;
    }
    let Some(overlap) = overlap else {
        return Ok(());
    };
    let mut push = |name: &str, unit, value: f64| {
        figures.push(&format!("{ratio}: {name}"), unit, &[value], None);
    };
    push(
        "device efficiency",
        "of the asymptote",
        overlap.efficiency_of(asymptote),
    );
    let busy = overlap.utilisation();
    push("upload busy", "of the span", busy.upload);
    push("compute busy", "of the span", busy.compute);
    push("download busy", "of the span", busy.download);
    Ok(())
}
