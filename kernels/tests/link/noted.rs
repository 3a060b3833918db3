//! What a process notes of nvJitLink: the next one answers from the cache without loading it, and never takes
//! another linker for it.

use std::path::{Path, PathBuf};

use cupola_kernels::cache::{CacheError, EntryKind, Source};
use cupola_kernels::compile::Target;
use cupola_kernels::link::{InputKind, LinkError, LinkInput, LinkRequest, NvJitLinker};
use cupola_kernels::{CachedLinker, LinkFailure};

use super::available;
use super::installation::{Child, Installation, link};

/// The name that the library has in an installation: one of those that are looked for.
const NAME: &str = "libnvJitLink.so.12";

/// nvJitLink as a link to the real one.
struct Installed {
    at: Installation,
    library: PathBuf,
}

impl Installed {
    fn new() -> Option<Self> {
        let linker = available(NvJitLinker::load())?;
        let library = linker.library().path()?;
        let at = Installation::of(&[&library]);
        at.link(&library, NAME);
        Some(Self { at, library })
    }
}

fn request(number: u32) -> LinkRequest {
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 to) {{\n\
         .reg .b64 %to;\n.reg .b32 %it;\nld.param.u64 %to, [to];\nmov.u32 %it, {number};\n\
         st.global.u32 [%to], %it;\nret;\n}}\n"
    );
    LinkRequest::new(Target::Cubin("sm_75".parse().unwrap())).input(LinkInput::new(
        "k",
        InputKind::Ptx,
        text,
    ))
}

#[test]
#[ignore = "a process of the tests of this file"]
fn child() {
    let child = Child::of("libnvJitLink.so");
    let linker = CachedLinker::find(None, child.config.clone());
    let fetch = |number| linker.link(&request(number)).map(|fetched| fetched.source);
    if let Some(library) = child.case.strip_prefix("replaced after: ") {
        // What this process knows by a note is replaced before it links with it.
        assert!(!child.is_loaded());
        link(Path::new(library), &Child::place(NAME));
        let before = linker.key(&request(2)).unwrap();
        let sources = [(); 3].map(|()| fetch(2).unwrap());
        assert_ne!(linker.key(&request(2)).unwrap(), before);
        println!("\nsaid {sources:?}");
        return;
    }
    if child.case == "removed after" {
        assert!(!child.is_loaded());
        std::fs::remove_file(Child::place(NAME)).unwrap();
        let is_there = fetch(1);
        println!("\nsaid {:?}, then {}", is_there.unwrap(), told(fetch(2)));
        return;
    }
    let said = told(fetch(child.case.parse().unwrap()));
    println!("\nsaid {said}, {}", child.loaded());
}

/// What became of a link, in a word.
fn told(made: Result<Source, CacheError<LinkFailure>>) -> String {
    match made {
        Ok(source) => format!("{source:?}"),
        Err(CacheError::Compile(failure)) => match failure.error {
            LinkError::NoLinker { .. } => "NoLinker".to_owned(),
            LinkError::NotFound(_) => "NotFound".to_owned(),
            _ => format!("{failure:?}"),
        },
        Err(other) => format!("{other:?}"),
    }
}

// Without it each process would load nvJitLink before its first hit.
#[test]
fn a_second_process_loads_no_linker_for_a_hit() {
    let Some(nvjitlink) = Installed::new() else {
        return;
    };
    assert_eq!(nvjitlink.at.run("1"), "Compiled, loaded");
    assert_eq!(nvjitlink.at.run("1"), "Disk, not loaded");
    // It does for what is not kept.
    assert_eq!(nvjitlink.at.run("2"), "Compiled, loaded");
    assert_eq!(nvjitlink.at.run("2"), "Disk, not loaded");
}

// Without it what another linker made could be given out for what this one makes.
#[test]
fn a_linker_that_was_replaced_is_noticed() {
    let Some(nvjitlink) = Installed::new() else {
        return;
    };
    let at = &nvjitlink.at;
    assert_eq!(at.run("1"), "Compiled, loaded");
    let other = at.other(&nvjitlink.library);
    at.link(&other, NAME);
    assert_eq!(at.run("1"), "Compiled, loaded");
    // It is too new to be known by its times.
    assert_eq!(at.run("1"), "Disk, loaded");
    at.link(&nvjitlink.library, NAME);
    assert_eq!(at.run("1"), "Disk, not loaded");
    // One that is found before it; by its file it is the same.
    at.link(&nvjitlink.library, "libnvJitLink.so.13");
    assert_eq!(at.run("1"), "Disk, loaded");
    assert_eq!(at.run("1"), "Disk, not loaded");
}

// Without it a process that waits long before its first link could keep what a newer linker makes as the
// result of the older one.
#[test]
fn a_linker_that_is_replaced_before_it_is_loaded_links_under_its_own_key() {
    let Some(nvjitlink) = Installed::new() else {
        return;
    };
    let at = &nvjitlink.at;
    assert_eq!(at.run("1"), "Compiled, loaded");
    let other = at.other(&nvjitlink.library);
    let said = at.run(&format!("replaced after: {}", other.display()));
    assert_eq!(said, "[Compiled, Compiled, Memory]");
    at.link(&nvjitlink.library, NAME);
    assert_eq!(at.run("2"), "Compiled, loaded");
}

// Without it what a linker made that is not there any more would be given out as if it were, or the error of
// a link without one not say what is missing.
#[test]
fn a_linker_that_was_removed_is_noticed() {
    let Some(nvjitlink) = Installed::new() else {
        return;
    };
    let at = &nvjitlink.at;
    assert_eq!(at.run("1"), "Compiled, loaded");
    at.remove(NAME);
    // Unless the system's loader finds another one.
    let said = at.run("1");
    assert!(
        !said.ends_with("not loaded") || said == "NoLinker, not loaded",
        "{said}"
    );
    at.link(&nvjitlink.library, NAME);
    assert_eq!(at.run("1"), "Disk, not loaded");
    let said = at.run("removed after");
    assert!(
        ["Disk, then NotFound", "Disk, then Compiled"].contains(&&*said),
        "{said}"
    );
}

// Without it a note that is damaged could stop a start, or stay for ever.
#[test]
fn a_torn_note_of_a_linker_is_none() {
    let Some(nvjitlink) = Installed::new() else {
        return;
    };
    assert_eq!(nvjitlink.at.run("1"), "Compiled, loaded");
    nvjitlink.at.tear_note(EntryKind::Linker, "1");
}
