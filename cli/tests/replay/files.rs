//! The files that `cupola replay` writes: found out early, and whole or not at all.

use std::path::Path;

use super::cli::{cupola, output};
use super::{replay, write};

const TRACE: &[u8] = b"a 1 3000000 0\na 2 3000000 0\nf 1\na 3 100 0\nf 2\n";

fn names(folder: &Path) -> Vec<String> {
    let found = std::fs::read_dir(folder).unwrap();
    let names = found.map(|one| one.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Without it a replay of hours could end without a figure, for a name that nothing can be
/// written to, and leave empty files of the other names.
#[test]
fn names_that_cannot_be_written_are_said_before_the_replay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", TRACE);
    let path = |name: &str| folder.join(name).display().to_string();
    let (map, nowhere) = (path("z.svg"), path("nowhere/z"));
    // Where the picture of a failure would go.
    std::fs::create_dir(folder.join("taken.failure.svg")).unwrap();
    let taken = path("taken.svg");
    let before = names(folder);
    for (more, word) in [
        (&["--map", &nowhere][..], "nowhere"),
        (&["--snapshot", &nowhere], "nowhere"),
        (&["--json", &nowhere], "nowhere"),
        (&["--map", &map, "--snapshot", &nowhere], "nowhere"),
        (&["--smallest", "--json", &nowhere], "nowhere"),
        (&["--map", &taken], "taken.failure.svg"),
    ] {
        let args = [&["replay", "--device", "sim", &trace], more].concat();
        let (code, stdout, stderr) = output(&mut cupola(&args));
        assert_eq!(code, Some(5), "{more:?}: {stderr}");
        assert!(stderr.contains(word), "{more:?}: {stderr}");
        assert_eq!(stdout, "", "{more:?}");
        assert_eq!(names(folder), before, "{more:?}");
    }
    let args = ["bench", "loader", "--device", "sim", "--json", &nowhere];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!((code, &*stdout), (Some(5), ""), "{stderr}");
}

/// Without it a replay that cannot begin could destroy the snapshot of an earlier one.
#[test]
fn what_is_there_stays_when_the_replay_fails() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", TRACE);
    for (option, name) in [("--snapshot", "a.pickle"), ("--map", "a.svg")] {
        let old = write(folder, name, b"old");
        let mut command = cupola(&["replay", "--device", "gpu", option, &old, &trace]);
        command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1");
        let (code, _, stderr) = output(&mut command);
        assert_eq!(code, Some(3), "{stderr}");
        assert_eq!(std::fs::read(&old).unwrap(), b"old", "{option}");
    }
    assert_eq!(names(folder), ["a.pickle", "a.svg", "a.trace"]);
}

