//! Blocks that an allocator of the program cuts out of the driver's memory, as it tells of them.
//!
//! The allocator hands a block out and takes it back when its calls are made, and work uses it
//! when the device gets there. So every operation keeps the blocks as they were when it was
//! queued: what was alive then is what it may use, whatever has become of the addresses since.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, RwLock};

use crate::device::memory::{Place, Shadow, Space};
use crate::device::streams::stream::Stream;
use crate::device::strict::Monitor;
use crate::device::strict::finding::{Allocation, CallSite, Finding, FindingKind, Memory};
use crate::device::strict::options::Strict;
use crate::device::strict::order::Thing;
use crate::device::strict::order::clock::{Clock, Stamp};
use crate::device::strict::order::races::Access;
use crate::device::strict::site::{Here, Origin};
use crate::device::sync::{lock, read, write};

/// Blocks are looked for by this many bytes of addresses.
const PART: u64 = 64 << 10;

/// So many parts have a list of their own: a change copies as much as one part and two lists.
const PARTS: u64 = 64;

/// A block from its beginning to its end.
#[derive(Debug)]
pub(in crate::device) struct Region {
    pub(in crate::device::strict) id: u64,
    pub(in crate::device::strict) base: u64,
    pub(in crate::device::strict) len: u64,
    name: Option<String>,
    made: Origin,
    /// Where the program got it.
    source: Option<String>,
    /// Which bytes are written in this life, if that is kept.
    shadow: Option<Shadow>,
    /// What operations did with it.
    pub(in crate::device::strict) accesses: Mutex<Vec<Access>>,
}

impl Region {
    /// A block that nothing is known of.
    #[cfg(test)]
    pub(in crate::device::strict) fn of(id: u64, base: u64, len: u64) -> Self {
        Self {
            id,
            base,
            len,
            name: None,
            made: Origin::default(),
            source: None,
            shadow: None,
            accesses: Mutex::default(),
        }
    }

    /// The first address after it.
    pub(in crate::device::strict) fn end(&self) -> u64 {
        self.base + self.len
    }

    /// The numbers of the parts that it lies in.
    fn numbers(&self) -> RangeInclusive<u64> {
        self.base / PART..=(self.end() - 1) / PART
    }

    /// The bits of its written bytes, and the offset of an address in them.
    pub(in crate::device) fn shadow(&self, address: u64) -> Option<(&Shadow, u64)> {
        let shadow = self.shadow.as_ref()?;
        Some((shadow, address.wrapping_sub(self.base)))
    }

    pub(in crate::device::strict) fn allocation(&self) -> Allocation {
        Allocation {
            base: self.base,
            size: self.len,
            memory: Memory::Region,
            name: self.name.clone(),
            allocated: CallSite {
                source: self.source.clone(),
                ..self.made.site()
            },
            freed: None,
        }
    }
}

/// What an allocator says of a block that begins, ends or is used.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Told {
    pub(in crate::device) address: u64,
    pub(in crate::device) bytes: u64,
    pub(in crate::device) name: Option<String>,
    pub(in crate::device) source: Option<String>,
}

/// All blocks at one moment.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Map {
    /// What blocks are cut out of: the first address, and the first after it.
    heaps: BTreeMap<u64, u64>,
    /// Lists of parts, by where they begin.
    lists: BTreeMap<u64, Arc<Parts>>,
}

/// Blocks by the part that they lie in, ascending, by the part's number.
type Parts = BTreeMap<u64, Arc<Vec<Arc<Region>>>>;

impl Map {
    /// Whether blocks are cut out of the memory at an address.
    pub(in crate::device::strict) fn in_heap(&self, address: u64) -> bool {
        let heap = self.heaps.range(..=address).next_back();
        heap.is_some_and(|(_, end)| address < *end)
    }

    /// The block that an address is in.
    pub(in crate::device) fn find(&self, address: u64) -> Option<&Arc<Region>> {
        let number = address / PART;
        let part = self.lists.get(&(number / PARTS))?.get(&number)?;
        let at = part.partition_point(|region| region.base <= address);
        let region = part.get(at.checked_sub(1)?)?;
        (address < region.end()).then_some(region)
    }

