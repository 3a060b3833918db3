//! One thread of a case: its things, what it knows of them, and what it does next.

use cupola_random::Random;
use std::ops::AddAssign;

use cupola_managers::event::EventHandle;
use cupola_managers::stream::StreamHandle;
use cupola_managers::{
    Buffer, Error, Event, EventConfig, EventsConfig, PinnedBuffer, Stream, StreamConfig,
    StreamsConfig, ops,
};

use super::shared::Shared;

/// A buffer, each word of which is `value`, last worked on on `stream`.
pub(crate) struct Filled {
    buffer: Buffer<u32>,
    value: u32,
    stream: Stream,
}

/// What operations came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) done: u64,
    /// Refused, as documented.
    pub(crate) refused: u64,
}

impl Tally {
    pub(crate) const ZERO: Self = Self {
        done: 0,
        refused: 0,
    };
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.done += other.done;
        self.refused += other.refused;
    }
}

pub(crate) struct Worker<'s> {
    shared: &'s Shared,
    random: Random,
    tally: Tally,
    streams: Vec<Stream>,
    events: Vec<Event>,
    buffers: Vec<Filled>,
    pinned: Vec<PinnedBuffer<u32>>,
    /// Held by the manager, ended by no other owner.
    held_streams: Vec<StreamHandle>,
    held_events: Vec<EventHandle>,
}

/// Things of a kind that a thread keeps at most.
const KEPT: usize = 8;

impl<'s> Worker<'s> {
    pub(crate) fn new(shared: &'s Shared, random: Random) -> Self {
        Self {
            shared,
            random,
            tally: Tally::ZERO,
            streams: Vec::new(),
            events: Vec::new(),
            buffers: Vec::new(),
            pinned: Vec::new(),
            held_streams: Vec::new(),
            held_events: Vec::new(),
        }
    }

    /// One operation.
    pub(crate) fn step(&mut self) {
        match self.random.index(100) {
            0..12 => self.acquire_stream(),
            12..24 => self.acquire_event(),
            24..30 => self.drop_something(),
            30..36 => self.hold_stream(),
            36..40 => self.hold_event(),
            40..46 => self.lease_held(),
            46..50 => self.release_held(),
            50..54 => self.refused_for_ever(),
            54..60 => self.order(),
            60..68 => self.allocate(),
            68..76 => self.fill(),
            76..80 => self.copy(),
            80..84 => self.check_contents(),
            84..86 => self.through_pinned(),
            86..92 => self.give(),
            92..97 => self.take(),
            97 => self.trim(),
            98 => self.own_context(),
            _ => self.shutdown(),
        }
    }

