//! Free blocks: how they merge, and how they enter and leave the classes.

use super::node::NONE;
use super::{FreeBlock, Hooks, Node, Piece, Tlsf};

/// A free stretch together with the neighbours that it may merge with.
#[derive(Clone, Copy)]
pub(super) struct Merged<D> {
    pub(super) piece: Piece<D>,
    /// The neighbours that become part of it; `NONE` for neither.
    pub(super) left: u32,
    pub(super) right: u32,
}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// The free stretch at a name; `None` once the name is stale.
    pub fn piece(&self, name: FreeBlock) -> Option<Piece<H::Data>> {
        self.chain.named(name.node, name.serial).map(Node::piece)
    }

    /// Tries again to merge all free neighbours, from the lowest address up and until no two
    /// may merge any more, and returns the number of merges. The time is linear in the
    /// number of blocks.
    pub fn coalesce_all(&mut self) -> u32 {
        self.coalesce_by(H::may_merge)
    }

    /// As [`coalesce_all`](Self::coalesce_all), but `may_merge` is asked in the place of
    /// [`Hooks::may_merge`]: for merges that one request allows, and no other.
    ///
    /// ```
    /// use cupola_core::Tlsf;
    /// use cupola_core::tlsf::{Hooks, Node, Piece};
    ///
    /// struct Apart;
    ///
    /// impl Hooks for Apart {
    ///     type Data = ();
    ///     type Request = ();
    ///     fn may_merge(&self, _: &Piece<()>, _: &Piece<()>) -> bool {
    ///         false
    ///     }
    /// }
    ///
    /// let mut heap = Tlsf::<_, Apart>::new([Node::new(()); 4], Apart);
    /// for start in [0, 10, 20] {
    ///     heap.add_range(start, 10, ()).unwrap();
    /// }
    /// assert_eq!(heap.coalesce_all(), 0);
    /// assert_eq!(heap.coalesce_by(|_, _, right| right.offset == 10), 1);
    /// assert_eq!(heap.usage().largest_free, 20);
    /// ```
    pub fn coalesce_by(
        &mut self,
        mut may_merge: impl FnMut(&H, &Piece<H::Data>, &Piece<H::Data>) -> bool,
    ) -> u32 {
        let before = self.free_blocks;
        let mut at = self.chain.first;
        while at != NONE {
            let node = self.chain.node(at);
            let after = node.after;
            if !node.is_free() {
                at = after;
                continue;
            }
            let merged = self.merged_by(node.piece(), NONE, after, &mut may_merge);
            if merged.right == NONE {
                at = after;
            } else {
                self.absorb(at, merged);
                // The one on the left may merge with what this one has become.
                match self.chain.node(at).before {
                    NONE => {}
                    _ if mutant!("tlsf_coalesces_in_one_pass") => {}
                    left => at = left,
                }
            }
        }
        before - self.free_blocks
    }

    /// The stretch that `piece` becomes between the blocks `before` and `after`: first it
    /// merges with the left one, then the whole with the right one.
    #[inline(always)]
    pub(super) fn merged(&self, piece: Piece<H::Data>, before: u32, after: u32) -> Merged<H::Data> {
        self.merged_by(piece, before, after, &mut H::may_merge)
    }

    #[inline(always)]
    fn merged_by(
        &self,
        piece: Piece<H::Data>,
        before: u32,
        after: u32,
        may_merge: &mut impl FnMut(&H, &Piece<H::Data>, &Piece<H::Data>) -> bool,
    ) -> Merged<H::Data> {
        let mut may_merge = |left: &Piece<H::Data>, right: &Piece<H::Data>| {
            // Between two ranges there may be a gap, about which the hooks have nothing to say.
            left.end() == right.offset
                && (mutant!("tlsf_merge_hook_ignored") || may_merge(&self.hooks, left, right))
        };
        let mut merged = Merged {
            piece,
            left: NONE,
            right: NONE,
        };
        let free = |at: u32| {
            let node = (at != NONE).then(|| self.chain.node(at))?;
            node.is_free().then(|| node.piece())
        };
        if let Some(left) = free(before)
            && may_merge(&left, &merged.piece)
        {
            merged.left = before;
            merged.piece = self.union(&left, &merged.piece);
        }
        if let Some(right) = free(after)
            && may_merge(&merged.piece, &right)
        {
            merged.right = after;
            merged.piece = self.union(&merged.piece, &right);
        }
        merged
    }

    fn union(&self, left: &Piece<H::Data>, right: &Piece<H::Data>) -> Piece<H::Data> {
        Piece {
            offset: left.offset,
            size: left.size + right.size,
            data: self.hooks.merge(left, right),
        }
    }

    /// Makes `at`, a block that is in no class, and the neighbours in `merged` one free
    /// block, which keeps the left one's name if there is one.
    #[inline(always)]
    pub(super) fn settle(&mut self, at: u32, merged: Merged<H::Data>) -> FreeBlock {
        if merged.right != NONE {
            self.unlink(merged.right);
            self.chain.remove(merged.right);
        }
        if merged.left != NONE {
            self.resize(merged.left, merged.piece);
            self.chain.remove(at);
            return self.name(merged.left);
        }
        self.link_new(at, merged.piece);
        self.name(at)
    }

    /// Adds its right neighbour to a free block, which keeps its name.
    fn absorb(&mut self, at: u32, merged: Merged<H::Data>) {
        self.unlink(merged.right);
        self.chain.remove(merged.right);
        self.resize(at, merged.piece);
    }

    pub(super) fn name(&self, at: u32) -> FreeBlock {
        FreeBlock {
            serial: self.chain.node(at).serial,
            node: at,
        }
    }

    /// Changes the free stretch at a node, and moves it to the class of its new size.
    #[inline(always)]
    pub(super) fn resize(&mut self, at: u32, piece: Piece<H::Data>) {
        let node = self.chain.node_mut(at);
        let (old, new) = (Self::class(node.size), Self::class(piece.size));
        (node.offset, node.size, node.data) = (piece.offset, piece.size, piece.data);
        if old != new {
            self.index.unlink(self.chain.nodes_mut(), at, old);
            self.index.link(self.chain.nodes_mut(), at, new);
        }
    }

    /// Makes a node that is in no class a free block with a name of its own.
    #[inline(always)]
    pub(super) fn link_new(&mut self, at: u32, piece: Piece<H::Data>) {
        let serial = self.next_serial(false);
        let node = self.chain.node_mut(at);
        (node.offset, node.size, node.data) = (piece.offset, piece.size, piece.data);
        node.serial = serial;
        self.free_blocks += 1;
        let class = Self::class(piece.size);
        self.index.link(self.chain.nodes_mut(), at, class);
    }

    /// Takes a free block out of its class.
    #[inline(always)]
    pub(super) fn unlink(&mut self, at: u32) {
        self.free_blocks -= 1;
        let class = Self::class(self.chain.node(at).size);
        self.index.unlink(self.chain.nodes_mut(), at, class);
    }
}
