//! The header of a piece that a thread looks at while another one hands it out.

use std::ptr;

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pool::heap::block_header::{BlockHeader, PoolRef};

struct Piece(BlockHeader);

// SAFETY: the models use the atomic fields alone.
unsafe impl Sync for Piece {}
// SAFETY: the models use the atomic fields alone.
unsafe impl Send for Piece {}

// Without it a thread that names or lists the buffers could see one with the stream of another.
#[test]
fn a_piece_that_is_seen_alive_has_its_stream() {
    const STREAM: u64 = 7;
    let looks: [fn(&BlockHeader) -> bool; 2] = [BlockHeader::is_buffer, |header| {
        header.requested().is_some()
    }];
    for is_alive in looks {
        model(&["alive", "not yet"], move |seen| {
            let piece = Arc::new(Piece(BlockHeader::new(PoolRef::new(ptr::null()))));
            let other = thread::spawn({
                let piece = piece.clone();
                move || piece.0.go_live(100, None, (STREAM, true))
            });
            let looker = thread::spawn(move || {
                let is_alive = is_alive(&piece.0);
                assert!(!is_alive || piece.0.stream() == STREAM);
                is_alive
            });
            other.join().unwrap();
            seen.note(if looker.join().unwrap() {
                "alive"
            } else {
                "not yet"
            });
        });
    }
}
