//! Pieces that other streams than their own have used, on their way back.
//!
//! Such a piece goes back to its own stream, behind the work that stream has been given so far,
//! once the others have come as far as they were at the free: then, and not before, is it in the
//! heap. Nothing is put on any stream for it. In particular its own stream does not wait for the
//! others. The batches of the others are closed like those of any stream that has freed something,
//! when a request wants memory.

use std::collections::{HashMap, HashSet};
use std::ptr::NonNull;

use cupola_sys::driver::CUdeviceptr;

use crate::pool::cache::size_class::Slot;
use crate::pool::heap::block_header::{BlockHeader, Home, Withheld};
use crate::pool::heap::central::Central;
use crate::pool::streams::free_stamp::{RetiredStreams, Stamp};

/// A piece without a user, which work on other streams than its own may still use.
struct Waiting {
    piece: NonNull<BlockHeader>,
    home: Stamp,
    others: Box<[Stamp]>,
}

/// The pieces of a pool that are on their way back.
#[derive(Default)]
pub(crate) struct WaitingPieces {
    pieces: Vec<Waiting>,
    bytes: u64,
}

// SAFETY: the owner of this owns the pieces, whichever thread that is.
unsafe impl Send for WaitingPieces {}

impl WaitingPieces {
    pub(crate) fn count(&self) -> u64 {
        self.pieces.len() as u64
    }

    /// Bytes of all of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &BlockHeader> {
        let pieces = self.pieces.iter();
        // SAFETY: the pieces are ours until they are put back.
        pieces.map(|waiting| unsafe { waiting.piece.as_ref() })
    }

    /// Whether a piece of this class is among them.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.pieces().any(|header| header.slot() == slot)
    }
}

impl Central {
    /// Takes a piece back that its own stream has used until `home`, and others until theirs.
    pub(crate) fn put_behind(
        &mut self,
        piece: NonNull<BlockHeader>,
        home: Stamp,
        others: Box<[Stamp]>,
    ) {
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        header.withhold(Some(Withheld::Waiting));
        let rules = self.heap.rules_mut();
        // The closing of batches, and the wait for the pool's last work, go by these.
        rules.note_last(home);
        others.iter().for_each(|&stamp| rules.note_last(stamp));
        self.waiting.bytes += header.bytes();
        self.waiting.pieces.push(Waiting {
            piece,
            home,
            others,
        });
    }

    /// The beginnings of blocks that are out of the heap and without a user: they come back when
    /// work has completed, and no free is needed for that.
    pub(crate) fn leaving(&self) -> HashSet<CUdeviceptr> {
        let mut blocks = HashSet::new();
        // Of each slab, the slots that wait for other streams.
        let mut slots: HashMap<u64, u64> = HashMap::new();
        for header in self.waiting.pieces() {
            match header.home() {
                Home::Nowhere => {}
                Home::Heap(block) => drop(blocks.insert(block.offset())),
                Home::Slab { slab, slot } => *slots.entry(slab.into()).or_default() |= 1 << slot,
            }
        }
        for slab in self.slabs.empty_with(&slots) {
            blocks.insert(slab);
        }
        blocks
    }

    /// Puts the pieces into the heap that no other stream uses any more. In the section that has
    /// noted how far a stream has come: a request that sees that finds the memory.
    pub(super) fn put_waiting(&mut self) {
        let mut at = 0;
        while let Some(waiting) = self.waiting.pieces.get(at) {
            let rules = self.heap.rules();
            if !waiting.others.iter().all(|&stamp| rules.is_done(stamp)) {
                at += 1;
                continue;
            }
            let Waiting { piece, home, .. } = self.waiting.pieces.swap_remove(at);
            // SAFETY: the piece is ours.
            let header = unsafe { piece.as_ref() };
            self.waiting.bytes -= header.bytes();
            header.withhold(None);
            self.put(piece, home);
        }
    }

    /// Nothing waits for streams that are gone.
    pub(super) fn wait_without(&mut self, gone: &RetiredStreams) {
        for waiting in &mut self.waiting.pieces {
            waiting.home = gone.without(waiting.home);
            for stamp in &mut waiting.others {
                *stamp = gone.without(*stamp);
            }
        }
        self.put_waiting();
    }
}
