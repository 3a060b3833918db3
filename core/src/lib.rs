#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("cupola-core needs 64-bit atomics, which this target does not have");

#[cfg(any(mutants, all(test, not(loom))))]
extern crate std;

#[macro_use]
mod mutant;

mod budget;
mod counter;
mod handle;
mod lru;
mod padded;
mod pressure;
pub mod queue;
mod rotation;
mod slots;
mod stage_ring;
mod sync;
pub mod tlsf;

pub use budget::{Budget, OverBudget, OverRelease, ParseBytesError, Reservation, parse_bytes};
pub use counter::ShardedCounter;
pub use handle::{Handle, Tag, tag};
pub use lru::{Lru, LruError, LruNode, Touch};
pub use pressure::{Crossing, Pressure, PressureGauge, Thresholds};
pub use rotation::{
    BufferState, Buffered, ReadBuffer, Reading, Rotation, RotationCounts, WriteBuffer, Writing,
};
pub use slots::{
    Bits, Chunk, ChunkArray, ChunkSource, EnsureError, FixedSlots, FixedWords, Grown, HandleError,
    Held, HeldSlot, Hot, InCell, InPlace, InWord, InsertError, Late, Layout, Lease, Ledger,
    LedgerLease, Park, Payload, Policy, Release, Reuse, SlotCache, SlotPool, Slots, Spin, Vacancy,
    ValueOf, WeakLease, With, WordPool,
};
pub use stage_ring::{Stage, StageRing, StageRingError, Turn};
pub use tlsf::Tlsf;
