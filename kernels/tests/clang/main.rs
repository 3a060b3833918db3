//! clang compiles for real, and the software device runs what it makes; with `CUPOLA_TEST_DEVICE=gpu` a
//! GPU does.
//!
//! Without clang the tests say so and check nothing, unless `CUPOLA_STRICT=1` is set, as CI does: then
//! they fail.
#![cfg(unix)]

mod builtins;
mod cached;
mod execution;
mod producers;
mod refused;
#[path = "../support/target.rs"]
mod target;

use std::path::Path;

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::CacheConfig;
use cupola_kernels::compile::{ClangCompiler, CompileRequest, Compiler, Target};

/// The versions that CI installs: the oldest that is taken, and a newer one.
const PROGRAMS: [&str; 2] = ["clang-14", "clang-19"];

/// Whether nothing may be left out.
fn is_strict() -> bool {
    std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1")
}

/// Says that a part of the tests is left out, or fails where none may be.
fn skip(what: &str, why: &dyn std::fmt::Display) {
    assert!(!is_strict(), "{what} cannot be done: {why}");
    eprintln!("SKIPPED: {what}: {why}");
}

/// The compilers that are here.
fn clangs() -> Vec<ClangCompiler> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let find = |name: &&str| {
        let file = folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|file| file.is_file());
        let found = ClangCompiler::load_from(file.as_deref().unwrap_or(Path::new(name)));
        found.map_err(|error| skip(name, &error)).ok()
    };
    PROGRAMS.iter().filter_map(find).collect()
}

/// One compiler, where one is enough.
fn clang() -> Option<ClangCompiler> {
    clangs().pop()
}

/// PTX of the source for an architecture that every clang has.
fn request(source: &str) -> CompileRequest {
    let target = Target::Ptx("sm_80".parse().expect("an architecture"));
    CompileRequest::new("k.cu", source, target)
}

/// A compiler that keeps what it makes in this folder.
fn cached(clang: &ClangCompiler, folder: &Path) -> CachedCompiler {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.join("cache"));
    let compiler = CachedCompiler::new(Compiler::from(clang.clone()), config);
    assert!(compiler.cache().refusal().is_none());
    compiler
}
