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
        self.end = self.end.max(end);
        // The node of what is merged on the right serves for the new block.
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

    /// Adds `size` free bytes at [`end`](Self::end), in constant time: to the highest range,
    /// or where the last [`truncate`](Self::truncate) has cut.
    ///
    /// # Errors
    /// [`RangeError`]
    pub fn extend(&mut self, size: u64, data: H::Data) -> Result<FreeBlock, RangeError> {
        self.add_range(self.end(), size, data)
    }

    /// Gives up everything from `end` on, which must be free, and says how many bytes that
    /// was. [`extend`](Self::extend) goes on at `end`, even if nothing is left below it. A
    /// block that is cut keeps its name and gets the data that [`Hooks::split`] says. The
    /// time is linear in the number of free blocks from `end` on.
    ///
    /// # Errors
    /// [`RangeError::InUse`], or [`RangeError::Misaligned`] when `end` is not on a granule
    pub fn truncate(&mut self, end: u64) -> Result<u64, RangeError> {
        if !end.is_multiple_of(GRANULE) {
            return Err(RangeError::Misaligned);
        }
        let (mut at, mut rest) = (self.chain.last, None);
        while at != NONE && self.chain.node(at).end() > end {
            let node = self.chain.node(at);
            if !node.is_free() {
                return Err(RangeError::InUse);
            }
            if node.offset < end {
                rest = Some(node.piece());
            }
            at = node.before;
        }
        // The hooks are asked before anything changes: they may panic.
        let rest = rest.map(|whole| {
            let size = end - whole.offset;
            let data = self.hooks.split(&whole, whole.offset, size);
            Piece {
                size,
                data,
                ..whole
            }
        });
        let before = self.free_bytes;
        while let last = self.chain.last
            && last != NONE
            && self.chain.node(last).end() > end
        {
            let Node { offset, size, .. } = *self.chain.node(last);
            match rest {
                Some(rest) if offset < end => {
                    self.free_bytes -= size - rest.size;
                    self.resize(last, rest);
                }
                _ => {
                    self.free_bytes -= size;
                    self.unlink(last);
                    self.chain.remove(last);
                }
            }
        }
        self.end = self.end.min(end);
        if self.chain.first == NONE {
            self.chain.reset();
        }
        Ok(before - self.free_bytes)
    }

    /// Where the highest range ends, in bytes, or where [`truncate`](Self::truncate) has cut
    /// since; 0 before the first range.
    pub const fn end(&self) -> u64 {
        self.end
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

    /// Moves the blocks to another storage, and gives the old one back. Names stay good.
    ///
    /// # Errors
    /// Gives `storage` back when it has fewer nodes than were in use at one time since the
    /// heap last managed nothing: nodes keep their places, so vacant ones between them count.
    pub fn replace_nodes(&mut self, mut storage: S) -> Result<S, S> {
        let in_use = self.chain.fresh as usize;
        match storage.as_mut().get_mut(..in_use) {
            Some(nodes) => nodes.copy_from_slice(&self.chain.nodes()[..in_use]),
            None => return Err(storage),
        }
        Ok(core::mem::replace(&mut self.chain.storage, storage))
    }
}
