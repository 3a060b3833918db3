//! What a thread pays to submit an item while slots are free: nothing of this is waiting.

use std::time::Instant;

use cupola::MemoryPool;
use cupola_managers::pipeline::{Graphs, Pipeline, PipelineConfig};
use cupola_managers::{Context, Error};

use super::kernel::Work;
use super::{PipelineError, raw};
use crate::bench::Figures;

/// Items that are submitted between two waits, and their elements.
const DEPTH: usize = 8;
const ELEMENTS: usize = 256;

/// Bytes up to which kernels make the copies where they do.
const KERNEL_COPIES: usize = 4 << 10;

/// What a submitted item may take beside the driver's calls.
const BESIDE_RAW: f64 = 1.1;
/// Microseconds that a submitted item may take that is launched as a graph.
const AS_GRAPH: f64 = 4.0;

pub(super) fn run(
    figures: &mut Figures,
    context: &Context,
    pool: &MemoryPool,
    work: &Work,
    quick: bool,
) -> Result<(), PipelineError> {
    let (rounds, batches) = if quick { (1, 2) } else { (21, 50) };
    let mut raw = raw::Loop::new(context, pool, ELEMENTS, DEPTH)?;
    let config = PipelineConfig::new(ELEMENTS, ELEMENTS).depth(DEPTH);
    let mut pipeline = Pipeline::new(context, pool, config)?;
    let config = config.graphs(Graphs::Steps);
    let mut graphs = Pipeline::new(context, pool, config)?;
    let mut small = Pipeline::new(context, pool, config.kernel_copies(KERNEL_COPIES))?;
    let [mut by_calls, mut by_graph, mut by_pipeline] = [const { Vec::new() }; 3];
    let [mut by_graphs, mut by_kernels] = [const { Vec::new() }; 2];
    for round in 0..=rounds {
        let calls = by_driver(&mut raw, work, batches)?;
        let graph = by_driver_as_graph(&raw, work, batches)?;
        let ours = by_cupola(&mut pipeline, work, batches)?;
        let as_graphs = by_cupola(&mut graphs, work, batches)?;
        let copied = by_cupola(&mut small, work, batches)?;
        // The first round warms up, and captures.
        if round > 0 {
            by_calls.push(calls);
            by_graph.push(graph);
            by_pipeline.push(ours);
            by_graphs.push(as_graphs);
            by_kernels.push(copied);
        }
    }
    let against = "submitting an item: the driver's calls";
    figures.push(against, "us", &by_calls, None);
    let row = figures.push(
        "submitting an item: the pipeline",
        "us",
        &by_pipeline,
        Some(against),
    );
    let most = BESIDE_RAW * crate::bench::median(&by_calls);
    row.want(most);
    let by_hand = "submitting an item: the driver's call for a graph of it";
    figures.push(by_hand, "us", &by_graph, Some(against));
    let row = figures.push(
        "submitting an item: the pipeline, as a graph",
        "us",
        &by_graphs,
        Some(by_hand),
    );
    row.want(AS_GRAPH);
    let row = figures.push(
        "submitting an item: the pipeline, as a graph, copied by kernels",
        "us",
        &by_kernels,
        Some(by_hand),
    );
    row.want(AS_GRAPH);
    for (pipeline, copies) in [(&graphs, "engines"), (&small, "kernels")] {
        let report = pipeline.graph_report();
        figures.notes.push(format!(
            "of the items that were to be launched as graphs, with copies by {copies}, {} were, and {} were put \
             by calls of their own",
            report.launched, report.direct
        ));
    }
    Ok(())
}

fn by_driver(raw: &mut raw::Loop, work: &Work, batches: u32) -> Result<f64, PipelineError> {
    let mut submitting = 0.0;
    for _ in 0..batches {
        let start = Instant::now();
        for slot in 0..raw.depth() {
            raw.submit(slot, work, 1)?;
        }
        submitting += start.elapsed().as_secs_f64();
        for slot in 0..raw.depth() {
            raw.take(slot, Work::expected(0.0, 1))?;
        }
    }
    Ok(submitting * 1e6 / f64::from(batches) / raw.depth() as f64)
}

fn by_driver_as_graph(raw: &raw::Loop, work: &Work, batches: u32) -> Result<f64, PipelineError> {
    let graphs = raw.graphs(work, 1)?;
    let mut submitting = 0.0;
    // The first batch uploads the graphs.
    for batch in 0..=batches {
        let start = Instant::now();
        for slot in 0..raw.depth() {
            graphs.submit(slot)?;
        }
        if batch > 0 {
            submitting += start.elapsed().as_secs_f64();
        }
        for slot in 0..raw.depth() {
            raw.take(slot, Work::expected(0.0, 1))?;
        }
    }
    Ok(submitting * 1e6 / f64::from(batches) / raw.depth() as f64)
}

fn by_cupola(
    pipeline: &mut Pipeline<f32, f32>,
    work: &Work,
    batches: u32,
) -> Result<f64, PipelineError> {
    let (mut submitting, mut submitted) = (0.0, 0_u32);
    for _ in 0..batches {
        let start = Instant::now();
        while let Some(input) = pipeline.try_input() {
            let step = |step: cupola_managers::pipeline::Step<'_, f32, f32>| {
                work.put(step.input, step.output, 1, step.stream)?;
                Ok::<_, Error>(ELEMENTS)
            };
            input.submit(ELEMENTS, step).map_err(Error::from)?;
            submitted += 1;
        }
        submitting += start.elapsed().as_secs_f64();
        while let Some(item) = pipeline.output().map_err(Error::from)? {
            if item.output.first() != Some(&Work::expected(0.0, 1)) {
                return Err(PipelineError::Wrong("the pipeline"));
            }
        }
    }
    Ok(submitting * 1e6 / f64::from(submitted))
}
