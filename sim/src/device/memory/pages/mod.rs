//! Host memory that can be seen at several host addresses, for virtual memory management.
//!
//! [`Pages`] are bytes without an address, [`Window`] is a range of host addresses
//! without bytes. A window shows pages where it is told to. Nothing here knows devices.

mod free_extents;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
pub(in crate::device) use linux::{Heap, Pages, Window};
#[cfg(not(target_os = "linux"))]
pub(in crate::device) use none::{Heap, Pages, Window};

/// Whether the host has what this needs: files in memory, and mappings that replace others.
pub(in crate::device) const SUPPORTED: bool = cfg!(target_os = "linux");
