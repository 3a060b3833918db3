//! Two streams, one block, and no order.

use cupola_managers::ops;
use cupola_sim::Strict;
use cupola_testing::FindingKind as Kind;

use crate::client::{Client, expect, found, found_by};

const FILE: &str = include_str!("races.rs");

// Without it the wait that a buffer's first use on a stream brings would hide the race from every
// short test, though the second use has none.
#[test]
fn a_stream_reads_what_another_has_just_written() {
    let finding = found(|client, bug| {
        let mut block = client.words(64); // the block
        ops::fill(&mut block, 7, &client.stream).unwrap();
        if !bug {
            ops::order(&client.stream, &client.other).unwrap();
        }
        let mut words = [0; 64];
        ops::read(&block, &mut words, &client.other).unwrap();
        if !bug {
            assert_eq!(words, [7; 64]);
        }
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
}

// Without it a slice that two kernels write would pass.
#[test]
fn a_slice_is_used_twice() {
    let finding = found(|client, bug| {
        let block = client.words(64); // the block
        block.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let slice = block.as_raw() + 128;
        let twice = if bug { slice } else { block.as_raw() };
        client.launch("fill", 32, &[slice, 0], &client.stream);
        client.launch("fill", 32, &[twice, 0], &client.other);
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
    let text = finding.to_string();
    assert!(text.contains("kernel fill in stream"), "{text}");
}

// Without it what a kernel does after its first slice would not be compared, so that two that share
// only what later blocks of theirs write would pass with a seed.
#[test]
fn two_kernels_of_many_blocks_write_one_word() {
    let finding = found(|client, bug| {
        let block = client.words(64); // the block
        block.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let first = if bug { 31 } else { 32 };
        let at = block.as_raw();
        client.launch_blocks("fill", (4, 8), &[at, 0], &client.stream);
        client.launch_blocks("fill", (4, 8), &[at, first], &client.other);
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
    assert!(finding.what.contains("byte 124 "), "{finding}");
}

// Without it what a copy within one block reads would not be compared.
#[test]
fn a_copy_within_a_block_reads_what_another_stream_writes() {
    let finding = found(|client, bug| {
        let block = client.words(64); // the block
        block.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let (to, from) = (block.as_raw(), block.as_raw() + 128);
        client.launch("fill", 32, &[from, 0], &client.stream);
        if !bug {
            client.wait();
        }
        let driver = client.driver();
        let stream = client.other.as_raw();
        // SAFETY: memory of the software device.
        unsafe { driver.cuMemcpyDtoDAsync_v2(to, from, 128, stream) }.unwrap();
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
}

// Without it a counter that two streams add to would count as a race.
#[test]
fn two_streams_count_together() {
    let finding = found(|client, bug| {
        let counter = client.words(1); // the counter
        counter.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let at = counter.as_raw();
        client.launch("count", 32, &[at], &client.stream);
        if bug {
            client.launch("fill", 1, &[at, 0], &client.other);
        } else {
            client.launch("count", 32, &[at], &client.other);
        }
    });
    expect(&finding, Kind::StreamRace, FILE, "// the counter");
}

// Without it a kernel that reads what another writes would pass, or two that only read be blamed.
#[test]
fn a_kernel_reads_what_another_writes() {
    let finding = found(|client, bug| {
        let block = client.words(64); // the block
        let (one, other) = (client.words(64), client.words(64));
        ops::order(&client.stream, &client.other).unwrap();
        block.used_on(&client.other).unwrap();
        other.used_on(&client.other).unwrap();
        client.launch(
            "copy",
            64,
            &[other.as_raw(), block.as_raw(), 0],
            &client.other,
        );
        if bug {
            client.launch("fill", 1, &[block.as_raw(), 63], &client.stream);
        } else {
            client.launch(
                "copy",
                64,
                &[one.as_raw(), block.as_raw(), 0],
                &client.stream,
            );
        }
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
    assert!(finding.what.contains("byte 252 "), "{finding}");
}

// Without it two memsets that nothing orders would pass.
#[test]
fn two_streams_fill_one_buffer() {
    let finding = found(|client, bug| {
        let mut block = client.words(64); // the block
        ops::order(&client.stream, &client.other).unwrap();
        let halves = if bug {
            (0..40, 32..64)
        } else {
            (0..32, 32..64)
        };
        ops::fill(block.slice_mut(halves.0).unwrap(), 1, &client.stream).unwrap();
        ops::fill(block.slice_mut(halves.1).unwrap(), 2, &client.other).unwrap();
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
}

// Without it a stream that is waited for on the host would still count as racing.
#[test]
fn a_wait_on_the_host_is_an_order() {
    let finding = found(|client, bug| {
        let mut block = client.words(64); // the block
        client.wait();
        ops::fill(&mut block, 1, &client.other).unwrap();
        if !bug {
            ops::synchronize(&client.other).unwrap();
        }
        ops::fill(&mut block, 2, &client.stream).unwrap();
    });
    expect(&finding, Kind::StreamRace, FILE, "// the block");
}

// Without it a program that waits on the host between two kernels would be blamed for a race, when
// races are all that is looked for.
#[test]
fn races_are_found_without_anything_else() {
    let program = |client: &Client, bug: bool| {
        let block = client.words(64);
        block.used_on(&client.other).unwrap();
        ops::order(&client.stream, &client.other).unwrap();
        let words = [block.as_raw(), 0];
        client.launch("fill", 32, &words, &client.stream);
        if !bug {
            ops::synchronize(&client.stream).unwrap();
        }
        client.launch("fill", 32, &words, &client.other);
    };
    assert_eq!(found_by(Strict::STREAM_RACES, program, false), []);
    let found = found_by(Strict::STREAM_RACES, program, true);
    assert_eq!(found, [Kind::StreamRace]);
}
