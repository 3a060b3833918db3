//! Filling a pipeline's pinned inputs on other threads.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::feed::{Feed, Next};
use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError};
use crate::pipeline::Pipeline;
use crate::pipeline::engine::Engine;
use crate::pipeline::item::{Item, Step, too_long};
use crate::pipeline::slot::Slot;
use crate::pipeline::telemetry::Report;

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
    engine: &'p mut Engine<I, O>,
    inputs: Arc<Inputs<I>>,
}

impl<'p, I: DeviceCopy, O: DeviceCopy> Consumer<'p, I, O> {
    fn new(engine: &'p mut Engine<I, O>) -> (Producer<'p, I>, Self) {
        let len = engine.slots().next().map_or(0, Slot::input_len);
        let starts = engine.slots().map(Slot::input_start).collect();
        let inputs = Arc::new(Inputs::new(starts, len));
        let producer = Producer::new(Arc::clone(&inputs));
        (producer, Self { engine, inputs })
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
    ) -> Result<Report, ItemError<E>> {
        self.engine.begin()?;
        let run = run_fed(self.engine, &self.inputs, &mut step, &mut sink);
        // Before the producers are told, and also after success: slots that no thread took.
        self.engine.end(run)
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

#[track_caller]
fn run_fed<I: DeviceCopy, O: DeviceCopy, E: From<Error>>(
    engine: &mut Engine<I, O>,
    inputs: &Inputs<I>,
    step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
) -> Result<(), ItemError<E>> {
    // Turns that have begun, each with the slot that its number names: both go round in the
    // order of their numbers, and a drained pipeline begins with the first slot.
    let slots = engine.turns().depth();
    let mut begun = vec![None; slots];
    let (mut next, mut offered) = (0_u64, 0_u64);
    let place = |number: u64| (number % slots as u64) as usize;
    loop {
        while let Some(turn) = engine.begin_turn() {
            begun[place(offered)] = Some(turn);
            offered += 1;
            inputs.feed.offer();
        }
        let found = match inputs.feed.poll(next) {
            // The oldest item makes room for another one, while threads are at work.
            Next::Pending if engine.has_output() => {
                if next == offered {
                    engine.note_full();
                }
                engine.deliver(sink)?;
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
        engine.put(turn, next, len, step)?;
        next += 1;
    }
    engine.deliver_all(sink)
}

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// Splits the pipeline for a run whose inputs are filled by other threads, each in pinned
    /// memory: nothing is copied on the host.
    ///
    /// ```no_run
    /// # use cupola_managers::{Error, pipeline::Pipeline};
    /// # fn read_chunk(_: u64, _: &mut [u8]) -> usize { 0 }
    /// # fn f(mut pipeline: Pipeline<u8, u8>) -> Result<(), Error> {
    /// std::thread::scope(|threads| {
    ///     let (producer, consumer) = pipeline.producers();
    ///     for _ in 0..4 {
    ///         let producer = producer.clone();
    ///         threads.spawn(move || -> Result<(), Error> {
    ///             while let Some(mut slot) = producer.slot() {
    ///                 match read_chunk(slot.index(), &mut slot) {
    ///                     0 => break,
    ///                     len => slot.submit(len)?,
    ///                 }
    ///             }
    ///             Ok(())
    ///         });
    ///     }
    ///     drop(producer); // the run ends when the threads' clones are gone
    ///     consumer.run(
    ///         |step| {
    ///             let len = step.input.len();
    ///             cupola_managers::ops::copy(step.input, step.output.slice(..len)?, step.stream)?;
    ///             Ok(len)
    ///         },
    ///         |item| { println!("{}: {} bytes", item.index, item.output.len()); Ok::<_, Error>(()) },
    ///     )
    /// })?;
    /// # Ok(()) }
    /// ```
    pub fn producers(&mut self) -> (Producer<'_, I>, Consumer<'_, I, O>) {
        Consumer::new(&mut self.engine)
    }
}
