//! `cargo xtask sanitize`: tests of `core` and `managers` under the address sanitizer, and
//! their concurrent parts under the thread sanitizer.
//!
//! Both are flags of the nightly compiler that stable has too; their runtimes come with the
//! toolchain. std itself is not instrumented, which the address sanitizer does not mind.
//! The thread sanitizer watches the `pthreads` of both crates, which share nothing of
//! std's; and, where the toolchain has std's sources, managers and the software device as
//! they are, with a std that is built for it: the `pthreads` of managers then too, and not once
//! more without. Each sanitizer must also report the mistakes that
//! are planted in `pthreads`. There is no suppression file: a suppression matches any frame of
//! a report and hides true races.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::tasks::{cargo, programs, target};
use crate::{root, skip};

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// One sanitizer.
struct Sanitizer {
    name: &'static str,
    /// As the toolchain names its runtime.
    runtime: &'static str,
    flags: &'static str,
    /// Whether std is built with it too.
    with_std: bool,
    tests: &'static [Tests],
    /// The variable that it reads its options from, and what they are.
    options: (&'static str, &'static str),
}

/// Tests of one crate.
struct Tests {
    folder: &'static str,
    /// What selects them.
    arguments: &'static [&'static str],
    /// Mistakes of its `tests/pthreads`, and what must be said of each.
    planted: &'static [(&'static str, &'static str)],
}

impl Tests {
    /// Whether these are the tests and the mistakes of `other`, and maybe more.
    fn include(&self, other: &Self) -> bool {
        let has = |all: &[&str], some: &[&str]| some.iter().all(|one| all.contains(one));
        self.folder == other.folder
            && has(self.arguments, other.arguments)
            && other.planted.iter().all(|one| self.planted.contains(one))
    }
}

const RACE: (&str, &str) = ("race", "ThreadSanitizer: data race");

/// Operations of the random test: a race shows in few, and each takes long.
const OPERATIONS: &str = "20000";

const ADDRESS: Sanitizer = Sanitizer {
    name: "address sanitizer",
    runtime: "asan",
    flags: "-Zsanitizer=address",
    with_std: false,
    tests: &[
        Tests {
            folder: "core",
            arguments: &["--lib", "--tests"],
            planted: &[
                ("use-after-free", "heap-use-after-free"),
                ("leak", "LeakSanitizer: detected memory leaks"),
            ],
        },
        Tests {
            folder: "managers",
            arguments: &["--test", "pthreads"],
            planted: &[],
        },
    ],
    options: (
        "ASAN_OPTIONS",
        "detect_leaks=1:detect_stack_use_after_return=1:exitcode=66",
    ),
};

const THREAD: Sanitizer = Sanitizer {
    name: "thread sanitizer",
    runtime: "tsan",
    flags: "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
    with_std: false,
    tests: &[
        Tests {
            folder: "core",
            arguments: &["--test", "pthreads"],
            planted: &[RACE, ("relaxed", RACE.1)],
        },
        Tests {
            folder: "managers",
            arguments: &["--test", "pthreads"],
            planted: &[RACE],
        },
    ],
    options: ("TSAN_OPTIONS", "exitcode=66"),
};

const THREAD_AND_STD: Sanitizer = Sanitizer {
    name: "thread sanitizer, std as well",
    // Memory is mapped through libc, which the sanitizer watches: else it takes memory that one
    // machine has given back, and another got at the same address, for shared.
    flags: "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg=rustix_use_libc",
    with_std: true,
    tests: &[Tests {
        folder: "managers",
        arguments: &[
            "--test",
            "pthreads",
            "--test",
            "random",
            "--test",
            "lifecycle",
            "--test",
            "contexts",
        ],
        planted: &[RACE],
    }],
    ..THREAD
};

const ALL: [Sanitizer; 3] = [ADDRESS, THREAD, THREAD_AND_STD];

/// What each of them is called, for the list of what a machine may lack.
#[cfg(test)]
pub(crate) const NAMES: [&str; 3] = [ALL[0].name, ALL[1].name, ALL[2].name];

/// All of them.
pub(crate) fn run() -> Result<()> {
    if !cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    )) {
        return skip(
            "the sanitizers",
            "they are set up for x86-64 Linux with glibc only",
        );
    }
    for sanitizer in ALL {
        if sanitizer.is_installed()? {
            for tests in sanitizer.tests {
                if !sanitizer.leaves(tests)? {
                    sanitizer.over(tests)?;
                }
            }
        } else {
            skip(
                &format!("the {}", sanitizer.name),
                if sanitizer.with_std {
                    "the toolchain comes without its runtime, or without std's sources: \
                     rustup component add rust-src"
                } else {
                    "the toolchain comes without its runtime"
                },
            )?;
        }
    }
    Ok(())
}

