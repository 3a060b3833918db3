//! A heap and the plainest account of it, a list of intervals, side by side. The fuzz target
//! `tlsf` includes this file.

use cupola_core::Tlsf;
use cupola_core::tlsf::{
    AllocateError, Block, Entry, FreeBlock, Hooks, Node, Piece, RangeError, Stale,
};

/// The last base leaves room for 32 KiB below 2^64.
const BASES: [u64; 3] = [0, 1 << 40, u64::MAX - 0x7fff];

/// The history that `steps` make on a heap of 4 KiB, with that many `nodes` at first.
pub(crate) fn replay<const GRANULE: u64, const CANDIDATES: usize>(
    nodes: u8,
    base: u8,
    steps: impl IntoIterator<Item = [u8; 4]>,
) {
    let start = BASES[usize::from(base) % BASES.len()];
    let mut world = World::<GRANULE, CANDIDATES>::new(usize::from(nodes % 64));
    world.apply(Op::AddRange {
        start,
        size: 4096,
        tag: 0,
    });
    for step in steps {
        world.apply(Op::new(step, start));
    }
    world.finish();
}

/// What the heap's owner can do. Numbers choose among what there is, by remainder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Allocate {
        size: u64,
        align: u64,
        tag: u8,
    },
    AllocateAt {
        offset: u64,
        size: u64,
        tag: u8,
    },
    Free {
        which: usize,
        tag: u8,
    },
    FreeAgain {
        which: usize,
    },
    SetData {
        which: usize,
        tag: u8,
    },
    SetPieceData {
        which: usize,
        tag: u8,
    },
    Coalesce {
        which: usize,
    },
    CoalesceAll,
    /// Which tags are complete, as bits, and which tag no request may use.
    Rules {
        complete: u8,
        forbidden: u8,
    },
    AddRange {
        start: u64,
        size: u64,
        tag: u8,
    },
    Extend {
        size: u64,
        tag: u8,
    },
    Truncate {
        end: u64,
    },
    Lend {
        nodes: usize,
    },
    Replace {
        nodes: usize,
    },
}

impl Op {
    /// Four bytes make an operation on a heap that begins at `base`.
    pub(crate) fn new([kind, a, b, c]: [u8; 4], base: u64) -> Self {
        let (which, tag) = (usize::from(a), c % TAGS);
        let size = match b {
            255 => u64::MAX - u64::from(a),
            254 => 1 << (a % 64),
            253 => 0,
            _ => u64::from(a) << (b % 5),
        };
        let place = |unit| base.saturating_add(u64::from(b) * unit);
        match kind % 32 {
            0..12 => {
                let align = match c {
                    255 => 3,
                    254 => 0,
                    253 => 1 << 63,
                    _ => 1 << (c / 4 % 10),
                };
                Self::Allocate { size, align, tag }
            }
            12..20 => Self::Free { which, tag },
            20 => Self::FreeAgain { which },
            21 => Self::SetData { which, tag },
            22 => Self::SetPieceData { which, tag },
            23 => Self::Coalesce { which },
            24 => Self::CoalesceAll,
            25 => Self::Rules {
                complete: a,
                forbidden: b,
            },
            26 => Self::AllocateAt {
                offset: place(8),
                size: u64::from(a) + 1,
                tag,
            },
            27 => Self::AddRange {
                start: place(64),
                size: u64::from(a) * 16,
                tag,
            },
            28 => Self::Extend {
                size: u64::from(a) * 16,
                tag,
            },
            29 => Self::Truncate { end: place(32) },
            30 => Self::Lend { nodes: which % 8 },
            _ => Self::Replace { nodes: which },
        }
    }
}

/// Tags stand for streams and tickets: blocks of different tags merge when both are complete.
pub(crate) const TAGS: u8 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Rules<const CANDIDATES: usize> {
    complete: u8,
    forbidden: u8,
}

impl<const CANDIDATES: usize> Hooks for Rules<CANDIDATES> {
    type Data = u8;
    const CANDIDATES: usize = CANDIDATES;
    const CANDIDATES_ABOVE: usize = CANDIDATES;

