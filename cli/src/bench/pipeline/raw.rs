//! The same by the driver's own calls: three streams, a ring of slots, and three events for each, as
//! an expert would write it by hand.

use core::ffi::c_void;
use std::time::Instant;

use cupola::{MemoryPool, Stream};
use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::event::{Event, EventConfig};
use cupola_managers::ops;
use cupola_managers::stream::StreamConfig;
use cupola_managers::{Context, Error};
use cupola_sys::driver::{Driver, DriverError};

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
        let (bytes, function) = (self.elements * size_of::<f32>(), work.function().as_raw());
        let (upload, compute) = (self.upload.as_raw(), self.compute.as_raw());
        let download = self.download.as_raw();
        let config = Work::config(self.elements);
        let ([x, y, z], [threads, threads_y, threads_z]) = (config.grid, config.block);
        let (from, to) = (slot.device_input.as_raw(), slot.device_output.as_raw());
        let elements = self.elements as u32;
        let mut arguments: [*mut c_void; 4] = [
            (&raw const from).cast_mut().cast(),
            (&raw const to).cast_mut().cast(),
            (&raw const elements).cast_mut().cast(),
            (&raw const rounds).cast_mut().cast(),
        ];
        let (source, target) = (slot.input.as_ptr(), slot.output.as_ptr());
        let [uploaded, computed, downloaded] =
            [&slot.uploaded, &slot.computed, &slot.downloaded].map(Event::as_raw);
        // SAFETY: streams, events, function and memory are alive until `settle` has waited for all
        // of it, each copy and the kernel stay within memory of `elements` elements, and the
        // arguments, which are what the kernel declares, outlive the call that reads them.
        unsafe {
            driver.cuMemcpyHtoDAsync_v2(from, source.cast(), bytes, upload)?;
            driver.cuEventRecord(uploaded, upload)?;
            driver.cuStreamWaitEvent(compute, uploaded, 0)?;
            driver.cuLaunchKernel(
                function,
                x,
                y,
                z,
                threads,
                threads_y,
                threads_z,
                0,
                compute,
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )?;
            driver.cuEventRecord(computed, compute)?;
            driver.cuStreamWaitEvent(download, computed, 0)?;
            driver.cuMemcpyDtoHAsync_v2(target.cast(), to, bytes, download)?;
            driver.cuEventRecord(downloaded, download)
        }
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
