//! Reads of what was never written.

use cupola_managers::ops;
use cupola_testing::FindingKind as Kind;

use crate::client::{expect, expect_line, found};

const FILE: &str = include_str!("unwritten.rs");

// Without it a kernel that reads a new buffer would get whatever is there.
#[test]
fn a_kernel_reads_a_new_buffer() {
    let finding = found(|client, bug| {
        let to = client.words(16);
        let mut from = client.pool.allocate::<u32>(16, &client.stream).unwrap(); // never written
        if !bug {
            ops::fill(&mut from, 1, &client.stream).unwrap();
        }
        client.launch("copy", 16, &[to.as_raw(), from.as_raw(), 0], &client.stream);
    });
    expect(&finding, Kind::UninitialisedRead, FILE, "// never written");
    expect_line(&finding, "copy's load");
}

// Without it a buffer in memory that another one has written would count as written.
#[test]
fn a_kernel_reads_what_an_earlier_buffer_wrote() {
    let finding = found(|client, bug| {
        let to = client.words(16);
        let before = client.words(16);
        let address = before.as_raw();
        drop(before);
        let mut from = client.pool.allocate::<u32>(16, &client.stream).unwrap(); // its second life
        assert_eq!(from.as_raw(), address, "the same memory");
        if !bug {
            ops::fill(&mut from, 1, &client.stream).unwrap();
        }
        client.launch("copy", 16, &[to.as_raw(), from.as_raw(), 0], &client.stream);
    });
    expect(
        &finding,
        Kind::UninitialisedRead,
        FILE,
        "// its second life",
    );
}

// Without it a copy of what was never written would hide it.
#[test]
fn a_kernel_reads_a_copy_of_a_new_buffer() {
    let finding = found(|client, bug| {
        let to = client.words(16);
        let mut copied = client.words(16); // the copy
        let mut from = client.pool.allocate::<u32>(16, &client.stream).unwrap();
        if !bug {
            ops::fill(&mut from, 1, &client.stream).unwrap();
        }
        ops::copy(&from, &mut copied, &client.stream).unwrap();
        client.launch(
            "copy",
            16,
            &[to.as_raw(), copied.as_raw(), 0],
            &client.stream,
        );
    });
    expect(&finding, Kind::UninitialisedRead, FILE, "// the copy");
}

// Without it one access that leaves its block would be two mistakes: a read of the block behind it as
// well, which is not written.
#[test]
fn an_overrun_into_an_unwritten_block_is_one_mistake() {
    let finding = found(|client, bug| {
        let to = client.words(2048);
        let (mut first, _second) = client.new_neighbours(); // both
        ops::zero(&mut first, &client.stream).unwrap();
        let threads = 1024;
        let from = if bug { 1 } else { 0 };
        client.launch(
            "copy",
            threads,
            &[to.as_raw(), first.as_raw(), from],
            &client.stream,
        );
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// both");
}
