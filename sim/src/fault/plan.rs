//! Which calls fail or wait.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cupola_sys::SymbolId;
use cupola_sys::driver::CUresult;

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It returns this code and does not run.
    Fail(CUresult),
    /// It runs, and returns this code although it succeeded.
    FailAfter(CUresult),
    /// It waits this long and then runs.
    Delay(Duration),
}

/// The faults that were asked for.
#[derive(Default)]
pub(super) struct Plan {
    /// Whether there are any: calls need no lock while there are none.
    armed: AtomicBool,
    rules: Mutex<Vec<(SymbolId, RangeInclusive<u64>, Action)>>,
    hidden: Mutex<BTreeSet<SymbolId>>,
}

impl Plan {
    pub(super) fn add(&self, function: SymbolId, calls: RangeInclusive<u64>, action: Action) {
        lock(&self.rules).push((function, calls, action));
        self.armed.store(true, Ordering::Release);
    }

    pub(super) fn hide(&self, function: SymbolId) {
        lock(&self.hidden).insert(function);
    }

    pub(super) fn is_hidden(&self, function: SymbolId) -> bool {
        lock(&self.hidden).contains(&function)
    }

    /// The first rule that covers the `k`-th call of `function`.
    pub(super) fn action(&self, function: SymbolId, k: u64) -> Option<Action> {
        if !self.armed.load(Ordering::Acquire) {
            return None;
        }
        let rules = lock(&self.rules);
        let rule = rules
            .iter()
            .find(|(name, calls, _)| *name == function && calls.contains(&k));
        rule.map(|(_, _, action)| *action)
    }

    pub(super) fn clear(&self) {
        lock(&self.rules).clear();
        self.armed.store(false, Ordering::Release);
    }
}

/// A poisoned lock holds plain data here: a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
