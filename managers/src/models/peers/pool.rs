//! A pool that is closed to a context, while threads use its memory there.

use std::ptr;
use std::sync::Arc;

use loom::thread;

use super::switch::switch;
use crate::driver::Identity;
use crate::models::managers::{close, managers};
use crate::models::model;
use crate::models::test_driver::device;
use crate::pool::mapping::peers::PoolPeers;
use crate::stream::{Stream, StreamConfig};

/// A block's life, which is used by the context: whether the pool was open to that.
fn use_block(peers: &PoolPeers, context: Identity, home: &Stream) -> bool {
    let Some(begun) = peers.begin_use(context) else {
        return false;
    };
    switch().put_kernel();
    begun.end(home.deferred_ticket());
    true
}

/// Takes the access away, if that is not refused: whether it was not.
fn take_away(peers: &PoolPeers, context: Identity) -> bool {
    let closed = peers.close(context).unwrap();
    if closed == Ok(true) {
        switch().turn_off();
        drop(peers.remove(context));
    }
    closed.is_ok()
}

// Without it a pool could take the access from a kernel that runs, or that is put after its thread has
// seen that the pool is open; or refuse a close though all is over.
#[test]
fn a_pool_is_closed_to_no_work() {
    let outcomes = ["used, then closed", "closed first", "refused"];
    model(&outcomes, |seen| {
        let managers = managers();
        let home = managers.streams.acquire(StreamConfig::default()).unwrap();
        let (peers, context) = (
            Arc::new(PoolPeers::default()),
            Identity::of(ptr::null_mut()),
        );
        drop(peers.open(context, 1, None));
        switch().turn_on();
        let other = thread::spawn({
            let (peers, home) = (Arc::clone(&peers), home.clone());
            move || use_block(&peers, context, &home)
        });
        let closed = take_away(&peers, context);
        let used = other.join().unwrap();
        seen.note(match (used, closed) {
            (true, true) => "used, then closed",
            (false, true) => "closed first",
            (true, false) => "refused",
            (false, false) => "neither",
        });
        // Now all work can be seen to be over.
        assert!(take_away(&peers, context));
        assert!(!use_block(&peers, context, &home));
        switch().check_off();
        drop((home, peers));
        close(managers);
        device().check_empty();
    });
}
