//! The bottom of the managers: one driver context, and the state that a call in it needs.
//!
//! Streams, events, modules, buffers and pools hold an `Arc` of a [`ContextCore`]; it knows none
//! of them. A call goes through it, which asks whether the context is lost, whether this process is
//! a fork, and which context is current on the thread, and classifies a failure.
//!
//! * [`ContextCore`] (`core`), its [`Ownership`], its `end`, and the effects of a failed call
//!   (`failure`).
//! * `SharedContext` (`shared`): the part of a core that several execution managers have in common,
//!   from the table of the process's contexts (`intern`).
//! * `current`, [`CurrentGuard`]: which context is current on a thread.
//! * [`Ledger`]: counts of the objects that one execution manager has alive, and its contexts.
//! * [`Grave`]: memory that is given back when its context ends.
//! * [`Reactor`](reactor::Reactor): the thread of a device, for callers that wait and do nothing else.
//! * [`Origin`]: the process that an object was made in.
//! * [`RelaxedCapture`]: calls that no capture forbids.

mod capture_mode;
mod core;
pub(crate) mod current;
mod current_guard;
mod end;
mod failure;
mod fork;
mod graveyard;
mod intern;
mod ledger;
mod ownership;
mod reactor;
mod shared;
mod spin_budget;

pub(crate) use self::core::ContextCore;
pub(crate) use capture_mode::{RelaxedCapture, is_capturing};
pub(crate) use current::Identity;
pub use current::context_switches;
pub use current_guard::CurrentGuard;
pub(crate) use failure::check_between;
pub(crate) use fork::{Origin, driver_was_left_to_the_parent, note_driver_library};
pub(crate) use graveyard::{Allocated, Grave, PageLocked};
pub(crate) use intern::is_green;
pub use ledger::Live;
pub(crate) use ledger::{Holds, Kind, Ledger};
pub use ownership::ContextKind;
pub(crate) use ownership::{Ownership, forgive_shutdown};
#[cfg(all(test, loom))]
pub(crate) use reactor::Reactor;
pub(crate) use reactor::{Watched, is_reactor};
pub(crate) use shared::{BlockHistory, Enabler, Found, GrantEnd, LiveBlocks, PeerUse, Peers};
pub(crate) use spin_budget::SpinBudget;
