//! Items through a pipeline of this crate.

use std::time::Instant;

use cupola::MemoryPool;
use cupola_managers::pipeline::{Graphs, Pipeline, PipelineConfig};
use cupola_managers::{Context, Error};

use super::PipelineError;
use super::kernel::Work;

/// A pipeline, and the size of its items.
pub(super) struct Loop {
    pipeline: Pipeline<f32, f32>,
    elements: usize,
}

impl Loop {
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        elements: usize,
        depth: usize,
        graphs: Graphs,
    ) -> Result<Self, Error> {
        let config = PipelineConfig::new(elements, elements).depth(depth);
        let config = config.graphs(graphs);
        let pipeline = Pipeline::new(context, pool, config)?;
        Ok(Self { pipeline, elements })
    }

    /// Microseconds for each of `items` items.
    pub(super) fn run(
        &mut self,
        work: &Work,
        rounds: u32,
        items: u64,
    ) -> Result<f64, PipelineError> {
        let elements = self.elements;
        let expected = Work::expected(0.0, rounds);
        let (mut left, mut right) = (items, true);
        let start = Instant::now();
        let ran = self.pipeline.run(
            |_| {
                // What the slot holds from the beginning, zeros, is as good as anything: the pipeline is
                // measured, not the host's memory.
                let more = left > 0;
                left -= u64::from(more);
                Ok::<_, Error>(more.then_some(elements))
            },
            |step| {
                work.put(step.input, step.output, rounds, step.stream)?;
                Ok(elements)
            },
            |item| {
                let ends = [item.output.first(), item.output.last()];
                right &= ends.iter().all(|end| end == &Some(&expected));
                Ok(())
            },
        );
        let took = start.elapsed().as_secs_f64() * 1e6 / items as f64;
        ran.map_err(Error::from)?;
        match right {
            true => Ok(took),
            false => Err(PipelineError::Wrong("the pipeline")),
        }
    }
}
