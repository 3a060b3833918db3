use super::super::limits::{AllocationUnits, MultiprocessorLimits};
use super::*;

/// A multiprocessor of compute capability 9.0.
const LIMITS: MultiprocessorLimits = MultiprocessorLimits {
    multiprocessors: 132,
    warp_size: 32,
    max_threads: 2048,
    max_blocks: 32,
    registers: 64 << 10,
    registers_per_block: 64 << 10,
    shared: 228 << 10,
    shared_reserved: 1 << 10,
    shared_per_block: 227 << 10,
    units: AllocationUnits::of(9, 0),
};

const DEMAND: BlockDemand = BlockDemand {
    threads: 256,
    max_threads: 1024,
    registers: 32,
    static_shared: 0,
    dynamic_shared: 0,
    max_dynamic_shared: 48 << 10,
};

fn limits(demand: BlockDemand) -> (u32, Vec<Limit>) {
    let counted = LIMITS.blocks(demand);
    (counted.least(), counted.limits().collect())
}

// The figures are those of NVIDIA's occupancy calculator. Without it a caller would be told to save
// what is not scarce.
#[test]
fn the_scarce_resource_is_named() {
    let with = |change: fn(&mut BlockDemand)| {
        let mut demand = DEMAND;
        change(&mut demand);
        limits(demand)
    };
    // 2048 threads of 32 registers take exactly all.
    assert_eq!(limits(DEMAND), (8, vec![Limit::Warps, Limit::Registers]));
    assert_eq!(with(|d| d.registers = 24), (8, vec![Limit::Warps]));
    assert_eq!(with(|d| d.registers = 33), (6, vec![Limit::Registers]));
    assert_eq!(with(|d| d.registers = 255), (1, vec![Limit::Registers]));
    assert_eq!(
        with(|d| (d.threads, d.registers) = (32, 16)),
        (32, vec![Limit::Blocks])
    );
    assert_eq!(
        with(|d| d.dynamic_shared = 40 << 10),
        (5, vec![Limit::SharedMemory])
    );
    assert_eq!(with(|d| d.threads = 1025), (0, vec![Limit::BlockSize]));
    assert_eq!(
        with(|d| d.dynamic_shared = (48 << 10) + 1),
        (0, vec![Limit::SharedMemory])
    );
    // The block would have more registers than there are.
    assert_eq!(
        with(|d| (d.threads, d.registers) = (1024, 128)),
        (0, vec![Limit::Registers])
    );
}

// Without it the warps of three schedulers could be promised the registers of the fourth.
#[test]
fn registers_are_given_out_by_schedulers() {
    let demand = BlockDemand {
        threads: 96,
        registers: 168,
        ..DEMAND
    };
    // 16384 / (168 * 32) = 3 warps on each of four schedulers: 12 warps are 4 blocks of three.
    assert_eq!(limits(demand), (4, vec![Limit::Registers]));
}

// Without it figures that an old driver does not tell would forbid every block, and sums of what no
// device has could pass for small ones.
#[test]
fn what_is_not_told_is_no_limit_and_nothing_overflows() {
    let untold = MultiprocessorLimits {
        max_blocks: 0,
        registers: 0,
        registers_per_block: 0,
        shared: 0,
        shared_reserved: 0,
        shared_per_block: 0,
        ..LIMITS
    };
    assert_eq!(untold.blocks(DEMAND).least(), 8);
    let huge = BlockDemand {
        threads: u32::MAX,
        max_threads: u32::MAX,
        registers: u32::MAX >> 6,
        static_shared: u32::MAX,
        dynamic_shared: u32::MAX,
        max_dynamic_shared: u32::MAX,
    };
    assert_eq!(LIMITS.blocks(huge).least(), 0);
}
