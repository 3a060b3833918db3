//! Owners of the objects of a CUDA device, and operations that put work on it in order.
//!
//! One chain of owners: [`ExecutionManager`] (the driver) - [`DeviceManager`] -
//! [`ContextManager`] - and in each context a manager of [streams](stream),
//! [events](event), [buffers](buffer) and [modules](module). Managers create, own and hand
//! out leases; [`ops`] puts work on streams, [`pipeline`] overlaps uploads, kernels and
//! downloads. The pipeline calls ops, and ops take the leases that managers hand out; no manager
//! calls either. Below them a stream's timeline tells when memory that was freed on it is free, and
//! a context makes the managers of the objects in it. Several drivers side by side are
//! [backends](backend); a thread works in a [runtime context](runtime).
//!
//! * Nothing is created before it is asked for, and no thread is started but by a caller that awaits
//!   something, drops what the device still uses, or, until the call returns, gets a large region of
//!   [pinned memory](host). Besides the calls that
//!   its caller asked for, an operation that names no stream asks which context is current, any may ask
//!   whether a stream is captured and set the thread's capture mode around a wait, orders streams by events, and after
//!   a failure asks for the driver's explanation.
//! * A handle names one life of one object. After its release its manager refuses it for ever.
//!   Other managers refuse it too, but for the 255th of its kind that is made later
//!   ([`ManagedHandle`]); each module is a manager of functions.
//! * Leases may be dropped in any order. `Drop` is silent and never panics.
//! * The first error after which a context is lost is remembered: every later operation in
//!   the context returns it. The crate `cupola-worker` runs a function in a process that may be
//!   lost to such an error.
//!
//! Vectors up, a kernel, a vector down:
//!
//! ```
//! use cupola_managers::ops::{self, LaunchConfig};
//! use cupola_managers::{ExecutionManager, PoolConfig, StreamConfig};
//! # struct Driver;
//! # impl Driver {
//! #     fn load() -> cupola_managers::Result<cupola_sys::driver::Driver> {
//! #         Ok(cupola_sim::Machine::builder().build().driver())
//! #     }
//! # }
//! # const PTX: &str = "
//! #     .version 6.0
//! #     .target sm_60
//! #     .address_size 64
//! #     .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y) {
//! #         .reg .b32 %i; .reg .b64 %x; .reg .b64 %y; .reg .f32 %f<4>;
//! #         mov.u32 %i, %tid.x;
//! #         ld.param.f32 %f1, [a];
//! #         ld.param.u64 %x, [x];
//! #         ld.param.u64 %y, [y];
//! #         mad.wide.u32 %x, %i, 4, %x;
//! #         mad.wide.u32 %y, %i, 4, %y;
//! #         ld.global.f32 %f2, [%x];
//! #         ld.global.f32 %f3, [%y];
//! #         fma.rn.f32 %f3, %f1, %f2, %f3;
//! #         st.global.f32 [%y], %f3;
//! #         ret;
//! #     }
//! # ";
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = ExecutionManager::new(Driver::load()?)?.devices().get(0)?.primary()?;
//! let stream = context.streams().create(StreamConfig::default())?;
//! let pool = context.memory_pool(PoolConfig::limit(1 << 30))?;
//! let saxpy = context.modules().load_ptx(PTX)?.function("saxpy")?;
//! let x = pool.upload(&[1.0f32, 2.0, 3.0], &stream)?;
//! let mut y = pool.upload(&[10.0f32, 20.0, 30.0], &stream)?;
//! // SAFETY: three threads, each of which reads its element of `x` and changes that of `y`.
//! unsafe { ops::launch(&saxpy, LaunchConfig::linear(1, 3), (2.0f32, &x, &mut y), &stream) }?;
//! assert_eq!(y.to_vec(&stream)?, [12.0, 24.0, 36.0]);
//! # Ok(()) }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod mutant;

pub mod backend;
pub mod buffer;
pub mod context;
pub mod copies;
pub mod device;
mod driver;
mod error;
pub mod event;
mod execution;
pub mod graph;
mod handle;
pub mod host;
pub mod interop;
mod limits;
mod lists;
pub mod managed;
#[cfg(all(test, loom))]
mod models;
pub mod module;
mod object_pool;
pub mod occupancy;
pub mod ops;
pub mod peer;
pub mod pipeline;
pub mod pool;
mod registry;
pub mod retry;
pub mod runtime;
mod shutdown_report;
mod stats;
pub mod stream;
mod sync;
pub mod tensor;
#[cfg(all(test, not(loom)))]
mod test_bench;
#[cfg(feature = "test-utils")]
pub mod testing;
pub mod trace_events;
pub mod vmm;

// The bench of tests names this crate as the tests in `tests` do, which compile it too.
#[cfg(all(test, not(loom)))]
extern crate self as cupola_managers;

pub use backend::BackendRegistry;
pub use buffer::{Buffer, BuffersConfig, CastError, DeviceCopy, PinnedBuffer};
pub use context::{
    Context, ContextKind, ContextManager, ContextsConfig, GraphUsage, GreenConfig, Live,
};
pub use copies::{CopyConfig, CopyMode, CopyScheduler};
pub use cupola_core::{OverBudget, Pressure};
pub use device::{Device, DeviceInfo, DeviceManager, DevicesConfig};
pub use error::{
    Account, ArgumentMismatch, Blame, BlockEvent, BlockFate, Cause, Error, ErrorClass, ErrorGroup,
    FreeError, ItemError, ItemStage, LaunchSite, LossWatch, PointerFault, PointerProblem,
    PoisonPolicy, Result, Site,
};
pub use event::{Event, EventConfig, EventsConfig};
pub use execution::{ExecutionConfig, ExecutionManager, LiveWatch};
pub use graph::{CaptureConfig, Graph, GraphBuilder, GraphExec, GraphGroup};
pub use handle::ManagedHandle;
pub use host::{HostMemoryError, PinnedPool, PinnedPoolConfig};
pub use managed::{ManagedConfig, ManagedContext};
pub use module::{Function, FunctionManager, Module, ModulesConfig};
pub use peer::{PeerAccess, PeerMatrix};
pub use pipeline::{Pipeline, PipelineConfig};
pub use pool::{MemoryPool, PoolConfig};
pub use runtime::RuntimeContext;
pub use shutdown_report::{LeasedObject, ShutdownReport};
pub use stats::{ManagerStats, RecycleStats, State};
pub use stream::{
    Completion, CompletionStats, DeferredTicket, Stream, StreamConfig, StreamPurpose,
    StreamsConfig, Ticket, TicketWatch,
};
