//! `Slabs`: small pieces, many to a block of the heap.
//!
//! A slab belongs to the stream that it was made for, which may use slots that it frees again at
//! once. Slots that another stream has freed wait until they are complete. A slab whose stream is
//! gone has no owner until a stream that needs slots adopts it.

use std::collections::HashMap;
use std::ptr::NonNull;

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::pool::cache::size_class::{CLASSES, Slot, slots_of_slab};
use crate::pool::heap::best_fit::Heap;
use crate::pool::heap::block_header::{BlockHeader, BlockHeaders, Home, PoolRef};
use crate::pool::heap::placement::PlacementPolicy;
use crate::pool::streams::free_stamp::{RetiredStreams, Stamp, StreamIndex};

struct Slab {
    block: Block,
    slot: Slot,
    stream: StreamIndex,
    /// Bit `n`: slot `n` is free.
    free: u64,
    /// Of these, which another stream has freed: their headers know when.
    foreign: u64,
    /// All slots.
    all: u64,
    /// When the slab's own stream has freed last.
    freed: Stamp,
    /// Its neighbours in the list of its stream and class; `None` without free slots.
    listed: Option<Links>,
    headers: Box<[NonNull<BlockHeader>]>,
}

/// Neighbours in a list; [`END`] where there is none.
#[derive(Clone, Copy)]
struct Links {
    newer: u32,
    older: u32,
}

/// No slab.
const END: u32 = u32::MAX;

impl Slab {
    /// When another stream than the slab's has freed a slot.
    fn freed_of(&self, number: u32) -> Stamp {
        let Some(header) = self.headers.get(number as usize) else {
            return Stamp::READY;
        };
        // SAFETY: a slot that another stream has freed is free, and a free slot's header is the
        // slab's.
        unsafe { header.as_ref() }.freed()
    }
}

/// The numbers of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(number)
    })
}

/// All slabs of a pool.
#[derive(Default)]
pub(crate) struct Slabs {
    slabs: Vec<Option<Slab>>,
    vacant: Vec<u32>,
    /// The newest of the slabs with free slots, by stream and class: slots come from the slabs
    /// that were full last, so that the others become free as a whole.
    lists: Vec<u32>,
    /// Slots in use, and slabs.
    count: (u64, u64),
}

// SAFETY: the pointers are to headers of the same pool, which slots that are free own.
unsafe impl Send for Slabs {}

/// Stands for the stream of slabs whose stream is gone.
const NO_STREAM: StreamIndex = 0;

fn list_of(stream: StreamIndex, slot: Slot) -> usize {
    usize::from(stream) * CLASSES + slot.number()
}

impl Slabs {
    /// Puts a slab into the list of its stream and class.
    fn enlist(&mut self, id: u32) {
        let Some(Some(slab)) = self.slabs.get_mut(id as usize) else {
            return;
        };
        let at = list_of(slab.stream, slab.slot);
        if self.lists.len() <= at {
            self.lists.resize(at + 1, END);
        }
        let older = std::mem::replace(&mut self.lists[at], id);
        slab.listed = Some(Links { newer: END, older });
        self.join(at, id, older);
    }

    /// Makes two neighbours in a list; [`END`] is either end of it.
    fn join(&mut self, at: usize, newer: u32, older: u32) {
        match self.links(newer) {
            Some(links) => links.older = older,
            None => self.lists[at] = older,
        }
        if let Some(links) = self.links(older) {
            links.newer = newer;
        }
    }

    fn links(&mut self, id: u32) -> Option<&mut Links> {
        self.slabs.get_mut(id as usize)?.as_mut()?.listed.as_mut()
    }

    /// Takes a slab out of its list.
    fn delist(&mut self, id: u32) {
        let Some(Some(slab)) = self.slabs.get_mut(id as usize) else {
            return;
        };
        let Some(Links { newer, older }) = slab.listed.take() else {
            return;
        };
        let at = list_of(slab.stream, slab.slot);
        self.join(at, newer, older);
    }

    /// The newest slab with free slots of a list.
    fn newest(&self, at: usize) -> Option<u32> {
        self.lists.get(at).copied().filter(|&id| id != END)
    }

    /// Takes up to `want` free slots of a class that `stream` may use.
    pub(crate) fn take(
        &mut self,
        heap: &Heap,
        slot: Slot,
        stream: StreamIndex,
        want: u32,
        mut give: impl FnMut(NonNull<BlockHeader>),
    ) -> u32 {
        let at = list_of(stream, slot);
        loop {
            let taken = self.take_from(at, heap, want, true, &mut give);
            if taken > 0 || !self.adopt(slot, stream) {
                return taken;
            }
        }
    }

