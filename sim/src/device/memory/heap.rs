//! The heap that kernels allocate from with `malloc`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, RwLock};

use crate::device::memory::block::Block;
use crate::device::sync::{read, write};
use crate::exec::{BadFree, MemRange};

/// What `malloc` gives begins at multiples of this.
const ALIGN: u64 = 16;

/// A context's heap. Its bytes stay where they are as long as it lives, so that a kernel
/// which uses them after they were freed harms nothing but them.
#[derive(Debug)]
pub(in crate::device) struct Heap {
    block: Arc<Block>,
    state: RwLock<State>,
}

/// Offsets and lengths in the block.
#[derive(Debug, Default)]
struct State {
    /// What kernels have: the bytes that they asked for.
    live: BTreeMap<u64, u64>,
    /// What is free, in one piece wherever two would touch.
    free: BTreeMap<u64, u64>,
    /// The same as length and offset, to find the smallest that fits.
    sizes: BTreeSet<(u64, u64)>,
    /// What was freed, until something begins there again.
    freed: BTreeMap<u64, u64>,
}

/// What is at an address of a heap, by first address and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Around {
    /// In an allocation.
    Inside { base: u64, len: u64 },
    /// In what was freed.
    Freed { base: u64 },
    /// Behind an allocation.
    After { base: u64, len: u64 },
    /// Nothing is before it.
    Nothing,
}

impl Heap {
    pub(super) fn new(block: Arc<Block>) -> Self {
        let mut state = State::default();
        state.insert_free(0, block.len);
        Self {
            block,
            state: RwLock::new(state),
        }
    }

    /// Bytes of device memory that it takes.
    pub(in crate::device) fn bytes(&self) -> u64 {
        self.block.charge
    }

    pub(in crate::device) fn holds(&self, address: u64) -> bool {
        self.block.holds(address, 1)
    }

    /// The smallest free piece that fits, the first one of several. No bytes take a piece
    /// too, as on an H200; no access to it is allowed.
    pub(in crate::device) fn allocate(&self, bytes: u64) -> Option<u64> {
        let taken = bytes.max(1).checked_next_multiple_of(ALIGN)?;
        let mut state = write(&self.state);
        let (len, at) = *state.sizes.range((taken, 0)..).next()?;
        state.remove_free(at, len);
        if len > taken {
            state.insert_free(at + taken, len - taken);
        }
        state.live.insert(at, bytes);
        state.freed.remove(&at);
        Some(self.block.address + at)
    }

    /// # Errors
    /// No allocation begins there.
    pub(in crate::device) fn release(&self, address: u64) -> Result<(), BadFree> {
        let mut state = write(&self.state);
        let at = address.wrapping_sub(self.block.address);
        let Some(bytes) = state.live.remove(&at) else {
            return Err(match state.freed.contains_key(&at) {
                true => BadFree::Freed,
                false => BadFree::NotAllocated,
            });
        };
        state.freed.insert(at, bytes);
        let (mut start, mut len) = (at, bytes.max(1).next_multiple_of(ALIGN));
        if let Some((&before, &size)) = state.free.range(..at).next_back()
            && before + size == at
        {
            state.remove_free(before, size);
            (start, len) = (before, size + len);
        }
        if let Some(&size) = state.free.get(&(start + len)) {
            state.remove_free(start + len, size);
            len += size;
        }
        state.insert_free(start, len);
        Ok(())
    }

    /// The allocation that an address is in, for kernels.
    pub(in crate::device) fn range(&self, address: u64) -> Option<MemRange> {
        match self.around(address) {
            Around::Inside { base, len } => Some(MemRange {
                base,
                len,
                host: self.block.host(base),
                writable: true,
            }),
            _ => None,
        }
    }

    /// What is at an address of the heap.
    pub(in crate::device) fn around(&self, address: u64) -> Around {
        let first = self.block.address;
        let at = address.wrapping_sub(first);
        let state = read(&self.state);
        let live = state.live.range(..=at).next_back();
        if let Some((&start, &len)) = live
            && at - start < len
        {
            let base = first + start;
            return Around::Inside { base, len };
        }
        if let Some((&start, &len)) = state.freed.range(..=at).next_back()
            && at - start < len
            && live.is_none_or(|(&last, _)| last < start)
        {
            return Around::Freed {
                base: first + start,
            };
        }
        live.map_or(Around::Nothing, |(&start, &len)| Around::After {
            base: first + start,
            len,
        })
    }
}

impl State {
    fn insert_free(&mut self, at: u64, len: u64) {
        self.free.insert(at, len);
        self.sizes.insert((len, at));
    }

    fn remove_free(&mut self, at: u64, len: u64) {
        self.free.remove(&at);
        self.sizes.remove(&(len, at));
    }
}
