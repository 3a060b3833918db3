//! The end of a context, which its objects may outlive.

use loom::thread;

use crate::event::EventConfig;
use crate::models::managers::managers;
use crate::models::model;
use crate::models::test_driver::device;
use crate::stream::StreamConfig;

// Without it an object that outlives its context's managers could be destroyed after the context.
#[test]
fn the_last_lease_of_a_context_ends_it() {
    model(&["ended"], |seen| {
        let managers = managers();
        let ledger = managers.ledger.clone();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let event = managers.events.create_held(EventConfig::default()).unwrap();
        let other = thread::spawn(move || drop((stream, event)));
        drop(managers);
        other.join().unwrap();
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
        seen.note("ended");
    });
}
