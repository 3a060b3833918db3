//! Tells the command line what it was built from: target and commit.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown target".into());
    println!("cargo::rustc-env=CUPOLA_TARGET={target}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // More than half of the program is what only backtraces read.
        println!("cargo::rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib");
    }
    let watch = &mut |path: &Path| println!("cargo::rerun-if-changed={}", path.display());
    let commit = commit(Path::new(".."), watch).unwrap_or_else(|| "unknown commit".into());
    println!("cargo::rustc-env=CUPOLA_COMMIT={commit}");
}

/// The commit that is checked out, read without running git. None outside of a checkout.
///
/// Cargo is told to `watch` what it is read from. Only what is there: cargo takes a missing file
/// for one that has changed, and would build this package again each time.
pub(crate) fn commit(checkout: &Path, watch: &mut dyn FnMut(&Path)) -> Option<String> {
    let mut watched = |file: PathBuf| {
        let text = fs::read_to_string(&file).ok()?;
        watch(&file);
        Some(text)
    };
    let mut git = checkout.join(".git");
    if git.is_file() {
        // A further working tree: the file says where its part of the repository is.
        let text = watched(git)?;
        git = checkout.join(text.strip_prefix("gitdir: ")?.trim());
    }
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim()),
        Err(_) => git.clone(),
    };
    let head = watched(git.join("HEAD"))?;
    let Some(branch) = head.trim().strip_prefix("ref: ") else {
        return Some(short(&head));
    };
    let file = common.join(branch);
    if let Some(commit) = watched(file.clone()) {
        return Some(short(&commit));
    }
    let packed = watched(common.join("packed-refs"))?;
    // The next commit gives the branch a file of its own.
    if let Some(folder) = file.ancestors().find(|path| path.is_dir()) {
        watch(folder);
    }
    let branch = format!(" {branch}");
    let line = packed.lines().find(|line| line.ends_with(&branch))?;
    Some(short(line))
}

fn short(commit: &str) -> String {
    commit.trim().chars().take(12).collect()
}
