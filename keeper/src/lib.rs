//! Device memory whose owner is not the worker.
//!
//! A [`Keeper`] is in a process that does no work on the device, a supervisor's. It has named objects, weights
//! say, under one exact limit. Workers are [`Guest`]s: they create objects, fill and seal them, and open them
//! by name, to be read unless they ask for more. A worker that is killed, or lost to an illegal address, leaves
//! the objects, and its successor maps the same memory: nothing is uploaded again.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::os::unix::net::UnixStream;
//!
//! use cupola_keeper::{Guest, Keeper, KeeperConfig, Rights};
//! use cupola_managers::{ExecutionManager, ops};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let keeper = Keeper::new(&context, KeeperConfig::limit(64 << 20))?;
//! // As a rule the other end is another process's.
//! let (ours, theirs) = UnixStream::pair()?;
//! keeper.serve(ours)?;
//!
//! let stream = context.streams().create(Default::default())?;
//! let guest = Guest::connect(theirs, &context)?;
//! let mut weights = guest.create("weights", 16 << 20, Rights::Read)?;
//! // SAFETY: the fill is waited for before the object is sealed.
//! ops::fill(unsafe { weights.slice_mut::<u8>(0..16 << 20)? }, 7, &stream)?;
//! ops::synchronize(&stream)?;
//! drop(weights.seal("all of it is 7")?);
//!
//! // This guest, or the next one.
//! let weights = guest.open("weights", Rights::Read)?;
//! // SAFETY: the copy is waited for, and the guest does not attend meanwhile.
//! let front = unsafe { weights.slice::<u8>(0..4)? }.to_vec(&stream)?;
//! assert_eq!((front, weights.description()?), (vec![7; 4], b"all of it is 7".to_vec()));
//! assert_eq!(keeper.used(), 16 << 20);
//! # }
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! * **The limit is exact**: memory is charged before the driver is asked for it, and counts until the last guest
//!   that has it mapped has let it go or its process has ended.
//! * **Objects sleep** ([`Keeper::sleep`]): guests let them go when they [attend](Guest::attend), the keeper
//!   copies them to host memory, or discards them, and the device has none of their bytes. Awake again they are
//!   at the same addresses in each guest, so graphs and pointers stay valid.
//! * **A guest's bytes are those of a stranger**: one that says nonsense, or nothing for too long, is cut off, and
//!   no other guest sees it. What it says about letting go is believed: a guest is the supervisor's worker.
//! * **Faults stay where they are**: the keeper runs no kernels, and a guest's opening of an object is no call
//!   of the keeper's driver.
//!
//! Descriptors of memory are Linux's. Elsewhere the crate is empty.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg(target_os = "linux")]

mod config;
mod connection;
mod entry;
mod error;
mod frames;
mod guest;
mod keeper;
mod memory;
mod object;
mod process;
mod protocol;
mod serve;
mod shared;
mod table;

pub use config::KeeperConfig;
pub use entry::{Entry, GuestEntry, KeeperMetrics};
pub use error::{KeeperError, Result};
pub use guest::{Filling, Guest, Kept};
pub use keeper::Keeper;
pub use protocol::{ObjectState, ProtocolError, Rights};
pub use shared::SleepMode;
