//! Any steps on a list of least recent use, against a vector: no node is lost or listed
//! twice, and the right one goes.
#![no_main]

#[path = "../../core/tests/properties/lru/replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;
use replay::replay;

fuzz_target!(|bytes: &[u8]| {
    let Some((&nodes, bytes)) = bytes.split_first() else {
        return;
    };
    replay(usize::from(nodes % 40), bytes.as_chunks().0.iter().copied());
});
