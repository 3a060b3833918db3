#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(all(test, not(loom)))]
extern crate std;

mod budget;
mod handle;
mod pressure;
mod slots;
mod sync;
mod turns;

pub use budget::{Budget, OverBudget, OverRelease, Reservation};
pub use handle::{Handle, Tag, tag};
pub use pressure::Pressure;
pub use slots::{
    Chunk, ChunkSource, FixedSlots, Grown, HandleError, Held, InPlace, InsertError, Layout, Lease,
    Release, SlotPool, Slots, Vacancy,
};
pub use turns::{Stage, Turn, Turns, TurnsError};
