//! Batches in a transfer cache, which threads push and pop.

use std::ptr::NonNull;

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::models::piece::Piece;
use crate::pool::cache::transfer_cache::Shelf;

struct TransferCache {
    shelf: Shelf<Piece>,
    pieces: [Piece; 2],
}

impl TransferCache {
    fn push(&self, piece: usize) {
        self.pieces[piece].touch();
        self.shelf
            .push(NonNull::from(&self.pieces[piece]), 4)
            .expect("there is room");
    }

    fn pop(&self) -> bool {
        let Some(piece) = self.shelf.pop(|| ()) else {
            return false;
        };
        // SAFETY: the pieces are the transfer cache's, which is there.
        unsafe { piece.as_ref() }.touch();
        true
    }
}

// Without it two threads could have one piece of memory, one be lost, or the next user of a batch
// not see earlier writes to it.
#[test]
fn a_batch_has_one_owner_at_a_time() {
    model(&["one", "both"], |seen| {
        let transfer_cache = Arc::new(TransferCache {
            shelf: Shelf::default(),
            pieces: [Piece::new(), Piece::new()],
        });
        transfer_cache.push(0);
        let pusher = thread::spawn({
            let transfer_cache = transfer_cache.clone();
            move || transfer_cache.push(1)
        });
        let popper = thread::spawn({
            let transfer_cache = transfer_cache.clone();
            move || usize::from(transfer_cache.pop())
        });
        let mine = usize::from(transfer_cache.pop());
        pusher.join().unwrap();
        let theirs = popper.join().unwrap();
        seen.note(["none", "one", "both"][mine + theirs]);

        let mut left = 0;
        while transfer_cache.pop() {
            left += 1;
        }
        assert_eq!(mine + theirs + left, 2);
    });
}
