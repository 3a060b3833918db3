//! The device: machines, contexts, streams, events and memory behind the driver's own
//! functions.
//!
//! A [`Machine`] is a source of driver functions like the real library. There is no
//! global state: a C function finds its machine through the scope that the calling
//! `Driver` sets. `docs/design/sim.md` says what is modelled and what is not.

mod api;
mod calls;
mod contexts;
mod graphs;
mod hooks;
mod machine;
mod memory;
mod modules;
mod operations;
mod schedule;
mod streams;
mod strict;
mod sync;

pub(crate) use machine::MOST_DEVICES;
pub use machine::Machine;
pub use machine::config::{DeviceConfig, MachineBuilder, Order};
pub use machine::profile::{Profile, UnknownProfile};
pub use machine::usage::Usage;
pub use schedule::{Act, Step, Trace};
pub use strict::{Allocation, CallSite, Finding, FindingKind, KernelSite, Memory, Strict};
