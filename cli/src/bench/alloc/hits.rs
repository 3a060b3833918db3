//! What a hot pair does not do: its pool counts calls of the driver, and what its threads'
//! magazines could not serve. A million pairs must add nothing to either.

use std::hint::black_box;

use super::allocator::Allocator;
use super::ours::Raw;
use super::{Error, names};
use crate::bench::Figures;

/// Pairs that are counted.
const PAIRS: u32 = 1_000_000;

/// Pairs before them, which may fill a magazine.
const BEFORE: u32 = 1_000;

/// What the pool has counted: driver calls, and visits below the magazines.
#[derive(Clone, Copy)]
struct Counts {
    calls: u64,
    slow: u64,
}

fn counts(pool: &Raw) -> Result<Counts, Error> {
    let usage = pool.usage()?;
    Ok(Counts {
        calls: usage.calls.total(),
        slow: usage.misses + usage.spills + usage.detours + usage.drains,
    })
}

/// Adds the rows, with a bar of none.
pub(super) fn rows(figures: &mut Figures, pool: &Raw) -> Result<(), Error> {
    let stream = pool.stream()?;
    for bytes in names::SIZES {
        let row = |what: &str| {
            let work = format!("{what} in a million pairs, {}", names::size(bytes));
            names::row(&work, &pool.name())
        };
        let pairs = |count: u32| {
            (0..count).fold(pool.enter(), |ok, _| {
                let block = pool.allocate(black_box(bytes), &stream);
                ok & black_box(block).is_some_and(|block| pool.free(block, &stream))
            })
        };
        let warm = pairs(BEFORE);
        // Looking makes calls of its own, and the first look more of them: it asks about what was
        // freed since the last one.
        counts(pool)?;
        let (first, before) = (counts(pool)?, counts(pool)?);
        let counted = pairs(PAIRS);
        let after = counts(pool)?;
        if !(warm && counted) {
            return Err(Error::Wrong(row("calls")));
        }
        let looking = before.calls - first.calls;
        let calls = (after.calls - before.calls).saturating_sub(looking);
        let slow = after.slow - before.slow;
        for (what, count) in [("driver calls", calls), ("slow paths", slow)] {
            figures
                .push(&row(what), "times", &[count as f64], None)
                .want(0.0);
        }
    }
    Ok(())
}
