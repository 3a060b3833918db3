//! How many blocks each resource of a multiprocessor allows, counted without the driver.

use super::limits::MultiprocessorLimits;

/// The reason why a multiprocessor holds no more blocks, or is not full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// All warps that the multiprocessor has are taken: the occupancy is full, or would be with blocks
    /// of whole warps that divide their number.
    Warps,
    /// It holds no more blocks, of whatever size.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// The kernel cannot have so many threads in a block: none is held.
    BlockSize,
    /// The driver's answer is not what the device's figures give, for a reason that it does not tell.
    Driver,
    /// The grid is smaller than one wave: it has fewer blocks than the device could hold.
    Grid,
}

/// What one block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockDemand {
    pub(super) threads: u32,
    /// The most threads that a block of the kernel may have.
    pub(super) max_threads: u32,
    /// Of a thread.
    pub(super) registers: u32,
    /// The kernel's own, in bytes.
    pub(super) static_shared: u32,
    pub(super) dynamic_shared: u32,
    /// The most dynamic shared memory that a launch of the kernel may ask for now.
    pub(super) max_dynamic_shared: u32,
}

/// How many blocks each resource allows by itself; `u32::MAX` where it is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlocksByResource {
    pub(super) block_size: u32,
    pub(super) warps: u32,
    pub(super) blocks: u32,
    pub(super) registers: u32,
    pub(super) shared: u32,
}

impl BlocksByResource {
    /// Blocks of which a multiprocessor has all that they take.
    pub(super) fn least(&self) -> u32 {
        let counts = self.counts().map(|(_, blocks)| blocks);
        counts.into_iter().fold(u32::MAX, u32::min)
    }

    /// Which resources allow no more than the least.
    pub(super) fn limits(self) -> impl Iterator<Item = Limit> {
        let least = self.least();
        let counts = self.counts().into_iter();
        counts.filter_map(move |(limit, blocks)| (blocks == least).then_some(limit))
    }

    fn counts(&self) -> [(Limit, u32); 5] {
        [
            (Limit::BlockSize, self.block_size),
            (Limit::Warps, self.warps),
            (Limit::Blocks, self.blocks),
            (Limit::Registers, self.registers),
            (Limit::SharedMemory, self.shared),
        ]
    }
}

impl MultiprocessorLimits {
    pub(super) fn blocks(&self, demand: BlockDemand) -> BlocksByResource {
        let warps = self.warps(demand.threads);
        let none_if = |refused| if refused { 0 } else { u32::MAX };
        BlocksByResource {
            block_size: none_if(demand.threads == 0 || demand.threads > demand.max_threads),
            warps: quotient(self.max_warps(), warps),
            blocks: known(self.max_blocks),
            registers: self.blocks_by_registers(warps, demand.registers),
            shared: self.blocks_by_shared(demand),
        }
    }

    /// A warp's registers are given out in units, and by the scheduler that it is put on: what is left
    /// of one scheduler's part does not help the others.
    fn blocks_by_registers(&self, warps: u32, registers: u32) -> u32 {
        if self.registers == 0 || registers == 0 {
            return u32::MAX;
        }
        let schedulers = self.units.schedulers;
        let of_warp = registers
            .saturating_mul(self.warp_size)
            .next_multiple_of(self.units.registers);
        let of_block = of_warp.saturating_mul(warps.next_multiple_of(schedulers));
        if self.registers_per_block > 0 && of_block > self.registers_per_block {
            return 0;
        }
        let on_scheduler = self.registers / schedulers / of_warp;
        quotient(on_scheduler * schedulers, warps)
    }

    fn blocks_by_shared(&self, demand: BlockDemand) -> u32 {
        if demand.dynamic_shared > demand.max_dynamic_shared {
            return 0;
        }
        if self.shared == 0 {
            return u32::MAX;
        }
        let of_block = demand.static_shared.saturating_add(demand.dynamic_shared);
        if self.shared_per_block > 0 && of_block > self.shared_per_block {
            return 0;
        }
        let of_block = of_block.saturating_add(self.shared_reserved);
        // Rounding up overflows for what no device has.
        let rounded = of_block.checked_next_multiple_of(self.units.shared);
        rounded.map_or(0, |of_block| quotient(self.shared, of_block))
    }
}

/// A limit that the driver tells; 0 is one that it does not.
fn known(limit: u32) -> u32 {
    if limit == 0 { u32::MAX } else { limit }
}

/// How often `part` is in `all`; nothing is in it without limit.
fn quotient(all: u32, part: u32) -> u32 {
    all.checked_div(part).unwrap_or(u32::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests;
