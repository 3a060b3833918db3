//! Ranges for a profiler, with a listener that the test compiles.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::process::Command;

use cupola_managers::Error;
use cupola_managers::pipeline::PipelineConfig;

use super::subscriber::{subscribe, told};
use super::{LEN, TestBench, pipeline, run};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// The library of `listener.rs`, built in this way.
fn library(folder: &Path, cfg: &str) -> PathBuf {
    let made = folder.join(format!("lib{cfg}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/telemetry/listener.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let built = Command::new(compiler)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "cdylib",
            "--cfg",
            cfg,
            "-o",
        ])
        .args([&made, &source])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    made
}

/// What a process that runs a pipeline says, and what its listener heard.
fn run_with(what: &str, folder: &Path, library: Option<&Path>) -> (String, String) {
    let heard = folder.join("heard");
    let _ = std::fs::remove_file(&heard);
    let mut process = Command::new(std::env::current_exe().unwrap());
    process
        .args(["--ignored", "--exact", what, "--nocapture"])
        .env_remove("NVTX_INJECTION64_PATH")
        .env("NVTX_HEARD", &heard);
    if let Some(library) = library {
        process.env("NVTX_INJECTION64_PATH", library);
    }
    let ended = process.output().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("ran 4 items"), "{said}");
    (said, std::fs::read_to_string(&heard).unwrap_or_default())
}

const RUNS: &str = "nvtx::a_process_that_runs_a_pipeline";
const FORKS: &str = "nvtx::a_process_that_forks";

#[test]
#[ignore = "a process of the tests below"]
fn a_process_that_runs_a_pipeline() {
    subscribe();
    let (_bench, mut pipeline) = pipeline(TestBench::new(), PipelineConfig::new(LEN, LEN));
    let report = run(&mut pipeline, 4, None).unwrap();
    run(&mut pipeline, 4, Some(0)).unwrap_err();
    for told in told().into_iter().filter(|text| text.starts_with("WARN")) {
        println!("{told}");
    }
    println!("ran {} items", report.items);
}

#[test]
#[ignore = "a process of a test below"]
fn a_process_that_forks() {
    let (_bench, mut pipeline) = pipeline(TestBench::new(), PipelineConfig::new(LEN, LEN));
    let report = run(&mut pipeline, 4, None).unwrap();
    // SAFETY: the child is refused what it asks for, and leaves without running anything else; the
    // listener has no thread of its own.
    let child = unsafe { fork() };
    if child == 0 {
        let input = pipeline.try_input().unwrap();
        let refused = input.submit::<Error>(LEN, |_| Ok(LEN)).is_err();
        // SAFETY: ends the child at once.
        unsafe { _exit(c_int::from(!refused)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    println!("ran {} items", report.items);
}

// Without it a child of a fork could leave a range open in a profiler that came along, or end in it.
#[test]
fn a_child_of_a_fork_ends_its_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let listener = library(folder.path(), "listening");
    let (_, heard) = run_with(FORKS, folder.path(), Some(&listener));
    let lines: Vec<&str> = heard.lines().collect();
    // Four items, and the child's attempt.
    assert_eq!(lines.last(), Some(&"pop"));
    let count = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!(
        (count("push submit"), count("push wait"), count("pop")),
        (5, 4, 9)
    );
}

// Without it a profiler could see no ranges, ranges that never end, or those of another item.
#[test]
fn a_profiler_sees_what_each_item_costs_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let listener = library(folder.path(), "listening");
    let (said, heard) = run_with(RUNS, folder.path(), Some(&listener));
    assert!(!said.contains("WARN"), "{said}");
    let lines: Vec<&str> = heard.lines().collect();
    let mut expected = vec![
        "domain cupola",
        "stream cupola upload",
        "stream cupola compute",
        "stream cupola download",
    ];
    for range in [
        "push submit 0",
        "push submit 1",
        "push submit 2",
        "push wait 0",
        "push submit 3",
        "push wait 1",
        "push wait 2",
        "push wait 3",
        // Of the run that fails.
        "push submit 0",
    ] {
        expected.extend([range, "pop"]);
    }
    assert_eq!(lines, expected);
}

// Without it a program could fail, or be silent, because of a profiler that is not there or does not listen.
#[test]
fn a_library_that_does_not_listen_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "no library").unwrap();
    let [foreign, refusing, deaf] =
        ["foreign", "refusing", "deaf"].map(|cfg| library(folder.path(), cfg));
    let none = folder.path().join("none");
    for (library, why) in [
        (&none, "it cannot be loaded"),
        (&text, "it cannot be loaded"),
        (&foreign, "it is no listener of NVTX"),
        (&refusing, "returned 0"),
        (&deaf, "does not listen to ranges"),
    ] {
        let (said, heard) = run_with(RUNS, folder.path(), Some(library));
        assert_eq!(heard, "", "{}", library.display());
        let warnings: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("WARN"))
            .collect();
        let [warning] = warnings[..] else {
            panic!("not one warning: {said}");
        };
        assert!(warning.contains(&*library.to_string_lossy()), "{warning}");
        assert!(warning.contains(why), "{warning}");
    }
    for library in [None, Some(Path::new(""))] {
        let (said, heard) = run_with(RUNS, folder.path(), library);
        assert!(!said.contains("WARN") && heard.is_empty(), "{said}");
    }
}
