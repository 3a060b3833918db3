//! `cargo xtask bundle DIR`: the release binary and the test programs in one folder, with
//! a script that runs them, for a GPU machine that has no Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::{capi, root};

/// Runs everything that needs a GPU, in the folder it lies in. Output goes to standard
/// output; measured figures go to the folder named by its first argument.
const SCRIPT: &str = r#"#!/bin/sh
# Runs cupola's GPU checks. Usage: ./run.sh [FOLDER FOR FIGURES]
set -u
cd "$(dirname "$0")"
out=${1:-.}
failed=0
step() { name=$1; shift; echo "==== $name"; "$@"; code=$?; [ $code = 0 ] || { echo "FAILED ($code): $name"; failed=$((failed + 1)); }; }
step doctor ./cupola doctor --symbols
step run ./cupola run --device gpu
step "run --json" sh -c "./cupola run --device gpu --json - > '$out/run.json'"
step "bench loader" ./cupola bench loader --device gpu --json "$out/loader.json"
step "bench lifecycle" ./cupola bench lifecycle --device gpu --json "$out/lifecycle.json"
step "bench completion" ./cupola bench completion --device gpu --json "$out/completion.json"
step "bench copies" ./cupola bench copies --device gpu --json "$out/copies.json"
step "bench peer" ./cupola bench peer --device gpu --json "$out/peer.json"
step "bench pinned" ./cupola bench pinned --device gpu --json "$out/pinned.json"
step "bench alloc" ./cupola bench alloc --device gpu --json "$out/alloc.json"
step "bench launch" ./cupola bench launch --device gpu --json "$out/launch.json"
step "bench graph" ./cupola bench graph --device gpu --json "$out/graph.json"
step "bench kernels" ./cupola bench kernels --device gpu --json "$out/kernels.json"
step "bench pipeline" ./cupola bench pipeline --device gpu --json "$out/pipeline.json"
# Not for memcheck: tests that have a process of their own fault, panic or end without a drop, and one that looks
# at the device's memory, of which the tool takes some. What a GPU does in seconds takes minutes under it.
memcheck() {
    CUPOLA_TEST_DEVICE=gpu CUPOLA_CANARY_ROUNDS=20000 compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9 \
        tests/suite --test-threads 1 --skip faults:: --skip a_process_may_exit --skip things_may_be_dropped_after --skip a_panic_may_unwind --skip a_hundred_thousand_lives --skip threads_at_the_limit > "$out/memcheck.txt" 2>&1 || return
    grep "test result: ok" "$out/memcheck.txt" && grep "ERROR SUMMARY: 0 errors" "$out/memcheck.txt"
}
if command -v compute-sanitizer > /dev/null; then step memcheck memcheck; else echo "==== SKIPPED: memcheck, there is no compute-sanitizer"; fi
for test in tests/*; do
    CUPOLA_TEST_DEVICE=gpu CUPOLA_ITEMS=1000000 step "$test" "$test" --test-threads 1
done
echo "==== $failed steps failed"
exit $failed
"#;

/// Builds the bundle into `dir`.
pub(crate) fn run(dir: &Path) -> Result<()> {
    let tests = dir.join("tests");
    fs::create_dir_all(&tests).with_context(|| dir.display().to_string())?;
    for file in fs::read_dir(&tests)? {
        fs::remove_file(file?.path())?;
    }
    for (args, into) in [
        (
            &[
                "build",
                "--release",
                "--package",
                "cupola-cli",
                "--bin",
                "cupola",
            ][..],
            dir,
        ),
        (
            &[
                "test",
                "--release",
                "--no-run",
                "--package",
                "cupola",
                "--test",
                "*",
            ][..],
            &tests,
        ),
        (
            &[
                "test",
                "--release",
                "--no-run",
                "--package",
                "cupola-kernels",
                "--features",
                "compiler,half",
                "--test",
                "device_library",
            ][..],
            &tests,
        ),
        (
            &[
                "test",
                "--release",
                "--no-run",
                "--package",
                "cupola-capi",
                "--test",
                "abi",
            ][..],
            &tests,
        ),
    ] {
        for program in built(args)? {
            let name = program.file_name().context("a program without a name")?;
            let name = name.to_string_lossy();
            // Cargo adds a hash to the names of test programs.
            let short = name.rsplit_once('-').map_or(&*name, |(short, _)| short);
            let target = into.join(short);
            fs::copy(&program, &target).with_context(|| target.display().to_string())?;
            strip(&target);
        }
    }
    capi::library(&dir.join("capi"))?;
    let script = dir.join("run.sh");
    fs::write(&script, SCRIPT)?;
    make_executable(&script)?;
    println!(
        "{} is ready: copy it to a GPU machine and run run.sh",
        dir.display()
    );
    Ok(())
}

/// The programs that a cargo command makes.
fn built(args: &[&str]) -> Result<Vec<PathBuf>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo
        .current_dir(root())
        .args(args)
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "cargo {} failed", args.join(" "));
    let text = String::from_utf8(output.stdout)?;
    // One JSON object a line; the field is null for libraries.
    let programs = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        let (path, _) = rest.split_once('"')?;
        Some(PathBuf::from(path))
    });
    Ok(programs.collect())
}

/// Makes a copy smaller; a machine without `strip` keeps the symbols.
fn strip(program: &Path) {
    let _ = Command::new("strip")
        .arg("--strip-debug")
        .arg(program)
        .status();
}

#[cfg(unix)]
fn make_executable(script: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(
        script,
        fs::Permissions::from_mode(0o755),
    )?)
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}
