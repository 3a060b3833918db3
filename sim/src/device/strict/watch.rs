//! What kernels do with memory that nobody has written, and races in shared memory.

use super::super::memory::{Place, Space};
use super::Monitor;
use super::finding::{Finding, FindingKind, KernelSite};
use super::options::Strict;
use super::site::Here;
use crate::exec::{Checks, FaultSpace, Observation, Observed, Watch};

/// Watches one launch.
pub(in crate::device) struct Watcher<'a> {
    monitor: &'a Monitor,
    space: &'a Space,
    kernel: &'a str,
    here: Here,
}

impl Monitor {
    /// Whether kernels are to be decoded with checks.
    pub(in crate::device) fn watches_kernels(&self) -> bool {
        self.wants(Strict::UNINITIALISED | Strict::SHARED_RACES)
    }

    /// Whether it is kept which bytes are written.
    pub(in crate::device) fn keeps_shadows(&self) -> bool {
        self.wants(Strict::UNINITIALISED)
    }

    /// Watches the launch that this thread works for, if anything is to be watched.
    pub(in crate::device) fn watcher<'a>(
        &'a self,
        space: &'a Space,
        kernel: &'a str,
    ) -> Option<Watcher<'a>> {
        self.watches_kernels().then(|| Watcher {
            monitor: self,
            space,
            kernel,
            here: Here::now(),
        })
    }
}

impl Watch for Watcher<'_> {
    fn checks(&self) -> Checks {
        Checks {
            uninitialised: self.monitor.wants(Strict::UNINITIALISED),
            races: self.monitor.wants(Strict::SHARED_RACES),
        }
    }

    fn unwritten(&self, address: u64, bytes: u64) -> Option<u64> {
        match self.space.find(address)? {
            Place::Device(block) => block.unwritten(address, bytes),
            _ => None,
        }
    }

    fn wrote(&self, address: u64, bytes: u64) {
        if let Some(Place::Device(block)) = self.space.find(address) {
            block.wrote(address, bytes);
        }
    }

    fn observe(&self, seen: Observation) {
        let shared = matches!(seen.access.space, FaultSpace::Shared { .. });
        let bytes = seen.access.bytes;
        let access = if shared {
            format!(
                "{bytes} bytes at byte {} of shared memory",
                seen.access.offset
            )
        } else {
            format!("{bytes} bytes at 0x{:x}", seen.access.offset)
        };
        let verb = if seen.access.write { "write" } else { "read" };
        let against = match seen.observed {
            Observed::Unwritten { .. } => None,
            Observed::Race { line, thread, .. } => Some(KernelSite {
                kernel: self.kernel.to_owned(),
                function: String::new(),
                line,
                block: seen.block,
                thread,
            }),
        };
        let (kind, what) = match seen.observed {
            Observed::Unwritten { at } if shared => (
                FindingKind::UninitialisedRead,
                format!("read of {access}: the block has not written byte {at}"),
            ),
            Observed::Unwritten { at } => (
                FindingKind::UninitialisedRead,
                format!("read of {access}: nobody has written 0x{at:x}"),
            ),
            Observed::Race {
                line,
                thread: [x, y, z],
                write,
            } => {
                let other = if write { "writes" } else { "reads" };
                let what = format!(
                    "{verb} of {access}, which thread ({x},{y},{z}) {other} at PTX line {line} \
                     without a barrier between"
                );
                (FindingKind::SharedMemoryRace, what)
            }
        };
        let place = self.space.find(seen.access.offset).filter(|_| !shared);
        // Workers of the launch find it: they are in no call themselves.
        self.monitor.report(Finding {
            address: Some(seen.access.offset),
            bytes: Some(bytes),
            against,
            allocation: place.map(|place| place.allocation()),
            kernel: Some(KernelSite {
                kernel: self.kernel.to_owned(),
                function: seen.function,
                line: seen.line,
                block: seen.block,
                thread: seen.thread,
            }),
            call: Some(self.here.site()),
            ..Finding::new(kind, what)
        });
    }
}
