//! A check of all invariants of a heap, for tests.

use super::class::Class;
use super::node::NONE;
use super::{Hooks, Node, Tlsf};

/// An invariant that does not hold: a bug in this crate, or nodes that were changed or cut
/// off behind a heap's back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The blocks at this node and the one before it overlap, are out of order, are not on
    /// granules or do not name each other as neighbours.
    Order(u32),
    /// The free block at this node is not where its class says.
    Class(u32),
    /// A bitmap and the lists disagree.
    Bitmap,
    /// The counters do not say what there is.
    Account,
    /// A node is neither in use nor vacant, or both.
    Nodes,
}

impl core::fmt::Display for Damage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Order(node) => write!(f, "the block at node {node} is out of order"),
            Self::Class(node) => write!(f, "the free block at node {node} is in a wrong class"),
            Self::Bitmap => f.write_str("a bitmap does not agree with its lists"),
            Self::Account => f.write_str("the account is wrong"),
            Self::Nodes => f.write_str("nodes are lost"),
        }
    }
}

impl core::error::Error for Damage {}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// Looks at every node. The time is linear in their number.
    ///
    /// # Errors
    /// The first [`Damage`] that is found; never for a heap whose nodes no other code
    /// has touched.
    pub fn check(&self) -> Result<(), Damage> {
        self.check_order()?;
        self.check_classes()?;
        self.check_vacant()
    }

    fn check_order(&self) -> Result<(), Damage> {
        let (mut used, mut free) = ((0, 0), (0, 0));
        let (mut before, mut at, mut end) = (NONE, self.chain.first, 0);
        while at != NONE {
            let node = self.chain.nodes().get(at as usize).ok_or(Damage::Nodes)?;
            let next = node.offset.checked_add(node.size);
            let (true, Some(next)) = (at < self.chain.fresh && node.serial != 0, next) else {
                return Err(Damage::Nodes);
            };
            // Every block begins behind the one before it, so this ends.
            let granules = (node.offset | node.size).is_multiple_of(GRANULE);
            if node.before != before || node.offset < end || node.size == 0 || !granules {
                return Err(Damage::Order(at));
            }
            let (blocks, bytes) = if node.is_free() { &mut free } else { &mut used };
            *blocks += 1;
            *bytes += node.size;
            (before, at, end) = (at, node.after, next);
        }
        let account = (self.used_blocks, self.used_bytes) == used;
        if !account || (self.free_blocks, self.free_bytes) != free || self.chain.last != before {
            return Err(Damage::Account);
        }
        Ok(())
    }

    fn check_classes(&self) -> Result<(), Damage> {
        let mut left = self.free_blocks;
        let mut from = Class::of(0);
        while let Some(class) = self.index.first_from(from) {
            let (mut before, mut at) = (NONE, self.index.head(class));
            while at != NONE {
                let node = self
                    .chain
                    .nodes()
                    .get(at as usize)
                    .ok_or(Damage::Class(at))?;
                if !node.is_free() || node.previous != before || Self::class(node.size) != class {
                    return Err(Damage::Class(at));
                }
                left = left.checked_sub(1).ok_or(Damage::Class(at))?;
                (before, at) = (at, node.next);
            }
            from = class.next();
        }
        let agrees = left == 0 && self.index.agrees();
        if agrees { Ok(()) } else { Err(Damage::Bitmap) }
    }

    fn check_vacant(&self) -> Result<(), Damage> {
        let (mut vacant, mut at) = (0, self.chain.vacant);
        while at != NONE {
            let node = self.chain.nodes().get(at as usize).ok_or(Damage::Nodes)?;
            vacant += 1;
            if node.serial != 0 || vacant > self.chain.vacant_count {
                return Err(Damage::Nodes);
            }
            at = node.next;
        }
        let in_use = u64::from(self.used_blocks) + u64::from(self.free_blocks);
        let all = in_use + u64::from(vacant) == u64::from(self.chain.fresh);
        if all && vacant == self.chain.vacant_count {
            Ok(())
        } else {
            Err(Damage::Nodes)
        }
    }
}
