//! Several devices: which of them reach each other's memory, access to it, and copies between them.
//!
//! * A [`PeerMatrix`] says of each ordered pair of devices what the driver knows of their link
//!   ([`DeviceManager::peers`](crate::DeviceManager::peers)).
//! * [`ops::copy_between`](crate::ops::copy_between) copies from a buffer of one context to one of
//!   another. It needs no access: without one the driver goes through the host.
//! * A [`PeerAccess`] lets the work of one context use memory of another that is the driver's own
//!   (`cuMemAlloc`), and makes copies direct. Memory of virtual memory management, which is what a
//!   [pool](crate::pool) has, is not covered by it: a pool is opened to a context with
//!   [`MemoryPool::open_to`](crate::MemoryPool::open_to), and an address range with
//!   [`AddressRange::grant_peer`](crate::vmm::AddressRange::grant_peer).
//! * The first use of an ordered pair checks it with a pseudo-random pattern, see [`PeerCheck`].
//!
//! ```
//! use cupola_managers::{ExecutionManager, PoolConfig, ops};
//!
//! # let driver = cupola_sim::Machine::builder().devices(2).build().driver();
//! let execution = ExecutionManager::new(driver)?;
//! let here = execution.devices().get(0)?.primary()?;
//! let there = execution.devices().get(1)?.primary()?;
//! let stream = here.streams().create(Default::default())?;
//! let other = there.streams().create(Default::default())?;
//! let from = here.memory_pool(PoolConfig::limit(64 << 20))?.upload(&[1u32, 2, 3], &stream)?;
//! let pool = there.memory_pool(PoolConfig::limit(64 << 20))?;
//! let mut to = pool.allocate::<u32>(3, &other)?;
//!
//! ops::copy_between(&from, &mut to, &stream)?;
//! ops::order(&stream, &other)?;
//! assert_eq!(to.to_vec(&other)?, [1, 2, 3]);
//!
//! // From now on kernels of `here` may read and write what comes from `pool`.
//! pool.open_to(&here)?;
//! ops::fill(&mut to, 7, &stream)?;
//! # Ok::<_, cupola_managers::Error>(())
//! ```
//!
//! # The order of work on two devices
//! A buffer knows each stream that has used it, whichever context that is of: its memory has its next
//! user behind all of them. The order of uses on different streams is the caller's, as within one
//! context: events and [`ops::order`](crate::ops::order) work across devices. Unlike for a stream of
//! its own context, which is left alone, the drop of a buffer makes its stream wait on the device for
//! streams of other contexts that have used it.
//!
//! `docs/design/peers.md` says why it is so.

mod access;
mod check;
mod corruption;
mod error;
mod grants;
mod matrix;
mod probe;

pub use access::PeerAccess;
pub use check::PeerCheck;
pub(crate) use check::check_copies;
#[cfg(loom)]
pub(crate) use check::check_copies_by;
pub use corruption::{PeerCorruption, PeerPath};
pub use error::PeerError;
pub use matrix::{PeerLink, PeerMatrix};

pub(crate) use access::require_access;
