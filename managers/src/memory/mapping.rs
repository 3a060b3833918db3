//! `Mapping`: the mapper, locked.

use std::ops::{Deref, DerefMut};
use std::sync::{MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::mapper::Mapper;
use super::patience::Wait;
use super::pool::{Pool, lock};
use crate::error::{Error, Result};
use crate::sync::deferred::DeferCallbacks;

/// Between two looks at a lock that is to be had by a deadline.
const NAP: Duration = Duration::from_micros(50);

/// The mapper's lock. Driver calls are made under it; what the user wants done when one of them
/// loses the context waits until the lock is given back, so that it may use the pool.
pub(super) struct Mapping<'p> {
    // In this order.
    mapper: MutexGuard<'p, Mapper>,
    _defer: DeferCallbacks,
}

impl Pool {
    /// Locks the mapper.
    pub(super) fn mapper(&self) -> Mapping<'_> {
        let defer = DeferCallbacks::new();
        Mapping {
            mapper: lock(&self.mapper),
            _defer: defer,
        }
    }

    /// Locks the mapper for a request that may wait so long. Others that have it make driver calls,
    /// some of them many.
    ///
    /// # Errors
    /// [`Error::Busy`] when another thread has it for longer.
    pub(super) fn mapper_within(&self, wait: Wait) -> Result<Mapping<'_>> {
        let end = match wait {
            Wait::AsConfigured => return Ok(self.mapper()),
            Wait::Never => None,
            Wait::Until(end) => Some(end),
        };
        let defer = DeferCallbacks::new();
        loop {
            let mapper = match self.mapper.try_lock() {
                Ok(mapper) => mapper,
                Err(TryLockError::Poisoned(mapper)) => mapper.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    if end.is_none_or(|end| Instant::now() >= end) {
                        return Err(Error::Busy {
                            what: "mapping pages of the pool",
                        });
                    }
                    thread::sleep(NAP);
                    continue;
                }
            };
            let _defer = defer;
            return Ok(Mapping { mapper, _defer });
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
