//! Any bytes as a message about shared memory: what is taken for one is what the bytes say, and nothing
//! panics.
#![no_main]

#[allow(dead_code, unused_imports, reason = "the file is the library's")]
#[path = "../../sharing/src/message.rs"]
mod message;

use libfuzzer_sys::fuzz_target;
use message::{LEN, Message};

fuzz_target!(|bytes: &[u8]| {
    let Some(raw) = bytes.first_chunk::<LEN>() else {
        return;
    };
    if let Ok(message) = Message::decode(raw) {
        assert_eq!(&message.encode(), raw);
        assert_ne!(message.bytes, 0);
    }
});
