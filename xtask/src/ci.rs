//! `cargo xtask ci`: everything that a change must pass.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::stages::{Stages, skip};
use crate::tasks::{self, cargo, run as step, target};
use crate::{bindgen, corpus, imports, inline, mutants, no_std, ptx, root, sanitize};

/// Seconds for each fuzz target: as long as it takes to replay the corpus and a little more. A
/// night is for finding new inputs.
const FUZZ_SECONDS: u64 = 5;

/// Runs every stage; the tests come last, so that their summary ends the output. With `tidy` each
/// stage's build is removed when it has passed.
pub(crate) fn run(tidy: bool) -> Result<()> {
    say_room(tidy);
    let mut stages = Stages::new();
    let before = before_the_tests(&mut stages, tidy);
    if let Err(error) = before {
        print!("{}", stages.table());
        return Err(error);
    }
    say_room(tidy);
    let mut total = None;
    let tested = stages.run("tests", 40, || {
        let (summary, tested) = tasks::tests();
        total = Some(summary);
        tested
    });
    print!("{}", stages.table());
    if let Some(total) = total {
        println!("\n{total}");
    }
    tested
}

/// What is likely to fail comes early, what takes long comes late.
fn before_the_tests(stages: &mut Stages, tidy: bool) -> Result<()> {
    let done = |folders: &[&str]| match tidy {
        true => folders
            .iter()
            .try_for_each(|name| remove(&target().join(name))),
        false => Ok(()),
    };
    stages.run("lock files", 5, lock_files)?;
    stages.run("imports of managers, sizes of rooms", 5, imports::run)?;
    stages.run("format, lints, documentation", 15, lints)?;
    done(&["doc"])?;
    stages.run("features and targets", 15, checks)?;
    stages.run("bindings", 10, || bindgen::run(true))?;
    stages.run("PTX of the kernels", 5, || ptx::run(true))?;
    stages.run("the corpus of compiled PTX", 10, corpus::run)?;
    done(&["ptx-corpus"])?;
    stages.run("core without std", 5, no_std::run)?;
    stages.run("calls from core's dependents", 5, inline::run)?;
    done(&["no-std"])?;
    stages.run("loom models", 20, tasks::loom)?;
    done(&["loom"])?;
    stages.run("mutants", 25, || mutants::run(&[]))?;
    done(&["mutants"])?;
    stages.run("sanitizers", 30, sanitize::run)?;
    done(&["asan", "tsan", "tsan-std"])?;
    stages.run("fuzz targets", 20, || {
        let seconds = env::var("CUPOLA_FUZZ_SECONDS");
        tasks::fuzz(seconds.map_or(Ok(FUZZ_SECONDS), |text| text.parse())?)
    })?;
    if tidy {
        remove(&root().join("fuzz/target"))?;
    }
    done(&["fuzz-corpus"])?;
    stages.run("the main job", 15, main_job)?;
    done(&["main-job"])?;
    // Each suite once and shortly, in the build that the tests use.
    stages.run("benchmarks", 20, || {
        step(
            "every suite of the benchmarks",
            &mut cargo(["test", "--workspace", "--bench", "suites"]),
        )
    })
}

/// What `cargo run --release` does, without assertions as there. It is compiled in a third of the
/// time: how fast it runs is not what this is about.
fn main_job() -> Result<()> {
    let mut job = cargo(["run", "--release", "--", "run", "--device", "sim"]);
    job.env("CARGO_TARGET_DIR", target().join("main-job"))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    step("the main job", &mut job)
}

/// The lock files fit the manifests: then no stage changes one.
fn lock_files() -> Result<()> {
    for folder in [".", "fuzz", "core/no_std"] {
        let mut metadata = cargo(["metadata", "--locked", "--format-version", "1"]);
        metadata
            .current_dir(root().join(folder))
            .stdout(Stdio::null());
        step(&format!("the lock file of {folder}"), &mut metadata)?;
    }
    Ok(())
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
            &["--package", "cupola-sys", "--no-default-features"][..],
        ),
        (
            "the driver's API alone",
            &[
                "--package",
                "cupola-sys",
                "--no-default-features",
                "--features",
                "std",
                "--all-targets",
            ],
        ),
        (
            "without the software device",
            &[
                "--package",
                "cupola",
                "--package",
                "cupola-cli",
                "--no-default-features",
            ][..],
        ),
        (
            "the facade with all features",
            &["--package", "cupola", "--all-features"][..],
        ),
        (
            "with the peers of the benchmarks",
            &["--package", "cupola-cli", "--features", "peers"][..],
        ),
    ] {
        // As the lints, so that what both need is checked once.
        let deny = ["--", "--deny", "warnings"];
        step(what, cargo(["clippy"]).args(args).args(deny))?;
    }
    for (triple, packages) in TARGETS {
        other_target(triple, packages)?;
    }
    Ok(())
}

/// Targets that are written for and not run here, and the packages that are compiled for them.
pub(crate) const TARGETS: &[(&str, &[&str])] = &[
    (
        "aarch64-unknown-linux-gnu",
        &["cupola", "cupola-cli", "cupola-worker"],
    ),
    ("x86_64-pc-windows-gnu", &["cupola-sys", "cupola-core"]),
];

/// Compiles `packages` for a target, as far as machine code, if the toolchain has its std.
fn other_target(triple: &str, packages: &[&str]) -> Result<()> {
    let print = ["--print", "target-libdir", "--target", triple];
    let printed = Command::new("rustc")
        .args(print)
        .current_dir(root())
        .output();
    let folder = String::from_utf8(printed.context("starting rustc")?.stdout)?;
    if !Path::new(folder.trim()).exists() {
        return skip(
            &format!("compiling for {triple}"),
            &format!("its std is not installed (`rustup target add {triple}`)"),
        );
    }
    let mut check = cargo(["check", "--target", triple]);
    check.args(packages.iter().flat_map(|name| ["--package", name]));
    step(
        &format!("for {triple}"),
        check.env("RUSTFLAGS", "--deny warnings"),
    )
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
