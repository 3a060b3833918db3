//! What is not given back.

use cupola_sim::{FindingKind as Kind, Machine, Strict};

use crate::client::{expect, expect_memory, found, found_with};

// 32. Without it, memory that a context takes along would not be reported.
#[test]
fn memory_is_not_freed() {
    let finding = found(|client, bug| {
        let at = client.alloc(1000);
        if !bug {
            client.free(at);
        }
    });
    expect(&finding, Kind::Leak, "cuCtxDestroy_v2");
    expect_memory(&finding, 1000, "cuMemAlloc_v2", None);
}

// 33. Without it, page-locked memory that a context takes along would not be reported.
#[test]
fn page_locked_memory_is_not_freed() {
    let finding = found(|client, bug| {
        let memory = client.pinned(64);
        if !bug {
            // SAFETY: from `pinned`, and not used.
            unsafe { client.unpin(memory) };
        }
    });
    expect(&finding, Kind::Leak, "cuCtxDestroy_v2");
    expect_memory(&finding, 64, "cuMemHostAlloc", None);
}

// 34. Without it, streams and events that a context takes along would not be reported.
#[test]
fn a_stream_and_an_event_are_not_destroyed() {
    for event in [false, true] {
        let finding = found(|client, bug| {
            let (kept, made) = (client.stream(), client.event());
            if !bug || event {
                client.destroy(kept);
            }
            if !bug || !event {
                // SAFETY: no pointers.
                unsafe { client.driver.cuEventDestroy_v2(made) }.unwrap();
            }
        });
        expect(&finding, Kind::Leak, "cuCtxDestroy_v2");
        let made = finding.other.as_ref().unwrap().function;
        assert_eq!(
            made,
            if event {
                "cuEventCreate"
            } else {
                "cuStreamCreate"
            }
        );
    }
}

// 35. Without it, a context that lives until the end would hide what it holds: nothing
// destroys it.
#[test]
fn a_context_is_not_destroyed() {
    let finding = found(|client, bug| {
        let mut other = std::ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe {
            let driver = &client.driver;
            driver.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
            if !bug {
                driver.cuCtxDestroy_v2(other).unwrap();
            }
            driver.cuCtxSetCurrent(client.context).unwrap();
        }
    });
    assert_eq!(finding.kind, Kind::Leak);
    assert_eq!(finding.other.unwrap().function, "cuCtxCreate_v2");
}

// Without it, a test could not ask what is held before the end, or would find it twice.
#[test]
fn what_is_held_can_be_asked_for() {
    let machine = Machine::builder().build();
    let driver = machine.driver();
    let (mut context, mut at) = (std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
        driver.cuMemAlloc_v2(&raw mut at, 77).unwrap();
    }
    let made = |report: Vec<cupola_sim::Finding>| -> Vec<_> {
        let made = report.into_iter().map(|leak| leak.other.unwrap());
        made.map(|call| (call.function, call.number)).collect()
    };
    // The driver asks for its version first.
    let expected = [("cuMemAlloc_v2", 4), ("cuCtxCreate_v2", 3)];
    assert_eq!(made(machine.leak_report()), expected);
    assert_eq!(machine.findings(), [], "a question changes nothing");
    machine.report_leaks();
    assert_eq!(made(machine.take_findings()), expected);
    assert_eq!(machine.findings(), []);
    // SAFETY: no pointers.
    unsafe {
        driver.cuMemFree_v2(at).unwrap();
        driver.cuCtxDestroy_v2(context).unwrap();
    }
    assert_eq!(machine.leak_report(), []);
}

// Without it, the stack of an allocation could be missing when the program asked for it, or
// cost time when it did not.
#[test]
fn backtraces_are_kept_when_asked_for() {
    for asked in [false, true] {
        let options = Strict::CHEAP;
        let options = if asked {
            options | Strict::BACKTRACES
        } else {
            options
        };
        let finding = found_with(Machine::builder().strict(options), |client, bug| {
            let at = client.alloc(8);
            if !bug {
                client.free(at);
            }
        });
        let trace = finding.allocation.unwrap().allocated.backtrace;
        assert_eq!(trace.is_some_and(|trace| !trace.is_empty()), asked);
    }
}
