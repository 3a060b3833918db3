//! `Slot`: the pinned memory and the fences of one item in flight.

use std::ptr::NonNull;

use cupola_core::Turn;
use cupola_sys::driver::{CUdeviceptr, id};

use super::config::PipelineConfig;
use super::downloads::{self, Download, DownloadState, HostCopy};
use super::item::{Item, Progress, Step, too_long};
use super::streams::StageStreams;
use super::telemetry::{Marks, Sampling};
use crate::buffer::{self, Buffer, DeviceCopy, PinnedBuffer};
use crate::context::Context;
use crate::error::{Error, Result, Site};
use crate::event::LeasedEvent;
use crate::ops;
use crate::stream::fence::Fence;
use crate::stream::{Stream, submit};

/// The ends of an item's stages.
#[derive(Clone)]
pub(super) struct StageFences {
    pub(super) uploaded: Fence,
    pub(super) computed: Fence,
    pub(super) downloaded: Fence,
}

/// The pinned memory of a slot, by the addresses that kernels have for it.
pub(super) struct HostEnds {
    pub(super) input: CUdeviceptr,
    pub(super) output: CUdeviceptr,
}

pub(super) struct Slot<I: DeviceCopy, O: DeviceCopy> {
    host_input: PinnedBuffer<I>,
    host_output: PinnedBuffer<O>,
    fences: StageFences,
    marks: Option<Marks>,
    /// The newest turn that used the slot: its generation.
    turn: Option<Turn>,
    /// Number of the item.
    index: u64,
    /// Elements of its input, and of its output.
    len: usize,
    written: usize,
    /// Whether there is an item in the slot.
    filled: bool,
    download: DownloadState,
}

impl<I: DeviceCopy, O: DeviceCopy> Slot<I, O> {
    #[track_caller]
    pub(super) fn new(context: &Context, config: PipelineConfig) -> Result<Self> {
        let (core, events) = (context.core(), context.events().pool());
        Ok(Self {
            host_input: context.buffers().pinned(config.input_len)?,
            host_output: context.buffers().pinned(config.output_len)?,
            fences: StageFences {
                uploaded: Fence::new(core, events)?,
                computed: Fence::new(core, events)?,
                downloaded: Fence::new(core, events)?,
            },
            marks: match config.sampling {
                Sampling::Off => None,
                Sampling::OneRunIn(_) | Sampling::All => Some(Marks::new(context)?),
            },
            turn: None,
            index: 0,
            len: 0,
            written: 0,
            filled: false,
            download: DownloadState::OnStream,
        })
    }

    pub(super) fn input_len(&self) -> usize {
        self.host_input.len()
    }

    /// Where the pinned input begins; dangling if it has no elements.
    pub(super) fn input_start(&self) -> NonNull<I> {
        NonNull::new(self.host_input.as_ptr()).unwrap_or(NonNull::dangling())
    }

    /// Begins a turn, for the item of this number; there is none in the slot yet.
    pub(super) fn begin(&mut self, turn: Turn, index: u64) {
        (self.turn, self.index, self.filled) = (Some(turn), index, false);
    }

    /// Notes that there is an item of `len` elements in the slot.
    #[track_caller]
    pub(super) fn fill(&mut self, len: usize) -> Result<()> {
        if len > self.host_input.len() {
            return Err(too_long(len, self.host_input.len()));
        }
        (self.len, self.filled) = (len, true);
        Ok(())
    }

    /// Notes that there is no item in the slot any more, nor a download with another thread.
    pub(super) fn leave_out(&mut self) {
        self.filled = false;
        self.download = DownloadState::OnStream;
    }

    /// Whether this turn is the newest that used the slot.
    pub(super) fn is_of(&self, turn: Turn) -> bool {
        self.turn == Some(turn)
    }

    /// Number of its item.
    pub(super) fn index(&self) -> u64 {
        self.index
    }

    pub(super) fn has_item(&self) -> bool {
        self.filled
    }

    pub(super) fn marks(&mut self) -> Option<&mut Marks> {
        self.marks.as_mut()
    }

    /// Whether the times of its item are taken.
    pub(super) fn is_measured(&self) -> bool {
        self.marks.as_ref().is_some_and(Marks::are_taken)
    }

    pub(super) fn fences(&self) -> &StageFences {
        &self.fences
    }

    /// # Safety
    /// No thread writes to the input.
    pub(super) unsafe fn input(&self) -> &[I] {
        let start = self.host_input.host_may_touch();
        // SAFETY: pinned memory of this length, initialised; no device writes it, and no thread, by
        // this function's condition.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.host_input.len()) }
    }

