//! Blocks that an allocator of the program cuts out of the driver's memory, as it tells of them.
//!
//! The allocator hands a block out and takes it back when its calls are made, and work uses it
//! when the device gets there. So every operation keeps the blocks as they were when it was
//! queued: what was alive then is what it may use, whatever has become of the addresses since.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, RwLock};

use super::super::memory::{Place, Shadow, Space};
use super::super::stream::Stream;
use super::super::sync::{lock, read, write};
use super::Monitor;
use super::clock::{Clock, Stamp};
use super::finding::{Allocation, CallSite, Finding, FindingKind, Memory};
use super::options::Strict;
use super::order::Thing;
use super::races::Access;
use super::site::{Here, Origin};

/// Blocks are looked for by this many bytes of addresses.
const PAGE: u64 = 2 << 20;

/// A block from its beginning to its end.
#[derive(Debug)]
pub(in crate::device) struct Region {
    pub(super) id: u64,
    pub(super) base: u64,
    pub(super) len: u64,
    name: Option<String>,
    made: Origin,
    /// Where the program got it.
    source: Option<String>,
    /// Which bytes are written in this life, if that is kept.
    shadow: Option<Shadow>,
    /// What operations did with it.
    pub(super) accesses: Mutex<Vec<Access>>,
}

impl Region {
    /// The first address after it.
    pub(super) fn end(&self) -> u64 {
        self.base + self.len
    }

    /// The bits of its written bytes, and the offset of an address in them.
    pub(in crate::device) fn shadow(&self, address: u64) -> Option<(&Shadow, u64)> {
        let shadow = self.shadow.as_ref()?;
        Some((shadow, address.wrapping_sub(self.base)))
    }

    pub(super) fn allocation(&self) -> Allocation {
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
    /// Blocks by the pages that they lie in, ascending.
    pages: BTreeMap<u64, Arc<Vec<Arc<Region>>>>,
}

impl Map {
    /// Whether blocks are cut out of the memory at an address.
    pub(super) fn in_heap(&self, address: u64) -> bool {
        let heap = self.heaps.range(..=address).next_back();
        heap.is_some_and(|(_, end)| address < *end)
    }

    /// The block that an address is in.
    pub(in crate::device) fn find(&self, address: u64) -> Option<&Arc<Region>> {
        let page = self.pages.get(&(address / PAGE))?;
        let at = page.partition_point(|region| region.base <= address);
        let region = page.get(at.checked_sub(1)?)?;
        (address < region.end()).then_some(region)
    }

    /// The nearest blocks before and after an address that is in none.
    pub(super) fn around(&self, address: u64) -> impl Iterator<Item = &Arc<Region>> {
        let page = address / PAGE;
        let below = self.pages.range(..=page).rev().find_map(|(_, page)| {
            let at = page.partition_point(|region| region.base <= address);
            page.get(at.checked_sub(1)?)
        });
        let above = self.pages.range(page..).find_map(|(_, page)| {
            let at = page.partition_point(|region| region.base <= address);
            page.get(at)
        });
        below.into_iter().chain(above)
    }

    fn insert(&mut self, region: &Arc<Region>) {
        for page in region.base / PAGE..=(region.end() - 1) / PAGE {
            let page = Arc::make_mut(self.pages.entry(page).or_default());
            let at = page.partition_point(|other| other.base < region.base);
            page.insert(at, Arc::clone(region));
        }
    }

    fn remove(&mut self, region: &Region) {
        for number in region.base / PAGE..=(region.end() - 1) / PAGE {
            if let Some(page) = self.pages.get_mut(&number) {
                Arc::make_mut(page).retain(|other| other.id != region.id);
                if page.is_empty() {
                    self.pages.remove(&number);
                }
            }
        }
    }

    /// Takes a heap out, and what is left in it.
    fn remove_heap(&mut self, base: u64) {
        let Some(end) = self.heaps.remove(&base) else {
            return;
        };
        let pages = self.pages.range(base / PAGE..=end / PAGE);
        let left: Vec<_> = pages
            .flat_map(|(_, page)| page.iter())
            .filter(|region| (base..end).contains(&region.base))
            .map(Arc::clone)
            .collect();
        left.iter().for_each(|region| self.remove(region));
    }
}

/// The blocks now; `None` before the first one.
#[derive(Debug, Default)]
pub(super) struct Regions(RwLock<Option<Arc<Map>>>);

impl Regions {
    pub(super) fn now(&self) -> Option<Arc<Map>> {
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
    pub(super) stamp: Stamp,
    /// What it comes after, itself included.
    pub(super) clock: Arc<Clock>,
}

thread_local! {
    static MOMENT: RefCell<Option<Arc<Moment>>> = const { RefCell::new(None) };
    /// How many of the waits that this thread puts on streams now are an allocator's own.
    static OWN_ORDER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Moment {
    /// Of the operation that this thread works for.
    pub(in crate::device) fn now() -> Option<Arc<Self>> {
        MOMENT
            .try_with(|moment| moment.borrow().clone())
            .unwrap_or_default()
    }

    /// This thread works for the operation of that moment; gives the one before.
    pub(super) fn replace(moment: Option<Arc<Self>>) -> Option<Arc<Self>> {
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

pub(super) fn is_own_order() -> bool {
    OWN_ORDER.get()
}

impl Monitor {
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
            for page in region.base / PAGE..=(region.end() - 1) / PAGE {
                let old = map.pages.get(&page).cloned();
                let over = |old: &&Arc<Region>| old.base < region.end() && region.base < old.end();
                for old in old.iter().flat_map(|page| page.iter()).filter(over) {
                    map.remove(old);
                }
            }
            map.insert(&region);
        });
    }

    /// A block ends in the order of a stream.
    pub(in crate::device) fn region_ends(&self, told: &Told, context: u64, stream: &Stream) {
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
            self.ends_nothing(told.address, call);
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
