//! Lookups: a key is checked and the value that it names is read. The values are keys
//! themselves, a random cycle through 1024 live entries, so that each lookup waits for the
//! one before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use cupola_core::{FixedSlots, Handle, SlotPool, tag};

use super::bars::{FIXED_GET, POOL_GET};
use super::ours::{Heap, lock};
use super::pairs::CAPACITY;
use crate::bench::rounds::Case;

/// Live entries.
const LIVE: usize = 1024;

/// The prefix of the rows of one thread.
pub(super) const ONE: &str = "lookup";

/// The row that others are compared with.
const FLOOR: &str = "FLOOR, acquire load + dependent read";

/// A store of keys.
pub(super) trait Chain: Sync + 'static {
    type Key: Copy + PartialEq + Send + Sync;

    /// Threads may sleep in here.
    const SLEEPS: bool = false;

    /// A key of whatever entry, even of none.
    fn any() -> Self::Key;

    /// An empty store. Two of them give the same keys for the same insertions.
    fn empty() -> Self;

    /// Stores a key; the key of its entry.
    fn insert(&mut self, next: Self::Key) -> Option<Self::Key>;

    /// The key that the entry of this key holds, if the entry is still there.
    fn next(&self, key: Self::Key) -> Option<Self::Key>;
}

/// The rows of lookups.
pub(super) struct Lookups {
    threads: usize,
    cases: [Vec<Case>; 2],
}

/// The prefix of the rows of several threads.
pub(super) fn many(threads: usize) -> String {
    format!("{ONE}, {threads} threads")
}

/// All rows.
pub(super) fn cases(threads: usize) -> impl Iterator<Item = Case> {
    let mut lookups = Lookups {
        threads,
        cases: [vec![], vec![]],
    };
    lookups.add::<Floor>(FLOOR);
    lookups.add::<Fixed>(FIXED_GET);
    lookups.add::<Pool>(POOL_GET);
    lookups.add::<MutexVec>("std Mutex<Vec>, index only");
    lookups.add::<RwLockVec>("std RwLock<Vec>, index only");
    #[cfg(feature = "peers")]
    super::peers::lookups(&mut lookups);
    lookups.cases.into_iter().flatten()
}

impl Lookups {
    /// Measures a store on one thread and on several.
    pub(super) fn add<C: Chain>(&mut self, name: &str) {
        let alone = format!("{ONE}: {name}");
        let case = lookup::<C>(alone.clone(), 1).against(format!("{ONE}: {FLOOR}"));
        self.cases[0].push(case);
        if self.threads > 1 {
            let group = many(self.threads);
            let case = lookup::<C>(format!("{group}: {name}"), self.threads)
                .against(format!("{group}: {FLOOR}"))
                .alone(alone)
                .sleeps(C::SLEEPS);
            self.cases[1].push(case);
        }
    }
}

/// Every thread goes round the same cycle, from an entry of its own.
fn lookup<C: Chain>(name: String, threads: usize) -> Case {
    let made = chain::<C>();
    Case::new(name, threads, move |turn| {
        let (store, keys) = made.as_ref()?;
        let start = keys[turn.thread * 37 % LIVE];
        let mut wrong = false;
        let lap = turn.measure(|| {
            let mut key = start;
            for _ in 0..LIVE {
                let Some(next) = store.next(key) else {
                    wrong = true;
                    break;
                };
                key = next;
            }
            wrong |= key != start;
            LIVE as u64
        });
        (!wrong).then_some(lap)
    })
}

/// A store of a random cycle, and its keys. Values must be known before the entries that
/// they name exist: a second store, filled alike, says what their keys will be.
fn chain<C: Chain>() -> Option<(C, Vec<C::Key>)> {
    let mut twin = C::empty();
    let keys: Option<Vec<_>> = (0..LIVE).map(|_| twin.insert(C::any())).collect();
    let keys = keys?;
    let mut store = C::empty();
    for (entry, next) in cycle().into_iter().enumerate() {
        if store.insert(keys[next])? != keys[entry] {
            return None;
        }
    }
    Some((store, keys))
}

