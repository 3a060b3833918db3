//! Which blocks a kernel can have found a pointer to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::memory::{Place, Space};
use crate::device::strict::blocks::regions::{Map, Region};

/// Most bytes that are looked through from one beginning on; a kernel that may have found its
/// pointer in more is trusted.
const MOST: u64 = 256 << 20;

/// Most beginnings of one launch: from then on it is trusted.
const BEGINNINGS: u32 = 16;

/// First address and length.
pub(super) type Span = (u64, u64);

/// Where a kernel has its pointers from.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::strict) struct Sources<'a> {
    pub(in crate::device::strict) map: &'a Map,
    pub(in crate::device::strict) space: &'a Space,
    /// The words of its parameters.
    pub(in crate::device::strict) words: &'a [u64],
}

/// A search for pointers, as a conservative garbage collector's: from the parameters and the
/// variables of modules on, each word that is an address is followed. It goes on where it stopped
/// when the next block is asked for, so that a table of pointers is looked through once.
#[derive(Debug, Default)]
pub(in crate::device::strict) struct Search {
    /// Blocks that there was a pointer into, by id. They stay, whatever is written later.
    found: BTreeMap<u64, Arc<Region>>,
    /// Blocks that there was none into, by id.
    refused: HashSet<u64>,
    /// What there was a pointer into since it began last, by first address.
    seen: HashSet<u64>,
    /// What of that is to be looked through, by length: tables of pointers are smaller than what
    /// they point to.
    next: BinaryHeap<Reverse<(u64, u64)>>,
    /// Bytes that it has looked through since then.
    searched: u64,
    /// How often it has begun.
    begun: u32,
}

impl Search {
    /// Whether the kernel can have a pointer into a block.
    pub(super) fn leads_to(&mut self, from: Sources<'_>, region: &Region) -> bool {
        if self.found.contains_key(&region.id) {
            return true;
        }
        if self.refused.contains(&region.id) {
            return false;
        }
        // What it has looked through may have been written since: before it says no, it begins
        // again.
        let wanted = (region.base, region.len);
        let found =
            self.go_on(from, wanted) || self.begin(from, wanted) || self.go_on(from, wanted);
        if !found {
            self.refused.insert(region.id);
        }
        found
    }

    /// The blocks that it has led to so far.
    pub(in crate::device::strict) fn found(&self) -> Vec<Arc<Region>> {
        self.found.values().cloned().collect()
    }

    /// Whether the kernel can have a pointer into these bytes now.
    pub(in crate::device::strict) fn once(from: Sources<'_>, wanted: Span) -> bool {
        let mut search = Self::default();
        search.begin(from, wanted) || search.go_on(from, wanted)
    }

    /// Takes the words that the kernel was given. Whether one of them is wanted.
    fn begin(&mut self, from: Sources<'_>, wanted: Span) -> bool {
        self.seen.clear();
        self.next.clear();
        self.searched = 0;
        self.begun += 1;
        let mut variables = Vec::new();
        from.space.each(
            |block| {
                if block.module {
                    variables.push((block.address, block.len));
                }
            },
            |_| {},
        );
        variables.into_iter().for_each(|span| self.push(span));
        let mut any = false;
        for word in from.words {
            any |= self.meet(from, *word, wanted);
        }
        any
    }

    /// Looks through memory until there is a wanted word in it, or nothing is left.
    fn go_on(&mut self, from: Sources<'_>, wanted: Span) -> bool {
        loop {
            if self.is_too_much() {
                return true;
            }
            let Some(Reverse((len, base))) = self.next.pop() else {
                return false;
            };
            self.searched += len;
            if self.is_too_much() {
                return true;
            }
            let Some(place) = from.space.find_whole(base, len) else {
                continue;
            };
            let mut any = false;
            for word in words_of(&place, base, len) {
                any |= self.meet(from, word, wanted);
            }
            if any {
                return true;
            }
        }
    }

    /// Whether it is given up, and the kernel trusted.
    fn is_too_much(&self) -> bool {
        self.searched > MOST || self.begun > BEGINNINGS
    }

    /// A word that may be a pointer. Whether it is a wanted one.
    fn meet(&mut self, from: Sources<'_>, word: u64, (base, len): Span) -> bool {
        // Most words are no addresses.
        if word < 1 << 16 {
            return false;
        }
        let region = from.map.find(word);
        if let Some(region) = region {
            self.found
                .entry(region.id)
                .or_insert_with(|| Arc::clone(region));
            self.push((region.base, region.len));
        } else if !from.map.in_heap(word)
            && let Some(place) = from.space.find(word)
        {
            self.push(place.span());
        }
        word.wrapping_sub(base) < len
    }

