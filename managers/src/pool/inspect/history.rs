//! `History`: the last events of a pool, for a caller that asked for them.
//!
//! While no caller has asked it costs nothing: a flag in each cache keeps owners off the hit path
//! while it is on, and only the slow way looks here. A recording shows the pool's normal behaviour:
//! the slow way uses the magazines too.
//!
//! A free is noted before another user can have the memory, and an allocation after it was found:
//! so in a recording a block is free before it is handed out again, by any threads, and each
//! thread's events have the thread's order.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use cupola_sys::driver::CUdeviceptr;

use crate::driver::{BlockHistory, LiveBlocks};
use crate::error::{BlockEvent, BlockFate};
use crate::sync::per_thread;

/// The user's source line.
pub(crate) type CallSite = Option<&'static Location<'static>>;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Handed a block out.
    Allocate,
    /// Took a block back.
    Free,
    /// Gave a block up that its owner could not free: its memory stays in use for ever.
    Abandon,
    /// Refused a request, for the limit or for the device's memory.
    Refuse,
    /// Had memory mapped, or got a chunk.
    Map,
    /// Had memory unmapped, or gave a chunk back.
    Unmap,
}

/// One thing that a pool did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its kind.
    pub action: Action,
    /// The block, or where memory was mapped or unmapped; 0 for a refusal.
    pub address: CUdeviceptr,
    /// Bytes as they were asked for; of memory that was mapped or unmapped, its size.
    pub bytes: u64,
    /// Bytes that the block takes; 0 for a refusal.
    pub block: u64,
    /// The driver's stream, by [`Stream::serial`](crate::Stream::serial): of an allocation the
    /// stream that asked, of a free the stream in whose order it is. 0 for none.
    pub stream: u64,
    /// Of a free: its batch among those of its stream, from 1. The batches of a stream complete
    /// on the device in their order. Otherwise 0.
    pub ticket: u64,
    /// Of a refusal: the bytes that the device had free just then, as
    /// [`Account::device_free`](crate::Account::device_free) has them; 0 if it could not be
    /// asked. Otherwise 0.
    pub device_free: u64,
    /// Nanoseconds since the pool was made. They never fall from one event to the next.
    pub nanoseconds: u64,
    /// The block's name, if it has one.
    pub name: Option<&'static str>,
    /// The source line that called this crate. `None` where there is none: of frees by a drop.
    pub site: Option<&'static Location<'static>>,
    /// The thread, numbered from 1 in the order in which threads were first recorded.
    pub thread: u32,
}

/// The events of a pool while it was recorded, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// The events.
    pub events: Vec<Event>,
    /// How many older ones there was no room for.
    pub dropped: u64,
    /// The most bytes that were alive at a time, as they were asked for, with events that there was
    /// no room for: since the recording began, or since
    /// [`reset_peaks`](crate::MemoryPool::reset_peaks).
    pub peak_live: u64,
    /// When the pool was made: [`Event::nanoseconds`] count from then. `None` only of a recording
    /// that no pool has made.
    pub origin: Option<SystemTime>,
}

/// An event without the time and the thread, which the history adds.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    pub(crate) action: Action,
    pub(crate) address: CUdeviceptr,
    pub(crate) bytes: u64,
    pub(crate) block: u64,
    pub(crate) stream: u64,
    pub(crate) ticket: u64,
    pub(crate) device_free: u64,
    pub(crate) name: Option<&'static str>,
    pub(crate) site: Option<&'static Location<'static>>,
}

/// The last events.
#[derive(Debug)]
struct Ring {
    events: VecDeque<Event>,
    capacity: usize,
    dropped: u64,
    live: LiveBytes,
}

/// Bytes that are alive, by the noted events.
#[derive(Clone, Copy, Debug, Default)]
struct LiveBytes {
    now: u64,
    peak: u64,
}

impl LiveBytes {
    fn note(&mut self, event: &Event) {
        match event.action {
            Action::Allocate => self.now = self.now.saturating_add(event.bytes),
            // A block that was given up has no user any more, as in the figures.
            Action::Free | Action::Abandon => self.now = self.now.saturating_sub(event.bytes),
            Action::Refuse | Action::Map | Action::Unmap => {}
        }
        self.peak = self.peak.max(self.now);
    }
}

impl Ring {
    /// Host memory is taken as events come.
    fn new(capacity: usize) -> Self {
        Self {
            events: VecDeque::new(),
            capacity,
            dropped: 0,
            live: LiveBytes::default(),
        }
    }

    fn push(&mut self, event: Event) {
        self.live.note(&event);
        if self.events.len() >= self.capacity {
            self.dropped += 1;
            if self.events.pop_front().is_none() {
                return;
            }
        }
        self.events.push_back(event);
    }
}

#[derive(Debug, Default)]
struct Rings {
    /// Of the whole life of the pool.
    always: Option<Ring>,
    /// From `start` to `stop`.
    recording: Option<Ring>,
}

/// The remembered events of a pool.
#[derive(Debug)]
pub(crate) struct History {
    /// A caller has asked for events. Changed under the lock of the pool's caches.
    on: AtomicBool,
    made: Instant,
    origin: SystemTime,
    /// Never held over a call.
    rings: Mutex<Rings>,
    /// The blocks by address, where addresses are checked.
    live: Option<Arc<LiveBlocks>>,
}

/// The most events that are told of one address.
const TOLD: usize = 8;

