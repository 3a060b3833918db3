//! Blocks too small to see, put together.

use std::ops::Range;

use super::{Block, Region, State, rows};

/// The most runs of a picture that has narrow blocks: a reader draws every one of them.
const MOST: usize = 8192;

/// Narrower than this, in pixels, a block is drawn with its neighbours; it is more where there
/// would be too many runs.
const NARROW: f64 = 0.5;

/// A region with what is needed to draw it.
pub(super) struct Drawn<'p> {
    pub(super) region: &'p Region,
    pub(super) mapped: Vec<Range<u64>>,
    /// Numbers of the rows that are drawn.
    pub(super) rows: Vec<Range<u64>>,
    /// By address.
    blocks: Vec<&'p Block>,
    /// How far the blocks up to each one reach.
    reach: Vec<u64>,
}

impl<'p> Drawn<'p> {
    pub(super) fn new(region: &'p Region, row: u64) -> Self {
        let mut blocks: Vec<&Block> = region.blocks.iter().collect();
        blocks.retain(|block| len(block) > 0);
        blocks.sort_by_key(|block| (block.range.start, block.range.end));
        let mut reach = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let before = reach.last().copied().unwrap_or(0);
            reach.push(block.range.end.max(before));
        }
        Self {
            region,
            mapped: rows::merged(&region.mapped),
            rows: rows::drawn(region, row),
            blocks,
            reach,
        }
    }

    /// Begins of the rows.
    pub(super) fn begins(&self, row: u64) -> impl Iterator<Item = u64> {
        let base = self.region.base;
        let begin = move |number: u64| base.saturating_add(number.saturating_mul(row));
        self.rows.iter().cloned().flatten().map(begin)
    }

    /// What is drawn of the blocks in the row that begins at `start`.
    pub(super) fn runs(&self, start: u64, scale: Scale, mut each: impl FnMut(Run<'p>)) {
        let end = start.saturating_add(scale.row);
        let first = self.reach.partition_point(|reach| *reach <= start);
        let inside = self.blocks[first..].iter();
        let inside = inside.take_while(|block| block.range.start < end);
        let mut run: Option<Run<'p>> = None;
        for block in inside.filter(|block| block.range.end > start) {
            let (from, to) = (
                scale.x(start, block.range.start),
                scale.x(start, block.range.end),
            );
            match &mut run {
                Some(run) if run.takes(block, (from, to), scale.narrow) => run.add(block, to),
                _ => {
                    run.replace(Run::new(block, (from, to))).map(&mut each);
                }
            }
        }
        run.map(each);
    }
}

/// Bytes and pixels of a row.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) row: u64,
    pub(super) width: f64,
    narrow: f64,
}

impl Scale {
    /// With blocks put together until a picture of `regions` has not too many runs.
    pub(super) fn new(regions: &[Drawn<'_>], row: u64, width: f64) -> Self {
        let mut scale = Self {
            row,
            width,
            narrow: NARROW,
        };
        let count = |scale| {
            let mut count = 0;
            for region in regions {
                for start in region.begins(row) {
                    region.runs(start, scale, |_| count += 1);
                }
            }
            count
        };
        while scale.narrow < width && count(scale) > MOST {
            scale.narrow *= 2.0;
        }
        scale
    }

    /// Where an address is in the row that begins at `start`.
    pub(super) fn x(self, start: u64, address: u64) -> f64 {
        let inside = address.clamp(start, start.saturating_add(self.row)) - start;
        inside as f64 / self.row as f64 * self.width
    }
}

/// A run of blocks that is drawn as one.
pub(super) struct Run<'b> {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) first: &'b Block,
    /// How many there are, and their bytes, by state.
    pub(super) blocks: [usize; 3],
    pub(super) bytes: [u64; 3],
    /// All blocks have the first one's stream, and its label.
    pub(super) one_stream: bool,
    pub(super) one_label: bool,
}

impl<'b> Run<'b> {
    fn new(first: &'b Block, (from, to): (f64, f64)) -> Self {
        let mut run = Self {
            from,
            to,
            first,
            blocks: [0; 3],
            bytes: [0; 3],
            one_stream: true,
            one_label: true,
        };
        run.add(first, to);
        run
    }

    /// Whether a block is narrow, as all are in the run, and beside it. One of another state is
    /// taken into a run that would itself be too narrow to see.
    fn takes(&self, block: &Block, (from, to): (f64, f64), narrow: f64) -> bool {
        let width = self.to - self.from;
        let same = self.blocks[block.state as usize] == self.count();
        to - from < narrow
            && from - self.to < narrow
            && (width < narrow || same && self.count() > 1)
    }

    fn add(&mut self, block: &Block, to: f64) {
        self.to = self.to.max(to);
        let state = block.state as usize;
        self.blocks[state] += 1;
        self.bytes[state] = self.bytes[state].saturating_add(len(block));
        self.one_stream &= block.stream == self.first.stream;
        self.one_label &= block.label == self.first.label;
    }

    pub(super) fn count(&self) -> usize {
        self.blocks.iter().sum()
    }

    /// The state that most bytes have.
    pub(super) fn state(&self) -> State {
        let bytes = |state: &State| self.bytes[*state as usize];
        let most = State::ALL.into_iter().max_by_key(bytes);
        most.unwrap_or(self.first.state)
    }
}

pub(super) fn len(block: &Block) -> u64 {
    block.range.end.saturating_sub(block.range.start)
}
