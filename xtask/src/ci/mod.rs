//! `cargo xtask ci`: everything that a change must pass.

mod lanes;
mod processes;
mod room;
mod stage;

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::skips::{self, skip};
use crate::tasks::{self, cargo, run as step, target};
use crate::{bindgen, capi, corpus, fuzz, imports, inline, mutants, no_std, ptx, root, sanitize};
use stage::{Ended, Output, Report, Stage, Verdict, Work, table};

/// Seconds for each fuzz target: as long as it takes to replay the corpus and a little more. A
/// night is for finding new inputs.
const FUZZ_SECONDS: u64 = 5;

/// The build folder of what has the development profile and no flags of its own.
const WORKSPACE: &str = "debug";

/// What comes before the tests, two at a time: what is likely to fail comes early, what takes long not
/// last, beside nothing, and what builds in one folder is begun in this order.
const STAGES: &[Stage] = &[
    check("lock files", 5, &[WORKSPACE], lock_files),
    check("bindings", 10, &[], || bindgen::run(true)),
    check("header of the C library", 2, &[], || capi::header(true)),
    check(
        "format, lints, documentation",
        20,
        &[WORKSPACE, "doc"],
        lints,
    ),
    check("imports of managers, sizes of rooms", 5, &[], imports::run),
    check("core without std", 5, &["no-std"], no_std::run),
    check("calls from core's dependents", 5, &["no-std"], inline::run),
    check("loom models", 20, &["loom"], tasks::loom),
    check("features and targets", 20, &[WORKSPACE], checks),
    check("mutants", 30, &["mutants"], || mutants::run(&[])),
    check("PTX of the kernels", 5, &[], || ptx::run(true)),
    check(
        "the corpus of compiled PTX",
        15,
        &[WORKSPACE, "ptx-corpus"],
        corpus::run,
    ),
    check("fuzz targets", 25, &["fuzz", "fuzz-corpus"], fuzz_targets),
    check(
        "sanitizers",
        35,
        &["asan", "tsan", "tsan-std"],
        sanitize::run,
    ),
    check("the main job", 15, &["main-job"], main_job),
    check("benchmarks", 25, &[WORKSPACE], benchmarks),
    check("build of the tests", 20, &[WORKSPACE], tasks::build_tests),
];

/// What comes after them, alone, because some of it waits for what takes time.
const TESTS: Stage = Stage {
    name: "tests",
    minutes: 40,
    folders: &[WORKSPACE],
    work: Work::Tests,
};

const fn check(
    name: &'static str,
    minutes: u64,
    folders: &'static [&'static str],
    work: fn() -> Result<()>,
) -> Stage {
    Stage {
        name,
        minutes,
        folders,
        work: Work::Check(work),
    }
}

/// Runs every stage; the tests come last, so that their summary ends the output. With `tidy` what a
/// stage has built is removed when it has passed.
pub(crate) fn run(tidy: bool) -> Result<()> {
    let start = Instant::now();
    room::say(tidy);
    let program = env::current_exe().context("this program has no path")?;
    let process = |stage: &Stage, report: &Path| {
        let mut command = Command::new(&program);
        command.args(["stage", stage.name]).arg(report);
        command
    };
    let leave = |folders: &[&str]| {
        // The tests come after all and use what the workspace's stages have built.
        for folder in folders.iter().filter(|_| tidy) {
            if *folder != WORKSPACE {
                remove(&target().join(folder));
            }
        }
    };
    let mut ended = lanes::run(STAGES, &process, &leave);
    let passed = |ended: &Ended| matches!(ended.verdict, Verdict::Passed);
    let mut tests = None;
    if ended.iter().all(passed) {
        room::say(tidy);
        let tested = TESTS.run(Output::Live, &process, &|| false);
        tests = tested.report.tests.clone();
        ended.push(tested);
    }
    print!("{}", table(&ended, start.elapsed()));
    let skipped = ended.iter().flat_map(|ended| &ended.report.skipped);
    print!("{}", skips::list(skipped));
    if let Some(tests) = tests {
        println!("\n{tests}");
    }
    for Ended { name, verdict, .. } in ended {
        if let Verdict::Failed(error) = verdict {
            return Err(error.context(name));
        }
    }
    Ok(())
}

/// `cargo xtask stage`: does the work of a stage, and writes to `report` what came of it.
pub(crate) fn stage(name: &str, report: &Path) -> Result<()> {
    let mut all = STAGES.iter().chain([&TESTS]);
    let Some(stage) = all.find(|stage| stage.name == name) else {
        bail!("there is no stage {name}");
    };
    let (tests, done) = match stage.work {
        Work::Check(work) => (None, work()),
        Work::Tests => {
            let (total, tested) = tasks::tests();
            (Some(total.to_string()), tested)
        }
    };
    let told = Report {
        error: done.err().map(|error| format!("{error:#}")),
        tests,
        skipped: skips::skipped(),
        worked: processes::processor_time(),
    };
    told.write(report)
}

/// Each fuzz target, as long as CI has for it.
fn fuzz_targets() -> Result<()> {
    let seconds = env::var("CUPOLA_FUZZ_SECONDS");
    fuzz::run(seconds.map_or(Ok(FUZZ_SECONDS), |text| text.parse())?)
}

/// Each suite once and shortly, in the build that the tests use.
fn benchmarks() -> Result<()> {
    step(
        "every suite of the benchmarks",
        &mut cargo(["test", "--workspace", "--bench", "suites"]),
    )
}

/// What `cargo run --release` does, without assertions as there. It is compiled without optimisation:
/// how fast it runs is not what this is about, but for the software device, which does most of it.
fn main_job() -> Result<()> {
    let device = "profile.release.package.cupola-sim.opt-level=1";
    let mut job = cargo(["run", "--release", "--config", device]);
    job.args(["--", "run", "--device", "sim"])
        .env("CARGO_TARGET_DIR", target().join("main-job"))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    step("the main job", &mut job)
}

/// The lock files fit the manifests: then no stage changes one.
fn lock_files() -> Result<()> {
    for folder in [".", "fuzz", "core/no_std", "cli/peers/cuda_rust"] {
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
        &["cupola", "cupola-cli", "cupola-worker", "cupola-capi"],
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

/// Removes a folder, if it is there. That it cannot is no failure of what was checked.
fn remove(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            eprintln!("removing {}: {error}", folder.display());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Without it one of two stages of a name would not run.
    #[test]
    fn stages_have_names_of_their_own() {
        let names: BTreeSet<_> = STAGES.iter().chain([&TESTS]).map(|it| it.name).collect();
        assert_eq!(names.len(), STAGES.len() + 1);
    }
}
