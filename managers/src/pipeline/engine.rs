//! `Engine`: items through the slots, in order. Every face of a pipeline works through it.
//!
//! A turn of the ring is the generation of its slot, so a slot that is used again is never taken for
//! its earlier use.

use cupola_core::Turn;

use super::config::PipelineConfig;
use super::depth::{Adaptive, Growth, Turns};
use super::downloads::{CopyThread, Downloads};
use super::graphs::StepGraphs;
use super::rings::DeviceRing;
use super::slot::Slot;
use super::streams::StageStreams;
use super::telemetry::scope;
use super::telemetry::{Clock, Report};
use crate::buffer::DeviceCopy;
use crate::context::Context;
use crate::copies::CopyMode;
use crate::error::{Error, ItemError, ItemStage, Result, Site};
use crate::pool::MemoryPool;
use crate::stream::Stream;

pub(super) struct Engine<I: DeviceCopy, O: DeviceCopy> {
    pub(super) turns: Turns,
    pub(super) adaptive: Option<Box<Adaptive>>,
    /// Before the slots and the memory that its thread works with.
    pub(super) downloads: Downloads,
    /// Before the memory that they use.
    pub(super) graphs: StepGraphs,
    pub(super) slots: Vec<Slot<I, O>>,
    pub(super) inputs: DeviceRing<I>,
    pub(super) outputs: DeviceRing<O>,
    pub(super) clock: Option<Clock>,
    pub(super) streams: StageStreams,
    /// Number of the next item.
    pub(super) next: u64,
    /// The slot of the item that was put last, if that may be at work.
    pub(super) last: Option<usize>,
    pub(super) report: Report,
    /// Work may still run that could not be waited for: the engine is of no use any more.
    pub(super) lost: bool,
}

