//! How a replay ends: what does not fit, what is refused, files that cannot be written.

use super::cli::{cupola, output};
use super::{replay, write};

/// Without it the blocks that were on their way to another thread when a limit turned out too
/// small were lost: with them the pool, and what it had mapped, for all limits after it.
#[test]
fn limits_that_do_not_fit_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let blocks = (0..40_000).map(|block| format!("a {block} 1 0\n"));
    let text = blocks.collect::<String>() + "f 39999 1\nf 0 1\n";
    let trace = write(folder, "two.trace", text.as_bytes());
    let (code, text, report) = replay(folder, &trace, &["--smallest", "--threads", "2"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(report["smallest"]["tried"][0]["fits"], false, "{text}");
    assert!(report["smallest"]["limit"].is_u64(), "{text}");
    assert_eq!(report["leaks"]["objects"], 0, "{text}");
}

/// Without it a figure could be of a replay that failed, or count threads that had nothing to do.
#[test]
fn figures_are_of_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "a 1 3000000 0\na 2 3000000 0\nf 1\na 3 100 0\nf 2\n";
    let trace = write(folder, "large.trace", text.as_bytes());
    let (code, text, report) = replay(folder, &trace, &["--unchecked", "--limit", "4Mi"]);
    assert_eq!(code, Some(6), "{text}");
    let done = &report["replay"];
    assert_eq!(
        (&done["failures"], &done["untimed_failures"]),
        (&1.into(), &1.into())
    );
    assert!(
        text.contains("1 failure in the replay without a clock"),
        "{text}"
    );

    // One stream, and so one thread that works.
    let text: String = (0..2000)
        .map(|block| format!("a {block} 9 0\nf {block}\n"))
        .collect();
    let trace = write(folder, "one.trace", text.as_bytes());
    let (code, text, report) = replay(folder, &trace, &["--unchecked", "--threads", "16"]);
    assert_eq!(code, Some(0), "{text}");
    let number = |field: &str| report["replay"][field].as_f64().unwrap();
    let whole = number("seconds") * 1e9 / 4000.0;
    assert!(number("nanoseconds") <= whole * 1.001, "{text}");
}

/// Without it one size that nothing has could end a replay as a failure of the device.
#[test]
fn sizes_that_do_not_exist_are_failures_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for size in ["9223372036854775808", "18446744073709551615"] {
        let text = format!("a 1 {size} 0\nf 1\na 2 5 0\nf 2\n");
        let trace = write(folder, "huge.trace", text.as_bytes());
        for more in [&[][..], &["--unchecked"]] {
            let (code, text, report) = replay(folder, &trace, more);
            assert_eq!(code, Some(6), "{size} {more:?}: {text}");
            assert_eq!(report["replay"]["failures"], 1, "{text}");
            assert_eq!(report["replay"]["first_failure"]["operation"], 0);
        }
    }
}

/// Without it a check of nothing could pass, or a replay end in the middle for its streams.
#[test]
fn what_cannot_be_replayed_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refused = |args: &[&str]| {
        let (code, stdout, stderr) = output(&mut cupola(args));
        (code, stdout + &stderr)
    };
    for (name, bytes) in [
        ("empty.trace", &b""[..]),
        ("comments.trace", b"# nothing\n"),
        ("empty.json", b"{\"device_traces\": [[]]}"),
    ] {
        let file = write(folder, name, bytes);
        let (code, text) = refused(&["run", "--device", "sim", "--trace", &file]);
        assert_eq!(code, Some(5), "{text}");
        let (code, text) = refused(&["replay", "--device", "sim", &file]);
        assert_eq!(code, Some(5), "{text}");
        assert!(
            text.contains("nothing in the trace") && text.contains(name),
            "{text}"
        );
        let (code, text) = refused(&[
            "bench", "alloc", "--quick", "--device", "sim", "--trace", &file,
        ]);
        assert_eq!(code, Some(5), "{text}");
        assert!(
            text.contains("nothing in the trace") && text.contains(name),
            "{text}"
        );
    }

    let text: String = (0..65_536)
        .map(|block| format!("a {block} 1 {block}\n"))
        .collect();
    let file = write(folder, "streams.trace", text.as_bytes());
    for args in [&["replay", &file][..], &["run", "--trace", &file]] {
        let (code, text) = refused(&[args, &["--device", "sim"]].concat());
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains("65536 streams"), "{text}");
    }
    let (code, _) = refused(&["replay", "--device", "sim", "--streams", "65473", &file]);
    assert_eq!(code, Some(2));
}

