//! The caches of this thread.
//!
//! A hit finds its cache in a table without a destructor, which is there even while the thread
//! ends. A list of the caches has a destructor, which flushes them: after it all threads can have
//! the pieces that the thread kept. The caches belong to their pool, and live as long as it does or
//! until their thread ends: so a thread that has a piece of the pool finds a cache that lives.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

use crate::pool::cache::thread_cache::ThreadCache;
use crate::sync::lock;
use crate::sync::per_thread;
use crate::sync::thread_exit::ThreadExit;

/// The numbers of a pool and of a stream.
type Pair = (u64, u64);

/// A cache that the thread has used.
#[derive(Clone, Copy)]
struct Known {
    pair: Pair,
    cache: *const ThreadCache,
}

/// No pool has the number 0.
const NO_CACHE: Known = Known {
    pair: (0, 0),
    cache: ptr::null(),
};

/// Where the search for a pair begins, of `1 << (64 - shift)` places.
///
/// Streams are numbered one after the other, and so are pools: the factors spread neighbours of
/// either kind over the whole table.
#[inline(always)]
fn place((pool, stream): Pair, shift: u32) -> usize {
    const STREAMS: u64 = 0x9e37_79b9_7f4a_7c15;
    const POOLS: u64 = 0xd1b5_4a32_d192_ed03;
    let mixed = stream.wrapping_mul(STREAMS) ^ pool.wrapping_mul(POOLS);
    (mixed >> shift) as usize
}

/// Caches by pair, each at its place or behind it, with nothing vacant in between. No more than
/// half of it is taken, so every search ends.
struct Table {
    places: Vec<Known>,
    shift: u32,
    taken: usize,
}

impl Table {
    /// With room for twice as many caches.
    fn with_room(caches: usize) -> Self {
        let places = (caches * 4).next_power_of_two().max(LEAST);
        Self {
            places: vec![NO_CACHE; places],
            shift: u64::BITS - places.trailing_zeros(),
            taken: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.taken * 2 >= self.places.len()
    }

    /// Enters a cache, in place of an older one of the same pair. The table is not full.
    fn put(&mut self, known: Known) {
        let mask = self.places.len() - 1;
        let mut at = place(known.pair, self.shift);
        while self.places[at].pair != NO_CACHE.pair && self.places[at].pair != known.pair {
            at = (at + 1) & mask;
        }
        self.taken += usize::from(self.places[at].pair == NO_CACHE.pair);
        self.places[at] = known;
    }
}

/// Places of the smallest table.
const LEAST: usize = 16;

/// How a hit sees the table: nothing of it has to be dropped.
#[derive(Clone, Copy)]
struct View {
    /// Null where there is no table.
    places: *const Known,
    shift: u32,
}

const NO_TABLE: View = View {
    places: ptr::null(),
    shift: 0,
};

per_thread! {
    static VIEW: Cell<View> = Cell::new(NO_TABLE);
    static CACHES: Caches = Caches { list: OnceCell::new(), table: Cell::new(None) };
}

struct Caches {
    list: OnceCell<Arc<List>>,
    /// The table that the view shows.
    table: Cell<Option<Table>>,
}

/// The caches of a thread. Other threads only take out caches that this thread needs no more.
pub(crate) struct List {
    entries: Mutex<Entries>,
    process: u32,
}

#[derive(Default)]
struct Entries {
    by_pair: HashMap<Pair, Entry>,
    /// With so many it is worth looking which pools and streams are gone.
    look_at: usize,
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
    /// Takes a cache out: its stream is gone. Where the list is in use the cache is left there, for
    /// the thread itself to find: a thread that looks for a cache may come here with its own list
    /// locked.
    pub(crate) fn forget(&self, pool: u64, cache: &ThreadCache) {
        if let Ok(mut entries) = self.entries.try_lock() {
            entries.by_pair.remove(&(pool, cache.state().serial()));
        }
    }
}

struct Entry {
    thread_exit: ThreadExit,
    cache: Weak<ThreadCache>,
}

/// The cache of a pool and a stream, if this thread has used it.
///
/// The pointer is good as long as the pool is, which the caller has a piece or a handle of, as
/// long as the stream, which the caller has too, and until the thread ends, which empties the
/// table first. Caches of streams that are gone stay in the table until it grows: no caller asks
/// for them, as no other stream has the number.
#[inline(always)]
pub(crate) fn recent(pool: u64, stream: u64) -> Option<*const ThreadCache> {
    let view = VIEW.try_with(Cell::get).ok()?;
    if view.places.is_null() {
        return None;
    }
    let pair = (pool, stream);
    let mask = usize::MAX >> view.shift;
    let mut at = place(pair, view.shift);
    loop {
        // SAFETY: `at` is below the number of places, and the table is this thread's and there as
        // long as the view shows it: its replacement calls nothing of this.
        let known = unsafe { *view.places.add(at) };
        if known.pair == pair {
            return Some(known.cache);
        }
        if known.pair == NO_CACHE.pair {
            return None;
        }
        at = (at + 1) & mask;
    }
}

/// The cache of a pool and a stream as this thread's list has it.
pub(crate) fn entered(pool: u64, stream: u64) -> Option<Weak<ThreadCache>> {
    let entered = |caches: &Caches| {
        let entries = lock(&caches.list.get()?.entries);
        let entry = entries.by_pair.get(&(pool, stream))?;
        Some(Weak::clone(&entry.cache))
    };
    CACHES.try_with(entered).ok().flatten()
}

/// The cache of a pool and a stream, made by `make` when there is none. `None` while the thread
/// ends: it keeps nothing any more.
pub(crate) fn find(
    (pool, thread_exit): (u64, &ThreadExit),
    stream: u64,
    make: impl FnOnce(&Arc<List>) -> Option<Arc<ThreadCache>>,
) -> Option<Arc<ThreadCache>> {
    CACHES
        .try_with(|caches| {
            let pair = (pool, stream);
            let list = caches.list.get_or_init(Arc::default);
            let entries = &mut *lock(&list.entries);
            let found = entries.by_pair.get(&pair);
            let cache = match found.and_then(|entry| entry.cache.upgrade()) {
                Some(cache) => cache,
                None => {
                    entries.forget_the_gone();
                    let cache = make(list)?;
                    let entry = Entry {
                        thread_exit: thread_exit.clone(),
                        cache: Arc::downgrade(&cache),
                    };
                    entries.by_pair.insert(pair, entry);
                    cache
                }
            };
            caches.show(pair, &cache, entries);
            Some(cache)
        })
        .ok()
        .flatten()
}

impl Entries {
    /// A table of all caches that are there.
    fn table(&self) -> Table {
        let mut table = Table::with_room(self.by_pair.len());
        for (&pair, Entry { cache, .. }) in &self.by_pair {
            if cache.strong_count() > 0 {
                let cache = cache.as_ptr();
                table.put(Known { pair, cache });
            }
        }
        table
    }

