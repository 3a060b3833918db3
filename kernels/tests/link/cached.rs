//! A linker with a cache: what is linked, and what is not linked again.

use std::path::Path;
use std::sync::Barrier;

use cupola_kernels::CachedLinker;
use cupola_kernels::cache::{CacheConfig, CacheError, Source};
use cupola_kernels::compile::{Compiler, Target};
use cupola_kernels::link::{
    DriverLinker, InputKind, LinkError, LinkInput, LinkOption, LinkRequest, Linker, Linkers,
    NvJitLinker,
};
use cupola_managers::ExecutionManager;

use super::{available, newest, target, two_pieces};

fn config(folder: &Path) -> CacheConfig {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.join("cache"));
    config
}

/// nvJitLink as a program that has just begun has it.
fn cached(folder: &Path) -> CachedLinker<NvJitLinker> {
    CachedLinker::new(NvJitLinker::load().unwrap(), config(folder))
}

/// A link of two pieces; `None` after saying that there are no libraries.
fn request() -> Option<LinkRequest> {
    let compiler = available(Compiler::load())?;
    available(NvJitLinker::load())?;
    let newest = newest(&compiler);
    let pieces = two_pieces(&compiler, Target::LtoIr(newest));
    let request = LinkRequest::new(Target::Cubin(newest));
    let request = pieces.iter().fold(request, |request, piece| {
        request.input(LinkInput::of_compiled("piece", piece))
    });
    Some(request)
}

// Without it a second process could link again, or be given something else than the first.
#[test]
fn a_second_process_links_nothing() {
    let Some(request) = request() else { return };
    let folder = tempfile::tempdir().unwrap();
    let made = NvJitLinker::load().unwrap().link(&request).unwrap();
    for sources in [
        [Source::Compiled, Source::Memory],
        [Source::Disk, Source::Memory],
    ] {
        let linker = cached(folder.path());
        for source in sources {
            let fetched = linker.link(&request).unwrap();
            assert_eq!(fetched.source, source);
            assert_eq!(fetched.entry.payload, made.image());
            assert_eq!(fetched.entry.log, made.log());
        }
    }
    // What the first lookup of the libraries finds is part of it.
    let linkers = CachedLinker::new(Linkers::find(None), config(folder.path()));
    assert_eq!(linkers.link(&request).unwrap().source, Source::Disk);
    let other = request.with(LinkOption::LineInfo);
    assert_eq!(linkers.link(&other).unwrap().source, Source::Compiled);
}

// Without it each thread of a program would link the same.
#[test]
fn threads_that_want_one_link_get_one() {
    const THREADS: usize = 6;
    let Some(request) = request() else { return };
    let folder = tempfile::tempdir().unwrap();
    let linker = cached(folder.path());
    let begin = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                begin.wait();
                linker.link(&request).unwrap();
            });
        }
    });
    assert_eq!(linker.stats().compiles, 1);
}

// Without it a wrong input would be linked by each caller that asks, or its message be lost.
#[test]
fn a_link_that_fails_is_remembered() {
    let Some(request) = request() else { return };
    let folder = tempfile::tempdir().unwrap();
    let linker = cached(folder.path());
    let wrong = LinkRequest::new(request.target()).input(LinkInput::new(
        "wrong",
        InputKind::Cubin,
        "this is no binary",
    ));
    for _ in 0..3 {
        let Err(CacheError::Compile(failure)) = linker.link(&wrong) else {
            panic!("the input is no binary");
        };
        let is_about_inputs = matches!(
            failure.error,
            LinkError::Input { .. } | LinkError::Link { .. }
        );
        assert!(is_about_inputs, "{failure}");
    }
    let stats = linker.stats();
    assert_eq!((stats.compiles, stats.failure_hits), (1, 2));
    // What no linker can do is told before anything is looked for.
    let lto = LinkRequest::new(Target::LtoIr(request.target().architecture()));
    assert!(linker.link(&lto).is_err());
    assert_eq!(linker.stats().compiles, 1);
}

// Without it code of a driver that is gone could be taken for that of its successor.
#[test]
fn what_a_linker_without_a_file_makes_is_not_kept() {
    if target::is_gpu() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let execution = ExecutionManager::new(target::driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    let driver = DriverLinker::new(&context, &device).unwrap();
    let linker = CachedLinker::new(driver, config(folder.path()));
    let architecture = device.info().unwrap().architecture();
    let text = ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }\n";
    let request = LinkRequest::new(Target::Cubin(architecture.into())).input(LinkInput::new(
        "k",
        InputKind::Ptx,
        text,
    ));
    for _ in 0..2 {
        assert_eq!(linker.link(&request).unwrap().source, Source::Compiled);
    }
}
