//! Names of blocks: one word each, so that anybody may read a block's name at any time.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a user has named a block.
pub(crate) type Name = Option<&'static &'static str>;

/// The word for a name. Each name takes some bytes of the host for ever: names are those in
/// a program's text.
pub(super) fn intern(name: &'static str) -> &'static &'static str {
    static NAMES: OnceLock<Mutex<HashSet<&'static &'static str>>> = OnceLock::new();
    let names = NAMES.get_or_init(Mutex::default);
    let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(&name) {
        return known;
    }
    let name: &'static &'static str = Box::leak(Box::new(name));
    names.insert(name);
    name
}
