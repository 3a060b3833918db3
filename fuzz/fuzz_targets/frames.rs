//! Any bytes, in any parts, as what a worker says: what is taken for frames is what the bytes
//! say, nothing is put aside that did not come, and nothing panics.
#![no_main]

#[allow(dead_code, unused_imports, reason = "the file is the library's")]
#[path = "../../worker/src/frame/mod.rs"]
mod frame;

use frame::{Decoder, Message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&part, bytes)) = bytes.split_first() else {
        return;
    };
    let (mut decoder, mut again) = (Decoder::new(5000), Vec::new());
    for mut input in bytes.chunks(usize::from(part) + 1) {
        loop {
            match decoder.take(&mut input) {
                Ok(Some(message)) => again.extend(Message::encode(&message)),
                Ok(None) => break,
                // What was decoded before it counts; nothing after it.
                Err(_) => return assert!(bytes.starts_with(&again)),
            }
        }
        assert!(input.is_empty());
    }
    assert!(bytes.starts_with(&again));
    assert_eq!(decoder.kept(), bytes.len() - again.len());
});
