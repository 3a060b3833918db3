//! Filling a pipeline's pinned inputs on other threads.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::feed::{Feed, Next};
use super::{Item, Pipeline, Report, Step};
use crate::buffer::DeviceCopy;
use crate::error::Error;

/// The pinned inputs of a pipeline, by slot, and the feed that offers them to threads.
pub(super) struct Inputs<I> {
    feed: Feed,
    starts: Box<[NonNull<I>]>,
    /// Elements of each.
    len: usize,
}

// SAFETY: the memory behind the addresses is touched only through an `InputSlot`, of which there
// is one at a time for each, and by the pipeline while there is none.
unsafe impl<I: DeviceCopy> Send for Inputs<I> {}
// SAFETY: the memory is touched through one `InputSlot` at a time, or by the pipeline; the feed has
// a lock of its own.
unsafe impl<I: DeviceCopy> Sync for Inputs<I> {}

impl<I> Inputs<I> {
    pub(super) fn new(starts: Box<[NonNull<I>]>, len: usize) -> Self {
        Self {
            feed: Feed::new(starts.len()),
            starts,
            len,
        }
    }
}

/// The right to fill inputs of a pipeline, from [`Pipeline::producers`]. Clone it for each thread.
/// The run ends when the last clone is dropped and all slots are back.
pub struct Producer<'p, I: DeviceCopy> {
    inputs: Arc<Inputs<I>>,
    pipeline: PhantomData<&'p mut [I]>,
}

impl<'p, I: DeviceCopy> Producer<'p, I> {
    fn new(inputs: Arc<Inputs<I>>) -> Self {
        Self {
            inputs,
            pipeline: PhantomData,
        }
    }

    /// The next input to fill, numbered in the order of these calls: the items arrive in the order
    /// of their numbers. Waits while all slots are in flight, which is the back-pressure. `None`
    /// when the run has ended, with an error or because its [`Consumer`] was dropped.
    #[must_use]
    pub fn slot(&self) -> Option<InputSlot<'p, I>> {
        let index = self.inputs.feed.take()?;
        Some(InputSlot {
            index,
            inputs: Arc::clone(&self.inputs),
            pipeline: PhantomData,
        })
    }
}

impl<I: DeviceCopy> Clone for Producer<'_, I> {
    fn clone(&self) -> Self {
        self.inputs.feed.add_producer();
        Self::new(Arc::clone(&self.inputs))
    }
}

impl<I: DeviceCopy> Drop for Producer<'_, I> {
    fn drop(&mut self) {
        self.inputs.feed.remove_producer();
    }
}

impl<I: DeviceCopy> fmt::Debug for Producer<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").finish_non_exhaustive()
    }
}

/// A pinned input, for one thread to fill. Its contents are those of an earlier item, or zeros.
///
/// Dropped without [`submit`](Self::submit) it is no item: its number is left out. A slot that is
/// leaked (`mem::forget`) is waited for for ever.
pub struct InputSlot<'p, I: DeviceCopy> {
    index: u64,
    inputs: Arc<Inputs<I>>,
    pipeline: PhantomData<&'p mut [I]>,
}

impl<I: DeviceCopy> InputSlot<'_, I> {
    /// Number of the item.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Hands the first `len` elements over as the item.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are not so many; there is no item of this number then.
    #[track_caller]
    pub fn submit(self, len: usize) -> Result<(), Error> {
        if len > self.inputs.len {
            return Err(too_long(len, self.inputs.len));
        }
        // Only `drop` gives it back without an item.
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, nor dropped.
        let inputs = unsafe { std::ptr::read(&raw const this.inputs) };
        inputs.feed.give_back(this.index, Some(len));
        Ok(())
    }

    fn start(&self) -> NonNull<I> {
        // The remainder is below the number of slots.
        self.inputs.starts[(self.index % self.inputs.starts.len() as u64) as usize]
    }
}

pub(super) fn too_long(len: usize, room: usize) -> Error {
    let problem = format!("{len} elements filled, there is room for {room}");
    Error::invalid("pipeline input", problem)
}