    /// Takes out those of pools and streams that are gone, when there may be as many as others.
    fn forget_the_gone(&mut self) {
        if self.by_pair.len() >= self.look_at {
            self.by_pair
                .retain(|_, entry| entry.cache.strong_count() > 0);
            self.look_at = (self.by_pair.len() * 2).max(LEAST);
        }
    }
}

impl Caches {
    /// Enters a cache into the table; where that is full, into a new one of all caches that are
    /// there.
    fn show(&self, pair: Pair, cache: &Arc<ThreadCache>, entries: &Entries) {
        let mut full = None;
        let mut table = match self.table.take() {
            Some(table) if !table.is_full() => table,
            // Shown until another one is.
            shown => {
                full = shown;
                entries.table()
            }
        };
        let cache = Arc::as_ptr(cache);
        table.put(Known { pair, cache });
        let view = View {
            places: table.places.as_ptr(),
            shift: table.shift,
        };
        self.table.set(Some(table));
        let _ = VIEW.try_with(|shown| shown.set(view));
        drop(full);
    }
}

impl Drop for Caches {
    fn drop(&mut self) {
        // First of all: frees of other destructors of this thread come later.
        let _ = VIEW.try_with(|view| view.set(NO_TABLE));
        let Some(list) = self.list.get() else {
            return;
        };
        // In the child of a fork another thread may have left the list taken.
        if list.process != std::process::id() {
            return;
        }
        // Not within the lock: others may want a cache out of the list that is retired here.
        let caches = std::mem::take(&mut lock(&list.entries).by_pair);
        for Entry { thread_exit, cache } in caches.into_values() {
            // A pool that is closed has closed its caches.
            if let Some(_visit) = thread_exit.enter()
                && let Some(cache) = cache.upgrade()
            {
                // SAFETY: the cache is this thread's, which is within none while it ends.
                unsafe { cache.retire() };
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn known(pair: Pair) -> Known {
        let cache = ptr::without_provenance(pair.1 as usize * 128);
        Known { pair, cache }
    }

    // Without it streams whose numbers are a power of two apart would meet at one place, and each
    // search for one go past all the others.
    #[test]
    fn neighbours_are_spread() {
        for apart in [1, 2, 16, 64, 1 << 20] {
            let mut table = Table::with_room(256);
            (1..=256).for_each(|at| table.put(known((1, at * apart))));
            let mask = table.places.len() - 1;
            let steps = |pair: Pair| {
                let from = place(pair, table.shift);
                let steps = (0..).find(|more| table.places[(from + more) & mask].pair == pair);
                steps.unwrap()
            };
            let longest = (1..=256).map(|at| steps((1, at * apart))).max().unwrap();
            assert!(longest <= 16, "{longest} steps with {apart} apart");
        }
    }

    // Without it a cache that was made anew would be entered beside the old one, which is gone.
    #[test]
    fn a_pair_has_one_place() {
        let mut table = Table::with_room(1);
        for cache in [8, 16, 24] {
            let cache = ptr::without_provenance(cache);
            let pair = (1, 1);
            table.put(Known { pair, cache });
        }
        let taken = (table.places.iter()).filter(|known| known.pair == (1, 1));
        assert_eq!(
            taken.map(|known| known.cache.addr()).collect::<Vec<_>>(),
            [24]
        );
        assert_eq!(table.taken, 1);
    }
}
