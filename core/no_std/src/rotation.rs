//! Buffers that go round.

use cupola_core::{
    BufferState, Buffered, ReadBuffer, Reading, Rotation, RotationCounts, WriteBuffer, Writing,
};

use crate::length;

static FRAMES: Buffered<[u64; 4], 3> = Buffered::new([[0; 4]; 3]);
static TURNS: Rotation<8> = Rotation::new();

/// Uses a rotation with values.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_buffered(number: u64) -> u64 {
    let Some(mut next): Option<WriteBuffer<'_, [u64; 4], 3>> = FRAMES.begin_over() else {
        return 0;
    };
    *next = [number; 4];
    let text = length(format_args!("{next:?} {FRAMES:?}"));
    let newest = next.turn_over().unwrap_or(0);
    *next = [newest; 4];
    let last = next.publish();
    let mut sum = last + text as u64;
    if let Some(value) = FRAMES.begin() {
        value.cancel();
    }
    let shown: Option<ReadBuffer<'_, [u64; 4], 3>> = FRAMES.oldest();
    if let Some(mut shown) = shown {
        sum += shown[0] + shown.generation() + u64::from(shown.refresh());
        sum += length(format_args!("{shown:?}")) as u64 + shown.buffer() as u64;
    }
    sum + FRAMES.latest().map_or(0, |value| value[1])
}

/// Uses a rotation of numbers.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_rotation() -> u64 {
    let turn: Option<Writing<'_, 8>> = TURNS.begin_over();
    let generation = turn.map_or(0, Writing::publish);
    let turn: Option<Reading<'_, 8>> = TURNS.latest();
    let text = length(format_args!("{turn:?} {TURNS:?}"));
    let counts: RotationCounts = TURNS.counts();
    let fresh = TURNS
        .states()
        .iter()
        .filter(|&&state| state == BufferState::Fresh)
        .count();
    let newer = TURNS.newer_than(generation);
    generation + counts.skipped + (text + fresh) as u64 + u64::from(newer) + TURNS.published()
}
