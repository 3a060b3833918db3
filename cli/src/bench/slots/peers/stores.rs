//! Stores of values that are named by keys.

use std::sync::{Mutex, PoisonError, RwLock};

use slotmap::{DefaultKey, Key as _, SlotMap};
use thunderdome::Arena;

use crate::bench::slots::lookup::{Chain, Lookups};
use crate::bench::slots::ours::lock;
use crate::bench::slots::pairs::{CAPACITY, Groups, Store};

pub(super) fn pairs(groups: &mut Groups) {
    groups.all("sharded-slab, insert + take", || {
        Take(sharded_slab::Slab::new())
    });
    groups.all("sharded-slab, insert + remove", || {
        Remove(sharded_slab::Slab::new())
    });
    groups.shared("sharded-slab Pool, create + clear", || {
        Clear(sharded_slab::Pool::new())
    });
    groups.all("std Mutex<slab>", || {
        MutexSlab(Mutex::new(slab::Slab::with_capacity(CAPACITY)))
    });
    groups.all("parking_lot Mutex<slab>", || {
        ParkingSlab(parking_lot::Mutex::new(slab::Slab::with_capacity(CAPACITY)))
    });
    groups.all("std Mutex<slotmap>", || {
        MutexSlotMap(Mutex::new(SlotMap::with_capacity(CAPACITY)))
    });
    groups.all("std Mutex<thunderdome>", || {
        MutexArena(Mutex::new(Arena::with_capacity(CAPACITY)))
    });
}

pub(super) fn lookups(lookups: &mut Lookups) {
    lookups.add::<SlotMap<DefaultKey, DefaultKey>>("slotmap get(&)");
    lookups.add::<slab::Slab<usize>>("slab get(&), no generation");
    lookups.add::<Arena<thunderdome::Index>>("thunderdome get(&)");
    lookups.add::<sharded_slab::Slab<usize>>("sharded-slab, get + drop");
    lookups.add::<Mutex<SlotMap<DefaultKey, DefaultKey>>>("std Mutex<slotmap> get");
    lookups.add::<RwLock<SlotMap<DefaultKey, DefaultKey>>>("std RwLock<slotmap> get");
}

struct Take(sharded_slab::Slab<u64>);
struct Remove(sharded_slab::Slab<u64>);
struct Clear(sharded_slab::Pool<Word>);
struct MutexSlab(Mutex<slab::Slab<u64>>);
struct ParkingSlab(parking_lot::Mutex<slab::Slab<u64>>);
struct MutexSlotMap(Mutex<SlotMap<DefaultKey, u64>>);
struct MutexArena(Mutex<Arena<u64>>);

/// What a `sharded_slab::Pool` may hold.
#[derive(Default)]
struct Word(u64);

impl sharded_slab::Clear for Word {
    fn clear(&mut self) {}
}

/// A store whose keys are plain data and whose threads keep nothing to themselves.
macro_rules! store {
    ($store:ty, $key:ty, $sleeps:literal, $insert:expr, $remove:expr) => {
        impl Store for $store {
            type Token<'s> = $key;
            const SLEEPS: bool = $sleeps;

            fn acquire(&self, value: u64) -> Option<$key> {
                let insert: fn(&Self, u64) -> Option<$key> = $insert;
                insert(self, value)
            }

            fn release(&self, token: $key, value: u64) -> Option<u64> {
                let remove: fn(&Self, $key, u64) -> Option<u64> = $remove;
                remove(self, token, value)
            }
        }
    };
}

store!(
    Take,
    usize,
    false,
    |store, value| store.0.insert(value),
    |store, key, _| store.0.take(key)
);
store!(
    Remove,
    usize,
    false,
    |store, value| store.0.insert(value),
    // Does not return the value.
    |store, key, value| store.0.remove(key).then_some(value)
);
store!(
    Clear,
    usize,
    false,
    |store, value| store.0.create_with(|object| object.0 = value),
    |store, key, value| store.0.clear(key).then_some(value)
);
store!(
    MutexSlab,
    usize,
    true,
    |store, value| Some(lock(&store.0).insert(value)),
    |store, key, _| lock(&store.0).try_remove(key)
);
store!(
    ParkingSlab,
    usize,
    true,
    |store, value| Some(store.0.lock().insert(value)),
    |store, key, _| store.0.lock().try_remove(key)
);
store!(
    MutexSlotMap,
    DefaultKey,
    true,
    |store, value| Some(lock(&store.0).insert(value)),
    |store, key, _| lock(&store.0).remove(key)
);
store!(
    MutexArena,
    thunderdome::Index,
    true,
    |store, value| Some(lock(&store.0).insert(value)),
    |store, key, _| lock(&store.0).remove(key)
);

/// A store that hands out references or guards.
macro_rules! chain {
    ($store:ty, $key:ty, $any:expr, $sleeps:literal, $insert:expr, $next:expr) => {
        impl Chain for $store {
            type Key = $key;
            const SLEEPS: bool = $sleeps;

            fn any() -> $key {
                $any
            }

            fn empty() -> Self {
                Self::default()
            }

            fn insert(&mut self, next: $key) -> Option<$key> {
                let insert: fn(&mut Self, $key) -> Option<$key> = $insert;
                insert(self, next)
            }

            fn next(&self, key: $key) -> Option<$key> {
                let next: fn(&Self, $key) -> Option<$key> = $next;
                next(self, key)
            }
        }
    };
}

chain!(
    SlotMap<DefaultKey, DefaultKey>,
    DefaultKey,
    DefaultKey::null(),
    false,
    |map, next| Some(map.insert(next)),
    |map, key| map.get(key).copied()
);
chain!(
    slab::Slab<usize>,
    usize,
    0,
    false,
    |slab, next| Some(slab.insert(next)),
    |slab, key| slab.get(key).copied()
);
chain!(
    Arena<thunderdome::Index>,
    thunderdome::Index,
    thunderdome::Index::DANGLING,
    false,
    |arena, next| Some(arena.insert(next)),
    |arena, key| arena.get(key).copied()
);
chain!(
    sharded_slab::Slab<usize>,
    usize,
    0,
    false,
    |slab, next| sharded_slab::Slab::insert(slab, next),
    |slab, key| slab.get(key).map(|entry| *entry)
);
chain!(
    Mutex<SlotMap<DefaultKey, DefaultKey>>,
    DefaultKey,
    DefaultKey::null(),
    true,
    |map, next| Some(lock(map).insert(next)),
    |map, key| lock(map).get(key).copied()
);
chain!(
    RwLock<SlotMap<DefaultKey, DefaultKey>>,
    DefaultKey,
    DefaultKey::null(),
    true,
    |map, next| {
        let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
        Some(map.insert(next))
    },
    |map, key| {
        let map = map.read().unwrap_or_else(PoisonError::into_inner);
        map.get(key).copied()
    }
);
