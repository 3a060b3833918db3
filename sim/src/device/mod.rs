//! The device: machines, contexts, streams, events and memory behind the driver's own
//! functions.
//!
//! A [`Machine`] is a source of driver functions like the real library. There is no
//! global state: a C function finds its machine through the scope that the calling
//! `Driver` sets. `docs/design/sim.md` says what is modelled and what is not.

mod api;
mod args;
mod attributes;
mod call;
mod config;
mod context;
mod current;
mod engine;
mod event;
mod fat;
mod green;
mod health;
mod hooks;
mod image;
mod launch;
mod library;
mod link;
mod logs;
mod machine;
mod memory;
mod module;
mod multiprocessors;
mod notes;
mod op;
mod schedule;
mod stream;
mod strict;
mod sync;
mod usage;
mod value;
mod visible;

pub use config::{DeviceConfig, MachineBuilder, Order};
pub(crate) use machine::MOST_DEVICES;
pub use machine::Machine;
pub use schedule::{Act, Step, Trace};
pub use strict::{Allocation, CallSite, Finding, FindingKind, KernelSite, Memory, Strict};
pub use usage::Usage;
