//! `Tlsf`: an allocator of offsets by two-level segregated fit, the heap of the memory pool of
//! `cupola-managers` (Masmano, Ripoll, Crespo and
//! Real, "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004).
//!
//! Two things differ from the paper. Nothing is written to the memory that is managed: the
//! nodes are the caller's. And the class of the request itself is looked through before
//! the next one that surely fits, so that blocks which fit within their class are not
//! passed over.

mod chain;
mod check;
mod class;
mod error;
mod hooks;
mod index;
mod iter;
mod merge;
mod node;
mod range;
mod search;
mod usage;

use chain::Chain;
pub use check::Damage;
use class::Class;
pub use error::{AllocateError, RangeError, SplitError, Stale};
pub use hooks::Hooks;
use index::Index;
pub use iter::Blocks;
use node::NONE;
pub use node::{Block, Entry, FreeBlock, Node, Piece, Place};
pub use usage::HeapUsage;

/// A heap over 64-bit offsets, which never touches the memory that it manages: of a device, a file,
/// a range of addresses.
///
/// `S` holds the nodes, one for each used or free block: an array, a slice or a vector of
/// [`Node`]. `H` are the caller's [`Hooks`]. Sizes are rounded up to `GRANULE` bytes, a
/// power of two, and every block begins on one. Offsets, sizes and alignments are in bytes.
///
/// Freeing takes constant time, and so does allocating as long as one of the few blocks that
/// are tried holds the request and is not forbidden by [`Hooks::rank`]. Those are some of the
/// request's own class, of those that alignment makes uncertain and of the next one whose
/// blocks surely hold it; and if the hooks forbid what was tried, some of each of the next
/// eight such classes. Otherwise every block that could hold the request is looked at, in
/// time linear in their number. That often finds a place: say, when no larger class has a
/// block, or when the hooks forbid most of what is free.
///
/// A storage whose `AsRef` and `AsMut` do not give the same nodes each time makes the heap
/// panic, answer wrongly or search without end, and is never unsound: there is no unsafe code.
///
/// The choice among the blocks that fit is deterministic: of the first size class in which
/// a fit is found, among those looked at ([`Hooks::CANDIDATES`] and [`Hooks::TRIES`]), the
/// lowest rank, then the smallest size, then the lowest offset. The request lies as low
/// in the block as its alignment lets it.
///
/// ```
/// use cupola_core::Tlsf;
/// use cupola_core::tlsf::{AllocateError, Node, Stale};
///
/// let mut heap = Tlsf::<_, (), 256>::new([Node::new(()); 16], ());
/// heap.add_range(0, 1 << 20, ()).unwrap();
///
/// let small = heap.allocate(1000, 1, ()).unwrap();
/// assert_eq!((small.offset(), small.size()), (0, 1024));
/// let page = heap.allocate(4096, 4096, ()).unwrap();
/// assert_eq!(page.offset(), 4096);
/// assert_eq!(heap.allocate(1 << 20, 1, ()), Err(AllocateError::NoFit));
///
/// heap.free(small, ()).unwrap();
/// assert_eq!(heap.free(small, ()), Err(Stale));
/// heap.free(page, ()).unwrap();
/// assert_eq!(heap.usage().largest_free, 1 << 20);
/// ```
#[doc(alias("two-level segregated fit", "offset allocator"))]
#[derive(Clone, Debug)]
pub struct Tlsf<S, H: Hooks = (), const GRANULE: u64 = 1> {
    chain: Chain<S, H::Data>,
    hooks: H,
    index: Index,
    /// Counts the lives of blocks, in steps of two.
    lives: u64,
    used_bytes: u64,
    free_bytes: u64,
    used_blocks: u32,
    free_blocks: u32,
}

impl<S, H: Hooks, const GRANULE: u64> Tlsf<S, H, GRANULE> {
    /// A heap that manages nothing yet. The contents of the nodes do not matter.
    #[must_use]
    pub const fn new(storage: S, hooks: H) -> Self {
        const { assert!(GRANULE.is_power_of_two(), "a granule is a power of two") };
        Self {
            chain: Chain::new(storage),
            hooks,
            index: Index::new(),
            lives: 0,
            used_bytes: 0,
            free_bytes: 0,
            used_blocks: 0,
            free_blocks: 0,
        }
    }

