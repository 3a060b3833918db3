//! Snapshots read and written. The pickle of this folder is Python's own (protocol 4), with
//! frames that two events share.

use serde_json::json;

use super::super::{Ignored, Operation, ReadOptions, Trace, TraceError};
use super::*;

const PYTHON: &[u8] = include_bytes!("python.pickle");

fn of_json(value: &serde_json::Value) -> Result<Trace, TraceError> {
    Trace::read(value.to_string().as_bytes())
}

fn event(action: &str, addr: u64, size: u64, stream: u64, time: u64) -> serde_json::Value {
    json!({"action": action, "addr": addr, "size": size, "stream": stream, "time_us": time})
}

/// Without it the pickles that PyTorch writes could be read wrong while our own are right.
#[test]
fn a_pickle_of_python_is_read() {
    let trace = Trace::read(PYTHON).unwrap();
    let expected = [
        Operation::Allocate {
            block: 0,
            bytes: 512,
            stream: 0,
        },
        Operation::Free {
            block: 0,
            stream: 0,
        },
    ];
    assert_eq!(trace.operations(), expected);
    assert_eq!(trace.site(0), Some("model.py:12 forward"));
    assert_eq!(trace.time(1), Some(10_000));
    assert_eq!(trace.ignored(), Ignored::default());
    // The first device has no events and is there all the same.
    let first = ReadOptions {
        device: Some(0),
        ..ReadOptions::default()
    };
    let empty = Trace::read_with(PYTHON, &first).unwrap();
    assert_eq!(
        (empty.operations().len(), empty.ignored().other_devices),
        (0, 3)
    );
}

/// Without it a block could be freed twice (once when that is asked for and once when it is
/// complete), or a block from before the recording be replayed or go uncounted.
#[test]
fn events_become_operations() {
    let trace = of_json(&json!({
        "device_traces": [[
            event("free_requested", 0x900, 7, 0, 1),
            event("free_completed", 0x900, 7, 0, 1),
            event("free_completed", 0xa00, 9, 0, 1),
            event("segment_alloc", 0x100, 4096, 0, 2),
            event("alloc", 0x100, 64, 5, 3),
            event("alloc", 0x200, 32, 0, 4),
            {"action": "oom", "device_free": 3, "size": 99, "stream": 0},
            event("free_requested", 0x100, 64, 5, 6),
            event("alloc", 0x300, 16, 5, 7),
            event("free_completed", 0x100, 64, 5, 8),
            event("alloc", 0x100, 128, 0, 9),
            event("free_requested", 0x100, 128, 0, 10),
            event("alloc", 0x100, 256, 0, 11),
        ], [event("alloc", 1, 1, 0, 0)]],
        "segments": [
            {"address": 0x100, "device": 0, "blocks": [
                {"size": 256, "state": "active_allocated"},
                {"size": 512, "state": "inactive"},
                {"size": 64, "requested_size": 50, "state": "active_allocated"},
            ]},
            {"address": 0x100, "device": 1, "blocks": [{"size": 4, "state": "active_allocated"}]},
        ],
    }))
    .unwrap();
    let allocate = |block, bytes, stream| Operation::Allocate {
        block,
        bytes,
        stream,
    };
    let free = |block, stream| Operation::Free { block, stream };
    let expected = [
        allocate(0, 64, 0),
        allocate(1, 32, 1),
        free(0, 0),
        allocate(2, 16, 0),
        allocate(3, 128, 1),
        free(3, 1),
        allocate(4, 256, 1),
    ];
    assert_eq!(trace.operations(), expected);
    let expected = Ignored {
        older_blocks: 3,
        older_bytes: 7 + 9 + 50,
        failures: 1,
        other_devices: 1,
        empty: 0,
    };
    assert_eq!(trace.ignored(), expected);
    assert_eq!((trace.time(0), trace.time(6)), (Some(0), Some(8_000)));
    assert_eq!(trace.site(0), None);
}

/// Without it a file that is no snapshot could be an empty trace, or the message not say
/// where it is wrong.
#[test]
fn what_is_wrong_is_named() {
    let good = event("alloc", 1, 1, 0, 0);
    for (value, place) in [
        (json!({}), "device_traces "),
        (json!([1]), "device_traces "),
        (json!({"device_traces": [3]}), "device_traces[0] "),
        (
            json!({"device_traces": [[good, 4]]}),
            "device_traces[0][1].action",
        ),
        (
            json!({"device_traces": [[], [good, {"action": "alloc"}]]}),
            "device_traces[1][1].addr",
        ),
        (
            json!({"device_traces": [[event("alloc", 1, 1, 0, 0), good]]}),
            "device_traces[0][1] ",
        ),
        (
            json!({"device_traces": [[{"action": "alloc", "addr": 1, "size": -1}]]}),
            "device_traces[0][0].size",
        ),
        (
            json!({"device_traces": [[]], "segments": [{"blocks": [{}]}]}),
            "segments[0]",
        ),
    ] {
        let error = of_json(&value).unwrap_err();
        assert!(matches!(error, TraceError::Field { .. }), "{error}");
        assert!(error.to_string().starts_with(place), "{value}: {error}");
    }
    let missing = ReadOptions {
        device: Some(2),
        ..ReadOptions::default()
    };
    let error = Trace::read_with(PYTHON, &missing).unwrap_err();
    assert!(error.to_string().contains("no such device"), "{error}");
    let broken = Trace::read(&b"{\"device_traces\":\n [[}"[..]).unwrap_err();
    assert!(broken.to_string().contains("line 2"), "{broken}");
    for cut in 3..PYTHON.len() {
        assert!(Trace::read(&PYTHON[..cut]).is_err(), "{cut}");
    }
}

