//! `StreamPool`: a few streams for work of many callers, each given the stream with the least to do.

mod member;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use super::{Stream, StreamConfig};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::sync;
use crate::sync::deferred::DeferCallbacks;
use member::Member;

/// How many streams a [`StreamPool`] has, and of what kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPoolConfig {
    /// The most streams. Those that share one of the device's connections to the host wait for each
    /// other where one of them waits: there are 8, unless `CUDA_DEVICE_MAX_CONNECTIONS` says another
    /// number, up to 32, when the driver is initialised. On an H200, 32 streams with two kernels each
    /// took 2.5 times as long as one; with 32 connections 1.06 times.
    pub streams: usize,
    /// How they are created. Work that should go first has a pool of its own, whose streams have a
    /// [greater priority](super::StreamManager::priorities).
    pub stream: StreamConfig,
}

impl StreamPoolConfig {
    /// Up to so many non-blocking streams.
    #[must_use]
    pub const fn new(streams: usize) -> Self {
        Self {
            streams,
            stream: StreamConfig::priority(0),
        }
    }

    /// The same, of this priority.
    #[must_use]
    pub const fn priority(self, priority: i32) -> Self {
        Self {
            stream: StreamConfig::priority(priority),
            ..self
        }
    }
}

/// Streams of one context for many callers. A caller leases the stream with the least outstanding
/// work: an idle one, else a new one, else the one with the fewest leases whose work is not done.
///
/// What is outstanding is known without a call of the driver as long as a stream is idle or can be made.
/// Only else are events recorded and asked for, one for each stream.
///
/// ```
/// use cupola_managers::stream::{StreamPool, StreamPoolConfig};
/// use cupola_managers::{Error, ExecutionManager, PoolConfig};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let memory = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// let streams = StreamPool::new(&context, StreamPoolConfig::new(4))?;
/// std::thread::scope(|threads| {
///     for _ in 0..16 {
///         threads.spawn(|| {
///             let stream = streams.lease()?;
///             let zeros = memory.zeros::<f32>(1000, &stream)?;
///             stream.ticket()?.wait()?;
///             drop(zeros);
///             Ok::<_, Error>(())
///         });
///     }
/// });
/// assert!(streams.live() <= 4);
/// # Ok::<_, Error>(())
/// ```
#[doc(alias = "load balancing")]
#[derive(Clone)]
pub struct StreamPool(Arc<Shared>);

struct Shared {
    members: Mutex<Members>,
    config: StreamPoolConfig,
    context: Context,
}

#[derive(Default)]
struct Members {
    list: Vec<Member>,
    /// Leases so far.
    leases: u64,
}

impl Members {
    /// The place of the stream with the least to do, as far as is known: of several the one whose last
    /// lease is the oldest.
    fn least(&mut self) -> Option<usize> {
        let mut least: Option<usize> = None;
        for place in 0..self.list.len() {
            self.list[place].forget_done();
            let key = |place: usize| (self.list[place].load(), self.list[place].begun());
            if least.is_none_or(|least| key(place) < key(least)) {
                least = Some(place);
            }
        }
        least
    }
}

/// What a stream is chosen by when all have work as far as is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    /// That.
    AtHand,
    /// The driver's answer.
    Asked,
}

impl StreamPool {
    /// A pool of this configuration. Its streams are made when they are needed.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it is to have no streams; [`Error::Forked`].
    #[track_caller]
    pub fn new(context: &Context, config: StreamPoolConfig) -> Result<Self> {
        context.core().not_forked()?;
        if config.streams == 0 {
            return Err(Error::invalid("stream pool", "a pool needs a stream"));
        }
        Ok(Self(Arc::new(Shared {
            members: Mutex::default(),
            config,
            context: context.clone(),
        })))
    }

    /// Leases the stream with the least outstanding work. Other callers may lease it at the same time,
    /// when all streams have work: work of all of them runs in the order in which it was put.
    ///
    /// # Errors
    /// As [`StreamManager::create`](super::StreamManager::create) when a stream is made; what the
    /// driver returned when it was asked what is done.
    #[track_caller]
    pub fn lease(&self) -> Result<PooledStream> {
        self.lease_by(Knowledge::Asked)
    }

    /// As [`lease`](Self::lease), by what is known without a call of the driver: where all streams have
    /// work as far as is known, it is not asked which have finished meanwhile. A wait for the work, by a
    /// [ticket](Stream::ticket) or for the stream, makes that known.
    ///
    /// # Errors
    /// As [`StreamManager::create`](super::StreamManager::create) when a stream is made.
    #[track_caller]
    pub fn lease_as_known(&self) -> Result<PooledStream> {
        self.lease_by(Knowledge::AtHand)
    }

    #[track_caller]
    fn lease_by(&self, knowledge: Knowledge) -> Result<PooledStream> {
        let core = self.0.context.core();
        core.healthy()?;
        let _defer = DeferCallbacks::new();
        let mut members = sync::lock(&self.0.members);
        let mut place = members.least();
        if place.is_none_or(|place| members.list[place].load() > 0) {
            if members.list.len() < self.0.config.streams {
                let stream = self.0.context.streams().create(self.0.config.stream)?;
                members.list.push(Member::new(stream));
                place = Some(members.list.len() - 1);
            } else if knowledge == Knowledge::Asked {
                for member in &mut members.list {
                    member.ask(core)?;
                }
                place = members.least();
            }
        }
        let Some(place) = place else {
            return Err(Error::Full { kind: "stream" });
        };
        members.leases += 1;
        let number = members.leases;
        Ok(PooledStream {
            stream: members.list[place].begin_lease(number),
            place,
            pool: Arc::clone(&self.0),
        })
    }

    /// Streams that were made so far.
    #[must_use]
    pub fn live(&self) -> usize {
        sync::lock(&self.0.members).list.len()
    }

    /// Leases, and leases that have ended whose work is not known to be done, of all streams.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        let _defer = DeferCallbacks::new();
        let mut outstanding = 0;
        for member in &mut sync::lock(&self.0.members).list {
            member.forget_done();
            outstanding += member.load();
        }
        outstanding
    }
}

impl fmt::Debug for StreamPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPool")
            .field("config", &self.0.config)
            .field("live", &self.live())
            .finish_non_exhaustive()
    }
}

/// A lease of a stream of a [`StreamPool`]. What was put on the stream by its end counts as
/// outstanding until it is done. A clone of the [`Stream`] outlives the lease, and is not counted.
pub struct PooledStream {
    stream: Stream,
    place: usize,
    pool: Arc<Shared>,
}

impl Deref for PooledStream {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl Drop for PooledStream {
    fn drop(&mut self) {
        // In a fork another thread may have left the lock taken.
        if self.pool.context.core().not_forked().is_ok() {
            sync::lock(&self.pool.members).list[self.place].end_lease();
        }
    }
}

impl fmt::Debug for PooledStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PooledStream").field(&self.stream).finish()
    }
}
