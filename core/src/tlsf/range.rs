//! The ranges of addresses that a heap manages, and the nodes for their blocks.

use super::node::NONE;
use super::{FreeBlock, Hooks, Node, Piece, RangeError, Tlsf};

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// Adds `size` free bytes at `start`. They merge with free neighbours where they touch
    /// and the hooks allow it; else they need a node. The time is constant above all other
    /// ranges, and linear in the number of the blocks above `start`.
    ///
    /// # Errors
    /// [`RangeError`]
    pub fn add_range(
        &mut self,
        start: u64,
        size: u64,
        data: H::Data,
    ) -> Result<FreeBlock, RangeError> {
        if size == 0 {
            return Err(RangeError::Empty);
        }
        if !(start | size).is_multiple_of(GRANULE) {
            return Err(RangeError::Misaligned);
        }
        let end = start.checked_add(size).ok_or(RangeError::TooLarge)?;
        let (mut before, mut after) = (self.chain.last, NONE);
        while before != NONE && self.chain.node(before).offset >= end {
            (before, after) = (self.chain.node(before).before, before);
        }
        if before != NONE && self.chain.node(before).end() > start {
            return Err(RangeError::Overlap);
        }
        let piece = Piece {
            offset: start,
            size,
            data,
        };
        let merged = self.merged(piece, before, after);
        if (merged.left, merged.right) == (NONE, NONE) && self.chain.spare() == 0 {
            return Err(RangeError::NoNodes);
        }
        self.free_bytes += size;
        // The node of the block that is merged on the right serves for the new one.
        if merged.right != NONE {
            self.unlink(merged.right);
            self.chain.remove(merged.right);
            after = match before {
                NONE => self.chain.first,
                before => self.chain.node(before).after,
            };
        }
        if merged.left == NONE {
            let new = self.chain.insert(before, after);
            self.link_new(new, merged.piece);
            Ok(self.name(new))
        } else {
            self.resize(merged.left, merged.piece);
            Ok(self.name(merged.left))
        }
    }

    /// Nodes that are not in use. An allocation needs at most two, a free none.
    pub fn spare_nodes(&self) -> u32 {
        self.chain.spare()
    }

    /// Appends nodes to a storage that grows, such as a vector.
    ///
    /// ```
    /// use cupola_core::Tlsf;
    /// use cupola_core::tlsf::{AllocateError, Node};
    ///
    /// let mut heap = Tlsf::<_>::new(vec![Node::default()], ());
    /// heap.add_range(0, 100, ()).unwrap();
    /// assert_eq!(heap.allocate(10, 1, ()), Err(AllocateError::NoNodes(1)));
    /// heap.lend([Node::default()]);
    /// assert_eq!(heap.allocate(10, 1, ()).unwrap().offset(), 0);
    /// ```
    pub fn lend(&mut self, nodes: impl IntoIterator<Item = Node<H::Data>>)
    where
        S: Extend<Node<H::Data>>,
    {
        self.chain.storage.extend(nodes);
    }
}
