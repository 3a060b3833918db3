//! Models that share a device's memory under one exact limit.
//!
//! A [`Residency`] has slots, one a model. A [`Slot`] has addresses of its own, which never change, and a
//! [`Loader`] that knows its bytes. A [`Lease`] brings a slot to the device and keeps it there while work
//! uses it; where memory is short, slots that no work uses give some up.
//!
//! ```
//! use cupola_managers::{ExecutionManager, ops};
//! use cupola_residency::{Residency, ResidencyConfig, SlotConfig};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let stream = context.streams().create(Default::default())?;
//! let residency = Residency::new(&context, ResidencyConfig::limit(48 << 20))?;
//! let small = residency.register(SlotConfig::new("small"), vec![1u8; 20 << 20])?;
//! let large = residency.register(SlotConfig::new("large"), vec![2u8; 40 << 20])?;
//!
//! for model in [&small, &large, &small] {
//!     let lease = residency.lease(model, &stream)?;
//!     // SAFETY: all work on the weights is on `stream`, before the lease ends.
//!     let weights = unsafe { lease.slice::<u8>(0..4)? };
//!     // ... kernels on `stream` that read `weights` ...
//!     println!("{} starts with {:?}", model.name(), weights.to_vec(&stream)?);
//! }
//! assert_eq!(residency.metrics().hits, 0);
//! assert!(residency.usage().charged <= 48 << 20);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! * **Addresses stay.** A slot that comes back is where it was: captured graphs and raw pointers stay
//!   valid. Nothing may use them without a lease.
//! * **Slots are evicted by pieces** of 128 MiB, from their end, and only as many as are lacking. So a model of
//!   1.3 GB does not go because 50 MB are lacking, and requests reload little more than the least number of
//!   bytes that is possible.
//! * **Memory moves, and is not made anew**: what one slot gives up is mapped for the next one. Nothing is
//!   copied down, unless the slot was [changed](Lease::mark_changed).
//! * **Loading overlaps.** While one chunk is copied the next is mapped; work can begin when the part
//!   that it uses is there ([`Residency::lease_progressively`]). A slot gives its end up first, so what
//!   it keeps is what the next request needs first.
//! * **The limits are exact.** Device memory is charged before the driver is asked for it, whether a slot has
//!   it or it is kept for the next one; pinned host memory likewise. A slot that is dropped gives both back.
//! * **Working memory beside weights**: a pool under the same limit and the slots give memory up for each other
//!   ([`Residency::share_with`]).
//! * No call waits for a context or a device, and the host waits only for the work of a slot whose memory is
//!   needed.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod mutant;

mod ahead;
mod config;
mod error;
mod evict;
mod lease;
mod load;
mod metrics;
mod obtain;
mod pieces;
pub mod policy;
mod progressive;
mod residency;
mod share;
mod slot;
mod source;
mod sync;
mod table;

pub use ahead::LoadAhead;
pub use config::{ResidencyConfig, SlotConfig};
pub use error::{LeasedSlot, LoaderError, ResidencyError, Result};
pub use lease::Lease;
pub use metrics::{Metrics, Usage};
pub use policy::EvictionPolicy;
pub use residency::Residency;
pub use slot::Slot;
pub use source::Loader;
