//! `cupola replay` as a user meets it, on traces of all formats.

#[path = "../common/cli.rs"]
mod cli;
mod ends;
mod files;
mod tight;

use std::path::Path;
use std::process::Command;

use cli::{cupola, json, output};
use cupola_cli::trace::snapshot::{
    Action, Block, BlockState, Encoding, Event, Frame, Segment, Snapshot,
};
use serde_json::Value;

/// A snapshot of two streams in which a block is freed on its own stream and one is kept.
fn snapshot() -> Snapshot {
    let base = 0x7f00_0000_0000;
    let frames = vec![Frame {
        filename: "model.py".into(),
        name: "forward".into(),
        line: 12,
    }];
    let event = |action, offset, size, stream, time_us| Event {
        action,
        addr: base + offset,
        size,
        stream,
        time_us,
        frames: frames.clone(),
    };
    let block = Block {
        address: base + 4096,
        size: 1024,
        requested_size: 1000,
        state: BlockState::Live,
        frames: frames.clone(),
    };
    Snapshot {
        segments: vec![Segment::new(base, 2 << 20, 0, vec![block]).unwrap()],
        device_traces: vec![vec![
            event(Action::Alloc, 0, 4096, 0, 10),
            event(Action::Alloc, 4096, 1000, 7, 20),
            event(Action::FreeRequested, 0, 4096, 0, 30),
            event(Action::FreeCompleted, 0, 4096, 0, 30),
            event(Action::FreeRequested, 8192, 100, 0, 40),
            event(Action::FreeCompleted, 8192, 100, 0, 40),
        ]],
        ..Snapshot::default()
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn written(encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot().write(&mut bytes, encoding).unwrap();
    bytes
}

/// Replays `trace` on the software device; the exit code, the text and the JSON report.
fn replay(folder: &Path, trace: &str, more: &[&str]) -> (Option<i32>, String, Value) {
    let report = folder.join("report.json").display().to_string();
    let mut args = vec!["replay", "--device", "sim", "--json", &report, trace];
    args.extend(more);
    let (code, stdout, stderr) = output(&mut cupola(&args));
    let report = std::fs::read_to_string(report);
    let report = report.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (code, stdout, json(&report))
}

/// Without it a format could replay as less than it holds, or what was left out go unsaid.
#[test]
fn traces_of_all_formats_are_replayed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rmm = "Thread,Time,Action,Pointer,Size,Stream\n\
               1,10:00:00.000010,allocate,0x100,4096,0x0\n\
               2,10:00:00.000020,allocate,0x200,1000,0x7\n\
               2,10:00:00.000030,free,0x100,4096,0x0\n\
               2,10:00:00.000040,free,0x300,100,0x0\n";
    for trace in [
        write(folder, "a.pickle", &written(Encoding::Pickle)),
        write(folder, "a.json", &written(Encoding::Json)),
        write(folder, "a.csv", rmm.as_bytes()),
    ] {
        let (code, text, report) = replay(folder, &trace, &["--limit", "4Mi"]);
        assert_eq!(code, Some(0), "{trace}: {text}");
        assert_eq!(report["trace"]["operations"], 3, "{trace}");
        assert_eq!(report["trace"]["streams"], 2);
        assert_eq!(report["trace"]["peak"], 5096);
        assert_eq!(report["trace"]["older_bytes"], 100);
        assert!(text.contains("NOT REPLAYED: 1 block ("), "{text}");
        let done = &report["replay"];
        assert_eq!(
            (&done["checked"], &done["wrong_bytes"]),
            (&2.into(), &0.into())
        );
        assert_eq!(
            (&done["failures"], &done["verified"]),
            (&0.into(), &true.into())
        );
        assert_eq!(
            (&done["allocate"]["count"], &done["free"]["count"]),
            (&2.into(), &1.into())
        );
        assert_eq!(report["leaks"]["objects"], 0);
    }
}

/// Without it threads could lose operations, wait for each other for ever, or free what is in
/// use: blocks here go from one thread to another.
#[test]
fn threads_share_a_trace_and_hand_blocks_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut text = String::new();
    for block in 0..600 {
        let (stream, other) = (block % 5, (block * 7) % 5);
        text += &format!("a {block} {} {stream}\n", 1 + block * 37 % 5000);
        if block >= 40 {
            text += &format!("f {} {other}\n", block - 40);
        }
    }
    let trace = write(folder, "streams.trace", text.as_bytes());
    for (more, checked) in [
        (&["--threads", "4"][..], true),
        (&["--threads", "3", "--unchecked"], false),
        (&["--threads", "2", "--streams", "6", "--seed", "9"], true),
    ] {
        let (code, text, report) = replay(folder, &trace, more);
        assert_eq!(code, Some(0), "{more:?}: {text}");
        let done = &report["replay"];
        assert_eq!(done["allocate"]["count"], 600, "{more:?}");
        assert_eq!(done["free"]["count"], 560, "{more:?}");
        assert_eq!(done["checked"].as_u64(), checked.then_some(600), "{more:?}");
        assert_eq!(done["nanoseconds"].is_f64(), !checked);
        assert_eq!(done["gauges"]["live"], 0);
    }
}

