//! What several test files need: where the wheels are, and libraries made for a test.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with NVIDIA's wheels; `None`, and a line that says so, if there is none.
///
/// # Panics
/// If there is none and `CUPOLA_REQUIRE_WHEELS=1` says that there must be.
pub fn wheels() -> Option<PathBuf> {
    let folder = std::env::var_os("CUPOLA_WHEELS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cuda"),
        PathBuf::from,
    );
    let libraries = folder.join("nvidia/cu13/lib");
    if libraries.is_dir() {
        return std::fs::canonicalize(folder).ok();
    }
    let line = format!(
        "SKIPPED: {} is missing; fetch it with `cargo xtask cuda`",
        libraries.display()
    );
    assert!(
        std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_none_or(|value| value != "1"),
        "{line}"
    );
    // The harness swallows println! of tests that pass.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
    None
}

/// Compiles a Rust source to a shared library in `folder`.
pub fn library(folder: &Path, name: &str, source: &str) -> PathBuf {
    let input = folder.join(format!("{name}.rs"));
    let output = folder.join(format!("lib{name}.so"));
    std::fs::write(&input, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let result = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "-Cpanic=abort",
            "-o",
        ])
        .arg(&output)
        .arg(&input)
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    output
}

/// Runs one ignored test of this executable in a process of its own, where the
/// environment can be set, and gives what it printed.
pub fn in_own_process(test: &str, variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        test,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    for name in [
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "CUDA_PATH",
        "CUDA_HOME",
        "CUPOLA_WHEELS",
        "LD_LIBRARY_PATH",
    ] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text.contains("1 passed"),
        "no test of the name {test}: {text}"
    );
    text
}