/// Without it one list that is referred to from many places could be walked for ever.
#[test]
fn shared_lists_are_not_walked_again_and_again() {
    // {"device_traces": [[]], "segments": [{"blocks": L}, the same, ...]} with a long L.
    let mut bytes = b"\x80\x04}(\x8c\x0ddevice_traces](]e\x8c\x08segments](".to_vec();
    bytes.extend(b"}\x8c\x06blocks](");
    for _ in 0..1000 {
        bytes.extend(b"}\x8c\x04sizeK\x01s");
    }
    bytes.extend(b"esq\x00");
    for _ in 0..1000 {
        bytes.extend(b"h\x00");
    }
    bytes.extend(b"eu.");
    let error = Trace::read(&bytes[..]).unwrap_err();
    assert!(error.to_string().contains("other segments"), "{error}");
}

/// A snapshot with everything in it.
fn full() -> Snapshot {
    let frame = |line| Frame {
        filename: "model.py".into(),
        name: "forward <é>".into(),
        line,
    };
    let block = |address, size, state| Block {
        address,
        size,
        requested_size: size - 8,
        state,
        frames: vec![frame(3)],
    };
    let base = 0x7f00_0000_0000;
    let segment = Segment::new(
        base,
        2 << 20,
        1,
        vec![
            block(base + 4096, 512, BlockState::Pending),
            block(base + 512, 512, BlockState::Live),
        ],
    );
    let event = |action, addr, size, time_us| Event {
        action,
        addr,
        size,
        stream: 1,
        time_us,
        frames: vec![frame(time_us as u32)],
    };
    Snapshot {
        segments: vec![segment.unwrap()],
        device_traces: vec![vec![
            event(Action::SegmentMap, base, 2 << 20, 1),
            event(Action::Alloc, base + 512, 504, 2),
            event(Action::Alloc, base + 4096, 504, 3),
            event(Action::Oom, 12, 1 << 40, 4),
            event(Action::FreeRequested, base + 4096, 504, 5),
        ]],
        allocator_settings: [
            ("expandable_segments".into(), Setting::Flag(true)),
            ("limit".into(), Setting::Number(1 << 33)),
            ("version".into(), Setting::Text("1".into())),
        ]
        .into(),
        external_annotations: vec![Annotation {
            stage: "START".into(),
            name: "replay".into(),
            device: 0,
            time_us: 1,
        }],
    }
}

/// Without it what we write could not be read back, or the two encodings differ.
#[test]
fn what_is_written_is_read_back() {
    for encoding in [Encoding::Pickle, Encoding::Json] {
        let mut bytes = Vec::new();
        full().write(&mut bytes, encoding).unwrap();
        let trace = Trace::read(&bytes[..]).unwrap();
        assert_eq!(trace.operations().len(), 3, "{encoding:?}");
        assert_eq!((trace.peak_bytes(), trace.ignored().failures), (1008, 1));
        assert_eq!(trace.ignored().older_blocks, 0);
        assert_eq!(trace.site(1), Some("model.py:3 forward <é>"));
        assert_eq!(trace.time(2), Some(3_000));
    }
}

