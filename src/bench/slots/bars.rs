//! The names of the rows, and what ours are meant to reach.

use super::pairs::{HAND_OVER, ONE, many};
use super::{Figures, lookup};

/// What no list of free slots in one word can do without.
pub(super) const FLOOR: &str = "FLOOR, CAS + fetch_add on one word";

// Ours.
pub(super) const FIXED: &str = "FixedSlots, insert + release";
pub(super) const POOL: &str = "SlotPool, insert + release";
pub(super) const LATE: &str = "FixedSlots with late reuse, insert + release";
pub(super) const WORDS: &str = "FixedWords, insert + release";
pub(super) const WORD_POOL: &str = "WordPool, insert + release";
pub(super) const FIXED_CACHE: &str = "FixedSlots, insert + release by a cache";
pub(super) const POOL_CACHE: &str = "SlotPool, insert + release by a cache";
pub(super) const LATE_CACHE: &str = "FixedSlots with late reuse, insert + release by a cache";
pub(super) const WORDS_CACHE: &str = "FixedWords, insert + release by a cache";
pub(super) const WORD_POOL_CACHE: &str = "WordPool, insert + release by a cache";
pub(super) const FIXED_PEEK: &str = "FixedWords, peek";
pub(super) const POOL_PEEK: &str = "WordPool, peek";
pub(super) const FIXED_GET: &str = "FixedSlots, get + drop";
pub(super) const POOL_GET: &str = "SlotPool, get + drop";
pub(super) const BOUNDED: &str = "Bounded";
pub(super) const MPSC: &str = "Mpsc";
pub(super) const TURN_OVER: &str = "Buffered<3>, turn_over + refresh";
pub(super) const BEGIN_LATEST: &str = "Buffered<3>, begin_over + latest";
pub(super) const TLSF: &str = "Tlsf";

// The peers' that bars come from. Those that hand out indices store no value.
pub(super) const SHARDED: &str = "sharded-slab, insert + take";
pub(super) const SHARDED_REMOVE: &str = "sharded-slab, insert + remove";
pub(super) const MUTEX_SLAB: &str = "std Mutex<slab>";
pub(super) const PARKING_SLAB: &str = "parking_lot Mutex<slab>";
pub(super) const MUTEX_SLOTMAP: &str = "std Mutex<slotmap>";
pub(super) const MUTEX_THUNDERDOME: &str = "std Mutex<thunderdome>";
pub(super) const ARRAY_QUEUE: &str = "crossbeam ArrayQueue, indices only";
pub(super) const ARRAY_QUEUE_WORDS: &str = "crossbeam ArrayQueue and an array of words";
pub(super) const SEG_QUEUE: &str = "crossbeam SegQueue, indices only";
pub(super) const CONCURRENT_QUEUE: &str = "concurrent-queue bounded, indices only";
pub(super) const HEAPLESS: &str = "heapless object pool";
pub(super) const OPOOL: &str = "opool";
pub(super) const LINEAR: &str = "lockfree-object-pool, linear";
pub(super) const OBJECT_POOL: &str = "object-pool";
pub(super) const SLOTMAP_GET: &str = "slotmap get(&)";
pub(super) const OFFSET_ALLOCATOR: &str = "offset-allocator";
pub(super) const TRIPLE_BUFFER: &str = "triple_buffer, write + read";

/// The prefix of the rows of heaps.
pub(super) const HEAP: &str = "heap";

/// What the stores are to be faster than on one thread.
const PEERS: &[&str] = &[
    SHARDED,
    SHARDED_REMOVE,
    MUTEX_SLAB,
    MUTEX_SLOTMAP,
    ARRAY_QUEUE,
    ARRAY_QUEUE_WORDS,
    HEAPLESS,
    OPOOL,
];

/// What else shares one store between threads.
const MORE_PEERS: &[&str] = &[
    PARKING_SLAB,
    MUTEX_THUNDERDOME,
    SEG_QUEUE,
    CONCURRENT_QUEUE,
    LINEAR,
    OBJECT_POOL,
];

/// The stores of words with a cache for each thread. Their pair on one thread is to cost no
/// more than the floor.
const WORDS_CACHED: &[&str] = &[WORDS_CACHE, WORD_POOL_CACHE];

/// The stores of values with a cache for each thread.
const CACHED: &[&str] = &[FIXED_CACHE, POOL_CACHE];

/// The stores of whatever value, with leases; in floors, what their pair is to cost.
const GENERAL: &[&str] = &[FIXED_CACHE, POOL_CACHE, FIXED, POOL];
const GENERAL_FLOORS: f64 = 1.3;

/// The most nanoseconds that a lookup under a lease is to take alone.
const PINNED: f64 = 10.0;

/// The most nanoseconds that freeing a block and allocating another one are to take.
const HEAP_PAIR: f64 = 60.0;

/// How much slower than its peer a heap may be.
const HEAP_FACTOR: f64 = 1.25;

/// How much more than the best peer several threads are to get done on one store.
const THROUGHPUT: f64 = 1.5;

/// What a thread among several is to get done, as a part of what it does alone.
const SCALING: f64 = 0.9;

/// Puts the bars on the rows that were measured.
pub(super) fn put(figures: &mut Figures, threads: usize) {
    let floor = format!("{ONE}: {FLOOR}");
    let cached = [WORDS_CACHED, CACHED].concat();
    for name in WORDS_CACHED {
        figures.want(&format!("{ONE}: {name}"), 1.0, &[&floor]);
    }
    for name in GENERAL {
        figures.want(&format!("{ONE}: {name}"), GENERAL_FLOORS, &[&floor]);
    }
    let all = [PEERS, MORE_PEERS].concat();
    let group = many(threads);
    for name in cached {
        let row = |group: &str| format!("{group}: {name}");
        want(figures, &row(ONE), 1.0, ONE, PEERS);
        want(figures, &row(&group), 1.0 / THROUGHPUT, &group, &all);
        figures.want(&row(&group), 1.0 / SCALING, &[&row(ONE)]);
        want(figures, &row(HAND_OVER), 1.0, HAND_OVER, &all);
    }
    for name in [FIXED_PEEK, POOL_PEEK] {
        let ours = format!("{}: {name}", lookup::ONE);
        want(figures, &ours, 1.0, lookup::ONE, &[SLOTMAP_GET]);
    }
    for group in [ONE, HAND_OVER] {
        let row = |name: &str| format!("{group}: newest value, {name}");
        figures.want(&row(TURN_OVER), 1.0, &[&row(TRIPLE_BUFFER)]);
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

/// Wants `factor` times the best of the rows `names` of a group.
fn want(figures: &mut Figures, row: &str, factor: f64, group: &str, names: &[&str]) {
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("{group}: {name}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    figures.want(row, factor, &names);
}
