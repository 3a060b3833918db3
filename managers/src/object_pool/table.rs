//! `Table`: nodes by index. It only grows, and looking up takes no lock.

use std::iter;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

use super::idle::IdleObjects;
use super::node::Node;
use crate::error::Error;
use crate::sync::{Arc, AtomicBool, AtomicPtr, Mutex, MutexGuard, Ordering};

/// Nodes in the first chunk; each further chunk has twice as many.
const FIRST: usize = if cfg!(loom) { 2 } else { 64 };
/// Chunks: room for 65 472 nodes (under loom for 6).
const CHUNKS: usize = if cfg!(loom) { 2 } else { 10 };
/// Nodes that a table has room for.
pub(super) const ROOM: usize = FIRST * ((1 << CHUNKS) - 1);

pub(super) struct Table<T> {
    chunks: [AtomicPtr<AtomicPtr<Node<T>>>; CHUNKS],
    growth: Mutex<Growth>,
    /// No node is added: the manager is shut down. Changed under the lock, and read without it: a
    /// caller in a fork must not wait for a thread of the parent. It stands for nothing but itself.
    shut: AtomicBool,
}

struct Growth {
    /// Nodes so far.
    count: usize,
    /// Shutdowns so far.
    era: u64,
    /// Nodes that there may be, where a test has said it.
    #[cfg(feature = "test-utils")]
    room: Option<usize>,
}

/// Why no node was added.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    /// The manager is shut down.
    Shut,
    /// There is no room.
    Full,
}

impl Refused {
    pub(super) fn error(self, kind: &'static str) -> Error {
        match self {
            Self::Shut => Error::ShutDown { kind },
            Self::Full => Error::Full { kind },
        }
    }
}

/// Chunk and place of an index.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl<T> Table<T> {
    pub(super) fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            growth: Mutex::new(Growth {
                count: 0,
                era: 0,
                #[cfg(feature = "test-utils")]
                room: None,
            }),
            shut: AtomicBool::new(false),
        }
    }

    fn growth(&self) -> MutexGuard<'_, Growth> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds nothing from now on. A thread that walks the table after this sees all nodes that were
    /// added before.
    pub(super) fn shut(&self) {
        let mut growth = self.growth();
        self.shut.store(true, Ordering::Relaxed);
        growth.era += 1;
    }

    /// How often it was shut; `None` while it is.
    pub(super) fn era(&self) -> Option<u64> {
        let growth = self.growth();
        (!self.is_shut()).then_some(growth.era)
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut.load(Ordering::Relaxed)
    }

    pub(super) fn open(&self) {
        let _alone = self.growth();
        self.shut.store(false, Ordering::Relaxed);
    }

    /// The node with this index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<*mut Node<T>> {
        let (chunk, place) = place(index);
        let start = self.chunks.get(chunk)?.load(Ordering::Acquire);
        if start.is_null() {
            return None;
        }
        // SAFETY: chunk `chunk` has `FIRST << chunk` entries, and `place` is below that; it
        // is freed with the table only.
        let node = unsafe { &*start.add(place) }.load(Ordering::Acquire);
        (!node.is_null()).then_some(node)
    }

    /// Adds a node, empty and the caller's.
    pub(super) fn add(&self, idle: &Arc<IdleObjects>) -> Result<NonNull<Node<T>>, Refused> {
        let mut growth = self.growth();
        if self.is_shut() {
            return Err(Refused::Shut);
        }
        #[cfg(feature = "test-utils")]
        if growth.room.is_some_and(|room| growth.count >= room) {
            return Err(Refused::Full);
        }
        let (chunk, place) = place(growth.count);
        let entry = self.chunks.get(chunk).ok_or(Refused::Full)?;
        let mut start = entry.load(Ordering::Relaxed);
        if start.is_null() {
            let mut entries = Vec::<AtomicPtr<Node<T>>>::with_capacity(FIRST << chunk);
            for _ in 0..FIRST << chunk {
                entries.push(AtomicPtr::new(ptr::null_mut()));
            }
            start = Box::into_raw(entries.into_boxed_slice()).cast();
            entry.store(start, Ordering::Release);
        }
        let index = u32::try_from(growth.count).map_err(|_| Refused::Full)?;
        let node = Node::boxed(index, idle);
        // SAFETY: chunk `chunk` has `FIRST << chunk` entries, and `place` is below that; it is
        // freed with the table only.
        unsafe { &*start.add(place) }.store(node.as_ptr(), Ordering::Release);
        growth.count += 1;
        Ok(node)
    }

    /// Sets how many nodes there may be, and does `also`, unless there is a node already.
    #[cfg(feature = "test-utils")]
    pub(super) fn limit_for_test(&self, room: usize, also: impl FnOnce()) -> bool {
        let mut growth = self.growth();
        if growth.count > 0 {
            return false;
        }
        growth.room = Some(room);
        also();
        true
    }

    /// Whether [`limit_for_test`](Self::limit_for_test) was called.
    #[cfg(feature = "test-utils")]
    pub(super) fn is_limited_for_test(&self) -> bool {
        self.growth().room.is_some()
    }

    /// All nodes, in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = *mut Node<T>> + '_ {
        let mut index = 0;
        iter::from_fn(move || {
            let node = self.get(index)?;
            index += 1;
            Some(node)
        })
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        for (chunk, entry) in self.chunks.iter().enumerate() {
            let start = entry.load(Ordering::Relaxed);
            if !start.is_null() {
                let chunk = ptr::slice_from_raw_parts_mut(start, FIRST << chunk);
                // SAFETY: made by `add` from a box of this length, and no thread looks any more.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it two indices could share a place, or one lie outside of its chunk.
    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected =
            (0..CHUNKS).flat_map(|chunk| (0..FIRST << chunk).map(move |place| (chunk, place)));
        for index in 0..ROOM {
            assert_eq!(Some(place(index)), expected.next(), "{index}");
        }
        assert_eq!(place(ROOM), (CHUNKS, 0));
    }
}