/// Without it a replay of as many streams as are accepted ended in the middle, as a failure of the
/// device: there were fewer, and those of an earlier replay of the same command counted too.
#[test]
fn as_many_streams_as_are_accepted_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", b"a 1 10 0\nf 1\na 2 20 0\n");
    let most = "65472";
    for more in ["--unchecked", "--smallest"] {
        let (code, text, report) = replay(folder, &trace, &["--streams", most, more]);
        assert_eq!(code, Some(0), "{more}: {text}");
        assert_eq!(report["trace"]["streams"].to_string(), most, "{more}");
    }
}

/// Without it options could be taken for the reason of figures that they have no part in.
#[test]
fn a_device_of_a_trace_without_devices_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log = b"Thread,Time,Action,Pointer,Size,Stream\n1,1.0,allocate,0x10,8,0\n";
    for (name, bytes) in [("a.trace", &b"a 1 10 0\nf 1\n"[..]), ("a.csv", log)] {
        let file = write(folder, name, bytes);
        let args = ["replay", "--device", "sim", "--trace-device", "9", &file];
        let (code, _, stderr) = output(&mut cupola(&args));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(
            stderr.contains("--trace-device") && stderr.contains(name),
            "{stderr}"
        );
    }
}

/// Without it a figure could be read as another one: a limit that no pool has, or allocations as
/// pages.
#[test]
fn figures_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", b"a 1 10 0\nf 1\n");
    let most = ((1_u64 << 48) - 1).to_string();
    let (code, text, report) = replay(folder, &trace, &["--limit", &most]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(report["replay"]["limit"], (1_u64 << 48) - 1);
    assert!(text.contains("limit 256.00 TiB"), "{text}");
    assert!(
        text.contains("; 1 allocation mapped pages, 0 pages remapped, 0 drains, 0 waits on"),
        "{text}"
    );

    // Of more than any pool has it has the most.
    let huge = write(folder, "huge.trace", b"a 1 1000000000000 0\nf 1\n");
    let (code, text, report) = replay(folder, &huge, &["--limit", "1000x", "--unchecked"]);
    assert_eq!(code, Some(6), "{text}");
    assert_eq!(report["replay"]["limit"], (1_u64 << 48) - 1, "{text}");
    assert!(text.contains("limit 256.00 TiB"), "{text}");

    let args = [
        "run", "--device", "sim", "--json", "-", "--limit", &most, "--trace", &trace, &trace,
    ];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    let report = super::json(&stdout);
    assert_eq!(report["replay"]["limit"], (1_u64 << 48) - 1);
}

/// Without it the viewer could say of a limit that the device was full.
#[test]
fn a_refusal_in_a_snapshot_has_what_the_device_had() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = format!("a 1 {} 0\na 2 5000000 0\na 3 10 0\n", u64::MAX - 10_000_000);
    let trace = write(folder, "a.trace", text.as_bytes());
    let file = folder.join("a.json").display().to_string();
    let (code, text, _) = replay(folder, &trace, &["--snapshot", &file, "--limit", "4Mi"]);
    assert_eq!(code, Some(6), "{text}");
    let snapshot = super::json(&std::fs::read_to_string(&file).unwrap());
    let events = snapshot["device_traces"][0].as_array().unwrap();
    let refused = events.iter().filter(|event| event["action"] == "oom");
    let sizes: Vec<_> = refused
        .map(|event| {
            assert!(event["device_free"].as_u64() > Some(5_000_000), "{event}");
            event["size"].as_u64()
        })
        .collect();
    assert_eq!(sizes, [Some(i64::MAX as u64), Some(5_000_000)]);
}

/// Without it a user could write a file that the viewer does not open, or convert one that `run`
/// takes as it is.
#[test]
fn the_help_says_which_files_are_for_what() {
    for (command, words) in [
        ("replay", "as a pickle for PyTorch's memory viewer"),
        (
            "run",
            "text, a snapshot of PyTorch (pickle or JSON) or a log of RMM",
        ),
    ] {
        let (_, help, _) = output(&mut cupola(&[command, "--help"]));
        let help: Vec<_> = help.split_ascii_whitespace().collect();
        let help = help.join(" ");
        assert!(help.contains(words), "{help}");
    }
}

