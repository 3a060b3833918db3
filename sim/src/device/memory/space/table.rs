//! The blocks and host ranges of a space by address, and where the next block goes.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Weak};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::memory::block::{Block, HostRange};
use crate::device::memory::space::{FIRST, GRANULE, PER_DEVICE, Seat};
use crate::device::strict::Monitor;

/// What is live, and which addresses are not free yet.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) blocks: BTreeMap<u64, Arc<Block>>,
    /// Freed blocks that something may still hold, and heaps: their addresses are not free.
    pub(super) leaving: BTreeMap<u64, Weak<Block>>,
    /// Addresses of graphs' memory.
    pub(super) seats: BTreeMap<u64, Weak<Seat>>,
    pub(super) hosts: BTreeMap<u64, Arc<HostRange>>,
    /// Freed in stream order: base and length, oldest first.
    pub(super) gone: VecDeque<(u64, u64)>,
    /// For each device, where the next block goes.
    pub(super) cursors: Vec<u64>,
}

impl Table {
    pub(super) fn block(&self, address: u64) -> Option<&Arc<Block>> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        block.holds(address, 1).then_some(block)
    }

    /// Whether a call may name the range.
    pub(super) fn names(&self, address: u64, len: u64) -> bool {
        let live = self
            .block(address)
            .is_some_and(|block| block.holds(address, len));
        let host = || {
            let range = self.hosts.range(..=address).next_back();
            range.is_some_and(|(_, range)| range.holds(address, len))
        };
        let gone = || {
            let inside = |(base, size): &(u64, u64)| address.wrapping_sub(*base) < *size;
            self.gone.iter().any(inside)
        };
        let seat = || {
            let seat = self.seats.range(..=address).next_back();
            let seat = seat.and_then(|(_, seat)| seat.upgrade());
            seat.is_some_and(|seat| seat.holds(address, len))
        };
        live || host() || gone() || seat()
    }

    /// Gives a block its address, a multiple of `align`.
    pub(super) fn add(
        &mut self,
        mut block: Block,
        align: u64,
        strict: &Monitor,
    ) -> Reply<Arc<Block>> {
        self.leaving.retain(|_, block| block.strong_count() > 0);
        let address = self.place(block.device, block.extent, align);
        block.address = address.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        let block = Arc::new(block);
        strict.there(block.address, block.len);
        self.blocks.insert(block.address, Arc::clone(&block));
        Ok(block)
    }

    /// An address for `extent` bytes and a gap after them, a multiple of `align` and of
    /// the granule.
    pub(super) fn place(&mut self, device: usize, extent: u64, align: u64) -> Option<u64> {
        let align = align.max(GRANULE);
        let start = FIRST + PER_DEVICE * device as u64;
        let end = start + PER_DEVICE;
        let need = extent.checked_add(GRANULE)?;
        while self.cursors.len() <= device {
            self.cursors
                .push(FIRST + PER_DEVICE * self.cursors.len() as u64);
        }
        let mut at = self.cursors[device];
        let mut wrapped = false;
        loop {
            at = at.checked_next_multiple_of(align)?;
            if at.checked_add(need).is_none_or(|last| last > end) {
                if wrapped {
                    return None;
                }
                wrapped = true;
                at = start;
                continue;
            }
            // The last blocks that begin before the end of the wanted range.
            let range = (Bound::Unbounded, Bound::Excluded(at + need));
            let live = self.blocks.range(range).next_back();
            let live = live.map(|(base, block)| (*base, block.extent));
            let leaving = self.leaving.range(range).next_back();
            let leaving = leaving.and_then(|(base, block)| Some((*base, block.upgrade()?.extent)));
            let seat = self.seats.range(range).next_back();
            let seat = seat.and_then(|(base, seat)| Some((*base, seat.upgrade()?.extent())));
            let ends = [live, leaving, seat].into_iter().flatten();
            match ends.map(|(base, extent)| base + extent + GRANULE).max() {
                Some(end) if end > at => at = end,
                _ => break,
            }
        }
        self.cursors[device] = at + need;
        Some(at)
    }
}
