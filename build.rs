//! Tells the command line what it was built from: target and commit.
//!
//! The device kernels are embedded by `kernels/build.rs`, not here: a published root
//! package cannot see its sibling folders, and whoever depends on `cupola-kernels` alone
//! needs them too.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown target".into());
    println!("cargo::rustc-env=CUPOLA_TARGET={target}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // More than half of the program is what only backtraces read.
        println!("cargo::rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib");
    }
    let commit = commit(Path::new(".git")).unwrap_or_else(|| "unknown commit".into());
    println!("cargo::rustc-env=CUPOLA_COMMIT={commit}");
}

/// The commit that is checked out, read without running git. None outside of a checkout.
fn commit(git: &Path) -> Option<String> {
    let head = git.join("HEAD");
    let text = fs::read_to_string(&head).ok()?;
    println!("cargo::rerun-if-changed={}", head.display());
    let Some(reference) = text.trim().strip_prefix("ref: ") else {
        return Some(text.trim().chars().take(12).collect());
    };
    let file = git.join(reference);
    println!("cargo::rerun-if-changed={}", file.display());
    if let Ok(found) = fs::read_to_string(&file) {
        return Some(found.trim().chars().take(12).collect());
    }
    let packed = fs::read_to_string(git.join("packed-refs")).ok()?;
    let line = packed.lines().find(|line| line.ends_with(reference))?;
    Some(line.chars().take(12).collect())
}
