//! `RuntimeBuilder`: checks that the parts belong together.

use std::sync::Arc;

use super::{Inner, RuntimeContext};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::pool::{MemoryPool, PoolConfig};
use crate::stream::{Stream, StreamConfig};

/// Makes a [`RuntimeContext`]; see [`RuntimeContext::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is made before `build`"]
pub struct RuntimeBuilder {
    context: Context,
    device: Option<Device>,
    stream: Option<Stream>,
    pool: Option<MemoryPool>,
    limit: Option<u64>,
}

impl RuntimeBuilder {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            context: context.clone(),
            device: None,
            stream: None,
            pool: None,
            limit: None,
        }
    }

    /// The device that the context is of, for callers of [`RuntimeContext::device`].
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// Work goes on this stream. Without it one is acquired ([`StreamConfig::default`]), and
    /// given back with the last clone and the last buffer on it.
    pub fn stream(mut self, stream: &Stream) -> Self {
        self.stream = Some(stream.clone());
        self
    }

    /// Temporary buffers come from this pool.
    pub fn pool(mut self, pool: &MemoryPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Temporary buffers come from a pool of its own, of at most so many bytes.
    pub fn pool_limit(mut self, bytes: u64) -> Self {
        self.limit = Some(bytes);
        self
    }

    /// Checks the parts and creates those that were not given.
    ///
    /// # Errors
    /// [`Error::Invalid`] without a pool or a limit, or with both; [`Error::WrongContext`]
    /// when a part belongs elsewhere; what the driver returned. Nothing is left then.
    #[track_caller]
    pub fn build(self) -> Result<RuntimeContext> {
        let core = self.context.core();
        if let Some(device) = &self.device
            && !device.contexts().has_device_of(core)
        {
            return Err(Error::WrongContext { what: "the device" });
        }
        if let Some(stream) = &self.stream
            && !stream.is_in(core)
        {
            return Err(Error::WrongContext { what: "the stream" });
        }
        if let Some(pool) = &self.pool
            && !pool.is_in(core)
        {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let pool = match (self.pool, self.limit) {
            (Some(pool), None) => pool,
            (None, Some(bytes)) => self.context.memory_pool(PoolConfig::limit(bytes))?,
            (None, None) => {
                let problem = "there is none: give one, or the limit of one of its own";
                return Err(Error::invalid("pool", problem));
            }
            (Some(_), Some(_)) => {
                let problem = "the pool that was given has a limit of its own";
                return Err(Error::invalid("pool_limit", problem));
            }
        };
        let stream = match self.stream {
            Some(stream) => stream,
            None => self.context.streams().acquire(StreamConfig::default())?,
        };
        Ok(RuntimeContext(Arc::new(Inner {
            device: self.device,
            context: self.context,
            stream,
            pool,
        })))
    }
}
