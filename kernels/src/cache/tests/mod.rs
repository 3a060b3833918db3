//! The cache against the worst that file systems, users and processes do.

mod faults;
mod faulty;
mod folders;
mod limits;
mod lookups;
mod network;
mod processes;

use std::fmt;
use std::path::Path;

use super::{Cache, CacheConfig, Digest, Entry, Failure, Fault, Key, Manifest};
use crate::compile::{ImageKind, LoweredName};

/// The error of a compile.
#[derive(Debug)]
pub(super) enum Broken {
    Source(Manifest),
    Machine,
    GivenUp,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it does not compile")
    }
}

impl std::error::Error for Broken {}

impl Failure for Broken {
    fn fault(&self) -> Fault<'_> {
        match self {
            Self::Source(manifest) => Fault::Inputs(manifest),
            Self::Machine => Fault::Machine,
            Self::GivenUp => Fault::GivenUp,
        }
    }
}

pub(super) fn key(of: u64) -> Key {
    Key::from_digest(Digest::of(&of.to_le_bytes()))
}

/// The entry of `key(of)`: its payload says so.
pub(super) fn entry(of: u64, bytes: usize) -> Entry {
    let payload = of.to_le_bytes().into_iter().cycle().take(bytes).collect();
    Entry {
        kind: ImageKind::Cubin.into(),
        payload,
        names: vec![LoweredName {
            expression: "k<int>".into(),
            symbol: "_Z1kIiEvv".into(),
        }],
        log: String::new(),
        manifest: Manifest::new(),
        recipe: None,
    }
}

/// Entries in this folder, and none in memory: each look is one at the folder.
pub(super) fn on_disk(folder: &Path) -> CacheConfig {
    CacheConfig {
        folder: Some(folder.to_owned()),
        memory_limit: 0,
        ..CacheConfig::default()
    }
}

pub(super) fn open(folder: &Path) -> Cache<Broken> {
    Cache::new(on_disk(folder))
}

/// Looks for an entry, compiles it where there is none, and checks that it is the right one. Whether
/// it was compiled.
pub(super) fn fetch(cache: &Cache<Broken>, of: u64) -> bool {
    let mut compiled = false;
    let fetched = cache.get_or_compile(&key(of), || {
        compiled = true;
        Ok(entry(of, 1000))
    });
    assert_eq!(
        *fetched.expect("a start never fails").entry,
        entry(of, 1000)
    );
    compiled
}
