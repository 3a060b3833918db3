//! Blocks on streams that do not come after what they must.

use cupola_managers::ops;
use cupola_managers::pool::RawBlock;
use cupola_testing::FindingKind as Kind;

use crate::client::{expect, found};

const FILE: &str = include_str!("order.rs");

// Without it work on another stream could run while its user before still uses the memory.
#[test]
fn a_block_is_used_on_another_stream_before_its_allocation() {
    let finding = found(|client, bug| {
        let block = client.raw(); // the block
        if !bug {
            ops::order(&client.stream, &client.other).unwrap();
        }
        client.launch("fill", 16, &[block.address(), 0], &client.other);
        client.wait();
        // SAFETY: what used it is over.
        unsafe { block.free(&client.stream) }.unwrap();
    });
    expect(&finding, Kind::UnorderedUse, FILE, "// the block");
}

// Without it a buffer whose address goes to another stream without a word could be used too early.
#[test]
fn a_buffer_is_used_on_another_stream_that_it_does_not_know() {
    let finding = found(|client, bug| {
        let block = client.pool.allocate::<u32>(16, &client.stream).unwrap(); // the block
        if !bug {
            block.used_on(&client.other).unwrap();
        }
        client.launch("fill", 16, &[block.as_raw(), 0], &client.other);
        client.wait();
    });
    expect(&finding, Kind::UnorderedUse, FILE, "// the block");
}

// Without it a block could go to its next user under a kernel.
#[test]
fn a_block_is_freed_under_a_kernel_of_another_stream() {
    let finding = found(|client, bug| {
        let block = client.raw(); // the block
        ops::order(&client.stream, &client.other).unwrap();
        client.launch("fill", 16, &[block.address(), 0], &client.other);
        if !bug {
            ops::order(&client.other, &client.stream).unwrap();
        }
        // SAFETY: what uses it is on the stream, or it is the bug.
        unsafe { block.free(&client.stream) }.unwrap();
    });
    expect(&finding, Kind::FreeInUse, FILE, "// the block");
}

// Without it a block that is freed on the wrong stream would pass as long as its kernel is quick.
#[test]
fn a_block_is_freed_on_a_stream_that_did_not_wait() {
    let finding = found(|client, bug| {
        let block = client.raw(); // the block
        client.launch("fill", 16, &[block.address(), 0], &client.stream);
        let stream = if bug { &client.other } else { &client.stream };
        // SAFETY: what uses it is on the stream, or it is the bug.
        unsafe { block.free(stream) }.unwrap();
    });
    expect(&finding, Kind::FreeInUse, FILE, "// the block");
}

// Without it work that races with a free would be found only when the memory has been given away.
#[test]
fn a_kernel_of_another_stream_comes_after_the_free() {
    let finding = found(|client, bug| {
        let block = client.raw(); // the block
        let address = block.address();
        ops::order(&client.stream, &client.other).unwrap();
        let mut block = Some(block);
        // SAFETY: what uses it is on the stream, or it is the bug.
        let free = |block| unsafe { RawBlock::free(block, &client.stream) };
        if bug {
            free(block.take().unwrap()).unwrap();
        }
        client.launch("fill", 16, &[address, 0], &client.other);
        if let Some(block) = block {
            ops::order(&client.other, &client.stream).unwrap();
            free(block).unwrap();
        }
    });
    expect(&finding, Kind::UseAfterFree, FILE, "// the block");
}

// Without it the end of a block would count as a use of the block that begins there, which the
// stream need not know.
#[test]
fn an_end_is_no_use_of_what_begins_there() {
    let finding = found(|client, bug| {
        let (first, second) = client.new_neighbours(); // both
        first.used_on(&client.other).unwrap();
        let begin = if bug { &second } else { &first }.as_raw();
        client.launch("between", 1024, &[begin, begin + 4096], &client.other);
        client.wait();
    });
    expect(&finding, Kind::UnorderedUse, FILE, "// both");
}

// Without it a block could not be freed while a kernel goes up to where it begins.
#[test]
fn a_block_is_freed_behind_the_end_of_a_kernels_own() {
    let finding = found(|client, bug| {
        let (first, second) = client.new_neighbours(); // both
        first.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let begin = if bug { &second } else { &first }.as_raw();
        client.launch("between", 1024, &[begin, begin + 4096], &client.other);
        drop(second);
        client.wait();
    });
    expect(&finding, Kind::FreeInUse, FILE, "// both");
}

// Without it a buffer that begins where another one ends would be taken for that one's end alone, and
// a kernel of both would use it unseen.
#[test]
fn a_kernel_uses_two_blocks_side_by_side() {
    let finding = found(|client, bug| {
        let (first, second) = client.new_neighbours(); // both
        first.used_on(&client.other).unwrap();
        if !bug {
            second.used_on(&client.other).unwrap();
        }
        let words = [first.as_raw(), second.as_raw()];
        client.launch("fill_both", 1024, &words, &client.other);
        client.wait();
    });
    expect(&finding, Kind::UnorderedUse, FILE, "// both");
}

// Without it the second of them could be freed while the kernel writes it.
#[test]
fn the_second_of_two_blocks_is_freed_under_their_kernel() {
    let finding = found(|client, bug| {
        let (first, second) = client.new_neighbours(); // both
        first.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let words = [first.as_raw(), second.as_raw()];
        client.launch("fill_both", 1024, &words, &client.other);
        if !bug {
            client.wait();
        }
        drop(second);
        client.wait();
    });
    expect(&finding, Kind::FreeInUse, FILE, "// both");
}
