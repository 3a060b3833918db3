//! Device memory for other processes.
//!
//! Memory of [`VirtualMemory::create_exportable`] goes to another process as a file descriptor. The driver
//! does not tell the importer how many bytes it has, nor whether it is on the device that the importer
//! means; so [`send`] sends both with the descriptor, over a Unix socket, and [`receive`] checks them.
//!
//! It is one memory in both processes then. It lives until the last descriptor, handle and mapping of it in
//! any process has gone: the exporter may drop it at once, and a process that is killed leaves nothing.
//! Nothing orders the work of two processes on it: wait for yours before you tell the other side.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::os::unix::net::UnixStream;
//!
//! use cupola_managers::ExecutionManager;
//! use cupola_managers::pool::DeviceLimit;
//! use cupola_managers::vmm::{Access, ImportCharge};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let memory = context.virtual_memory(&DeviceLimit::new(32 << 20))?;
//! // As a rule the other end is another process's.
//! let (ours, theirs) = UnixStream::pair()?;
//!
//! let weights = memory.create_exportable(16 << 20)?;
//! cupola_sharing::send(&ours, &weights)?;
//!
//! let received = cupola_sharing::receive(&theirs, &memory, ImportCharge::OtherLimit)?;
//! let mut range = memory.reserve(received.bytes())?;
//! range.map(0, received)?;
//! // A write through these addresses is a fault of the device.
//! range.set_access(0..16 << 20, Access::Read)?;
//! # }
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Ledger`] is one exact limit over several processes: all their pools and all their virtual memory.
//!
//! Drivers give file descriptors on Linux only. Elsewhere the crate has its errors and no functions.
//!
//! A receiver trusts the sender with its device's memory, and with nothing else: a message is parsed as bytes
//! of a stranger, and one that lies about its length gives memory that cannot be mapped.
//!
//! [`VirtualMemory::create_exportable`]: cupola_managers::vmm::VirtualMemory::create_exportable
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "there are no descriptors of memory")
)]

mod error;
#[cfg(target_os = "linux")]
mod ledger;
mod message;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
pub mod wire;

#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
#[cfg(target_os = "linux")]
use std::os::unix::net::UnixStream;

#[cfg(target_os = "linux")]
use cupola_managers::vmm::{ImportCharge, PhysicalMemory, VirtualMemory};

pub use error::SharingError;
#[cfg(target_os = "linux")]
pub use ledger::{Account, HeaderError, Ledger, LedgerError, LedgerMember};
pub use message::MessageError;

/// Sends a descriptor of `memory`, its length and its device. The memory stays the sender's too, who may
/// drop it: what was sent keeps it alive, received or not.
///
/// # Errors
/// [`SharingError::Cuda`] when the memory is not exportable, or the driver refuses;
/// [`SharingError::Socket`], after which part of the message may have gone.
#[cfg(target_os = "linux")]
#[doc(alias = "cuMemExportToShareableHandle")]
#[doc(alias = "SCM_RIGHTS")]
#[track_caller]
pub fn send(socket: &UnixStream, memory: &PhysicalMemory) -> Result<(), SharingError> {
    let message = message::Message {
        bytes: memory.bytes(),
        device: memory.virtual_memory().device_uuid()?,
    };
    let file = memory.export()?;
    socket::send(socket, message, file.as_fd())
}

/// Waits for memory that the other side [sends](send), and imports it into `memory`, charged as `charge`
/// says. It is mapped nowhere yet. A timeout is the socket's
/// ([`set_read_timeout`](UnixStream::set_read_timeout)).
///
/// # Errors
/// Any [`SharingError`]; [`SharingError::Cuda`] when the limit has no room, or the driver refuses.
#[cfg(target_os = "linux")]
#[doc(alias = "cuMemImportFromShareableHandle")]
#[doc(alias = "SCM_RIGHTS")]
#[track_caller]
pub fn receive(
    socket: &UnixStream,
    memory: &VirtualMemory,
    charge: ImportCharge,
) -> Result<PhysicalMemory, SharingError> {
    let (message, file) = socket::receive(socket)?;
    let (theirs, ours) = (message.device, memory.device_uuid()?);
    if theirs != ours {
        return Err(SharingError::Device { theirs, ours });
    }
    Ok(memory.import(file, message.bytes, charge)?)
}
