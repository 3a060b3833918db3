//! `HandleCache`: memory that is mapped nowhere, ready to be.

use crate::pool::pages::vmm::MemoryHandle;

/// A handle and how many pages it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhysicalHandle {
    pub(crate) handle: MemoryHandle,
    pub(crate) pages: u32,
}

/// Memory that is mapped nowhere. It is charged.
#[derive(Debug, Default)]
pub(crate) struct HandleCache {
    memory: Vec<PhysicalHandle>,
    /// Of all of it.
    pages: u64,
}

impl HandleCache {
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    pub(crate) fn put(&mut self, memory: PhysicalHandle) {
        self.pages += u64::from(memory.pages);
        self.memory.push(memory);
    }

    pub(crate) fn take(&mut self) -> Option<PhysicalHandle> {
        let memory = self.memory.pop()?;
        self.pages -= u64::from(memory.pages);
        Some(memory)
    }

    /// The largest handle here that has `most` pages at most.
    pub(crate) fn take_up_to(&mut self, most: u32) -> Option<PhysicalHandle> {
        let (mut largest, mut place) = (0, None);
        for (at, memory) in self.memory.iter().enumerate() {
            if (largest..=most).contains(&memory.pages) {
                (largest, place) = (memory.pages, Some(at));
            }
        }
        let memory = self.memory.swap_remove(place?);
        self.pages -= u64::from(memory.pages);
        Some(memory)
    }
}
