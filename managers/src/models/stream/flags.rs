//! The words that streams write to: each has one owner, and tells of what the stream did before.

use std::sync::Arc;

use cupola_sys::driver::CUstream;
use loom::thread;

use crate::models::model;
use crate::models::piece::Piece;
use crate::models::test_driver;
use crate::stream::flags::{FreeBits, Page};

// Without it two streams could write to one word, or a word be used again before what its last
// owner did with it.
#[test]
fn a_word_has_one_owner_at_a_time() {
    model(&["one after the other", "one alone"], |seen| {
        let words = Arc::new((FreeBits::<1>::new(1), Piece::new()));
        let threads = [(); 2].map(|()| {
            let words = Arc::clone(&words);
            thread::spawn(move || {
                let (free, piece) = &*words;
                let place = free.claim();
                if let Some(place) = place {
                    piece.touch();
                    free.free(place);
                }
                usize::from(place.is_some())
            })
        });
        let owners: usize = threads.map(|thread| thread.join().unwrap()).iter().sum();
        seen.note(match owners {
            2 => "one after the other",
            _ => "one alone",
        });
        assert_eq!((owners > 0, words.0.claim()), (true, Some(0)));
    });
}

// Without it the host could see a flag and not what the stream has written before.
#[test]
fn what_a_stream_did_is_seen_behind_its_flag() {
    model(&["done", "not yet"], |seen| {
        let driver = test_driver::driver();
        let (page, memory) = (Page::of_model(), Arc::new(Piece::new()));
        let mut flag = page.claim().unwrap();
        let place = flag.place();
        let stream = thread::spawn({
            let memory = Arc::clone(&memory);
            move || {
                memory.touch();
                let stream: CUstream = std::ptr::null_mut();
                // SAFETY: the driver of the models asks for no stream.
                unsafe { flag.raise(&driver, stream) }.unwrap();
                flag
            }
        });
        let is_done = page.has_reached(place, 1);
        if is_done {
            memory.touch();
        }
        seen.note(if is_done { "done" } else { "not yet" });
        assert!(stream.join().unwrap().has_reached(1));
    });
}
