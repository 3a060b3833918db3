#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(all(test, not(loom)))]
extern crate std;

mod budget;
mod handle;
mod padded;
mod pressure;
pub mod queue;
mod rotation;
mod slots;
mod sync;
mod turns;

pub use budget::{Budget, OverBudget, OverRelease, Reservation};
pub use handle::{Handle, Tag, tag};
pub use pressure::{Crossing, Pressure, PressureGauge, Thresholds};
pub use rotation::{
    BufferState, Buffered, ReadBuffer, Reading, Rotation, RotationCounts, WriteBuffer, Writing,
};
pub use slots::{
    Chunk, ChunkSource, FixedSlots, Grown, HandleError, Held, InPlace, InsertError, Layout, Lease,
    Release, SlotPool, Slots, Vacancy,
};
pub use turns::{Stage, Turn, Turns, TurnsError};
