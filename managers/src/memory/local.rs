//! The lanes of this thread.
//!
//! A hit finds its lane in a small table without a destructor, which is there even while the
//! thread ends. A list of them has a destructor, which flushes them: what a thread kept is
//! everybody's again after it. The lanes are their pool's, and there as long as it is or until
//! their thread ends: so whoever has a piece of the pool finds a lane that is there.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::{Arc, Weak};

use super::lane::Lane;
use crate::sync::per_thread;

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
    static LANES: RefCell<Lanes> = RefCell::new(Lanes(Vec::new()));
}

struct Lanes(Vec<Entry>);

struct Entry {
    pool: u64,
    stream: u64,
    lane: Weak<Lane>,
}

#[inline]
fn place(pool: u64, stream: u64) -> usize {
    (pool ^ stream) as usize % KNOWN
}

/// The lane of a pool and a stream, if it was used lately.
///
/// The pointer is good as long as the pool is, which the caller has a piece or a handle of, and
/// until the thread ends, which empties the table first.
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
    pool: u64,
    stream: u64,
    make: impl FnOnce() -> Option<Arc<Lane>>,
) -> Option<Arc<Lane>> {
    LANES
        .try_with(|lanes| {
            let mut lanes = lanes.try_borrow_mut().ok()?;
            let is_it = |entry: &&Entry| entry.pool == pool && entry.stream == stream;
            let found = lanes.0.iter().find(is_it);
            let lane = match found.and_then(|entry| entry.lane.upgrade()) {
                Some(lane) => lane,
                None => {
                    // Those of pools that are gone.
                    lanes.0.retain(|entry| entry.lane.strong_count() > 0);
                    let lane = make()?;
                    lanes.0.push(Entry {
                        pool,
                        stream,
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
        for lane in self.0.drain(..).filter_map(|entry| entry.lane.upgrade()) {
            lane.retire();
        }
    }
}
