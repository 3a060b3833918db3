//! Pools of objects: a guard gives its object back when it is dropped.

use std::sync::OnceLock;

use heapless::pool::object::{Object, ObjectBlock};
use lockfree_object_pool::{LinearObjectPool, LinearReusable};
use opool::{PoolAllocator, RefGuard};

use crate::bench::slots::bars::{HEAPLESS, LINEAR, OBJECT_POOL, OPOOL};
use crate::bench::slots::pairs::{CAPACITY, Groups, Store};

pub(super) fn pairs(groups: &mut Groups) {
    groups.all(HEAPLESS, Heapless::new);
    groups.shared(OPOOL, || Opool(opool::Pool::new_prefilled(CAPACITY, Zero)));
    groups.shared(LINEAR, || Linear(LinearObjectPool::new(|| 0, |_| {})));
    groups.shared(OBJECT_POOL, || {
        ObjectPool(object_pool::Pool::new(CAPACITY, || 0))
    });
}

/// The macro makes a public item without documentation.
#[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
mod singleton {
    heapless::object_pool!(Blocks: u64);
}
use singleton::Blocks;

/// All of these are the same pool: heapless knows no others.
struct Heapless;

impl Heapless {
    fn new() -> Self {
        static FILLED: OnceLock<()> = OnceLock::new();
        FILLED.get_or_init(|| {
            for _ in 0..CAPACITY {
                Blocks.manage(Box::leak(Box::new(ObjectBlock::new(0))));
            }
        });
        Self
    }
}

impl Store for Heapless {
    type Local<'s> = ();
    type Token<'s> = Object<Blocks>;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), value: u64) -> Option<Object<Blocks>> {
        let mut object = Blocks.request()?;
        *object = value;
        Some(object)
    }

    fn release(&self, (): &mut (), token: Object<Blocks>, _: u64) -> Option<u64> {
        Some(*token)
    }
}

struct Zero;

impl PoolAllocator<u64> for Zero {
    fn allocate(&self) -> u64 {
        0
    }
}

struct Opool(opool::Pool<Zero, u64>);

impl Store for Opool {
    type Local<'s> = ();
    type Token<'s> = RefGuard<'s, Zero, u64>;

    fn local(&self, _: usize) {}

    fn acquire<'s>(&'s self, (): &mut (), value: u64) -> Option<Self::Token<'s>> {
        let mut object = self.0.try_get()?;
        *object = value;
        Some(object)
    }

    fn release<'s>(&'s self, (): &mut (), token: Self::Token<'s>, _: u64) -> Option<u64> {
        Some(*token)
    }
}

struct Linear(LinearObjectPool<u64>);

impl Store for Linear {
    type Local<'s> = ();
    type Token<'s> = LinearReusable<'s, u64>;

    fn local(&self, _: usize) {}

    fn acquire<'s>(&'s self, (): &mut (), value: u64) -> Option<Self::Token<'s>> {
        let mut object = self.0.pull();
        *object = value;
        Some(object)
    }

    fn release<'s>(&'s self, (): &mut (), token: Self::Token<'s>, _: u64) -> Option<u64> {
        Some(*token)
    }
}

struct ObjectPool(object_pool::Pool<u64>);

impl Store for ObjectPool {
    type Local<'s> = ();
    type Token<'s> = object_pool::Reusable<'s, u64>;
    const SLEEPS: bool = true;

    fn local(&self, _: usize) {}

    fn acquire<'s>(&'s self, (): &mut (), value: u64) -> Option<Self::Token<'s>> {
        let mut object = self.0.try_pull()?;
        *object = value;
        Some(object)
    }

    fn release<'s>(&'s self, (): &mut (), token: Self::Token<'s>, _: u64) -> Option<u64> {
        Some(*token)
    }
}