impl History {
    /// Remembers the last `events`; 0 for none. All are noted in `live` too.
    pub(crate) fn new(events: usize, live: Option<Arc<LiveBlocks>>) -> Self {
        let always = (events > 0).then(|| Ring::new(events));
        Self {
            on: AtomicBool::new(always.is_some() || live.is_some()),
            made: Instant::now(),
            origin: SystemTime::now(),
            rings: Mutex::new(Rings {
                always,
                recording: None,
            }),
            live,
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    fn rings(&self) -> MutexGuard<'_, Rings> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a recording; the events of an earlier one are gone.
    pub(crate) fn start(&self, capacity: usize) {
        let before = self.rings().recording.replace(Ring::new(capacity));
        self.on.store(true, Ordering::Relaxed);
        drop(before);
    }

    /// So much is alive, by the figures, now that everything is noted.
    pub(crate) fn begin_live(&self, now: u64) {
        if let Some(ring) = &mut self.rings().recording {
            ring.live = LiveBytes { now, peak: now };
        }
    }

    /// The most bytes that were alive at a time while the pool was recorded.
    pub(crate) fn peak_live(&self) -> Option<u64> {
        let rings = self.rings();
        let ring = rings.recording.as_ref().or(rings.always.as_ref())?;
        Some(ring.live.peak)
    }

    /// Begins the peak anew, at the bytes that are alive now.
    pub(crate) fn reset_peak(&self) {
        let mut rings = self.rings();
        let Rings { always, recording } = &mut *rings;
        for ring in [always, recording].into_iter().flatten() {
            ring.live.peak = ring.live.now;
        }
    }

    /// Ends the recording: its events, and whether nothing is recorded any more.
    pub(crate) fn stop(&self) -> (Recording, bool) {
        let mut rings = self.rings();
        let ring = rings.recording.take();
        let off = rings.always.is_none() && self.live.is_none();
        self.on.store(!off, Ordering::Relaxed);
        drop(rings);
        let recording = ring.map_or_else(Default::default, |ring| Recording {
            events: Vec::from(ring.events),
            dropped: ring.dropped,
            peak_live: ring.live.peak,
            origin: None,
        });
        (self.dated(recording), off)
    }

    /// The last events.
    pub(crate) fn last(&self) -> Recording {
        let rings = self.rings();
        let always = rings.always.as_ref();
        let recording = always.map_or_else(Default::default, |ring| Recording {
            events: ring.events.iter().copied().collect(),
            dropped: ring.dropped,
            peak_live: ring.live.peak,
            origin: None,
        });
        drop(rings);
        self.dated(recording)
    }

    fn dated(&self, recording: Recording) -> Recording {
        Recording {
            origin: Some(self.origin),
            ..recording
        }
    }

    /// Something happened. Not within the lock of the central heap, which spins.
    #[cold]
    pub(crate) fn note(&self, note: Note) {
        let thread = thread_number();
        let mut rings = self.rings();
        let event = Event {
            action: note.action,
            address: note.address,
            bytes: note.bytes,
            block: note.block,
            stream: note.stream,
            ticket: note.ticket,
            device_free: note.device_free,
            // Within the lock, so that times never fall.
            nanoseconds: self.made.elapsed().as_nanos() as u64,
            name: note.name,
            site: note.site,
            thread,
        };
        let Rings { always, recording } = &mut *rings;
        for ring in [always, recording].into_iter().flatten() {
            ring.push(event);
        }
        if let Some(live) = &self.live
            && note.address != 0
        {
            match note.action {
                Action::Allocate => live.note_block(note.address, note.bytes),
                Action::Free | Action::Abandon => live.note_free(note.address),
                Action::Map => live.note_mapped(note.address, note.bytes),
                Action::Unmap => live.note_unmapped(note.address, note.bytes),
                Action::Refuse => {}
            }
        }
    }

    /// Pages were mapped or unmapped.
    #[track_caller]
    pub(crate) fn note_memory(&self, action: Action, address: CUdeviceptr, bytes: u64) {
        if self.is_on() {
            self.note(Note {
                action,
                address,
                bytes,
                block: bytes,
                stream: 0,
                ticket: 0,
                device_free: 0,
                name: None,
                site: Some(Location::caller()),
            });
        }
    }
}

impl BlockHistory for History {
    fn of_block(&self, address: CUdeviceptr) -> Vec<BlockEvent> {
        let of = |event: &Event| {
            let fate = match event.action {
                Action::Allocate => BlockFate::Allocated,
                Action::Free => BlockFate::Freed,
                Action::Abandon => BlockFate::Abandoned,
                Action::Refuse | Action::Map | Action::Unmap => return None,
            };
            (address.wrapping_sub(event.address) < event.block).then_some(BlockEvent {
                fate,
                address: event.address,
                bytes: event.bytes,
                name: event.name,
                site: event.site,
                thread: event.thread,
            })
        };
        let rings = self.rings();
        let events = rings
            .always
            .iter()
            .flat_map(|ring| ring.events.iter().rev());
        let mut events: Vec<BlockEvent> = events.filter_map(of).take(TOLD).collect();
        events.reverse();
        events
    }
}

fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    per_thread! {
        static NUMBER: Cell<u32> = Cell::new(0);
    }
    let number = NUMBER.try_with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    });
    // A cell without a destructor is there even while the thread ends.
    number.unwrap_or_default()
}

#[cfg(all(test, not(loom)))]
mod tests;
