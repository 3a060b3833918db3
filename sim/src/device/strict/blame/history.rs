//! Memory that is gone: what it was, and who freed it.

use std::collections::{BTreeMap, VecDeque};

use crate::device::strict::finding::Allocation;

/// Most freed allocations that are remembered.
const REMEMBERED: usize = 16384;

/// Freed allocations by address.
#[derive(Debug, Default)]
pub(in crate::device::strict) struct History {
    /// With the id that each had.
    freed: BTreeMap<u64, (u64, Allocation)>,
    /// Their addresses and ids, oldest first. May name some that are forgotten already.
    order: VecDeque<(u64, u64)>,
}

impl History {
    /// Remembers; gives the id of what is forgotten for it.
    pub(in crate::device::strict) fn add(&mut self, id: u64, freed: Allocation) -> Option<u64> {
        self.forget(freed.base, freed.size);
        self.order.push_back((freed.base, id));
        self.freed.insert(freed.base, (id, freed));
        if self.order.len() <= REMEMBERED {
            return None;
        }
        let (oldest, id) = self.order.pop_front()?;
        if self.freed.get(&oldest).is_some_and(|known| known.0 == id) {
            self.freed.remove(&oldest);
        }
        Some(id)
    }

    /// The addresses are memory again.
    pub(in crate::device::strict) fn forget(&mut self, base: u64, size: u64) {
        let end = base.saturating_add(size);
        while let Some((&start, (_, old))) = self.freed.range(..end).next_back()
            && start.saturating_add(old.size) > base
        {
            self.freed.remove(&start);
        }
    }

    /// The freed allocation that `address` was in, and its id.
    pub(in crate::device::strict) fn find(&self, address: u64) -> Option<&(u64, Allocation)> {
        let (base, found) = self.freed.range(..=address).next_back()?;
        (address - base < found.1.size).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::strict::finding::{CallSite, Memory};

    fn freed(base: u64, size: u64) -> Allocation {
        Allocation {
            base,
            size,
            memory: Memory::PageLocked,
            name: None,
            allocated: CallSite {
                function: "cuMemHostAlloc",
                number: 1,
                stream: None,
                source: None,
                backtrace: None,
            },
            freed: None,
        }
    }

    /// Without it, memory that a program has got again would still count as freed.
    #[test]
    fn memory_that_is_there_again_is_forgotten() {
        let mut history = History::default();
        for base in [100, 200, 300] {
            assert_eq!(history.add(base, freed(base, 50)), None);
        }
        let found = |history: &History, at| history.find(at).map(|(id, _)| *id);
        assert_eq!(found(&history, 149), Some(100));
        assert_eq!(found(&history, 150), None);
        // From the last byte of the first to the first byte of the last.
        history.forget(149, 152);
        assert_eq!([100, 200, 300].map(|at| found(&history, at)), [None; 3]);
        for id in 1000..1000 + REMEMBERED as u64 {
            history.add(id, freed(id * 100, 50));
        }
        assert_eq!(found(&history, 100_000), Some(1000));
        assert_eq!(history.add(7, freed(0, 50)), Some(1000), "the oldest goes");
        assert_eq!(found(&history, 100_000), None);
    }
}
