//! What an allocator tells of blocks, by hand.

use cupola_sim::{Finding, FindingKind};
use cupola_sys::driver::hooks::{MemoryHooks, MemoryRegion};

use crate::support::TestBench;

fn region(bench: &TestBench, address: u64) -> MemoryRegion {
    MemoryRegion {
        address,
        bytes: 256,
        context: bench.context,
        stream: std::ptr::null_mut(),
        file: std::ptr::null(),
        file_len: 0,
        name: std::ptr::null(),
        name_len: 0,
        line: 0,
    }
}

fn life(bench: &TestBench, hooks: &MemoryHooks, address: u64) -> Vec<FindingKind> {
    let region = region(bench, address);
    // SAFETY: the machine is there, and the region says what it must.
    unsafe {
        (hooks.region_register)(hooks.listener, &raw const region);
        (hooks.region_unregister)(hooks.listener, &raw const region);
    }
    let kinds = |finding: Finding| finding.kind;
    bench
        .machine
        .take_findings()
        .into_iter()
        .map(kinds)
        .collect()
}

/// Without it an allocator over page-locked memory, whose blocks nothing follows, would be told
/// that it frees what was never allocated.
#[test]
fn blocks_of_page_locked_memory_end_as_they_begin() {
    let bench = TestBench::new();
    let hooks = bench.driver.memory_hooks().expect("a driver that listens");
    let pinned = bench.pinned(4096);
    let device = bench.alloc(4096);
    assert_eq!(
        life(&bench, &hooks, pinned.as_ptr().addr() as u64 + 256),
        []
    );
    assert_eq!(life(&bench, &hooks, device + 256), []);
    // What never began is still said.
    let never = region(&bench, device + 512);
    // SAFETY: as in `life`.
    unsafe { (hooks.region_unregister)(hooks.listener, &raw const never) };
    let found = bench.machine.take_findings();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, FindingKind::InvalidFree);
    bench.free(device);
    bench.unpin(pinned);
    bench.finish();
}
