//! Kernels that faulted.

use crate::device::memory::{Access, Space};
use crate::device::strict::Monitor;
use crate::device::strict::blame::locate::Miss;
use crate::device::strict::finding::{Finding, FindingKind, KernelSite};
use crate::device::strict::options::Strict;
use crate::device::strict::site::Here;
use crate::exec::{Fault, FaultAccess, FaultKind, FaultSpace};

fn site(fault: &Fault) -> KernelSite {
    KernelSite {
        kernel: fault.kernel.clone(),
        function: fault.function.clone(),
        line: fault.line,
        block: fault.block,
        thread: fault.thread,
    }
}

impl Monitor {
    /// A kernel of the device of that ordinal ended with a fault.
    pub(in crate::device) fn kernel_fault(&self, space: &Space, device: usize, fault: &Fault) {
        if !self.wants(Strict::ACCESSES | Strict::FREES) {
            return;
        }
        if let Some(finding) = self.of_fault(space, device, fault) {
            self.report(Finding {
                kernel: Some(site(fault)),
                call: Some(Here::now().site()),
                ..finding
            });
        }
    }

    fn of_fault(&self, space: &Space, device: usize, fault: &Fault) -> Option<Finding> {
        use FindingKind as K;
        let plain = |kind, what: &str| Some(Finding::new(kind, what));
        match &fault.kind {
            FaultKind::IllegalAddress => Some(self.of_address(space, device, fault)),
            FaultKind::MisalignedAddress => Some(misaligned(fault)),
            FaultKind::IllegalInstruction => plain(K::IllegalInstruction, "no such instruction"),
            FaultKind::InvalidPc => plain(K::IllegalInstruction, "a jump to an invalid address"),
            FaultKind::StackOverflow => {
                plain(K::StackOverflow, "calls too deep, or too much local memory")
            }
            FaultKind::Trap => plain(K::Trap, "the kernel executed trap"),
            FaultKind::Assert(text) => plain(K::Assertion, text),
            FaultKind::Deadlock(waits) => {
                let what = format!("every thread of the block waits: {waits}");
                plain(K::Deadlock, &what)
            }
            FaultKind::TimeLimit(limit) => {
                let what = format!("it still runs after the device's limit of {limit:?}");
                plain(K::Timeout, &what)
            }
            FaultKind::DoubleFree => Some(freed(
                fault,
                K::DoubleFree,
                "which a kernel has freed before",
            )),
            FaultKind::InvalidFree => Some(freed(
                fault,
                K::InvalidFree,
                "where nothing begins that malloc gave",
            )),
            // Told from outside to stop: no mistake of the program.
            FaultKind::Cancelled | FaultKind::Budget => None,
        }
    }

    fn of_address(&self, space: &Space, device: usize, fault: &Fault) -> Finding {
        let address = fault.address.unwrap_or(0);
        let Some(access) = fault.access else {
            let miss = Miss {
                what: "access",
                address,
                bytes: 1,
                wanted: Access::Read,
                device: Some(device),
            };
            return self.explain(space, miss);
        };
        let what = verb(access);
        let (name, len) = match access.space {
            FaultSpace::Global => {
                let miss = Miss {
                    what,
                    address,
                    bytes: access.bytes,
                    wanted: if access.write {
                        Access::Write
                    } else {
                        Access::Read
                    },
                    device: Some(device),
                };
                return self.explain(space, miss);
            }
            FaultSpace::Shared { len } => ("shared", len),
            FaultSpace::Local { len } => ("local", len),
        };
        let bytes = access.bytes;
        let offset = access.offset;
        Finding {
            address: Some(address),
            bytes: Some(bytes),
            ..Finding::new(
                FindingKind::OutOfBounds,
                format!("{what} of {bytes} bytes at byte {offset} of {len} bytes of {name} memory"),
            )
        }
    }
}

/// A kernel's `free` of what it may not free.
fn freed(fault: &Fault, kind: FindingKind, why: &str) -> Finding {
    let address = fault.address.unwrap_or(0);
    Finding {
        address: Some(address),
        ..Finding::new(kind, format!("free of 0x{address:x}, {why}"))
    }
}

fn verb(access: FaultAccess) -> &'static str {
    if access.write { "write" } else { "read" }
}

fn misaligned(fault: &Fault) -> Finding {
    let address = fault.address.unwrap_or(0);
    let (what, bytes) = fault
        .access
        .map_or(("access", 0), |access| (verb(access), access.bytes));
    Finding {
        address: Some(address),
        bytes: Some(bytes),
        ..Finding::new(
            FindingKind::MisalignedAccess,
            format!("{what} of {bytes} bytes at 0x{address:x}, which is no multiple of the size"),
        )
    }
}