    /// The blocks of each part from that number on, and the parts.
    fn parts(
        &self,
        numbers: RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = &Arc<Vec<Arc<Region>>>> {
        let lists = numbers.start() / PARTS..=numbers.end() / PARTS;
        let lists = self.lists.range(lists);
        lists.flat_map(move |(_, parts)| parts.range(numbers.clone()).map(|(_, part)| part))
    }

    /// The nearest blocks before and after an address that is in none.
    pub(in crate::device::strict) fn around(
        &self,
        address: u64,
    ) -> impl Iterator<Item = &Arc<Region>> {
        let number = address / PART;
        let below = self.parts(0..=number).rev().find_map(|part| {
            let at = part.partition_point(|region| region.base <= address);
            part.get(at.checked_sub(1)?)
        });
        let above = self.parts(number..=u64::MAX).find_map(|part| {
            let at = part.partition_point(|region| region.base <= address);
            part.get(at)
        });
        below.into_iter().chain(above)
    }

    pub(in crate::device::strict) fn insert(&mut self, region: &Arc<Region>) {
        for number in region.numbers() {
            let parts = Arc::make_mut(self.lists.entry(number / PARTS).or_default());
            let part = Arc::make_mut(parts.entry(number).or_default());
            let at = part.partition_point(|other| other.base < region.base);
            part.insert(at, Arc::clone(region));
        }
    }

    fn remove(&mut self, region: &Region) {
        for number in region.numbers() {
            let list = number / PARTS;
            let Some(parts) = self.lists.get_mut(&list).map(Arc::make_mut) else {
                continue;
            };
            if let Some(part) = parts.get_mut(&number).map(Arc::make_mut) {
                part.retain(|other| other.id != region.id);
                if part.is_empty() {
                    parts.remove(&number);
                }
            }
            if parts.is_empty() {
                self.lists.remove(&list);
            }
        }
    }

    /// The blocks that have bytes of a range.
    fn over(&self, base: u64, end: u64) -> Vec<Arc<Region>> {
        let parts = self.parts(base / PART..=end / PART);
        let regions = parts.flat_map(|part| part.iter());
        let over = regions.filter(|region| region.base < end && base < region.end());
        over.map(Arc::clone).collect()
    }

    /// Takes a heap out, and what is left in it.
    fn remove_heap(&mut self, base: u64) {
        let Some(end) = self.heaps.remove(&base) else {
            return;
        };
        let left = self.over(base, end);
        left.iter().for_each(|region| self.remove(region));
    }
}

/// The blocks now; `None` before the first one.
#[derive(Debug, Default)]
pub(in crate::device::strict) struct Regions(RwLock<Option<Arc<Map>>>);

impl Regions {
    pub(in crate::device::strict) fn now(&self) -> Option<Arc<Map>> {
        read(&self.0).clone()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Map) -> R) -> R {
        let mut map = write(&self.0);
        change(Arc::make_mut(map.get_or_insert_default()))
    }
}

/// What an operation knows of blocks and of its place in the order of work.
#[derive(Debug)]
pub(in crate::device) struct Moment {
    pub(in crate::device) map: Arc<Map>,
    pub(in crate::device::strict) stamp: Stamp,
    /// What it comes after, itself included; nothing of what is compared with nothing.
    pub(in crate::device::strict) clock: Arc<Clock>,
}

thread_local! {
    static MOMENT: RefCell<Option<Arc<Moment>>> = const { RefCell::new(None) };
    /// Whether the waits that this thread puts on streams now are an allocator's own.
    static OWN_ORDER: Cell<bool> = const { Cell::new(false) };
    /// The blocks that work which this thread queues may use, if it was captured.
    static CAPTURED: RefCell<Option<Arc<Map>>> = const { RefCell::new(None) };
}

impl Moment {
    /// Of the operation that this thread works for.
    pub(in crate::device) fn now() -> Option<Arc<Self>> {
        MOMENT
            .try_with(|moment| moment.borrow().clone())
            .unwrap_or_default()
    }

    /// This thread works for the operation of that moment; gives the one before.
    pub(in crate::device::strict) fn replace(moment: Option<Arc<Self>>) -> Option<Arc<Self>> {
        // While a thread ends it works for nothing.
        MOMENT
            .try_with(|now| now.replace(moment))
            .unwrap_or_default()
    }
}

