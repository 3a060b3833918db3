//! A stage ring against a list of turns and their stages.

use std::num::NonZeroUsize;

use cupola_core::{Stage, StageRing, StageRingError, Turn};
use quickcheck::quickcheck;

const STAGES: [Stage; 4] = [
    Stage::Uploading,
    Stage::Processing,
    Stage::Downloading,
    Stage::Free,
];

fn ring(depth: usize) -> StageRing {
    StageRing::new(NonZeroUsize::new(depth).unwrap())
}

quickcheck! {
    /// Without it a buffer could be in two turns at a time, or a turn overtake another.
    /// Each number is a step: 0 begins, 1 resets, others advance one of the last turns.
    fn a_stage_ring_behaves_like_a_list(depth: u8, steps: Vec<u8>) -> bool {
        let depth = usize::from(depth % 5) + 1;
        let mut taken = ring(depth);
        assert_eq!(taken.depth(), depth);
        // Every turn begun, with its position in STAGES.
        let mut turns: Vec<(Turn, usize)> = Vec::new();
        for step in steps {
            let under_way = turns.iter().filter(|(_, stage)| *stage < 3).count();
            match step {
                0..64 => match taken.begin() {
                    Some(turn) => {
                        assert!(under_way < depth);
                        assert_eq!(turn.number(), turns.len() as u64);
                        assert_eq!(taken.buffer(turn), turns.len() % depth);
                        turns.push((turn, 0));
                    }
                    None => assert_eq!(under_way, depth),
                },
                64 => {
                    taken.reset();
                    turns.iter_mut().for_each(|turn| turn.1 = 3);
                }
                _ => {
                    let back = usize::from(step) % (depth + 2);
                    let Some(at) = turns.len().checked_sub(1 + back) else { continue };
                    let (turn, stage) = turns[at];
                    let outcome = taken.advance(turn);
                    if stage == 3 {
                        assert_eq!(outcome, Err(StageRingError::Stale(turn)));
                    } else if turns[..at].iter().any(|before| before.1 == stage) {
                        assert_eq!(outcome, Err(StageRingError::NotFirst(turn)));
                    } else {
                        turns[at].1 += 1;
                        assert_eq!(outcome, Ok(STAGES[stage + 1]));
                    }
                }
            }
            for (turn, stage) in &turns {
                let expected = Some(STAGES[*stage]).filter(|stage| *stage != Stage::Free);
                assert_eq!(taken.stage(*turn), expected);
            }
            for (at, stage) in STAGES.into_iter().enumerate() {
                let first = turns.iter().find(|turn| turn.1 == at).map(|turn| turn.0);
                let expected = if stage == Stage::Free { None } else { first };
                assert_eq!(taken.oldest(stage), expected);
            }
            let in_flight = turns.iter().filter(|(_, stage)| *stage < 3).count();
            assert_eq!(taken.in_flight(), in_flight);
        }
        true
    }
}

/// Without it a turn begun elsewhere could move this one.
#[test]
fn a_turn_that_has_not_begun_is_refused() {
    let mut other = ring(2);
    let turn = other.begin().unwrap();
    let mut taken = ring(2);
    assert_eq!(taken.advance(turn), Err(StageRingError::Stale(turn)));
    assert_eq!(taken.stage(turn), None);
}
