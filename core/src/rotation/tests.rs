//! What only the inside can set up: generations that are nearly used up.

use super::{MAX_PUBLISHED, Rotation};

/// Without the bound a generation would repeat, and the word's lowest would look oldest.
#[test]
fn generations_are_used_up_and_never_repeat() {
    let rotation = Rotation::<3>::starting_at(MAX_PUBLISHED - 4);
    let mut first = rotation.begin().unwrap();
    let second = rotation.begin_over().unwrap();
    let third = rotation.begin().unwrap();
    third.cancel();
    assert_eq!(first.turn_over(), Some(MAX_PUBLISHED - 3));
    assert_eq!(first.turn_over(), None);
    assert_eq!(first.publish(), MAX_PUBLISHED - 2);
    assert_eq!(second.publish(), MAX_PUBLISHED - 1);
    assert!(rotation.begin().is_none() && rotation.begin_over().is_none());

    // What is published is still there, in order.
    let oldest = rotation.oldest().unwrap();
    assert_eq!(oldest.generation(), MAX_PUBLISHED - 3);
    let latest = rotation.latest().unwrap();
    assert_eq!(latest.generation(), MAX_PUBLISHED - 1);
    assert!(rotation.begin().is_none());
    assert!(!rotation.newer_than(MAX_PUBLISHED - 1));
}
