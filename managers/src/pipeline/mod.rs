//! `Pipeline`: uploads, kernels and downloads of a row of items, overlapped.
//!
//! Three non-blocking streams, one for each stage, and a ring of whole slots (pinned input,
//! device input, device output, pinned output). The stages of an item wait for each other on
//! the device, through events that take no time. A steady step allocates nothing and waits
//! on the host only when all slots are in flight, and then for one thing: the download of
//! the oldest. That wait is the back-pressure.

mod clock;
mod config;
pub(crate) mod feed;
mod producer;
mod report;
mod slot;

use std::fmt;

use cupola_core::{Stage, StageRing, Turn};

pub use config::PipelineConfig;
pub use producer::{Consumer, InputSlot, Producer};
pub use report::{OverlapReport, Report, StageTimes};

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::error::{Error, Result, Site};
use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::submit;
use crate::stream::{Stream, StreamConfig};
use clock::Clock;
use producer::Inputs;
use slot::Slot;

/// One item on the device: the stream for a step's kernels, and the memory that they work on.
#[derive(Debug)]
pub struct Step<'s, I: DeviceCopy, O: DeviceCopy> {
    /// The number of the item in its run, from 0.
    pub index: u64,
    /// The compute stream.
    pub stream: &'s Stream,
    /// The item's input, as long as it was filled.
    pub input: DeviceSlice<'s, I>,
    /// Where the item's output goes. Its contents are those of an earlier item, or
    /// unspecified; the sink is given the elements that the step says it has written.
    pub output: DeviceSliceMut<'s, O>,
}

/// One item that has arrived, for a sink.
#[derive(Debug)]
pub struct Item<'s, O> {
    /// The number of the item in its run, from 0.
    pub index: u64,
    /// Elements that its input was filled with.
    pub input_len: usize,
    /// Its output: as many elements as the step said.
    pub output: &'s [O],
}

/// Overlaps upload, computation and download, in order, with as many items in flight as
/// [`PipelineConfig::depth`] says.
pub struct Pipeline<I: DeviceCopy, O: DeviceCopy> {
    turns: StageRing,
    slots: Vec<Slot<I, O>>,
    clock: Option<Clock>,
    streams: StageStreams,
    /// Work may still run that could not be waited for: the pipeline is of no use any more.
    lost: bool,
}

/// The three streams.
struct StageStreams {
    upload: Stream,
    compute: Stream,
    download: Stream,
    context: Context,
}

impl StageStreams {
    #[track_caller]
    fn new(context: &Context) -> Result<Self> {
        let streams = context.streams();
        Ok(Self {
            upload: streams.acquire(StreamConfig::default())?,
            compute: streams.acquire(StreamConfig::default())?,
            download: streams.acquire(StreamConfig::default())?,
            context: context.clone(),
        })
    }