/// Says whether the waits that this thread puts on streams are an allocator's own.
pub(in crate::device) fn set_own_order(own: bool) {
    OWN_ORDER.set(own);
}

pub(in crate::device::strict) fn is_own_order() -> bool {
    OWN_ORDER.get()
}

/// Queues captured work: it may use the blocks that were there at the capture, also those that
/// have ended since, because their memory is the graph's.
pub(in crate::device) fn with_captured<R>(map: Option<&Arc<Map>>, queue: impl FnOnce() -> R) -> R {
    let Some(map) = map else { return queue() };
    // Also on the way of a panic.
    struct Restore(Option<Arc<Map>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            let before = self.0.take();
            let _ = CAPTURED.try_with(|now| now.replace(before));
        }
    }
    let before = CAPTURED.try_with(|now| now.replace(Some(Arc::clone(map))));
    let _restore = Restore(before.unwrap_or_default());
    queue()
}

/// The blocks of captured work that this thread queues.
pub(in crate::device::strict) fn captured_blocks() -> Option<Arc<Map>> {
    let captured = CAPTURED.try_with(|map| map.borrow().clone());
    captured.unwrap_or_default()
}

impl Monitor {
    /// The blocks that are there now, for a node that is captured.
    pub(in crate::device) fn blocks(&self) -> Option<Arc<Map>> {
        self.regions.now()
    }

    /// The blocks that work which this thread queues may use.
    pub(in crate::device::strict) fn usable(&self) -> Option<Arc<Map>> {
        captured_blocks().or_else(|| self.regions.now())
    }

    /// Whether a block that captured work uses has ended since.
    pub(in crate::device::strict) fn has_ended(&self, base: u64, id: u64) -> bool {
        let map = self.regions.now();
        let region = map.as_ref().and_then(|map| map.find(base));
        region.is_none_or(|region| region.id != id)
    }

    /// Whether allocators are to tell of their blocks.
    pub(in crate::device) fn hears_allocators(&self) -> bool {
        let all = Strict::ACCESSES | Strict::FREES | Strict::ORDER;
        self.wants(all | Strict::UNINITIALISED | Strict::STREAM_RACES)
    }

    /// A block begins.
    pub(in crate::device) fn region_begins(
        &self,
        space: &Space,
        told: Told,
        context: u64,
        stream: &Stream,
    ) {
        let Some((first, end)) = heap_around(space, told.address) else {
            return;
        };
        let Some(room) = end.checked_sub(told.address).filter(|_| told.bytes > 0) else {
            return;
        };
        let len = told.bytes.min(room);
        let shadow = self.keeps_shadows().then(|| Shadow::new(len)).flatten();
        let region = Arc::new(Region {
            id: space.next_id(),
            base: told.address,
            len,
            name: told.name,
            made: self.origin(),
            source: told.source,
            shadow,
            accesses: Mutex::default(),
        });
        self.there(region.base, len);
        self.allocated(region.id, context, stream);
        self.regions.change(|map| {
            map.heaps.insert(first, end);
            // An allocator that says nothing of an end has ended it all the same.
            let old = map.over(region.base, region.end());
            old.iter().for_each(|old| map.remove(old));
            map.insert(&region);
        });
    }

    /// A block ends in the order of a stream.
    pub(in crate::device) fn region_ends(
        &self,
        space: &Space,
        told: &Told,
        context: u64,
        stream: &Stream,
    ) {
        let here = Here {
            stream: stream.id,
            ..Here::now()
        };
        let call = CallSite {
            source: told.source.clone(),
            ..here.site()
        };
        let region = self.regions.now().and_then(|map| {
            let region = map.find(told.address).cloned();
            region.filter(|region| region.base == told.address)
        });
        let Some(region) = region else {
            // What is cut out of page-locked memory is not followed, and never began.
            if !matches!(space.find(told.address), Some(Place::Pinned(_))) {
                self.ends_nothing(told.address, call);
            }
            return;
        };
        if let Some(user) = self.region_freed(region.id, context, stream) {
            let what = format!(
                "the free does not come after {} in stream {}, which uses the memory",
                user.function, user.stream
            );
            self.report(Finding {
                address: Some(region.base),
                allocation: Some(region.allocation()),
                call: Some(call.clone()),
                other: Some(user.site()),
                ..Finding::new(FindingKind::FreeInUse, what)
            });
        }
        self.regions.change(|map| map.remove(&region));
        let freed = Allocation {
            freed: Some(call),
            ..region.allocation()
        };
        let forgotten = lock(&self.history).add(region.id, freed);
        if let Some(id) = forgotten {
            self.forget_thing(Thing::Memory(id));
        }
    }

