//! Which memory and which module an operation uses, as far as its arguments say.

use std::ops::Range;

use crate::device::memory::{Place, Side, Space};
use crate::device::operations::launch::Launch;
use crate::device::operations::op::Op;
use crate::device::operations::value::Step;
use crate::device::strict::Monitor;
use crate::device::strict::finding::Allocation;
use crate::device::strict::order::Thing;
use crate::device::sync::lock;

/// Something that an operation uses.
#[derive(Debug)]
pub(in crate::device::strict) struct Touched {
    pub(in crate::device::strict) thing: Thing,
    pub(in crate::device::strict) allocation: Option<Allocation>,
    /// Which bytes of page-locked memory, by their addresses; `None` where that is not known, and for
    /// other memory.
    pub(in crate::device::strict) part: Option<Range<u64>>,
    /// They are written, for certain.
    pub(in crate::device::strict) writes: bool,
}

impl Touched {
    fn place(place: &Place) -> Self {
        Self {
            thing: Thing::Memory(place.id()),
            allocation: Some(place.allocation()),
            part: None,
            writes: false,
        }
    }
}

impl Monitor {
    /// What an operation uses, live or freed. A kernel uses what its parameters point to, unless
    /// one is only compared and may be an end: what it finds behind further pointers is not known
    /// before it runs.
    pub(in crate::device::strict) fn touched(&self, space: &Space, op: &Op) -> Vec<Touched> {
        match op {
            Op::Copy(copy) => {
                let ends = [(&copy.to, true), (&copy.from, false)].into_iter();
                let ends = ends.filter_map(|(end, writes)| {
                    let touched = match &end.side {
                        Side::Device(address) => self.at(space, *address)?,
                        Side::Pinned(range, address) => Touched {
                            part: Some(*address..address.saturating_add(end.rows.span())),
                            ..Touched::place(&Place::Pinned(range.clone()))
                        },
                        Side::Caller(_) | Side::Staged(_) => return None,
                    };
                    Some(Touched { writes, ..touched })
                });
                ends.collect()
            }
            Op::Value(Step::Write { to: at, .. } | Step::Wait { on: at, .. }) => {
                self.at(space, at.address).into_iter().collect()
            }
            Op::Fill(fill) => self.at(space, fill.address).into_iter().collect(),
            Op::Launch(launch) => self.touched_by_launch(space, launch),
            _ => Vec::new(),
        }
    }

    fn touched_by_launch(&self, space: &Space, launch: &Launch) -> Vec<Touched> {
        let mut all = vec![Touched {
            thing: Thing::Module(launch.function.module),
            allocation: None,
            part: None,
            writes: false,
        }];
        let words = launch.params.chunks_exact(8);
        let words = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        let pointers = &launch.function.kernel.pointers;
        for (index, word) in words.clone().enumerate() {
            if let Some(touched) = self.at(space, word)
                && all.iter().all(|known| known.thing != touched.thing)
                && (pointers.has(index) || !self.ends_another(space, words.clone(), word, &touched))
            {
                all.push(touched);
            }
        }
        all
    }

    /// Whether a word that is the first address of something may be the end of something else, as
    /// in `kernel(begin, end)`: that ends there, and another of the words points into it.
    fn ends_another(
        &self,
        space: &Space,
        mut words: impl Iterator<Item = u64>,
        word: u64,
        touched: &Touched,
    ) -> bool {
        let base = touched.allocation.as_ref().map(|memory| memory.base);
        let last = word.checked_sub(1).filter(|_| base == Some(word));
        let before = last.and_then(|last| self.at(space, last)?.allocation);
        before.is_some_and(|before| words.any(|word| word.wrapping_sub(before.base) < before.size))
    }

    /// What is or was at an address.
    fn at(&self, space: &Space, address: u64) -> Option<Touched> {
        let map = self.usable().filter(|map| map.in_heap(address));
        if let Some(map) = &map {
            if let Some(region) = map.find(address) {
                return Some(Touched {
                    thing: Thing::Memory(region.id),
                    allocation: Some(region.allocation()),
                    part: None,
                    writes: false,
                });
            }
        } else if let Some(place) = space.find(address) {
            return Some(Touched::place(&place));
        }
        let history = lock(&self.history);
        let (id, freed) = history.find(address)?;
        Some(Touched {
            thing: Thing::Memory(*id),
            allocation: Some(freed.clone()),
            part: None,
            writes: false,
        })
    }
}
