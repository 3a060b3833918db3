//! What the object pool says, without the rest of the crate that the real reports know of.

use cupola_core::Tag;

use crate::error::{Error, Result};
use crate::handle::ManagedHandle;

/// What is still leased.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeasedObject;

impl LeasedObject {
    pub(crate) fn new<G: Tag>(_: ManagedHandle<G>, leases: u64) -> Self {
        assert!(leases > 0);
        Self
    }
}

#[derive(Debug, Default)]
pub(crate) struct ShutdownReport {
    pub(crate) leased: Vec<LeasedObject>,
    pub(crate) destroyed: usize,
    errors: Vec<Error>,
}

impl ShutdownReport {
    pub(crate) fn ended(&mut self, destroyed: Result<()>) {
        self.destroyed += usize::from(destroyed.is_ok());
        self.note(destroyed);
    }

    pub(crate) fn note(&mut self, destroyed: Result<()>) {
        if let Err(error) = destroyed {
            self.errors.push(error);
        }
    }
}
