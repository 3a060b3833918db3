//! `Hooks`: the caller's decisions about free blocks.

use super::Piece;

/// The caller's say in how free blocks are merged, split and chosen. `()` has none: every
/// merge is allowed and every block as good as another.
///
/// The methods see the heap's blocks, not the heap, and must answer by what they are given
/// and by what is true of all requests, which is in `self`. What is true of one request only is in
/// its [`Request`](Self::Request), which every search passes on. No answer can damage the heap.
pub trait Hooks {
    /// The data that the caller keeps with each block, used or free: say, a stream and a
    /// ticket.
    type Data: Copy;

    /// What a search is for: say, the stream that asks. `()` where all requests are alike.
    type Request: Copy;

    /// How many blocks a search compares in the class whose smallest size is the request's.
    /// Below 64 granules all blocks of that class are equally large.
    const CANDIDATES: usize = 2;

    /// How many blocks a search looks at in any other class, and together in all further ones
    /// that alignment makes uncertain. The blocks of a class differ by less than a 64th, so one
    /// will do where ranks do not matter.
    const TRIES: usize = 1;

    /// How many blocks of larger classes a search looks at for one that ranks 0, when the best
    /// that it has found does not. Of all that it has seen, the lowest rank wins.
    const FURTHER: usize = 0;

    /// Whether two free blocks that touch may become one.
    #[inline]
    fn may_merge(&self, left: &Piece<Self::Data>, right: &Piece<Self::Data>) -> bool {
        let _ = (left, right);
        true
    }

    /// The data of the block that two neighbours become: the left one's if not said
    /// otherwise.
    #[inline]
    fn merge(&self, left: &Piece<Self::Data>, right: &Piece<Self::Data>) -> Self::Data {
        let _ = right;
        left.data
    }

    /// The data of a part that is left over of `whole`, the `size` bytes at `offset`, when the
    /// rest is allocated: the data of `whole` if not said otherwise. Where parts
    /// are left over on both sides, each is asked for.
    #[inline]
    fn split(&self, whole: &Piece<Self::Data>, offset: u64, size: u64) -> Self::Data {
        let _ = (offset, size);
        whole.data
    }

    /// The cost of using the place at `offset` of `size` bytes, which is in a free
    /// block of `data`: say, the number of its pages that are not mapped. Of the blocks of a class
    /// that are looked at, the lowest rank wins; `None` forbids the place for this request.
    #[inline]
    fn rank(
        &self,
        request: Self::Request,
        offset: u64,
        size: u64,
        data: &Self::Data,
    ) -> Option<u64> {
        let _ = (request, offset, size, data);
        Some(0)
    }

    /// Called when a search is about to look at every block that could hold the request, because
    /// `rank` forbade all that it has tried: time to permit or merge what can be.
    #[inline]
    fn scanning(&self) {}
}

impl Hooks for () {
    type Data = ();
    type Request = ();
}
