//! Names of blocks: one word each, so that any thread may read a block's name at any time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};

use crate::sync::lock;

/// The word for a name.
type Word = &'static &'static str;

/// The name that a user gave a block.
pub(crate) type Name = Option<Word>;

/// A name for blocks, made once by [`MemoryPool::name`](crate::pool::MemoryPool::name) and good for
/// every pool of the process.
///
/// It is one word. With it a named allocation costs as much as one without a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BlockName(Word);

impl BlockName {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }

    #[inline]
    pub(crate) fn word(self) -> Word {
        self.0
    }
}

impl fmt::Debug for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Every name so far.
pub(crate) fn all() -> &'static Mutex<HashMap<&'static str, Word>> {
    static NAMES: OnceLock<Mutex<HashMap<&'static str, Word>>> = OnceLock::new();
    NAMES.get_or_init(Mutex::default)
}

impl BlockName {
    /// The name for a text. Each text takes some bytes of the host for ever.
    pub(crate) fn intern(name: &str) -> Self {
        Self(intern(name))
    }
}

/// The word for a name. Each name takes some bytes of the host for ever.
fn intern(name: &str) -> Word {
    let mut names = lock(all());
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(Box::from(name));
    let word: Word = Box::leak(Box::new(name));
    names.insert(name, word);
    word
}
