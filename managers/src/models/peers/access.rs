//! The counts of an access: the driver's is one switch for all threads.

use std::sync::Arc;

use loom::thread;

use super::switch::switch;
use crate::driver::{ContextCore, Ledger};
use crate::models::model;
use crate::models::test_driver::{self, device};
use crate::peer::PeerAccess;

/// Two contexts on two devices, between which nothing is checked.
pub(super) fn contexts() -> [Arc<ContextCore>; 2] {
    let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
    [0, 1].map(|ordinal| {
        let core = test_driver::context_on(ordinal, &driver, &ledger);
        core.set_checks_peers(false);
        core
    })
}

/// Has the access, uses it, and gives it back.
fn use_access(own: &Arc<ContextCore>, peer: &Arc<ContextCore>) {
    let access = PeerAccess::new(own, peer).unwrap();
    switch().put_kernel();
    access.end().unwrap();
}

// Without it a thread could have an access that another one's end has switched off, an end switch it off
// under a kernel of either, or the last one leave it on.
#[test]
fn an_access_is_on_while_a_thread_has_it() {
    model(&["one access", "two"], |seen| {
        let [own, peer] = contexts();
        let other = thread::spawn({
            let (own, peer) = (Arc::clone(&own), Arc::clone(&peer));
            move || use_access(&own, &peer)
        });
        use_access(&own, &peer);
        other.join().unwrap();
        let switch = switch();
        switch.check_off();
        seen.note(match switch.enables {
            1 => "one access",
            2 => "two",
            _ => "more",
        });
        drop(switch);
        drop((own, peer));
        device().check_empty();
    });
}
