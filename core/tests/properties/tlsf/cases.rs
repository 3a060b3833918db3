//! The edges: sizes, nodes, names and complete scans.

use std::iter::repeat_n;

use cupola_core::Tlsf;
use cupola_core::tlsf::{AllocateError, Hooks, Node, Piece, RangeError, Stale};

type Heap<const GRANULE: u64 = 1> = Tlsf<Vec<Node>, (), GRANULE>;

fn heap<const GRANULE: u64>(size: u64) -> Heap<GRANULE> {
    let mut heap = Heap::new(vec![Node::default(); 1000], ());
    heap.add_range(0, size, ()).unwrap();
    heap
}

/// Without it a block could be missed at the border of its class: a free block of each size
/// around it must serve exactly the requests up to its size.
#[test]
fn a_block_serves_the_requests_that_fit_and_no_other() {
    let borders = (0..64).flat_map(|power| {
        let columns = [0, 1, 2, 62, 63].map(|column| (1u64 << power) + (column << power >> 6));
        columns.into_iter().chain([u64::MAX])
    });
    for border in borders {
        for size in [border.saturating_sub(1), border, border.saturating_add(1)] {
            if size == 0 {
                continue;
            }
            let mut heap = heap::<1>(size);
            if let Some(more) = size.checked_add(1) {
                assert_eq!(heap.allocate(more, 1, ()), Err(AllocateError::NoFit));
            }
            let block = heap.allocate(size, 1, ()).unwrap();
            assert_eq!((block.offset(), block.size()), (0, size));
            assert_eq!(heap.usage().free_bytes, 0);
            heap.free(block, ()).unwrap();
            let less = heap.allocate(size.div_ceil(2), 1, ()).unwrap();
            assert_eq!(heap.usage().largest_free, size / 2);
            heap.free(less, ()).unwrap();
            assert_eq!(heap.usage().largest_free, size);
        }
    }
}

/// Without it arithmetic near 2^64 could wrap and give a place that is not there.
#[test]
fn sizes_and_alignments_near_the_end_of_64_bits_are_refused_or_served() {
    let mut heap = heap::<1>(u64::MAX);
    for align in [1, 2, 1 << 63] {
        let block = heap.allocate(u64::MAX, align, ()).unwrap();
        heap.free(block, ()).unwrap();
    }
    let block = heap.allocate(1, 1, ()).unwrap();
    assert_eq!(heap.allocate(u64::MAX, 1, ()), Err(AllocateError::NoFit));
    assert_eq!(
        heap.allocate((1 << 63) + 1, 1 << 63, ()),
        Err(AllocateError::NoFit)
    );
    let high = heap.allocate((1 << 63) - 1, 1 << 63, ()).unwrap();
    assert_eq!(high.offset(), 1 << 63);
    assert_eq!(heap.allocate(1, 1 << 63, ()), Err(AllocateError::NoFit));
    assert_eq!(heap.add_range(u64::MAX, 1, ()), Err(RangeError::TooLarge));
    heap.free(block, ()).unwrap();
    heap.free(high, ()).unwrap();
    assert_eq!(heap.usage().largest_free, u64::MAX);

    let mut heap = self::heap::<256>(u64::MAX - 255);
    assert_eq!(heap.allocate(u64::MAX, 1, ()), Err(AllocateError::NoFit));
    assert_eq!(
        heap.allocate(u64::MAX - 255, 1, ()).unwrap().size(),
        u64::MAX - 255
    );
}

/// Without it a request of nothing could name a block of nothing.
#[test]
fn nothing_and_odd_alignments_are_errors() {
    let mut heap = heap::<16>(1024);
    assert_eq!(heap.allocate(0, 1, ()), Err(AllocateError::Empty));
    assert_eq!(heap.allocate_at(0, 0, (), ()), Err(AllocateError::Empty));
    for align in [0, 3, 24, u64::MAX] {
        assert_eq!(heap.allocate(1, align, ()), Err(AllocateError::Misaligned));
    }
    assert_eq!(
        heap.allocate_at(8, 16, (), ()),
        Err(AllocateError::Misaligned)
    );
    assert_eq!(heap.add_range(2048, 0, ()), Err(RangeError::Empty));
    assert_eq!(heap.add_range(2048, 8, ()), Err(RangeError::Misaligned));
    assert_eq!(heap.usage().used_blocks, 0);
}

