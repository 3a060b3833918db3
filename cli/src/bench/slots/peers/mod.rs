//! What users would pick instead, each as its documentation shows.
//!
//! Not here: `papaya` (a map, four times the floor).

mod heaps;
mod stores;

use super::Error;
use super::lookup::Lookups;
use super::pairs::Groups;
use super::tlsf::Heaps;

/// Adds the rows of pairs.
pub(super) fn pairs(groups: &mut Groups) {
    stores::pairs(groups);
}

/// Adds the rows of lookups.
pub(super) fn lookups(lookups: &mut Lookups) {
    stores::lookups(lookups);
}

/// Adds the rows of heaps.
pub(super) fn heaps(heaps: &mut Heaps<'_>) -> Result<(), Error> {
    heaps::heaps(heaps)
}
