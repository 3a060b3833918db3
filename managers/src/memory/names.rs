//! Names of blocks: one word each, so that anybody may read a block's name at any time.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock};

use super::pool::{Pool, lock};
use crate::error::Result;

/// What a user has named a block.
pub(crate) type Name = Option<&'static &'static str>;

/// Every name so far.
pub(super) fn all() -> &'static Mutex<HashSet<&'static &'static str>> {
    static NAMES: OnceLock<Mutex<HashSet<&'static &'static str>>> = OnceLock::new();
    NAMES.get_or_init(Mutex::default)
}

impl Pool {
    /// The word for a name, where one may be used: asked before the lock, which another thread may
    /// have left taken in a fork.
    pub(super) fn intern(&self, name: &'static str) -> Result<&'static &'static str> {
        if !mutant!("names_take_a_lock_in_a_fork") {
            self.core.healthy()?;
        }
        Ok(intern(name))
    }
}

/// The word for a name. Each name takes some bytes of the host for ever: names are those in
/// a program's text.
fn intern(name: &'static str) -> &'static &'static str {
    let mut names = lock(all());
    if let Some(known) = names.get(&name) {
        return known;
    }
    let name: &'static &'static str = Box::leak(Box::new(name));
    names.insert(name);
    name
}
