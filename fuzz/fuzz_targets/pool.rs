//! Any history of a memory pool on the software device: live blocks never overlap and keep what
//! is written to them, and the pool never takes more than its limit.
#![no_main]

#[path = "../../managers/tests/histories/replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [kind, pages, steps @ ..] = bytes else {
        return;
    };
    replay::replay(*kind, *pages, steps.as_chunks().0.iter().copied());
});
