//! Memory of devices and hosts.

pub(super) mod allocation;
pub(super) mod external;
pub(super) mod host;
pub(super) mod ipc;
pub(super) mod managed;
pub(super) mod pointer;
pub(super) mod pool;
pub(super) mod vmm;