    /// Makes a slab with free slots, whose stream is gone, `stream`'s own. False when there is
    /// none.
    fn adopt(&mut self, slot: Slot, stream: StreamIndex) -> bool {
        let Some(id) = self.newest(list_of(NO_STREAM, slot)) else {
            return false;
        };
        self.delist(id);
        if let Some(Some(slab)) = self.slabs.get_mut(id as usize) {
            slab.stream = stream;
            // Slots that the stream itself has freed, while the slab had no owner.
            for number in bits(slab.foreign) {
                let freed = slab.freed_of(number);
                if freed.stream() == stream {
                    slab.foreign &= !(1 << number);
                    slab.freed = slab.freed.later(freed);
                }
            }
        }
        self.enlist(id);
        true
    }

    /// Takes the slabs of retired streams from them: the next stream that needs slots adopts them.
    /// A slab that is free as a whole goes back to the heap.
    pub(crate) fn forget(
        &mut self,
        heap: &mut Heap,
        headers: &mut BlockHeaders,
        gone: &RetiredStreams,
    ) {
        for id in 0..self.slabs.len() as u32 {
            let Some(Some(slab)) = self.slabs.get_mut(id as usize) else {
                continue;
            };
            for number in bits(slab.foreign) {
                if gone.has(slab.freed_of(number).stream()) {
                    slab.foreign &= !(1 << number);
                }
            }
            slab.freed = gone.without(slab.freed);
            if !gone.has(slab.stream) {
                continue;
            }
            let listed = slab.listed.is_some();
            self.delist(id);
            if let Some(Some(slab)) = self.slabs.get_mut(id as usize) {
                slab.stream = NO_STREAM;
            }
            if listed {
                self.enlist(id);
            }
            self.release(heap, headers, id);
        }
    }

    /// Takes slots from slabs of other streams whose frees are complete.
    pub(crate) fn take_from_others(
        &mut self,
        heap: &Heap,
        slot: Slot,
        stream: StreamIndex,
        want: u32,
        mut give: impl FnMut(NonNull<BlockHeader>),
    ) -> u32 {
        let mut taken = 0;
        let mut at = slot.number();
        while at < self.lists.len() && taken < want {
            if at != list_of(stream, slot) {
                taken += self.take_from(at, heap, want - taken, false, &mut give);
            }
            at += CLASSES;
        }
        taken
    }

    fn take_from(
        &mut self,
        at: usize,
        heap: &Heap,
        want: u32,
        own: bool,
        give: &mut impl FnMut(NonNull<BlockHeader>),
    ) -> u32 {
        let mut taken = 0;
        let mut next = self.newest(at).unwrap_or(END);
        while taken < want {
            let id = next;
            let Some(Some(slab)) = self.slabs.get_mut(id as usize) else {
                break;
            };
            next = slab.listed.map_or(END, |links| links.older);
            if !own && !heap.rules().is_done(slab.freed) {
                continue;
            }
            let mut usable = slab.free & !slab.foreign;
            for number in bits(slab.free & slab.foreign) {
                if heap.rules().is_done(slab.freed_of(number)) {
                    slab.foreign &= !(1 << number);
                    usable |= 1 << number;
                }
            }
            while usable != 0 && taken < want {
                let number = usable.trailing_zeros();
                usable &= usable - 1;
                slab.free &= !(1 << number);
                give(slab.headers[number as usize]);
                taken += 1;
            }
            if slab.free == 0 {
                self.delist(id);
            }
        }
        self.count.0 += u64::from(taken);
        taken
    }

    /// Makes a block of the heap a slab of `stream`, whose work may use it until `freed`.
    pub(crate) fn add(
        &mut self,
        headers: &mut BlockHeaders,
        pool: PoolRef,
        (block, slot, bytes): (Block, Slot, u64),
        (stream, freed): (StreamIndex, Stamp),
    ) {
        let count = slots_of_slab(bytes);
        let id = self.vacant.pop().unwrap_or(self.slabs.len() as u32);
        let headers = (0..count)
            .map(|number| {
                let header = headers.take(pool);
                let home = Home::Slab {
                    slab: id,
                    slot: number as u8,
                };
                let address = block.offset() + u64::from(number) * bytes;
                // SAFETY: headers stay where they are, and `take` gave this one to this thread
                // alone.
                let new = unsafe { header.as_ref() };
                new.begin(address, bytes, slot, home);
                new.set_fresh(freed.is_ready());
                header
            })
            .collect();
        let all = u64::MAX >> (64 - count);
        let slab = Slab {
            block,
            slot,
            stream,
            free: all,
            foreign: 0,
            all,
            freed,
            listed: None,
            headers,
        };
        match self.slabs.get_mut(id as usize) {
            Some(place) => *place = Some(slab),
            None => self.slabs.push(Some(slab)),
        }
        self.count.1 += 1;
        self.enlist(id);
    }

