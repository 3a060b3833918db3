//! What a pool asks of the driver spoils no capture: its thread is in relaxed mode meanwhile, in
//! which neither its own captures nor those of others forbid anything.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cupola_managers::pool::{Backing, DeviceLimit};
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUstreamCaptureMode as Mode, Driver};

use crate::*;

const RELAXED: Mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;
const LOCAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

const OF_PAGES: &[SymbolId] = &[
    id::cuMemAddressReserve,
    id::cuMemAddressFree,
    id::cuMemCreate,
    id::cuMemRelease,
    id::cuMemMap,
    id::cuMemUnmap,
    id::cuMemSetAccess,
    id::cuEventQuery,
];
const OF_CHUNKS: &[SymbolId] = &[id::cuMemAlloc_v2, id::cuMemFree_v2, id::cuEventQuery];

/// Sets this thread's mode; which it was.
fn exchange(driver: &Driver, mode: Mode) -> Mode {
    let mut mode = mode;
    // SAFETY: `mode` outlives the call.
    unsafe { driver.cuThreadExchangeStreamCaptureMode(&raw mut mode) }.unwrap();
    mode
}

/// Grows, takes from the other stream and the other pool, is used by a graph, shrinks, and ends.
fn live(bench: &TestBench, limit: u64) {
    let shared = DeviceLimit::new(limit);
    let config = || PoolConfig::limit(limit).within(&shared);
    let pools = [(); 2].map(|()| bench.context.memory_pool(config()).unwrap());
    let (one, two) = (bench.stream(), bench.stream());
    for pool in [&pools[0], &pools[1], &pools[0]] {
        let kept = pool.allocate_raw(300, 256, &one).unwrap();
        free(pool.allocate_raw(limit / 2, 256, &one).unwrap(), &one);
        free(pool.allocate_raw(limit / 2, 256, &two).unwrap(), &two);
        free(kept, &one);
    }
    pools[1].trim().unwrap();
    let memory = pools[0].graph_memory(&one).unwrap();
    free(pools[0].allocate_raw(limit / 4, 256, &one).unwrap(), &one);
    drop(memory);
    pools[0].set_limit(limit / 4).unwrap();
    pools[0].trim().unwrap();
}

// Without it an allocation beside a program's capture would end that capture.
#[test]
fn memory_comes_and_goes_in_relaxed_mode() {
    for (backing, limit, asked) in [
        (Backing::Pages, 8 * PAGE, OF_PAGES),
        (Backing::Chunks, 64 * PAGE, OF_CHUNKS),
    ] {
        let bench = bench_on(backing);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (told, driver) = (Arc::clone(&seen), bench.machine.driver());
        let watching = bench.faults.watch(move |function| {
            if asked.contains(&function) {
                let mode = exchange(&driver, RELAXED);
                exchange(&driver, mode);
                told.lock().unwrap().push((function, mode));
            }
        });
        assert!(watching);
        let driver = bench.machine.driver();
        let before = exchange(&driver, LOCAL);
        live(&bench, limit);
        // The program's own mode is as it was.
        assert_eq!(exchange(&driver, before), LOCAL);
        let seen = seen.lock().unwrap();
        let functions: BTreeSet<_> = seen.iter().map(|(function, _)| *function).collect();
        assert_eq!(functions, asked.iter().copied().collect());
        for (function, mode) in &*seen {
            let name = cupola_sys::driver::SYMBOLS[usize::from(function.0)].as_str();
            assert_eq!(*mode, RELAXED, "{name} on {backing}");
        }
        drop((seen, driver));
        bench.finish();
    }
}