/// What a short `bench alloc` over the trace prints.
fn bench_alloc(trace: &str, more: &[&str]) -> String {
    let args = ["bench", "alloc", "--quick", "--device", "sim"];
    let args = [&args[..], &["--threads", "1", "--trace", trace], more].concat();
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    stdout
}

/// Without it figures could pass for those of all that a program did.
#[test]
fn what_is_left_out_is_said_wherever_figures_are() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log = "Thread,Time,Action,Pointer,Size,Stream\n\
               1,10:00:00.1,allocate,0x10,8,0\n\
               1,10:00:00.2,free,0x20,100,0\n\
               1,10:00:00.3,allocate failure,(nil),9,0\n\
               1,10:00:00.4,free,0x10,8,0\n";
    let trace = write(folder, "a.csv", log.as_bytes());
    let older = "NOT REPLAYED: 1 block (100 bytes) from before the recording";
    let failed = "NOT REPLAYED: 1 request that failed when it was recorded";

    let run = ["run", "--device", "sim", "--trace", &trace, &trace];
    let (code, stdout, stderr) = output(&mut cupola(&run));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.contains(older) && stdout.contains(failed),
        "{stdout}"
    );
    let (code, stdout, stderr) = output(&mut cupola(&[&run[..], &["--json", "-"]].concat()));
    assert_eq!(code, Some(0), "{stderr}");
    let report = super::json(&stdout);
    assert_eq!(report["replay"]["older_blocks"], 1);
    assert_eq!(report["replay"]["older_bytes"], 100);
    assert_eq!(report["replay"]["recorded_failures"], 1);

    let file = folder.join("figures.json").display().to_string();
    let stdout = bench_alloc(&trace, &["--json", &file]);
    assert!(
        stdout.contains("trace a, NOT REPLAYED: 1 block (100 bytes)"),
        "{stdout}"
    );
    let figures = super::json(&std::fs::read_to_string(&file).unwrap());
    let notes = figures["notes"].as_array().unwrap().iter();
    let notes = notes.filter(|note| note.as_str().unwrap().contains("NOT REPLAYED"));
    assert_eq!(notes.count(), 2, "{figures}");
}

/// Without it rows of two traces could be set beside each other because both have one name.
#[test]
fn traces_of_one_name_are_not_measured_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = write(folder, "m.trace", b"a 1 10 0\n");
    let second = write(folder, "m.json", b"{\"device_traces\": [[]]}");
    let bundled = write(folder, "embed13.trace", b"a 1 10 0\n");
    for (args, name) in [
        (
            ["bench", "alloc", "--quick", "--trace", &first, &second],
            "\"m\"",
        ),
        (
            ["bench", "slots", "--quick", "--trace", &first, &bundled],
            "\"embed13\"",
        ),
    ] {
        let (code, _, stderr) = output(cupola(&args).env("CUPOLA_DEVICE", "sim"));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(name), "{stderr}");
    }
}

/// Without it a trace that frees nothing ended the benchmark as a wrong result.
#[test]
fn a_trace_without_frees_has_no_rows_of_frees() {
    let folder = tempfile::tempdir().unwrap();
    let trace = write(folder.path(), "grows.trace", b"a 1 10 0\na 2 20 0\n");
    let stdout = bench_alloc(&trace, &[]);
    assert!(stdout.contains("trace grows, allocate, max"), "{stdout}");
    assert!(!stdout.contains("trace grows, free"), "{stdout}");
}

/// Without it a picture of one thread could not be asked for by its number, or pass for one of
/// several.
#[test]
fn pictures_are_of_one_thread() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", b"a 1 10 0\nf 1\n");
    for option in ["--map", "--snapshot"] {
        let file = folder.join("file").display().to_string();
        let (code, text, _) = replay(folder, &trace, &["--threads", "1", option, &file]);
        assert_eq!(code, Some(0), "{text}");
        let args = ["replay", "--threads", "2", option, &file, &trace];
        let (code, _, stderr) = output(cupola(&args).env("CUPOLA_DEVICE", "sim"));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("one thread"), "{stderr}");
    }
}
