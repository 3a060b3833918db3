//! The watchers that are told when a context is lost, beside the [policy](super::PoisonPolicy): any
//! number.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, Weak};

use super::Error;
use crate::lists;
use crate::sync::Mutex;

/// A watcher that is told of the loss of a context: at most once by the context, and by a caller
/// that comes too late for that. A watcher that is told twice does nothing the second time.
pub(crate) trait OnLoss: Send + Sync {
    /// Under no lock of the crate. May be the user's code, and must not panic.
    fn lost(&self, error: &Error);
}

/// The watchers to be told. It keeps none of them.
#[derive(Default)]
pub(super) struct Watchers(Mutex<Vec<Weak<dyn OnLoss>>>);

impl Watchers {
    pub(super) fn add(&self, watcher: Weak<dyn OnLoss>) {
        let mut watchers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watchers.len() == watchers.capacity() {
            lists::retain(&mut watchers, |watcher| watcher.strong_count() > 0);
            let there = watchers.len();
            watchers.reserve(there.max(4));
        }
        watchers.push(watcher);
    }

    /// The watchers that are there, in the order in which they came. The list is empty after this.
    pub(super) fn take(&self) -> Vec<Arc<dyn OnLoss>> {
        let mut watchers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = std::mem::take(&mut *watchers);
        drop(watchers);
        taken.iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for Watchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watchers")
    }
}

/// A function of the user's that is taken once, by one of several threads: to be called or to be
/// dropped. A panic of either ends in it.
pub(crate) struct Once<F>(Mutex<Option<F>>);

impl<F> Once<F> {
    pub(crate) fn new(function: F) -> Self {
        Self(Mutex::new(Some(function)))
    }

    pub(crate) fn take(&self) -> Option<F> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether it was not taken yet.
    pub(crate) fn is_there(&self) -> bool {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function.is_some()
    }
}

/// Runs code of the user's where a panic must not go on. Dropping a panic's payload may panic
/// again, so it is leaked.
pub(crate) fn contain(run: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        let _ = ManuallyDrop::new(payload);
    }
}

/// The function that a subscriber has asked to be called.
type Told = Box<dyn FnOnce(&Error) + Send>;

impl OnLoss for Once<Told> {
    fn lost(&self, error: &Error) {
        if let Some(function) = self.take() {
            contain(|| function(error));
        }
    }
}

/// A subscription to the loss of a context, see
/// [`Context::on_loss`](crate::Context::on_loss). Ends when it is dropped; a call that
/// runs just then is not waited for.
#[must_use = "dropping it ends the subscription"]
pub struct LossWatch(Arc<Once<Told>>);

impl LossWatch {
    pub(crate) fn new(function: impl FnOnce(&Error) + Send + 'static) -> Self {
        Self(Arc::new(Once::new(Box::new(function))))
    }

    pub(crate) fn watcher(&self) -> Arc<dyn OnLoss> {
        Arc::clone(&self.0) as Arc<dyn OnLoss>
    }
}

impl Drop for LossWatch {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

impl fmt::Debug for LossWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LossWatch")
    }
}
