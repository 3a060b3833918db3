//! `cargo xtask ci`: everything that a change must pass.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::tasks::{self, cargo, run as step, target};
use crate::{bindgen, corpus, inline, mutants, no_std, ptx, root, sanitize};

/// Runs every step; the tests come last, so that their summary ends the output. With `tidy` each
/// step's build is removed when it has passed.
pub(crate) fn run(tidy: bool) -> Result<()> {
    let start = Instant::now();
    let done = |folders: &[&str]| match tidy {
        true => folders
            .iter()
            .try_for_each(|name| remove(&target().join(name))),
        false => Ok(()),
    };
    say_room(tidy);
    lints()?;
    done(&["doc"])?;
    checks()?;
    bindgen::run(true)?;
    ptx::run(true)?;
    corpus::run()?;
    done(&["ptx-corpus"])?;
    no_std::run()?;
    inline::run()?;
    done(&["no-std"])?;
    tasks::loom()?;
    done(&["loom"])?;
    mutants::run(&[])?;
    done(&["mutants"])?;
    sanitize::run()?;
    done(&["asan", "tsan", "tsan-std"])?;
    tasks::fuzz(env::var("CUPOLA_FUZZ_SECONDS").map_or(Ok(25), |text| text.parse())?)?;
    if tidy {
        remove(&root().join("fuzz/target"))?;
    }
    done(&["fuzz-corpus"])?;
    step(
        "the main job",
        &mut cargo(["run", "--release", "--", "run", "--device", "sim"]),
    )?;
    done(&["release"])?;
    eprintln!(
        "\n==== all but the tests took {} s",
        start.elapsed().as_secs()
    );
    say_room(tidy);
    tasks::test()
}

fn lints() -> Result<()> {
    step("format", &mut cargo(["fmt", "--all", "--check"]))?;
    step(
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
    step(
        "documentation",
        cargo(["doc", "--workspace", "--no-deps", "--exclude", "xtask"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}

fn checks() -> Result<()> {
    for (what, args) in [
        (
            "no_std types",
            &["check", "--package", "cupola-sys", "--no-default-features"][..],
        ),
        (
            "without the software device",
            &["check", "--package", "cupola", "--no-default-features"][..],
        ),
        (
            "with the peers of the benchmarks",
            &["check", "--package", "cupola", "--features", "peers"][..],
        ),
    ] {
        step(what, cargo(args).env("RUSTFLAGS", "--deny warnings"))?;
    }
    Ok(())
}

/// Bytes that a run from nothing has on the disk at most (measured: 13 GiB, and 3.7 GiB), and some.
const KEPT: u64 = 16 << 30;
const TIDY: u64 = 5 << 30;

/// Says how much room there is: a full disk kills linkers with signals that tell nothing.
fn say_room(tidy: bool) {
    let needed = if tidy { TIDY } else { KEPT };
    let Some(free) = free(&target()) else {
        return;
    };
    let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
    let (free_gib, needed_gib) = (gib(free), gib(needed));
    if free < needed {
        eprintln!(
            "\n==== THE DISK MAY GET FULL: {free_gib:.1} GiB are free, a run from nothing takes \
             about {needed_gib:.1} GiB{}",
            if tidy { "" } else { "; --tidy takes less" }
        );
    } else {
        eprintln!("\n==== {free_gib:.1} GiB of disk are free");
    }
}

/// Free bytes of the disk that a folder is on, or will be.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

/// Removes a folder, if it is there.
fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}