impl<I: DeviceCopy> Deref for InputSlot<'_, I> {
    type Target = [I];

    fn deref(&self) -> &[I] {
        // SAFETY: pinned memory of this length, initialised, that stays as long as the pipeline is
        // borrowed; this slot is the only one of its place until it is given back, and no upload
        // from it runs: the pipeline offers a place after the item that was there has arrived.
        unsafe { std::slice::from_raw_parts(self.start().as_ptr(), self.inputs.len) }
    }
}

impl<I: DeviceCopy> DerefMut for InputSlot<'_, I> {
    fn deref_mut(&mut self) -> &mut [I] {
        // SAFETY: as in `deref`, pinned memory of this length that is the slot's alone and that no
        // upload reads; and the slot is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr(), self.inputs.len) }
    }
}

impl<I: DeviceCopy> Drop for InputSlot<'_, I> {
    fn drop(&mut self) {
        self.inputs.feed.give_back(self.index, None);
    }
}

impl<I: DeviceCopy> fmt::Debug for InputSlot<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputSlot")
            .field("index", &self.index)
            .field("len", &self.inputs.len)
            .finish()
    }
}

/// The other half of [`Pipeline::producers`]: sends the inputs that the threads fill through the
/// pipeline. Dropping it ends the run for them.
pub struct Consumer<'p, I: DeviceCopy, O: DeviceCopy> {
    pipeline: &'p mut Pipeline<I, O>,
    inputs: Arc<Inputs<I>>,
}

impl<'p, I: DeviceCopy, O: DeviceCopy> Consumer<'p, I, O> {
    pub(super) fn new(pipeline: &'p mut Pipeline<I, O>) -> (Producer<'p, I>, Self) {
        let inputs = Arc::new(pipeline.inputs());
        let producer = Producer::new(Arc::clone(&inputs));
        (producer, Self { pipeline, inputs })
    }

    /// Works on the items in the order of their numbers, until all producers are gone.
    ///
    /// `step` and `sink` are as for [`Pipeline::run`], and run on the calling thread.
    ///
    /// # Errors
    /// As for [`Pipeline::run`]. Producers get no more slots then.
    #[track_caller]
    pub fn run<E: From<Error>>(
        self,
        mut step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        mut sink: impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, E> {
        self.pipeline.drain()?;
        let run = self.pipeline.run_fed(&self.inputs, &mut step, &mut sink);
        // Before the producers are told, and also after success: slots that no thread took.
        let drained = self.pipeline.drain();
        let report = run?;
        drained?;
        Ok(report)
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Drop for Consumer<'_, I, O> {
    fn drop(&mut self) {
        self.inputs.feed.end();
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for Consumer<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").finish_non_exhaustive()
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    #[track_caller]
    fn run_fed<E: From<Error>>(
        &mut self,
        inputs: &Inputs<I>,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, E> {
        let mut report = Report::default();
        self.start_clock()?;
        // Turns that have begun, each with the slot that its number names: both go round in the
        // order of their numbers, and a drained pipeline begins with the first slot.
        let slots = self.turns.depth();
        let mut begun = vec![None; slots];
        let (mut next, mut offered) = (0_u64, 0_u64);
        let place = |number: u64| (number % slots as u64) as usize;
        loop {
            while let Some(turn) = self.turns.begin() {
                begun[place(offered)] = Some(turn);
                offered += 1;
                inputs.feed.offer();
            }
            let found = match inputs.feed.poll(next) {
                // The oldest item makes room for another one, while threads are at work.
                Next::Pending if self.is_downloading() => {
                    report.full_waits += u64::from(next == offered);
                    self.deliver(sink)?;
                    continue;
                }
                Next::Pending => inputs.feed.wait_for(next),
                found => found,
            };
            let len = match found {
                Next::Filled(len) => Some(len),
                Next::Skipped => None,
                Next::Pending | Next::Over => break,
            };
            let Some(turn) = begun[place(next)].take() else {
                break;
            };
            self.put(turn, next, len, step)?;
            report.items += u64::from(len.is_some());
            next += 1;
        }
        self.finish(report, sink)
    }
}
