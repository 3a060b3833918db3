//! What a keeper tells of its objects and guests.

use crate::object::Object;
use crate::protocol::{ObjectState, Rights};

/// An object, as it was when it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its bytes, as its creator has asked for them. Memory is whole pages.
    pub bytes: u64,
    /// What guests may do with it.
    pub rights: Rights,
    /// Where its bytes are.
    pub state: ObjectState,
    /// Guests that have it open.
    pub guests: usize,
    /// What its creator has said when it was sealed.
    pub description: Vec<u8>,
}

impl Entry {
    pub(crate) fn of(object: &Object) -> Self {
        Self {
            name: object.name.clone(),
            bytes: object.bytes,
            rights: object.rights,
            state: object.public_state(),
            guests: object.holdings.len(),
            description: object.description.clone(),
        }
    }
}

/// A guest, as it was when the keeper was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuestEntry {
    /// The number of its process; 0 before it has said which it is, and where it has no number here.
    pub process: u32,
    /// Whether objects are mapped there.
    pub has_memory: bool,
}

/// What sleeps and wakes have cost a keeper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeeperMetrics {
    /// Bytes that were copied to host memory so far.
    pub copied_down: u64,
    /// Bytes that were copied back so far.
    pub copied_up: u64,
    /// Bytes of host memory that are page-locked now.
    pub host_bytes: u64,
}
