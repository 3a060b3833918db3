//! A ring of buffers in stages.

use core::num::NonZeroUsize;

use cupola_core::{Stage, StageRing, StageRingError, Turn};

use crate::{length, message};

fn pass(turns: &mut StageRing, turn: Turn) -> Result<Stage, StageRingError> {
    turns.advance(turn)?;
    turns.advance(turn)?;
    turns.advance(turn)
}

/// Uses a stage ring.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_stage_ring(rounds: u32, depth: usize) -> usize {
    let Some(depth) = NonZeroUsize::new(depth) else {
        return 0;
    };
    let mut turns = StageRing::new(depth);
    let mut sum = 0;
    for _ in 0..rounds {
        let (Some(first), Some(second)) = (turns.begin(), turns.begin()) else {
            turns.reset();
            continue;
        };
        sum += turns.buffer(second);
        for turn in [second, first, first] {
            sum += match pass(&mut turns, turn) {
                Ok(stage) => length(format_args!("{stage:?}")),
                Err(refusal) => message(&refusal),
            };
        }
        sum += turns
            .oldest(Stage::Uploading)
            .map_or(0, |turn| turns.buffer(turn));
    }
    sum + turns.in_flight()
}