    /// Takes a slot back that was used until `stamp`.
    pub(crate) fn put(
        &mut self,
        heap: &mut Heap,
        headers: &mut BlockHeaders,
        (id, number): (u32, u8),
        stamp: Stamp,
    ) {
        let Some(Some(slab)) = self.slabs.get_mut(id as usize) else {
            return;
        };
        let bit = 1 << number;
        debug_assert_eq!(slab.free & bit, 0, "a slot was freed twice");
        slab.free |= bit;
        self.count.0 -= 1;
        if stamp.stream() == slab.stream {
            slab.freed = slab.freed.later(stamp);
        } else if !heap.rules().is_done(stamp) {
            slab.foreign |= bit;
            // SAFETY: a free slot's header is the slab's.
            unsafe { slab.headers[usize::from(number)].as_ref() }.note_freed(stamp);
        }
        let whole = slab.free == slab.all;
        let owned = slab.stream != NO_STREAM;
        if slab.listed.is_none() {
            self.enlist(id);
        }
        let links = self.links(id).copied();
        let alone = links.is_some_and(|links| (links.newer, links.older) == (END, END));
        // One stays for the next request of its class, where there is room.
        if whole && !(owned && alone && heap.crowded().is_none()) {
            self.release(heap, headers, id);
        }
    }

    /// Gives a slab back to the heap if all of it is free, and no other stream's use of it may
    /// still run. Whether it was.
    fn release(&mut self, heap: &mut Heap, headers: &mut BlockHeaders, id: u32) -> bool {
        let Some(Some(slab)) = self.slabs.get(id as usize) else {
            return false;
        };
        let pending = |number| !heap.rules().is_done(slab.freed_of(number));
        if slab.free != slab.all || bits(slab.foreign).any(pending) {
            return false;
        }
        self.delist(id);
        if let Some(slab) = self.slabs.get_mut(id as usize).and_then(Option::take) {
            for &header in &slab.headers {
                headers.put(header);
            }
            self.vacant.push(id);
            self.count.1 -= 1;
            heap.free(slab.block, slab.freed);
        }
        true
    }

    /// Gives back every slab that is free as a whole. How many were.
    pub(crate) fn release_all(&mut self, heap: &mut Heap, headers: &mut BlockHeaders) -> usize {
        (0..self.slabs.len() as u32)
            .filter(|&id| self.release(heap, headers, id))
            .count()
    }

    /// Every slab: its block, its stream, and the headers of its slots with whether they are
    /// free.
    pub(crate) fn all(
        &self,
    ) -> impl Iterator<
        Item = (
            Block,
            StreamIndex,
            impl Iterator<Item = (&BlockHeader, bool)>,
        ),
    > {
        self.slabs.iter().flatten().map(|slab| {
            let slots = slab.headers.iter().enumerate().map(|(number, header)| {
                // SAFETY: the headers of a slab are there as long as it is; fields that other
                // threads change are atomic or theirs alone.
                (unsafe { header.as_ref() }, slab.free >> number & 1 == 1)
            });
            (slab.block, slab.stream, slots)
        })
    }

    /// Bytes in slots that are free: those that nothing that runs uses, and the others.
    pub(crate) fn free_bytes(&self, rules: &PlacementPolicy) -> (u64, u64) {
        let (mut ready, mut pending) = (0, 0);
        for slab in self.slabs.iter().flatten() {
            let size = slab.block.size() / slab.headers.len() as u64;
            let is_done = |number| {
                let is_foreign = slab.foreign >> number & 1 == 1;
                rules.is_done(if is_foreign {
                    slab.freed_of(number)
                } else {
                    slab.freed
                })
            };
            let done = bits(slab.free).filter(|&number| is_done(number)).count() as u64;
            ready += done * size;
            pending += (u64::from(slab.free.count_ones()) - done) * size;
        }
        (ready, pending)
    }

    /// The beginnings of slabs without a slot in use, when those of `others` count as free as well:
    /// slots by slab.
    pub(crate) fn empty_with(&self, others: &HashMap<u64, u64>) -> Vec<CUdeviceptr> {
        let mut empty = Vec::new();
        for (id, slab) in self.slabs.iter().enumerate() {
            if let Some(slab) = slab {
                let others = others.get(&(id as u64)).copied().unwrap_or(0);
                if slab.free | others == slab.all {
                    empty.push(slab.block.offset());
                }
            }
        }
        empty
    }

    /// Whether a slot of a class is free, for any stream.
    pub(crate) fn has_free(&self, slot: Slot) -> bool {
        let lists = self.lists.iter().skip(slot.number()).step_by(CLASSES);
        lists.into_iter().any(|&newest| newest != END)
    }

    /// Slots in use, and slabs.
    pub(crate) fn count(&self) -> (u64, u64) {
        self.count
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
