//! The tasks that run other commands: tests and loom models.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::{root, skip, wheels};

/// `cargo xtask test`: every test that the README promises, in one run.
pub(crate) fn test() -> Result<()> {
    let (total, tested) = tests();
    println!("\n{total}");
    tested
}

/// As [`test()`], without the last line.
pub(crate) fn tests() -> (Summary, Result<()>) {
    let mut total = Summary::default();
    let tested = count_tests(&mut total);
    (total, tested)
}

/// The command that runs most of the tests.
const TESTS: [&str; 3] = ["test", "--workspace", "--no-fail-fast"];

/// Builds what [`test()`] runs.
pub(crate) fn build_tests() -> Result<()> {
    run("build of the tests", cargo(TESTS).arg("--no-run"))
}

fn count_tests(total: &mut Summary) -> Result<()> {
    let mut cargo = cargo(TESTS);
    match wheels::fetch_runtime() {
        Ok(_) => {
            // With the libraries there, a test that finds none has failed.
            cargo.env("CUPOLA_REQUIRE_WHEELS", "1");
        }
        Err(error) => skip(
            "the tests that load NVRTC and nvJitLink",
            &format!("the wheels cannot be had: {error:#}"),
        )?,
    }
    counted("tests", &mut cargo, total)?;
    through_library(total)?;
    on_other_devices(total)?;
    ensure!(total.passed > 0, "no test ran");
    Ok(())
}

/// The tests that any driver must pass, once more on the software device's `libcuda.so.1`,
/// through the system's loader.
fn through_library(total: &mut Summary) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return skip(
            "the tests through libcuda.so.1",
            "the library is built for Linux",
        );
    }
    let folder = target().join("libcuda");
    std::fs::create_dir_all(&folder)?;
    let report = folder.join("report");
    let settings = folder.join("settings.toml");
    // Two devices for the tests of peers, copies that are slow enough to overlap.
    let text =
        "devices = 2\n[[device]]\nupload_bandwidth = \"100Mi\"\ndownload_bandwidth = \"100Mi\"\n";
    std::fs::write(&settings, text)?;
    for test in LIBRARY_TESTS {
        // A report of an earlier run must not be taken for this one's.
        let _ = std::fs::remove_file(&report);
        // Of the whole workspace: else cargo would choose other features, and build all again.
        let mut cargo = cargo(["test", "--workspace", "--test", test]);
        cargo
            .env("CUPOLA_TEST_DEVICE", "library")
            .env(
                "CUPOLA_CUDA_LIBRARY",
                target().join("debug/deps/libcupola_libcuda.so"),
            )
            .env("CUPOLA_SIM_CONFIG", &settings)
            .env("CUPOLA_SIM_REPORT", &report);
        counted(
            &format!("tests/{test} through libcuda.so.1"),
            &mut cargo,
            total,
        )?;
        let said = std::fs::read_to_string(&report)
            .with_context(|| format!("{}: the library wrote no report", report.display()))?;
        let leaks: Vec<_> = said
            .lines()
            .filter(|line| line.starts_with("leak:") && !line.starts_with(LEFT_ON_PURPOSE))
            .collect();
        ensure!(leaks.is_empty(), "tests/{test}: {}", leaks.join("; "));
    }
    Ok(())
}

/// Some tests once more on each kind of device that the software device plays.
fn on_other_devices(total: &mut Summary) -> Result<()> {
    for profile in ["confidential", "integrated", "mig"] {
        // One command for all, as each asks of the whole workspace whether it is built.
        let mut cargo = cargo(TESTS);
        for test in PROFILE_TESTS {
            cargo.args(["--test", test]);
        }
        cargo.env("CUPOLA_SIM_PROFILE", profile);
        let what = format!("tests on a device of the profile {profile}");
        counted(&what, &mut cargo, total)?;
    }
    Ok(())
}

/// The test programs of the root package that take any kind of device.
const PROFILE_TESTS: &[&str] = &["suite", "surface", "graphs", "streams"];

/// The test programs of the root package that take any driver.
const LIBRARY_TESTS: &[&str] = &["suite", "surface", "semantics"];

/// `tests/surface/green` asks what such a stream is good for.
const LEFT_ON_PURPOSE: &str = "leak: a stream was not destroyed before its green context";

/// Runs a cargo test command, shows its output and adds up its results.
fn counted(what: &str, cargo: &mut Command, total: &mut Summary) -> Result<()> {
    eprintln!("\n==== {what}");
    let mut child = cargo
        .stdout(Stdio::piped())
        .spawn()
        .context("starting cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        total.add(&line);
    }
    let status = child.wait()?;
    ensure!(status.success(), "{what} failed ({status})");
    Ok(())
}

/// The sum of all `test result:` lines: cargo prints one for each test program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// The last line, so that a reader of nothing but the end sees the whole.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            ignored,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {ignored} skipped")
    }
}

impl Summary {
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else {
            return;
        };
        for part in counts.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(count), Some(what)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

/// Switches between threads that a model makes at most where `LOOM_MAX_PREEMPTIONS` does not say.
const PREEMPTIONS: &str = "3";

/// The loom models of `core`, `managers`, `kernels` and `residency`: every interleaving within the bound.
pub(crate) fn loom() -> Result<()> {
    let preemptions = env::var("LOOM_MAX_PREEMPTIONS");
    for (package, models) in [
        ("cupola-core", &["--test", "loom"][..]),
        ("cupola-managers", &["--lib", "models::"]),
        (
            "cupola-kernels",
            &["--features", "compiler", "--lib", "models::"],
        ),
        ("cupola-residency", &["--lib", "models::"]),
    ] {
        let mut cargo = cargo(["test", "--release", "--package", package]);
        cargo
            .args(models)
            .env("RUSTFLAGS", "--cfg loom -C debug-assertions=on")
            .env("CARGO_TARGET_DIR", target().join("loom"));
        if preemptions.is_err() {
            // So many models run in less time than compiling them as fast programs takes.
            cargo
                .env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS)
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
        }
        run(&format!("loom models of {package}"), &mut cargo)?;
    }
    Ok(())
}

pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    // The cargo that runs this task sets these for its own package: they would make every
    // build of the inner cargo differ from one started by hand.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds what a `cargo test` command would run; returns the test programs.
pub(crate) fn programs(cargo: &mut Command) -> Result<Vec<PathBuf>> {
    let output = cargo
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .output()
        .context("starting cargo")?;
    ensure!(
        output.status.success(),
        "does not build ({}):\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    // Of all artifacts only test programs are executable.
    let program = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(message["executable"].as_str()?.into())
    };
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(program).collect())
}

pub(crate) fn run(what: &str, command: &mut Command) -> Result<()> {
    eprintln!("\n==== {what}");
    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    ensure!(status.success(), "{what} failed ({status})");
    eprintln!("==== {what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Summary;

    /// Without it a failure could be missing from the total.
    #[test]
    fn results_are_summed() {
        let mut total = Summary::default();
        total.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.00s");
        total.add("test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        total.add("test results::are_summed ... ok");
        assert_eq!(
            total,
            Summary {
                passed: 19,
                failed: 2,
                ignored: 1
            }
        );
    }
}
