//! Any call of the driver may fail: the error is told, what is tried again works, and nothing is lost.

use std::collections::BTreeMap;
use std::process::Command;

use cupola_capi::{
    CupolaStatus, PoolId, cupola_allocate, cupola_free, cupola_mem_info, cupola_release_stream,
    cupola_set_limit, cupola_torch_end_allocate_to_pool, cupola_torch_release_pool, cupola_trim,
    cupola_usage,
};
use tempfile::TempDir;

use crate::framework::{ALONE, Framework, RawStream, free_on, last_error, use_on, with_driver};
use crate::graphs::begin;

/// Every call of so many of a function fails in a run of its own.
const CALLS: u32 = 3;

/// So often something is tried that one call may fail of.
const TRIES: usize = 4;

#[track_caller]
fn again<T>(mut work: impl FnMut() -> Option<T>) -> T {
    let done = (0..TRIES).find_map(|_| work());
    done.unwrap_or_else(|| panic!("{}", last_error()))
}

#[track_caller]
fn done(mut work: impl FnMut() -> CupolaStatus) {
    again(|| (work() == CupolaStatus::CupolaOk).then_some(()));
}

fn allocate_on(bytes: usize, stream: RawStream) -> *mut std::ffi::c_void {
    again(|| {
        // SAFETY: the streams are alive until they are released.
        let block = unsafe { cupola_capi::cupola_allocate_on(0, bytes, stream.void()) };
        (!block.is_null()).then_some(block)
    })
}

/// Everything that the library asks of the driver.
fn scenario() {
    const MIB: usize = 1 << 20;
    let framework = Framework::start();
    let (one, two) = (framework.stream(), framework.stream());
    done(|| cupola_set_limit(0, 16 << 20));
    let small = allocate_on(100, one);
    let large = allocate_on(3 * MIB, one);
    let others = allocate_on(3 * MIB, two);
    done(|| use_on(large, two));
    for (block, stream) in [(small, one), (large, one), (others, two)] {
        done(|| free_on(block, stream));
    }
    // What one stream has freed is taken for another one.
    let all = allocate_on(15 * MIB, one);
    done(|| free_on(all, one));
    let all = allocate_on(15 * MIB, two);
    done(|| free_on(all, two));
    // A thread without a context.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let any = again(|| {
                let block = cupola_allocate(0, MIB);
                (!block.is_null()).then_some(block)
            });
            done(|| cupola_free(any));
            done(|| cupola_trim(0));
        });
    });
    let id = PoolId {
        first: 1,
        second: 2,
    };
    begin(id, one);
    let graphs = allocate_on(3 * MIB, one);
    done(|| use_on(graphs, two));
    cupola_torch_end_allocate_to_pool(0, id);
    done(|| free_on(graphs, one));
    cupola_torch_release_pool(0, id);
    // SAFETY: null is not written to.
    done(|| unsafe { cupola_mem_info(0, std::ptr::null_mut(), std::ptr::null_mut()) });
    // SAFETY: the stream is alive.
    done(|| unsafe { cupola_release_stream(0, two.void()) });
    for _ in 0..100 {
        done(|| cupola_trim(0));
        let mut usage = Default::default();
        // SAFETY: the place can be written.
        done(|| unsafe { cupola_usage(0, &raw mut usage) });
        assert_eq!((usage.live, usage.blocks), (0, 0), "{usage:?}");
        if usage.mapped == 0 {
            return;
        }
        std::thread::yield_now();
    }
    panic!("memory stays mapped: {}", last_error());
}

/// Runs the scenario in a process of its own. Its log.
fn run(fault: &str) -> String {
    let folder = TempDir::new().expect("a folder");
    let (report, log) = (folder.path().join("report"), folder.path().join("log"));
    let mut command = Command::new(std::env::current_exe().expect("this program's path"));
    with_driver(&mut command, &report);
    let name = "faults::a_failed_driver_call_is_told_and_loses_nothing";
    let output = command
        .args(["--exact", "--nocapture", name])
        .env(ALONE, name)
        .env("CUPOLA_SIM_LOG", &log)
        .env("CUPOLA_SIM_FAULTS", fault)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{fault}: {text}");
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    let is_leak = |line: &str| line.starts_with("leak: ");
    assert!(report.lines().all(is_leak), "{fault}: {report}");
    std::fs::read_to_string(&log).expect("a log")
}

// Without it a driver that fails could lose a caller's block, leave a lock or a count behind, or end the
// process.
#[test]
fn a_failed_driver_call_is_told_and_loses_nothing() {
    if std::env::var_os(ALONE).is_some() {
        return scenario();
    }
    if std::env::var_os("CUPOLA_TEST_DEVICE").is_some() {
        eprintln!("SKIPPED: the calls of this driver do not fail when they are told to");
        return;
    }
    let mut calls = BTreeMap::<String, u32>::new();
    for line in run("").lines() {
        let call = line.split_whitespace().find(|word| word.starts_with("cu"));
        if let Some((function, _)) = call.and_then(|call| call.split_once('(')) {
            *calls.entry(function.to_owned()).or_default() += 1;
        }
    }
    // Without these no driver is loaded: the process has none, and is told so.
    calls.retain(|function, _| {
        !["cuGetProcAddress", "cuDriverGetVersion", "cuGetErrorString"]
            .iter()
            .any(|name| function.starts_with(name))
    });
    for asked in [
        "cuCtxGetCurrent",
        "cuStreamGetId",
        "cuCtxSynchronize",
        "cuCtxPushCurrent_v2",
    ] {
        assert!(calls.contains_key(asked), "{asked}: {calls:?}");
    }
    let mut runs = 0;
    for (function, count) in &calls {
        for call in 1..=CALLS.min(*count) {
            run(&format!("{function}:{call}=CUDA_ERROR_OUT_OF_MEMORY"));
            runs += 1;
        }
    }
    println!("{runs} runs of {} functions", calls.len());
}
