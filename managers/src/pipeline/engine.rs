//! `Engine`: items through the slots, in order. Every face of a pipeline works through it.
//!
//! A turn of the ring is the generation of its slot, so a slot that is used again is never taken for
//! its earlier use.

use cupola_core::{Stage, Turn};

use super::config::PipelineConfig;
use super::depth::{Adaptive, Growth, Turns};
use super::graphs::StepGraphs;
use super::item::Item;
use super::rings::DeviceRing;
use super::slot::Slot;
use super::streams::StageStreams;
use super::telemetry::scope::{self, Scope};
use super::telemetry::{Clock, Report};
use crate::buffer::DeviceCopy;
use crate::context::Context;
use crate::error::{Error, ItemError, ItemStage, Result, Site};
use crate::pool::MemoryPool;
use crate::stream::Stream;

pub(super) struct Engine<I: DeviceCopy, O: DeviceCopy> {
    pub(super) turns: Turns,
    pub(super) adaptive: Option<Box<Adaptive>>,
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
    lost: bool,
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
        Ok(Self {
            turns: Turns::new(depth, config.most_slots()?),
            adaptive: Adaptive::of(&config, pool),
            graphs: StepGraphs::new(&config),
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
        let graphs = self.graphs.settle(site);
        self.lost |= !(self.streams.settle(site) && graphs);
        self.last = None;
    }

    fn settle(&mut self, site: Site) {
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
        Report {
            overlap: self.clock.as_ref().and_then(Clock::report),
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

    /// Whether an item, or a turn without one, is behind all that was put.
    pub(super) fn has_output(&self) -> bool {
        self.turns.oldest(Stage::Downloading).is_some()
    }

    /// Frees the turns without an item that come before the oldest item. Whether there is one.
    pub(super) fn find_item(&mut self) -> bool {
        while let Some(turn) = self.turns.oldest(Stage::Downloading) {
            if self.slots[self.turns.slot(turn)].has_item() {
                return true;
            }
            self.turns.advance(turn);
        }
        false
    }

    /// Number of the oldest item; that of the next one when none is in flight.
    #[cfg(feature = "futures")]
    pub(super) fn oldest_index(&self) -> u64 {
        let oldest = self.turns.oldest(Stage::Downloading);
        oldest.map_or(self.next, |turn| self.slots[self.turns.slot(turn)].index())
    }

    /// Whether the oldest item has arrived (`cuEventQuery`, unless it is known).
    #[track_caller]
    pub(super) fn has_arrived(&self) -> Result<bool, ItemError<Error>> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Ok(false);
        };
        let slot = &self.slots[self.turns.slot(turn)];
        let failed = |error| ItemError::new(slot.index(), ItemStage::Download, error);
        self.is_usable().map_err(failed)?;
        // No closure, which would not know this function's caller.
        slot.has_arrived().map_err(failed)
    }

    /// Waits for the oldest turn's item, and ends the turn; `None` when it has no item.
    ///
    /// # Errors
    /// What the wait returned: the turn is not over then, and the next call waits again. That the
    /// item's bytes are no values, or that its times could not be had: the turn is over.
    #[track_caller]
    pub(super) fn take<E: From<Error>>(&mut self) -> Result<Option<Item<'_, O>>, ItemError<E>> {
        let Some(turn) = self.turns.oldest(Stage::Downloading) else {
            return Ok(None);
        };
        let place = self.turns.slot(turn);
        let slot = &mut self.slots[place];
        let index = slot.index();
        let failed = |error: Error| ItemError::new(index, ItemStage::Download, error);
        if !slot.has_item() {
            self.turns.advance(turn);
            return Ok(None);
        }
        debug_assert!(slot.is_of(turn), "a slot belongs to its newest turn");
        if self.lost {
            return Err(failed(self.streams.lost()));
        }
        let scope = Scope::wait(index);
        slot.wait().map_err(failed)?;
        drop(scope);
        self.turns.advance(turn);
        slot.leave_out();
        if let Some(clock) = &mut self.clock {
            clock.take(slot.marks(), index, place).map_err(failed)?;
        }
        // SAFETY: the slot had an item, whose download has completed; the next one needs a new turn,
        // which the item's borrow of the engine forbids.
        unsafe { slot.item() }.map(Some).map_err(failed)
    }

    /// Waits for the oldest turn's item, if it has one, and gives it to `sink`.
    #[track_caller]
    pub(super) fn deliver<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<(), ItemError<E>> {
        let Some(item) = self.take()? else {
            return Ok(());
        };
        let (index, stage) = (item.index, ItemStage::Sink);
        sink(item).map_err(|error| ItemError {
            index,
            stage,
            error,
        })
    }

    /// Delivers the items in flight.
    #[track_caller]
    pub(super) fn deliver_all<E: From<Error>>(
        &mut self,
        sink: &mut impl FnMut(Item<'_, O>) -> Result<(), E>,
    ) -> Result<(), ItemError<E>> {
        while self.has_output() {
            self.deliver(sink)?;
        }
        Ok(())
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
