//! `Lanes`: streams that the chunks of bulk copies alternate between.

use std::collections::VecDeque;
use std::sync::Mutex;

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Result, Site};
use crate::event::{Event, EventConfig, EventHandle, EventManager};
use crate::ops::{download_raw, upload_raw};
use crate::stream::{Stream, StreamConfig, StreamHandle, StreamManager, submit};
use crate::sync;

/// The lanes of a context that no copy is being put on, the one that was used longest ago first.
/// Names, and no leases: their managers keep them, and are kept by what is leased.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<VecDeque<Names>>);

#[derive(Clone, Copy, Debug)]
struct Names {
    streams: [StreamHandle; 2],
    events: [EventHandle; 2],
    /// Which event is behind the last chunk.
    last: usize,
}

/// Two streams, and an event behind the newest chunk of each, for one bulk copy.
pub(super) struct Lane {
    streams: [Stream; 2],
    events: [Event; 2],
    last: usize,
}

impl Lanes {
    /// A lane whose last copy is done; a new one if there is none, because a copy must not wait for
    /// another one's stream.
    #[track_caller]
    pub(super) fn take(&self, streams: &StreamManager, events: &EventManager) -> Result<Lane> {
        let oldest = sync::lock(&self.0).pop_front();
        if let Some(names) = oldest
            && let Some(lane) = names.lease(streams, events)
        {
            let is_done = lane.events[lane.last].raw().query(Site::here());
            if is_done == Ok(true) {
                return Ok(lane);
            }
            self.put_back(lane);
            is_done?;
        }
        Lane::new(streams, events)
    }

    /// Gives a lane back, whose copy may run.
    pub(super) fn put_back(&self, lane: Lane) {
        let Lane {
            streams,
            events,
            last,
        } = lane;
        let names = Names {
            streams: streams.map(|stream| stream.handle()),
            events: events.map(|event| event.handle()),
            last,
        };
        sync::lock(&self.0).push_back(names);
    }
}

impl Names {
    /// `None` when a manager was shut down meanwhile.
    fn lease(self, streams: &StreamManager, events: &EventManager) -> Option<Lane> {
        let [first, second] = self.streams.map(|name| streams.lease(name).ok());
        let [even, odd] = self.events.map(|name| events.lease(name).ok());
        Some(Lane {
            streams: [first?, second?],
            events: [even?, odd?],
            last: self.last,
        })
    }
}

impl Lane {
    /// A new one. Its managers keep nothing of one that could not be made whole.
    #[track_caller]
    fn new(streams: &StreamManager, events: &EventManager) -> Result<Self> {
        let stream = || streams.create_held(StreamConfig::default());
        let event = || events.create_held(EventConfig::default());
        let give_up = |made: &[&Stream], error| {
            for stream in made {
                let _kept_by_one_that_was_shut_down = streams.release(stream.handle());
            }
            Err(error)
        };
        let first = stream()?;
        let second = match stream() {
            Ok(second) => second,
            Err(error) => return give_up(&[&first], error),
        };
        let even = match event() {
            Ok(even) => even,
            Err(error) => return give_up(&[&first, &second], error),
        };
        let odd = match event() {
            Ok(odd) => odd,
            Err(error) => {
                let _kept_by_one_that_was_shut_down = events.release(even.handle());
                return give_up(&[&first, &second], error);
            }
        };
        Ok(Self {
            streams: [first, second],
            events: [even, odd],
            last: 0,
        })
    }

    /// Its streams.
    pub(super) fn streams(&self) -> &[Stream; 2] {
        &self.streams
    }

    /// Puts a copy behind the work of `stream`, in chunks of which each is ready when the one before is
    /// done, and has later work of `stream` wait for the last.
    ///
    /// # Errors
    /// Those of the calls; no chunk runs any more then.
    ///
    /// # Safety
    /// Both ends of the copy are good until the work that is on `stream` after this call is done.
    #[track_caller]
    pub(super) unsafe fn put(&mut self, copy: &Bulk, stream: &Stream) -> Result<()> {
        // SAFETY: this function's condition.
        let put = unsafe { self.put_chunks(copy, stream) };
        if put.is_err() {
            for lane in &self.streams {
                submit::settle(lane, Site::here());
            }
        }
        put
    }

    /// # Safety
    /// As [`put`](Self::put).
    #[track_caller]
    unsafe fn put_chunks(&mut self, copy: &Bulk, stream: &Stream) -> Result<()> {
        // Behind the work before the copy.
        submit::record(self.events[1].raw(), stream)?;
        for (number, start) in (0..copy.bytes).step_by(copy.chunk).enumerate() {
            let here = number % 2;
            let lane = &self.streams[here];
            // A wait for another stream's event is what makes the engine look at other streams:
            // between copies of one stream it does not.
            if !mutant!("bulk_copies_do_not_yield") || number == 0 {
                submit::wait(lane, self.events[1 - here].raw())?;
            }
            // SAFETY: this function's condition; later work of `stream` waits for the last chunk, and
            // each chunk for the one before.
            unsafe { copy.put_chunk(start, lane) }?;
            submit::record(self.events[here].raw(), lane)?;
            self.last = here;
        }
        submit::wait(stream, self.events[self.last].raw())
    }
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// A copy that is put in chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    pub(super) direction: Direction,
    pub(super) host: *mut u8,
    pub(super) device: CUdeviceptr,
    pub(super) bytes: usize,
    /// Bytes of a chunk, and not 0.
    pub(super) chunk: usize,
}

impl Bulk {
    /// # Safety
    /// Both ends are good until the chunk is done.
    #[track_caller]
    unsafe fn put_chunk(&self, start: usize, lane: &Stream) -> Result<()> {
        let bytes = self.chunk.min(self.bytes - start);
        let (host, device) = (self.host.wrapping_add(start), self.device + start as u64);
        // SAFETY: both ends have these bytes, until the chunk is done by this function's condition.
        unsafe {
            match self.direction {
                Direction::ToDevice => upload_raw(host, device, bytes, lane),
                Direction::ToHost => download_raw(device, host, bytes, lane),
            }
        }
    }
}
