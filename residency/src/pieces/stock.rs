//! `Stock`: memory that no slot has, for the next one.

use std::collections::BTreeMap;

use cupola_managers::vmm::PhysicalMemory;

/// Physical memory that is mapped nowhere, by size. Making new memory costs the driver a scrub of it
/// (some 20 us a MiB), mapping what there is already 1 us.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    by_size: BTreeMap<u64, Vec<PhysicalMemory>>,
}

impl Stock {
    /// A piece of exactly `bytes`.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<PhysicalMemory> {
        self.by_size.get_mut(&bytes)?.pop()
    }

    /// A piece of another size, to be given back so that one of `bytes` can be made: the smallest that is
    /// larger, else the largest there is.
    pub(crate) fn take_instead(&mut self, bytes: u64) -> Option<PhysicalMemory> {
        let larger = self.by_size.range_mut(bytes..);
        if let Some(piece) = larger.map(|(_, pieces)| pieces).find_map(Vec::pop) {
            return Some(piece);
        }
        self.by_size.values_mut().rev().find_map(Vec::pop)
    }

    /// A piece that was unmapped, which is kept unless another slot has it mapped still.
    pub(crate) fn put(&mut self, piece: PhysicalMemory) {
        if piece.is_unique() {
            self.by_size.entry(piece.bytes()).or_default().push(piece);
        }
    }

    /// Bytes that it has.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |(size, pieces): (&u64, &Vec<PhysicalMemory>)| size * pieces.len() as u64;
        self.by_size.iter().map(bytes).sum()
    }

    /// Gives everything back.
    pub(crate) fn clear(&mut self) {
        self.by_size.clear();
    }
}
