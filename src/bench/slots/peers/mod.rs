//! What users would pick instead, each as its documentation shows.
//!
//! Not here: `papaya` (a map, four times the floor), and the pools of heapless other than
//! `object`, which are the same stack.

mod heaps;
mod lists;
mod pools;
mod queues;
mod stores;

use super::Error;
use super::lookup::Lookups;
use super::pairs::Groups;
use super::queues::Queues;
use super::rotation::Exchanges;
use super::tlsf::Heaps;

/// Adds the rows of pairs.
pub(super) fn pairs(groups: &mut Groups) {
    stores::pairs(groups);
    lists::pairs(groups);
    pools::pairs(groups);
}

/// Adds the rows of lookups.
pub(super) fn lookups(lookups: &mut Lookups) {
    stores::lookups(lookups);
}

/// Adds the rows of queues.
pub(super) fn queues(queues: &mut Queues) {
    queues::queues(queues);
}

/// Adds the rows of buffers of which the newest is read.
pub(super) fn exchanges(exchanges: &mut Exchanges) {
    queues::exchanges(exchanges);
}

/// Adds the rows of heaps.
pub(super) fn heaps(heaps: &mut Heaps<'_>) -> Result<(), Error> {
    heaps::heaps(heaps)
}
