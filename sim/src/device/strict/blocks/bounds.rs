//! Which blocks of an allocator one operation may touch, and what it missed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::device::memory::Space;
use crate::device::strict::Monitor;
use crate::device::strict::blocks::regions::{Map, Moment, Region};
use crate::device::strict::blocks::search::{Search, Sources};
use crate::device::strict::finding::{Allocation, FindingKind};
use crate::device::strict::options::Strict;
use crate::device::sync::lock;

/// How far a pointer may point before or behind a block and still mean it, if it points into no
/// other.
const SLACK: u64 = 255;

/// What an operation may touch around an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Limit {
    /// No allocator has told of this memory.
    None,
    /// Within a block: its first address and length.
    Block(u64, u64),
    /// Nothing.
    Nothing,
}

/// The blocks of one operation.
#[derive(Debug)]
pub(in crate::device) struct Bounds<'a> {
    pub(in crate::device::strict) moment: Arc<Moment>,
    monitor: &'a Monitor,
    space: &'a Space,
    /// The addresses that the operation was given, among other words.
    words: Vec<u64>,
    /// The ids of the blocks that they point to.
    given: Vec<u64>,
    /// It may have pointers that are not to be found in memory.
    is_trusted: bool,
    search: Mutex<Search>,
}

impl<'a> Bounds<'a> {
    /// Of the kernel that this thread works for, with these parameters, and with what its slices
    /// before have found out; `None` if no allocator tells of anything.
    pub(in crate::device::strict) fn of_kernel(
        monitor: &'a Monitor,
        space: &'a Space,
        params: &[u8],
        is_free: bool,
        search: Search,
    ) -> Option<Self> {
        let moment = Moment::now()?;
        let words = params.chunks_exact(8);
        let words: Vec<_> = words
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes))
            .collect();
        let given = words.iter().flat_map(|word| points_to(&moment.map, *word));
        let given: Vec<_> = given.map(|region| region.id).collect();
        Some(Self {
            moment,
            monitor,
            space,
            words,
            // Without a pointer into any block it finds its own way to one.
            is_trusted: is_free || given.is_empty(),
            given,
            search: Mutex::new(search),
        })
    }

    /// What it has found out, for the launch's next slice.
    pub(in crate::device::strict) fn into_search(self) -> Search {
        let search = self.search.into_inner();
        search.unwrap_or_else(PoisonError::into_inner)
    }

    fn map(&self) -> &Map {
        &self.moment.map
    }

    pub(in crate::device) fn limit(&self, address: u64) -> Limit {
        if !self.map().in_heap(address) {
            return Limit::None;
        }
        match self.map().find(address) {
            Some(region) if self.may(region) => Limit::Block(region.base, region.len),
            _ => Limit::Nothing,
        }
    }

    /// The block at an address, if the operation may use it, or if it is not asked whether it may.
    pub(in crate::device::strict) fn region(&self, address: u64) -> Option<&Arc<Region>> {
        let region = self.map().find(address)?;
        let may = !self.monitor.wants(Strict::ACCESSES) || self.may(region);
        may.then_some(region)
    }

    /// Whether a kernel may use a block: it was given a pointer to it, or there is one in memory
    /// that it was given.
    fn may(&self, region: &Region) -> bool {
        self.is_trusted
            || self.given.contains(&region.id)
            || lock(&self.search).leads_to(self.sources(), region)
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            map: self.map(),
            space: self.space,
            words: &self.words,
        }
    }

    /// What an access missed.
    pub(in crate::device::strict) fn explain(
        &self,
        address: u64,
        bytes: u64,
    ) -> (FindingKind, String, Option<Allocation>) {
        let stale = |freed: &Allocation| Search::once(self.sources(), (freed.base, freed.size));
        let given = Given {
            words: &self.words,
            found: &lock(&self.search).found(),
            stale: &stale,
        };
        explain(self.monitor, self.map(), &given, (address, bytes))
    }
}

/// The blocks that a parameter may mean: that it points into, that ends where this one begins, or
/// that it points past or before by a little.
fn points_to(map: &Map, word: u64) -> impl Iterator<Item = &Arc<Region>> {
    let inside = map.find(word);
    let before = inside.filter(|region| region.base == word);
    let before = before.and_then(|_| map.find(word.wrapping_sub(1)));
    let near = inside.is_none() && map.in_heap(word);
    let around = near.then(|| map.around(word)).into_iter().flatten();
    let around = around.filter(move |region| distance(region, word) <= SLACK);
    inside.into_iter().chain(before).chain(around)
}

/// How far an address is from a block.
fn distance(region: &Region, address: u64) -> u64 {
    match address < region.base {
        true => region.base - address,
        false => (address - region.base).saturating_sub(region.len),
    }
}

/// The addresses that an operation has.
pub(in crate::device::strict) struct Given<'a> {
    /// Those that it was given, among other words.
    pub(in crate::device::strict) words: &'a [u64],
    /// The blocks that it can have found its way to.
    pub(in crate::device::strict) found: &'a [Arc<Region>],
    /// Whether it may have one into freed memory.
    pub(in crate::device::strict) stale: &'a dyn Fn(&Allocation) -> bool,
}

/// What an access of some bytes missed.
pub(in crate::device::strict) fn explain(
    monitor: &Monitor,
    map: &Map,
    given: &Given<'_>,
    (address, bytes): (u64, u64),
) -> (FindingKind, String, Option<Allocation>) {
    use FindingKind as K;
    let Given {
        words,
        found,
        stale,
    } = given;
    let given = || {
        let pointed_to = words.iter().flat_map(|word| points_to(map, *word));
        pointed_to.chain(*found)
    };
    let inside = map.find(address);
    if let Some(region) = inside.filter(|region| given().any(|one| one.id == region.id)) {
        let past = (address + bytes).saturating_sub(region.end());
        let how = format!("it ends {past} bytes past the end");
        return (K::OutOfBounds, how, Some(region.allocation()));
    }
    let freed = lock(&monitor.history)
        .find(address)
        .map(|(_, freed)| freed.clone());
    let freed = freed.filter(|_| inside.is_none());
    let nearest = given().min_by_key(|region| distance(region, address));
    let around = || {
        let around = map.around(address);
        around.min_by_key(|region| distance(region, address))
    };
    match (freed, nearest) {
        (Some(freed), near) if near.is_none() || stale(&freed) => {
            let how = format!("{} bytes into freed memory", address - freed.base);
            (K::UseAfterFree, how, Some(freed))
        }
        (_, Some(region)) => out_of(region, address, inside),
        (_, None) => match inside.or_else(around) {
            Some(region) => out_of(region, address, inside),
            None => (K::OutOfBounds, "no block is there".into(), None),
        },
    }
}

/// An access outside of a block, perhaps inside of another.
fn out_of(
    region: &Region,
    address: u64,
    inside: Option<&Arc<Region>>,
) -> (FindingKind, String, Option<Allocation>) {
    let far = distance(region, address);
    let side = match address < region.base {
        true => "before the start",
        false => "past the end",
    };
    let mut how = format!("{far} bytes {side}");
    if let Some(other) = inside.filter(|other| other.id != region.id) {
        let of = other.allocation();
        how.push_str(&format!(
            ", in the block of {} bytes at 0x{:x}",
            of.size, of.base
        ));
    }
    (FindingKind::OutOfBounds, how, Some(region.allocation()))
}
