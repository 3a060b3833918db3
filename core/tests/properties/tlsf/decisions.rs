//! What the hooks are asked, and what comes of their answers.

use std::cell::Cell;

use cupola_core::Tlsf;
use cupola_core::tlsf::{AllocateError, Entry, Hooks, Node, Piece};

/// Forbids what is not freed with 0, and counts how often it is asked.
#[derive(Default)]
struct Counting {
    asked: Cell<u32>,
}

impl Hooks for Counting {
    type Data = u8;
    type Request = ();

    fn may_merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> bool {
        left.data == right.data
    }

    fn rank(&self, (): (), _: u64, _: u64, data: &u8) -> Option<u64> {
        self.asked.set(self.asked.get() + 1);
        (*data == 0).then_some(0)
    }
}

/// A heap whose lowest bytes are 500 times 32 forbidden free ones and 8 used ones. All above
/// them is free and allowed.
fn mostly_forbidden() -> Tlsf<Vec<Node<u8>>, Counting> {
    let mut heap = Tlsf::new(vec![Node::new(0); 2000], Counting::default());
    heap.add_range(0, 1 << 20, 0).unwrap();
    let blocks: Vec<_> = (0..500)
        .map(|_| {
            let block = heap.allocate(32, 1, 0).unwrap();
            heap.allocate(8, 1, 0).unwrap();
            block
        })
        .collect();
    for block in blocks {
        heap.free(block, 1).unwrap();
    }
    heap.hooks().asked.set(0);
    heap
}

/// Without it an allocation could take time linear in the blocks that other streams have
/// freed, while a larger block is there to be cut.
#[test]
fn forbidden_blocks_are_not_all_looked_at_while_a_larger_one_is_allowed() {
    for (size, align, most) in [(32, 1, 4), (32, 8, 12), (31, 2, 12), (20, 4, 12)] {
        let mut heap = mostly_forbidden();
        let block = heap.allocate(size, align, 0).unwrap();
        assert_eq!(block.offset(), (500 * 40_u64).next_multiple_of(align));
        let asked = heap.hooks().asked.get();
        assert!(asked <= most, "asked {asked} times for {size} at {align}");
    }
}

/// Without it the one allowed block among many forbidden ones could be missed.
#[test]
fn the_only_allowed_block_is_found() {
    let mut heap = mostly_forbidden();
    let rest = heap.usage().largest_free;
    heap.allocate(rest, 1, 0).unwrap();
    assert_eq!(heap.allocate(32, 1, 0), Err(AllocateError::NoFit));
    heap.update_free(|piece| match piece.offset {
        10_000 => 0,
        _ => piece.data,
    });
    assert_eq!(heap.allocate(32, 1, 0).unwrap().offset(), 10_000);
}

/// Without it a place that a stream still uses could be taken by its address.
#[test]
fn a_forbidden_place_is_refused_by_address_too() {
    let mut heap = mostly_forbidden();
    let before = heap.usage();
    assert_eq!(heap.allocate_at(40, 8, 0, ()), Err(AllocateError::NoFit));
    assert_eq!(heap.usage(), before);
    assert_eq!(heap.allocate_at(500 * 40, 8, 0, ()).unwrap().size(), 8);
}

/// Merges blocks of neighbouring numbers; the lower number stays.
struct Numbers;

impl Hooks for Numbers {
    type Data = u8;
    type Request = ();

    fn may_merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> bool {
        let touch = left.offset + left.size == right.offset;
        assert!(touch, "asked about blocks that do not touch");
        left.data + 1 == right.data
    }

    fn merge(&self, left: &Piece<u8>, right: &Piece<u8>) -> u8 {
        // Even numbers become what a 0 on their left merges with.
        if left.data.is_multiple_of(2) {
            1
        } else {
            left.data.min(right.data)
        }
    }

    fn split(&self, _: &Piece<u8>, offset: u64, size: u64) -> u8 {
        100 + (offset + size) as u8
    }
}

fn numbers(data: &[u8]) -> Tlsf<Vec<Node<u8>>, Numbers> {
    let mut heap = Tlsf::new(vec![Node::new(0); 16], Numbers);
    for (start, number) in (0..).step_by(10).zip(data) {
        heap.add_range(start, 10, *number).unwrap();
    }
    heap
}

/// Without it a merge that another one has made possible could be left out.
#[test]
fn merging_all_goes_on_until_nothing_merges() {
    let mut heap = numbers(&[0, 4, 9]);
    heap.update_free(|piece| if piece.data == 9 { 5 } else { piece.data });
    // 0 and 4 do not merge, but 4 and 5 become 1, which 0 merges with.
    assert_eq!(heap.coalesce_all(), 2);
    assert_eq!(heap.usage().largest_free, 30);
    assert_eq!(heap.check(), Ok(()));
}

/// Without it hooks that look at what lies between two blocks could be asked about a gap.
#[test]
fn hooks_are_not_asked_about_blocks_that_do_not_touch() {
    let mut heap = numbers(&[0]);
    heap.add_range(100, 10, 1).unwrap();
    heap.add_range(50, 10, 2).unwrap();
    let block = heap.allocate_at(50, 10, 2, ()).unwrap();
    heap.free(block, 1).unwrap();
    assert_eq!(heap.coalesce_all(), 0);
    assert_eq!(heap.usage().free_blocks, 3);
}

/// Without it the rest of a split could keep the data of bytes that are gone.
#[test]
fn each_part_left_over_is_asked_for() {
    let mut heap = numbers(&[0]);
    heap.allocate_at(4, 3, 0, ()).unwrap();
    let data = |heap: &Tlsf<_, Numbers>| -> Vec<(u64, u64, u8)> {
        let free = heap.blocks().filter_map(|entry| match entry {
            Entry::Free(_, piece) => Some((piece.offset, piece.size, piece.data)),
            Entry::Used(..) => None,
        });
        free.collect()
    };
    assert_eq!(data(&heap), [(0, 4, 104), (7, 3, 110)]);
}
