//! Any history of a heap against a list of intervals: no blocks overlap, nothing is refused
//! that fits, no stale name is accepted, every count is exact.
#![no_main]

#[path = "../../core/tests/properties/tlsf/oracle/mod.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use oracle::replay;

fuzz_target!(|bytes: &[u8]| {
    let [kind, nodes, base, steps @ ..] = bytes else {
        return;
    };
    let steps = steps.as_chunks().0.iter().copied();
    // The usual search, in bytes and in granules; one that compares everything; and those that
    // look at more for a lower rank, or at everything.
    match kind % 5 {
        0 => replay::<1, 2, 0>(*nodes, *base, steps),
        1 => replay::<16, 2, 0>(*nodes, *base, steps),
        2 => replay::<1, { usize::MAX }, 0>(*nodes, *base, steps),
        3 => replay::<16, 2, 3>(*nodes, *base, steps),
        _ => replay::<1, { usize::MAX }, { usize::MAX }>(*nodes, *base, steps),
    }
});
