//! The blocks that callers have, by their addresses: a caller in C gives an address back, and nothing else.
//!
//! An address is unique in the process, whichever device it is of. It is looked for under one of many
//! locks, which threads meet seldom, beside requests of a microsecond or so of the framework's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use cupola_managers::pool::RawBlock;

use crate::error::Failure;
use crate::streams::KnownStream;
use crate::sync::lock;

/// A block that its caller has.
pub(crate) struct LiveBlock {
    pub(crate) block: RawBlock,
    /// As many as were asked for.
    pub(crate) bytes: u64,
    /// The device that it is of.
    pub(crate) device: u32,
    /// The stream that it was allocated on.
    pub(crate) home: Arc<KnownStream>,
    /// Other streams that use it.
    pub(crate) others: Vec<Arc<KnownStream>>,
}

impl LiveBlock {
    /// It is free only behind the work that is on this stream then.
    pub(crate) fn add_user(&mut self, stream: &Arc<KnownStream>) {
        let is_it = |user: &Arc<KnownStream>| Arc::ptr_eq(user, stream);
        if !is_it(&self.home) && !self.others.iter().any(is_it) {
            self.others.push(Arc::clone(stream));
        }
    }

    /// Frees it behind the work that is on its streams now, or gives it back as it was.
    ///
    /// # Safety
    /// All work that uses the block is on its streams, or over.
    pub(crate) unsafe fn free(self) -> Result<(), Box<(Self, Failure)>> {
        let Self {
            block,
            bytes,
            device,
            home,
            others,
        } = self;
        let streams: Vec<_> = others.iter().map(|it| it.stream().clone()).collect();
        // SAFETY: all work that uses it is on these streams, by the condition of this function; the first is
        // the one that it was allocated on.
        let freed = unsafe { block.free_behind(home.stream(), &streams) };
        freed.map_err(|refused| {
            let (block, error) = refused.into_parts();
            let same = Self {
                block,
                bytes,
                device,
                home,
                others,
            };
            Box::new((same, error.into()))
        })
    }
}

const SHARDS: usize = 64;

type Shard = Mutex<HashMap<u64, LiveBlock>>;

fn shard(address: u64) -> MutexGuard<'static, HashMap<u64, LiveBlock>> {
    static TABLE: OnceLock<[Shard; SHARDS]> = OnceLock::new();
    let table = TABLE.get_or_init(|| std::array::from_fn(|_| Shard::default()));
    // The multiplier is 2^64 over the golden ratio, which spreads the blocks of an array.
    let at = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SHARDS.trailing_zeros());
    lock(&table[at as usize % SHARDS])
}

/// Its caller has the block from now on.
pub(crate) fn insert(block: LiveBlock) {
    shard(block.block.address()).insert(block.block.address(), block);
}

/// The block that begins at an address, which its caller gives back. Of several threads that give one back
/// at a time, one has it.
pub(crate) fn remove(address: u64) -> Result<LiveBlock, Failure> {
    let found = shard(address).remove(&address);
    found.ok_or(Failure::UnknownPointer(address))
}

/// Looks at the block that begins at an address. Under the lock: it calls no driver and frees nothing.
pub(crate) fn with<T>(address: u64, look: impl FnOnce(&mut LiveBlock) -> T) -> Result<T, Failure> {
    let mut shard = shard(address);
    let found = shard.get_mut(&address).map(look);
    found.ok_or(Failure::UnknownPointer(address))
}
