//! Places that a search by size does not find: anywhere in a piece, and over neighbours. For
//! requests that would get nothing otherwise: the time is linear in blocks and pages.

use cupola_core::tlsf::Hooks;

use super::*;
use crate::pool::heap::placement::{cheapest_in, region_of};

impl Heap {
    /// The smallest stretch of mapped pages within a free piece that `stream` may use and that
    /// holds the request: its address. A search by size looks at the beginning of pieces only,
    /// and not at all of them. The time is linear in blocks and pages.
    pub(crate) fn mapped_stretch(
        &self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
    ) -> Option<CUdeviceptr> {
        let requester = Requester::new(stream);
        let mut best = None;
        for piece in self.pieces() {
            if piece.size >= bytes {
                let rules = self.rules();
                rules.mapped_stretches(requester, &piece, |from, to| {
                    best = lesser(best, place_in((from, to), bytes, align));
                });
            }
        }
        best.map(|(_, at)| at)
    }

    /// The place that misses the fewest pages of all that `stream` may use, but fewer than
    /// `below`: its address, and how many. A search by size looks at the beginning of pieces
    /// only, and not at all of them. The time is linear in blocks and pages.
    pub(crate) fn cheapest(
        &self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
        below: u64,
    ) -> Option<(CUdeviceptr, u64)> {
        let requester = Requester::new(stream);
        let wanted = (bytes, align.max(GRANULE));
        let mut best = None;
        let mut most = below.checked_sub(1)?;
        for piece in self.pieces() {
            let found = self.rules().cheapest(requester, &piece, wanted, most);
            if let Some((missing, at)) = found {
                best = Some((at, missing));
                match missing.checked_sub(1) {
                    Some(fewer) => most = fewer,
                    None => break,
                }
            }
        }
        best
    }

    /// Makes these addresses a block, if they are free and `stream` may use them: with the stamp of
    /// the piece that it was cut from.
    pub(crate) fn take_usable_at(
        &mut self,
        address: CUdeviceptr,
        bytes: u64,
        stream: StreamIndex,
    ) -> Option<(Block, Stamp)> {
        let was = self.stamp_at(address)?;
        let block = self.take_at(address, bytes, Requester::new(stream))?;
        Some((block, was))
    }

    /// Whether the request could be had if all work that uses freed memory were complete, while no
    /// more than `most` pages have memory. Blocks do not move, so the extents stay that they lie
    /// in, but for blocks that are `leaving`: those have no user. The time is linear in blocks and
    /// pages.
    pub(crate) fn could_hold(
        &self,
        bytes: u64,
        align: u64,
        (most, page): (u64, u64),
        leaving: impl Fn(&Block) -> bool,
    ) -> bool {
        let rules = self.rules();
        // Of each range, the pages that stay.
        let mut stay = Vec::new();
        for range in rules.regions() {
            stay.push(vec![false; range.len() as usize]);
        }
        let mut staying = 0;
        // Free stretches, whichever stream may use which part of them now.
        let mut free: Vec<(CUdeviceptr, CUdeviceptr)> = Vec::new();
        let add = |free: &mut Vec<(CUdeviceptr, CUdeviceptr)>, from, bytes| match free.last_mut() {
            Some(last) if last.1 == from && !rules.begins(from) => last.1 = from + bytes,
            _ => free.push((from, from + bytes)),
        };
        for entry in self.blocks() {
            let block = match entry {
                Entry::Used(block, _) if !leaving(&block) => block,
                Entry::Used(block, _) => {
                    add(&mut free, block.offset(), block.size());
                    continue;
                }
                Entry::Free(_, piece) => {
                    add(&mut free, piece.offset, piece.size);
                    continue;
                }
            };
            let Some(at) = region_of(rules.regions(), block.offset()) else {
                continue;
            };
            let (region, stay) = (&rules.regions()[at], &mut stay[at]);
            let (mut page, end) = region.touched(block.offset(), block.size());
            while page < end.min(region.len()) {
                let one = Extent {
                    first: page,
                    pages: 1,
                };
                let extent = region.extent(page).unwrap_or(one);
                let pages = extent.first as usize..(extent.first + extent.pages) as usize;
                // All of an extent stays, or nothing.
                if !stay[pages.start] {
                    staying += u64::from(extent.pages);
                    stay[pages].fill(true);
                }
                page = extent.first + extent.pages;
            }
        }
        if staying + bytes.div_ceil(page) <= most {
            return true;
        }
        // Only where part of it lies on pages that stay.
        free.iter().any(|&(from, to)| {
            let Some(at) = region_of(rules.regions(), from) else {
                return false;
            };
            let stays = |page| stay[at][page as usize];
            let wanted = (bytes, align.max(GRANULE));
            let found = cheapest_in(&rules.regions()[at], (from, to - from), wanted, stays);
            found.is_some_and(|(missing, _)| missing == 0 || staying + missing <= most)
        })
    }

    /// Merges the neighbours that hold the request together, in the smallest stretch of mapped
    /// pages that `stream` may use, even if no other may: the address. The time is linear in blocks
    /// and pages.
    pub(crate) fn join_stretch(
        &mut self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
    ) -> Option<CUdeviceptr> {
        let requester = Requester::new(stream);
        let mut stretches: Vec<(CUdeviceptr, CUdeviceptr)> = Vec::new();
        let mut pieces = Vec::new();
        for piece in self.pieces() {
            pieces.push((piece.offset, piece.offset + piece.size));
            let rules = self.rules();
            rules.mapped_stretches(requester, &piece, |from, to| match stretches.last_mut() {
                Some(last) if last.1 == from && !rules.begins(from) => last.1 = to,
                _ => stretches.push((from, to)),
            });
        }
        let mut best = None;
        for &stretch in &stretches {
            best = lesser(best, place_in(stretch, bytes, align));
        }
        let (_, at) = best?;
        // From the first piece that holds a part of the request to the last.
        let mut held = None;
        for &(from, to) in &pieces {
            if from < at + bytes && at < to {
                held = Some((held.map_or(from, |(first, _)| first), to));
            }
        }
        let (from, to) = held?;
        self.tlsf.coalesce_by(|rules, left, right| {
            rules.may_merge(left, right) || rules.may_join(requester, (from, to), left, right)
        });
        self.ask_pieces();
        Some(at)
    }

    /// The stamp of the free piece at an address.
    pub(crate) fn stamp_at(&self, address: CUdeviceptr) -> Option<Stamp> {
        self.pieces()
            .find(|piece| address.wrapping_sub(piece.offset) < piece.size)
            .map(|piece| piece.data)
    }
}

/// The lesser of two places, or the one that there is.
fn lesser(
    one: Option<(u64, CUdeviceptr)>,
    other: Option<(u64, CUdeviceptr)>,
) -> Option<(u64, CUdeviceptr)> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

/// Where the request begins in a stretch, if that holds it; after how long the stretch is.
fn place_in(
    (from, to): (CUdeviceptr, CUdeviceptr),
    bytes: u64,
    align: u64,
) -> Option<(u64, CUdeviceptr)> {
    let at = from.checked_next_multiple_of(align.max(GRANULE))?;
    let end = at.checked_add(bytes)?;
    (end <= to).then_some((to - from, at))
}
