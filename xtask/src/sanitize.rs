//! `cargo xtask sanitize`: core's tests under the address sanitizer, and its concurrent
//! parts under the thread sanitizer.
//!
//! Both are flags of the nightly compiler that stable has too; their runtimes come with the
//! toolchain. std itself is not instrumented, which the address sanitizer does not mind.
//! The thread sanitizer watches `core/tests/pthreads` only, which shares nothing of std's.
//! Each sanitizer must also report the mistakes that are planted there. There is no
//! suppression file: a suppression matches any frame of a report and hides true races.

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
    /// Which tests are built with it.
    tests: &'static [&'static str],
    /// The variable that it reads its options from, and what they are.
    options: (&'static str, &'static str),
    /// Mistakes of `core/tests/pthreads`, and what must be said of each.
    planted: &'static [(&'static str, &'static str)],
}

const ADDRESS: Sanitizer = Sanitizer {
    name: "address sanitizer",
    runtime: "asan",
    flags: "-Zsanitizer=address",
    tests: &["--lib", "--tests"],
    options: (
        "ASAN_OPTIONS",
        "detect_leaks=1:detect_stack_use_after_return=1:exitcode=66",
    ),
    planted: &[
        ("use-after-free", "heap-use-after-free"),
        ("leak", "LeakSanitizer: detected memory leaks"),
    ],
};

const THREAD: Sanitizer = Sanitizer {
    name: "thread sanitizer",
    runtime: "tsan",
    flags: "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
    tests: &["--test", "pthreads"],
    options: ("TSAN_OPTIONS", "exitcode=66"),
    planted: &[
        ("race", "ThreadSanitizer: data race"),
        ("relaxed", "ThreadSanitizer: data race"),
    ],
};

/// Both sanitizers.
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
    for sanitizer in [ADDRESS, THREAD] {
        if sanitizer.is_installed()? {
            sanitizer.run()?;
        } else {
            skip(
                &format!("the {}", sanitizer.name),
                "the toolchain comes without its runtime",
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
        let mut files = std::fs::read_dir(folder.trim())?;
        Ok(files
            .any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().ends_with(&end))))
    }

    fn run(&self) -> Result<()> {
        eprintln!("\n==== {} over core", self.name);
        let start = Instant::now();
        let programs = self.build()?;
        for program in &programs {
            let output = self.start(program, None)?;
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
            .context("core/tests/pthreads was not built")?;
        for (mistake, report) in self.planted {
            let output = self.start(threads, Some(mistake))?;
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

    fn build(&self) -> Result<Vec<PathBuf>> {
        let mut cargo = cargo(["test", "--package", "cupola-core", "--target", TRIPLE]);
        cargo
            .args(self.tests)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", self.flags)
            .env("CARGO_TARGET_DIR", target().join(self.runtime));
        programs(&mut cargo)
    }

    fn start(&self, program: &Path, mistake: Option<&str>) -> Result<Output> {
        let (variable, options) = self.options;
        Command::new(program)
            .args(mistake.map(|mistake| format!("plant={mistake}")))
            .current_dir(root().join("core"))
            .env(variable, options)
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
