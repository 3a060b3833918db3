//! `HeapUsage`: used and free bytes of a heap, and in how many blocks.

use super::node::NONE;
use super::{Hooks, Node, Tlsf};

/// The account of a [`Tlsf`], exact. Sizes are in bytes, rounded up to the granule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapUsage {
    /// Bytes in allocated blocks.
    pub used_bytes: u64,
    /// Bytes in free blocks.
    pub free_bytes: u64,
    /// Allocated blocks.
    pub used_blocks: u32,
    /// Free blocks. Two that touch and may not be merged are two.
    pub free_blocks: u32,
    /// The largest free block: the largest request without alignment that fits, if the hooks
    /// do not forbid the place. It is used up whole, so no node is needed.
    pub largest_free: u64,
}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// How many blocks are allocated. Unlike [`usage`](Self::usage) this takes constant time.
    pub const fn used_blocks(&self) -> u32 {
        self.used_blocks
    }

    /// The account. Everything is kept up to date but the largest free block, for which all
    /// blocks of the highest class are looked at: the time is linear in their number.
    pub fn usage(&self) -> HeapUsage {
        let mut largest_free = 0;
        if let Some(class) = self.index.last() {
            let mut at = self.index.head(class);
            while at != NONE {
                let node = self.chain.node(at);
                largest_free = largest_free.max(node.size);
                at = node.next;
            }
        }
        HeapUsage {
            used_bytes: self.used_bytes,
            free_bytes: self.free_bytes,
            used_blocks: self.used_blocks,
            free_blocks: self.free_blocks,
            largest_free,
        }
    }
}