/// Without it a replay that does not fit could look like one that does.
#[test]
fn what_does_not_fit_is_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "a 1 3000000 0\na 2 3000000 0\nf 1\na 3 100 0\nf 2\n";
    let trace = write(folder, "large.trace", text.as_bytes());
    let (code, text, report) = replay(folder, &trace, &["--limit", "4Mi"]);
    assert_eq!(code, Some(6), "{text}");
    let done = &report["replay"];
    assert_eq!(
        (&done["failures"], &done["checked"]),
        (&1.into(), &2.into())
    );
    assert_eq!(done["first_failure"]["operation"], 1);
    assert!(
        text.contains("first at operation 1") && text.contains("refused"),
        "{text}"
    );

    let (code, text, report) = replay(folder, &trace, &["--limit", "2x"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(report["replay"]["limit"], 12 << 20);
}

/// Without it the pictures could be missing, or be of another moment than the fullest.
#[test]
fn the_pool_is_drawn_at_its_fullest_and_at_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "a 1 3000000 0\na 2 3000000 0\nf 1\na 3 100 0\nf 2\n";
    let trace = write(folder, "large.trace", text.as_bytes());
    let map = folder.join("map.svg").display().to_string();
    let (code, text, report) = replay(folder, &trace, &["--map", &map]);
    assert_eq!(code, Some(0), "{text}");
    let maps = report["replay"]["maps"].as_array().unwrap();
    assert_eq!(maps.len(), 1, "{text}");
    let picture = std::fs::read_to_string(&map).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("at operation 1<"), "{picture}");
    assert!(picture.contains("in 2 blocks"), "{picture}");

    let (code, text, report) = replay(folder, &trace, &["--map", &map, "--limit", "4Mi"]);
    assert_eq!(code, Some(6), "{text}");
    assert_eq!(
        report["replay"]["maps"].as_array().unwrap().len(),
        2,
        "{text}"
    );
    let failure = std::fs::read_to_string(folder.join("map.failure.svg")).unwrap();
    assert!(
        failure.contains("first failure, at operation 1<"),
        "{failure}"
    );
    assert!(
        failure.contains("an allocation of 2.86 MiB failed"),
        "{failure}"
    );
}

/// Without it the figure by which the pool is judged could come from a replay that failed.
#[test]
fn the_smallest_limit_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "a 1 3000000 0\na 2 3000000 0\nf 1\na 3 100 0\nf 2\n";
    let trace = write(folder, "large.trace", text.as_bytes());
    let (code, text, report) = replay(folder, &trace, &["--smallest"]);
    assert_eq!(code, Some(0), "{text}");
    let found = report["smallest"]["limit"].as_u64().unwrap();
    assert!(found >= 6 << 20 && found % (2 << 20) == 0, "{text}");
    let tried = report["smallest"]["tried"].as_array().unwrap();
    for attempt in tried {
        let limit = attempt["limit"].as_u64().unwrap();
        assert_eq!(attempt["fits"].as_bool(), Some(limit >= found), "{text}");
    }
    assert_eq!(report["smallest"]["safe_from"], found);
    assert_eq!(report["smallest"]["kernels"], false);
    let limits = match tried.len() {
        1 => "1 limit".into(),
        several => format!("{several} limits"),
    };
    let said = format!("{limits} tried; nothing is said of those between");
    assert!(
        text.contains(&said) && text.contains("with kernels"),
        "{text}"
    );
    let (code, ..) = replay(folder, &trace, &["--limit", &found.to_string()]);
    assert_eq!(code, Some(0));
}

/// Without it times could be ignored, or be waited for where there are none.
#[test]
fn recorded_times_are_kept_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut timed = snapshot();
    for (place, event) in timed.device_traces[0].iter_mut().enumerate() {
        event.time_us = 1_000_000 + 50_000 * place as u64;
    }
    let mut bytes = Vec::new();
    timed.write(&mut bytes, Encoding::Json).unwrap();
    let trace = write(folder, "timed.json", &bytes);
    let (code, text, report) = replay(folder, &trace, &["--realtime", "--unchecked"]);
    assert_eq!(code, Some(0), "{text}");
    // The last operation is the third event.
    assert!(
        report["replay"]["seconds"].as_f64().unwrap() >= 0.1,
        "{text}"
    );

    let trace = write(folder, "timeless.trace", b"a 1 1 0\n");
    let (code, _, stderr) = output(&mut cupola(&[
        "replay",
        "--device",
        "sim",
        "--realtime",
        &trace,
    ]));
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("no times"), "{stderr}");
}

