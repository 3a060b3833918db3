//! `RuntimeContext`: a value that higher layers pass around, and the one that a thread works in.
//!
//! A device, a context, a stream and a pool in one value that is cheap to clone. A thread
//! may [enter](RuntimeContext::enter) one: until the guard is dropped it is the thread's
//! current one, and an operation that needs a temporary buffer takes it with [`scratch`]
//! instead of asking its caller for a pool and a stream.
//!
//! The current one is a matter of the thread alone: nothing else is global, a new thread has
//! none, and neither entering nor asking makes a driver call. (The driver's own current context is
//! another one, which operations set themselves.)
//!
//! ```no_run
//! use cupola_managers::runtime::{self, RuntimeContext};
//! use cupola_managers::{Buffer, Result, ops};
//!
//! fn swap(one: &mut Buffer<f32>, other: &mut Buffer<f32>) -> Result<()> {
//!     let mut between = runtime::scratch::<f32>(one.len())?; // freed in stream order
//!     let runtime = RuntimeContext::current()?;
//!     ops::copy(&*one, &mut between, runtime.stream())?;
//!     ops::copy(&*other, one, runtime.stream())?;
//!     ops::copy(&between, other, runtime.stream())
//! }
//! ```

mod builder;
mod current;

use std::fmt;
use std::sync::Arc;

pub use builder::RuntimeBuilder;
pub use current::{CurrentRuntime, RuntimeGuard};

use crate::buffer::{Buffer, DeviceCopy};
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;
use crate::pool::MemoryPool;
use crate::stream::Stream;

/// A device, a context, a stream and a pool. Clones are the same one; they may be used from
/// any thread.
#[derive(Clone)]
pub struct RuntimeContext(Arc<Inner>);

struct Inner {
    device: Option<Device>,
    context: Context,
    stream: Stream,
    pool: MemoryPool,
}

impl RuntimeContext {
    /// One in this context; the builder takes the rest.
    pub fn builder(context: &Context) -> RuntimeBuilder {
        RuntimeBuilder::new(context)
    }

    /// The device, if the builder was given it.
    #[must_use]
    pub fn device(&self) -> Option<&Device> {
        self.0.device.as_ref()
    }

    /// Ordinal of the device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.0.context.ordinal()
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The stream on which work is put.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.0.stream
    }

    /// The pool from which temporary buffers come.
    #[must_use]
    pub fn pool(&self) -> &MemoryPool {
        &self.0.pool
    }

    /// Whether both are the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A temporary buffer of `len` elements from the pool, ready for use on the stream and
    /// freed in its order when dropped. The contents are unspecified.
    ///
    /// # Errors
    /// As [`MemoryPool::allocate`].
    #[track_caller]
    pub fn scratch<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>> {
        self.0.pool.allocate(len, &self.0.stream)
    }
}

impl fmt::Debug for RuntimeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeContext")
            .field("context", &self.0.context)
            .field("stream", &self.0.stream)
            .field("pool", &self.0.pool)
            .finish_non_exhaustive()
    }
}

/// A temporary buffer from the pool of the thread's current runtime context, on its stream:
/// see [`RuntimeContext::scratch`].
///
/// # Errors
/// [`Error::NoRuntime`](crate::Error::NoRuntime) when the thread has none; as
/// [`MemoryPool::allocate`].
#[track_caller]
pub fn scratch<T: DeviceCopy>(len: usize) -> Result<Buffer<T>> {
    RuntimeContext::current()?.scratch(len)
}
