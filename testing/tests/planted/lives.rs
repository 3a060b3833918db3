//! Uses of blocks after their end.

use cupola_managers::Buffer;
use cupola_testing::FindingKind as Kind;

use crate::client::{expect, expect_line, found};

const FILE: &str = include_str!("lives.rs");

// Without it a kernel that is launched after its buffer was dropped would read whatever the pool
// puts there next.
#[test]
fn a_kernel_uses_a_dropped_buffer() {
    let finding = found(|client, bug| {
        let to = client.words(16);
        let mut from = Some(client.words(16)); // dropped
        let address = from.as_ref().map_or(0, Buffer::as_raw);
        if bug {
            drop(from.take());
        }
        client.launch("copy", 16, &[to.as_raw(), address, 0], &client.stream);
    });
    expect(&finding, Kind::UseAfterFree, FILE, "// dropped");
    expect_line(&finding, "copy's load");
}

// Without it work that a stream has before the free, which the device comes to after it, would be
// taken for a use after free.
#[test]
fn a_memset_comes_after_the_free() {
    let finding = found(|client, bug| {
        let block = client.raw(); // the block
        let address = block.address();
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: memory of the software device.
        let set = || unsafe { driver.cuMemsetD8Async(address, 1, 64, stream) }.unwrap();
        if !bug {
            set();
        }
        // SAFETY: what uses it is on the stream, or it is the bug.
        unsafe { block.free(&client.stream) }.unwrap(); // the free
        if bug {
            set();
        }
        // Another user's by now.
        client.words(1024);
    });
    expect(&finding, Kind::UseAfterFree, FILE, "// the block");
    let freed = finding.allocation.unwrap().freed.unwrap();
    let line = freed
        .source
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap()
        .parse::<usize>();
    let text = FILE.lines().nth(line.unwrap() - 1).unwrap();
    assert!(text.contains("// the free"), "{text}");
}

// Without it a download from a buffer that is gone would pass.
#[test]
fn a_copy_reads_a_dropped_buffer() {
    let finding = found(|client, bug| {
        let mut block = Some(client.words(16)); // dropped
        let address = block.as_ref().map_or(0, Buffer::as_raw);
        if bug {
            drop(block.take());
        }
        let mut to = [0_u8; 64];
        let driver = client.driver();
        let (at, stream) = (to.as_mut_ptr().cast(), client.stream.as_raw());
        // SAFETY: the array has as many bytes and outlives the copy, which is waited for.
        unsafe { driver.cuMemcpyDtoHAsync_v2(at, address, 64, stream) }.unwrap();
        client.wait();
    });
    expect(&finding, Kind::UseAfterFree, FILE, "// dropped");
}

// Without it a structure on the device that keeps a pointer too long would pass.
#[test]
fn a_kernel_follows_a_pointer_to_a_dropped_buffer() {
    let finding = found(|client, bug| {
        let table = client.words(2);
        let mut target = Some(client.words(16)); // dropped
        let address = target.as_ref().map_or(0, Buffer::as_raw);
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: the array outlives the copy, which takes what is not page-locked at once.
        unsafe {
            let from = address.to_le_bytes();
            driver
                .cuMemcpyHtoDAsync_v2(table.as_raw(), from.as_ptr().cast(), 8, stream)
                .unwrap();
        }
        if bug {
            drop(target.take());
        }
        client.launch("follow", 16, &[table.as_raw()], &client.stream);
    });
    expect(&finding, Kind::UseAfterFree, FILE, "// dropped");
    expect_line(&finding, "follow's store");
}

// Without it a block that a new one has replaced in part would count as alive.
#[test]
fn a_kernel_uses_what_is_behind_a_smaller_new_block() {
    let finding = found(|client, bug| {
        let old = client.words(1000);
        let address = old.as_raw();
        let _new = if bug {
            drop(old);
            let new = client.words(990); // the new one
            assert_eq!(new.as_raw(), address, "where the old one was");
            new
        } else {
            old
        };
        client.launch("fill", 1000, &[address, 0], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// the new one");
}
