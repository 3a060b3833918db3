//! `Usage`: a pool's gauges and counters.

use cupola_core::Pressure;

use crate::error::{Account, Error, Result};
use crate::pool::cache::counters::CacheCounters;
use crate::pool::inspect::counters::Happened;
use crate::pool::limit::device_limit::DeviceLimit;
use crate::pool::pages::vmm::DriverCalls;
use crate::pool::state::Pool;

/// The gauges and counters of a [`MemoryPool`](crate::pool::MemoryPool). Sizes in bytes.
///
/// `live`, `cached`, `pending` and `mapped` are of one moment. Taken while other threads allocate
/// and free, the other figures are of moments that lie close to it.
///
/// To tell cached from pending an event is recorded on each stream that has freed something since
/// the last look, unless it captures, and waited for up to 50 us, which is enough where the stream
/// has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// In blocks that are alive, as they were asked for.
    pub live: u64,
    /// Kept for reuse and ready for all streams: in magazines, transfer caches, free slots and on
    /// pages that no work uses.
    pub cached: u64,
    /// Freed, but for work that may still use it: only its own stream may have it. Memory that is
    /// kept together has one time at which it is ready, that of the last free: a free stretch, the
    /// slots of a slab, and all that magazines and the transfer cache have of a stream.
    pub pending: u64,
    /// From the driver: everything that the limit counts. `live`, `cached` and `pending` are no
    /// more than this together; the rest is the rounding of sizes, the memory that a graph has or
    /// holds back, abandoned blocks, and pieces that were just on their way.
    pub mapped: u64,
    /// The most that was ever mapped at a time, or since the
    /// [reset](crate::pool::MemoryPool::reset_peaks).
    pub peak_mapped: u64,
    /// The most that was ever out of the heap at a time, or since the
    /// [reset](crate::pool::MemoryPool::reset_peaks): in live blocks as they are rounded
    /// up, in magazines and in slabs.
    pub peak_held: u64,
    /// The most that was alive at a time, as it was asked for, while the pool was recorded or kept
    /// a [history](crate::pool::PoolConfig::history): see
    /// [`reset_peaks`](crate::pool::MemoryPool::reset_peaks). `None` else: to know it at each
    /// moment all threads would have to count together. It is no more than `peak_held`.
    pub peak_live: Option<u64>,
    /// The limit on `mapped`.
    pub limit: u64,
    /// How full the pool is.
    pub pressure: Pressure,
    /// The part of the free and ready memory, in the heap and in slabs, that is not in one piece
    /// with its largest stretch: 0 where every such byte can serve one request.
    pub fragmentation: f64,
    /// Blocks that are alive.
    pub blocks: u64,
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks taken back.
    pub frees: u64,
    /// Allocations that no magazine of the thread served.
    pub misses: u64,
    /// Frees that no magazine of the thread had room for.
    pub spills: u64,
    /// Allocations and frees that a magazine of the thread served, but off the hit path, with
    /// locks: the pool was recorded, or over a lowered limit.
    pub detours: u64,
    /// Requests that had to have pages mapped.
    pub grown: u64,
    /// Pages that were taken from one place to be used at another.
    pub remapped: u64,
    /// How often everything that threads kept was taken back.
    pub drains: u64,
    /// A limit was reached, and neither is half of the bytes that it could have had then free again
    /// nor was that long ago (65 536 blocks that were placed without trouble): meanwhile threads
    /// keep nothing of more than 8 KiB, so allocations and frees of larger sizes are no hits.
    pub tight: bool,
    /// How often a request made its stream wait for another.
    pub device_waits: u64,
    /// How often a request waited on the host.
    pub host_waits: u64,
    /// Requests that were refused because they did not fit the limit.
    pub refused: u64,
    /// Requests that were refused because they fit the limit but not the device.
    pub exhausted: u64,
    /// How often unused memory was given back to the device.
    pub trims: u64,
    /// Streams that the pool has a place for: those that have used it, without those that are
    /// gone and were found so.
    pub streams: u64,
    /// Thread caches, one for each pair of a thread and a stream: some 26 KB of the host's memory
    /// each.
    pub caches: u64,
    /// Those of them that place blocks in memory of their own: see [`Arenas`](crate::pool::Arenas).
    pub arenas: u64,
    /// Calls of the driver, those of earlier looks at the figures included, and not those of this
    /// one.
    pub calls: DriverCalls,
    /// Bytes of the device that are in use by others: other processes, contexts, libraries and
    /// pools, and the needs of the driver itself.
    pub foreign: u64,
    /// Those of them that executables of graphs in the pool's context took, where they were
    /// [measured](crate::Graph::instantiate_measured): an estimate.
    pub executables: u64,
    /// Bytes of the device that are free. Of an integrated one, whose memory is the host's, the
    /// bytes that the host has available: the driver counts the system's cache of files as used.
    pub device_free: u64,
}

