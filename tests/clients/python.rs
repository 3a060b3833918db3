//! The C ABI from another language: Python's ctypes.

use std::process::Command;

use crate::library;

// Without it a function could have another C signature than NVIDIA's, which Rust's own
// types would hide.
#[test]
fn python_runs_through_ctypes() {
    if Command::new("python3").arg("--version").output().is_err() {
        let strict = std::env::var_os("CUPOLA_STRICT").is_some();
        assert!(!strict, "python3 is not there");
        eprintln!("SKIPPED: the ctypes client: python3 is not there");
        return;
    }
    let folder = library::folder();
    let file = |name: &str| folder.path().join(name);
    let ptx = cupola_kernels::Embedded::with_entry("cupola_saxpy").expect("embedded");
    std::fs::write(file("saxpy.ptx"), ptx.ptx()).expect("a file");
    std::fs::write(file("client.py"), include_str!("client.py")).expect("a file");
    let output = library::command("python3", &folder)
        .arg(file("client.py"))
        .arg(file("saxpy.ptx"))
        .env("CUPOLA_SIM_REPORT", file("report"))
        .output()
        .expect("python3 starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the client is done"), "{text}");
    let report = std::fs::read_to_string(file("report")).expect("a report");
    // The client frees what was never allocated, on purpose.
    let lines: Vec<_> = report.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("invalid-free: "),
        "{report}"
    );
}