impl Sanitizer {
    fn is_installed(&self) -> Result<bool> {
        let output = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", TRIPLE])
            .current_dir(root())
            .output()
            .context("starting rustc")?;
        let folder = String::from_utf8(output.stdout)?;
        let end = format!("_rt.{}.a", self.runtime);
        // LIBRARY/rustlib/TRIPLE/lib, beside LIBRARY/rustlib/src.
        let rustlib = Path::new(folder.trim()).ancestors().nth(2);
        let std = rustlib.map(|rustlib| rustlib.join("src/rust/library/std/Cargo.toml"));
        if self.with_std && !std.is_some_and(|std| std.exists()) {
            return Ok(false);
        }
        let mut files = std::fs::read_dir(folder.trim())?;
        Ok(files
            .any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().ends_with(&end))))
    }

    /// Whether the same tests are run with the same sanitizer and more under its eyes: with std.
    fn leaves(&self, tests: &Tests) -> Result<bool> {
        let more = THREAD_AND_STD;
        let has_them = more.tests.iter().any(|other| other.include(tests));
        Ok(!self.with_std && self.runtime == more.runtime && has_them && more.is_installed()?)
    }

    fn over(&self, tests: &Tests) -> Result<()> {
        let folder = tests.folder;
        eprintln!("\n==== {} over {folder}", self.name);
        let start = Instant::now();
        let programs = self.build(folder, tests.arguments)?;
        for program in &programs {
            let output = self.start(folder, program, None)?;
            let said = said(&output);
            ensure!(
                output.status.success() && !said.contains("Sanitizer"),
                "{}: {} failed ({})\n{said}",
                self.name,
                program.display(),
                output.status
            );
            println!("{}", said.trim());
        }
        let threads = programs
            .iter()
            .find(|path| is_named(path, "pthreads"))
            .with_context(|| format!("{folder}/tests/pthreads was not built"))?;
        for (mistake, report) in tests.planted {
            let output = self.start(folder, threads, Some(mistake))?;
            let said = said(&output);
            // The function that makes the mistake must be in the report.
            let place = format!("planted_{}", mistake.replace('-', "_"));
            ensure!(
                output.status.code() == Some(66) && said.contains(report) && said.contains(&place),
                "the {} did not report a planted {mistake} ({})\n{said}",
                self.name,
                output.status
            );
            println!("planted {mistake}: reported");
        }
        eprintln!("==== {}: {:.1} s", self.name, start.elapsed().as_secs_f64());
        Ok(())
    }

    fn build(&self, folder: &str, tests: &[&str]) -> Result<Vec<PathBuf>> {
        let mut cargo = cargo(["test", "--target", TRIPLE, "--package"]);
        cargo
            .arg(format!("cupola-{folder}"))
            .args(tests)
            // The software device at full optimisation takes longer to build than to test.
            .args(["--config", "profile.dev.package.cupola-sim.opt-level=1"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", self.flags)
            .env("CARGO_TARGET_DIR", target().join(self.runtime));
        if self.with_std {
            cargo
                .arg("-Zbuild-std")
                .env("CARGO_TARGET_DIR", target().join("tsan-std"));
        }
        programs(&mut cargo)
    }

    fn start(&self, folder: &str, program: &Path, mistake: Option<&str>) -> Result<Output> {
        let (variable, options) = self.options;
        Command::new(program)
            .args(mistake.map(|mistake| format!("plant={mistake}")))
            .current_dir(root().join(folder))
            .env(variable, options)
            .env("CUPOLA_OPERATIONS", OPERATIONS)
            .output()
            .with_context(|| format!("starting {}", program.display()))
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Whether a test program, which cargo names NAME-HASH, is that of the test `name`.
fn is_named(program: &Path, name: &str) -> bool {
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    file.strip_prefix(name)
        .is_some_and(|rest| rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it tests could be left out that no other run has.
    #[test]
    fn only_what_is_watched_with_std_is_left_to_it() {
        let [of_core, of_managers] = THREAD.tests else {
            panic!("core and managers");
        };
        let with_std = &THREAD_AND_STD.tests[0];
        assert!(with_std.include(of_managers) && !with_std.include(of_core));
        assert!(!of_managers.include(with_std));
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let has_std = THREAD_AND_STD.is_installed().unwrap();
            assert_eq!(THREAD.leaves(of_managers).unwrap(), has_std);
            assert!(!THREAD.leaves(of_core).unwrap());
        }
        assert!(!THREAD_AND_STD.leaves(with_std).unwrap());
        // No sanitizer stands in for another.
        for tests in ADDRESS.tests {
            assert!(!ADDRESS.leaves(tests).unwrap());
        }
    }
}
