//! What programs hold of a machine.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::device::machine::Inner;
use crate::device::sync::{lock, read};

/// Counts of live things, and their bytes. A program that gives back all it took ends
/// with zeros everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Contexts: created ones, green ones, and primary ones that are retained.
    pub contexts: usize,
    /// Created streams.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Loaded modules.
    pub modules: usize,
    /// Loaded libraries.
    pub libraries: usize,
    /// Linkers that were not destroyed.
    pub links: usize,
    /// Graphs, without those of nodes.
    pub graphs: usize,
    /// Executable graphs.
    pub executables: usize,
    /// Objects for graphs to keep alive, that the program has references to.
    pub user_objects: usize,
    /// Memory pools, without the default ones.
    pub pools: usize,
    /// Allocations in device memory, without modules' variables.
    pub device_allocations: usize,
    /// Their bytes.
    pub device_bytes: u64,
    /// Opened memory of other processes.
    pub opened_allocations: usize,
    /// Their bytes.
    pub opened_bytes: u64,
    /// Imported memory of other APIs.
    pub external_memories: usize,
    /// Imported semaphores of other APIs.
    pub external_semaphores: usize,
    /// Page-locked host allocations.
    pub host_allocations: usize,
    /// Their bytes.
    pub host_bytes: u64,
    /// Registered host ranges.
    pub registrations: usize,
    /// Reservations of addresses.
    pub reservations: usize,
    /// Physical allocations that have a handle or are mapped.
    pub physical_allocations: usize,
    /// Their bytes.
    pub physical_bytes: u64,
}

impl Usage {
    pub(in crate::device) fn of(machine: &Inner) -> Self {
        let mut usage = Self::default();
        let contexts: Vec<_> = read(&machine.contexts).values().cloned().collect();
        for context in &contexts {
            usage.contexts += usize::from(!context.primary);
            usage.streams += context.stream_count();
        }
        usage.contexts += read(&machine.greens).values().flatten().count();
        for device in &machine.devices {
            usage.contexts += usize::from(device.retained.load(Ordering::Relaxed) > 0);
        }
        usage.events = read(&machine.events).len();
        usage.modules = machine.modules.count();
        usage.libraries = machine.libraries.count();
        usage.links = machine.links.count();
        (usage.graphs, usage.executables) = machine.graphs.counts();
        usage.user_objects = lock(&machine.graphs.objects).len();
        usage.pools = read(&machine.pools).len() - machine.devices.len();
        let mapped = machine.space.mapped().totals();
        usage.external_memories = machine.space.externals().count();
        usage.external_semaphores = machine.space.externals().semaphore_count();
        usage.reservations = mapped.reservations;
        usage.physical_allocations = mapped.physical;
        usage.physical_bytes = mapped.bytes;
        machine.space.each(
            |block| {
                if block.module || block.is_doomed() {
                    return;
                }
                if block.opened.is_some() {
                    usage.opened_allocations += 1;
                    usage.opened_bytes += block.len;
                } else {
                    usage.device_allocations += 1;
                    usage.device_bytes += block.len;
                }
            },
            |range| {
                if range.is_allocated() {
                    usage.host_allocations += 1;
                    usage.host_bytes += range.len;
                } else {
                    usage.registrations += 1;
                }
            },
        );
        usage
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} contexts, {} streams, {} events, {} modules, {} libraries, {} links, {} graphs, {} executable graphs, {} user objects, {} pools, {} device allocations \
             ({} bytes), {} opened allocations of other processes ({} bytes), {} imported memories and {} semaphores of other APIs, {} host allocations ({} bytes), {} registered host ranges, \
             {} address reservations, {} physical allocations ({} bytes)",
            self.contexts,
            self.streams,
            self.events,
            self.modules,
            self.libraries,
            self.links,
            self.graphs,
            self.executables,
            self.user_objects,
            self.pools,
            self.device_allocations,
            self.device_bytes,
            self.opened_allocations,
            self.opened_bytes,
            self.external_memories,
            self.external_semaphores,
            self.host_allocations,
            self.host_bytes,
            self.registrations,
            self.reservations,
            self.physical_allocations,
            self.physical_bytes
        )
    }
}