    fn ends_nothing(&self, address: u64, call: CallSite) {
        if !self.wants(Strict::FREES) {
            return;
        }
        let known = lock(&self.history).find(address).cloned();
        let (kind, how, allocation) = match known {
            Some((_, freed)) if freed.base == address => {
                let how = "it is freed already";
                (FindingKind::DoubleFree, how, Some(freed))
            }
            _ => (FindingKind::InvalidFree, "no block begins there", None),
        };
        self.report(Finding {
            address: Some(address),
            allocation,
            call: Some(call),
            ..Finding::new(kind, format!("free of 0x{address:x}: {how}"))
        });
    }

    /// What comes on a stream comes after the beginning of a block.
    pub(in crate::device) fn region_shared(&self, address: u64, stream: &Stream) {
        let map = self.regions.now();
        if let Some(region) = map.as_ref().and_then(|map| map.find(address)) {
            self.shares(region.id, stream);
        }
    }

    /// A block ends behind what is on a stream by now.
    pub(in crate::device) fn region_behind(&self, address: u64, stream: &Stream) {
        let map = self.regions.now();
        if let Some(region) = map.as_ref().and_then(|map| map.find(address)) {
            self.ends_behind(region.id, stream);
        }
    }

    /// Memory that blocks may have been cut out of is the driver's again.
    pub(in crate::device) fn heap_gone(&self, base: u64) {
        if self
            .regions
            .now()
            .is_some_and(|map| map.heaps.contains_key(&base))
        {
            self.regions.change(|map| map.remove_heap(base));
        }
    }
}

/// The driver's allocation that an address is in: all that one call reserved or allocated.
fn heap_around(space: &Space, address: u64) -> Option<(u64, u64)> {
    match space.find(address)? {
        Place::Device(block) => Some((block.address, block.address + block.len)),
        Place::Mapped(_) => {
            let (base, len) = space.mapped().find_mapping(address)?.reserved;
            Some((base, base + len))
        }
        Place::Pinned(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    quickcheck::quickcheck! {
        /// Without it a block could be found where none is, or be lost with its neighbour, or an
        /// operation that is queued see blocks of later.
        fn blocks_are_found_where_they_are(steps: Vec<(u8, u8, bool)>) -> bool {
            const UNIT: u64 = PART / 2;
            let regions = Regions::default();
            let mut naive: BTreeMap<u64, u64> = BTreeMap::new();
            let mut earlier = Vec::new();
            for (id, (at, len, ends)) in (1..).zip(steps) {
                let base = u64::from(at) * UNIT;
                let len = (u64::from(len) + 1) * UNIT / 4;
                regions.change(|map| {
                    for old in map.over(base, base + len) {
                        map.remove(&old);
                    }
                    if !ends {
                        map.insert(&Region::of(id, base, len).into());
                    }
                });
                naive.retain(|start, end| base + len <= *start || *end <= base);
                if !ends {
                    naive.insert(base, base + len);
                }
                earlier.push((regions.now().unwrap(), naive.clone()));
            }
            earlier.iter().all(|(map, naive)| {
                (0..400).map(|at| at * UNIT / 2).all(|at| {
                    let inside = naive.range(..=at).next_back().filter(|(_, end)| at < **end);
                    let found = map.find(at).map(|region| region.base);
                    let mut near: Vec<_> = map.around(at).map(|region| region.base).collect();
                    near.dedup();
                    let below = naive.range(..=at).next_back();
                    let above = naive.range(at + 1..).next();
                    let expected = below.into_iter().chain(above).map(|(base, _)| *base);
                    found == inside.map(|(base, _)| *base) && near == expected.collect::<Vec<_>>()
                })
            })
        }
    }
}
