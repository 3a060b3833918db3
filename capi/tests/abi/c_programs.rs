//! Programs in C and C++ that are compiled with the header and linked with the library.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::framework::{built, with_driver};

/// Compiles a program with the machine's compiler, links it with `libcupola.so` and runs it.
fn compile_and_run(compiler: &str, source: &str, options: &[&str]) {
    if Command::new(compiler).arg("--version").output().is_err() {
        let strict = std::env::var_os("CUPOLA_STRICT").is_some();
        assert!(!strict, "{compiler} is not there");
        eprintln!("SKIPPED: {source}: {compiler} is not there");
        return;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !package.is_dir() {
        eprintln!("SKIPPED: {source}: the sources are on another machine");
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("libcupola.so");
    std::os::unix::fs::symlink(built("libcupola_capi.so"), &library).expect("a link");
    let program = folder.path().join("program");
    let compiled = Command::new(compiler)
        .args(options)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(package.join("include"))
        .arg(package.join("tests/abi").join(source))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(folder.path())
        .arg("-lcupola")
        .output()
        .expect("the compiler starts");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let mut command = Command::new(&program);
    let report = folder.path().join("report");
    with_driver(&mut command, &report);
    let output = command
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the program is done"), "{text}");
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    let is_leak = |line: &str| line.starts_with("leak: ");
    assert!(report.lines().all(is_leak), "{report}");
}

// Without it the header could be no C, a function not be exported, or have another signature than the
// header says.
#[test]
fn a_program_in_c_links_and_runs() {
    compile_and_run("cc", "program.c", &["-std=c99"]);
}

// Without it the hooks of private pools could take PyTorch's arguments for others: a pair of integers by
// value, and a `std::function` by a hidden pointer.
#[test]
fn a_program_in_cpp_passes_its_own_types() {
    compile_and_run("c++", "filter.cpp", &["-std=c++17"]);
}