impl<I: DeviceCopy, O: DeviceCopy> Engine<I, O> {
    #[track_caller]
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        config: PipelineConfig,
    ) -> Result<Self> {
        let (depth, (inputs, outputs)) = (config.slots()?, config.buffers()?);
        let streams = StageStreams::new(context)?;
        // The memory is the compute stream's.
        let home = &streams.compute;
        let inputs = DeviceRing::new(inputs, config.input_len, pool, home, &streams.upload)?;
        let outputs = DeviceRing::new(outputs, config.output_len, pool, home, &streams.download)?;
        let mut slots = Vec::new();
        for _ in 0..depth.get() {
            slots.push(Slot::new(context, config)?);
        }
        let clock = Clock::new(context, config.sampling, config.most_slots()?.get())?;
        scope::made(depth.get(), streams.all());
        let downloads = Downloads::new(context, &config, &streams.download)?;
        Ok(Self {
            turns: Turns::new(depth, config.most_slots()?),
            adaptive: Adaptive::of(&config, pool),
            graphs: StepGraphs::new(&config, downloads.choice()),
            downloads,
            slots,
            inputs,
            outputs,
            clock,
            streams,
            next: 0,
            last: None,
            report: Report::default(),
            lost: false,
        })
    }

    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(super) fn clock(&self) -> Option<&Clock> {
        self.clock.as_ref()
    }

    pub(super) fn streams(&self) -> &StageStreams {
        &self.streams
    }

    /// The streams that work may be on.
    pub(super) fn all_streams(&self) -> impl Iterator<Item = &Stream> {
        self.streams.all().into_iter().chain(self.graphs.lanes())
    }

    /// The stream that the download is on of the item that was put last.
    pub(super) fn download_stream(&self) -> &Stream {
        let launched = self.last.and_then(|slot| self.graphs.launched_on(slot));
        launched.unwrap_or(&self.streams.download)
    }

    /// Number of the next item.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The slots, in the order in which turns use them from now on.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot<I, O>> {
        let first = self.turns.next_slot();
        self.slots.iter().cycle().skip(first).take(self.slots.len())
    }

    /// Begins a run: nothing is in flight, and its items count from 0.
    #[track_caller]
    pub(super) fn begin<E: From<Error>>(&mut self) -> Result<(), ItemError<E>> {
        scope::begun();
        let begun = self.restart();
        begun.map_err(|error| ItemError::new(0, ItemStage::Begin, error))
    }

    #[track_caller]
    fn restart(&mut self) -> Result<()> {
        if self.turns.in_flight() > 0 {
            self.settle(Site::here());
        }
        self.is_usable()?;
        (self.next, self.last, self.report) = (0, None, Report::default());
        self.graphs.restart();
        if let Some(clock) = &mut self.clock {
            clock.restart();
        }
        Ok(())
    }

    /// Ends a run that came out like this: nothing is in flight, and the streams are idle.
    #[track_caller]
    pub(super) fn end<E: From<Error>>(
        &mut self,
        run: Result<(), ItemError<E>>,
    ) -> Result<Report, ItemError<E>> {
        let report = self.report();
        scope::ended(&report, run.as_ref().err().map(|error| error.index));
        // Also after success: so that all launches are known to be complete.
        self.settle(Site::here());
        run?;
        let ended = self.is_usable();
        ended.map_err(|error| ItemError::new(self.next, ItemStage::End, error))?;
        Ok(report)
    }

    /// Waits until nothing is in flight, and frees all slots.
    #[track_caller]
    pub(super) fn drain(&mut self) -> Result<()> {
        if self.turns.in_flight() > 0 {
            self.settle(Site::here());
        }
        self.is_usable()
    }

    /// Waits for all work. If that fails, the engine is of no use any more.
    pub(super) fn wait_for_all(&mut self, site: Site) {
        if let Some(thread) = self.downloads.thread() {
            thread.wait_until_idle();
        }
        let graphs = self.graphs.settle(site);
        self.lost |= !(self.streams.settle(site) && graphs);
        self.last = None;
    }

    fn settle(&mut self, site: Site) {
        if let Some(thread) = self.downloads.thread() {
            thread.clear();
        }
        self.wait_for_all(site);
        self.turns.reset();
        self.slots.iter_mut().for_each(Slot::leave_out);
    }

    pub(super) fn is_usable(&self) -> Result<()> {
        match self.lost {
            true => Err(self.streams.lost()),
            false => Ok(()),
        }
    }

    /// The report of the items since the beginning of the run.
    pub(super) fn report(&self) -> Report {
        let mut overlap = self.clock.as_ref().and_then(Clock::report);
        if let Some(overlap) = &mut overlap {
            let mode = self.streams.context.known_copy_mode();
            // One slot is in order in any case.
            let choice = self.downloads.choice();
            let has_one_thread = !choice.is_running() && *choice != CopyThread::OneSlot;
            overlap.copies_block = has_one_thread && mode == Some(CopyMode::Blocking);
        }
        Report {
            overlap,
            ..self.report
        }
    }

    /// How an adaptive pipeline has grown.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.adaptive.as_ref().map(|adaptive| adaptive.growth())
    }

    /// Notes a wait of the host because all slots were in flight.
    pub(super) fn note_full(&mut self) {
        self.report.full_waits += 1;
    }

    /// Whether a slot is free.
    pub(super) fn has_room(&self) -> bool {
        self.turns.has_room()
    }

    /// The pinned input of the next item; empty when all slots are in flight.
    pub(super) fn input(&self) -> &[I] {
        if !self.has_room() {
            return &[];
        }
        // SAFETY: the slot's last turn is over, so no upload of it runs, and no thread fills it.
        unsafe { self.slots[self.turns.next_slot()].input() }
    }

    /// The same, for writing; `None` when all slots are in flight.
    pub(super) fn input_mut(&mut self) -> Option<&mut [I]> {
        if !self.has_room() {
            return None;
        }
        let slot = &mut self.slots[self.turns.next_slot()];
        // SAFETY: the slot's last turn is over, so no upload of it runs, and no thread fills it.
        Some(unsafe { slot.input_mut() })
    }

    /// Begins a turn, whose input is filled elsewhere.
    pub(super) fn begin_turn(&mut self) -> Option<Turn> {
        self.turns.begin()
    }

    /// Which thread puts downloads.
    pub(super) fn copy_thread(&self) -> &CopyThread {
        self.downloads.choice()
    }

    /// Items in flight.
    pub(super) fn items_in_flight(&self) -> usize {
        self.slots.iter().filter(|slot| slot.has_item()).count()
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Drop for Engine<I, O> {
    fn drop(&mut self) {
        if self.drain().is_err() && self.lost {
            for slot in &mut self.slots {
                slot.abandon();
            }
        }
    }
}
