//! The registry's gate: shutdown and opening against objects that go in and objects that are
//! leased.

mod demand;
mod names;
mod shutdown;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cupola_core::tag;
use loom::cell::UnsafeCell;

use crate::error::Result;
use crate::handle::ManagedHandle;
use crate::registry::{Fixed, Name, Registry};
use crate::sync::capacity::Permit;

/// An object that a registry holds. Its end is not marked: the standard library's `Arc`, which loom
/// does not see, puts it behind every use.
struct Item {
    made: UnsafeCell<()>,
    ended: Arc<AtomicUsize>,
    _permit: Permit,
    /// Of an item that only its leases keep.
    name: OnceLock<Name<Self, tag::Device, Fixed<Self, 2>>>,
}

// SAFETY: the cell is only ever marked as read or written and holds nothing; that the
// marks never meet is what the models check.
unsafe impl Sync for Item {}
// SAFETY: the cell is only ever marked and holds nothing; that the marks never meet is what the
// models check.
unsafe impl Send for Item {}

impl Item {
    /// A use: a thread that has the item finds all of it.
    fn read(&self) {
        self.made.with(|_| ());
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

type Store = Registry<Item, tag::Device, Fixed<Item, 2>>;

/// A registry, and how many of its items were made and have ended.
#[derive(Clone)]
struct Items {
    store: loom::sync::Arc<Store>,
    made: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Items {
    fn new() -> Self {
        Self {
            store: loom::sync::Arc::new(Registry::fixed()),
            made: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// Of items that have one owner each.
    fn of_owned() -> Self {
        Self {
            store: loom::sync::Arc::new(Registry::fixed().of_owned()),
            ..Self::new()
        }
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    fn make(&self, permit: Permit) -> Result<Item> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let made = UnsafeCell::new(());
        made.with_mut(|_| ());
        Ok(Item {
            made,
            ended: Arc::clone(&self.ended),
            _permit: permit,
            name: OnceLock::new(),
        })
    }

    fn insert(&self) -> Result<(ManagedHandle<tag::Device>, Arc<Item>)> {
        let mut name = None;
        let item = self.store.insert_with(|handle, permit| {
            name = Some(handle);
            self.make(permit)
        })?;
        Ok((name.unwrap(), item))
    }

    /// Inserts an item that only its leases keep.
    fn insert_leased(&self) -> Result<(ManagedHandle<tag::Device>, Arc<Item>)> {
        let mut name = None;
        let item = self.store.insert_leased(|handle, permit| {
            name = Some(handle);
            self.make(permit)
        })?;
        let handle = name.unwrap();
        if let Some(name) = self.store.releaser(handle) {
            let _ = item.name.set(name);
        }
        Ok((handle, item))
    }

    /// Nothing is left, in the registry or elsewhere.
    fn close(self) {
        assert_eq!(self.store.live(), 0, "left behind");
        assert_eq!(self.store.stats().live, 0);
        assert_eq!(self.ended.load(Ordering::Relaxed), self.made());
    }
}
