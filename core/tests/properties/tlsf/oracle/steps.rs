//! The steps, each taken by the heap and by the intervals.

use cupola_core::tlsf::{AllocateError, Block, Entry, Hooks, RangeError, SplitError, Stale};

use super::{Interval, TAGS, World, pick};

/// What the heap chooses by, the least: the rank if it looks at everything for the lowest; class,
/// rank, size, offset.
type Key = (u64, (u32, u64), u64, u64, u64);

impl<const GRANULE: u64, const CANDIDATES: usize, const FURTHER: usize>
    World<GRANULE, CANDIDATES, FURTHER>
{
    pub(super) fn allocate(&mut self, size: u64, align: u64, tag: u8) {
        let request = self.request;
        let outcome = if request.0 >= TAGS {
            self.heap.allocate(size, align, tag)
        } else {
            let all = u64::MAX;
            let outcome = self.heap.allocate_below(size, align, tag, request, all);
            outcome.map(|(block, _)| block)
        };
        match (self.check_request(size, align), outcome) {
            (Err(error), outcome) => assert_eq!(outcome, Err(error)),
            (Ok((size, best)), Ok(block)) => {
                let at = self.interval_at(block.offset());
                self.check_choice(at, (block.offset(), size), align, best);
                assert_eq!(block.size(), size);
                self.carve(at, block, tag);
            }
            (Ok(_), Err(error)) => self.check_nodes(error),
        }
    }

    pub(super) fn allocate_below(&mut self, size: u64, align: u64, tag: u8, most: u64) {
        let found = self.heap.look(size, align, self.request);
        let request = self.request;
        let outcome = self.heap.allocate_below(size, align, tag, request, most);
        match (self.check_request(size, align), outcome) {
            (Err(error), outcome) => assert_eq!(outcome, Err(error)),
            (Ok((size, best)), Ok((block, was))) => {
                let at = self.interval_at(block.offset());
                let rank = self.check_choice(at, (block.offset(), size), align, best);
                assert!(rank <= most);
                assert_eq!(was, self.intervals[at].tag);
                self.carve(at, block, tag);
            }
            (Ok(_), Err(AllocateError::NoFit)) => assert!(found.unwrap().rank > most),
            (Ok(_), Err(error)) => self.check_nodes(error),
        }
    }

    pub(super) fn look(&mut self, size: u64, align: u64) {
        let outcome = self.heap.look(size, align, self.request);
        match (self.check_request(size, align), outcome) {
            (Err(error), outcome) => assert_eq!(outcome, Err(error)),
            (Ok((size, best)), Ok(place)) => {
                let at = self.interval_at(place.offset);
                let rank = self.check_choice(at, (place.offset, size), align, best);
                let free = self.intervals[at];
                assert_eq!((place.size, place.rank, place.data), (size, rank, free.tag));
                let name = self.heap.blocks().find_map(|entry| match entry {
                    Entry::Free(name, piece) if piece == free.piece() => Some(name),
                    _ => None,
                });
                self.places.push((place, name.unwrap()));
            }
            (Ok(_), Err(error)) => panic!("{error} while something fits"),
        }
    }

    pub(super) fn take(&mut self, which: usize, skew: u8, tag: u8) {
        let Some((mut place, name)) = pick(&self.places, which) else {
            return;
        };
        match skew % 16 {
            0 => place.offset = place.offset.wrapping_add(1),
            1 => place.offset = place.offset.wrapping_sub(GRANULE),
            2 => place.size = 0,
            // The end is the block's, beyond 2^64.
            3 => place.size = place.size.wrapping_sub(place.offset).wrapping_neg(),
            4 => place.size += GRANULE,
            5 => place.size = place.size.div_ceil(2),
            6 => place.rank += 1,
            _ => {}
        }
        let outcome = self.heap.take(place, tag, self.request);
        let whole = (place.offset | place.size).is_multiple_of(GRANULE) && place.size > 0;
        let free = self.heap.piece(name).filter(|_| outcome.is_err());
        let expected = match outcome {
            // The name may be gone with the block.
            Ok(block) => {
                assert!(whole);
                assert_eq!((block.offset(), block.size()), (place.offset, place.size));
                let at = self.interval_at(block.offset());
                let free = self.intervals[at];
                assert!(free.used.is_none() && place.offset + place.size <= free.end());
                assert!(self.rank((place.offset, place.size), &free.tag).is_some());
                self.carve(at, block, tag);
                return;
            }
            Err(error) => error,
        };
        let fits = free.is_some_and(|free| {
            let end = place.offset.checked_add(place.size);
            let inside = free.offset <= place.offset;
            let inside = inside && end.is_some_and(|end| end <= free.offset + free.size);
            inside && whole && self.rank((place.offset, place.size), &free.data).is_some()
        });
        if fits {
            self.check_nodes(expected);
        } else {
            assert_eq!(expected, AllocateError::NoFit);
        }
    }

    /// What the hooks say of a place for the present request.
    fn rank(&self, (offset, size): (u64, u64), tag: &u8) -> Option<u64> {
        let hooks = self.heap.hooks();
        hooks.rank(self.request, offset, size, tag)
    }

    /// The size in whole granules, and what the best place for it has, by what the heap is to
    /// choose.
    fn check_request(&self, size: u64, align: u64) -> Result<(u64, Key), AllocateError> {
        if !align.is_power_of_two() {
            return Err(AllocateError::Misaligned);
        }
        if size == 0 {
            return Err(AllocateError::Empty);
        }
        let size = size.checked_next_multiple_of(GRANULE);
        let size = size.ok_or(AllocateError::NoFit)?;
        let keys = self.intervals.iter();
        let best = keys.filter_map(|free| self.key(free, size, align)).min();
        best.map(|best| (size, best)).ok_or(AllocateError::NoFit)
    }

    /// The key of a free interval that holds the request.
    fn key(&self, free: &Interval, size: u64, align: u64) -> Option<Key> {
        let start = free.offset.checked_next_multiple_of(align)?;
        let fits = free.used.is_none() && free.end().checked_sub(start)? >= size;
        let rank = fits.then(|| self.rank((start, size), &free.tag))??;
        let cheap = if FURTHER == usize::MAX { rank } else { 0 };
        let class = class(free.size / GRANULE);
        Some((cheap, class, rank, free.size, free.offset))
    }

    /// Checks that the heap chose a place in an interval rightly. The rank of the place.
    fn check_choice(&self, at: usize, place: (u64, u64), align: u64, best: Key) -> u64 {
        let chosen = &self.intervals[at];
        let start = chosen.offset.checked_next_multiple_of(align);
        assert_eq!(Some(place.0), start);
        let key = self.key(chosen, place.1, align);
        let key = key.expect("the heap gave a place that does not fit");
        if CANDIDATES == usize::MAX {
            assert_eq!(key, best);
        }
        key.2
    }

    /// All that can go wrong with a request that fits.
    fn check_nodes(&self, error: AllocateError) {
        let AllocateError::NoNodes(missing) = error else {
            panic!("{error} while something fits");
        };
        assert!(missing > 0 && missing + self.heap.spare_nodes() <= 2);
    }

    pub(super) fn allocate_at(&mut self, offset: u64, size: u64, tag: u8) {
        let outcome = self.heap.allocate_at(offset, size, tag, self.request);
        if !offset.is_multiple_of(GRANULE) {
            return assert_eq!(outcome, Err(AllocateError::Misaligned));
        }
        let Some(end) = size
            .checked_next_multiple_of(GRANULE)
            .and_then(|size| offset.checked_add(size))
        else {
            return assert_eq!(outcome, Err(AllocateError::NoFit));
        };
        let holds = |free: &Interval| {
            let inside = free.offset <= offset && end <= free.end();
            let place = (offset, end - offset);
            free.used.is_none() && inside && self.rank(place, &free.tag).is_some()
        };
        match (self.intervals.iter().position(holds), outcome) {
            (None, outcome) => assert_eq!(outcome, Err(AllocateError::NoFit)),
            (Some(at), Ok(block)) => {
                assert_eq!((block.offset(), block.size()), (offset, end - offset));
                self.carve(at, block, tag);
            }
            (Some(at), Err(error)) => {
                let free = self.intervals[at];
                let needed = u32::from(free.offset < offset) + u32::from(end < free.end());
                let missing = needed.saturating_sub(self.heap.spare_nodes());
                assert!(missing > 0);
                assert_eq!(error, AllocateError::NoNodes(missing));
            }
        }
    }

    pub(super) fn carve(&mut self, at: usize, block: Block, tag: u8) {
        let whole = self.intervals.remove(at);
        let rest = |offset: u64, end: u64| Interval {
            offset,
            size: end - offset,
            tag: self
                .heap
                .hooks()
                .split(&whole.piece(), offset, end - offset),
            used: None,
        };
        let end = block.offset() + block.size();
        let used = Interval {
            offset: block.offset(),
            size: block.size(),
            tag,
            used: Some(block),
        };
        let parts = [
            rest(whole.offset, block.offset()),
            used,
            rest(end, whole.end()),
        ];
        let parts = parts.into_iter().filter(|part| part.size > 0);
        self.intervals.splice(at..at, parts);
    }

    pub(super) fn free(&mut self, which: usize, tag: u8) {
        let Some(block) = pick(&self.used(), which) else {
            return;
        };
        let at = self.interval_at(block.offset());
        self.intervals[at].used = None;
        self.intervals[at].tag = tag;
        let at = self.merge_around(at).unwrap_or(at);
        let name = self.heap.free(block, tag).unwrap();
        assert_eq!(self.heap.piece(name), Some(self.intervals[at].piece()));
        self.freed.push(block);
        self.names.push(name);
    }

    pub(super) fn split(&mut self, which: usize, size: u64) {
        if let Some(gone) = pick(&self.freed, which) {
            assert_eq!(self.heap.split(gone, GRANULE), Err(SplitError::Stale));
        }
        let Some(block) = pick(&self.used(), which) else {
            return;
        };
        let spare = self.heap.spare_nodes();
        let outcome = self.heap.split(block, size);
        if size == 0 || size >= block.size() || !size.is_multiple_of(GRANULE) {
            return assert_eq!(outcome, Err(SplitError::Misfit));
        }
        if spare == 0 {
            return assert_eq!(outcome, Err(SplitError::NoNodes));
        }
        let (left, right) = outcome.unwrap();
        let at = self.interval_at(block.offset());
        let part = |part: Block| Interval {
            offset: part.offset(),
            size: part.size(),
            used: Some(part),
            ..self.intervals[at]
        };
        let parts = [part(left), part(right)];
        assert_eq!((left.offset(), left.size()), (block.offset(), size));
        assert_eq!(right.offset() + right.size(), block.offset() + block.size());
        self.intervals.splice(at..=at, parts);
        self.freed.push(block);
    }

    pub(super) fn remove(&mut self, which: usize) {
        if let Some(gone) = pick(&self.freed, which) {
            assert_eq!(self.heap.remove(gone), Err(Stale));
        }
        if let Some(block) = pick(&self.used(), which) {
            assert_eq!(self.heap.remove(block), Ok(()));
            self.intervals.remove(self.interval_at(block.offset()));
            self.freed.push(block);
        }
    }

    /// Merges the interval with its left and then with its right neighbour, if it may, and
    /// says where it is then; `None` if neither merged.
    pub(super) fn merge_around(&mut self, at: usize) -> Option<usize> {
        let left = at > 0 && self.merge_with_next(at - 1);
        let at = at - usize::from(left);
        let right = self.merge_with_next(at);
        (left || right).then_some(at)
    }

    pub(super) fn merge_with_next(&mut self, at: usize) -> bool {
        let (Some(left), Some(right)) = (self.intervals.get(at), self.intervals.get(at + 1)) else {
            return false;
        };
        let free = left.used.is_none() && right.used.is_none() && left.end() == right.offset;
        let (on_left, on_right) = (left.piece(), right.piece());
        let hooks = self.heap.hooks();
        if !free || !hooks.may_merge(&on_left, &on_right) {
            return false;
        }
        let tag = hooks.merge(&on_left, &on_right);
        let gone = self.intervals.remove(at + 1);
        self.intervals[at].size += gone.size;
        self.intervals[at].tag = tag;
        true
    }

    pub(super) fn coalesce_all(&mut self) {
        let (mut merges, mut at) = (0, 0);
        while at < self.intervals.len() {
            if self.merge_with_next(at) {
                merges += 1;
                at = at.saturating_sub(1);
            } else {
                at += 1;
            }
        }
        assert_eq!(self.heap.coalesce_all(), merges);
        assert_eq!(self.heap.coalesce_all(), 0);
    }

    pub(super) fn add_range(&mut self, start: u64, size: u64, tag: u8) {
        let spare = self.heap.spare_nodes();
        let outcome = self.heap.add_range(start, size, tag);
        let refused = if size == 0 {
            Some(RangeError::Empty)
        } else if !start.is_multiple_of(GRANULE) || !size.is_multiple_of(GRANULE) {
            Some(RangeError::Misaligned)
        } else if start.checked_add(size).is_none() {
            Some(RangeError::TooLarge)
        } else if self
            .intervals
            .iter()
            .any(|other| other.offset < start + size && start < other.end())
        {
            Some(RangeError::Overlap)
        } else {
            None
        };
        if let Some(refused) = refused {
            return assert_eq!(outcome, Err(refused));
        }
        let at = self.intervals.partition_point(|other| other.offset < start);
        let before = self.intervals.clone();
        let new = Interval {
            offset: start,
            size,
            tag,
            used: None,
        };
        self.intervals.insert(at, new);
        let merged = self.merge_around(at);
        if merged.is_none() && spare == 0 {
            self.intervals = before;
            return assert_eq!(outcome, Err(RangeError::NoNodes));
        }
        let name = outcome.unwrap();
        let at = merged.unwrap_or(at);
        assert_eq!(self.heap.piece(name), Some(self.intervals[at].piece()));
        self.names.push(name);
    }
}

/// A size's class, computed the long way: its power of two, and the 64th within it.
fn class(granules: u64) -> (u32, u64) {
    let power = granules.ilog2();
    match power {
        // Below 64 granules every size has a class of its own.
        0..6 => (5, granules),
        _ => (power, ((u128::from(granules) * 64) >> power) as u64 - 64),
    }
}