/// Without it a heap could refuse a request because the fitting block lies deep in its
/// class: 99 blocks of the class are too small, and the one that fits was freed first.
#[test]
fn the_last_block_of_a_class_that_fits_is_found() {
    let mut heap = heap::<1>(1_000_000);
    let sizes = [8191].into_iter().chain(repeat_n(8130, 99));
    let blocks: Vec<_> = sizes
        .map(|size| {
            let block = heap.allocate(size, 1, ()).unwrap();
            (block, heap.allocate(1, 1, ()).unwrap())
        })
        .collect();
    let rest = heap.usage().largest_free;
    heap.allocate(rest, 1, ()).unwrap();
    for (block, _wall) in blocks {
        heap.free(block, ()).unwrap();
    }
    assert_eq!(heap.allocate(8192, 1, ()), Err(AllocateError::NoFit));
    let block = heap.allocate(8190, 1, ()).unwrap();
    assert_eq!(block.offset(), 0);
}

/// As above for alignment: one block of a hundred has an aligned place.
#[test]
fn the_only_aligned_place_is_found() {
    let mut heap = heap::<1>(1 << 20);
    let blocks: Vec<_> = (0..200)
        .map(|_| heap.allocate(64, 1, ()).unwrap())
        .collect();
    let rest = heap.usage().largest_free;
    heap.allocate(rest, 1, ()).unwrap();
    // Every second block is free; only the one at 8192 is aligned to 8192 (and 0 is used).
    for block in blocks.iter().step_by(2).skip(1) {
        heap.free(*block, ()).unwrap();
    }
    assert_eq!(heap.allocate(64, 8192, ()).unwrap().offset(), 8192);
    assert_eq!(heap.allocate(64, 8192, ()), Err(AllocateError::NoFit));
}

/// Without it the same requests could lie elsewhere in another run, and a captured graph
/// have to be recorded again.
#[test]
fn of_equal_blocks_the_lowest_is_used() {
    for order in [[0, 2], [2, 0]] {
        let mut heap = heap::<1>(4000);
        let blocks = [0; 4].map(|_| heap.allocate(1000, 1, ()).unwrap());
        for which in order {
            heap.free(blocks[which], ()).unwrap();
        }
        assert_eq!(heap.allocate(1000, 1, ()).unwrap().offset(), 0);
    }
}

/// Without it running out of nodes could lose bytes, or freeing could fail for want of one.
#[test]
fn running_out_of_nodes_changes_nothing() {
    let mut heap = Tlsf::<_, (), 1>::new([Node::default(); 2], ());
    heap.add_range(0, 100, ()).unwrap();
    let first = heap.allocate(10, 1, ()).unwrap();
    let before = heap.usage();
    assert_eq!(heap.allocate(10, 1, ()), Err(AllocateError::NoNodes(1)));
    assert_eq!(heap.allocate(10, 16, ()), Err(AllocateError::NoNodes(2)));
    assert_eq!(heap.add_range(200, 10, ()), Err(RangeError::NoNodes));
    assert_eq!(heap.usage(), before);
    assert_eq!(heap.check(), Ok(()));
    // What fits exactly needs none, and neither does a range that merges.
    let second = heap.allocate(90, 1, ()).unwrap();
    heap.free(first, ()).unwrap();
    heap.free(second, ()).unwrap();
    heap.add_range(100, 50, ()).unwrap();
    assert_eq!(heap.usage().largest_free, 150);
    assert_eq!(heap.spare_nodes(), 1);
}