    fn push(&mut self, (base, len): Span) {
        if self.seen.insert(base) {
            self.next.push(Reverse((len, base)));
        }
    }
}

/// The aligned words of memory, which others may write at the same time.
fn words_of(place: &Place, base: u64, len: u64) -> impl Iterator<Item = u64> {
    let first = base.next_multiple_of(8);
    let count = (base + len).saturating_sub(first) / 8;
    let start = place.host(first);
    (0..count).map(move |index| {
        let at = start
            .wrapping_add(usize::try_from(index * 8).unwrap_or(0))
            .cast::<u64>();
        // SAFETY: the word lies within the place, which holds `base..base + len` and is kept by
        // the caller; addresses and host addresses are congruent modulo 16, so it is aligned; it
        // is accessed by atomics alone, as kernels do.
        unsafe { AtomicU64::from_ptr(at) }.load(Ordering::Relaxed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks are looked for by address alone: no memory is behind these.
    const HEAP: u64 = 1 << 40;

    /// A table of words in page-locked memory, and blocks side by side that they point to.
    struct Program {
        space: Space,
        map: Map,
        table: Vec<AtomicU64>,
    }

    impl Program {
        /// With a pointer to each block.
        fn new(blocks: u64) -> Self {
            let pointer = |id| AtomicU64::new(HEAP + id * 512 + 8);
            Self::of((0..blocks).map(pointer).collect(), blocks)
        }

        fn of(table: Vec<AtomicU64>, blocks: u64) -> Self {
            let mut map = Map::default();
            for id in 0..blocks {
                map.insert(&Region::of(id, HEAP + id * 512, 256).into());
            }
            let space = Space::default();
            let start = table.as_ptr().cast::<u8>().cast_mut();
            let bytes = table.len() as u64 * 8;
            space.register_host(start, bytes, 0, 1, 0).unwrap();
            Self { space, map, table }
        }

        fn leads_to(&self, search: &mut Search, id: u64) -> bool {
            let words = [self.table.as_ptr().expose_provenance() as u64];
            let from = Sources {
                map: &self.map,
                space: &self.space,
                words: &words,
            };
            let region = self.map.find(HEAP + id * 512).unwrap();
            search.leads_to(from, region)
        }
    }

    /// Without it a kernel with a table of pointers could take a search of all its memory for each
    /// of them.
    #[test]
    fn a_table_is_looked_through_once() {
        let program = Program::new(1000);
        let mut search = Search::default();
        for id in 0..1000 {
            assert!(program.leads_to(&mut search, id), "{id}");
        }
        assert_eq!(search.searched, 8000);
    }

    /// Without it a kernel that has taken a pointer out of memory could be blamed for its next use,
    /// or one that is handed a pointer while it runs for the first.
    #[test]
    fn a_pointer_counts_that_was_there_once() {
        let program = Program::new(3);
        program.table[2].store(0, Ordering::Relaxed);
        let mut search = Search::default();
        assert!(program.leads_to(&mut search, 0));
        program.table[1].store(0, Ordering::Relaxed);
        assert!(program.leads_to(&mut search, 1), "it is gone");
        program.table[2].store(HEAP + 1024, Ordering::Relaxed);
        assert!(program.leads_to(&mut search, 2), "it has come");
    }

    /// Without it a block that a kernel overruns into could count as its own.
    #[test]
    fn a_block_without_a_pointer_is_refused() {
        let program = Program::new(3);
        program.table[1].store(HEAP + 256, Ordering::Relaxed);
        let mut search = Search::default();
        assert!(!program.leads_to(&mut search, 1));
        let searched = search.searched;
        assert!(!program.leads_to(&mut search, 1));
        assert_eq!(search.searched, searched, "it is asked again");
    }
    /// Without it a kernel would be trusted that is given half as much memory as is looked through,
    /// or one that is given much more would take a search of all of it for each block.
    #[test]
    fn so_much_is_looked_through_each_time() {
        let words = |bytes: u64| (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
        let program = Program::of(words(MOST / 4 * 3), 40);
        let mut search = Search::default();
        assert!(!program.leads_to(&mut search, 0));
        // The first time is with what it has from the beginning.
        let refused = (1..40).take_while(|id| !program.leads_to(&mut search, *id));
        assert_eq!(refused.count() as u32, BEGINNINGS - 1);
        let program = Program::of(words(MOST + 8), 1);
        assert!(program.leads_to(&mut Search::default(), 0));
    }
}
