//! Two streams, one block, and no order.

use cupola_managers::ops;
use cupola_testing::FindingKind as Kind;

use crate::client::{expect, found};

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