    /// # Safety
    /// No upload from this slot runs, and no other thread uses the input.
    pub(super) unsafe fn input_mut(&mut self) -> &mut [I] {
        let start = self.host_input.host_may_touch();
        // SAFETY: pinned memory of this length, initialised and borrowed mutably; no upload from it
        // runs, by this function's condition.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.host_input.len()) }
    }

    /// The item that has arrived.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the kernels wrote bytes that are no values.
    ///
    /// # Safety
    /// The slot has an item, or had one whose place is not used again yet. No download to this slot runs, nor begins while the item is there.
    #[track_caller]
    pub(super) unsafe fn item(&self) -> Result<Item<'_, O>> {
        let (start, len) = (self.host_output.host_may_touch().as_ptr(), self.written);
        // SAFETY: `end_step` saw to it that this many elements fit; they are initialised (zeros
        // at first), and no download writes them, by this function's condition.
        let output = unsafe {
            buffer::check(start, len)?;
            std::slice::from_raw_parts(start, len)
        };
        Ok(Item {
            index: self.index,
            input_len: self.len,
            output,
        })
    }

    /// Puts the upload of the item to `input` on its stream.
    #[track_caller]
    pub(super) fn upload(&mut self, input: &Buffer<I>, streams: &StageStreams) -> Result<()> {
        self.mark(|marks| &marks.upload.0, &streams.upload)?;
        self.put_upload(input, &streams.upload)?;
        self.mark(|marks| &marks.upload.1, &streams.upload)?;
        self.fences.uploaded.record(&streams.upload)
    }

    /// Puts the copy to `input` on a stream.
    #[track_caller]
    pub(super) fn put_upload(&mut self, input: &Buffer<I>, stream: &Stream) -> Result<()> {
        let (from, bytes) = (self.host_input.as_ptr().cast(), self.input_bytes());
        // SAFETY: both have room for `bytes`, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe { ops::upload_raw(from, input.as_raw(), bytes, stream) }
    }

    /// Makes the compute stream wait for the upload, and returns the step: the stream, the input
    /// and the output.
    #[track_caller]
    pub(super) fn begin_step<'s>(
        &self,
        input: &'s Buffer<I>,
        output: &'s mut Buffer<O>,
        streams: &'s StageStreams,
        progress: &'s mut Progress,
    ) -> Result<Step<'s, I, O>> {
        // An item before this one may have failed to write it.
        output.clear_taint();
        let uploaded = &self.fences.uploaded;
        uploaded.wait_on_new_at(&streams.compute, Site::here())?;
        self.mark(|marks| &marks.compute.0, &streams.compute)?;
        self.step(&streams.compute, input, output, progress)
    }

    /// Where kernels read the pinned input, and where they write the pinned output.
    #[track_caller]
    pub(super) fn device_addresses(&self) -> Result<HostEnds> {
        Ok(HostEnds {
            input: self.host_input.device_address()?,
            output: self.host_output.device_address()?,
        })
    }

    /// Bytes that its upload copies.
    pub(super) fn input_bytes(&self) -> usize {
        self.len * size_of::<I>()
    }

    /// Bytes that its download copies.
    pub(super) fn output_bytes(&self) -> usize {
        self.written * size_of::<O>()
    }

    /// The step of the item on a stream.
    pub(super) fn step<'s>(
        &self,
        stream: &'s Stream,
        input: &'s Buffer<I>,
        output: &'s mut Buffer<O>,
        progress: &'s mut Progress,
    ) -> Result<Step<'s, I, O>> {
        Ok(Step {
            index: self.index,
            stream,
            input: input.slice(..self.len)?,
            output: output.view_mut(),
            progress,
        })
    }

    /// Ends the step, whose kernels write the first `written` elements.
    #[track_caller]
    pub(super) fn end_step(&mut self, written: usize, streams: &StageStreams) -> Result<()> {
        self.set_written(written)?;
        self.mark(|marks| &marks.compute.1, &streams.compute)?;
        self.fences.computed.record(&streams.compute)
    }

    /// Notes how many elements the step writes.
    pub(super) fn set_written(&mut self, written: usize) -> Result<()> {
        if written > self.host_output.len() {
            let room = self.host_output.len();
            let problem = format!("{written} elements written, there is room for {room}");
            return Err(Error::invalid("pipeline output", problem));
        }
        self.written = written;
        Ok(())
    }

    /// Puts the download of what was written to `output` on its stream, behind the computation.
    #[track_caller]
    pub(super) fn download(&mut self, output: &Buffer<O>, streams: &StageStreams) -> Result<()> {
        let copy = self.checked_copy(output, &streams.download)?;
        let marks = self.marks.as_ref().filter(|marks| marks.are_taken());
        let fences = &mut self.fences;
        // SAFETY: both ends have room for the bytes, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe {
            downloads::put(
                copy,
                &fences.computed,
                marks.map(|marks| &marks.download),
                &mut fences.downloaded,
                &streams.download,
                Site::here(),
            )
        }?;
        streams.download.verify_after(id::cuMemcpyDtoHAsync_v2)
    }

    /// The same, for a thread that puts it.
    ///
    /// # Safety
    /// The memory of the slot and of `output` stays until the download was put and the copy is done, or the
    /// download is dropped, and no other code touches the pinned output before.
    #[track_caller]
    pub(super) unsafe fn begin_download(
        &mut self,
        output: &Buffer<O>,
        streams: &StageStreams,
    ) -> Result<Download> {
        let copy = self.checked_copy(output, &streams.download)?;
        let marks = self.marks.as_ref().filter(|marks| marks.are_taken());
        let marks = marks.map(|marks| marks.download.clone());
        let StageFences {
            computed,
            downloaded,
            ..
        } = self.fences.clone();
        self.download = DownloadState::Handed;
        let site = Site::here();
        // SAFETY: both ends have room for the bytes, and stay by this function's condition.
        Ok(unsafe { Download::new(self.index, copy, computed, marks, downloaded, site) })
    }

    /// Where the download is.
    pub(super) fn download_state(&mut self) -> &mut DownloadState {
        &mut self.download
    }

    /// Notes what came of the download that another thread was to put: the fence behind it.
    pub(super) fn note_put(&mut self, put: Result<Fence>) {
        self.download = match put {
            Ok(downloaded) => {
                self.fences.downloaded = downloaded;
                DownloadState::OnStream
            }
            Err(error) => DownloadState::Failed(error),
        };
    }

    /// The copy of what was written to `output`, which an operation may have failed to write.
    fn checked_copy(&self, output: &Buffer<O>, download: &Stream) -> Result<HostCopy> {
        // The step may have kept the error of an operation to itself.
        output.slice(..self.written)?.check_written(download)?;
        Ok(HostCopy {
            from: output.as_raw(),
            to: self.host_output.as_ptr().cast(),
            bytes: self.written * size_of::<O>(),
        })
    }

    /// Puts the copy of what was written to `output` on a stream.
    #[track_caller]
    pub(super) fn put_download(&mut self, output: &Buffer<O>, stream: &Stream) -> Result<()> {
        let to = self.host_output.as_ptr().cast();
        let bytes = self.output_bytes();
        // SAFETY: both have room for `bytes`, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe { ops::download_raw(output.as_raw(), to, bytes, stream) }
    }

    /// Notes that all stages of the item, which write `written` elements, are on a stream as one
    /// graph, which records the events.
    pub(super) fn note_launch(&mut self, stream: &Stream, written: usize) {
        self.written = written;
        // One ticket for both: the end of the kernels does not tell of the whole launch, and is not
        // asked.
        let ticket = stream.timeline().mark();
        for fence in [&mut self.fences.computed, &mut self.fences.downloaded] {
            fence.note_recorded(stream, ticket);
        }
    }

    /// Makes the upload stream wait until the kernels have read the input.
    #[track_caller]
    pub(super) fn wait_until_read(&self, upload: &Stream) -> Result<()> {
        if mutant!("pipeline_uploads_over_an_input") {
            return Ok(());
        }
        self.fences.computed.wait_on(upload)
    }

    /// Makes the compute stream wait until the output was copied.
    #[track_caller]
    pub(super) fn wait_until_copied(&self, compute: &Stream) -> Result<()> {
        if mutant!("pipeline_computes_over_an_output") {
            return Ok(());
        }
        self.fences.downloaded.wait_on(compute)
    }

    /// Waits on the host for the download.
    #[track_caller]
    pub(super) fn wait(&self) -> Result<()> {
        self.fences.downloaded.synchronize(Site::here())?;
        self.complete();
        Ok(())
    }

    /// Whether the download has completed.
    #[track_caller]
    pub(super) fn has_arrived(&self) -> Result<bool> {
        let arrived = self.fences.downloaded.query(Site::here())?;
        if arrived {
            self.complete();
        }
        Ok(arrived)
    }

    /// The download waited for the computation, and that for the upload.
    fn complete(&self) {
        self.fences.computed.complete();
        self.fences.uploaded.complete();
    }

    /// Never gives the pinned memory back: a copy may still run.
    pub(super) fn abandon(&mut self) {
        self.host_input.abandon();
        self.host_output.abandon();
    }

    #[track_caller]
    fn mark(&self, which: impl FnOnce(&Marks) -> &LeasedEvent, stream: &Stream) -> Result<()> {
        let Some(marks) = self.marks.as_ref().filter(|marks| marks.are_taken()) else {
            return Ok(());
        };
        submit::record(which(marks), stream)
    }
}
