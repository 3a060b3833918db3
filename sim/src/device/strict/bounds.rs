//! Which blocks of an allocator one operation may touch, and what it missed.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::super::memory::{Place, Space};
use super::super::sync::lock;
use super::Monitor;
use super::finding::{Allocation, FindingKind};
use super::regions::{Map, Moment, Region};

/// Most bytes that are looked through for pointers; a kernel that may have found its pointer in
/// more is trusted.
const SEARCHED: u64 = 256 << 20;

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
    pub(super) moment: Arc<Moment>,
    monitor: &'a Monitor,
    space: &'a Space,
    /// The addresses that the operation was given, among other words.
    words: Vec<u64>,
    /// It may have pointers that are not to be found in memory.
    is_free: bool,
    /// Whether it may use a block, by the block's id.
    may: Mutex<HashMap<u64, bool>>,
}

impl<'a> Bounds<'a> {
    /// Of the kernel that this thread works for, with these parameters; `None` if no allocator
    /// tells of anything.
    pub(in crate::device) fn of_kernel(
        monitor: &'a Monitor,
        space: &'a Space,
        params: &[u8],
        is_free: bool,
    ) -> Option<Self> {
        let words = params.chunks_exact(8);
        let words = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        Some(Self {
            moment: Moment::now()?,
            monitor,
            space,
            words: words.collect(),
            is_free,
            may: Mutex::default(),
        })
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

    /// The block at an address, if the operation may use it.
    pub(super) fn region(&self, address: u64) -> Option<&Arc<Region>> {
        self.map().find(address)
    }

    /// Whether a kernel may use a block: it was given a pointer to it, or there is one in memory
    /// that it was given.
    fn may(&self, region: &Region) -> bool {
        if let Some(known) = lock(&self.may).get(&region.id) {
            return *known;
        }
        let given = || {
            self.words
                .iter()
                .flat_map(|word| points_to(self.map(), *word))
        };
        // Without a pointer into any block it has found its own way to this one.
        let may = self.is_free
            || given().next().is_none()
            || given().any(|one| one.id == region.id)
            || self.reaches(|word| word.wrapping_sub(region.base) < region.len);
        lock(&self.may).insert(region.id, may);
        may
    }

    /// Whether a pointer that is wanted lies in memory that the kernel was given, or in a module's
    /// variables, or where such pointers lead to.
    fn reaches(&self, wanted: impl Fn(u64) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut next = Vec::new();
        let mut searched = 0;
        self.space.each(
            |block| {
                if block.module {
                    next.push((block.address, block.len));
                }
            },
            |_| {},
        );
        let mut follow = |word: u64, next: &mut Vec<(u64, u64)>| {
            if wanted(word) {
                return true;
            }
            let span = match self.map().find(word) {
                Some(region) => (region.base, region.len),
                None if self.map().in_heap(word) => return false,
                // Most words are no addresses.
                None if word < 1 << 16 => return false,
                None => match self.space.find(word) {
                    Some(place) => place.span(),
                    None => return false,
                },
            };
            if seen.insert(span.0) {
                next.push(span);
            }
            false
        };
        if self.words.iter().any(|word| follow(*word, &mut next)) {
            return true;
        }
        while let Some((base, len)) = next.pop() {
            searched += len;
            if searched > SEARCHED {
                return true;
            }
            let Some(place) = self.space.find_whole(base, len) else {
                continue;
            };
            if words_of(&place, base, len).any(|word| follow(word, &mut next)) {
                return true;
            }
        }
        false
    }

    /// What an access missed.
    pub(super) fn explain(
        &self,
        address: u64,
        bytes: u64,
    ) -> (FindingKind, String, Option<Allocation>) {
        let stale =
            |freed: &Allocation| self.reaches(|word| word.wrapping_sub(freed.base) < freed.size);
        let given = Given {
            words: &self.words,
            stale: &stale,
        };
        explain(self.monitor, self.map(), &given, (address, bytes))
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

/// The blocks that a pointer may mean.
fn points_to(map: &Map, word: u64) -> impl Iterator<Item = &Arc<Region>> {
    let inside = map.find(word);
    let near = inside.is_none() && map.in_heap(word);
    let around = near.then(|| map.around(word)).into_iter().flatten();
    let around = around.filter(move |region| distance(region, word) <= SLACK);
    inside.into_iter().chain(around)
}

/// How far an address is from a block.
fn distance(region: &Region, address: u64) -> u64 {
    match address < region.base {
        true => region.base - address,
        false => (address - region.base).saturating_sub(region.len),
    }
}

/// The addresses that an operation has.
pub(super) struct Given<'a> {
    /// Those that it was given, among other words.
    pub(super) words: &'a [u64],
    /// Whether it may have one into freed memory.
    pub(super) stale: &'a dyn Fn(&Allocation) -> bool,
}

/// What an access of some bytes missed.
pub(super) fn explain(
    monitor: &Monitor,
    map: &Map,
    given: &Given<'_>,
    (address, bytes): (u64, u64),
) -> (FindingKind, String, Option<Allocation>) {
    use FindingKind as K;
    let Given { words, stale } = given;
    let given = || words.iter().flat_map(|word| points_to(map, *word));
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
