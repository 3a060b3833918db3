//! `cargo xtask corpus`: PTX of the compilers that this machine has, for the test that the
//! software device reads it.
//!
//! The files are made into the build folder and never committed. Compilers that are absent
//! are skipped loudly. All of them are LLVM's back end: clang, rustc, and Triton up to its
//! `ptx` stage.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{root, skip, tasks};

/// The clang versions that are tried, with the newest target and PTX version of each.
const CLANGS: &[(&str, &str, &str)] = &[("14", "sm_86", "ptx75"), ("19", "sm_90", "ptx84")];

/// Flags that change what the PTX looks like, with a name for the files.
const STYLES: &[(&str, &[&str])] = &[
    ("o0", &["-O0"]),
    ("debug", &["-O1", "-g"]),
    ("o3", &["-O3"]),
    (
        "fast",
        &["-O3", "-ffast-math", "-fcuda-flush-denormals-to-zero"],
    ),
];

/// The version of Triton whose wheel is fetched.
const TRITON: &str = "triton==3.9.0";

/// Makes the folder and runs the test on it, which prints how much of it can be executed.
///
/// # Errors
/// A compiler that is there fails, nothing could be made, or the test fails.
pub(crate) fn run() -> Result<()> {
    let sources = root().join("xtask/corpus");
    let folder = tasks::target().join("ptx-corpus");
    let files = folder.join("files");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    for (version, target, ptx) in CLANGS {
        clang(version, target, ptx, &sources, &files)?;
    }
    rust(&sources, &folder.join("rust"), &files)?;
    triton(&sources, &folder.join("triton"), &files)?;
    let made = fs::read_dir(&files)?.count();
    if made == 0 {
        return skip(
            "the corpus of compiled PTX",
            "no compiler that makes PTX is here",
        );
    }
    eprintln!("{made} files in {}", files.display());
    let mut test = tasks::cargo([
        "test",
        // With the features that the tests have, so that they need not build it again.
        "--workspace",
        "--test",
        "ptx_corpus",
        "--",
        "--nocapture",
    ]);
    tasks::run("the corpus", test.env("CUPOLA_PTX_CORPUS", &files))
}

/// Whether a program is there; one that is there and fails is an error later.
fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Runs a command; its output belongs to the error, if there is one.
fn checked(command: &mut Command) -> Result<()> {
    let answer = command
        .output()
        .with_context(|| format!("starting {command:?}"))?;
    if !answer.status.success() {
        bail!(
            "{command:?} failed:\n{}{}",
            String::from_utf8_lossy(&answer.stdout),
            String::from_utf8_lossy(&answer.stderr)
        );
    }
    Ok(())
}

fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(extension)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn clang(version: &str, target: &str, ptx: &str, sources: &Path, files: &Path) -> Result<()> {
    let program = format!("clang-{version}");
    if !installed(&program) {
        return skip(
            &format!("PTX of clang {version}"),
            &format!("there is no {program} (a package of Debian)"),
        );
    }
    for source in with_extension(sources, "cu")? {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        for (style, flags) in STYLES {
            let output = files.join(format!("clang{version}-{stem}-{style}.ptx"));
            checked(
                Command::new(&program)
                    .current_dir(sources)
                    .args(["-x", "cuda", "-std=c++17", "--cuda-device-only"])
                    .arg(format!("--cuda-gpu-arch={target}"))
                    .args(["-Xclang", "-target-feature", "-Xclang"])
                    .arg(format!("+{ptx}"))
                    .args(["-nocudainc", "-nocudalib", "-Wno-everything", "-S"])
                    .args(*flags)
                    .arg(&source)
                    .arg("-o")
                    .arg(output),
            )?;
        }
    }
    Ok(())
}

/// `core`, `compiler_builtins` and a crate of kernels.
fn rust(sources: &Path, folder: &Path, files: &Path) -> Result<()> {
    let answer = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()?;
    let sysroot = PathBuf::from(String::from_utf8(answer.stdout)?.trim());
    if !sysroot.join("lib/rustlib/src/rust/library/core").exists() {
        return skip(
            "PTX of rustc",
            "the sources of core are not installed (`rustup component add rust-src`)",
        );
    }
    fs::create_dir_all(folder.join("src"))?;
    fs::copy(sources.join("rust.rs"), folder.join("src/lib.rs"))?;
    let manifest = "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                    [profile.release]\npanic = \"abort\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let build = folder.join("target");
    checked(
        tasks::cargo(["build", "--release", "-Zbuild-std=core", "--target"])
            .arg("nvptx64-nvidia-cuda")
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", &build)
            .env("RUSTFLAGS", "--emit=asm -Ctarget-cpu=sm_80")
            // `-Z` is a nightly flag that stable also has.
            .env("RUSTC_BOOTSTRAP", "1"),
    )?;
    let deps = build.join("nvptx64-nvidia-cuda/release/deps");
    for made in with_extension(&deps, "s")? {
        let stem = made.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
        fs::copy(&made, files.join(format!("rustc-{name}.ptx")))?;
    }
    Ok(())
}

fn triton(sources: &Path, folder: &Path, files: &Path) -> Result<()> {
    let wheel = folder.join("packages");
    if !wheel.join("triton").exists() {
        let fetched = checked(
            Command::new("python3")
                .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
                .arg(&wheel)
                .arg(TRITON),
        );
        if let Err(error) = fetched {
            return skip(
                "PTX of Triton",
                &format!("its wheel cannot be had: {error:#}"),
            );
        }
    }
    let made = folder.join("files");
    checked(
        Command::new("python3")
            .arg("-B")
            .arg(sources.join("triton_kernels.py"))
            .arg(&made)
            .env("PYTHONPATH", &wheel)
            .env("TRITON_CACHE_DIR", folder.join("cache")),
    )?;
    for file in with_extension(&made, "ptx")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        fs::copy(&file, files.join(format!("triton-{name}")))?;
    }
    Ok(())
}
