#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("cupola-core needs 64-bit atomics, which this target does not have");

#[cfg(any(mutants, all(test, not(loom))))]
extern crate std;

#[macro_use]
mod mutant;

mod budget;
mod handle;
pub mod ledger;
mod lru;
mod padded;
mod pressure;
mod slots;
mod stage_ring;
mod sync;
pub mod tlsf;

pub use budget::{Budget, OverBudget, OverRelease, ParseBytesError, Reservation, parse_bytes};
pub use handle::{Handle, Tag, tag};
pub use lru::{Lru, LruError, LruNode, Touch};
pub use pressure::{Pressure, Thresholds};
pub use slots::{
    Chunk, ChunkSource, EnsureError, FixedSlots, Grown, HandleError, Held, HeldSlot, InCell,
    InPlace, InsertError, Layout, Lease, Park, Payload, Policy, Release, SlotPool, Slots, Spin,
    StorePolicy, Vacancy, ValueOf,
};
pub use stage_ring::{Stage, StageRing, StageRingError, Turn};
pub use tlsf::Tlsf;
