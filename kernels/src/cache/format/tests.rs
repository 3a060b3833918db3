use std::path::PathBuf;

use quickcheck::{Arbitrary, Gen, quickcheck};

use super::*;
use crate::compile::ImageKind;

impl Arbitrary for Entry {
    fn arbitrary(g: &mut Gen) -> Self {
        let kinds = [
            EntryKind::Image(ImageKind::Cubin),
            EntryKind::Image(ImageKind::Ptx),
            EntryKind::Image(ImageKind::LtoIr),
            EntryKind::Image(ImageKind::Fatbin),
            EntryKind::Tuning,
            EntryKind::Compiler,
            EntryKind::Linker,
        ];
        let names: Vec<(String, String)> = Arbitrary::arbitrary(g);
        let files: Vec<(PathBuf, u8, [u64; 5])> =
            Vec::<(PathBuf, u8, (u64, u64, u64, u64, u64))>::arbitrary(g)
                .into_iter()
                .map(|(path, state, (a, b, c, d, e))| (path, state, [a, b, c, d, e]))
                .collect();
        let files =
            files
                .into_iter()
                .map(|(path, state, [size, device, inode, modified, changed])| {
                    let stamp = Stamp {
                        size,
                        device,
                        inode,
                        modified: modified.cast_signed(),
                        changed: changed.cast_signed(),
                    };
                    let state = match state % 4 {
                        0 => State::Absent,
                        3 => State::Stamped(stamp),
                        stamped => State::Present {
                            digest: Digest::of(&size.to_le_bytes()),
                            stamp: (stamped == 1).then_some(stamp),
                        },
                    };
                    Dependency::new(path, state)
                });
        Self {
            kind: *g.choose(&kinds).unwrap(),
            payload: Arbitrary::arbitrary(g),
            names: names
                .into_iter()
                .map(|(expression, symbol)| LoweredName { expression, symbol })
                .collect(),
            log: Arbitrary::arbitrary(g),
            manifest: Manifest::from_files(files.collect()),
            recipe: Option::<(String, Option<PathBuf>, Vec<u8>)>::arbitrary(g).map(
                |(compiler, folder, request)| Recipe {
                    compiler,
                    folder,
                    request,
                },
            ),
        }
    }
}

fn key(of: &[u8]) -> Key {
    Key::from_digest(Digest::of(of))
}

/// With everything that an entry can have.
fn full() -> Entry {
    let stamp = Stamp {
        size: 3,
        device: 1,
        inode: 2,
        modified: -1,
        changed: 5,
    };
    let present = |stamp| State::Present {
        digest: Digest::of(b"h"),
        stamp,
    };
    Entry {
        kind: ImageKind::Cubin.into(),
        payload: (0..200).collect(),
        names: vec![LoweredName {
            expression: "k<int>".into(),
            symbol: "_Z1kIiEvv".into(),
        }],
        log: "a warning".into(),
        manifest: Manifest::from_files(vec![
            Dependency::new("/a.h".into(), State::Absent),
            Dependency::new("/b.h".into(), present(None)),
            Dependency::new("/c.h".into(), present(Some(stamp))),
        ]),
        recipe: Some(Recipe {
            compiler: "nvrtc 13.0".into(),
            folder: Some("/src".into()),
            request: vec![1, 2, 3],
        }),
    }
}

quickcheck! {
    /// Without it an entry could come back as another one.
    fn what_was_written_is_read(entry: Entry, of: Vec<u8>) -> bool {
        Entry::decode(&entry.encode(&key(&of)), &key(&of)) == Ok(entry)
    }

    /// Without it bytes of any kind could stop a program, or an entry have two files.
    fn any_bytes_are_an_entry_or_an_error(body: Vec<u8>) -> bool {
        is_an_entry_or_an_error(&body)
    }
}

/// Whether this body is refused, or that of an entry that is written so.
fn is_an_entry_or_an_error(body: &[u8]) -> bool {
    let bytes = sealed(body);
    match Entry::decode(&bytes, &key(b"k")) {
        Ok(entry) => entry.encode(&key(b"k")) == bytes,
        Err(_) => true,
    }
}

/// A body behind the right prefix and key, with the right checksum.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = [
        &MAGIC[..],
        &VERSION.to_le_bytes(),
        &[0; 8],
        key(b"k").digest().bytes(),
        body,
    ]
    .concat();
    let length = (bytes.len() + Digest::BYTES) as u64;
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let digest = Digest::of(&bytes);
    [&bytes[..], digest.bytes()].concat()
}

/// Without it a byte that a disk got wrong could be loaded as code.
#[test]
fn every_flipped_byte_is_seen() {
    let bytes = full().encode(&key(b"k"));
    assert_eq!(Entry::decode(&bytes, &key(b"k")), Ok(full()));
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            assert!(Entry::decode(&bytes, &key(b"k")).is_err(), "byte {at}");
        }
    }
}

/// Without it half an entry could be loaded as a whole one.
#[test]
fn every_cut_is_seen() {
    let bytes = full().encode(&key(b"k"));
    for length in 0..bytes.len() {
        assert!(
            Entry::decode(&bytes[..length], &key(b"k")).is_err(),
            "{length} bytes"
        );
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Entry::decode(&longer, &key(b"k")), Err(FormatError::Length));
}

/// Without it a renamed file would be loaded for another kernel.
#[test]
fn an_entry_is_of_its_key() {
    let bytes = full().encode(&key(b"k"));
    let other = Entry::decode(&bytes, &key(b"l"));
    assert_eq!(other, Err(FormatError::Key(key(b"k"))));
}

/// Without it a parser that trusts lengths would pass, as long as the checksum is right: the body of
/// an entry with each byte changed and the checksum made anew, and cut at each length.
#[test]
fn lengths_are_not_trusted() {
    let bytes = full().encode(&key(b"k"));
    let body = &bytes[52..bytes.len() - 32];
    for at in 0..body.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut body = body.to_vec();
            body[at] = value;
            assert!(is_an_entry_or_an_error(&body), "byte {at}");
        }
        assert!(is_an_entry_or_an_error(&body[..at]), "{at} bytes");
    }
}
