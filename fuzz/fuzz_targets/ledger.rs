//! Any bytes as the header of a ledger, as what the kernel says about a process, and as the words of a ledger:
//! what is taken for a header is what the bytes say, nothing panics, and every operation ends.
#![no_main]

#[allow(dead_code, reason = "the file is that of the properties")]
#[path = "../../core/tests/properties/ledger/any.rs"]
mod any;
#[allow(dead_code, unused_imports, reason = "the file is the library's")]
#[path = "../../sharing/src/ledger/header.rs"]
mod header;
#[allow(dead_code, reason = "the file is that of the properties")]
#[path = "../../core/tests/properties/ledger/memory.rs"]
mod memory;
#[allow(dead_code, reason = "the file is the library's")]
#[path = "../../sharing/src/ledger/stat.rs"]
mod stat;

use header::{Header, LEN};
use libfuzzer_sys::fuzz_target;
use stat::Stat;

fuzz_target!(|bytes: &[u8]| {
    if let Some(raw) = bytes.first_chunk::<LEN>()
        && let Ok(header) = Header::decode(raw)
    {
        assert_eq!(&header.encode(), raw);
    }
    let _: Option<Stat> = Stat::parse(bytes);
    any::replay(bytes);
});
