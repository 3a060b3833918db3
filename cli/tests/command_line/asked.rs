//! What is asked for is what is done: the same options everywhere, refusals that say so, documents
//! of failures, completions and pages.

use super::cli::{cupola, json, output};
use super::inputs;

/// Without it a program that reads the report would find nothing where a command fails, or text
/// before the document.
#[test]
fn a_failure_is_a_document_too() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = inputs(folder.path());
    for (args, exit, word) in [
        (&["run", "no-such-file"][..], 5, "no-such-file"),
        (&["replay", "no-such-file"], 5, "no-such-file"),
        (&["bench", "slots", "--quick", "--only", "xyz"], 2, "xyz"),
        (
            &["run", "--trace", &trace, "--limit", "0"],
            6,
            "over the limit",
        ),
        (&["run", "--device", "gpu"], 3, "/no/such"),
        (&["replay", &trace, "--device", "gpu"], 3, "/no/such"),
    ] {
        let mut command = cupola(&[args, &["--json", "-"]].concat());
        if exit == 3 {
            command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1");
        } else {
            command.env("CUPOLA_DEVICE", "sim");
        }
        let (code, stdout, stderr) = output(&mut command);
        assert_eq!(code, Some(exit), "{args:?}: {stderr}");
        let document = json(&stdout);
        assert_eq!(document["error"]["exit_code"], exit, "{stdout}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(message.contains(word), "{stdout}");
        assert!(stderr.contains(message), "{stderr}");
    }
}

/// Without it an old report would pass for that of a command that has failed.
#[test]
fn a_failure_takes_the_place_of_an_old_report() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = inputs(folder.path());
    let file = folder.path().join("report.json").display().to_string();
    for (args, exit, word) in [
        (&["run", "no-such-file"][..], 5, "no-such-file"),
        (&["replay", "no-such-file"], 5, "no-such-file"),
        (&["replay", &trace, "--device", "gpu"], 3, "/no/such"),
        (&["run", "--chunk", "100Gi"], 6, "--chunk"),
        (&["bench", "slots", "--quick", "--only", "xyz"], 2, "xyz"),
        (&["bench", "alloc", "--device", "gpu"], 3, "/no/such"),
    ] {
        std::fs::write(&file, "old").unwrap();
        let mut command = cupola(&[args, &["--json", &file]].concat());
        let (name, value) = match exit {
            3 => ("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1"),
            _ => ("CUPOLA_DEVICE", "sim"),
        };
        let (code, _, stderr) = output(command.env(name, value));
        assert_eq!(code, Some(exit), "{args:?}: {stderr}");
        let document = json(&std::fs::read_to_string(&file).unwrap());
        assert_eq!(document["error"]["exit_code"], exit, "{document}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(word) && stderr.contains(message),
            "{document}"
        );
    }
}

/// Without it a file with nothing in it could be reported as compared, or divide by its chunks.
#[test]
fn nothing_is_said_of_an_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    std::fs::write(&file, "").unwrap();
    let report = folder.path().join("report.json").display().to_string();
    let args = [
        "run", "--device", "sim", "--trace", &trace, &file, "--json", &report,
    ];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    let said = stdout
        .lines()
        .position(|line| line.starts_with("stream   0 bytes of "));
    let next = said.and_then(|line| stdout.lines().nth(line + 1));
    let words = next.map(str::trim);
    assert_eq!(words, Some("nothing to compute or to compare"), "{stdout}");
    assert!(
        !stdout.contains("NaN") && !stdout.contains("inf"),
        "{stdout}"
    );
    let report = json(&std::fs::read_to_string(&report).unwrap());
    assert_eq!(report["stream"]["chunks"], 0, "{report}");
    assert_eq!(report["stream"]["wrong_chunks"], 0, "{report}");
}

/// Without it `--json` would mean a file of one command and a flag of another, or a file be
/// called `-`.
#[test]
fn json_means_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let report = folder.path().join("report.json").display().to_string();
    let mut commands = vec![
        vec!["run", "--trace", &trace, &file],
        vec!["replay", &trace],
        vec!["doctor"],
        vec!["bench", "loader", "--quick"],
    ];
    if cfg!(all(feature = "libcuda", unix)) {
        commands.push(vec!["sim", "info"]);
    }
    for args in commands {
        let run = |to: &str| {
            let mut command = cupola(&[&args[..], &["--json", to]].concat());
            command.env("CUPOLA_DEVICE", "sim").current_dir(&folder);
            let (code, stdout, stderr) = output(&mut command);
            assert_eq!(code, Some(0), "{args:?}: {stderr}");
            stdout
        };
        let alone = json(&run("-"));
        assert!(run(&report).lines().count() > 0, "{args:?} has no text");
        let beside = json(&std::fs::read_to_string(&report).unwrap());
        let keys = |value: &serde_json::Value| {
            let keys = value.as_object().unwrap().keys();
            keys.cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(&alone), keys(&beside), "{args:?}");
        assert!(!folder.path().join("-").exists(), "{args:?}");
    }
}

