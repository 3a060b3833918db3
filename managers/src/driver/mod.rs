//! The bottom of the managers: one driver context, and the state that a call in it needs.
//!
//! Streams, events, modules, buffers and pools hold an `Arc` of a [`ContextCore`]; it knows none
//! of them. A call goes through it, which asks whether the context is lost, whether this process is
//! a fork, and which context is current on the thread, and classifies a failure.
//!
//! * [`ContextCore`] (`core`), its [`Ownership`], and the effects of a failed call (`failure`).
//! * `current`, [`CurrentGuard`]: which context is current on a thread.
//! * [`Ledger`]: counts of the objects that one execution manager has alive, and its contexts.
//! * [`Origin`]: the process that an object was made in.
//! * [`RelaxedCapture`]: calls that no capture forbids.

mod capture_mode;
mod core;
pub(crate) mod current;
mod current_guard;
mod failure;
mod fork;
mod ledger;
mod ownership;

pub(crate) use self::core::{ContextCore, forgive_shutdown};
pub(crate) use capture_mode::{RelaxedCapture, is_capturing};
pub(crate) use current::Identity;
pub use current::context_switches;
pub use current_guard::CurrentGuard;
pub(crate) use fork::{Origin, driver_was_left_to_the_parent, note_driver_library};
pub use ledger::Live;
pub(crate) use ledger::{Holds, Kind, Ledger};
pub use ownership::ContextKind;
pub(crate) use ownership::Ownership;