/// Without it the viewer could miss a field, or find a type that it does not know: it makes
/// of nine-byte integers a type that it then cannot add to others.
#[test]
fn the_viewer_finds_every_field() {
    let mut pickle = Vec::new();
    full().write(&mut pickle, Encoding::Pickle).unwrap();
    let options = serde_pickle::DeOptions::new();
    let read: serde_json::Value = serde_pickle::from_slice(&pickle, options).unwrap();
    assert_eq!(read, serde_json::to_value(full()).unwrap());
    assert!(!pickle.windows(2).any(|pair| pair == [0x8a, 9]));
    let segment = &read["segments"][0];
    for field in [
        "device",
        "address",
        "total_size",
        "stream",
        "segment_type",
        "allocated_size",
        "active_size",
        "requested_size",
        "segment_pool_id",
        "is_expandable",
        "frames",
    ] {
        assert!(!segment[field].is_null(), "{field}");
    }
    let sizes = [
        "total_size",
        "allocated_size",
        "active_size",
        "requested_size",
    ];
    assert_eq!(
        sizes.map(|size| segment[size].as_u64()),
        [2 << 20, 512, 1024, 1008].map(Some)
    );
    // The viewer has no addresses of blocks: it adds their sizes up.
    let blocks = segment["blocks"].as_array().unwrap();
    let mut end = segment["address"].as_u64();
    for block in blocks {
        assert_eq!(block["address"].as_u64(), end);
        end = end
            .zip(block["size"].as_u64())
            .map(|(end, size)| end + size);
        assert!(block["requested_size"].is_u64() && block["frames"].is_array());
    }
    let states: Vec<_> = blocks.iter().map(|block| block["state"].as_str()).collect();
    let free = Some("inactive");
    assert_eq!(
        states,
        [
            free,
            Some("active_allocated"),
            free,
            Some("active_pending_free"),
            free
        ]
    );
    let events = read["device_traces"][0].as_array().unwrap();
    for event in events {
        for field in ["action", "size", "stream", "time_us", "frames"] {
            assert!(!event[field].is_null(), "{field}");
        }
        let frame = &event["frames"][0];
        assert!(frame["filename"].is_string() && frame["name"].is_string());
        assert!(frame["line"].is_u64());
        let place = if event["action"] == "oom" {
            "device_free"
        } else {
            "addr"
        };
        assert!(event[place].is_u64(), "{event}");
    }
}

/// Without it a segment could hold blocks that overlap, and the viewer draw nonsense.
#[test]
fn a_segment_that_does_not_add_up_is_refused() {
    let block = |address, size| Block {
        address,
        size,
        requested_size: size,
        state: BlockState::Live,
        frames: Vec::new(),
    };
    assert!(Segment::new(100, 10, 0, vec![block(100, 10)]).is_some());
    assert!(Segment::new(100, 10, 0, vec![block(99, 1)]).is_none());
    assert!(Segment::new(100, 10, 0, vec![block(100, 11)]).is_none());
    assert!(Segment::new(100, 10, 0, vec![block(104, 2), block(100, 5)]).is_none());
    assert!(Segment::new(u64::MAX, 2, 0, Vec::new()).is_none());
    let much = Block {
        requested_size: 11,
        ..block(100, 10)
    };
    assert!(Segment::new(100, 10, 0, vec![much]).is_none());
}

/// A value of plain data, as a library for pickles has it.
#[derive(Clone, Debug)]
struct Plain(serde_json::Value);

impl quickcheck::Arbitrary for Plain {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        fn value(g: &mut quickcheck::Gen, depth: u32) -> serde_json::Value {
            match u32::arbitrary(g) % if depth == 0 { 5 } else { 7 } {
                0 => serde_json::Value::Null,
                1 => bool::arbitrary(g).into(),
                2 => (i64::arbitrary(g) >> (u8::arbitrary(g) % 64)).into(),
                3 => u64::arbitrary(g).into(),
                4 => String::arbitrary(g).into(),
                5 => (0..u8::arbitrary(g) % 5)
                    .map(|_| value(g, depth - 1))
                    .collect(),
                _ => (0..u8::arbitrary(g) % 5)
                    .map(|_| (String::arbitrary(g), value(g, depth - 1)))
                    .collect(),
            }
        }
        Self(value(g, 4))
    }
}

/// The value as JSON has it.
fn plain(document: &document::Document, value: document::Value) -> serde_json::Value {
    use document::Value;
    match value {
        Value::None => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Integer(value) => value.into(),
        Value::Unsigned(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Text(_) => document.str(value).unwrap().into(),
        Value::List(_) => {
            let items = document.items(value).unwrap().iter();
            items.map(|&item| plain(document, item)).collect()
        }
        Value::Dict(index) => {
            let pairs = document.items(Value::List(index)).unwrap();
            let pairs = pairs.chunks_exact(2).map(|pair| {
                let key = document.str(pair[0]).unwrap();
                (key.to_owned(), plain(document, pair[1]))
            });
            pairs.collect()
        }
    }
}

quickcheck::quickcheck! {
    /// Without it the readers could differ from the libraries whose formats they read.
    fn both_readers_agree_with_other_writers(value: Plain) -> bool {
        let memory = Memory::new(&ReadOptions::default());
        let pickled = serde_pickle::to_vec(&value.0, serde_pickle::SerOptions::new()).unwrap();
        let (document, root) = pickle::read(&pickled[..], memory).unwrap();
        let written = value.0.to_string();
        let (other, top) = json::read(written.as_bytes(), memory, u64::MAX).unwrap();
        plain(&document, root) == value.0 && plain(&other, top) == value.0
    }

    /// Without it a damaged snapshot could panic the import.
    fn a_damaged_snapshot_is_a_trace_or_an_error(at: usize, byte: u8) -> bool {
        let mut bytes = PYTHON.to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Trace::read(&bytes[..]);
        true
    }
}