/// Without it a second free could free the next owner's block, which is at the same place
/// in the same node.
#[test]
fn a_freed_block_stays_freed() {
    let mut full = heap::<1>(10);
    let first = full.allocate(10, 1, ()).unwrap();
    full.free(first, ()).unwrap();
    let second = full.allocate(10, 1, ()).unwrap();
    assert_eq!(full.free(first, ()), Err(Stale));
    assert_eq!(full.free(second, ()).map(|_| ()), Ok(()));
    assert_eq!(full.free(second, ()), Err(Stale));

    let mut heap = heap::<1>(100);
    let first = heap.allocate(10, 1, ()).unwrap();
    let gap = heap.free(first, ()).unwrap();
    let second = heap.allocate(10, 1, ()).unwrap();
    assert_eq!(first.offset(), second.offset());
    assert_eq!(heap.free(first, ()), Err(Stale));
    // What was left over of the free block is still named so.
    assert_eq!(heap.piece(gap).map(|piece| piece.offset), Some(10));
    heap.free(second, ()).unwrap();
    // Another heap's block with the same node and serial.
    let mut other = self::heap::<1>(200);
    let foreign = other.allocate(20, 1, ()).unwrap();
    let mut own = self::heap::<1>(200);
    own.allocate(10, 1, ()).unwrap();
    assert_eq!(own.free(foreign, ()), Err(Stale));
}

/// Two streams whose work may not be complete.
struct Streams {
    complete: bool,
}

impl Hooks for Streams {
    type Data = u8;
    type Request = ();
    const TRIES: usize = 8;

    fn may_merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> bool {
        self.complete || left.data == right.data
    }

    fn rank(&self, (): (), offset: u64, _: u64, _: &u8) -> Option<u64> {
        // The first half is not mapped.
        Some(u64::from(offset < 50))
    }
}

/// Without it memory that another stream still uses could become part of a block that is
/// free for this one.
#[test]
fn a_forbidden_merge_happens_once_it_is_allowed() {
    let mut heap = Tlsf::<_, Streams>::new([Node::new(0); 8], Streams { complete: false });
    heap.add_range(0, 100, 0).unwrap();
    let blocks = [0, 1, 0].map(|stream| heap.allocate(10, 1, stream).unwrap());
    let names = [0, 1, 2].map(|which| heap.free(blocks[which], [0, 1, 0][which]).unwrap());
    assert_eq!(heap.usage().free_blocks, 3);
    assert_eq!(heap.coalesce_all(), 0);
    heap.hooks_mut().complete = true;
    assert_eq!(heap.coalesce_all(), 2);
    assert_eq!(heap.usage().largest_free, 100);
    assert_eq!(heap.piece(names[0]).map(|piece| piece.size), Some(100));
    assert_eq!(heap.piece(names[1]), None);
}

/// Without it a heap could cut from pages that are not mapped while mapped ones fit.
#[test]
fn the_lower_rank_wins_within_a_class() {
    let mut heap = Tlsf::<_, Streams>::new([Node::new(0); 32], Streams { complete: true });
    heap.add_range(0, 100, 0).unwrap();
    let blocks = [0; 10].map(|_| heap.allocate(10, 1, 0).unwrap());
    for which in [0, 4, 6, 8] {
        heap.free(blocks[which], 0).unwrap();
    }
    let offsets = [0; 4].map(|_| heap.allocate(10, 1, 0).unwrap().offset());
    // Two candidates at a time: the last freed and the one before it.
    assert_eq!(offsets, [60, 80, 0, 40]);
}

/// Without it a heap with a hook that always refuses could hand out what it forbids.
#[test]
fn a_forbidden_place_is_not_used() {
    struct Forbidden;
    impl Hooks for Forbidden {
        type Data = ();
        type Request = ();
        fn rank(&self, (): (), offset: u64, _: u64, (): &()) -> Option<u64> {
            (offset >= 64).then_some(0)
        }
    }
    let mut heap = Tlsf::<_, Forbidden>::new([Node::default(); 8], Forbidden);
    heap.add_range(0, 128, ()).unwrap();
    assert_eq!(heap.allocate(16, 1, ()), Err(AllocateError::NoFit));
    assert_eq!(heap.allocate(16, 64, ()), Err(AllocateError::NoFit));
    assert_eq!(heap.allocate_at(64, 16, (), ()).unwrap().offset(), 64);
    assert_eq!(heap.allocate(16, 1, ()).unwrap().offset(), 80);
}