    /// The hooks.
    pub const fn hooks(&self) -> &H {
        &self.hooks
    }

    /// The hooks, mutably: say, to note which tickets are complete.
    pub const fn hooks_mut(&mut self) -> &mut H {
        &mut self.hooks
    }

    /// A number for a block's life that no other life has: odd for a used block, even for a
    /// free one. 64 bits of them last for centuries.
    const fn next_serial(&mut self, used: bool) -> u64 {
        self.lives += 2;
        self.lives + used as u64
    }

    /// The class of a size in bytes.
    const fn class(size: u64) -> Class {
        Class::of(size / GRANULE)
    }
}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// Allocates `size` bytes, rounded up to the granule, at a multiple of `align`, and
    /// keeps `data` with the block. The hooks get the default request: see
    /// [`allocate_below`](Self::allocate_below) for one of the caller's.
    ///
    /// # Errors
    /// [`AllocateError`]. [`NoFit`](AllocateError::NoFit) is only said when no free block
    /// that the hooks allow holds the request.
    pub fn allocate(&mut self, size: u64, align: u64, data: H::Data) -> Result<Block, AllocateError>
    where
        H::Request: Default,
    {
        let request = H::Request::default();
        let (block, _) = self.allocate_below(size, align, data, request, u64::MAX)?;
        Ok(block)
    }

    /// The place that [`allocate`](Self::allocate) would take for `request`, for a caller that asks
    /// for its rank first. The heap does not change.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate), but for the nodes.
    #[inline]
    pub fn look(
        &self,
        size: u64,
        align: u64,
        request: H::Request,
    ) -> Result<Place<H::Data>, AllocateError> {
        if !align.is_power_of_two() {
            return Err(AllocateError::Misaligned);
        }
        let size = Self::whole_granules(size)?;
        let found = self.find(size, align, request);
        let (fit, offset) = found.ok_or(AllocateError::NoFit)?;
        Ok(Place {
            offset,
            size,
            rank: fit.rank,
            data: self.chain.node(fit.node).data,
            within: self.name(fit.node),
        })
    }

    /// Allocates for `request` as [`allocate`](Self::allocate) does, but only at a place that ranks
    /// `most` or less. Returns the block, and the data of the free block that it was cut from.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate); [`AllocateError::NoFit`] also when the place that was
    /// found ranks higher.
    #[inline(always)]
    pub fn allocate_below(
        &mut self,
        size: u64,
        align: u64,
        data: H::Data,
        request: H::Request,
        most: u64,
    ) -> Result<(Block, H::Data), AllocateError> {
        if !align.is_power_of_two() {
            return Err(AllocateError::Misaligned);
        }
        let size = Self::whole_granules(size)?;
        let found = self.find(size, align, request);
        let (fit, offset) = found.ok_or(AllocateError::NoFit)?;
        if fit.rank > most {
            return Err(AllocateError::NoFit);
        }
        let was = self.chain.node(fit.node).data;
        let block = self.carve(fit.node, offset, size, data)?;
        Ok((block, was))
    }

    /// Allocates a place that [`look`](Self::look) has found, without another search.
    ///
    /// # Errors
    /// [`AllocateError::NoFit`] when the place is not free any more or the hooks forbid it for
    /// `request` now,
    /// [`AllocateError::NoNodes`].
    #[inline]
    pub fn take(
        &mut self,
        place: Place<H::Data>,
        data: H::Data,
        request: H::Request,
    ) -> Result<Block, AllocateError> {
        // The caller may have changed them: `take_in` looks.
        let Place { offset, size, .. } = place;
        let taken = self.take_in(place.within, offset, size, data, request);
        taken.map(|(block, _)| block)
    }

    /// Allocates a place in a free block, as [`take`](Self::take) does: its offset and its size, whole
    /// granules. Returns the data of the free block too.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    #[inline(always)]
    pub fn take_in(
        &mut self,
        within: FreeBlock,
        offset: u64,
        size: u64,
        data: H::Data,
        request: H::Request,
    ) -> Result<(Block, H::Data), AllocateError> {
        let piece = self.piece(within).ok_or(AllocateError::NoFit)?;
        let whole = (offset | size).is_multiple_of(GRANULE) && size > 0;
        let end = offset.checked_add(size);
        let inside = end.is_some_and(|end| end <= piece.end()) && piece.offset <= offset;
        let allowed = (inside || mutant!("tlsf_place_taken_unseen"))
            && whole
            && self
                .hooks
                .rank(request, offset, size, &piece.data)
                .is_some();
        // A name of a used block is never that of a free one.
        if !allowed {
            return Err(AllocateError::NoFit);
        }
        let block = self.carve(within.node, offset, size, data)?;
        Ok((block, piece.data))
    }

    /// Allocates the `size` bytes at `offset`, rounded up to the granule. The block there is
    /// looked for by address: the time is linear in the number of blocks.
    ///
    /// # Errors
    /// [`AllocateError`]. [`NoFit`](AllocateError::NoFit) when the place is not free, or
    /// [`Hooks::rank`] forbids it for `request`.
    pub fn allocate_at(
        &mut self,
        offset: u64,
        size: u64,
        data: H::Data,
        request: H::Request,
    ) -> Result<Block, AllocateError> {
        if !offset.is_multiple_of(GRANULE) {
            return Err(AllocateError::Misaligned);
        }
        let size = Self::whole_granules(size)?;
        let end = offset.checked_add(size).ok_or(AllocateError::NoFit)?;
        let mut at = self.chain.first;
        while at != NONE && self.chain.node(at).end() <= offset {
            at = self.chain.node(at).after;
        }
        let holds = |node: &Node<H::Data>| {
            let inside = node.offset <= offset && end <= node.end();
            let allowed = || self.hooks.rank(request, offset, size, &node.data).is_some();
            inside && node.is_free() && allowed()
        };
        if at == NONE || !holds(self.chain.node(at)) {
            return Err(AllocateError::NoFit);
        }
        self.carve(at, offset, size, data)
    }

    fn whole_granules(size: u64) -> Result<u64, AllocateError> {
        match size.checked_next_multiple_of(GRANULE) {
            Some(0) => Err(AllocateError::Empty),
            Some(size) => Ok(size),
            None => Err(AllocateError::NoFit),
        }
    }

    /// Makes part of a free block a used one. The rest on its right, or else on its left,
    /// keeps the node, and its place in the list if its class is the same.
    #[inline(always)]
    fn carve(
        &mut self,
        at: u32,
        start: u64,
        size: u64,
        data: H::Data,
    ) -> Result<Block, AllocateError> {
        let node = self.chain.node(at);
        let left = u32::from(start > node.offset);
        let right = u32::from(node.end() > start + size);
        let (spare, needed) = (self.chain.spare(), left + right);
        if needed > spare {
            return Err(AllocateError::NoNodes(needed - spare));
        }
        let (node, serial) = self.cut(at, start, size, data);
        Ok(Block {
            offset: start,
            size,
            serial,
            node,
        })
    }

    /// The part of `carve` after the check for nodes: returns the block's node, and its life.
    #[inline]
    fn cut(&mut self, at: u32, start: u64, size: u64, data: H::Data) -> (u32, u64) {
        let &Node { before, after, .. } = self.chain.node(at);
        let whole = self.chain.node(at).piece();
        let (left, right) = (start - whole.offset, whole.end() - (start + size));
        // The hooks are asked before anything changes: they may panic.
        let rest = |offset, size| Piece {
            offset,
            size,
            data: self.hooks.split(&whole, offset, size),
        };
        let used = if right > 0 {
            let right = rest(start + size, right);
            if left > 0 {
                let left = rest(whole.offset, left);
                self.resize(at, right);
                let on_left = self.chain.insert(before, at);
                self.link_new(on_left, left);
                self.chain.insert(on_left, at)
            } else {
                self.resize(at, right);
                self.chain.insert(before, at)
            }
        } else if left > 0 {
            let left = rest(whole.offset, left);
            self.resize(at, left);
            self.chain.insert(at, after)
        } else {
            self.unlink(at);
            at
        };
        self.used_blocks += 1;
        self.used_bytes += size;
        self.free_bytes -= size;
        let serial = self.next_serial(true);
        let node = self.chain.node_mut(used);
        (node.offset, node.size) = (start, size);
        (node.serial, node.data) = (serial, data);
        (used, serial)
    }

    /// Frees a block, merges it with its free neighbours where the hooks allow it, and
    /// names the free block that it is now part of. `data` is kept with the freed bytes.
    /// Needs no node and never fails for a block that lives.
    ///
    /// # Errors
    /// [`Stale`] when the block is not allocated: a second `free` changes nothing.
    pub fn free(&mut self, block: Block, data: H::Data) -> Result<FreeBlock, Stale> {
        let node = self.used(block)?;
        let (before, after) = (node.before, node.after);
        let piece = Piece {
            data,
            ..node.piece()
        };
        let merged = self.merged(piece, before, after);
        self.used_blocks -= 1;
        self.used_bytes -= piece.size;
        self.free_bytes += piece.size;
        Ok(self.settle(block.node, merged))
    }

    /// Cuts an allocated block in two: its first `size` bytes, and the rest. Each is a block of its
    /// own from now on, with the data of the whole, whose name ends. Takes constant time.
    ///
    /// ```
    /// use cupola_core::Tlsf;
    /// use cupola_core::tlsf::{Node, SplitError, Stale};
    ///
    /// let mut heap = Tlsf::<_, (), 256>::new([Node::new(()); 4], ());
    /// heap.add_range(0, 4096, ()).unwrap();
    /// let whole = heap.allocate(1024, 1, ()).unwrap();
    /// let (left, right) = heap.split(whole, 256).unwrap();
    /// assert_eq!((left.offset(), left.size()), (0, 256));
    /// assert_eq!((right.offset(), right.size()), (256, 768));
    /// assert_eq!(heap.free(whole, ()), Err(Stale));
    /// assert_eq!(heap.split(left, 256), Err(SplitError::Misfit));
    /// ```
    ///
    /// # Errors
    /// [`SplitError`].
    pub fn split(&mut self, block: Block, size: u64) -> Result<(Block, Block), SplitError> {
        let node = self.used(block).map_err(|Stale| SplitError::Stale)?;
        let (data, after) = (node.data, node.after);
        if !size.is_multiple_of(GRANULE) || size == 0 || size >= block.size {
            return Err(SplitError::Misfit);
        }
        if self.chain.spare() == 0 {
            return Err(SplitError::NoNodes);
        }
        let right = Block {
            offset: block.offset + size,
            size: block.size - size,
            serial: self.next_serial(true),
            node: self.chain.insert(block.node, after),
        };
        let left = Block {
            size,
            // Names differ by their serials alone.
            serial: self.next_serial(true),
            ..block
        };
        for part in [left, right] {
            let node = self.chain.node_mut(part.node);
            (node.offset, node.size) = (part.offset, part.size);
            (node.serial, node.data) = (part.serial, data);
        }
        self.used_blocks += 1;
        Ok((left, right))
    }

    /// Takes an allocated block out of the heap for good, with its bytes: they are not the heap's any
    /// more, and no block is ever there unless the caller adds them again. Its node is spare after
    /// it. Takes constant time.
    ///
    /// # Errors
    /// [`Stale`] when the block is not allocated.
    pub fn remove(&mut self, block: Block) -> Result<(), Stale> {
        self.used(block)?;
        self.chain.remove(block.node);
        self.used_blocks -= 1;
        self.used_bytes -= block.size;
        Ok(())
    }

    fn used(&self, block: Block) -> Result<&Node<H::Data>, Stale> {
        let node = self.chain.named(block.node, block.serial);
        let node = node.ok_or(Stale)?;
        // The same serial at another place is that of another heap.
        let same = (node.offset, node.size) == (block.offset, block.size);
        if same { Ok(node) } else { Err(Stale) }
    }
}
