//! All blocks of a heap in the order of their addresses.

use core::iter::FusedIterator;

use super::node::NONE;
use super::{Block, Entry, FreeBlock, Hooks, Node, Piece, Tlsf};

/// The blocks of a heap, from either end: see [`Tlsf::blocks`].
#[derive(Clone, Debug)]
pub struct Blocks<'a, D> {
    nodes: &'a [Node<D>],
    first: u32,
    last: u32,
    left: usize,
}

impl<'a, D: Copy> Blocks<'a, D> {
    fn entry(&mut self, at: u32) -> Option<(&'a Node<D>, Entry<D>)> {
        self.left = self.left.checked_sub(1)?;
        let node = self.nodes.get(at as usize)?;
        let entry = if node.is_free() {
            let name = FreeBlock {
                serial: node.serial,
                node: at,
            };
            Entry::Free(name, node.piece())
        } else {
            let block = Block {
                offset: node.offset,
                size: node.size,
                serial: node.serial,
                node: at,
            };
            Entry::Used(block, node.data)
        };
        Some((node, entry))
    }
}

impl<D: Copy> Iterator for Blocks<'_, D> {
    type Item = Entry<D>;

    fn next(&mut self) -> Option<Entry<D>> {
        let (node, entry) = self.entry(self.first)?;
        self.first = node.after;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<D: Copy> DoubleEndedIterator for Blocks<'_, D> {
    fn next_back(&mut self) -> Option<Entry<D>> {
        let (node, entry) = self.entry(self.last)?;
        self.last = node.before;
        Some(entry)
    }
}

impl<D: Copy> ExactSizeIterator for Blocks<'_, D> {}

impl<D: Copy> FusedIterator for Blocks<'_, D> {}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// Gives every free block new data, made from its present data. Nothing is merged by this: that
    /// is for [`coalesce_all`](Self::coalesce_all). The time is linear in the number of blocks.
    ///
    /// ```
    /// use cupola_core::Tlsf;
    /// use cupola_core::tlsf::{Entry, Hooks, Node};
    ///
    /// struct ByOwner;
    ///
    /// impl Hooks for ByOwner {
    ///     type Data = char;
    ///     type Request = ();
    /// }
    ///
    /// let mut heap = Tlsf::<_, ByOwner>::new([Node::new(' '); 4], ByOwner);
    /// heap.add_range(0, 100, 'a').unwrap();
    /// let block = heap.allocate(10, 1, 'b').unwrap();
    /// heap.update_free(|piece| if piece.data == 'a' { 'c' } else { piece.data });
    /// let data = heap.blocks().map(|entry| match entry {
    ///     Entry::Used(_, data) => data,
    ///     Entry::Free(_, piece) => piece.data,
    /// });
    /// assert!(data.eq(['b', 'c']));
    /// heap.free(block, 'd').unwrap();
    /// ```
    pub fn update_free(&mut self, mut data: impl FnMut(&Piece<H::Data>) -> H::Data) {
        let mut at = self.chain.first;
        while at != NONE {
            let node = self.chain.node_mut(at);
            if node.is_free() {
                node.data = data(&node.piece());
            }
            at = node.after;
        }
    }

    /// All blocks, used and free, from the lowest address to the highest.
    pub fn blocks(&self) -> Blocks<'_, H::Data> {
        Blocks {
            nodes: self.chain.nodes(),
            first: self.chain.first,
            last: self.chain.last,
            left: self.used_blocks as usize + self.free_blocks as usize,
        }
    }
}
