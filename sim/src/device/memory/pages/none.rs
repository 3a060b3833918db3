//! A host without files in memory: there are no pages, and so no virtual memory
//! management. The types have no values.

use std::convert::Infallible;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(in crate::device) struct Heap;

impl Heap {
    pub(in crate::device) fn allocate(self: &Arc<Self>, _: u64) -> Option<Pages> {
        None
    }
}

#[derive(Debug)]
pub(in crate::device) struct Pages(Infallible);

impl Pages {
    pub(in crate::device) fn shared(_: u64, _: &str) -> Option<Self> {
        None
    }

    pub(in crate::device) fn another(&self) -> Self {
        match self.0 {}
    }

    pub(in crate::device) fn len(&self) -> u64 {
        match self.0 {}
    }

    pub(in crate::device) fn is_shared(&self) -> bool {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(in crate::device) struct Window(Infallible);

impl Window {
    pub(in crate::device) fn reserve(_: u64) -> Option<Self> {
        None
    }

    pub(in crate::device) fn start(&self) -> *mut u8 {
        match self.0 {}
    }

    pub(in crate::device) fn show(&self, _: u64, _: &Pages) -> bool {
        match self.0 {}
    }

    /// # Safety
    /// None is needed: there is no window.
    pub(in crate::device) unsafe fn hide(&self, _: u64, _: u64) -> bool {
        match self.0 {}
    }
}
