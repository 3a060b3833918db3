//! Where the memory of a pool is when it has just refused a request: every byte of its limit.

use std::collections::BTreeMap;
use std::fmt;

use cupola_managers::pool::layout::{BlockState, Layout, RunState};

/// Pages that are in part free, by the largest block that is alive in them.
const NEIGHBOURS: [(u64, &str); 5] = [
    (8 << 10, "free beside blocks of up to 8 KiB"),
    (64 << 10, "free beside blocks of up to 64 KiB"),
    (512 << 10, "free beside blocks of up to 512 KiB"),
    (2 << 20, "free beside blocks of up to 2 MiB"),
    (u64::MAX, "free beside larger blocks"),
];

/// What is in a page.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    free: u64,
    /// Of the largest block that is alive in it.
    largest: u64,
}

/// The bytes of a pool's limit, by what they are: no byte is in two rows.
#[derive(Debug)]
pub(super) struct Account {
    /// The request that was refused.
    refused: u64,
    /// What all percents are of.
    peak: u64,
    /// Each row, and how many pages or pieces it is of.
    rows: Vec<(&'static str, u64, u64)>,
}

impl Account {
    /// Of a pool that has refused a request of so many bytes; `peak` is the most that was alive.
    pub(super) fn new(layout: &Layout, refused: u64, peak: u64) -> Self {
        let mut pages: BTreeMap<u64, Page> = BTreeMap::new();
        let runs = layout.regions.iter().flat_map(|region| &region.runs);
        for run in runs.filter(|run| run.state != RunState::Bare) {
            let first = run.address / layout.page;
            let all = first..first + run.bytes / layout.page;
            pages.extend(all.map(|page| (page, Page::default())));
        }
        let (mut live, mut rounding, mut slots, mut kept) = ((0, 0), 0, (0, 0), (0, 0));
        for block in &layout.blocks {
            let is_free = matches!(block.state, BlockState::Ready | BlockState::Pending);
            let (bytes, count) = match block.state {
                BlockState::Live => &mut live,
                BlockState::Slot => &mut slots,
                BlockState::Ready | BlockState::Pending => &mut (0, 0),
                _ => &mut kept,
            };
            *bytes += block.bytes;
            *count += 1;
            if block.state == BlockState::Live {
                *bytes -= block.bytes - block.requested;
                rounding += block.bytes - block.requested;
            }
            let end = block.address + block.bytes;
            for (number, page) in
                pages.range_mut(block.address / layout.page..end.div_ceil(layout.page))
            {
                let from = block.address.max(number * layout.page);
                let to = end.min((number + 1) * layout.page);
                if is_free {
                    page.free += to - from;
                } else {
                    page.largest = page.largest.max(block.bytes);
                }
            }
        }
        let mapped = pages.len() as u64 * layout.page;
        let mut rows = vec![
            ("alive, as asked for", live.0, live.1),
            ("rounding of these", rounding, 0),
            ("free slots of slabs", slots.0, slots.1),
            ("kept by threads", kept.0, kept.1),
            ("not mapped", layout.limit.saturating_sub(mapped), 0),
        ];
        let row = |name, within: &dyn Fn(&&Page) -> bool| {
            let pages: Vec<_> = pages.values().filter(within).collect();
            let free = pages.iter().map(|page| page.free).sum();
            (name, free, pages.len() as u64)
        };
        rows.push(row("free as whole pages", &|page| page.largest == 0));
        let mut least = 0;
        for (most, name) in NEIGHBOURS {
            rows.push(row(name, &|page| {
                least < page.largest && page.largest <= most
            }));
            least = most;
        }
        Self {
            refused,
            peak,
            rows,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |bytes: u64| bytes as f64 * 100.0 / self.peak as f64;
        write!(
            f,
            "refused {} bytes ({:.3} % of the most alive):",
            self.refused,
            percent(self.refused)
        )?;
        for &(name, bytes, count) in self.rows.iter().filter(|row| row.1 > 0) {
            write!(f, "\n    {name:<36} {bytes:>13} {:>8.3} %", percent(bytes))?;
            if count > 0 {
                write!(f, "  in {count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use cupola::{Cupola, Select};
    use cupola_managers::StreamConfig;
    use cupola_managers::pool::PoolConfig;

    use super::*;

    /// Without it a byte could be told twice or not at all, and a loss be sought where there is none.
    #[test]
    fn every_byte_of_the_limit_is_in_one_row() {
        let cupola = Cupola::open(Select::Software).unwrap();
        let context = cupola.device(0).unwrap().primary().unwrap();
        let stream = context.streams().create(StreamConfig::default()).unwrap();
        let limit = 32 << 20;
        let pool = context.memory_pool(PoolConfig::limit(limit)).unwrap();
        let mut blocks = Vec::new();
        while let Ok(block) =
            pool.allocate_raw(1000 + 77_777 * (blocks.len() as u64 % 40), 256, &stream)
        {
            blocks.push(block);
        }
        for block in blocks.split_off(blocks.len() / 2) {
            // SAFETY: nothing was ever put on a stream that uses the block.
            unsafe { block.free(&stream) }.unwrap();
        }
        let account = Account::new(&pool.layout().unwrap(), 1, limit);
        assert_eq!(account.rows.iter().map(|row| row.1).sum::<u64>(), limit);
        let filled = account.rows.iter().filter(|row| row.1 > 0).count();
        assert!(filled >= 4, "{account}");
        for block in blocks {
            // SAFETY: nothing was ever put on a stream that uses the block.
            unsafe { block.free(&stream) }.unwrap();
        }
    }
}
