//! The gate of a manager that is shut down and opened again.

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::models::piece::Piece;
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

// Without it a token from before a shutdown would be good again after the next opening.
#[test]
fn a_token_ends_with_a_shutdown() {
    model(&["held", "ended"], |seen| {
        let gate = Arc::new(ShutdownGate::new());
        let pass = gate.begin().unwrap();
        let other = thread::spawn({
            let gate = gate.clone();
            move || {
                gate.close();
                gate.open();
            }
        });
        seen.note(if gate.validate(pass) { "held" } else { "ended" });
        other.join().unwrap();
        assert!(!gate.validate(pass), "good again");
        assert!(gate.validate(gate.begin().unwrap()));
    });
}
