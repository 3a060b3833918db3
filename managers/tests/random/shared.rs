//! What the threads of a case share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_managers::event::EventHandle;
use cupola_managers::stream::StreamHandle;
use cupola_managers::{Context, Device, Event, ExecutionManager, MemoryPool, PoolConfig, Stream};

use super::worker::Filled;

/// The most things that lie in a drawer: older ones go.
const DRAWER: usize = 64;

/// Things that threads give each other.
pub(crate) struct Drawer<T>(Mutex<Vec<T>>);

impl<T> Drawer<T> {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn things(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, thing: T) {
        let mut things = self.things();
        things.push(thing);
        let oldest = (things.len() > DRAWER).then(|| things.remove(0));
        // Dropped without the lock.
        drop(things);
        drop(oldest);
    }

    pub(crate) fn take(&self, n: usize) -> Option<T> {
        let mut things = self.things();
        let len = things.len();
        (len > 0).then(|| things.swap_remove(n % len))
    }

    fn clear(&self) {
        let things = std::mem::take(&mut *self.things());
        drop(things);
    }
}

pub(crate) struct Shared {
    pub(crate) device: Device,
    pub(crate) context: Context,
    pub(crate) pool: MemoryPool,
    /// Managers are shut down only in some cases: in the others every refusal is an error.
    pub(crate) shuts: bool,
    pub(crate) streams: Drawer<Stream>,
    pub(crate) events: Drawer<Event>,
    pub(crate) buffers: Drawer<Filled>,
    /// Handles that were ended: refused for ever.
    pub(crate) dead_streams: Drawer<StreamHandle>,
    pub(crate) dead_events: Drawer<EventHandle>,
}

impl Shared {
    pub(crate) fn new(execution: &ExecutionManager, seed: u64) -> Self {
        let device = execution.devices().get(0).unwrap();
        let context = device.primary().unwrap();
        Self {
            pool: context.memory_pool(PoolConfig::limit(1 << 24)).unwrap(),
            context,
            device,
            shuts: seed.is_multiple_of(2),
            streams: Drawer::new(),
            events: Drawer::new(),
            buffers: Drawer::new(),
            dead_streams: Drawer::new(),
            dead_events: Drawer::new(),
        }
    }

    /// Everything is back; the figures add up.
    pub(crate) fn finish(self) {
        self.buffers.clear();
        self.streams.clear();
        self.events.clear();
        let (streams, events) = (self.context.streams(), self.context.events());
        for handle in streams.handles().collect::<Vec<_>>() {
            streams.release(handle).unwrap();
        }
        for handle in events.handles().collect::<Vec<_>>() {
            events.release(handle).unwrap();
        }
        for stats in [streams.stats(), events.stats()] {
            assert_eq!(stats.live, 0, "{stats:?}");
            assert!(stats.peak <= stats.created as usize, "{stats:?}");
            assert!(stats.idle <= stats.peak, "{stats:?}");
        }
        assert_eq!(self.pool.usage().unwrap().live, 0);
        assert_eq!(self.context.buffers().live(), 0);
    }
}
