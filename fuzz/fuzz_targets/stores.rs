//! Any steps on stores of several sizes, against a map of what they should hold: no value
//! is lost or handed out twice, no stale handle is accepted, nothing is refused while
//! there is room.
#![no_main]

#[path = "../../core/tests/properties/boxes.rs"]
mod boxes;
#[path = "../../core/tests/properties/stores/replay.rs"]
mod replay;

use boxes::Boxes;
use cupola_core::{FixedSlots, SlotPool, StorePolicy, tag};
use libfuzzer_sys::fuzz_target;
use replay::{Step, replay};

type Fixed<const N: usize> = FixedSlots<u32, N, tag::Slot, StorePolicy<u8>>;
type Pool<const CHUNKS: usize> = SlotPool<u32, Boxes, tag::Slot, CHUNKS, StorePolicy<u8>>;

fn run(store: u8, steps: Vec<Step>) {
    // One slot, less than a group, exactly one, a last group of one; one that grows to its
    // end, and one whose source runs dry before that.
    match store % 6 {
        0 => replay(&Fixed::<1>::new(), 1, steps),
        1 => replay(&Fixed::<7>::new(), 7, steps),
        2 => replay(&Fixed::<64>::new(), 64, steps),
        3 => replay(&Fixed::<65>::new(), 65, steps),
        4 => replay(&Pool::<2>::new(Boxes::new(2)), 128, steps),
        _ => replay(&Pool::<4>::new(Boxes::new(1)), 64, steps),
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
        .map(|&[kind, how, high, low]| Step::new(kind, how, u16::from_be_bytes([high, low])))
        .collect();
    run(store, steps);
});
