//! The spin lock: its threads are inside one after the other.

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::models::piece::Piece;
use crate::sync::spin_lock::SpinLock;

// Without it two threads could change the heap at once, or one not see another's changes.
#[test]
fn one_thread_at_a_time_has_the_spin_lock() {
    model(&["first", "second"], |seen| {
        let shared = Arc::new((SpinLock::new(0_u32), Piece::new()));
        let section = |shared: &(SpinLock<u32>, Piece)| {
            let mut turn = shared.0.lock();
            shared.1.touch();
            *turn += 1;
            *turn
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || section(&shared)
        });
        let mine = section(&shared);
        let theirs = other.join().unwrap();
        assert_eq!(mine + theirs, 3);
        seen.note(if mine == 1 { "first" } else { "second" });
    });
}
