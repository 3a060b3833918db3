use super::*;

// Without it threads that free much would all ask the streams at the same time, again and again: what
// comes back while one of them asks counts only after its answer.
#[test]
fn nothing_is_due_while_a_thread_asks_the_streams() {
    let mut central = Central::new();
    central.heap.rules_mut().note_streams(2);
    let large = 1 << 20;
    let frees = |central: &mut Central| {
        central.note_unasked(UNASKED * large, large);
        central.rules().ask_if_due()
    };
    assert!(frees(&mut central));
    assert!(central.rules().take_scanned());
    assert!(!frees(&mut central));
    // One that finds nothing asks all the same, and is waited for as well.
    central.rules().ask_streams();
    assert!(central.rules().take_scanned());
    central.rules().note_asked();
    assert!(!frees(&mut central));
    central.rules().note_asked();
    assert!(frees(&mut central));
    // A look that finds nothing to ask is no asker.
    assert!(central.rules().take_scanned());
    assert!(!central.rules().take_scanned());
    central.rules().note_asked();
    assert!(frees(&mut central));
}