/// For each entry the next one, in one random cycle through all (Sattolo 1986).
fn cycle() -> Vec<usize> {
    let mut next: Vec<usize> = (0..LIVE).collect();
    let mut random = 1_u64;
    for last in (1..LIVE).rev() {
        // Knuth's MMIX generator; its high bits are good enough for this.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        next.swap(last, (random >> 33) as usize % last);
    }
    next
}

/// A state that says that the entry is there, and the value.
struct Floor(Vec<(AtomicU64, usize)>);

impl Chain for Floor {
    type Key = usize;

    fn any() -> usize {
        0
    }

    fn empty() -> Self {
        Self(Vec::new())
    }

    fn insert(&mut self, next: usize) -> Option<usize> {
        self.0.push((AtomicU64::new(1), next));
        Some(self.0.len() - 1)
    }

    fn next(&self, key: usize) -> Option<usize> {
        let (state, next) = self.0.get(key)?;
        (state.load(Ordering::Acquire) == 1).then_some(*next)
    }
}

/// Slots in place, looked at under a lease.
struct Fixed(Box<FixedSlots<Handle<tag::Slot>, CAPACITY>>);

/// The handle of the first life of the first slot of any store.
fn first() -> Handle<tag::Slot> {
    let store = FixedSlots::<(), 1>::new();
    store
        .insert(())
        .unwrap_or_else(|_| unreachable!("the store is empty"))
}

impl Chain for Fixed {
    type Key = Handle<tag::Slot>;

    fn any() -> Self::Key {
        first()
    }

    fn empty() -> Self {
        Self(Box::default())
    }

    fn insert(&mut self, next: Self::Key) -> Option<Self::Key> {
        self.0.insert(next).ok()
    }

    fn next(&self, key: Self::Key) -> Option<Self::Key> {
        self.0.get(key).ok().map(|lease| *lease)
    }
}

/// Slots in chunks, looked at under a lease.
struct Pool(SlotPool<Handle<tag::Slot>, Heap>);

impl Chain for Pool {
    type Key = Handle<tag::Slot>;

    fn any() -> Self::Key {
        first()
    }

    fn empty() -> Self {
        Self(SlotPool::new(Heap))
    }

    fn insert(&mut self, next: Self::Key) -> Option<Self::Key> {
        self.0.insert(next).ok()
    }

    fn next(&self, key: Self::Key) -> Option<Self::Key> {
        self.0.get(key).ok().map(|lease| *lease)
    }
}

struct MutexVec(Mutex<Vec<usize>>);

impl Chain for MutexVec {
    type Key = usize;
    const SLEEPS: bool = true;

    fn any() -> usize {
        0
    }

    fn empty() -> Self {
        Self(Mutex::default())
    }

    fn insert(&mut self, next: usize) -> Option<usize> {
        let mut entries = lock(&self.0);
        entries.push(next);
        Some(entries.len() - 1)
    }

    fn next(&self, key: usize) -> Option<usize> {
        lock(&self.0).get(key).copied()
    }
}

struct RwLockVec(RwLock<Vec<usize>>);

impl Chain for RwLockVec {
    type Key = usize;
    const SLEEPS: bool = true;

    fn any() -> usize {
        0
    }

    fn empty() -> Self {
        Self(RwLock::default())
    }

    fn insert(&mut self, next: usize) -> Option<usize> {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        entries.push(next);
        Some(entries.len() - 1)
    }

    fn next(&self, key: usize) -> Option<usize> {
        let entries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it lookups could stay within a few entries.
    #[test]
    fn the_cycle_goes_through_all_entries() {
        let next = cycle();
        let mut at = 0;
        for step in 1..=LIVE {
            at = next[at];
            assert_eq!(at == 0, step == LIVE, "back at {step}");
        }
    }
}
