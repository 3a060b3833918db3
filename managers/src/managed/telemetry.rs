//! `Telemetry`: the result of a step.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use crate::sync;

/// The result of a step, from [`ManagedContext`](super::ManagedContext). Its memory is used again
/// when it is dropped.
pub struct Telemetry<T> {
    index: u64,
    values: Vec<T>,
    spare: Arc<Spare<T>>,
}

/// Memory of results that were dropped.
pub(super) struct Spare<T> {
    values: Mutex<Vec<Vec<T>>>,
    /// How much of it is kept.
    most: usize,
}

impl<T> Spare<T> {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            values: Mutex::new(Vec::with_capacity(most)),
            most,
        })
    }
}

impl<T: Copy> Telemetry<T> {
    pub(super) fn copy(index: u64, output: &[T], spare: &Arc<Spare<T>>) -> Self {
        let mut values = sync::lock(&spare.values).pop().unwrap_or_default();
        values.clear();
        values.extend_from_slice(output);
        Self {
            index,
            values,
            spare: Arc::clone(spare),
        }
    }
}

impl<T> Telemetry<T> {
    /// The number of its step, from 0 and from 0 again after a
    /// [`reset`](super::ManagedContext::reset).
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }
}

impl<T> Deref for Telemetry<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> Drop for Telemetry<T> {
    fn drop(&mut self) {
        let mut spare = sync::lock(&self.spare.values);
        if spare.len() < self.spare.most {
            spare.push(std::mem::take(&mut self.values));
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Telemetry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("index", &self.index)
            .field("values", &self.values)
            .finish()
    }
}
