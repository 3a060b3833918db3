//! The lanes of this thread.
//!
//! A hit finds its lane in a small table without a destructor, which is there even while the
//! thread ends. A list of them has a destructor, which flushes them: what a thread kept is
//! everybody's again after it. The lanes are their pool's, and there as long as it is or until
//! their thread ends: so whoever has a piece of the pool finds a lane that is there.

use std::cell::{Cell, OnceCell};
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

use super::lane::Lane;
use super::pool::lock;
use crate::sync::per_thread;
use crate::visits::Visits;

/// A lane that was used lately.
#[derive(Clone, Copy)]
struct Known {
    pool: u64,
    stream: u64,
    lane: *const Lane,
}

const NOBODY: Known = Known {
    pool: 0,
    stream: 0,
    lane: ptr::null(),
};

/// Lanes that are found at once: as many streams as a thread may use in turn.
const KNOWN: usize = 16;

per_thread! {
    static LATELY: [Cell<Known>; KNOWN] = [const { Cell::new(NOBODY) }; KNOWN];
    static LANES: Lanes = Lanes(OnceCell::new());
}

struct Lanes(OnceCell<Arc<List>>);

/// The lanes of a thread. Others only take out what nobody looks for any more.
pub(super) struct List {
    entries: Mutex<Vec<Entry>>,
    process: u32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            entries: Mutex::default(),
            process: std::process::id(),
        }
    }
}

impl List {
    /// Takes a lane out: its stream is gone. Where the list is in use it is left there, for the
    /// thread itself to find; who looks for a lane may come here with its own list taken.
    pub(super) fn forget(&self, lane: &Arc<Lane>) {
        if let Ok(mut entries) = self.entries.try_lock() {
            entries.retain(|entry| !ptr::eq(entry.lane.as_ptr(), Arc::as_ptr(lane)));
        }
    }
}

struct Entry {
    pool: u64,
    stream: u64,
    visits: Visits,
    lane: Weak<Lane>,
}

#[inline]
fn place(pool: u64, stream: u64) -> usize {
    (pool ^ stream) as usize % KNOWN
}

/// The lane of a pool and a stream, if it was used lately.
///
/// The pointer is good as long as the pool is, which the caller has a piece or a handle of, as
/// long as the stream, which the caller has too, and until the thread ends, which empties the
/// table first. Lanes of streams that are gone stay in the table: nobody asks for them, as no
/// other stream has the number.
#[inline(always)]
pub(super) fn lately(pool: u64, stream: u64) -> Option<*const Lane> {
    LATELY
        .try_with(|lately| {
            let known = lately[place(pool, stream)].get();
            (known.pool == pool && known.stream == stream).then_some(known.lane)
        })
        .ok()
        .flatten()
}

/// The lane of a pool and a stream, made by `make` when there is none. `None` while the thread
/// ends: it keeps nothing any more.
pub(super) fn find(
    (pool, visits): (u64, &Visits),
    stream: u64,
    make: impl FnOnce(&Arc<List>) -> Option<Arc<Lane>>,
) -> Option<Arc<Lane>> {
    LANES
        .try_with(|lanes| {
            let list = lanes.0.get_or_init(Arc::default);
            let mut lanes = lock(&list.entries);
            let is_it = |entry: &&Entry| entry.pool == pool && entry.stream == stream;
            let found = lanes.iter().find(is_it);
            let lane = match found.and_then(|entry| entry.lane.upgrade()) {
                Some(lane) => lane,
                None => {
                    // Those of pools and streams that are gone.
                    lanes.retain(|entry| entry.lane.strong_count() > 0);
                    let lane = make(list)?;
                    lanes.push(Entry {
                        pool,
                        stream,
                        visits: visits.clone(),
                        lane: Arc::downgrade(&lane),
                    });
                    lane
                }
            };
            let known = Known {
                pool,
                stream,
                lane: Arc::as_ptr(&lane),
            };
            let _ = LATELY.try_with(|lately| lately[place(pool, stream)].set(known));
            Some(lane)
        })
        .ok()
        .flatten()
}

/// Empties the table.
fn forget() {
    let _ = LATELY.try_with(|lately| lately.iter().for_each(|known| known.set(NOBODY)));
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // First of all: frees of other destructors of this thread come later.
        forget();
        let Some(list) = self.0.get() else {
            return;
        };
        // In the child of a fork another thread may have left the list taken.
        if list.process != std::process::id() {
            return;
        }
        // Not within the lock: others may want a lane out of the list that is retired here.
        let lanes = std::mem::take(&mut *lock(&list.entries));
        for Entry { visits, lane, .. } in lanes {
            // A pool that is closed has closed its lanes.
            if let Some(_visit) = visits.visit()
                && let Some(lane) = lane.upgrade()
            {
                // SAFETY: the lane is this thread's, which is within none while it ends.
                unsafe { lane.retire() };
            }
        }
    }
}
