//! The same by the driver's own calls: three streams, a ring of slots, and three events for each, as
//! an expert would write it by hand.

use core::ffi::c_void;
use std::ptr;
use std::time::Instant;

use cupola::{MemoryPool, Stream};
use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::event::{Event, EventConfig};
use cupola_managers::ops;
use cupola_managers::stream::StreamConfig;
use cupola_managers::{Context, Error};
use cupola_sys::driver::{
    CUgraph, CUgraphExec, CUstream, CUstreamCaptureMode, Driver, DriverError,
};

use super::PipelineError;
use super::kernel::Work;

/// Streams, slots and what the calls need.
pub(super) struct Loop {
    context: Context,
    upload: Stream,
    compute: Stream,
    download: Stream,
    slots: Vec<Slot>,
    elements: usize,
}

/// The memory and the events of one item in flight.
struct Slot {
    input: PinnedBuffer<f32>,
    output: PinnedBuffer<f32>,
    device_input: Buffer<f32>,
    device_output: Buffer<f32>,
    uploaded: Event,
    computed: Event,
    downloaded: Event,
}

impl Slot {
    /// # Safety
    /// The stream is alive, and so is the slot until the copy is done.
    unsafe fn upload(
        &self,
        driver: &Driver,
        elements: usize,
        stream: CUstream,
    ) -> Result<(), DriverError> {
        let (from, bytes) = (self.input.as_ptr(), elements * size_of::<f32>());
        // SAFETY: both ends have room for the elements; the rest is this function's condition.
        unsafe {
            driver.cuMemcpyHtoDAsync_v2(self.device_input.as_raw(), from.cast(), bytes, stream)
        }
    }

    /// # Safety
    /// The stream is alive, and so are the slot and the kernel until that is done.
    unsafe fn launch(
        &self,
        driver: &Driver,
        work: &Work,
        elements: usize,
        rounds: u32,
        stream: CUstream,
    ) -> Result<(), DriverError> {
        let config = Work::config(elements);
        let ([x, y, z], [threads, threads_y, threads_z]) = (config.grid, config.block);
        let (from, to) = (self.device_input.as_raw(), self.device_output.as_raw());
        let elements = elements as u32;
        let mut arguments: [*mut c_void; 4] = [
            (&raw const from).cast_mut().cast(),
            (&raw const to).cast_mut().cast(),
            (&raw const elements).cast_mut().cast(),
            (&raw const rounds).cast_mut().cast(),
        ];
        // SAFETY: the kernel stays within memory of `elements` elements; the arguments, which are what it
        // declares, outlive the call that reads them; the rest is this function's condition.
        unsafe {
            driver.cuLaunchKernel(
                work.function().as_raw(),
                x,
                y,
                z,
                threads,
                threads_y,
                threads_z,
                0,
                stream,
                arguments.as_mut_ptr(),
                ptr::null_mut(),
            )
        }
    }

    /// # Safety
    /// The stream is alive, and so is the slot until the copy is done.
    unsafe fn download(
        &self,
        driver: &Driver,
        elements: usize,
        stream: CUstream,
    ) -> Result<(), DriverError> {
        let (to, bytes) = (self.output.as_ptr(), elements * size_of::<f32>());
        // SAFETY: both ends have room for the elements; the rest is this function's condition.
        unsafe {
            driver.cuMemcpyDtoHAsync_v2(to.cast(), self.device_output.as_raw(), bytes, stream)
        }
    }
}

/// The items of a loop as graphs, each with the stream that it is launched on.
pub(super) struct Graphs<'l> {
    driver: &'l Driver,
    slots: Vec<(CUgraphExec, Stream)>,
}

impl Graphs<'_> {
    /// Launches the item of a slot.
    pub(super) fn submit(&self, slot: usize) -> Result<(), DriverError> {
        let (exec, stream) = &self.slots[slot];
        // SAFETY: both are alive, and so is what the graph uses.
        unsafe { self.driver.cuGraphLaunch(*exec, stream.as_raw()) }
    }
}

impl Drop for Graphs<'_> {
    fn drop(&mut self) {
        for (exec, stream) in &self.slots {
            let _ = ops::synchronize(stream);
            // SAFETY: its launches are over, and it is not used again.
            let _ = unsafe { self.driver.cuGraphExecDestroy(*exec) };
        }
    }
}

