//! Places that a search by size does not find: anywhere in a piece, and over neighbours. For
//! requests that would get nothing otherwise: the time is linear in blocks and pages.

use super::*;

impl Heap {
    /// The smallest stretch of mapped pages within a free piece that `stream` may use and that
    /// holds the request: its address. A search by size looks at the beginning of pieces only,
    /// and not at all of them. The time is linear in blocks and pages.
    pub(in crate::memory) fn mapped_stretch(
        &mut self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
    ) -> Option<CUdeviceptr> {
        self.rules_mut().request = stream;
        let align = align.max(GRANULE);
        let mut best: Option<(u64, CUdeviceptr)> = None;
        for entry in self.blocks() {
            let Entry::Free(_, piece) = entry else {
                continue;
            };
            if piece.size < bytes {
                continue;
            }
            self.rules().mapped_stretches(&piece, |from, to| {
                let at = from.next_multiple_of(align);
                let fits = at.checked_add(bytes).is_some_and(|end| end <= to);
                if fits && best.is_none_or(|best| (to - from, at) < best) {
                    best = Some((to - from, at));
                }
            });
        }
        best.map(|(_, at)| at)
    }

    /// The place that misses the fewest pages of all that `stream` may use, but fewer than `below`:
    /// its address, and how many. A search by size looks at the beginning of pieces only, and not at
    /// all of them. The time is linear in blocks and pages.
    pub(in crate::memory) fn cheapest(
        &mut self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
        below: u64,
    ) -> Option<(CUdeviceptr, u64)> {
        self.rules_mut().request = stream;
        let wanted = (bytes, align.max(GRANULE));
        let mut best = None;
        let mut most = below.checked_sub(1)?;
        for entry in self.blocks() {
            let Entry::Free(_, piece) = entry else {
                continue;
            };
            if let Some((missing, at)) = self.rules().cheapest(&piece, wanted, most) {
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
    /// what it was cut from.
    pub(in crate::memory) fn take_usable_at(
        &mut self,
        address: CUdeviceptr,
        bytes: u64,
        stream: StreamIndex,
    ) -> Option<(Block, Stamp)> {
        self.rules_mut().request = stream;
        let was = self.stamp_at(address)?;
        if !self.rules().is_usable(was) {
            return None;
        }
        Some((self.take_at(address, bytes)?, was))
    }

    /// Merges the neighbours that hold the request together, in the smallest stretch of mapped
    /// pages that `stream` may use, whoever else may: the address. The time is linear in blocks
    /// and pages.
    pub(in crate::memory) fn join_stretch(
        &mut self,
        bytes: u64,
        align: u64,
        stream: StreamIndex,
    ) -> Option<CUdeviceptr> {
        self.rules_mut().request = stream;
        let align = align.max(GRANULE);
        let mut stretches: Vec<(CUdeviceptr, CUdeviceptr)> = Vec::new();
        let mut pieces = Vec::new();
        for entry in self.blocks() {
            let Entry::Free(_, piece) = entry else {
                continue;
            };
            pieces.push((piece.offset, piece.offset + piece.size));
            let rules = self.rules();
            rules.mapped_stretches(&piece, |from, to| match stretches.last_mut() {
                Some(last) if last.1 == from && !rules.begins(from) => last.1 = to,
                _ => stretches.push((from, to)),
            });
        }
        let fits = stretches.into_iter().filter_map(|(from, to)| {
            let at = from.checked_next_multiple_of(align)?;
            let end = at.checked_add(bytes)?;
            (end <= to).then_some((to - from, at))
        });
        let (_, at) = fits.min()?;
        let mut held = pieces
            .into_iter()
            .filter(|&(from, to)| from < at + bytes && at < to);
        let (from, to) = held.next()?;
        let to = held.next_back().map_or(to, |(_, to)| to);
        self.rules_mut().joined = Some((from, to));
        self.tlsf.coalesce_all();
        self.rules_mut().joined = None;
        self.ask_pieces();
        Some(at)
    }

    /// The stamp of the free piece at an address.
    pub(in crate::memory) fn stamp_at(&self, address: CUdeviceptr) -> Option<Stamp> {
        self.blocks().find_map(|entry| match entry {
            Entry::Free(_, piece) if address.wrapping_sub(piece.offset) < piece.size => {
                Some(piece.data)
            }
            _ => None,
        })
    }
}