/// Without it the pipeline could take more of the device than it may, or the command find out
/// after the replay that there is no room.
#[test]
fn the_limit_is_the_pipelines_too() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let run = |more: &[&str]| {
        let args = [
            "run", "--device", "sim", "--trace", &trace, &file, "--json", "-",
        ];
        output(&mut cupola(&[&args[..], more].concat()))
    };
    let (code, _, stderr) = run(&["--chunk", "100Gi"]);
    assert_eq!(code, Some(6), "{stderr}");
    for word in ["--chunk of 100.00 GiB", "300.00 GiB", "--limit is 8.00 GiB"] {
        assert!(stderr.contains(word), "{stderr}");
    }
    // Whatever is not asked for fits.
    let (code, stdout, stderr) = run(&["--limit", "2Mi"]);
    assert_eq!(code, Some(0), "{stderr}");
    let report = json(&stdout);
    let peak = report["stream"]["pool_peak"].as_u64().unwrap();
    assert!(peak > 0 && peak <= 2 << 20, "{peak}");
}

/// Without it a refusal that was asked for would pass for a fault of the device, or for a wrong
/// result.
#[test]
fn a_refusal_has_a_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = inputs(folder.path());
    for command in [
        &["run", "--trace", &trace][..],
        &["replay", &trace],
        &["replay", "--unchecked", &trace],
    ] {
        let args = [command, &["--device", "sim", "--limit", "0"]].concat();
        let (code, stdout, stderr) = output(&mut cupola(&args));
        assert_eq!(code, Some(6), "{command:?}: {stderr}");
        assert!(!stdout.contains("WRONG"), "{stdout}");
    }
}

/// Without it one of something would be several.
#[test]
fn one_is_said_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    std::fs::write(&trace, "a 1 5000 0\n").unwrap();
    std::fs::write(&file, "x").unwrap();
    for (args, words) in [
        (
            &["replay", "--limit", "1Mi", &trace][..],
            [
                "1 operation on 1 stream, 1 block,",
                ", 1 thread,",
                " 1 failure\n",
            ],
        ),
        (
            &["run", "--trace", &trace, &file],
            ["in 1 chunk of", "of 1 chunk compared", "0 objects"],
        ),
    ] {
        let mut command = cupola(args);
        let (_, stdout, stderr) = output(command.env("CUPOLA_DEVICE", "sim"));
        for word in words {
            assert!(stdout.contains(word), "{word}: {stdout}{stderr}");
        }
        // Percentiles of two samples say nothing.
        assert!(!stdout.contains("p99.99"), "{stdout}");
        assert!(
            !stdout.contains("CUDA 13.0, cupola software device, CUDA"),
            "{stdout}"
        );
    }
}

/// Without it a mistyped command would be an unknown file, and the right one not be told.
#[test]
fn a_mistyped_command_is_told_as_one() {
    for (args, tip) in [
        (&["docter"][..], "doctor"),
        (&["bench", "aloc"], "alloc"),
        (&["data.bin"], "unrecognized subcommand"),
        (&["Cargo.toml"], "`cupola run Cargo.toml` streams that file"),
    ] {
        let (code, _, stderr) = output(&mut cupola(args));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(tip), "{stderr}");
    }
}

/// Without it completions or pages could lack a command, or print nothing.
#[test]
fn completions_and_pages_have_every_command() {
    let said = |args: &[&str]| {
        let (code, stdout, stderr) = output(&mut cupola(args));
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        stdout
    };
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = said(&["completions", shell]);
        for word in ["doctor", "replay", "peer-output", "quick"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let page = said(&["man"]);
    for word in [".TH cupola 1", "doctor", "Exit codes"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let page = said(&["man", "bench", "alloc"]);
    assert!(
        page.contains("peer\\-output") && !page.contains("workers"),
        "{page}"
    );
}

/// Without it a log in a file would have escape sequences in it, which no reader wants.
#[test]
fn a_log_in_a_file_is_plain_text() {
    let mut command = cupola(&["bench", "loader", "--quick", "--device", "sim"]);
    let (code, _, stderr) = output(command.env("RUST_LOG", "cupola=debug"));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("opened") && !stderr.contains('\x1b'),
        "{stderr}"
    );
}

/// Without it a narrow terminal would break the help anywhere.
#[test]
fn help_is_as_wide_as_the_terminal() {
    for (columns, most) in [("60", 60), ("500", 100)] {
        let mut command = cupola(&["bench", "alloc", "--help"]);
        let (code, stdout, stderr) = output(command.env("COLUMNS", columns));
        assert_eq!(code, Some(0), "{stderr}");
        let widest = stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= most), "{stdout}");
    }
}
