//! The operations that order work: copies, fills, launches, marks and waits.
//!
//! Managers own and expose; only functions here, and the [`pipeline`](crate::pipeline) on
//! top of them, put work on streams. Unless a function says that it waits, it returns at
//! once and the work runs later in the order of its stream. The stream tells the driver the context:
//! whichever is current on the calling thread stays so. Where a driver wants the stream's to be current,
//! and for the default streams, which each context has, a function makes it so.
//!
//! Two streams that use one buffer are put in order by the caller ([`order`], [`record`] and
//! [`wait`]): a stream waits for a buffer's allocation by itself, and for nothing else.
//!
//! An error may be that of earlier work: the driver reports a failed kernel at a later
//! call. After an error that the context does not survive, every function returns
//! [`Error::Poisoned`](crate::Error::Poisoned) with the first cause.

mod batch;
mod copy;
mod copy2d;
mod device_copy;
mod global;
mod health;
mod host;
mod launch;
mod order;
mod owned;
mod set;
mod shape;
mod transfer;

pub use batch::{Batched, CopyBatch};
pub use copy::{copy_to_device, copy_to_host, read, write};
pub use copy2d::{copy_to_device_2d, copy_to_host_2d, read_2d, write_2d};
pub use device_copy::{
    PeerAddress, copy, copy_2d, copy_3d, copy_between, copy_between_2d, copy_between_3d,
    copy_between_raw,
};
pub use health::{StreamHealth, health};
pub use host::host_function;
pub use launch::{
    Access, ArgsFor, In, InOut, Kernel, KernelArg, KernelArgs, KernelParam, LaunchArgs,
    LaunchAttributes, LaunchConfig, MAX_ARGUMENT_BYTES, MAX_ARGUMENTS, MemoryDomain, PassedAs,
    Signature, UsedMemory, launch, launch_raw, launch_with,
};
pub use order::{elapsed, order, query, query_event, record, synchronize, synchronize_event, wait};
pub use owned::{Transfer, download, upload};
pub use set::{fill, set_bytes, zero};
pub use shape::{Cuboid, Rectangle};

pub(crate) use copy::{download_raw, download_raw_at, same_len, upload_raw};
pub(crate) use launch::check_launch;
pub(crate) use set::Pattern;
