//! How callers of a pool name blocks.

use super::MemoryPool;
use crate::error::Result;
use crate::pool::heap::block_name::BlockName;
use crate::pool::state::Pool;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::BlockName {}
    impl Sealed for &str {}
}

/// A value that can name a block: a [`BlockName`], which costs nothing, or a text, which is looked
/// up with each allocation, under a lock that all pools of the process share.
pub trait AsBlockName: sealed::Sealed {
    /// The name.
    ///
    /// # Errors
    /// Those of [`MemoryPool::name`].
    fn in_pool(self, pool: &MemoryPool) -> Result<BlockName>;
}

impl AsBlockName for BlockName {
    #[inline]
    fn in_pool(self, _: &MemoryPool) -> Result<BlockName> {
        Ok(self)
    }
}

impl AsBlockName for &str {
    fn in_pool(self, pool: &MemoryPool) -> Result<BlockName> {
        pool.name(self)
    }
}

impl Pool {
    /// The word for a name, where one may be used: asked before the lock, which another thread may
    /// have left taken in a fork.
    pub(crate) fn intern(&self, name: &str) -> Result<BlockName> {
        if !mutant!("names_take_a_lock_in_a_fork") {
            self.core.healthy()?;
        }
        Ok(BlockName::intern(name))
    }
}
