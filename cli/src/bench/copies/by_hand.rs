//! Bulk copies by the driver's calls, in one call or in chunks that are held back in several ways, and
//! by the scheduler.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::{
    Context, CopyConfig, Event, EventConfig, MemoryPool, PoolConfig, Stream, StreamConfig, ops,
};
use cupola_sys::driver::CUstream;

use super::CopiesError;

/// Which way a copy goes over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Upload,
    Download,
}

impl Direction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
        }
    }
}

/// What keeps the chunks of a bulk copy from all being with the engine at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gate {
    /// Nothing: all chunks are put on one stream at once. An engine that takes turns between
    /// streams after each copy needs no more.
    OneStream,
    /// All are put at once, and so many are ready at a time: each waits on the device for the one
    /// that is so many before it, which is on another stream.
    Window(usize),
    /// So many are put at a time, on one stream: the thread waits for the one that is so many
    /// before, and puts the next.
    Host(usize),
}

impl Gate {
    fn name(self) -> String {
        match self {
            Self::OneStream => "one stream".into(),
            Self::Window(window) => format!("device window {window}"),
            Self::Host(window) => format!("host window {window}"),
        }
    }
}

fn chunks(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB chunks", bytes >> 10),
        size => format!("{size} MiB chunks"),
    }
}

/// How a bulk copy is put.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// In one call.
    Whole,
    /// In chunks of so many bytes.
    Chunks(usize, Gate),
    /// By the scheduler of the crate.
    Scheduler(CopyConfig),
}

impl Way {
    pub(super) fn name(self) -> String {
        match self {
            Self::Whole => "one call".into(),
            Self::Chunks(bytes, gate) => format!("{}, {}", chunks(bytes), gate.name()),
            Self::Scheduler(config) => {
                format!("scheduler, {}", chunks(config.chunk))
            }
        }
    }

    /// Streams that chunks go round, beside the one that the copy is in order on.
    fn lanes(self) -> usize {
        match self {
            Self::Whole | Self::Scheduler(_) => 0,
            Self::Chunks(_, Gate::OneStream | Gate::Host(_)) => 0,
            Self::Chunks(_, Gate::Window(window)) => window + 1,
        }
    }

    /// How many events chunks are told apart by.
    fn events(self) -> usize {
        match self {
            Self::Chunks(_, Gate::Host(window)) => window,
            _ => self.lanes(),
        }
    }
}

/// The two ends of a bulk copy.
pub(super) struct Memory {
    bytes: usize,
    ends: Mutex<Ends>,
}

struct Ends {
    host: PinnedBuffer<u8>,
    device: Buffer<u8>,
}

