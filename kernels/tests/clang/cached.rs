//! clang behind the cache: what is compiled, and what is not compiled again.

use std::path::{Path, PathBuf};

use std::process::Command;

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{CacheConfig, Source};
use cupola_kernels::compile::{ClangCompiler, CompileRequest};
use cupola_managers::backend::BackendKind;

use super::{cached, clang, clangs, request};

/// A clang that writes down each of its starts.
struct Counted {
    clang: ClangCompiler,
    starts: PathBuf,
}

impl Counted {
    fn new(clang: &ClangCompiler, folder: &Path) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let (script, starts) = (folder.join("clang"), folder.join("starts"));
        let text = format!(
            "#!/bin/sh\necho start >> '{}'\nexec '{}' \"$@\"\n",
            starts.display(),
            clang.program().display()
        );
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let clang = ClangCompiler::load_from(&script).unwrap();
        Self { clang, starts }
    }

    /// How often it was started by now.
    fn starts(&self) -> usize {
        std::fs::read_to_string(&self.starts)
            .unwrap()
            .lines()
            .count()
    }
}

// Without it a second process could start clang again, or be given something else than the first; or a
// header that has changed be overlooked.
#[test]
fn clang_is_started_once_until_something_changes() {
    let Some(clang) = clang() else { return };
    let folder = tempfile::tempdir().unwrap();
    let counted = Counted::new(&clang, folder.path());
    let header = folder.path().join("a.h");
    std::fs::write(&header, "#define A 1\n").unwrap();
    let source = "#include \"a.h\"\n#if __has_include(\"later.h\")\n#error later\n#endif\n\
                  template<class T> __global__ void k(T* x) { int unused; *x = A; }";
    let request = request(source)
        .include_folder(folder.path())
        .with("-Wall")
        .name_expression("k<int>");
    let before = counted.starts();
    let mut made = Vec::new();
    for (source, starts) in [(Source::Compiled, 1), (Source::Disk, 1), (Source::Disk, 1)] {
        // As a process that has just begun.
        let compiler = cached(&counted.clang, folder.path());
        let fetched = compiler.compile(&request).unwrap();
        assert_eq!(fetched.source, source);
        assert_eq!(counted.starts() - before, starts);
        made.push(fetched.entry);
    }
    assert_eq!(made[0], made[1]);
    assert_eq!(made[1].names[0].symbol, "_Z1kIiEvPT_");
    assert!(made[1].log.contains("unused"), "{}", made[1].log);
    let of = |request: &CompileRequest| {
        let compiler = cached(&counted.clang, folder.path());
        compiler.compile(request).map(|fetched| fetched.source)
    };
    std::fs::write(&header, "#define A 2\n").unwrap();
    assert_eq!(of(&request).unwrap(), Source::Compiled);
    assert_eq!(of(&request).unwrap(), Source::Disk);
    assert_eq!(counted.starts() - before, 2);
    // A header that was looked for in vain.
    std::fs::write(folder.path().join("later.h"), "").unwrap();
    assert!(of(&request).is_err());
    std::fs::remove_file(folder.path().join("later.h")).unwrap();
    assert_eq!(of(&request).unwrap(), Source::Disk);
    let other = request.define("OTHER", "1");
    assert_eq!(of(&other).unwrap(), Source::Compiled);
}

// Without it what one clang made could be given out for another.
#[test]
fn another_clang_has_another_key() {
    let clangs = clangs();
    let folder = tempfile::tempdir().unwrap();
    let request = request("__global__ void k() {}");
    let mut keys: Vec<_> = clangs
        .iter()
        .map(|clang| cached(clang, folder.path()).key(&request))
        .collect();
    // The same clang behind a script is another file.
    if let Some(clang) = clangs.first() {
        let counted = Counted::new(clang, folder.path());
        keys.push(cached(&counted.clang, folder.path()).key(&request));
    }
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(key));
    }
}

// Without it a result could be kept that depends on a file which no manifest has.
#[test]
fn what_reads_files_that_are_not_known_is_not_kept() {
    let Some(clang) = clang() else { return };
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join("hidden");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::write(hidden.join("h.h"), "#define H 1\n").unwrap();
    let source = "#include <h.h>\n__global__ void k(int* x) { *x = H; }";
    let request = request(source)
        .with("-isystem")
        .with(hidden.clone().into_os_string());
    for _ in 0..2 {
        let compiler = cached(&clang, folder.path());
        for _ in 0..2 {
            let fetched = compiler.compile(&request).unwrap();
            assert_eq!(fetched.source, Source::Compiled);
        }
        let compiled = compiler.compiler().unwrap().compile(&request).unwrap();
        let unresolved = compiled.dependencies().unresolved();
        assert!(unresolved.iter().any(|it| it.file == hidden.join("h.h")));
    }
}

const CACHE: &str = "CUPOLA_TEST_NOTED_CACHE";

/// How many pages the ended children of this process have touched: none if there were none.
#[cfg(target_os = "linux")]
fn pages_of_children() -> u64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The second field, which may have blanks, ends with the last parenthesis.
    let (_, fields) = told.rsplit_once(") ").unwrap();
    fields.split(' ').nth(8).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "a process of the test below"]
fn child() {
    let mut config = CacheConfig::default();
    config.folder = std::env::var_os(CACHE).map(PathBuf::from);
    let compiler = CachedCompiler::for_backend(BackendKind::Software, config).unwrap();
    let fetched = compiler
        .compile(&request("__global__ void k() {}"))
        .unwrap();
    let started = match pages_of_children() {
        0 => "not started",
        _ => "started",
    };
    println!("\nsaid {:?}, {started}", fetched.source);
}

// Without it each process would start clang three times before its first hit; or take a script, which may
// start another clang each time, for the one that it started once.
#[test]
#[cfg(target_os = "linux")]
fn a_second_process_starts_no_clang_for_a_hit() {
    let Some(clang) = clang() else { return };
    if std::env::var_os("LD_LIBRARY_PATH").is_some_and(|folders| !folders.is_empty()) {
        eprintln!("SKIPPED: with LD_LIBRARY_PATH nothing is noted");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |program: &Path| {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cached::child", "--ignored", "--nocapture"])
            .env(CACHE, folder.path().join("cache"))
            .env(ClangCompiler::VARIABLE, program)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        let said = text.lines().find_map(|line| line.strip_prefix("said "));
        said.unwrap_or_else(|| panic!("{done:?}")).to_owned()
    };
    let program = folder.path().join("clang-link");
    std::os::unix::fs::symlink(clang.program(), &program).unwrap();
    assert_eq!(run(&program), "Compiled, started");
    assert_eq!(run(&program), "Disk, not started");
    let counted = Counted::new(&clang, folder.path());
    let script = counted.clang.program();
    assert_eq!(run(script), "Compiled, started");
    assert_eq!(run(script), "Disk, started");
    // Another program by the same name.
    std::fs::remove_file(&program).unwrap();
    std::fs::rename(script, &program).unwrap();
    assert!(run(&program).ends_with(", started"));
}
