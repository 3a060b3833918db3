//! The compiler without its built-in headers.

use std::process::Command;

use cupola_kernels::compile::{CompileError, Compiler};
use cupola_sys::ErrorClass;

use super::{compiler, request};

const FOLDER: &str = "CUPOLA_TEST_BARE_NVRTC";

// Without it a machine with half an installation could get a message about its source.
#[test]
fn missing_builtins_are_told_as_such() {
    let Some(compiler) = compiler() else { return };
    let Some(library) = compiler.nvrtc().unwrap().library().path() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join(library.file_name().unwrap());
    std::fs::copy(&library, &bare).unwrap();
    // In another process: this one may have the built-in headers loaded already.
    let ended = Command::new(std::env::current_exe().unwrap())
        .args([
            "builtins::in_a_process_without_them",
            "--exact",
            "--nocapture",
        ])
        .env(FOLDER, &bare)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ended.stdout);
    if text.contains("FOUND") && std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_none() {
        eprintln!("SKIPPED: the system's linker knows where the built-in headers are");
        return;
    }
    assert!(ended.status.success() && text.contains("TOLD"), "{text}");
}

/// What the test above starts; by itself it checks nothing.
#[test]
fn in_a_process_without_them() {
    let Some(bare) = std::env::var_os(FOLDER) else {
        return;
    };
    let compiler = Compiler::load_from(bare.as_ref()).unwrap();
    let request = request(&compiler, "__global__ void k() {}");
    let Err(error) = compiler.compile(&request) else {
        println!("FOUND");
        return;
    };
    assert!(matches!(error, CompileError::Builtins { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Environment);
    let text = error.to_string();
    assert!(text.contains("libnvrtc-builtins"), "{text}");
    println!("TOLD {text}");
}