    fn all(&self) -> [&Stream; 3] {
        [&self.upload, &self.compute, &self.download]
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// A pipeline of this configuration; everything it needs is made here.
    ///
    /// # Errors
    /// [`Error::OverLimit`] when the slots do not fit the pool, [`Error::OutOfMemory`] when the device
    /// has too little left; [`Error::WrongContext`] when the pool is another context's;
    /// [`Error::Full`] when there are too many streams, events or buffers for its own,
    /// [`Error::ShutDown`] when their manager was shut down; [`Error::Invalid`] when an item is more
    /// bytes than there are addresses, or the depth is 0; [`Error::Poisoned`], [`Error::Forked`];
    /// what the driver returned.
    #[track_caller]
    pub fn new(context: &Context, pool: &MemoryPool, config: PipelineConfig) -> Result<Self> {
        let depth = config.slots()?;
        let streams = StageStreams::new(context)?;
        let mut slots = Vec::new();
        for _ in 0..depth.get() {
            slots.push(Slot::new(context, pool, config, &streams)?);
        }
        let clock = if config.measured {
            Some(Clock::new(context)?)
        } else {
            None
        };
        Ok(Self {
            turns: StageRing::new(depth),
            slots,
            clock,
            streams,
            lost: false,
        })
    }

    /// Runs items through the pipeline until `fill` has no more.
    ///
    /// For each item, in order: `fill` writes its input and returns how many elements that are, or
    /// `None` at the end; `step` puts its kernels on [`Step::stream`] and returns how many elements
    /// of [`Step::output`] they write, from the first on; `sink` is given these elements when they
    /// have arrived, and nothing else. All three run on the calling thread;
    /// [`producers`](Self::producers) fills on others.
    ///
    /// # Errors
    /// The first error of the device or of a closure; [`Error::Invalid`] when more elements are
    /// filled or written than there is room for. All items in flight are waited for then, and no
    /// more outputs are delivered; the pipeline can be used again, unless the context is lost.
    #[track_caller]
    pub fn run<E: From<Error>>(
        &mut self,
        mut fill: impl FnMut(&mut [I]) -> Result<Option<usize>, E>,
        mut step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        mut sink: impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, E> {
        self.drain()?;
        let run = self.run_items(&mut fill, &mut step, &mut sink);
        // Also after success: the turn that found no more items has not ended.
        let drained = self.drain();
        let report = run?;
        drained?;
        Ok(report)
    }

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
        Consumer::new(self)
    }

    #[track_caller]
    fn run_items<E: From<Error>>(
        &mut self,
        fill: &mut impl FnMut(&mut [I]) -> Result<Option<usize>, E>,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, E> {
        let mut report = Report::default();
        self.start_clock()?;
        loop {
            let Some(turn) = self.turns.begin() else {
                report.full_waits += 1;
                self.deliver(sink)?;
                continue;
            };
            let slot = &mut self.slots[self.turns.buffer(turn)];
            // SAFETY: the slot's last turn was delivered, so no copy of it runs.
            let Some(len) = fill(unsafe { slot.input_mut() })? else {
                break;
            };
            self.put(turn, report.items, Some(len), step)?;
            report.items += 1;
        }
        self.finish(report, sink)
    }

    #[track_caller]
    fn start_clock(&mut self) -> Result<()> {
        match &mut self.clock {
            Some(clock) => clock.start(&self.streams.upload),
            None => Ok(()),
        }
    }

    /// Puts all stages of one item on their streams; without a length there is no item in the slot.
    #[track_caller]
    fn put<E: From<Error>>(
        &mut self,
        turn: Turn,
        index: u64,
        len: Option<usize>,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<(), E> {
        let slot = &mut self.slots[self.turns.buffer(turn)];
        if let Some(len) = len {
            slot.upload(index, len, &self.streams)?;
        } else {
            slot.skip();
        }
        let _ = self.turns.advance(turn);
        if len.is_some() {
            let written = step(slot.begin_step(&self.streams)?)?;
            slot.download(written, &self.streams)?;
        }
        let _ = self.turns.advance(turn);
        Ok(())
    }

    fn is_downloading(&self) -> bool {
        self.turns.oldest(Stage::Downloading).is_some()
    }

    /// Delivers the items in flight, and completes the report.
    #[track_caller]
    fn finish<E: From<Error>>(
        &mut self,
        mut report: Report,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<Report, E> {
        while self.is_downloading() {
            self.deliver(sink)?;
        }
        report.overlap = self.clock.as_mut().and_then(Clock::finish);
        Ok(report)
    }

    /// Waits for the oldest item and gives it to `sink`.
    #[track_caller]
    fn deliver<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Ok(());
        };
        let slot = &self.slots[self.turns.buffer(turn)];
        if slot.has_item() {
            slot.wait()?;
            if let Some(clock) = &mut self.clock {
                clock.take(slot.marks())?;
            }
            // SAFETY: the download has completed, and the next one needs this turn to end.
            sink(unsafe { slot.item()? })?;
        }
        let _ = self.turns.advance(turn);
        Ok(())
    }

    /// The pinned inputs, in the order in which turns use them; nothing is in flight.
    fn inputs(&self) -> Inputs<I> {
        let first = self.turns.next_buffer();
        let slots = self.slots.iter().cycle().skip(first).take(self.slots.len());
        let len = self.slots.first().map_or(0, Slot::input_len);
        Inputs::new(slots.map(Slot::input_start).collect(), len)
    }

    /// Waits until nothing is in flight, and frees all slots.
    #[track_caller]
    fn drain(&mut self) -> Result<()> {
        if self.turns.in_flight() > 0 {
            // All three are waited for, even if one fails.
            let site = Site::here();
            self.lost |= !self
                .streams
                .all()
                .map(|stream| submit::settle(stream, site))
                .iter()
                .all(|&settled| settled);
            self.turns.reset();
        }
        if self.lost {
            return Err(self.streams.context.poison().unwrap_or_else(|| {
                Error::invalid(
                    "pipeline",
                    "work on it may still run: waiting for it failed",
                )
            }));
        }
        Ok(())
    }

    /// Waits on the host until all three streams are idle.
    ///
    /// # Errors
    /// As [`ops::synchronize`].
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        for stream in self.streams.all() {
            ops::synchronize(stream)?;
        }
        Ok(())
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Drop for Pipeline<I, O> {
    fn drop(&mut self) {
        if self.drain().is_err() && self.lost {
            for slot in &mut self.slots {
                slot.abandon();
            }
        }
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for Pipeline<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("slots", &self.slots.len())
            .field("in_flight", &self.turns.in_flight())
            .finish_non_exhaustive()
    }
}
