//! Items over several pipelines, each of a device of its own.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, Result};
use crate::pipeline::{Cancelled, Input, Item, Pipeline, Step};

/// Pipelines of several devices as one: each item goes to the one with the least outstanding work, and
/// the outputs come in the order of all inputs.
///
/// ```
/// use cupola_managers::pipeline::{MultiPipeline, Pipeline, PipelineConfig};
/// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().devices(2).build().driver();
/// let execution = ExecutionManager::new(driver)?;
/// let mut pipelines = Vec::new();
/// for device in execution.devices().iter() {
///     let context = device?.primary()?;
///     let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
///     pipelines.push(Pipeline::<u32, u32>::new(&context, &pool, PipelineConfig::new(1, 1))?);
/// }
/// let mut pipeline = MultiPipeline::new(pipelines)?;
/// let (mut sent, mut received) = (0, 0);
/// while received < 10 {
///     match pipeline.try_input().filter(|_| sent < 10) {
///         Some(mut input) => {
///             input[0] = sent;
///             // In place of a kernel, of the device of `input.place()`.
///             input.submit(1, |step| ops::copy(step.input, step.output, step.stream).map(|()| 1))?;
///             sent += 1;
///         }
///         None => {
///             let item = pipeline.output()?.expect("one is in flight");
///             assert_eq!((item.index, item.output), (u64::from(received), &[received][..]));
///             received += 1;
///         }
///     }
/// }
/// # Ok::<_, Error>(())
/// ```
pub struct MultiPipeline<I: DeviceCopy, O: DeviceCopy> {
    pipelines: Vec<Pipeline<I, O>>,
    /// The items in flight, the oldest first, and before them one that may be over.
    sent: VecDeque<Sent>,
    /// Number of the next item.
    next: u64,
    /// Items that were taken.
    taken: u64,
    /// The pipeline that had the last item.
    last: usize,
}

/// An item in flight: its number, and the place of its pipeline.
#[derive(Clone, Copy)]
struct Sent {
    index: u64,
    place: usize,
}

impl<I: DeviceCopy, O: DeviceCopy> MultiPipeline<I, O> {
    /// Makes one of these, which have no item in flight.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are none, or one has an item in flight.
    pub fn new(pipelines: Vec<Pipeline<I, O>>) -> Result<Self> {
        let problem = if pipelines.is_empty() {
            "there are none"
        } else if pipelines.iter().any(|pipeline| pipeline.in_flight() > 0) {
            "one has an item in flight"
        } else {
            let slots: usize = pipelines.iter().map(Pipeline::depth).sum();
            return Ok(Self {
                last: pipelines.len() - 1,
                sent: VecDeque::with_capacity(slots + 1),
                pipelines,
                next: 0,
                taken: 0,
            });
        };
        Err(Error::invalid("pipelines", problem))
    }

    /// The pipelines, in the order in which they were given. Each numbers its own items.
    #[must_use]
    pub fn pipelines(&self) -> &[Pipeline<I, O>] {
        &self.pipelines
    }

