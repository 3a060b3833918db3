//! Touches from other threads: none is lost, and each spares once.

use cupola_core::{Lru, Touch};
use loom::sync::Arc;
use loom::thread;

use super::model;

/// Would break if a touch stayed when it is taken, or came back; one that comes meanwhile
/// counts with the last or by itself.
#[test]
fn a_touch_is_seen_now_or_next_time() {
    model(&["now", "next time"], |seen| {
        let touch = Arc::new(Touch::new());
        touch.touch();
        let other = {
            let touch = Arc::clone(&touch);
            thread::spawn(move || touch.touch())
        };
        assert!(touch.take());
        other.join().unwrap();
        seen.note(if touch.take() { "next time" } else { "now" });
        assert!(!touch.take(), "a touch does not stay");
    });
}

/// Would break if a touch could spare what it does not speak of, or spare it twice.
#[test]
fn a_touched_one_has_one_more_chance() {
    model(&["spared", "evicted"], |seen| {
        let touches = Arc::new([Touch::new(), Touch::new()]);
        let owner = {
            let touches = Arc::clone(&touches);
            thread::spawn(move || {
                let mut lru = Lru::<[_; 2]>::in_place();
                (0..2).for_each(|index| lru.insert(index).unwrap());
                let mut evict = || lru.evict(|index| touches[index].take(), |_| true);
                (evict(), evict())
            })
        };
        touches[0].touch();
        seen.note(match owner.join().unwrap() {
            (Some(1), Some(0)) => "spared",
            (Some(0), Some(1)) => "evicted",
            _ => "lost",
        });
    });
}
