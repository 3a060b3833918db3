//! `Name`: releases the handle of an object when the object goes.

use std::sync::{Arc, Weak};

use cupola_core::{Handle, Layout, Slots, Tag};

use super::{Cell, Growing, Ways};

/// Held by an object that nothing keeps but its leases. It does not keep the registry, which may
/// be gone before.
pub(crate) struct Name<T, G: Tag, L: Layout<Cell = Cell<T>> = Growing<T>> {
    slots: Weak<Slots<L, G, Ways>>,
    handle: Handle<G>,
}

impl<T, G: Tag, L: Layout<Cell = Cell<T>>> Name<T, G, L> {
    pub(super) fn new(slots: &Arc<Slots<L, G, Ways>>, handle: Handle<G>) -> Self {
        Self {
            slots: Arc::downgrade(slots),
            handle,
        }
    }
}

impl<T, G: Tag, L: Layout<Cell = Cell<T>>> Drop for Name<T, G, L> {
    fn drop(&mut self) {
        if mutant!("registry_name_stays") {
            return;
        }
        if let Some(slots) = self.slots.upgrade() {
            // Stale if it was released, or shut down. The value is a reference that does not own.
            drop(slots.release(self.handle));
        }
    }
}
