//! Frees: wrong ones, and right ones that come too early.

use crate::device::memory::{Block, HostRange, Place, Space, Unmapped};
use crate::device::strict::Monitor;
use crate::device::strict::finding::{Allocation, CallSite, Finding, FindingKind, Memory};
use crate::device::strict::options::Strict;
use crate::device::strict::order::Thing;
use crate::device::strict::site::Here;
use crate::device::sync::lock;

/// What a call that frees takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Frees {
    /// `cuMemFree` and `cuMemFreeAsync`.
    Device,
    /// `cuMemFreeHost`.
    PageLocked,
    /// `cuMemHostUnregister`.
    Registered,
}

impl Monitor {
    /// A call frees what it cannot free.
    pub(in crate::device) fn bad_free(&self, space: &Space, address: u64, frees: Frees) {
        if !self.wants(Strict::FREES) {
            return;
        }
        let (kind, how, allocation) = self.why_not(space, address, frees);
        self.report(Finding {
            address: Some(address),
            allocation,
            call: Some(Here::now().site()),
            ..Finding::new(kind, format!("free of 0x{address:x}: {how}"))
        });
    }

    fn why_not(
        &self,
        space: &Space,
        address: u64,
        frees: Frees,
    ) -> (FindingKind, String, Option<Allocation>) {
        use FindingKind as K;
        let Some(place) = space.find(address) else {
            let history = lock(&self.history);
            return match history.find(address) {
                Some((_, freed)) if freed.memory == Memory::Mapped => {
                    let how = "it was mapped, for cuMemUnmap".into();
                    (K::InvalidFree, how, Some(freed.clone()))
                }
                Some((_, freed)) if freed.base == address => {
                    let how = "it is freed already".into();
                    (K::DoubleFree, how, Some(freed.clone()))
                }
                Some((_, freed)) => {
                    let how = format!("{} bytes into freed memory", address - freed.base);
                    (K::InvalidFree, how, Some(freed.clone()))
                }
                None => (K::InvalidFree, "it was never allocated".into(), None),
            };
        };
        let allocation = place.allocation();
        let base = allocation.base;
        let how = match &place {
            Place::Device(block) if block.is_doomed() && base == address => {
                let how = "its free is queued already".into();
                return (K::DoubleFree, how, Some(allocation));
            }
            Place::Device(block) if block.module => "a module's variable goes with it".into(),
            Place::Device(block) if block.opened.is_some() => {
                "it is memory of another process, for cuIpcCloseMemHandle".into()
            }
            Place::Device(_) if frees != Frees::Device => "it is device memory".into(),
            Place::Pinned(range) if frees == Frees::Device => {
                let with = match range.is_allocated() {
                    true => "cuMemFreeHost",
                    false => "cuMemHostUnregister",
                };
                format!("it is host memory, for {with}")
            }
            Place::Pinned(range) if range.is_allocated() != (frees == Frees::PageLocked) => {
                let with = match range.is_allocated() {
                    true => "allocated, for cuMemFreeHost",
                    false => "registered, for cuMemHostUnregister",
                };
                format!("it was {with}")
            }
            _ => format!("it is {} bytes after the start", address - base),
        };
        (K::InvalidFree, how, Some(allocation))
    }

    /// A call frees a block at once, whatever is queued. It has not waited yet.
    pub(in crate::device) fn frees_now(&self, block: &Block) {
        self.goes_now(Thing::Memory(block.id), || block.allocation());
    }

    /// The host is about to read or write page-locked memory.
    pub(in crate::device) fn host_touches(
        &self,
        space: &Space,
        (address, bytes): (u64, u64),
        writes: bool,
        source: Option<String>,
    ) {
        if !self.wants(Strict::ORDER) {
            return;
        }
        let Some(Place::Pinned(range)) = space.find(address) else {
            return;
        };
        let touched = address..address.saturating_add(bytes);
        if let Some(user) = self.host_rival(Thing::Memory(range.id), &touched, writes) {
            let (verb, does) = match writes {
                true => ("write", "uses"),
                false => ("read", "writes"),
            };
            let what = format!(
                "the host may {verb} {bytes} bytes at 0x{address:x}, and the program has not waited \
                 for {} in stream {}, which {does} the memory",
                user.function, user.stream
            );
            let call = CallSite {
                source,
                ..Here::now().site()
            };
            self.report(Finding {
                address: Some(address),
                bytes: Some(bytes),
                allocation: Some(range.allocation()),
                call: Some(call),
                other: Some(user.site()),
                ..Finding::new(FindingKind::HostRace, what)
            });
        }
    }

    /// A call takes page-locked memory away. It has not waited yet.
    pub(in crate::device) fn unpins_now(&self, range: &HostRange) {
        self.goes_now(Thing::Memory(range.id), || range.allocation());
    }

    /// A call has unmapped memory, without waiting for anything.
    pub(in crate::device) fn unmapped(&self, mapping: &Unmapped) {
        let allocation = || Allocation {
            base: mapping.base,
            size: mapping.len,
            memory: Memory::Mapped,
            name: None,
            allocated: mapping.made.site(),
            freed: None,
        };
        self.goes_now(Thing::Memory(mapping.id), allocation);
        self.gone(mapping.id, allocation);
    }

    fn goes_now(&self, thing: Thing, allocation: impl FnOnce() -> Allocation) {
        if !self.wants(Strict::ORDER) {
            return;
        }
        if let Some(user) = self.user_of(thing) {
            let allocation = allocation();
            let what = format!("{user} uses the memory, and the program has not waited for it");
            self.report(Finding {
                address: Some(allocation.base),
                allocation: Some(allocation),
                call: Some(Here::now().site()),
                other: Some(user),
                ..Finding::new(FindingKind::FreeInUse, what)
            });
        }
    }

    /// A call unloads a module. It has not waited yet.
    pub(in crate::device) fn unloads_now(&self, module: u64) {
        if !self.wants(Strict::ORDER) {
            return;
        }
        if let Some(user) = self.user_of(Thing::Module(module)) {
            let what = format!(
                "{user} runs a kernel of the module, and the program has not waited for it"
            );
            self.report(Finding {
                call: Some(Here::now().site()),
                other: Some(user),
                ..Finding::new(FindingKind::FreeInUse, what)
            });
        }
        self.module_gone(module);
    }

    /// A module is gone, by itself or with its context.
    pub(in crate::device) fn module_gone(&self, module: u64) {
        if self.wants(Strict::ORDER) {
            self.forget_thing(Thing::Module(module));
        }
    }

    /// Memory is gone. Called with the address space's lock.
    pub(in crate::device) fn gone(&self, id: u64, allocation: impl FnOnce() -> Allocation) {
        if self.options.is_empty() {
            return;
        }
        let mut allocation = allocation();
        if allocation.memory != Memory::Mapped {
            self.heap_gone(allocation.base);
        }
        allocation.freed = Some(Here::now().site());
        let forgotten = lock(&self.history).add(id, allocation);
        if let Some(id) = forgotten {
            self.forget_thing(Thing::Memory(id));
        }
    }

    /// Addresses are memory again. Called with the address space's lock.
    pub(in crate::device) fn there(&self, base: u64, size: u64) {
        if !self.options.is_empty() {
            lock(&self.history).forget(base, size);
        }
    }
}
