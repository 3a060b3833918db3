//! Items by callbacks.

use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, ItemStage};
use crate::pipeline::Pipeline;
use crate::pipeline::engine::Engine;
use crate::pipeline::item::{Item, Step};
use crate::pipeline::telemetry::Report;

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// Runs items through the pipeline until `fill` has no more.
    ///
    /// For each item, in order: `fill` writes its input and returns how many elements that are, or
    /// `None` at the end; `step` puts its kernels on [`Step::stream`] and returns how many elements
    /// of [`Step::output`] they write, from the first on; `sink` is given these elements when they
    /// have arrived, and nothing else. All three run on the calling thread;
    /// [`producers`](Self::producers) fills on others.
    ///
    /// Items of before that were not taken are dropped.
    ///
    /// # Errors
    /// The first error of the device or of a closure, with its item and stage; [`Error::Invalid`]
    /// when more elements are filled or written than there is room for. All items in flight are
    /// waited for then, and no more outputs are delivered; the pipeline can be used again, unless
    /// the context is lost.
    #[track_caller]
    pub fn run<E: From<Error>>(
        &mut self,
        mut fill: impl FnMut(&mut [I]) -> Result<Option<usize>, E>,
        mut step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        mut sink: impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, ItemError<E>> {
        self.engine.begin()?;
        let run = run_items(&mut self.engine, &mut fill, &mut step, &mut sink);
        self.engine.end(run)
    }
}

#[track_caller]
fn run_items<I: DeviceCopy, O: DeviceCopy, E: From<Error>>(
    engine: &mut Engine<I, O>,
    fill: &mut impl FnMut(&mut [I]) -> Result<Option<usize>, E>,
    step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
) -> Result<(), ItemError<E>> {
    loop {
        let (index, stage) = (engine.next(), ItemStage::Fill);
        let Some(input) = engine.input_mut() else {
            engine.make_room();
            engine.deliver(sink)?;
            continue;
        };
        let filled = fill(input).map_err(|error| ItemError {
            index,
            stage,
            error,
        })?;
        let Some(len) = filled else {
            break;
        };
        engine.submit(len, step)?;
    }
    engine.deliver_all(sink)
}
