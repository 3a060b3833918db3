//! The names of the rows, and what ours are meant to reach.

use super::pairs::ONE;
use super::{Figures, lookup};

/// What no list of free slots in one word can do without.
pub(super) const FLOOR: &str = "FLOOR, CAS + fetch_add on one word";

// Ours.
pub(super) const FIXED: &str = "FixedSlots, insert + release";
pub(super) const POOL: &str = "SlotPool, insert + release";
pub(super) const FIXED_GET: &str = "FixedSlots, get + drop";
pub(super) const POOL_GET: &str = "SlotPool, get + drop";
pub(super) const TLSF: &str = "Tlsf";

/// The peer of the heap.
pub(super) const OFFSET_ALLOCATOR: &str = "offset-allocator";

/// The prefix of the rows of heaps.
pub(super) const HEAP: &str = "heap";

/// The stores, whose pair on one thread is to cost at most so many floors.
const STORES: &[&str] = &[FIXED, POOL];
const FLOORS: f64 = 1.3;

/// The most nanoseconds that a lookup under a lease is to take alone.
const PINNED: f64 = 10.0;

/// The most nanoseconds that freeing a block and allocating another one are to take.
const HEAP_PAIR: f64 = 60.0;

/// How much slower than its peer a heap may be.
const HEAP_FACTOR: f64 = 1.25;

/// Puts the bars on the rows that were measured.
pub(super) fn put(figures: &mut Figures) {
    let floor = format!("{ONE}: {FLOOR}");
    for name in STORES {
        figures.want(&format!("{ONE}: {name}"), FLOORS, &[&floor]);
    }
    let ours = format!("{HEAP}: {TLSF}, ");
    let heaps = figures
        .rows
        .iter()
        .filter_map(|row| row.name.strip_prefix(&ours));
    let heaps: Vec<_> = heaps.map(str::to_owned).collect();
    for what in heaps {
        let (ours, theirs) = (
            format!("{ours}{what}"),
            format!("{HEAP}: {OFFSET_ALLOCATOR}, {what}"),
        );
        let fit = what.starts_with("highest");
        let factor = if fit { 1.0 } else { HEAP_FACTOR };
        if what.starts_with("free") {
            at_most(figures, &ours, HEAP_PAIR);
        }
        figures.want(&ours, factor, &[&theirs]);
    }
    for name in [FIXED_GET, POOL_GET] {
        at_most(figures, &format!("{}: {name}", lookup::ONE), PINNED);
    }
}

/// Wants a row to be at most so much.
fn at_most(figures: &mut Figures, name: &str, most: f64) {
    if let Some(row) = figures.rows.iter_mut().find(|row| row.name == name) {
        row.want(most);
    }
}
