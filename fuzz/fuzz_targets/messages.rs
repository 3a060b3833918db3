//! Any bytes as a message about shared memory, and as frames of a keeper and of its guests: what is taken for one
//! is what the bytes say, and nothing panics.
#![no_main]

#[allow(dead_code, unused_imports, reason = "the file is the library's")]
#[path = "../../sharing/src/message.rs"]
mod message;
#[allow(dead_code, unused_imports, reason = "the files are the library's")]
#[path = "../../keeper/src/protocol/mod.rs"]
mod protocol;

use libfuzzer_sys::fuzz_target;
use message::{LEN, Message};
use protocol::{HEADER, Header, MAX_BODY, Reply, Request};

fuzz_target!(|bytes: &[u8]| {
    shared_memory(bytes);
    frame(bytes);
});

fn shared_memory(bytes: &[u8]) {
    let Some(raw) = bytes.first_chunk::<LEN>() else {
        return;
    };
    if let Ok(message) = Message::decode(raw) {
        assert_eq!(&message.encode(), raw);
        assert_ne!(message.bytes, 0);
    }
}

fn frame(bytes: &[u8]) {
    let Some((raw, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return;
    };
    let Ok(Header { kind, body }) = Header::decode(raw) else {
        return;
    };
    assert!(body <= MAX_BODY);
    let Some((body, _)) = rest.split_at_checked(body) else {
        return;
    };
    let frame = &bytes[..HEADER + body.len()];
    let request = Request::decode(kind, body);
    let reply = Reply::decode(kind, body);
    assert!(request.is_err() || reply.is_err());
    if let Ok(request) = request {
        assert_eq!(request.encode(), frame);
    }
    if let Ok(reply) = reply {
        assert_eq!(reply.encode(), frame);
    }
}
