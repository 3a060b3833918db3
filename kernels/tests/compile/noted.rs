//! What a process notes of its compiler: the next one answers from the cache without loading it, and never
//! takes another compiler for it.

use std::path::{Path, PathBuf};

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::EntryKind;
use cupola_kernels::compile::{CompileRequest, Target};
use cupola_managers::backend::BackendKind;

use super::compiler;
use super::installation::{Child, Installation, link};

/// NVRTC as links to the real one.
struct Nvrtc {
    at: Installation,
    library: PathBuf,
    builtins: PathBuf,
}

impl Nvrtc {
    fn installed() -> Option<Self> {
        let compiler = compiler()?;
        let nvrtc = compiler.nvrtc().unwrap().library();
        let (library, builtins) = (nvrtc.path()?, nvrtc.builtins()?);
        let at = Installation::of(&[&library, &builtins]);
        at.link(&library, "libnvrtc.so.12");
        at.link(&builtins, "");
        Some(Self {
            at,
            library,
            builtins,
        })
    }
}

fn source(number: u32) -> CompileRequest {
    let text = format!("extern \"C\" __global__ void k(int* x) {{ *x = {number}; }}");
    CompileRequest::new("k.cu", text, Target::Cubin("sm_90".parse().unwrap()))
}

#[test]
#[ignore = "a process of the tests of this file"]
fn child() {
    let child = Child::of("libnvrtc.so");
    let compiler = CachedCompiler::for_backend(BackendKind::Real, child.config.clone()).unwrap();
    let fetch = |number| compiler.compile(&source(number)).unwrap().source;
    if let Some(library) = child.case.strip_prefix("replaced after: ") {
        // What this process knows by a note is replaced before it compiles with it.
        assert!(!child.is_loaded());
        link(Path::new(library), &Child::place("libnvrtc.so.12"));
        let before = compiler.key(&source(2));
        let sources = [(); 3].map(|()| fetch(2));
        assert_ne!(compiler.key(&source(2)), before);
        println!("\nsaid {sources:?}");
        return;
    }
    let architecture = "sm_90"
        .parse::<cupola_kernels::compile::TargetArchitecture>()
        .unwrap();
    let driver = cupola_sys::Version::new(99, 0);
    let target = compiler.target_for(architecture.architecture(), driver);
    assert_eq!(target.unwrap(), Target::Cubin("sm_90a".parse().unwrap()));
    let source = fetch(child.case.parse().unwrap());
    println!("\nsaid {source:?}, {}", child.loaded());
}

// Without it each process would load the compiler, for 30 to 110 ms, before its first hit.
#[test]
fn a_second_process_loads_no_compiler_for_a_hit() {
    let Some(nvrtc) = Nvrtc::installed() else {
        return;
    };
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    assert_eq!(nvrtc.at.run("1"), "Disk, not loaded");
    // It does for what is not kept.
    assert_eq!(nvrtc.at.run("2"), "Compiled, loaded");
    assert_eq!(nvrtc.at.run("2"), "Disk, not loaded");
}

// Without it what another compiler made, or the same with other built-in headers, could be given out for what
// this one makes: the wrong code that no message tells of.
#[test]
fn a_compiler_that_was_replaced_is_noticed() {
    let Some(nvrtc) = Nvrtc::installed() else {
        return;
    };
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    let other = nvrtc.at.other(&nvrtc.builtins);
    nvrtc.at.link(&other, "");
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    // It is too new to be known by its times.
    assert_eq!(nvrtc.at.run("1"), "Disk, loaded");
    nvrtc.at.link(&nvrtc.builtins, "");
    assert_eq!(nvrtc.at.run("1"), "Disk, not loaded");
    let other = nvrtc.at.other(&nvrtc.library);
    nvrtc.at.link(&other, "libnvrtc.so.12");
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    assert_eq!(nvrtc.at.run("1"), "Disk, loaded");
    nvrtc.at.link(&nvrtc.library, "libnvrtc.so.12");
    assert_eq!(nvrtc.at.run("1"), "Disk, not loaded");
    // One that is found before it; by its files it is the same.
    nvrtc.at.link(&nvrtc.library, "libnvrtc.so.13");
    assert_eq!(nvrtc.at.run("1"), "Disk, loaded");
    assert_eq!(nvrtc.at.run("1"), "Disk, not loaded");
}

// Without it a process that waits long before its first compile could keep what a newer compiler makes as the
// result of the older one.
#[test]
fn a_compiler_that_is_replaced_before_it_is_loaded_compiles_under_its_own_key() {
    let Some(nvrtc) = Nvrtc::installed() else {
        return;
    };
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    let other = nvrtc.at.other(&nvrtc.library);
    let said = nvrtc
        .at
        .run(&format!("replaced after: {}", other.display()));
    assert_eq!(said, "[Compiled, Compiled, Memory]");
    nvrtc.at.link(&nvrtc.library, "libnvrtc.so.12");
    assert_eq!(nvrtc.at.run("2"), "Compiled, loaded");
}

// Without it a note that is damaged could stop a start, or stay for ever.
#[test]
fn a_torn_note_is_none() {
    let Some(nvrtc) = Nvrtc::installed() else {
        return;
    };
    assert_eq!(nvrtc.at.run("1"), "Compiled, loaded");
    nvrtc.at.tear_note(EntryKind::Compiler, "1");
}
