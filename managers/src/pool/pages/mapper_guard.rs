//! `MapperGuard`: the mapper, locked.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::pool::pages::mapper::Mapper;
use crate::pool::request::Wait;
use crate::sync::deferred::DeferCallbacks;
use crate::sync::lock;

/// Between two looks at a lock that is to be had by a deadline.
const NAP: Duration = Duration::from_micros(50);

/// The mapper's lock. Driver calls are made under it; the user's callbacks for a context that one
/// of them loses wait until the lock is given back, so that they may use the pool.
pub(crate) struct MapperGuard<'p> {
    // In this order.
    mapper: MutexGuard<'p, Mapper>,
    _defer: DeferCallbacks,
}

impl<'p> MapperGuard<'p> {
    /// Locks the mapper.
    pub(crate) fn lock(mapper: &'p Mutex<Mapper>) -> Self {
        let defer = DeferCallbacks::new();
        Self {
            mapper: lock(mapper),
            _defer: defer,
        }
    }

    /// Locks the mapper for a request that may wait so long. Others that have it make driver calls,
    /// some of them many.
    ///
    /// # Errors
    /// [`Error::Busy`] when another thread has it for longer.
    pub(crate) fn lock_within(mapper: &'p Mutex<Mapper>, wait: Wait) -> Result<Self> {
        let end = match wait {
            Wait::AsConfigured => return Ok(Self::lock(mapper)),
            Wait::Never => None,
            Wait::Until(end) => Some(end),
        };
        let defer = DeferCallbacks::new();
        loop {
            let mapper = match mapper.try_lock() {
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
            return Ok(Self {
                mapper,
                _defer: defer,
            });
        }
    }
}

impl Deref for MapperGuard<'_> {
    type Target = Mapper;

    fn deref(&self) -> &Mapper {
        &self.mapper
    }
}

impl DerefMut for MapperGuard<'_> {
    fn deref_mut(&mut self) -> &mut Mapper {
        &mut self.mapper
    }
}
