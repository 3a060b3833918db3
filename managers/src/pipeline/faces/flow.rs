//! `Flow`: a run whose inputs come and whose outputs go one at a time.

use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, ItemStage};
use crate::pipeline::engine::Engine;
use crate::pipeline::item::{Item, Step};
use crate::pipeline::telemetry::scope;

/// The pipeline and the closures of a run. It ends with its first error, and when it is dropped the
/// items that are in flight are waited for and dropped.
pub(super) struct Flow<'p, I: DeviceCopy, O: DeviceCopy, F, S, T> {
    engine: &'p mut Engine<I, O>,
    fill: F,
    step: S,
    take: T,
    is_over: bool,
}

impl<'p, I: DeviceCopy, O: DeviceCopy, F, S, T> Flow<'p, I, O, F, S, T> {
    pub(super) fn new(engine: &'p mut Engine<I, O>, fill: F, step: S, take: T) -> Self {
        Self {
            engine,
            fill,
            step,
            take,
            is_over: false,
        }
    }

    pub(super) fn engine(&self) -> &Engine<I, O> {
        self.engine
    }

    #[cfg(feature = "futures")]
    pub(super) fn engine_mut(&mut self) -> &mut Engine<I, O> {
        self.engine
    }

    /// Begins the run.
    #[track_caller]
    pub(super) fn begin<E: From<Error>>(&mut self) -> Result<(), ItemError<E>> {
        self.engine.begin()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Ends the run, whose items in flight are dropped.
    #[track_caller]
    pub(super) fn end(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            scope::ended(&self.engine.report(), None);
        }
        // What could not be waited for is told by the next use of the pipeline.
        let _ = self.engine.drain();
    }

    /// Fills the next slot, of which there is one, with `input` and submits it.
    #[track_caller]
    pub(super) fn put<X, E: From<Error>>(&mut self, input: X) -> Result<(), ItemError<E>>
    where
        F: FnMut(X, &mut [I]) -> Result<usize, E>,
        S: FnMut(Step<'_, I, O>) -> Result<usize, E>,
    {
        let (index, stage) = (self.engine.next(), ItemStage::Fill);
        let slot = self.engine.input_mut().unwrap_or_default();
        let len = (self.fill)(input, slot).map_err(|error| ItemError {
            index,
            stage,
            error,
        })?;
        self.engine.submit(len, &mut self.step)?;
        Ok(())
    }

    /// What the program makes of the oldest item, once it has arrived; `None` when none is in flight.
    #[track_caller]
    pub(super) fn take<R, E: From<Error>>(&mut self) -> Result<Option<R>, ItemError<E>>
    where
        T: FnMut(Item<'_, O>) -> Result<R, E>,
    {
        if !self.engine.find_item() {
            return Ok(None);
        }
        if !self.engine.has_room() {
            self.engine.make_room();
        }
        let Some(item) = self.engine.take()? else {
            return Ok(None);
        };
        let (index, stage) = (item.index, ItemStage::Sink);
        let taken = (self.take)(item).map_err(|error| ItemError {
            index,
            stage,
            error,
        })?;
        Ok(Some(taken))
    }
}

impl<I: DeviceCopy, O: DeviceCopy, F, S, T> Drop for Flow<'_, I, O, F, S, T> {
    fn drop(&mut self) {
        self.end();
    }
}
