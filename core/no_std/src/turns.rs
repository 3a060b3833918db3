//! An owner's account of turns.

use cupola_core::{Stage, Turn, Turns, TurnsError};

use crate::{length, message};

fn pass(turns: &mut Turns<3>, turn: Turn) -> Result<Stage, TurnsError> {
    turns.advance(turn)?;
    turns.advance(turn)?;
    turns.advance(turn)
}

/// Uses an account of turns.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_turns(rounds: u32) -> usize {
    let mut turns = Turns::<3>::new();
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
