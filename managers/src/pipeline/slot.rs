//! `Slot`: the memory and the fences of one item in flight.

use std::ptr::NonNull;

use super::clock::Marks;
use super::producer::too_long;
use super::{Item, PipelineConfig, StageStreams, Step};
use crate::buffer::{self, Buffer, DeviceCopy, PinnedBuffer};
use crate::context::Context;
use crate::error::{Error, Result, Site};
use crate::event::LeasedEvent;
use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::fence::Fence;
use crate::stream::submit;

pub(super) struct Slot<I: DeviceCopy, O: DeviceCopy> {
    host_input: PinnedBuffer<I>,
    host_output: PinnedBuffer<O>,
    input: Buffer<I>,
    output: Buffer<O>,
    uploaded: Fence,
    computed: Fence,
    downloaded: Fence,
    marks: Option<Marks>,
    /// Number of the item.
    index: u64,
    /// Elements of its input, and of its output.
    len: usize,
    written: usize,
    /// Whether there is an item in the slot.
    filled: bool,
}

impl<I: DeviceCopy, O: DeviceCopy> Slot<I, O> {
    #[track_caller]
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        config: PipelineConfig,
        streams: &StageStreams,
    ) -> Result<Self> {
        let (core, events) = (context.core(), context.events().pool());
        let input = pool.allocate(config.input_len, &streams.compute)?;
        let output = pool.allocate(config.output_len, &streams.compute)?;
        // The memory is the compute stream's; the other two wait for it once, here.
        input.used_on(&streams.upload)?;
        output.used_on(&streams.download)?;
        Ok(Self {
            host_input: context.buffers().pinned(config.input_len)?,
            host_output: context.buffers().pinned(config.output_len)?,
            input,
            output,
            uploaded: Fence::new(core, events)?,
            computed: Fence::new(core, events)?,
            downloaded: Fence::new(core, events)?,
            marks: if config.measured {
                Some(Marks::new(context)?)
            } else {
                None
            },
            index: 0,
            len: 0,
            written: 0,
            filled: false,
        })
    }

    pub(super) fn input_len(&self) -> usize {
        self.host_input.len()
    }

    /// Where the pinned input begins; dangling if it has no elements.
    pub(super) fn input_start(&self) -> NonNull<I> {
        NonNull::new(self.host_input.as_ptr()).unwrap_or(NonNull::dangling())
    }

    /// Notes that there is no item in the slot.
    pub(super) fn skip(&mut self) {
        self.filled = false;
    }

    pub(super) fn has_item(&self) -> bool {
        self.filled
    }

    pub(super) fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// # Safety
    /// No upload from this slot runs.
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
    /// The slot has an item. No download to this slot runs, nor begins while the item is there.
    #[track_caller]
    pub(super) unsafe fn item(&self) -> Result<Item<'_, O>> {
        let (start, len) = (self.host_output.host_may_touch().as_ptr(), self.written);
        // SAFETY: `download` saw to it that this many elements fit; they are initialised (zeros
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

    /// Puts the upload of `len` elements on its stream.
    #[track_caller]
    pub(super) fn upload(&mut self, index: u64, len: usize, streams: &StageStreams) -> Result<()> {
        if len > self.host_input.len() {
            return Err(too_long(len, self.host_input.len()));
        }
        (self.index, self.len, self.filled) = (index, len, true);
        let (from, bytes) = (self.host_input.as_ptr().cast(), len * size_of::<I>());
        self.mark(|marks| &marks.upload.0, &streams.upload)?;
        // SAFETY: both have room for `bytes`, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe { ops::upload_raw(from, self.input.as_raw(), bytes, &streams.upload) }?;
        self.mark(|marks| &marks.upload.1, &streams.upload)?;
        self.uploaded.record(&streams.upload)
    }

    /// Makes the compute stream wait for the upload, and returns the step: the stream, the input
    /// and the output.
    #[track_caller]
    pub(super) fn begin_step<'s>(
        &'s mut self,
        streams: &'s StageStreams,
    ) -> Result<Step<'s, I, O>> {
        self.uploaded.wait_on(&streams.compute)?;
        self.mark(|marks| &marks.compute.0, &streams.compute)?;
        Ok(Step {
            index: self.index,
            stream: &streams.compute,
            input: self.input.slice(..self.len)?,
            output: self.output.view_mut(),
        })
    }

    /// Puts the download of the first `written` elements on its stream, behind the computation.
    #[track_caller]
    pub(super) fn download(&mut self, written: usize, streams: &StageStreams) -> Result<()> {
        if written > self.host_output.len() {
            let room = self.host_output.len();
            let problem = format!("{written} elements written, there is room for {room}");
            return Err(Error::invalid("pipeline output", problem));
        }
        self.written = written;
        self.mark(|marks| &marks.compute.1, &streams.compute)?;
        self.computed.record(&streams.compute)?;
        self.computed.wait_on(&streams.download)?;
        let to = self.host_output.as_ptr().cast();
        let bytes = written * size_of::<O>();
        self.mark(|marks| &marks.download.0, &streams.download)?;
        // SAFETY: both have room for `bytes`, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe { ops::download_raw(self.output.as_raw(), to, bytes, &streams.download) }?;
        self.mark(|marks| &marks.download.1, &streams.download)?;
        self.downloaded.record(&streams.download)
    }

    /// Waits on the host for the download.
    #[track_caller]
    pub(super) fn wait(&self) -> Result<()> {
        self.downloaded.synchronize(Site::here())?;
        // The download waited for the computation, and that for the upload.
        self.computed.complete();
        self.uploaded.complete();
        Ok(())
    }

    /// Never gives the pinned memory back: a copy may still run.
    pub(super) fn abandon(&mut self) {
        self.host_input.abandon();
        self.host_output.abandon();
    }

    #[track_caller]
    fn mark(
        &self,
        which: impl FnOnce(&Marks) -> &LeasedEvent,
        stream: &crate::stream::Stream,
    ) -> Result<()> {
        let Some(marks) = &self.marks else {
            return Ok(());
        };
        submit::record(which(marks), stream)
    }
}
