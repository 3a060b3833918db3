//! The hooks: what may merge, what it becomes, and what is preferred.

use cupola_core::tlsf::{Hooks, Piece};

use super::op::TAGS;

/// Blocks of different tags merge when both tags are complete.
#[derive(Clone, Debug)]
pub(crate) struct Rules<const CANDIDATES: usize, const FURTHER: usize> {
    pub(super) complete: u8,
}

/// The tag that a request may not use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forbidden(pub(super) u8);

impl Default for Forbidden {
    /// No tag.
    fn default() -> Self {
        Self(TAGS)
    }
}

impl<const CANDIDATES: usize, const FURTHER: usize> Hooks for Rules<CANDIDATES, FURTHER> {
    type Data = u8;
    type Request = Forbidden;
    const CANDIDATES: usize = CANDIDATES;
    const TRIES: usize = CANDIDATES;
    const FURTHER: usize = FURTHER;

    fn may_merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> bool {
        let touch = left.offset + left.size == right.offset;
        assert!(touch, "asked about blocks that do not touch");
        let complete = |tag: u8| self.complete >> tag & 1 == 1;
        left.data == right.data || complete(left.data) && complete(right.data)
    }

    fn merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> u8 {
        left.data.min(right.data)
    }

    fn split(&self, whole: &Piece<u8>, offset: u64, size: u64) -> u8 {
        // Another tag now and then, so that a piece with the data of the other is noticed.
        match (offset ^ size) % 7 {
            0 => (whole.data + 1) % TAGS,
            _ => whole.data,
        }
    }

    fn rank(&self, request: Forbidden, offset: u64, size: u64, data: &u8) -> Option<u64> {
        (*data != request.0).then_some((offset / 64 + size) % 3)
    }
}
