//! Any use of rotations of several sizes, against a list of fresh buffers: one holder a
//! buffer, publications in order, the newest never skipped, no count lost.
#![no_main]

#[path = "../../core/tests/properties/rotation/replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;
use replay::replay;

fuzz_target!(|bytes: &[u8]| {
    replay::<2>(bytes);
    replay::<3>(bytes);
    replay::<8>(bytes);
});
