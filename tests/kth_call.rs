//! Fails the k-th call of every driver function that a whole life of this crate's objects
//! makes, for every k, with each of six codes, on the software device.
//!
//! Without it a path that only runs when something fails could leak, free twice, hang,
//! panic, or report success. The table of what came of each case is printed.
#![cfg(feature = "sim")]

mod common;
mod sweep;

use std::collections::BTreeMap;
use std::fmt::Write;

use cupola_sim::fault::FaultTable;
use cupola_sim::{Machine, Usage};
use cupola_sys::driver::{CUresult, SYMBOLS, id};
use cupola_sys::{SymbolId, Version};

use sweep::{Watchdog, may_absorb, may_remain, scenario};

/// Out of memory, shut down, not ready, illegal address, launch failure, unknown.
const CODES: [u32; 6] = [2, 4, 600, 700, 719, 999];

fn name(function: SymbolId) -> &'static str {
    SYMBOLS[usize::from(function.0)].as_str()
}

/// The functions that a life without faults calls, each with its number of calls.
fn count(machine: &Machine) -> BTreeMap<SymbolId, u64> {
    let table = FaultTable::new(machine.driver());
    let outcome = scenario(table.driver());
    assert!(outcome.is_clean(), "without a fault: {outcome:?}");
    assert_eq!(machine.leaks(), None);
    table.counts()
}

/// One case: a life with the fault, then one without on the same machine.
fn case(version: Version, function: SymbolId, k: u64, code: CUresult) -> &'static str {
    let machine = Machine::builder()
        .driver_version(version)
        .worker_threads(1)
        .build();
    let table = FaultTable::new(machine.driver());
    let driver = table.driver();
    table.fail(function, k, code);
    let outcome = scenario(driver.clone());
    let what = format!("{} call {k} code {}", name(function), code.0);
    assert!(table.count(function) >= k, "{what}: the call was not made");
    if let Some(problem) = outcome.problem(code) {
        panic!("{what}: {problem}: {outcome:?}");
    }
    let left = machine.usage();
    let destroyer = may_remain(function);
    match destroyer {
        None => assert!(left.is_empty(), "{what} leaked: {left}; {outcome:?}"),
        Some(remains) => {
            assert!(remains(&left), "{what} leaked: {left}; {outcome:?}");
            // A driver that has shut down has taken everything back itself.
            let abandoned = u64::from(code != CUresult::CUDA_ERROR_DEINITIALIZED);
            assert_eq!(outcome.live.abandoned, abandoned, "{what}: {outcome:?}");
        }
    }
    table.reset();
    let again = scenario(driver);
    assert!(again.is_clean(), "{what}: the next attempt: {again:?}");
    let after = machine.usage();
    assert_eq!(after, left, "{what}: the next attempt left something");
    outcome.word(destroyer.is_some())
}

fn sweep(version: Version, functions: impl Fn(SymbolId) -> bool) {
    let watchdog = Watchdog::start();
    let machine = Machine::builder()
        .driver_version(version)
        .worker_threads(1)
        .build();
    let counts = count(&machine);
    let mut table = String::new();
    let mut untold = String::new();
    let mut cases = 0;
    for (&function, &calls) in counts.iter().filter(|&(&function, _)| functions(function)) {
        // Asked when the driver is made, before there is anything to fail.
        if function == id::cuDriverGetVersion {
            continue;
        }
        for k in 1..=calls {
            write!(table, "{:32} {k:3} of {calls:3} ", name(function)).unwrap();
            for code in CODES {
                watchdog.enter(&format!("{} call {k} code {code}", name(function)));
                let word = case(version, function, k, CUresult(code));
                write!(table, " {code}:{word}").unwrap();
                if word == "absorbed" && !may_absorb(function, CUresult(code)) {
                    writeln!(untold, "{} call {k} code {code}", name(function)).unwrap();
                }
                cases += 1;
            }
            table.push('\n');
        }
    }
    println!(
        "CUDA {version}: {cases} cases of {} functions\n{table}",
        counts.len()
    );
    assert!(cases > 0);
    assert!(untold.is_empty(), "nobody was told of:\n{untold}");
}

#[test]
fn every_call_of_a_whole_life_may_fail() {
    sweep(Version::new(13, 0), |_| true);
}

// An older driver takes other paths: single allocations, the older UUID.
#[test]
fn every_call_that_only_older_drivers_get_may_fail() {
    sweep(Version::new(11, 1), |function| {
        [
            id::cuMemAlloc_v2,
            id::cuMemFree_v2,
            id::cuDeviceGetUuid,
            id::cuDeviceGetAttribute,
            id::cuStreamSynchronize,
        ]
        .contains(&function)
    });
}

// Without it a check that finds nothing could be a check that looks at nothing.
#[test]
fn a_real_leak_is_seen() {
    let machine = Machine::builder().build();
    let execution = cupola_managers::ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let buffer = context.buffers().pinned::<u8>(1).unwrap();
    assert_eq!(machine.usage().host_allocations, 1);
    assert!(machine.leaks().is_some());
    drop((buffer, context, execution));
    assert_eq!(machine.usage(), Usage::default());
    assert_eq!(machine.leaks(), None);
}
