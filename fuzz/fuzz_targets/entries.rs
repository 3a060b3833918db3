//! Any bytes as the file of a compiled kernel, with the right checksum and without: what is taken for
//! an entry has one file, and nothing panics or asks for more memory than there are bytes.
#![no_main]

use cupola_kernels::cache::{Digest, Entry, Key};
use libfuzzer_sys::fuzz_target;

/// Magic, version and length.
const PREFIX: usize = 20;

fuzz_target!(|bytes: &[u8]| {
    let key = Key::from_digest(Digest::from_bytes([7; 32]));
    check(bytes, &key);
    // The rest of what a fuzzer would have to guess.
    let empty = [&b"cupolaKC"[..], &2_u32.to_le_bytes(), &[0; 8], key.digest().bytes(), bytes];
    let mut sealed = empty.concat();
    let length = (sealed.len() + Digest::BYTES) as u64;
    sealed[PREFIX - 8..PREFIX].copy_from_slice(&length.to_le_bytes());
    let digest = Digest::of(&sealed);
    sealed.extend(digest.bytes());
    check(&sealed, &key);
});

fn check(bytes: &[u8], key: &Key) {
    if let Ok(entry) = Entry::decode(bytes, key) {
        assert_eq!(entry.encode(key), bytes);
    }
}