    /// How many items were submitted and not taken.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.pipelines.iter().map(Pipeline::in_flight).sum()
    }

    /// The pinned input of the next item, of the pipeline whose slots are in use least; of several such,
    /// the one that has waited longest for an item. `None` while all slots of all are in flight.
    pub fn try_input(&mut self) -> Option<MultiInput<'_, I, O>> {
        let count = self.pipelines.len();
        let mut least: Option<(usize, &Pipeline<I, O>)> = None;
        for step in 1..=count {
            let place = (self.last + step) % count;
            let pipeline = &self.pipelines[place];
            if pipeline.is_full() {
                continue;
            }
            // Shares of the slots, as products.
            let is_less = least.is_none_or(|(_, least)| {
                pipeline.in_flight() * least.depth() < least.in_flight() * pipeline.depth()
            });
            if is_less {
                least = Some((place, pipeline));
            }
        }
        let sent = Sent {
            index: self.next,
            place: least?.0,
        };
        Some(MultiInput {
            input: self.pipelines[sent.place].try_input()?,
            items: &mut self.sent,
            next: &mut self.next,
            last: &mut self.last,
            sent,
        })
    }

    /// The oldest item in flight; waits until it has arrived. `None` when none is in flight.
    ///
    /// # Errors
    /// As [`Pipeline::output`], with the number of the item among all. When the context of one device is
    /// lost its items never arrive: [`cancel`](Self::cancel) drops them with those of the others.
    #[track_caller]
    pub fn output(&mut self) -> Result<Option<Item<'_, O>>, ItemError<Error>> {
        let Some(Sent { index, place }) = self.oldest() else {
            return Ok(None);
        };
        numbered(index, self.pipelines[place].output())
    }

    /// The oldest item in flight, if it has arrived.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    #[track_caller]
    pub fn try_output(&mut self) -> Result<Option<Item<'_, O>>, ItemError<Error>> {
        let Some(Sent { index, place }) = self.oldest() else {
            return Ok(None);
        };
        numbered(index, self.pipelines[place].try_output())
    }

    /// The oldest item in flight.
    fn oldest(&mut self) -> Option<Sent> {
        self.forget_over();
        self.sent.front().copied()
    }

    /// Forgets the oldest items as far as they are over: those that were taken, or whose bytes were no
    /// values. Their pipelines know.
    fn forget_over(&mut self) {
        while let Some(&Sent { place, .. }) = self.sent.front() {
            let sent = self.sent.iter().filter(|sent| sent.place == place).count();
            if sent == self.pipelines[place].in_flight() {
                break;
            }
            self.sent.pop_front();
            self.taken += 1;
        }
    }

    /// Drops the items in flight of all pipelines, once no work of theirs runs any more. Items count from
    /// 0 again.
    ///
    /// # Errors
    /// The first of [`Pipeline::cancel`]; the other pipelines are cancelled all the same.
    #[track_caller]
    pub fn cancel(&mut self) -> Result<Cancelled, ItemError<Error>> {
        self.forget_over();
        let cancelled = Cancelled {
            taken: self.taken,
            dropped: self.sent.len() as u64,
        };
        let mut first = Ok(cancelled);
        for pipeline in &mut self.pipelines {
            if let Err(error) = pipeline.cancel() {
                first = first.and(Err(error));
            }
        }
        self.sent.clear();
        (self.next, self.taken) = (0, 0);
        first
    }
}

/// What a pipeline found, with the number of the item among those of all.
fn numbered<O>(
    index: u64,
    found: Result<Option<Item<'_, O>>, ItemError<Error>>,
) -> Result<Option<Item<'_, O>>, ItemError<Error>> {
    match found {
        Ok(item) => Ok(item.map(|item| Item { index, ..item })),
        Err(error) => Err(ItemError { index, ..error }),
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for MultiPipeline<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiPipeline")
            .field("pipelines", &self.pipelines)
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

/// The pinned input of the next item, from [`MultiPipeline::try_input`]. Dropped without
/// [`submit`](Self::submit) it is no item.
pub struct MultiInput<'p, I: DeviceCopy, O: DeviceCopy> {
    input: Input<'p, I, O>,
    items: &'p mut VecDeque<Sent>,
    next: &'p mut u64,
    last: &'p mut usize,
    sent: Sent,
}

impl<I: DeviceCopy, O: DeviceCopy> MultiInput<'_, I, O> {
    /// Number of the item among those of all pipelines.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.sent.index
    }

    /// The place of its pipeline in [`MultiPipeline::pipelines`], for a step that needs the kernels
    /// of its device.
    #[must_use]
    pub fn place(&self) -> usize {
        self.sent.place
    }

    /// Submits the first `len` elements as the item, as [`Input::submit`] does, and returns its number.
    /// [`Step::index`] is the same number.
    ///
    /// # Errors
    /// As [`Input::submit`]: there is no item of this number then.
    #[track_caller]
    pub fn submit<E: From<Error>>(
        self,
        len: usize,
        mut step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<u64, ItemError<E>> {
        let Sent { index, place } = self.sent;
        *self.next = index + 1;
        *self.last = place;
        let submitted = self
            .input
            .submit(len, |inner| step(Step { index, ..inner }));
        submitted.map_err(|error| ItemError { index, ..error })?;
        self.items.push_back(self.sent);
        Ok(index)
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Deref for MultiInput<'_, I, O> {
    type Target = [I];

    fn deref(&self) -> &[I] {
        &self.input
    }
}

impl<I: DeviceCopy, O: DeviceCopy> DerefMut for MultiInput<'_, I, O> {
    fn deref_mut(&mut self) -> &mut [I] {
        &mut self.input
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for MultiInput<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiInput")
            .field("index", &self.index())
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}
