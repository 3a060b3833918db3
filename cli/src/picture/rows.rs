//! Cuts regions into rows: which there are, and how many bytes each has.

use std::ops::Range;

use super::{Picture, Region};

/// The least that a row has: a page as drivers map it.
const LEAST: u64 = 2 << 20;

/// Rows that a picture aims at; a few more if memory is scattered.
const AIM: u64 = 48;

/// The most rows, but for one in each region.
const MOST: u64 = 256;

/// Ranges in order, with those that overlap or touch made one, and empty ones left out.
pub(super) fn merged(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = ranges
        .iter()
        .filter(|range| range.start < range.end)
        .cloned()
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The parts of a region that something is drawn in.
fn used(region: &Region) -> Vec<Range<u64>> {
    let end = region.base.saturating_add(region.bytes);
    let clip = |range: &Range<u64>| range.start.max(region.base)..range.end.min(end);
    let mapped = region.mapped.iter().map(clip);
    let blocks = region.blocks.iter().map(|block| clip(&block.range));
    merged(&mapped.chain(blocks).collect::<Vec<_>>())
}

/// Numbers of the rows of `region` in which something is drawn, from its base on.
pub(super) fn drawn(region: &Region, row: u64) -> Vec<Range<u64>> {
    let rows = used(region).into_iter().map(|range| {
        let (first, last) = (range.start - region.base, range.end - 1 - region.base);
        first / row..last / row + 1
    });
    merged(&rows.collect::<Vec<_>>())
}

/// Bytes of a row: a power of two.
pub(super) fn bytes(picture: &Picture) -> u64 {
    let mapped = picture.sums().mapped;
    let mut row = (mapped / AIM).max(LEAST);
    row = row.checked_next_power_of_two().unwrap_or(1 << 63);
    let count = |row| {
        let rows = picture.regions.iter().flat_map(|region| drawn(region, row));
        let rows = rows.map(|range| range.end - range.start);
        rows.fold(0_u64, u64::saturating_add)
    };
    while row < 1 << 63 && count(row) > MOST.max(picture.regions.len() as u64) {
        row *= 2;
    }
    row
}