impl Usage {
    /// The part of allocations that a magazine of the thread served: without a lock, but for
    /// [`detours`](Self::detours).
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        match self.allocations {
            0 => 0.0,
            all => 1.0 - self.misses as f64 / all as f64,
        }
    }
}

impl Pool {
    /// Bytes that are alive, blocks that are alive, and the figures of all caches.
    pub(crate) fn traffic(&self) -> CacheCounters {
        // Another thread may have left the lock taken.
        match self.core.not_forked() {
            Ok(()) => self.caches.figures(),
            Err(_) => CacheCounters::default(),
        }
    }

    /// Blocks that came back so far.
    pub(crate) fn frees(&self) -> u64 {
        self.traffic().frees()
    }

    #[track_caller]
    pub(crate) fn usage(&self) -> Result<Usage> {
        self.core.not_forked()?;
        // Before the look, which makes calls of its own.
        let mut calls = self.pages.calls().read();
        let (streams, timelines) = self.streams.calls();
        calls.add(timelines);
        let (gauges, looked) = self.gauges();
        looked?;
        let (device_free, device_total) = self.pages.free_memory()?;
        let (counters, mapped, cached) = (&gauges.counters, gauges.mapped, gauges.reusable());
        let pressure = self.pressure_with(cached, device_free);
        let (peak_held, tight, arenas) = {
            let central = self.central.lock();
            (central.peak_held(), central.is_tight(), central.arenas())
        };
        Ok(Usage {
            live: counters.live_bytes(),
            cached,
            pending: gauges.pending,
            mapped,
            peak_mapped: self.observer.counters().peak_mapped(),
            peak_held,
            peak_live: self.observer.history().peak_live(),
            limit: self.budget.limit(),
            pressure,
            fragmentation: match gauges.loose {
                0 => 0.0,
                loose => (loose - gauges.largest) as f64 / loose as f64,
            },
            blocks: counters.allocations().saturating_sub(counters.frees()),
            allocations: counters.allocations(),
            frees: counters.frees(),
            misses: counters.misses(),
            spills: counters.spills(),
            detours: counters.detours(),
            grown: self.observer.counters().times(Happened::Grown),
            remapped: self.observer.counters().times(Happened::Moved),
            drains: self.observer.counters().times(Happened::Drained),
            tight,
            device_waits: self.observer.counters().times(Happened::WaitedOnDevice),
            host_waits: self.observer.counters().times(Happened::WaitedOnHost),
            refused: self.observer.counters().times(Happened::Refused),
            exhausted: self.observer.counters().times(Happened::Exhausted),
            trims: self.observer.counters().times(Happened::Trimmed),
            streams,
            caches: self.caches.count() as u64,
            arenas,
            calls,
            foreign: device_total
                .saturating_sub(device_free)
                .saturating_sub(mapped),
            executables: self.core.executables().bytes(),
            device_free,
        })
    }

    /// The pool's account, for an error. The caller may have the mapper, and is not inside a cache.
    pub(crate) fn account(&self, requested: u64) -> Account {
        let gauges = self.mapped_gauges();
        let (counters, mapped) = (&gauges.counters, gauges.mapped);
        // For an error nothing more is risked than a figure.
        let (device_free, total) = self.pages.free_memory().unwrap_or_default();
        let shared = self.config.within.as_ref();
        Account {
            requested,
            live: counters.live_bytes(),
            blocks: counters.allocations().saturating_sub(counters.frees()),
            ready: gauges.ready(),
            pending: gauges.pending,
            mapped,
            limit: self.budget.limit(),
            shared: shared.map(|limit| (limit.used(), limit.limit())),
            processes: shared.and_then(DeviceLimit::processes),
            largest: gauges.largest,
            page: self.pages.page(),
            device_free,
            foreign: total.saturating_sub(device_free).saturating_sub(mapped),
        }
    }

    /// The request does not fit.
    pub(crate) fn refuse(&self, requested: u64) -> Error {
        Error::OverLimit(Box::new(self.account(requested)))
    }
}