/// Without it a damaged file could end as a device failure, or without its place.
#[test]
fn damaged_files_are_named_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, bytes, words) in [
        (
            "cut.pickle",
            &written(Encoding::Pickle)[..300],
            "of the pickle",
        ),
        (
            "bad.json",
            b"{\"device_traces\": [[{\"action\": \"alloc\"}]]}",
            "device_traces[0][0].addr",
        ),
        (
            "bad.csv",
            b"Thread,Time,Action,Pointer,Size,Stream\n1,2",
            "line 2",
        ),
    ] {
        let file = write(folder, name, bytes);
        let (code, _, stderr) = output(&mut cupola(&["replay", "--device", "sim", &file]));
        assert_eq!(code, Some(5), "{stderr}");
        assert!(stderr.contains(words) && stderr.contains(name), "{stderr}");
    }
}

/// Reads a snapshot as the viewer does, which rebuilds the past from the end.
const VIEWER: &str = r#"
import pickle, sys
snapshot = pickle.load(open(sys.argv[1], "rb"))
assert set(snapshot) == {"segments", "device_traces", "allocator_settings", "external_annotations"}
live = {}
for segment in snapshot["segments"]:
    assert segment["device"] == 0 and isinstance(segment["segment_pool_id"], tuple)
    address = segment["address"]
    for block in segment["blocks"]:
        assert block["address"] == address, block
        assert block["requested_size"] <= block["size"]
        if block["state"] in ("active_allocated", "active_pending_free"):
            live[address] = block["state"]
        else:
            assert block["state"] == "inactive", block
        address += block["size"]
    assert address == segment["address"] + segment["total_size"]
for event in reversed(snapshot["device_traces"][0]):
    for frame in event["frames"]:
        assert set(frame) == {"filename", "name", "line"}
    if event["action"] == "alloc":
        del live[event["addr"]]
    elif event["action"] == "free_completed":
        live[event["addr"]] = "active_pending_free"
    elif event["action"] == "free_requested":
        assert live[event["addr"]] == "active_pending_free"
        live[event["addr"]] = "active_allocated"
print("live before:", len(live))
"#;

/// Without it Python could refuse what our own reader takes.
#[test]
fn python_reads_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.pickle", &written(Encoding::Pickle));
    let python = Command::new("python3").args(["-c", VIEWER, &file]).output();
    let Ok(output) = python else {
        return eprintln!("SKIPPED: there is no python3 to read a snapshot with");
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).trim(), "live before: 1");
}

/// Without it PyTorch's viewer could be given a file that says something else than what was
/// replayed, or none that it can read.
#[test]
fn a_written_snapshot_is_a_trace_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.pickle", &written(Encoding::Pickle));
    for (name, more) in [("b.pickle", &[][..]), ("b.json", &["--unchecked"])] {
        let path = folder.join(name).display().to_string();
        let mut args = vec!["--limit", "4Mi", "--snapshot", &path];
        args.extend(more);
        let (code, text, first) = replay(folder, &trace, &args);
        assert_eq!(code, Some(0), "{text}");
        let (code, text, again) = replay(folder, &path, &["--limit", "4Mi"]);
        assert_eq!(code, Some(0), "{text}");
        for field in ["blocks", "streams", "peak"] {
            assert_eq!(again["trace"][field], first["trace"][field], "{field}");
        }
        // The replay frees what the program never did.
        assert_eq!(first["trace"]["operations"], 3);
        assert_eq!(again["trace"]["operations"], 4);
        assert_eq!(again["trace"]["older_blocks"], 0);
    }
    let snapshot = json(&std::fs::read_to_string(folder.join("b.json")).unwrap());
    let events = snapshot["device_traces"][0].as_array().unwrap();
    let actions: Vec<_> = events.iter().map(|event| &event["action"]).collect();
    assert_eq!(actions[..3], ["segment_map", "alloc", "alloc"]);
    let frame = &events[1]["frames"][0];
    assert_eq!(
        (&frame["filename"], &frame["name"], &frame["line"]),
        (&"model.py".into(), &"forward".into(), &12.into())
    );
    // The page is the pool's still.
    let segments = snapshot["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 1);
    assert_eq!(segments[0]["total_size"], 2 << 20);
    assert_eq!(segments[0]["allocated_size"], 0);
    assert_eq!(snapshot["allocator_settings"]["dropped_events"], 0);
}