impl Memory {
    pub(super) fn new(
        context: &Context,
        pool: &MemoryPool,
        bytes: usize,
    ) -> Result<Self, CopiesError> {
        let stream = context.streams().create(StreamConfig::default())?;
        let device = pool.zeros(bytes, &stream)?;
        ops::synchronize(&stream)?;
        let host = context.buffers().pinned(bytes)?;
        let ends = Mutex::new(Ends { host, device });
        Ok(Self { bytes, ends })
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Streams and events for bulk copies that are put in one way.
pub(super) struct ByHand<'c> {
    context: &'c Context,
    memory: &'c Memory,
    direction: Direction,
    way: Way,
    /// Where the copy is in order, as a caller sees it.
    home: Stream,
    begin: Event,
    end: Event,
    begun: Event,
    lanes: Vec<Stream>,
    /// Behind the newest chunk of each lane, or behind the newest chunks.
    chunks: Vec<Event>,
}

impl<'c> ByHand<'c> {
    pub(super) fn new(
        context: &'c Context,
        memory: &'c Memory,
        direction: Direction,
        way: Way,
    ) -> Result<Self, CopiesError> {
        let (streams, events) = (context.streams(), context.events());
        let timed = EventConfig {
            timing: true,
            ..EventConfig::default()
        };
        if let Way::Scheduler(config) = way {
            context.copies().configure(config)?;
        }
        Ok(Self {
            context,
            memory,
            direction,
            way,
            home: streams.create(StreamConfig::default())?,
            begin: events.create(timed)?,
            end: events.create(timed)?,
            begun: events.create(EventConfig::default())?,
            lanes: (0..way.lanes())
                .map(|_| streams.create(StreamConfig::default()))
                .collect::<Result<_, _>>()?,
            chunks: (0..way.events())
                .map(|_| events.create(EventConfig::default()))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Puts the copy.
    pub(super) fn put(&self) -> Result<(), CopiesError> {
        ops::record(&self.begin, &self.home)?;
        let bytes = self.memory.bytes;
        match self.way {
            Way::Scheduler(_) => self.schedule()?,
            Way::Whole => self.copy(0, bytes, &self.home)?,
            Way::Chunks(chunk, Gate::OneStream) => {
                for start in (0..bytes).step_by(chunk) {
                    self.copy(start, chunk, &self.home)?;
                }
            }
            Way::Chunks(chunk, Gate::Host(window)) => self.put_by_turns(chunk, window)?,
            Way::Chunks(chunk, Gate::Window(window)) => self.put_on_lanes(chunk, window)?,
        }
        ops::record(&self.end, &self.home)?;
        Ok(())
    }

    fn schedule(&self) -> Result<(), CopiesError> {
        let (copies, mut ends) = (self.context.copies(), self.memory.ends());
        let Ends { host, device } = &mut *ends;
        match self.direction {
            Direction::Upload => copies.copy_to_device(&*host, device, &self.home)?,
            Direction::Download => copies.copy_to_host(&*device, host, &self.home)?,
        }
        Ok(())
    }

    fn put_by_turns(&self, chunk: usize, window: usize) -> Result<(), CopiesError> {
        let starts = (0..self.memory.bytes).step_by(chunk);
        for (number, start) in starts.enumerate() {
            let event = &self.chunks[number % window];
            if number >= window {
                ops::synchronize_event(event)?;
            }
            self.copy(start, chunk, &self.home)?;
            ops::record(event, &self.home)?;
        }
        Ok(())
    }

    fn put_on_lanes(&self, chunk: usize, window: usize) -> Result<(), CopiesError> {
        let lanes = self.lanes.len();
        ops::record(&self.begun, &self.home)?;
        for lane in &self.lanes {
            ops::wait(lane, &self.begun)?;
        }
        let starts = (0..self.memory.bytes).step_by(chunk);
        for (number, start) in starts.enumerate() {
            let lane = &self.lanes[number % lanes];
            if let Some(before) = number.checked_sub(window) {
                ops::wait(lane, &self.chunks[before % lanes])?;
            }
            self.copy(start, chunk, lane)?;
            ops::record(&self.chunks[number % lanes], lane)?;
        }
        for (lane, end) in self.lanes.iter().zip(&self.chunks) {
            ops::record(end, lane)?;
            ops::wait(&self.home, end)?;
        }
        Ok(())
    }

    /// Puts a copy of at most so many bytes on a stream.
    fn copy(&self, start: usize, most: usize, stream: &Stream) -> Result<(), CopiesError> {
        let bytes = most.min(self.memory.bytes - start);
        let (host, device) = {
            let ends = self.memory.ends();
            (ends.host.as_ptr(), ends.device.as_raw())
        };
        let (host, device) = (host.wrapping_add(start), device + start as u64);
        self.context.make_current()?;
        let (driver, stream): (_, CUstream) = (self.context.driver(), stream.as_raw());
        // SAFETY: both have `bytes` bytes there, which no other code touches, and `drop` waits for
        // all copies while they are borrowed; the stream is alive, and its context current.
        unsafe {
            match self.direction {
                Direction::Upload => {
                    driver.cuMemcpyHtoDAsync_v2(device, host.cast(), bytes, stream)
                }
                Direction::Download => {
                    driver.cuMemcpyDtoHAsync_v2(host.cast(), device, bytes, stream)
                }
            }
        }?;
        Ok(())
    }

    /// Whether the copy that was put last is done.
    pub(super) fn is_done(&self) -> Result<bool, CopiesError> {
        Ok(ops::query_event(&self.end)?)
    }

    /// Waits for the copy that was put last, and says how many seconds the device took for it.
    pub(super) fn seconds(&self) -> Result<f64, CopiesError> {
        ops::synchronize(&self.home)?;
        Ok(f64::from(ops::elapsed(&self.begin, &self.end)?) / 1e3)
    }
}

impl Drop for ByHand<'_> {
    fn drop(&mut self) {
        for stream in self.lanes.iter().chain([&self.home]) {
            // What fails here has failed a call before.
            let _ = ops::synchronize(stream);
        }
    }
}

/// A copy of a few bytes, on a stream of its own.
pub(super) struct Small {
    host: PinnedBuffer<u8>,
    device: Buffer<u8>,
    direction: Direction,
    stream: Stream,
}

impl Small {
    pub(super) fn new(
        context: &Context,
        bytes: usize,
        direction: Direction,
    ) -> Result<Self, CopiesError> {
        let stream = context.streams().create(StreamConfig::default())?;
        let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
        let device = pool.zeros(bytes, &stream)?;
        ops::synchronize(&stream)?;
        Ok(Self {
            host: context.buffers().pinned(bytes)?,
            device,
            direction,
            stream,
        })
    }

    /// Copies, and waits until that is done.
    pub(super) fn copy(&mut self) -> Result<(), CopiesError> {
        let stream = &self.stream;
        match self.direction {
            Direction::Upload => ops::copy_to_device(&self.host, &mut self.device, stream)?,
            Direction::Download => ops::copy_to_host(&self.device, &mut self.host, stream)?,
        }
        ops::synchronize(stream)?;
        Ok(())
    }
}
