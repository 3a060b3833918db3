//! Standard output and error that have no room, or that no process reads.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use super::cli::{cupola, output};
use super::inputs;

/// A file that takes nothing.
fn full() -> Option<Stdio> {
    let file = OpenOptions::new().write(true).open("/dev/full");
    if file.is_err() {
        eprintln!("SKIPPED: there is no /dev/full");
    }
    file.ok().map(Into::into)
}

/// The exit code and standard error of `command`, for whose output there is no room.
fn without_room(mut command: Command) -> Option<(Option<i32>, String)> {
    let child = command.stdout(full()?).stderr(Stdio::piped()).spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Some((output.status.code(), stderr))
}

/// Without it a report could be lost on a full disk, and the exit code say that all is well.
#[test]
fn a_report_that_there_is_no_room_for_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let sim = ["--device", "sim"];
    let with = |words: &[&str]| cupola(&[words, &sim].concat());
    let mut commands = vec![
        with(&["replay", &trace]),
        with(&["replay", &trace, "--smallest"]),
        with(&["run", &file, "--trace", &trace]),
        with(&["run", &file, "--trace", &trace, "--json", "-"]),
        with(&["bench", "loader", "--quick"]),
        cupola(&["doctor"]),
        cupola(&["doctor", "--json", "-"]),
        cupola(&["completions", "bash"]),
        cupola(&["man"]),
        cupola(&["--help"]),
        cupola(&["--version"]),
    ];
    if cfg!(all(feature = "libcuda", unix)) {
        commands.push(cupola(&["sim", "info"]));
        let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/sim/kernels.ptx");
        commands.push(cupola(&["sim", "check", ptx]));
    }
    for command in commands {
        let what = format!("{command:?}");
        let Some((code, stderr)) = without_room(command) else {
            return;
        };
        assert_eq!(code, Some(5), "{what}: {stderr}");
        assert!(stderr.contains("standard output: "), "{what}: {stderr}");
    }
}

/// Without it figures for which there is room elsewhere could be lost with those that have none.
#[test]
fn a_file_is_written_although_its_text_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json").display().to_string();
    let command = cupola(&["bench", "loader", "--device", "sim", "--json", &file]);
    let Some((code, stderr)) = without_room(command) else {
        return;
    };
    assert_eq!(code, Some(5), "{stderr}");
    let figures = super::json(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(figures["suite"], "loader");
}

/// Without it `| head -1` would end in a failure.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = inputs(folder.path());
    let mut command = cupola(&["replay", "--device", "sim", &trace]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (code, _, stderr) = output(command.stdout(writer));
    assert_eq!((code, &*stderr), (Some(0), ""));
}

/// Without it the program could panic where it only has something to say, and end with a code that
/// means nothing.
#[test]
fn who_cannot_be_told_of_a_failure_sees_its_code() {
    for (args, log, code) in [
        (&["replay", "no-such-file"][..], "", 5),
        (&["run", "no-such-file"], "", 5),
        (&["bench", "loader", "--threads", "0"], "", 2),
        (&["replay", "no-such-file"], "trace", 5),
        (&["replay", "no-such-file"], "a=b=c", 5),
        (&["run", "--device", "sim", "no-such-file"], "trace", 5),
        (&["doctor"], "trace", 0),
    ] {
        let Some(stderr) = full() else {
            return;
        };
        let mut command = cupola(args);
        command
            .env("RUST_LOG", log)
            .stdout(Stdio::null())
            .stderr(stderr);
        let status = command.status().unwrap();
        assert_eq!(status.code(), Some(code), "{args:?} with {log:?}");
    }
    // What makes no sense is said where it can be.
    let mut command = cupola(&["replay", "no-such-file"]);
    let (_, _, stderr) = output(command.env("RUST_LOG", "a=b=c"));
    assert!(stderr.contains("RUST_LOG=a=b=c: "), "{stderr}");
}

/// Without it a program under the software device could lose its exit code to a report that no
/// process can read.
#[test]
#[cfg(all(feature = "libcuda", unix))]
fn a_report_that_cannot_be_said_leaves_the_exit_code() {
    let Some(stderr) = full() else {
        return;
    };
    let program = ["sh", "-c", "echo a finding > $CUPOLA_SIM_REPORT; exit 7"];
    let mut command = cupola(&[&["sim", "run", "--"], &program[..]].concat());
    // Any file is as good: nothing loads it.
    command.env("CUPOLA_SIM_LIBRARY", env!("CARGO_BIN_EXE_cupola"));
    assert_eq!(command.stderr(stderr).status().unwrap().code(), Some(7));
}