impl Loop {
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        elements: usize,
        depth: usize,
    ) -> Result<Self, Error> {
        let stream = || context.streams().create(StreamConfig::priority(0));
        let (upload, compute, download) = (stream()?, stream()?, stream()?);
        let event = || context.events().create(EventConfig::default());
        let mut slots = Vec::new();
        for _ in 0..depth {
            slots.push(Slot {
                input: context.buffers().pinned(elements)?,
                output: context.buffers().pinned(elements)?,
                device_input: pool.allocate(elements, &compute)?,
                device_output: pool.allocate(elements, &compute)?,
                uploaded: event()?,
                computed: event()?,
                downloaded: event()?,
            });
        }
        ops::synchronize(&compute)?;
        Ok(Self {
            context: context.clone(),
            upload,
            compute,
            download,
            slots,
            elements,
        })
    }

    /// Puts an item on the streams: eight calls.
    pub(super) fn submit(
        &mut self,
        slot: usize,
        work: &Work,
        rounds: u32,
    ) -> Result<(), DriverError> {
        let driver = self.context.driver();
        let slot = &self.slots[slot];
        let (upload, compute) = (self.upload.as_raw(), self.compute.as_raw());
        let download = self.download.as_raw();
        let [uploaded, computed, downloaded] =
            [&slot.uploaded, &slot.computed, &slot.downloaded].map(Event::as_raw);
        // SAFETY: streams, events, function and memory are alive until `settle` has waited for all
        // of it.
        unsafe {
            slot.upload(driver, self.elements, upload)?;
            driver.cuEventRecord(uploaded, upload)?;
            driver.cuStreamWaitEvent(compute, uploaded, 0)?;
            slot.launch(driver, work, self.elements, rounds, compute)?;
            driver.cuEventRecord(computed, compute)?;
            driver.cuStreamWaitEvent(download, computed, 0)?;
            slot.download(driver, self.elements, download)?;
            driver.cuEventRecord(downloaded, download)
        }
    }

    /// The item of each slot as an executable graph, which waits for the kernel of the slot before.
    pub(super) fn graphs(&self, work: &Work, rounds: u32) -> Result<Graphs<'_>, PipelineError> {
        let mut graphs = Graphs {
            driver: self.context.driver(),
            slots: Vec::new(),
        };
        for slot in 0..self.slots.len() {
            let stream = self.context.streams().create(StreamConfig::priority(0))?;
            let mut exec = ptr::null_mut();
            let graph = self.captured(slot, work, rounds, &stream)?;
            // SAFETY: the graph was made just now, and ends behind its executable, which is destroyed when
            // its launches are over.
            unsafe {
                let driver = graphs.driver;
                let made = driver.cuGraphInstantiateWithFlags(&raw mut exec, graph, 0);
                driver.cuGraphDestroy(graph)?;
                made?;
            }
            graphs.slots.push((exec, stream));
        }
        Ok(graphs)
    }

    /// The item of a slot as a graph.
    fn captured(
        &self,
        slot: usize,
        work: &Work,
        rounds: u32,
        stream: &Stream,
    ) -> Result<CUgraph, DriverError> {
        /// Of events: they are recorded and waited for by nodes, outside of the graph.
        const EXTERNAL: u32 = 1;
        let (driver, elements) = (self.context.driver(), self.elements);
        let before = &self.slots[(slot + self.slots.len() - 1) % self.slots.len()];
        let slot = &self.slots[slot];
        let raw = stream.as_raw();
        let mut graph = ptr::null_mut();
        // SAFETY: streams, events, function and memory are alive as long as the graph is.
        unsafe {
            driver.cuStreamBeginCapture_v2(
                raw,
                CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
            )?;
            slot.upload(driver, elements, raw)?;
            driver.cuStreamWaitEvent(raw, before.computed.as_raw(), EXTERNAL)?;
            slot.launch(driver, work, elements, rounds, raw)?;
            driver.cuEventRecordWithFlags(slot.computed.as_raw(), raw, EXTERNAL)?;
            slot.download(driver, elements, raw)?;
            driver.cuEventRecordWithFlags(slot.downloaded.as_raw(), raw, EXTERNAL)?;
            driver.cuStreamEndCapture(raw, &raw mut graph)?;
        }
        Ok(graph)
    }

    /// Waits until the item of a slot has arrived, and compares it.
    pub(super) fn take(&self, slot: usize, expected: f32) -> Result<(), PipelineError> {
        let slot = &self.slots[slot];
        // SAFETY: the event is alive.
        unsafe { self.driver().cuEventSynchronize(slot.downloaded.as_raw()) }?;
        let output = slot.output.as_slice()?;
        match [output.first(), output.last()] == [Some(&expected); 2] {
            true => Ok(()),
            false => Err(PipelineError::Wrong("the loop of the driver's calls")),
        }
    }

    /// Microseconds for each of `items` items.
    pub(super) fn run(
        &mut self,
        work: &Work,
        rounds: u32,
        items: u64,
    ) -> Result<f64, PipelineError> {
        let (depth, expected) = (self.slots.len(), Work::expected(0.0, rounds));
        let items = items as usize;
        let start = Instant::now();
        for item in 0..items + depth {
            if item >= depth {
                self.take(item % depth, expected)?;
            }
            if item < items {
                self.submit(item % depth, work, rounds)?;
            }
        }
        let took = start.elapsed().as_secs_f64() * 1e6 / items as f64;
        Ok(took)
    }

    pub(super) fn depth(&self) -> usize {
        self.slots.len()
    }

    fn driver(&self) -> &Driver {
        self.context.driver()
    }
}

impl Drop for Loop {
    /// The calls are not known to the buffers, which are freed next.
    fn drop(&mut self) {
        for stream in [&self.upload, &self.compute, &self.download] {
            let _ = ops::synchronize(stream);
        }
    }
}