    fn may_merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> bool {
        let complete = |tag: u8| self.complete >> tag & 1 == 1;
        left.data == right.data || complete(left.data) && complete(right.data)
    }

    fn merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> u8 {
        left.data.min(right.data)
    }

    fn split(&self, whole: &Piece<u8>, offset: u64, size: u64) -> u8 {
        // Another tag now and then, so that a piece with the data of the other is noticed.
        match (offset ^ size) % 7 {
            0 => (whole.data + 1) % TAGS,
            _ => whole.data,
        }
    }

    fn rank(&self, offset: u64, size: u64, data: &u8) -> Option<u64> {
        (*data != self.forbidden).then_some((offset / 64 + size) % 3)
    }
}

/// A used or free interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    offset: u64,
    size: u64,
    tag: u8,
    used: Option<Block>,
}

impl Interval {
    fn end(&self) -> u64 {
        self.offset + self.size
    }

    fn piece(&self) -> Piece<u8> {
        Piece {
            offset: self.offset,
            size: self.size,
            data: self.tag,
        }
    }
}

/// The heap, and the intervals that it should have.
#[derive(Clone, Debug)]
pub(crate) struct World<const GRANULE: u64, const CANDIDATES: usize> {
    heap: Tlsf<Vec<Node<u8>>, Rules<CANDIDATES>, GRANULE>,
    nodes: usize,
    intervals: Vec<Interval>,
    freed: Vec<Block>,
    names: Vec<FreeBlock>,
}

