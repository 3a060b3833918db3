//! Accesses that leave a block.

use cupola_testing::FindingKind as Kind;

use crate::client::{expect, expect_line, found};

const FILE: &str = include_str!("bounds.rs");

// Without it a kernel that writes one element too many into its neighbour, where no gap is between
// the blocks, would pass.
#[test]
fn a_kernel_overruns_into_its_neighbour() {
    let finding = found(|client, bug| {
        let (first, _second) = client.neighbours(); // the first
        let shift = if bug { 1 } else { 0 };
        client.launch("fill", 1024, &[first.as_raw(), shift], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// the first");
    expect_line(&finding, "fill's store");
    assert!(finding.what.contains("0 bytes past the end"), "{finding}");
}

// Without it an overrun by less than the rounding of sizes would pass.
#[test]
fn a_kernel_writes_behind_the_last_element() {
    let finding = found(|client, bug| {
        let out = client.words(1000); // the block
        let threads = if bug { 1001 } else { 1000 };
        client.launch("fill", threads, &[out.as_raw(), 0], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// the block");
    let text = finding.to_string();
    assert!(
        text.contains("allocated at testing/tests/planted/bounds.rs:"),
        "{text}"
    );
    assert_eq!(finding.kernel.unwrap().thread, [1000, 0, 0]);
}

// Without it a wrong stride would pass wherever the pool has other memory.
#[test]
fn a_kernel_reads_far_behind_the_end() {
    let finding = found(|client, bug| {
        let to = client.words(64);
        let from = client.words(1000); // read from
        let _other = client.words(1 << 16);
        let first = if bug { 30_000 } else { 0 };
        client.launch(
            "copy",
            64,
            &[to.as_raw(), from.as_raw(), first],
            &client.stream,
        );
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// read from");
    expect_line(&finding, "copy's load");
}

// Without it a negative index that hits the block before would pass.
#[test]
fn a_kernel_reads_before_its_block() {
    let finding = found(|client, bug| {
        let (_first, second) = client.neighbours(); // the second
        let to = client.words(16);
        let from = second.as_raw() + 64;
        let before = if bug { -17_i64 } else { -16 };
        client.launch(
            "copy",
            16,
            &[to.as_raw(), from, before.cast_unsigned()],
            &client.stream,
        );
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// the second");
    assert!(finding.what.contains("before the start"), "{finding}");
}

// Without it a kernel that is given the end of a block alone, and goes back from there, would be
// taken for one that leaves the block which begins there.
#[test]
fn a_kernel_goes_back_from_an_end() {
    let finding = found(|client, bug| {
        let (_first, second) = client.neighbours(); // the second
        let end = second.as_raw() + if bug { 4 } else { 0 };
        let back = (-16_i64).cast_unsigned();
        client.launch("fill", 16, &[end, back], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// the second");
    expect_line(&finding, "fill's store");
}

// Without it a kernel that runs in slices would be blamed for a pointer that it has taken out of
// memory in one of them and uses in the next.
#[test]
fn a_kernel_keeps_a_pointer_that_it_has_taken_out() {
    let finding = found(|client, bug| {
        let (table, _between) = (client.words(2), client.words(8));
        let target = client.words(64); // taken out
        let pointer = target.as_raw().to_le_bytes();
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: the array outlives the copy, which takes what is not page-locked at once.
        unsafe {
            let from = pointer.as_ptr().cast();
            driver
                .cuMemcpyHtoDAsync_v2(table.as_raw(), from, 8, stream)
                .unwrap();
        }
        let offset = if bug { 256 } else { 252 };
        client.launch("take", 1, &[table.as_raw(), offset], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// taken out");
    expect_line(&finding, "take's last store");
}

// Without it a memset of too many bytes would change the neighbour.
#[test]
fn a_memset_is_longer_than_the_block() {
    let finding = found(|client, bug| {
        let block = client.words(64); // set
        let _neighbour = client.words(64);
        let len = if bug { 257 } else { 256 };
        let driver = client.driver();
        // SAFETY: memory of the software device.
        unsafe { driver.cuMemsetD8Async(block.as_raw(), 1, len, client.stream.as_raw()) }.unwrap();
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// set");
    assert!(finding.what.contains("1 bytes past the end"), "{finding}");
}

// Without it a download of too much would read what is another's.
#[test]
fn a_copy_reads_more_than_the_block() {
    let finding = found(|client, bug| {
        let block = client.words(64); // copied
        let _neighbour = client.words(64);
        let mut to = [0_u8; 512];
        let len = if bug { 300 } else { 256 };
        let driver = client.driver();
        let (at, stream) = (to.as_mut_ptr().cast(), client.stream.as_raw());
        // SAFETY: the array has as many bytes and outlives the copy, which is waited for.
        unsafe { driver.cuMemcpyDtoHAsync_v2(at, block.as_raw(), len, stream) }.unwrap();
        client.wait();
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// copied");
}

// Without it a copy within the device that begins too early would pass.
#[test]
fn a_copy_begins_before_the_block() {
    let finding = found(|client, bug| {
        let from = client.words(1000);
        let to = client.words(1000); // copied to
        let at = to.as_raw() - if bug { 4 } else { 0 };
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: memory of the software device.
        unsafe { driver.cuMemcpyDtoDAsync_v2(at, from.as_raw(), 400, stream) }.unwrap();
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// copied to");
    assert!(
        finding.what.contains("4 bytes before the start"),
        "{finding}"
    );
}

// Without it a kernel whose pointer lies in memory that it was given would be blamed for using it.
#[test]
fn a_kernel_overruns_behind_a_pointer_in_memory() {
    let finding = found(|client, bug| {
        let (table, _between) = (client.words(2), client.words(8));
        let target = client.words(64); // pointed to
        let pointer = target.as_raw().to_le_bytes();
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: the array outlives the copy, which takes what is not page-locked at once.
        unsafe {
            let from = pointer.as_ptr().cast();
            driver
                .cuMemcpyHtoDAsync_v2(table.as_raw(), from, 8, stream)
                .unwrap();
        }
        let threads = if bug { 65 } else { 64 };
        client.launch("follow", threads, &[table.as_raw()], &client.stream);
    });
    expect(&finding, Kind::OutOfBounds, FILE, "// pointed to");
    expect_line(&finding, "follow's store");
}
