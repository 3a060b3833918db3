//! `Slot`: the memory and the events of one item in flight.

use std::sync::Arc;

use super::clock::Marks;
use super::{Lanes, PipelineConfig, Step};
use crate::buffer::{Buffer, DeviceCopy, PinnedBuffer};
use crate::context::{Context, ContextCore};
use crate::error::{Error, Result};
use crate::event::{self, EventConfig, LeasedEvent};
use crate::memory::MemoryPool;
use crate::ops;
use crate::submit;

pub(super) struct Slot<I: DeviceCopy, O: DeviceCopy> {
    host_input: PinnedBuffer<I>,
    host_output: PinnedBuffer<O>,
    input: Buffer<I>,
    output: Buffer<O>,
    uploaded: LeasedEvent,
    computed: LeasedEvent,
    downloaded: LeasedEvent,
    marks: Option<Marks>,
    core: Arc<ContextCore>,
    /// Number of the item.
    index: u64,
    /// Elements of its input.
    len: usize,
}

impl<I: DeviceCopy, O: DeviceCopy> Slot<I, O> {
    #[track_caller]
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        config: PipelineConfig,
        lanes: &Lanes,
    ) -> Result<Self> {
        let core = context.core();
        let events = context.events().pool();
        let untimed = EventConfig::default();
        let input = pool.allocate(config.input_len, &lanes.compute)?;
        let output = pool.allocate(config.output_len, &lanes.compute)?;
        // The memory is the compute stream's; the other two wait for it once, here.
        input.used_on(&lanes.upload)?;
        output.used_on(&lanes.download)?;
        Ok(Self {
            host_input: context.buffers().pinned(config.input_len)?,
            host_output: context.buffers().pinned(config.output_len)?,
            input,
            output,
            uploaded: event::acquire(core, events, untimed, false)?,
            computed: event::acquire(core, events, untimed, false)?,
            downloaded: event::acquire(core, events, untimed, false)?,
            marks: if config.measured {
                Some(Marks::new(context)?)
            } else {
                None
            },
            core: Arc::clone(core),
            index: 0,
            len: 0,
        })
    }

    pub(super) fn index(&self) -> u64 {
        self.index
    }

    pub(super) fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// # Safety
    /// No upload from this slot runs.
    pub(super) unsafe fn input_mut(&mut self) -> &mut [I] {
        let start = self.host_input.host_may_touch();
        // SAFETY: pinned memory of this length, initialised; the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.host_input.len()) }
    }

    /// # Safety
    /// No download to this slot runs, nor begins while the slice is there.
    pub(super) unsafe fn output(&self) -> &[O] {
        let start = self.host_output.host_may_touch();
        // SAFETY: pinned memory of this length, initialised; the caller's promise.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.host_output.len()) }
    }

    /// Puts the upload of `len` elements on its stream.
    #[track_caller]
    pub(super) fn upload(&mut self, index: u64, len: usize, lanes: &Lanes) -> Result<()> {
        if len > self.host_input.len() {
            let problem = format!(
                "{len} elements filled, there is room for {}",
                self.host_input.len()
            );
            return Err(Error::invalid("pipeline input", problem));
        }
        (self.index, self.len) = (index, len);
        let (from, bytes) = (self.host_input.as_ptr().cast(), len * size_of::<I>());
        self.mark(|marks| &marks.upload.0, &lanes.upload)?;
        // SAFETY: both have room for `bytes`, and the pipeline waits for the copy before
        // it lets anybody touch or free them.
        unsafe { ops::upload_raw(from, self.input.as_raw(), bytes, &lanes.upload) }?;
        self.mark(|marks| &marks.upload.1, &lanes.upload)?;
        submit::record(&self.uploaded, &lanes.upload)
    }

    /// Makes the compute stream wait for the upload, and says what to compute.
    #[track_caller]
    pub(super) fn begin_step<'s>(&'s mut self, lanes: &'s Lanes) -> Result<Step<'s, I, O>> {
        submit::wait(&lanes.compute, &self.uploaded)?;
        self.mark(|marks| &marks.compute.0, &lanes.compute)?;
        Ok(Step {
            index: self.index,
            stream: &lanes.compute,
            input: self.input.slice(..self.len)?,
            output: self.output.view_mut(),
        })
    }

    /// Puts the download on its stream, behind the computation.
    #[track_caller]
    pub(super) fn download(&mut self, lanes: &Lanes) -> Result<()> {
        self.mark(|marks| &marks.compute.1, &lanes.compute)?;
        submit::record(&self.computed, &lanes.compute)?;
        submit::wait(&lanes.download, &self.computed)?;
        let to = self.host_output.as_ptr().cast();
        let bytes = self.host_output.len() * size_of::<O>();
        self.mark(|marks| &marks.download.0, &lanes.download)?;
        // SAFETY: as in `upload`.
        unsafe { ops::download_raw(self.output.as_raw(), to, bytes, &lanes.download) }?;
        self.mark(|marks| &marks.download.1, &lanes.download)?;
        submit::record(&self.downloaded, &lanes.download)
    }

    /// Waits on the host for the download.
    #[track_caller]
    pub(super) fn wait(&self) -> Result<()> {
        let driver = self.core.enter()?;
        // SAFETY: the event is alive, and its context is current.
        self.core
            .check(unsafe { driver.cuEventSynchronize(self.downloaded.as_raw()) })
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
