//! cupola: the CUDA layer that other Rust GPU crates stand on.
//!
//! This crate is the facade: it opens a GPU, or the software device where a program asks for it,
//! and re-exports what the crates below it offer.
//!
//! ```
//! use cupola::{Cupola, PoolConfig, Select};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cupola = Cupola::open(Select::AutoOrSoftware)?; // `Auto`: a GPU, or an error
//! let context = cupola.device(0)?.primary()?;
//! let stream = context.streams().create(Default::default())?;
//! let pool = context.memory_pool(PoolConfig::limit(8 << 30))?;
//! let buffer = pool.allocate::<f32>(1 << 20, &stream)?; // freed in stream order
//! assert_eq!(pool.usage()?.live, 4 << 20);
//! # drop(buffer);
//! # Ok(())
//! # }
//! ```
//!
//! | crate | what it is |
//! |---|---|
//! | [`sys`] | generated types of the whole driver API, and the loader; the libraries beside the driver by the features `nvrtc`, `nvjitlink`, `nvml`, `nccl` |
//! | [`primitives`] | `cupola-core`: handles, slots, budgets: `no_std`, no allocation |
//! | [`managers`] | devices, contexts, streams, events, buffers, pool, pipeline |
//! | [`kernels`] | device code and its typed launches |
//! | `sharing` | device memory for other processes, and one limit over several (feature `sharing`, Linux) |
//! | `keeper` | device memory that outlives the processes that use it (feature `keeper`, Linux) |
//! | [`sim`] | the software CUDA device (feature `sim`, on by default) |
//! | `residency` | models that share a device's memory (feature `residency`) |
//! | `worker` | a function in a process that may be lost (feature `worker`) |
//! | `testing` | tests without a GPU, for crates above (feature `test-utils`) |
#![cfg_attr(docsrs, feature(doc_cfg))]

/// The README's example, compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A glob import leaves the names of the language alone.
///
/// ```
/// use cupola::*;
///
/// assert_eq!(core::mem::size_of::<Option<u8>>(), 2);
/// let _: Option<primitives::Handle<primitives::tag::Stream>> = None;
/// ```
#[cfg(doctest)]
struct Glob;

mod open;

pub use cupola_core as primitives;
#[cfg(feature = "keeper")]
pub use cupola_keeper as keeper;
pub use cupola_kernels as kernels;
pub use cupola_managers as managers;
#[cfg(feature = "residency")]
pub use cupola_residency as residency;
#[cfg(feature = "sharing")]
pub use cupola_sharing as sharing;
#[cfg(feature = "sim")]
pub use cupola_sim as sim;
pub use cupola_sys as sys;
#[cfg(feature = "test-utils")]
pub use cupola_testing as testing;
#[cfg(feature = "worker")]
pub use cupola_worker as worker;

pub use cupola_derive::FacadeDeviceCopy as DeviceCopy;
pub use cupola_managers::backend::{BackendRegistry, Requirements};
pub use cupola_managers::buffer::element::DeviceCopy;
pub use cupola_managers::buffer::{Buffer, PinnedBuffer};
pub use cupola_managers::event::{Event, EventConfig};
pub use cupola_managers::pipeline::{Pipeline, PipelineConfig};
pub use cupola_managers::pool::{MemoryPool, PoolConfig};
pub use cupola_managers::stream::{Stream, StreamConfig};
pub use cupola_managers::{Context, Device, DeviceInfo, Error, ExecutionManager};
pub use open::{Backend, Cupola, OpenError, SOFTWARE, Select};
