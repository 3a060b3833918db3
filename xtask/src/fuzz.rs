//! `cargo xtask fuzz`: every fuzz target, from its committed corpus.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::tasks::{cargo, run as step, target};
use crate::{root, skip};

/// Seconds for each fuzz target from which on fast programs are worth the minutes that it takes to
/// compile them: for less they are of the development profile.
const WORTH_OPTIMISING: u64 = 60;

/// Targets that run at a time: each has work for one processor.
const WORKERS: usize = 2;

/// Lines at the end of a failed target's output that are repeated in the error.
const END: usize = 40;

/// The version of `cargo-fuzz` that is installed where there is none.
const CARGO_FUZZ: &str = "0.13.2";

/// Each fuzz target for `seconds`.
pub(crate) fn run(seconds: u64) -> Result<()> {
    let Some(tool) = cargo_fuzz()? else {
        return Ok(());
    };
    // At once, as building one keeps others from being built.
    let mut build = cargo_fuzz_command(&tool, "build", seconds);
    step("build of the fuzz targets", &mut build)?;
    let targets = targets()?;
    let queue = Mutex::new(targets.iter());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(name) = next(&queue) {
                    if let Err(error) = run_target(&tool, name, seconds) {
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        failed.push(format!("{error:#}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// The next target; the lock is held no longer than that takes.
fn next<'t>(queue: &Mutex<std::slice::Iter<'t, String>>) -> Option<&'t String> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.next()
}

/// Runs a target. Its output is kept, as others run beside it: all of it is told where it fails.
fn run_target(tool: &Path, name: &str, seconds: u64) -> Result<()> {
    let start = Instant::now();
    // New inputs go to a folder of the build, the committed corpus stays as it is.
    let found = target().join("fuzz-corpus").join(name);
    std::fs::create_dir_all(&found)?;
    let mut fuzz = cargo_fuzz_command(tool, "run", seconds);
    fuzz.arg(name)
        .arg(&found)
        .arg(root().join("fuzz/corpus").join(name))
        .args([
            "--",
            &format!("-max_total_time={seconds}"),
            "-rss_limit_mb=4096",
            "-timeout=60",
        ])
        // A worker of a kernel may still be ending its thread when a leak check looks.
        .args(
            ["kernels", "programs"]
                .contains(&name)
                .then_some("-detect_leaks=0"),
        );
    let output = fuzz
        .output()
        .with_context(|| format!("starting {fuzz:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = said.lines().collect();
    if !output.status.success() {
        println!(
            "fuzz {name}:\n{}{said}",
            String::from_utf8_lossy(&output.stdout)
        );
        // The input that failed, and how to run it again.
        let end = lines[lines.len().saturating_sub(END)..].join("\n");
        bail!("fuzz {name} failed ({})\n{end}", output.status);
    }
    // libFuzzer ends with how many inputs it has run.
    let last = lines.iter().rfind(|line| line.starts_with("Done "));
    let took = start.elapsed().as_secs_f64();
    println!("fuzz {name}: {}, {took:.1} s", last.unwrap_or(&"done"));
    Ok(())
}

/// A command of `cargo-fuzz`; what all have in common is so that the second builds nothing again.
fn cargo_fuzz_command(tool: &Path, command: &str, seconds: u64) -> Command {
    let mut fuzz = Command::new(tool);
    fuzz.current_dir(root())
        .env("CARGO_TARGET_DIR", target().join("fuzz"))
        // libFuzzer's instrumentation is a nightly flag that stable also has.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["fuzz", command])
        .args((seconds < WORTH_OPTIMISING).then_some("--dev"));
    fuzz
}

/// The fuzz targets: the programs of `fuzz/Cargo.toml`, which lists them for cargo.
fn targets() -> Result<Vec<String>> {
    let path = root().join("fuzz/Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(&path)
        .with_context(|| path.display().to_string())?
        .parse()?;
    let programs = manifest.get("bin").and_then(toml::Value::as_array);
    let names = programs.into_iter().flatten();
    let names = names.filter_map(|program| Some(program.get("name")?.as_str()?.to_owned()));
    let names: Vec<_> = names.collect();
    ensure!(!names.is_empty(), "{} has no targets", path.display());
    Ok(names)
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
        let mut install = cargo(["install", "cargo-fuzz", "--version", CARGO_FUZZ]);
        install.args(["--locked", "--quiet", "--debug", "--root"]);
        install.arg(&place);
        if let Err(error) = step("install cargo-fuzz", &mut install) {
            skip(
                "fuzzing",
                &format!("cargo-fuzz cannot be installed: {error:#}"),
            )?;
            return Ok(None);
        }
    }
    Ok(Some(tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::sizes::rust_files;

    /// Without it a target could be written and never run, or be run and have no source.
    #[test]
    fn every_fuzz_target_is_listed() {
        let mut listed = targets().unwrap();
        listed.sort();
        let sources = rust_files(&root().join("fuzz/fuzz_targets")).unwrap();
        let is_target = |path: &PathBuf| {
            std::fs::read_to_string(path)
                .unwrap()
                .contains("fuzz_target!")
        };
        let names = sources.iter().filter(|path| is_target(path));
        let mut names: Vec<_> = names
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        assert_eq!(listed, names);
    }
}