/// Without it an option could be the only one that cannot read what another program prints, or a
/// report be put over the trace behind standard input.
#[test]
fn a_trace_may_come_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", TRACE);
    let run = |args: &[&str]| {
        let mut command = cupola(args);
        command.env("CUPOLA_DEVICE", "sim").current_dir(folder);
        output(command.stdin(std::fs::File::open(&trace).unwrap()))
    };
    let (code, stdout, stderr) = run(&["replay", "-", "--json", "-"]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = super::json(&stdout);
    assert_eq!(report["trace"]["file"], "standard input", "{stdout}");
    assert_eq!(report["trace"]["operations"], 5, "{stdout}");
    let (code, stdout, stderr) = run(&["run", "--trace", "-", &trace, "--json", "-"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(super::json(&stdout)["replay"]["operations"], 5, "{stdout}");
    for args in [
        &["run", "-"][..],
        &["bench", "alloc", "--quick", "--trace", "-"],
        &["bench", "slots", "--quick", "--trace", "-"],
        &["bench", "alloc", "--quick", "--peer-output", "-"],
    ] {
        let (code, _, stderr) = run(args);
        assert_eq!(code, Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("standard input"), "{args:?}: {stderr}");
    }
    if Path::new("/dev/stdin").exists() {
        let (code, _, stderr) = run(&["replay", "-", "--json", &trace]);
        assert_eq!(code, Some(2), "{stderr}");
        assert_eq!(std::fs::read(&trace).unwrap(), TRACE);
    }

    // A file of that name, and one with nothing in it behind standard input.
    write(folder, "-", b"a 1 10 0\n");
    let (code, stdout, stderr) = run(&["replay", "./-"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("1 operation on"), "{stdout}");
    let (code, _, stderr) = output(cupola(&["replay", "-"]).stdin(std::process::Stdio::null()));
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("standard input: "), "{stderr}");
}

/// Without it a file without room for it could take the others, or the figures, with it.
#[test]
fn figures_are_said_without_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", b"a 1 10 0\nf 1\n");
    if !Path::new("/dev/full").exists() {
        return eprintln!("SKIPPED: there is no /dev/full");
    }
    let map = folder.join("a.svg").display().to_string();
    let more = ["--snapshot", "/dev/full", "--map", &map];
    let (code, text, report) = replay(folder, &trace, &more);
    assert_eq!(code, Some(5), "{text}");
    assert!(
        text.contains("replay ") && text.contains("while looked at"),
        "{text}"
    );
    let done = &report["replay"];
    assert_eq!(done["maps"].as_array().unwrap().len(), 1, "{text}");
    assert!(
        done["snapshot"].is_null() && done["allocate"].is_null(),
        "{text}"
    );
    assert_eq!(done["observed"], true);
    assert_eq!(names(folder), ["a.svg", "a.trace", "report.json"]);
}

/// Without it a report could be put over the text before it, or the other way round, where both
/// go to one file.
#[test]
fn standard_output_takes_a_report_behind_its_text() {
    if !Path::new("/dev/stdout").exists() {
        return eprintln!("SKIPPED: there is no /dev/stdout");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = write(folder, "a.trace", TRACE);
    let args = [
        "replay",
        "--device",
        "sim",
        "--json",
        "/dev/stdout",
        "--map",
        "/dev/stdout",
    ];
    let mut command = cupola(&[&args[..], &[&trace, "--limit", "4Mi"]].concat());
    let check = |text: &str| {
        let places = [
            "device ",
            "trace ",
            "<svg",
            "replay ",
            "refused: it does not fit\n{",
            "\n}\n",
        ];
        let places = places.map(|word| text.find(word).unwrap_or_else(|| panic!("{word}: {text}")));
        assert!(places.is_sorted(), "{text}");
        assert!(
            text.starts_with("device ") && text.ends_with("\n}\n"),
            "{text}"
        );
    };
    let (code, stdout, stderr) = output(&mut command);
    assert_eq!(code, Some(6), "{stderr}");
    check(&stdout);
    let all = std::fs::File::create(folder.join("all")).unwrap();
    assert_eq!(command.stdout(all).status().unwrap().code(), Some(6));
    check(&std::fs::read_to_string(folder.join("all")).unwrap());
    assert_eq!(names(folder), ["a.trace", "all"]);
}

/// Without it a report took the place of the trace that it is of, or of another file of the same
/// command, without a word.
#[test]
fn no_file_is_put_over_another_one_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log = b"Thread,Time,Action,Pointer,Size,Stream\n1,1.0,allocate,0x10,8,0\n";
    let trace = write(folder, "in.csv", log);
    let path = |name: &str| folder.join(name).display().to_string();
    let (new, failure, dotted) = (path("new"), path("new.failure.svg"), path("./x/../new"));
    std::fs::create_dir(folder.join("x")).unwrap();
    let before = names(folder);
    let refused = |args: &[&str], options: [&str; 2]| {
        let (code, stdout, stderr) = output(&mut cupola(args));
        assert_eq!((code, &*stdout), (Some(2), ""), "{args:?}: {stderr}");
        for option in options {
            assert!(stderr.contains(option), "{args:?}: {stderr}");
        }
        assert_eq!(names(folder), before, "{args:?}");
        assert_eq!(std::fs::read(&trace).unwrap(), log, "{args:?}");
    };
    let command = ["replay", "--device", "sim", &trace];
    for option in ["--json", "--map", "--snapshot"] {
        refused(
            &[&command[..], &[option, &trace]].concat(),
            [option, "trace"],
        );
    }
    for (first, other) in [
        (["--json", &new], ["--map", &new]),
        (["--json", &new], ["--snapshot", &new]),
        (["--json", &dotted], ["--snapshot", &new]),
        (["--map", &new], ["--snapshot", &new]),
        (["--map", &new], ["--snapshot", &failure]),
        (["--map", &new], ["--json", &failure]),
    ] {
        refused(
            &[&command[..], &first, &other].concat(),
            [first[0], other[0]],
        );
    }
    let bench = ["bench", "alloc", "--device", "sim", "--quick"];
    for option in ["--trace", "--peer-output"] {
        let files = [option, &trace, "--json", &trace];
        refused(&[&bench[..], &files].concat(), [option, "--json"]);
    }

    // The picture of a failure where the trace is; and names that lead to one file.
    let svg = write(folder, "taken.failure.svg", log);
    let (code, _, stderr) = output(&mut cupola(&[
        "replay",
        "--device",
        "sim",
        &svg,
        "--map",
        &path("taken.svg"),
    ]));
    assert_eq!(code, Some(2), "{stderr}");
    std::fs::hard_link(&trace, folder.join("hard")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&trace, folder.join("soft")).unwrap();
    for name in ["hard", "soft"] {
        let link = path(name);
        if !Path::new(&link).exists() {
            continue;
        }
        let (code, _, stderr) = output(&mut cupola(&[&command[..], &["--json", &link]].concat()));
        assert_eq!(code, Some(2), "{name}: {stderr}");
        assert_eq!(std::fs::read(&trace).unwrap(), log, "{name}");
    }
}
