//! `Mapping`: the mapper, locked.

use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use super::mapper::Mapper;
use super::pool::{Pool, lock};
use crate::error::Quiet;

/// The mapper's lock. Driver calls are made under it; what the user wants done when one of them
/// loses the context waits until the lock is given back, so that it may use the pool.
pub(super) struct Mapping<'p> {
    // In this order.
    mapper: MutexGuard<'p, Mapper>,
    _quiet: Quiet,
}

impl Pool {
    /// Locks the mapper.
    pub(super) fn mapper(&self) -> Mapping<'_> {
        let quiet = Quiet::new();
        Mapping {
            mapper: lock(&self.mapper),
            _quiet: quiet,
        }
    }
}

impl Deref for Mapping<'_> {
    type Target = Mapper;

    fn deref(&self) -> &Mapper {
        &self.mapper
    }
}

impl DerefMut for Mapping<'_> {
    fn deref_mut(&mut self) -> &mut Mapper {
        &mut self.mapper
    }
}
