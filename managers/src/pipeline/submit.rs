//! An item on its way in: onto the streams of the stages by calls of its own, or as a graph.

use std::time::Instant;

use cupola_core::{Stage, Turn};

use super::engine::Engine;
use super::graphs::{DirectReason, Order, Plan, Refusal, Shape, captured};
use super::item::{Progress, Step};
use super::streams::StageStreams;
use super::telemetry::scope::Scope;
use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, ItemStage, Result, Site};

impl<I: DeviceCopy, O: DeviceCopy> Engine<I, O> {
    /// Puts the next item, of which `len` elements are filled, on the streams.
    #[track_caller]
    pub(super) fn submit<E: From<Error>>(
        &mut self,
        len: usize,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<u64, ItemError<E>> {
        let index = self.next;
        let Some(turn) = self.turns.begin() else {
            let full = Error::Full {
                kind: "pipeline slot",
            };
            return Err(ItemError::new(index, ItemStage::Fill, full));
        };
        self.put(turn, index, Some(len), step)?;
        Ok(index)
    }

    /// Puts all stages of an item on their streams; without a length there is no item in the slot.
    #[track_caller]
    pub(super) fn put<E: From<Error>>(
        &mut self,
        turn: Turn,
        index: u64,
        len: Option<usize>,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<(), ItemError<E>> {
        self.next = index + 1;
        let slot = &mut self.slots[self.turns.slot(turn)];
        slot.begin(turn, index);
        if let Some(len) = len {
            let filled = slot.fill(len);
            filled.map_err(|error| ItemError::new(index, ItemStage::Fill, error))?;
            let _scope = Scope::submit(index);
            let is_measured = self.begin_measuring(turn)?;
            self.watch_item();
            let shape = self.place(turn, len);
            if is_measured || !self.put_as_graph(&shape, step)? {
                self.put_directly(turn, &shape, step)?;
            }
            self.report.items += 1;
        }
        // All its stages are on the streams.
        for _ in [Stage::Uploading, Stage::Processing] {
            if self.turns.stage(turn) != Some(Stage::Downloading) {
                self.turns.advance(turn);
            }
        }
        Ok(())
    }

    /// Whether the times of a turn's item are taken, which graphs have no events for.
    #[track_caller]
    fn begin_measuring<E: From<Error>>(&mut self, turn: Turn) -> Result<bool, ItemError<E>> {
        let slot = &mut self.slots[self.turns.slot(turn)];
        let index = slot.index();
        let Some(clock) = &mut self.clock else {
            return Ok(false);
        };
        let begun = clock.begin_item(slot.marks(), &self.streams.upload);
        begun.map_err(|error| ItemError::new(index, ItemStage::Upload, error))?;
        Ok(slot.is_measured())
    }

    /// The device memory of a turn's item, and the items that it comes after.
    fn place(&mut self, turn: Turn, len: usize) -> Shape {
        let slot = self.turns.slot(turn);
        let (input, read_by) = self.inputs.take(turn);
        let (output, copied_by) = self.outputs.take(turn);
        // Of the slot itself the item has left.
        let before = self.last.replace(slot).filter(|&before| before != slot);
        Shape {
            slot,
            input,
            output,
            len,
            before,
            read_by: self.user(read_by),
            copied_by: self.user(copied_by),
        }
    }

    /// The slot of a turn that is in flight.
    fn user(&self, turn: Option<Turn>) -> Option<usize> {
        let turn = turn?;
        self.turns.stage(turn).map(|_| self.turns.slot(turn))
    }

    /// Puts an item on the streams, stage by stage.
    #[track_caller]
    fn put_directly<E: From<Error>>(
        &mut self,
        turn: Turn,
        shape: &Shape,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<(), ItemError<E>> {
        let index = self.slots[shape.slot].index();
        let failed = |stage| move |error: Error| ItemError::new(index, stage, error);
        self.upload(shape).map_err(failed(ItemStage::Upload))?;
        self.turns.advance(turn);

        let ordered = self.order_kernels(shape);
        ordered.map_err(failed(ItemStage::Kernel(0)))?;
        let slot = &mut self.slots[shape.slot];
        let output = self.outputs.buffer_mut(shape.output);
        let input = self.inputs.buffer(shape.input);
        let mut progress = Progress::default();
        let begun = slot.begin_step(input, output, &self.streams, &mut progress);
        let begun = begun.map_err(failed(ItemStage::Kernel(0)))?;
        let stepped = step(begun);
        let stage = ItemStage::Kernel(progress.kernel);
        let written = stepped.map_err(|error| ItemError {
            index,
            stage,
            error,
        })?;
        slot.end_step(written, &self.streams)
            .map_err(failed(stage))?;
        let begun = self.download(shape).map_err(failed(ItemStage::Download))?;
        self.end_call(begun);
        match self.slots[shape.slot].is_measured() {
            true => self.graphs.note_measured(shape.slot),
            false => self.graphs.note_direct(shape, progress.repeats),
        }
        Ok(())
    }

    /// Puts the upload of an item on its stream.
    #[track_caller]
    fn upload(&mut self, shape: &Shape) -> Result<()> {
        let upload = &self.streams.upload;
        if let Some(reader) = shape.read_by {
            self.slots[reader].wait_until_read(upload)?;
        }
        let input = self.inputs.buffer(shape.input);
        self.slots[shape.slot].upload(input, &self.streams)
    }

    /// Makes the kernels of an item wait for those of the one before, and for their output.
    #[track_caller]
    fn order_kernels(&mut self, shape: &Shape) -> Result<()> {
        if let Some(copier) = shape.copied_by
            && !mutant!("pipeline_computes_before_a_download_is_put")
        {
            // Its fence is recorded then.
            self.wait_until_put(copier)?;
        }
        let compute = &self.streams.compute;
        if let Some(copier) = shape.copied_by {
            self.slots[copier].wait_until_copied(compute)?;
        }
        match shape.before {
            // Which may have been launched on another stream.
            Some(before) => self.slots[before].fences().computed.wait_on(compute),
            None => Ok(()),
        }
    }

    /// Puts the download of an item on its stream, or has the thread put it that does. When the call
    /// began, if that is of interest.
    #[track_caller]
    fn download(&mut self, shape: &Shape) -> Result<Option<Instant>> {
        let output = self.outputs.buffer(shape.output);
        let slot = &mut self.slots[shape.slot];
        let streams = &self.streams;
        // In checked mode a copy is waited for by the thread that has it put.
        if let Some(thread) = self.downloads.thread()
            && !streams.context.core().is_checked()
        {
            // SAFETY: the slots and the rings keep their memory as long as there is the engine, which waits
            // for the thread and for the copy before a slot is used again and before it ends.
            let download = unsafe { slot.begin_download(output, streams) }?;
            thread.hand_over(shape.slot, download)?;
            return Ok(None);
        }
        let begun = self.downloads.begin_call();
        slot.download(output, streams)?;
        Ok(begun)
    }

    /// Ends a call that put a download, and began then: a thread of its own may put the next ones.
    #[track_caller]
    fn end_call(&mut self, begun: Option<Instant>) {
        let StageStreams {
            context, download, ..
        } = &self.streams;
        self.downloads.end_call(begun, context, download);
        if self.downloads.thread().is_some() {
            self.graphs.refuse(DirectReason::CopyThread);
        }
    }

    /// Launches an item as a graph, which is captured now if its shape came before. False when there
    /// is none: nothing was put then.
    #[track_caller]
    fn put_as_graph<E: From<Error>>(
        &mut self,
        shape: &Shape,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<bool, ItemError<E>> {
        let place = match self.graphs.plan(shape) {
            Plan::Direct => return Ok(false),
            Plan::Launch(place) => place,
            Plan::Capture(shape) => match self.capture(shape, step) {
                Ok(place) => place,
                Err(refusal) => {
                    self.graphs.doubt(refusal.into());
                    return Ok(false);
                }
            },
        };
        let slot = &mut self.slots[shape.slot];
        let launched = self.graphs.launch(shape.slot, place, slot.index());
        let failed = |error| ItemError::new(slot.index(), ItemStage::Launch, error);
        let (lane, written) = launched.map_err(failed)?;
        slot.note_launch(lane, written);
        Ok(true)
    }

    /// Captures the item of a shape. The place of its graph.
    #[track_caller]
    fn capture<E>(
        &mut self,
        shape: Shape,
        step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<usize, Refusal> {
        let context = &self.streams.context;
        let input = self.inputs.buffer(shape.input);
        let output = self.outputs.buffer_mut(shape.output);
        let lane = self.graphs.lane(shape.slot, context)?;
        self.graphs.load_kernel_copy(context)?;
        // The memory is free only behind what is launched there.
        input.used_on(&lane)?;
        output.used_on(&lane)?;
        let order = Order::of(&shape, &self.slots);
        let copy = self.graphs.kernel_copy();
        let slot = &mut self.slots[shape.slot];
        let captured = captured(context, slot, input, output, &order, copy, step)?;
        match self.graphs.is_repeated(captured.repeats) {
            true => Ok(self.graphs.keep(shape, captured, lane)),
            false => Err(Refusal::Opaque),
        }
    }

    /// Takes the newest turn out after an error, and keeps the items before it: all work is waited
    /// for, because the failed item may have put some that uses its slot.
    #[track_caller]
    pub(super) fn leave_out(&mut self) {
        let newest = [Stage::Uploading, Stage::Processing].map(|stage| self.turns.oldest(stage));
        for turn in newest.into_iter().flatten() {
            self.wait_for_all(Site::here());
            self.slots[self.turns.slot(turn)].leave_out();
            while self.turns.stage(turn) != Some(Stage::Downloading) {
                self.turns.advance(turn);
            }
        }
        // Its slot is free at once, unless items are before it.
        self.find_item();
    }
}

impl From<Refusal> for DirectReason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Opaque => Self::Opaque,
            Refusal::Step => Self::Step,
            Refusal::Call(error) => Self::Refused(error),
        }
    }
}
