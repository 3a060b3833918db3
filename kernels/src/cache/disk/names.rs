//! The names of the store's files.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process;

use super::super::key::Key;

const ENTRY: &str = ".entry";
const LOCK: &str = ".lock";
const TEMPORARY: &str = "temporary-";

/// What a file is by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Entry(Key),
    Lock,
    Temporary,
}

impl Name {
    /// `None` for a name that is none of the store's: it is left alone.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let key = |ending: &str| text.strip_suffix(ending)?.parse::<Key>().ok();
        if text.starts_with(TEMPORARY) {
            return Some(Self::Temporary);
        }
        key(ENTRY)
            .map(Self::Entry)
            .or_else(|| key(LOCK).map(|_| Self::Lock))
    }

    pub(super) fn entry(key: &Key) -> String {
        format!("{key}{ENTRY}")
    }

    pub(super) fn lock(key: &Key) -> String {
        format!("{key}{LOCK}")
    }

    /// A name that no other process has, on no other host.
    pub(super) fn temporary() -> String {
        let random = RandomState::new().build_hasher().finish();
        format!("{TEMPORARY}{}-{random:016x}", process::id())
    }
}
