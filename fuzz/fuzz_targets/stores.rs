//! Any steps on stores of several sizes, against a map of what they should hold: no value
//! is lost or handed out twice, no stale handle is accepted, nothing is refused while
//! there is room.
#![no_main]

#[path = "../../core/tests/properties/boxes.rs"]
mod boxes;
#[path = "../../core/tests/properties/stores/replay.rs"]
mod replay;

use boxes::Boxes;
use cupola_core::{FixedSlots, Hot, Late, Reuse, SlotPool, With, tag};
use libfuzzer_sys::fuzz_target;
use replay::{Step, replay};

type Fixed<const N: usize, R> = FixedSlots<u32, N, tag::Slot, With<R, u8>>;
type Pool<const CHUNKS: usize, R> = SlotPool<u32, Boxes, tag::Slot, CHUNKS, With<R, u8>>;

fn run<R: Reuse>(store: u8, steps: Vec<Step>) {
    // One slot, less than a group, exactly one, a last group of one; one that grows to its
    // end, and one whose source runs dry before that.
    match store % 6 {
        0 => replay(&Fixed::<1, R>::new(), 1, steps),
        1 => replay(&Fixed::<7, R>::new(), 7, steps),
        2 => replay(&Fixed::<64, R>::new(), 64, steps),
        3 => replay(&Fixed::<65, R>::new(), 65, steps),
        4 => replay(&Pool::<2, R>::new(Boxes::new(2)), 128, steps),
        _ => replay(&Pool::<4, R>::new(Boxes::new(1)), 64, steps),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&store, bytes)) = bytes.split_first() else {
        return;
    };
    let steps = bytes
        .as_chunks()
        .0
        .iter()
        .map(|&[kind, hint, high, low]| Step::new(kind, hint, u16::from_be_bytes([high, low])))
        .collect();
    if store < 128 {
        run::<Hot>(store, steps);
    } else {
        run::<Late>(store, steps);
    }
});