impl<const GRANULE: u64, const CANDIDATES: usize> World<GRANULE, CANDIDATES> {
    pub(crate) fn new(nodes: usize) -> Self {
        let rules = Rules {
            complete: 0,
            forbidden: TAGS,
        };
        Self {
            heap: Tlsf::new(vec![Node::default(); nodes], rules),
            nodes,
            intervals: Vec::new(),
            freed: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        match op {
            Op::Allocate { size, align, tag } => self.allocate(size, align, tag),
            Op::AllocateAt { offset, size, tag } => self.allocate_at(offset, size, tag),
            Op::Free { which, tag } => self.free(which, tag),
            Op::FreeAgain { which } => {
                if let Some(block) = pick(&self.freed, which) {
                    assert_eq!(self.heap.free(block, 0), Err(Stale));
                    assert_eq!(self.heap.data(block), Err(Stale));
                }
            }
            Op::SetData { which, tag } => {
                if let Some(block) = pick(&self.used(), which) {
                    let at = self.interval_at(block.offset());
                    assert_eq!(self.heap.data(block), Ok(self.intervals[at].tag));
                    assert_eq!(self.heap.set_data(block, tag), Ok(()));
                    self.intervals[at].tag = tag;
                }
            }
            Op::SetPieceData { which, tag } => match self.free_name(which) {
                Some((name, Some(at))) => {
                    assert_eq!(self.heap.set_piece_data(name, tag), Ok(()));
                    self.intervals[at].tag = tag;
                }
                Some((name, None)) => assert_eq!(self.heap.set_piece_data(name, tag), Err(Stale)),
                None => {}
            },
            Op::Coalesce { which } => match self.free_name(which) {
                Some((name, Some(mut at))) => {
                    while let Some(merged) = self.merge_around(at) {
                        at = merged;
                    }
                    let name = self.heap.coalesce(name).unwrap();
                    assert_eq!(self.heap.piece(name), Some(self.intervals[at].piece()));
                    self.names.push(name);
                }
                Some((name, None)) => assert_eq!(self.heap.coalesce(name), Err(Stale)),
                None => {}
            },
            Op::CoalesceAll => self.coalesce_all(),
            Op::Rules {
                complete,
                forbidden,
            } => {
                *self.heap.hooks_mut() = Rules {
                    complete,
                    forbidden: forbidden % (2 * TAGS),
                };
            }
            Op::AddRange { start, size, tag } => self.add_range(start, size, tag, false),
            Op::Extend { size, tag } => {
                let end = self.intervals.last().map_or(0, Interval::end);
                self.add_range(end, size, tag, true);
            }
            Op::Truncate { end } => self.truncate(end),
            Op::Lend { nodes } => {
                self.heap.lend(vec![Node::default(); nodes]);
                self.nodes += nodes;
            }
            Op::Replace { nodes } => {
                let longer = vec![Node::new(TAGS); nodes];
                match self.heap.replace_nodes(longer) {
                    Ok(old) => {
                        assert_eq!(old.len(), self.nodes);
                        self.nodes = nodes;
                    }
                    Err(refused) => assert!(refused.len() == nodes && nodes < self.nodes),
                }
            }
        }
        self.compare();
    }

    /// Frees everything, lets everything merge, and sees that nothing is in pieces.
    pub(crate) fn finish(mut self) {
        while !self.used().is_empty() {
            self.apply(Op::Free { which: 0, tag: 1 });
        }
        self.apply(Op::Rules {
            complete: u8::MAX,
            forbidden: TAGS,
        });
        self.apply(Op::CoalesceAll);
        let touch = |pair: &[Interval]| pair[0].end() == pair[1].offset;
        assert!(!self.intervals.windows(2).any(touch));
        assert_eq!(self.heap.usage().used_bytes, 0);
        if let [_] = self.intervals[..] {
            assert_eq!(self.heap.usage().fragmentation(), 0.0);
        }
    }

    fn allocate(&mut self, size: u64, align: u64, tag: u8) {
        let outcome = self.heap.allocate(size, align, tag);
        if !align.is_power_of_two() {
            return assert_eq!(outcome, Err(AllocateError::Misaligned));
        }
        if size == 0 {
            return assert_eq!(outcome, Err(AllocateError::Empty));
        }
        let Some(size) = size.checked_next_multiple_of(GRANULE) else {
            return assert_eq!(outcome, Err(AllocateError::NoFit));
        };
        let start = |free: &Interval| free.offset.checked_next_multiple_of(align);
        // What the heap is to choose: class, rank, size, offset.
        let key = |free: &Interval| {
            let start = start(free)?;
            let fits = free.used.is_none() && free.end().checked_sub(start)? >= size;
            let rank = fits.then(|| self.heap.hooks().rank(start, size, &free.tag))??;
            Some((class(free.size / GRANULE), rank, free.size, free.offset))
        };
        let Some(best) = self.intervals.iter().filter_map(key).min() else {
            return assert_eq!(outcome, Err(AllocateError::NoFit));
        };
        match outcome {
            Ok(block) => {
                let at = self.interval_at(block.offset());
                let chosen = self.intervals[at];
                assert_eq!(Some(block.offset()), start(&chosen));
                assert_eq!(block.size(), size);
                let key = key(&chosen).expect("the heap gave a place that does not fit");
                if CANDIDATES == usize::MAX {
                    assert_eq!(key, best);
                }
                self.carve(at, block, tag);
            }
            Err(AllocateError::NoNodes(missing)) => {
                assert!(missing > 0 && missing + self.heap.spare_nodes() <= 2);
            }
            Err(error) => panic!("{error} while {best:?} fits"),
        }
    }

    fn allocate_at(&mut self, offset: u64, size: u64, tag: u8) {
        let outcome = self.heap.allocate_at(offset, size, tag);
        if !offset.is_multiple_of(GRANULE) {
            return assert_eq!(outcome, Err(AllocateError::Misaligned));
        }
        let Some(end) = size
            .checked_next_multiple_of(GRANULE)
            .and_then(|size| offset.checked_add(size))
        else {
            return assert_eq!(outcome, Err(AllocateError::NoFit));
        };
        let holds =
            |free: &Interval| free.used.is_none() && free.offset <= offset && end <= free.end();
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

    fn carve(&mut self, at: usize, block: Block, tag: u8) {
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

    fn free(&mut self, which: usize, tag: u8) {
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

    /// Merges the interval with its left and then with its right neighbour, if it may, and
    /// says where it is then; `None` if neither merged.
    fn merge_around(&mut self, at: usize) -> Option<usize> {
        let left = at > 0 && self.merge_with_next(at - 1);
        let at = at - usize::from(left);
        let right = self.merge_with_next(at);
        (left || right).then_some(at)
    }

    fn merge_with_next(&mut self, at: usize) -> bool {
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

    fn coalesce_all(&mut self) {
        let (mut merges, mut at) = (0, 0);
        while at < self.intervals.len() {
            if self.merge_with_next(at) {
                merges += 1;
            } else {
                at += 1;
            }
        }
        assert_eq!(self.heap.coalesce_all(), merges);
    }

    fn add_range(&mut self, start: u64, size: u64, tag: u8, at_the_end: bool) {
        let spare = self.heap.spare_nodes();
        let outcome = if at_the_end {
            self.heap.extend(size, tag)
        } else {
            self.heap.add_range(start, size, tag)
        };
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

    fn truncate(&mut self, end: u64) {
        let outcome = self.heap.truncate(end);
        if !end.is_multiple_of(GRANULE) {
            return assert_eq!(outcome, Err(RangeError::Misaligned));
        }
        if self
            .intervals
            .iter()
            .any(|other| other.used.is_some() && other.end() > end)
        {
            return assert_eq!(outcome, Err(RangeError::InUse));
        }
        let bytes = |intervals: &[Interval]| intervals.iter().map(|it| it.size).sum::<u64>();
        let before = bytes(&self.intervals);
        self.intervals.retain(|it| it.offset < end);
        if let Some(last) = self.intervals.last_mut() {
            last.size = last.size.min(end - last.offset);
        }
        assert_eq!(outcome, Ok(before - bytes(&self.intervals)));
    }

    fn used(&self) -> Vec<Block> {
        self.intervals.iter().filter_map(|it| it.used).collect()
    }

    /// The interval that holds `offset`.
    fn interval_at(&self, offset: u64) -> usize {
        let holds = |it: &Interval| it.offset <= offset && offset < it.end();
        self.intervals
            .iter()
            .position(holds)
            .expect("no interval is there")
    }

    /// Some name of a free block, and the interval that it names unless it is stale.
    fn free_name(&self, which: usize) -> Option<(FreeBlock, Option<usize>)> {
        let name = pick(&self.names, which)?;
        let at = self.heap.piece(name).map(|piece| {
            let at = self.interval_at(piece.offset);
            let interval = self.intervals[at];
            assert!(interval.used.is_none());
            assert_eq!(interval.piece(), piece);
            at
        });
        Some((name, at))
    }

    /// Everything that the heap says of itself against the intervals.
    fn compare(&self) {
        self.heap.check().unwrap();
        let entry = |entry: Entry<u8>| match entry {
            Entry::Used(block, tag) => Interval {
                offset: block.offset(),
                size: block.size(),
                tag,
                used: Some(block),
            },
            Entry::Free(name, piece) => {
                assert_eq!(self.heap.piece(name), Some(piece));
                Interval {
                    offset: piece.offset,
                    size: piece.size,
                    tag: piece.data,
                    used: None,
                }
            }
        };
        let blocks: Vec<_> = self.heap.blocks().map(entry).collect();
        assert_eq!(blocks, self.intervals);
        let mut backwards: Vec<_> = self.heap.blocks().rev().map(entry).collect();
        backwards.reverse();
        assert_eq!(backwards, self.intervals);
        assert_eq!(self.heap.blocks().len(), self.intervals.len());

        let usage = self.heap.usage();
        let of = |used: bool| {
            self.intervals
                .iter()
                .filter(move |it| it.used.is_some() == used)
        };
        assert_eq!(usage.used_bytes, of(true).map(|it| it.size).sum::<u64>());
        assert_eq!(usage.free_bytes, of(false).map(|it| it.size).sum::<u64>());
        assert_eq!(usage.used_blocks as usize, of(true).count());
        assert_eq!(usage.free_blocks as usize, of(false).count());
        assert_eq!(
            usage.largest_free,
            of(false).map(|it| it.size).max().unwrap_or(0)
        );
        assert!((0.0..1.0).contains(&usage.fragmentation()));
        assert_eq!(
            self.heap.end(),
            self.intervals.last().map_or(0, Interval::end)
        );
        assert_eq!(
            self.heap.spare_nodes() as usize,
            self.nodes - self.intervals.len()
        );
    }
}

fn pick<T: Copy>(list: &[T], which: usize) -> Option<T> {
    (!list.is_empty()).then(|| list[which % list.len()])
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
