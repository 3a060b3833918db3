//! The tasks that run other commands: tests, loom models, fuzzing, and all of CI.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::{bindgen, ptx, root, skip, wheels};

/// `cargo xtask test`: every test that the README promises, in one run.
pub(crate) fn test() -> Result<()> {
    let mut cargo = cargo(["test", "--workspace", "--exclude", "xtask"]);
    match wheels::fetch_runtime() {
        Ok(_) => {
            // With the libraries there, a test that finds none has failed.
            cargo.env("CUPOLA_REQUIRE_WHEELS", "1");
        }
        Err(error) => skip(
            "the tests that load NVRTC and nvJitLink",
            &format!("the wheels cannot be had: {error:#}"),
        ),
    }
    run("tests", &mut cargo)
}

/// The loom models of `core`: every interleaving within the bound.
pub(crate) fn loom() -> Result<()> {
    let preemptions = env::var("LOOM_MAX_PREEMPTIONS").unwrap_or_else(|_| "3".into());
    let mut cargo = cargo([
        "test",
        "--release",
        "--package",
        "cupola-core",
        "--test",
        "loom",
    ]);
    cargo
        .env("RUSTFLAGS", "--cfg loom -C debug-assertions=on")
        .env("CARGO_TARGET_DIR", target().join("loom"))
        .env("LOOM_MAX_PREEMPTIONS", preemptions);
    run("loom models", &mut cargo)
}

/// Each fuzz target for `seconds`, from its committed corpus.
pub(crate) fn fuzz(seconds: u64) -> Result<()> {
    let Some(tool) = cargo_fuzz()? else {
        return Ok(());
    };
    let corpus = root().join("fuzz/corpus");
    for target in ["loader", "ptx"] {
        // New inputs go to a folder of the build, the committed corpus stays as it is.
        let found = self::target().join("fuzz-corpus").join(target);
        std::fs::create_dir_all(&found)?;
        let mut fuzz = Command::new(&tool);
        fuzz.current_dir(root())
            .args(["fuzz", "run", target])
            .arg(&found)
            .arg(corpus.join(target))
            .args([
                "--",
                &format!("-max_total_time={seconds}"),
                "-rss_limit_mb=4096",
                "-timeout=20",
            ])
            // libFuzzer's instrumentation is a nightly flag that stable also has.
            .env("RUSTC_BOOTSTRAP", "1");
        run(&format!("fuzz {target} for {seconds} s"), &mut fuzz)?;
    }
    Ok(())
}

/// Everything that CI runs; the tests come last, so that their summary ends the output.
pub(crate) fn ci() -> Result<()> {
    let start = Instant::now();
    run("format", &mut cargo(["fmt", "--all", "--check"]))?;
    run(
        "lints",
        &mut cargo([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]),
    )?;
    run(
        "documentation",
        cargo(["doc", "--workspace", "--no-deps", "--exclude", "xtask"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    for (what, args) in [
        (
            "no_std types",
            &["check", "--package", "cupola-sys", "--no-default-features"][..],
        ),
        (
            "without the software device",
            &["check", "--package", "cupola", "--no-default-features"][..],
        ),
    ] {
        run(what, cargo(args).env("RUSTFLAGS", "--deny warnings"))?;
    }
    bindgen::run(true)?;
    ptx::run(true)?;
    loom()?;
    fuzz(env::var("CUPOLA_FUZZ_SECONDS").map_or(Ok(45), |text| text.parse())?)?;
    run(
        "the main job",
        &mut cargo(["run", "--release", "--", "run", "--device", "sim"]),
    )?;
    test()?;
    eprintln!("CI took {} s", start.elapsed().as_secs());
    Ok(())
}

/// `cargo-fuzz`, installed under the target folder if the machine has none.
fn cargo_fuzz() -> Result<Option<PathBuf>> {
    let on_path = Command::new("cargo-fuzz").arg("--version").output();
    if on_path.is_ok_and(|output| output.status.success()) {
        return Ok(Some("cargo-fuzz".into()));
    }
    let place = target().join("tools");
    let tool = place.join("bin/cargo-fuzz");
    if !tool.exists() {
        let mut install = cargo(["install", "cargo-fuzz", "--locked", "--quiet", "--root"]);
        if let Err(error) = run("install cargo-fuzz", install.arg(&place)) {
            skip(
                "fuzzing",
                &format!("cargo-fuzz cannot be installed: {error:#}"),
            );
            return Ok(None);
        }
    }
    Ok(Some(tool))
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
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

fn run(what: &str, command: &mut Command) -> Result<()> {
    eprintln!("\n==== {what}");
    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    ensure!(status.success(), "{what} failed ({status})");
    eprintln!("==== {what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
