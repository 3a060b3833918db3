//! The gate of a manager that is shut down and opened again.

use loom::sync::Arc;
use loom::thread;

use super::model;
use super::pool::Piece;
use crate::sync::shutdown_gate::ShutdownGate;

// Without it a caller that is let in again could miss what was set up for it.
#[test]
fn a_token_of_an_opened_gate_comes_after_the_opening() {
    model(&["let in before", "refused", "let in again"], |seen| {
        let manager = Arc::new((ShutdownGate::new(), Piece::new()));
        let before = manager.0.begin().unwrap();
        let other = thread::spawn({
            let manager = manager.clone();
            move || {
                manager.0.close();
                manager.1.touch();
                manager.0.open();
            }
        });
        seen.note(if manager.0.validate(before) {
            "let in before"
        } else if manager.0.begin().is_some() {
            manager.1.touch();
            "let in again"
        } else {
            "refused"
        });
        other.join().unwrap();
    });
}
