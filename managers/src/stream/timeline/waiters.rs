//! `Waiters`: callers that are told when a ticket completes, each of them once.
//!
//! A caller is in two lists: in this one, which a thread that learns of completed tickets looks
//! through, and in that of the context's loss. Whichever thread comes first takes the function out.

use std::sync::{Arc, PoisonError, Weak};

use crate::driver::ContextCore;
use crate::error::{Error, OnLoss, Once, Result, contain};
use crate::lists;
use crate::sync::deferred::{DeferCallbacks, run_or_defer};
use crate::sync::{Mutex, MutexGuard};

/// The function that a caller has asked to be called.
type Told = Box<dyn FnOnce(Result<()>) + Send>;

/// One caller that waits for a ticket.
pub(in crate::stream) struct Waiter {
    ticket: u64,
    told: Once<Told>,
    core: Arc<ContextCore>,
}

impl Waiter {
    pub(in crate::stream) fn new(
        core: &Arc<ContextCore>,
        ticket: u64,
        function: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            ticket,
            told: Once::new(Box::new(function)),
            core: Arc::clone(core),
        })
    }

    /// Calls the function, if no other thread has, and the caller has not given up. A panic ends
    /// in it.
    pub(in crate::stream) fn tell(&self, result: Result<()>) {
        if let Some(function) = self.told.take() {
            contain(|| function(result));
        }
    }

    /// Whether the caller has neither been told nor given up.
    pub(in crate::stream) fn is_waiting(&self) -> bool {
        self.told.is_there()
    }

    /// The caller does not wait any more. A call that runs just then is not waited for.
    pub(in crate::stream) fn cancel(&self) {
        // In a fork another thread may have left the lock taken, and no thread tells anything.
        if self.core.not_forked().is_err() {
            return;
        }
        let function = self.told.take();
        contain(|| drop(function));
    }
}

impl OnLoss for Waiter {
    fn lost(&self, error: &Error) {
        self.tell(Err(error.clone()));
    }
}

/// The callers that wait for tickets of one timeline. It keeps none of them.
#[derive(Default)]
pub(in crate::stream) struct Waiters(Mutex<List>);

#[derive(Default)]
struct List {
    waiters: Vec<Weak<Waiter>>,
    /// Whether the reactor looks after them.
    watched: bool,
    /// Failures of its questions, one after the other.
    failures: u32,
}

/// So often the reactor tries again before it reports an error that the context is not
/// lost to.
pub(in crate::stream) const ATTEMPTS: u32 = 3;

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a caller. True when it is to be shown to the reactor, which does not look after this
    /// timeline.
    pub(in crate::stream) fn add(&self, waiter: &Arc<Waiter>) -> bool {
        let mut list = self.lock();
        list.waiters.push(Arc::downgrade(waiter));
        !std::mem::replace(&mut list.watched, true)
    }

    /// Tells the callers whose tickets this matches, as soon as the thread holds no lock.
    pub(in crate::stream) fn tell(&self, is_meant: impl Fn(u64) -> bool, result: &Result<()>) {
        // Dropped after the lock: a caller that is dropped here may be the last of its context.
        let _defer = DeferCallbacks::new();
        let mut list = self.lock();
        if list.waiters.is_empty() {
            return;
        }
        let mut told = Vec::new();
        lists::retain(&mut list.waiters, |waiter| match waiter.upgrade() {
            Some(waiter) if is_meant(waiter.ticket) => {
                told.push(waiter);
                false
            }
            waiter => waiter.is_some(),
        });
        drop(list);
        if !told.is_empty() {
            let result = result.clone();
            run_or_defer(move || {
                for waiter in told {
                    waiter.tell(result.clone());
                }
            });
        }
    }

    /// The newest ticket that a caller waits for, and its context; `None`, and the reactor
    /// looks after this timeline no more, when there is no caller or only callers that were
    /// told of a loss.
    pub(in crate::stream) fn newest(&self) -> Option<(u64, Arc<ContextCore>)> {
        let _defer = DeferCallbacks::new();
        let mut list = self.lock();
        let mut newest: Option<Arc<Waiter>> = None;
        lists::retain(&mut list.waiters, |waiter| {
            let Some(waiter) = waiter.upgrade().filter(|waiter| waiter.is_waiting()) else {
                return false;
            };
            if newest
                .as_ref()
                .is_none_or(|newest| newest.ticket < waiter.ticket)
            {
                newest = Some(waiter);
            }
            true
        });
        list.watched = newest.is_some();
        drop(list);
        newest.map(|waiter| (waiter.ticket, Arc::clone(&waiter.core)))
    }

    /// Notes whether the reactor could ask the device. After some errors in a row every
    /// caller is told of the last one.
    pub(in crate::stream) fn note(&self, asked: &Result<()>) {
        let mut list = self.lock();
        list.failures = match asked {
            Ok(()) => 0,
            Err(_) => list.failures + 1,
        };
        let give_up = list.failures >= ATTEMPTS;
        if give_up {
            list.failures = 0;
        }
        drop(list);
        if give_up {
            self.tell(|_| true, asked);
        }
    }

    /// No thread can be had: every caller is told so.
    pub(in crate::stream) fn abandon(&self, error: Error) {
        self.lock().watched = false;
        self.tell(|_| true, &Err(error));
    }
}
