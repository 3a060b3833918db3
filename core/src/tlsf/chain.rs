//! The nodes of a heap: the blocks in the order of their addresses, and the vacant rest.

use core::marker::PhantomData;

use super::node::{NONE, Node};

/// The storage that the caller lends, and the nodes in it. No code but `insert` and `remove`
/// changes how many nodes are in use.
#[derive(Clone, Debug)]
pub(super) struct Chain<S, D> {
    pub(super) storage: S,
    /// The lowest and the highest block.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Nodes that were in use, chained by `next`, and their number.
    pub(super) vacant: u32,
    pub(super) vacant_count: u32,
    /// Nodes from here on have not been in use: their contents mean nothing.
    pub(super) fresh: u32,
    data: PhantomData<fn() -> D>,
}

impl<S, D> Chain<S, D> {
    pub(super) const fn new(storage: S) -> Self {
        Self {
            storage,
            first: NONE,
            last: NONE,
            vacant: NONE,
            vacant_count: 0,
            fresh: 0,
            data: PhantomData,
        }
    }
}

impl<S, D> Chain<S, D>
where
    S: AsRef<[Node<D>]> + AsMut<[Node<D>]>,
{
    #[inline(always)]
    pub(super) fn nodes(&self) -> &[Node<D>] {
        self.storage.as_ref()
    }

    #[inline(always)]
    pub(super) fn nodes_mut(&mut self) -> &mut [Node<D>] {
        self.storage.as_mut()
    }

    #[inline(always)]
    pub(super) fn node(&self, at: u32) -> &Node<D> {
        &self.nodes()[at as usize]
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node<D> {
        &mut self.nodes_mut()[at as usize]
    }

    /// The node of a name, unless it has another serial by now.
    #[inline(always)]
    pub(super) fn named(&self, at: u32, serial: u64) -> Option<&Node<D>> {
        let node = self.nodes().get(at as usize)?;
        let matches = node.serial == serial || mutant!("tlsf_stale_name_accepted");
        (at < self.fresh && matches).then_some(node)
    }

    /// Nodes that are not in use.
    #[inline(always)]
    pub(super) fn spare(&self) -> u32 {
        // NONE is no index, so that many nodes at most can be used.
        let lent = self.nodes().len().min(NONE as usize) as u32;
        // A storage that has become shorter has nothing to spare.
        lent.saturating_sub(self.fresh) + self.vacant_count
    }

    /// Puts a node in use, between two neighbours by address (`NONE` at the ends). The
    /// caller has seen that one is spare, and writes all but the links.
    #[inline(always)]
    pub(super) fn insert(&mut self, before: u32, after: u32) -> u32 {
        let new = if self.vacant == NONE {
            let new = self.fresh;
            self.fresh += 1;
            new
        } else {
            let new = self.vacant;
            self.vacant = self.node(new).next;
            self.vacant_count -= 1;
            new
        };
        let node = self.node_mut(new);
        (node.before, node.after) = (before, after);
        self.join(before, new);
        self.join(new, after);
        new
    }

    /// Takes a node out of the order by address, and out of use.
    #[inline(always)]
    pub(super) fn remove(&mut self, at: u32) {
        let vacant = self.vacant;
        let node = self.node_mut(at);
        let (before, after) = (node.before, node.after);
        node.serial = 0;
        node.next = vacant;
        self.vacant = at;
        self.vacant_count += 1;
        self.join(before, after);
    }

    /// Makes two nodes neighbours; `NONE` is either end.
    #[inline(always)]
    fn join(&mut self, left: u32, right: u32) {
        match left {
            NONE => self.first = right,
            left => self.node_mut(left).after = right,
        }
        match right {
            NONE => self.last = left,
            right => self.node_mut(right).before = left,
        }
    }
}
