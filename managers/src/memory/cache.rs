//! `Cache`: memory that is mapped nowhere, ready to be.

use super::vmm::MemoryHandle;

/// A handle and how many pages it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) handle: MemoryHandle,
    pub(super) pages: u32,
}

/// Memory that is mapped nowhere. It is charged.
#[derive(Debug, Default)]
pub(super) struct Cache {
    memory: Vec<Memory>,
    /// Of all of it.
    pages: u64,
}

impl Cache {
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    pub(super) fn put(&mut self, memory: Memory) {
        self.pages += u64::from(memory.pages);
        self.memory.push(memory);
    }

    pub(super) fn take(&mut self) -> Option<Memory> {
        let memory = self.memory.pop()?;
        self.pages -= u64::from(memory.pages);
        Some(memory)
    }

    /// The largest of what is there that has `most` pages at most.
    pub(super) fn take_up_to(&mut self, most: u32) -> Option<Memory> {
        let fits = |(_, memory): &(usize, &Memory)| memory.pages <= most;
        let all = self.memory.iter().enumerate().filter(fits);
        let (at, _) = all.max_by_key(|(_, memory)| memory.pages)?;
        let memory = self.memory.swap_remove(at);
        self.pages -= u64::from(memory.pages);
        Some(memory)
    }
}
