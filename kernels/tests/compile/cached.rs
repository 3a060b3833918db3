//! A compiler with a cache: what is compiled, and what is not compiled again.

use std::path::Path;

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{CacheConfig, CacheError, Source};
use cupola_kernels::compile::{CompileError, CompileOption, CompileRequest, Compiler};

use super::{compiler, request};

/// A compiler that keeps what it makes in this folder.
fn cached(folder: &Path) -> CachedCompiler {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.join("cache"));
    let compiler = CachedCompiler::new(Compiler::load().unwrap(), config);
    assert!(compiler.cache().refusal().is_none());
    compiler
}

/// Where the result of a request comes from, in a process that has just begun and in the same one.
fn sources(folder: &Path, request: &CompileRequest) -> [Source; 2] {
    let compiler = cached(folder);
    [(); 2].map(|()| compiler.compile(request).unwrap().source)
}

const KEPT: [Source; 2] = [Source::Compiled, Source::Memory];
const FOUND: [Source; 2] = [Source::Disk, Source::Memory];
const NEVER_KEPT: [Source; 2] = [Source::Compiled; 2];

// Without it a second process could compile again, or be given something else than the first.
#[test]
fn a_second_process_compiles_nothing() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "template<class T> __global__ void scale(T* x, T by) { int unused; x[0] *= by; }";
    let request = request(&compiler, source).name_expression("scale<float>");
    let made = compiler.compile(&request).unwrap();
    assert_eq!(sources(folder.path(), &request), KEPT);
    assert_eq!(sources(folder.path(), &request), FOUND);
    let found = cached(folder.path()).compile(&request).unwrap();
    assert_eq!(found.entry.payload, made.image());
    assert_eq!(found.entry.log, made.log());
    assert!(found.entry.log.contains("unused"));
    assert_eq!(found.entry.names, made.lowered_names());
    assert_eq!(
        sources(folder.path(), &request.clone().define("N", "1")),
        KEPT
    );
}

// Without it code of a header that was changed, that appeared or that went could be taken for the present
// one: the commonest wrong result of such caches.
#[test]
fn headers_that_change_appear_and_go_are_seen() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["first", "second"] {
        std::fs::create_dir(path(name)).unwrap();
    }
    std::fs::write(path("second/a.h"), "#define A 1").unwrap();
    let source = "#include <a.h>\n__global__ void k(int* x) { *x = A; }";
    let request = request(&compiler, source)
        .include_folder(path("first"))
        .include_folder(path("second"));
    assert_eq!(sources(folder.path(), &request), KEPT);
    assert_eq!(sources(folder.path(), &request), FOUND);
    std::fs::write(path("second/a.h"), "#define A 2").unwrap();
    assert_eq!(sources(folder.path(), &request), KEPT);
    std::fs::write(path("first/a.h"), "#define A 3").unwrap();
    assert_eq!(sources(folder.path(), &request), KEPT);
    let third = cached(folder.path()).compile(&request).unwrap();
    std::fs::remove_file(path("first/a.h")).unwrap();
    let second = cached(folder.path()).compile(&request).unwrap();
    assert_eq!(second.source, Source::Compiled);
    assert_ne!(second.entry.payload, third.entry.payload);
}

// Without it a result could be kept that the next compile would not make, or a file not be written that
// an option asks for.
#[test]
fn what_depends_on_more_than_its_inputs_is_not_kept() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let of = |source: &str| request(&compiler, source);
    let timed = "__global__ void k(char* x) { *x = __TI\\\nME__[0]; }";
    assert_eq!(sources(folder.path(), &of(timed)), NEVER_KEPT);
    let plain = "__global__ void k() {}";
    let stamp = of(plain).define("STAMP", "__DATE__");
    assert_eq!(sources(folder.path(), &stamp), NEVER_KEPT);
    let trace = folder.path().join("trace");
    let traced = of(plain).with(CompileOption::TimeTrace(trace.clone()));
    assert_eq!(sources(folder.path(), &traced), NEVER_KEPT);
    assert!(trace.with_extension("json").exists());
    let unknown = "#if 0\n#include UNKNOWN\n#endif\n__global__ void k() {}";
    assert_eq!(sources(folder.path(), &of(unknown)), NEVER_KEPT);
    assert_eq!(sources(folder.path(), &of(plain)), KEPT);
}

// Without it a source with an error would be compiled by every thread that asks, or stay refused when its
// header is mended.
#[test]
fn an_error_is_remembered_until_a_file_changes() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("a.h");
    std::fs::write(&header, "#define A this is no number").unwrap();
    let source = "#include \"a.h\"\n__global__ void k(int* x) { *x = A; }";
    let request = request(&compiler, source).include_folder(folder.path());
    let compiler = cached(folder.path());
    for _ in 0..3 {
        let refused = compiler.compile(&request).unwrap_err();
        let CacheError::Compile(failure) = refused else {
            panic!("{refused}")
        };
        let CompileError::Source { diagnostics, .. } = &failure.error else {
            panic!("{failure}")
        };
        assert_eq!(diagnostics[0].line, Some(2), "{failure}");
    }
    let stats = compiler.stats();
    assert_eq!((stats.compiles, stats.failure_hits), (1, 2));
    std::fs::write(&header, "#define A 1").unwrap();
    assert_eq!(compiler.compile(&request).unwrap().source, Source::Compiled);
}
