//! A picture of a pool's memory: which pages are mapped, and what is in them, as SVG.
//!
//! Addresses run from left to right in rows of so many bytes; rows in which nothing is mapped
//! are left out, and said to be. The colour is the block's state, the line under it the colour
//! of its stream. Blocks too small to see are drawn as one, in the colour of the state that most of
//! their bytes have, and so are larger ones where there are too many for a document that opens; a
//! tooltip says what everything is.

mod pool;
mod rows;
mod runs;
mod svg;
#[cfg(test)]
mod tests;

use std::ops::Range;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Handed out.
    Live,
    /// Freed, and perhaps still in use by work on its stream.
    Pending,
    /// Free, and kept for requests of its size.
    Cached,
}

impl State {
    /// All of them, as the legend has them.
    pub const ALL: [Self; 3] = [Self::Live, Self::Pending, Self::Cached];

    /// As people read it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Pending => "pending",
            Self::Cached => "cached",
        }
    }
}

/// A block of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its addresses.
    pub range: Range<u64>,
    /// What it is.
    pub state: State,
    /// The stream that it belongs to; `None` for memory of no stream, such as what is on its way
    /// between threads.
    pub stream: Option<u64>,
    /// What it is called, if anything.
    pub label: String,
}

/// A range of addresses that the pool reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// What it is called.
    pub name: String,
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The parts with memory behind them, in any order; neighbours may touch.
    pub mapped: Vec<Range<u64>>,
    /// What is in it, in any order. Parts that are not mapped are drawn all the same.
    pub blocks: Vec<Block>,
}

/// A picture to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The first line.
    pub title: String,
    /// Lines below it. Sums of what is drawn come first and need not be given.
    pub notes: Vec<String>,
    /// What is drawn.
    pub regions: Vec<Region>,
}

/// Sums over a picture, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of mapped parts.
    pub mapped: u64,
    /// Of blocks, by state as in [`State::ALL`].
    pub states: [u64; 3],
    /// How many blocks there are, by state.
    pub blocks: [usize; 3],
}

impl Picture {
    /// What is drawn, added up.
    #[must_use]
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
        for region in &self.regions {
            for range in rows::merged(&region.mapped) {
                sums.mapped = sums.mapped.saturating_add(len(&range));
            }
            for block in &region.blocks {
                let state = block.state as usize;
                sums.states[state] = sums.states[state].saturating_add(len(&block.range));
                sums.blocks[state] += 1;
            }
        }
        sums
    }

    /// The picture as one SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::document(self)
    }
}

/// Sizes as people read them.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{value:.2} {}", units[unit]),
    }
}
