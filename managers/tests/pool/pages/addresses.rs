//! Addresses that the driver does not have.

use crate::*;
use cupola_sys::driver::CUresult;

const CODE: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// What the first reservation asks for: eight times the memory of the device.
const FIRST: u64 = 8 * (16 << 30);

/// Bytes of the ranges that a pool has reserved, oldest first.
fn reserved(pool: &MemoryPool) -> Vec<u64> {
    let layout = pool.layout().unwrap();
    layout.regions.iter().map(|region| region.bytes).collect()
}

// Without it a process with little address space left, as under a limit of it, would get no memory
// at all though the device has plenty.
#[test]
fn where_addresses_are_scarce_fewer_are_reserved() {
    for refused in [1, 3, 12] {
        let bench = bench_on(Backing::Pages);
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        bench.faults.reset();
        for k in 1..=refused {
            bench.faults.fail(id::cuMemAddressReserve, k, CODE);
        }
        let block = pool.allocate_raw(3 * PAGE, 256, &stream).unwrap();
        assert_eq!(bench.faults.count(id::cuMemAddressReserve), refused + 1);
        assert_eq!(reserved(&pool), [FIRST >> refused]);
        free(block, &stream);
        drop((pool, stream));
        bench.finish();
    }
}

// Without it a pool could stop at the end of its first range.
#[test]
fn what_a_small_range_has_no_room_for_gets_another() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
    bench.faults.reset();
    // All but the last: 16 MiB are left.
    for k in 1..=13 {
        bench.faults.fail(id::cuMemAddressReserve, k, CODE);
    }
    let first = pool.allocate_raw(5 * PAGE, 256, &stream).unwrap();
    assert_eq!(reserved(&pool), [8 * PAGE]);
    bench.faults.reset();
    bench.faults.fail_from(id::cuMemAddressReserve, 1, CODE);
    let refused = pool.allocate_raw(6 * PAGE, 256, &stream).unwrap_err();
    assert_eq!(refused.status(), Some(CODE));
    bench.faults.reset();
    let second = pool.allocate_raw(6 * PAGE, 256, &stream).unwrap();
    assert_eq!(bench.faults.count(id::cuMemAddressReserve), 1);
    let mut all = reserved(&pool);
    all.sort_unstable();
    assert_eq!(all, [8 * PAGE, FIRST]);
    for block in [first, second] {
        free(block, &stream);
    }
    drop((pool, stream));
    bench.finish();
}
