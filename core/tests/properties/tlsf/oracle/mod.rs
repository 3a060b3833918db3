//! A heap and the plainest account of it, a list of intervals, side by side. The fuzz target
//! `tlsf` includes this module.

mod op;
mod rules;
mod steps;

use cupola_core::Tlsf;
use cupola_core::tlsf::{Block, Entry, FreeBlock, Node, Piece, Place, Stale};

pub(crate) use op::{Op, TAGS};
use rules::{Forbidden, Rules};

/// The last base leaves room for 32 KiB below 2^64.
const BASES: [u64; 3] = [0, 1 << 40, u64::MAX - 0x7fff];

/// The history that `steps` make on a heap of 4 KiB, with that many `nodes` at first.
pub(crate) fn replay<const GRANULE: u64, const CANDIDATES: usize, const FURTHER: usize>(
    nodes: u8,
    base: u8,
    steps: impl IntoIterator<Item = [u8; 4]>,
) {
    let start = BASES[usize::from(base) % BASES.len()];
    let mut world = World::<GRANULE, CANDIDATES, FURTHER>::new(usize::from(nodes % 64));
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
pub(crate) struct World<const GRANULE: u64, const CANDIDATES: usize, const FURTHER: usize> {
    heap: Tlsf<Vec<Node<u8>>, Rules<CANDIDATES, FURTHER>, GRANULE>,
    nodes: usize,
    /// Of all requests until the next change of the rules.
    request: Forbidden,
    intervals: Vec<Interval>,
    freed: Vec<Block>,
    names: Vec<FreeBlock>,
    /// Places that were looked up, with the free block of each.
    places: Vec<(Place<u8>, FreeBlock)>,
}

impl<const GRANULE: u64, const CANDIDATES: usize, const FURTHER: usize>
    World<GRANULE, CANDIDATES, FURTHER>
{
    pub(crate) fn new(nodes: usize) -> Self {
        let rules = Rules { complete: 0 };
        Self {
            heap: Tlsf::new(vec![Node::default(); nodes], rules),
            nodes,
            request: Forbidden::default(),
            intervals: Vec::new(),
            freed: Vec::new(),
            names: Vec::new(),
            places: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        match op {
            Op::Allocate { size, align, tag } => self.allocate(size, align, tag),
            Op::AllocateBelow {
                size,
                align,
                tag,
                most,
            } => self.allocate_below(size, align, tag, most),
            Op::Look { size, align } => self.look(size, align),
            Op::Take { which, skew, tag } => self.take(which, skew, tag),
            Op::AllocateAt { offset, size, tag } => self.allocate_at(offset, size, tag),
            Op::Free { which, tag } => self.free(which, tag),
            Op::FreeAgain { which } => {
                if let Some(block) = pick(&self.freed, which) {
                    assert_eq!(self.heap.free(block, 0), Err(Stale));
                }
            }
            Op::Split { which, size } => self.split(which, size),
            Op::Remove { which } => self.remove(which),
            Op::UpdateFree { from, to } => {
                let changed = |tag: u8| if tag == from { to } else { tag };
                self.heap.update_free(|piece| changed(piece.data));
                for free in self.intervals.iter_mut().filter(|it| it.used.is_none()) {
                    free.tag = changed(free.tag);
                }
            }
            Op::Piece { which } => {
                if let Some(piece) = pick(&self.names, which).and_then(|it| self.heap.piece(it)) {
                    let named = self.intervals[self.interval_at(piece.offset)];
                    assert_eq!((named.used, named.piece()), (None, piece));
                }
            }
            Op::CoalesceAll => self.coalesce_all(),
            Op::Rules {
                complete,
                forbidden,
            } => {
                *self.heap.hooks_mut() = Rules { complete };
                self.request = Forbidden(forbidden % (2 * TAGS));
            }
            Op::AddRange { start, size, tag } => self.add_range(start, size, tag),
            Op::Lend { nodes } => {
                self.heap.lend(vec![Node::default(); nodes]);
                self.nodes += nodes;
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
        assert_eq!(
            self.heap.spare_nodes() as usize,
            self.nodes - self.intervals.len()
        );
    }
}

fn pick<T: Copy>(list: &[T], which: usize) -> Option<T> {
    (!list.is_empty()).then(|| list[which % list.len()])
}