    /// What came of an operation that only a shutdown may refuse.
    fn unless_shut<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => {
                self.tally.done += 1;
                Some(value)
            }
            Err(Error::ShutDown { .. }) if self.shared.shuts => {
                self.tally.refused += 1;
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// What came of a handle that is good unless a shutdown ended it.
    fn unless_stale<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Err(Error::StaleHandle { .. }) if self.shared.shuts => {
                self.tally.refused += 1;
                None
            }
            other => self.unless_shut(other),
        }
    }

    /// A stream of this thread's, another one if there is none.
    fn stream(&mut self) -> Option<Stream> {
        if self.streams.is_empty() {
            self.acquire_stream();
        }
        let n = self.random.index(self.streams.len());
        self.streams.get(n).cloned()
    }

    fn acquire_stream(&mut self) {
        let config = StreamConfig {
            blocking: false,
            priority: -(self.random.index(2) as i32),
        };
        let found = self.shared.context.streams().acquire(config);
        if let Some(stream) = self.unless_shut(found) {
            assert_eq!(stream.config(), config);
            self.streams.push(stream);
        }
        if self.streams.len() > KEPT {
            let n = self.random.index(KEPT);
            let stream = self.streams.swap_remove(n);
            // Another thread, or a buffer, may have a lease of it.
            drop(stream);
        }
    }

    fn acquire_event(&mut self) {
        let config = EventConfig {
            timing: self.random.one_in(4),
            blocking_sync: false,
        };
        let found = self.shared.context.events().acquire(config);
        if let Some(event) = self.unless_shut(found) {
            assert_eq!(event.config(), config);
            assert!(
                ops::query_event(&event).unwrap(),
                "a new life is not recorded"
            );
            self.events.push(event);
        }
        if self.events.len() > KEPT {
            let n = self.random.index(KEPT);
            self.events.swap_remove(n);
        }
    }

    fn drop_something(&mut self) {
        self.tally.done += 1;
        match self.random.index(4) {
            0 => drop(self.streams.pop()),
            1 => drop(self.events.pop()),
            2 => drop(self.pinned.pop()),
            _ => {
                if let Some(filled) = self.buffers.pop() {
                    filled.buffer.free().unwrap();
                }
            }
        }
    }

    fn hold_stream(&mut self) {
        let found = self
            .shared
            .context
            .streams()
            .create_held(StreamConfig::default());
        if let Some(stream) = self.unless_shut(found) {
            self.held_streams.push(stream.handle());
        }
        if self.held_streams.len() > KEPT {
            self.release_held();
        }
    }

    fn hold_event(&mut self) {
        let found = self
            .shared
            .context
            .events()
            .create_held(EventConfig::default());
        if let Some(event) = self.unless_shut(found) {
            self.held_events.push(event.handle());
        }
    }

    /// A handle that was not ended leads to its object.
    fn lease_held(&mut self) {
        if let Some(&handle) = self.held_streams.last() {
            let found = self.shared.context.streams().lease(handle);
            match self.unless_stale(found) {
                Some(stream) => assert_eq!(stream.handle(), handle),
                None => drop(self.held_streams.pop()),
            }
        }
        if let Some(&handle) = self.held_events.first() {
            let found = self.shared.context.events().lease(handle);
            match self.unless_stale(found) {
                Some(event) => assert_eq!(event.handle(), handle),
                None => drop(self.held_events.remove(0)),
            }
        }
    }

    fn release_held(&mut self) {
        if let Some(handle) = self.held_streams.pop() {
            let released = self.shared.context.streams().release(handle);
            self.unless_stale(released);
            self.shared.dead_streams.put(handle);
        }
        if let Some(handle) = self.held_events.pop() {
            let released = self.shared.context.events().release(handle);
            self.unless_stale(released);
            self.shared.dead_events.put(handle);
        }
    }

    fn refused_for_ever(&mut self) {
        let n = self.random.index(64);
        self.tally.done += 1;
        if let Some(handle) = self.shared.dead_streams.take(n) {
            let found = self.shared.context.streams().lease(handle);
            assert!(matches!(found, Err(Error::StaleHandle { .. })), "{found:?}");
            self.shared.dead_streams.put(handle);
        }
        if let Some(handle) = self.shared.dead_events.take(n) {
            let found = self.shared.context.events().release(handle);
            assert!(matches!(found, Err(Error::StaleHandle { .. })), "{found:?}");
        }
    }

    /// Orders two streams, by an event of this thread's or by one of the pool.
    fn order(&mut self) {
        let (Some(first), Some(then)) = (self.stream(), self.stream()) else {
            return;
        };
        match self.events.last() {
            Some(event) if self.random.one_in(2) => {
                ops::record(event, &first).unwrap();
                ops::wait(&then, event).unwrap();
                if self.random.one_in(4) {
                    ops::synchronize_event(event).unwrap();
                    assert!(ops::query_event(event).unwrap());
                }
                self.tally.done += 1;
            }
            _ => {
                ops::order(&first, &then).unwrap();
                self.tally.done += 1;
            }
        }
    }

    fn allocate(&mut self) {
        let Some(stream) = self.stream() else { return };
        let len = [0, 1, 33, 256, 1000][self.random.index(5)];
        let mut buffer = self.shared.pool.allocate(len, &stream).unwrap();
        let value = self.random.next_u64() as u32;
        ops::fill(&mut buffer, value, &stream).unwrap();
        self.tally.done += 1;
        self.buffers.push(Filled {
            buffer,
            value,
            stream,
        });
        if self.buffers.len() > KEPT {
            let n = self.random.index(KEPT);
            // Freed in stream order, behind whatever used it.
            self.buffers.swap_remove(n);
        }
    }

    fn some_buffer(&mut self) -> Option<usize> {
        let n = self.random.index(self.buffers.len());
        (n < self.buffers.len()).then_some(n)
    }

    fn fill(&mut self) {
        let (Some(n), Some(stream)) = (self.some_buffer(), self.stream()) else {
            return;
        };
        let value = self.random.next_u64() as u32;
        let filled = &mut self.buffers[n];
        ops::order(&filled.stream, &stream).unwrap();
        ops::fill(&mut filled.buffer, value, &stream).unwrap();
        (filled.value, filled.stream) = (value, stream);
        self.tally.done += 1;
    }

    fn copy(&mut self) {
        let Some(n) = self.some_buffer() else { return };
        let (len, stream) = (self.buffers[n].buffer.len(), self.buffers[n].stream.clone());
        let mut buffer = self.shared.pool.allocate(len, &stream).unwrap();
        let from = &self.buffers[n];
        ops::copy(&from.buffer, &mut buffer, &stream).unwrap();
        let value = from.value;
        self.tally.done += 1;
        self.buffers[n] = Filled {
            buffer,
            value,
            stream,
        };
    }

    fn check_contents(&mut self) {
        let Some(n) = self.some_buffer() else { return };
        let filled = &self.buffers[n];
        let mut back = vec![!filled.value; filled.buffer.len()];
        ops::read(&filled.buffer, &mut back, &filled.stream).unwrap();
        assert!(
            back.iter().all(|&word| word == filled.value),
            "contents are lost"
        );
        self.tally.done += 1;
    }

    fn through_pinned(&mut self) {
        let Some(n) = self.some_buffer() else { return };
        let len = self.buffers[n].buffer.len();
        let mut pinned = self.shared.context.buffers().pinned::<u32>(len).unwrap();
        let filled = &self.buffers[n];
        ops::copy_to_host(&filled.buffer, &mut pinned, &filled.stream).unwrap();
        {
            let words = pinned.as_slice().unwrap();
            assert!(
                words.iter().all(|&word| word == filled.value),
                "contents are lost"
            );
            self.pinned.push(pinned);
        }
        self.pinned.truncate(KEPT);
    }

    fn give(&mut self) {
        self.tally.done += 1;
        match self.random.index(3) {
            0 => self
                .streams
                .pop()
                .into_iter()
                .for_each(|s| self.shared.streams.put(s)),
            1 => self
                .events
                .pop()
                .into_iter()
                .for_each(|e| self.shared.events.put(e)),
            _ => self
                .buffers
                .pop()
                .into_iter()
                .for_each(|b| self.shared.buffers.put(b)),
        }
    }

    fn take(&mut self) {
        self.tally.done += 1;
        let n = self.random.index(64);
        match self.random.index(3) {
            0 => self.streams.extend(self.shared.streams.take(n)),
            1 => self.events.extend(self.shared.events.take(n)),
            _ => self.buffers.extend(self.shared.buffers.take(n)),
        }
    }

    fn trim(&mut self) {
        let keep = self.random.index(3);
        self.shared.context.streams().trim(keep).unwrap();
        self.shared.context.events().trim(keep).unwrap();
        self.tally.done += 1;
    }

    /// A context of this thread's own, whose things outlive it in part.
    fn own_context(&mut self) {
        if !self.random.one_in(8) {
            return;
        }
        let contexts = self.shared.device.contexts();
        let own = contexts.create(Default::default()).unwrap();
        let stream = own.streams().acquire(StreamConfig::default()).unwrap();
        let event = own.events().create(EventConfig::default()).unwrap();
        contexts.release(own.handle()).unwrap();
        assert!(matches!(
            contexts.lease(own.handle()),
            Err(Error::StaleHandle { .. })
        ));
        drop(own);
        ops::record(&event, &stream).unwrap();
        ops::synchronize(&stream).unwrap();
        self.tally.done += 1;
    }

    /// Shuts a manager down and sets it up again, while others use it.
    fn shutdown(&mut self) {
        if !self.shared.shuts || !self.random.one_in(4) {
            return;
        }
        let (streams, events) = (self.shared.context.streams(), self.shared.context.events());
        if self.random.one_in(2) {
            let report = streams.shutdown();
            assert!(report.errors.is_empty(), "{report}");
            assert!(
                report.leased.iter().all(|object| object.leases > 0),
                "{report}"
            );
            streams.configure(StreamsConfig::default()).unwrap();
        } else {
            let report = events.shutdown();
            assert!(report.errors.is_empty(), "{report}");
            events.configure(EventsConfig::default()).unwrap();
        }
        // Leases are as good as before.
        if let Some(stream) = self.streams.last() {
            ops::query(stream).unwrap();
        }
        self.tally.done += 1;
    }

    /// Everything is what it should be to the end.
    pub(crate) fn finish(mut self) -> Tally {
        while !self.buffers.is_empty() {
            self.check_contents();
            let n = self.random.index(self.buffers.len());
            self.buffers.swap_remove(n);
        }
        self.tally
    }
}
