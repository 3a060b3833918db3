//! The managers of streams and events, on the models' driver.

use std::sync::Arc;

use cupola_sys::driver::Driver;

use crate::driver::{ContextCore, Ledger};
use crate::event::{EventManager, EventsConfig};
use crate::models::test_driver::{self, device};
use crate::stream::{StreamManager, StreamsConfig};

pub(super) struct Managers {
    pub(super) streams: StreamManager,
    pub(super) events: EventManager,
    pub(super) core: Arc<ContextCore>,
    pub(super) ledger: Arc<Ledger>,
}

pub(super) type Shared = loom::sync::Arc<Managers>;

pub(super) fn managers() -> Shared {
    let driver: Driver = test_driver::driver();
    let ledger = Arc::new(Ledger::new());
    let core = test_driver::context(&driver, &ledger);
    let events = EventManager::new(&core, EventsConfig::default());
    Shared::new(Managers {
        streams: StreamManager::new(&core, events.pool(), StreamsConfig::default()),
        events,
        core,
        ledger,
    })
}

/// The end of all managers.
pub(super) fn close(managers: Shared) {
    let ledger = managers.ledger.clone();
    drop(managers);
    device().check_empty();
    assert_eq!(ledger.live(), Default::default());
}
