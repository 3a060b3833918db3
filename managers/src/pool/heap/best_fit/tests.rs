use super::*;
use crate::pool::pages::vmm::LEAST_PAGE;

// Without it a free piece could lie in two ranges, and a block be mapped by the table of
// one of them.
#[test]
fn no_block_lies_in_two_ranges() {
    const RANGE: u64 = 4 * LEAST_PAGE;
    let mut heap = Heap::new();
    let bases = [9, 8, 7, 10].map(|at| at * RANGE);
    for base in bases {
        let region = PageTable::new(base, RANGE, LEAST_PAGE);
        heap.add_region(region).unwrap();
    }
    let again = PageTable::new(8 * RANGE, RANGE, LEAST_PAGE);
    assert!(heap.add_region(again).is_err());
    heap.sweep();
    assert_eq!(heap.look(RANGE + 1, 1, 1), None);
    let third = 3 * LEAST_PAGE;
    let mut found: Vec<_> = std::iter::from_fn(|| {
        let place = heap.look(third, 1, 1)?;
        heap.take(place, 1)
    })
    .collect();
    found.sort_unstable_by_key(|block| block.offset());
    let places: Vec<_> = found.iter().map(|block| block.offset()).collect();
    assert_eq!(places, [7, 8, 9, 10].map(|at| at * RANGE));
    for block in found {
        heap.free(block, Stamp::READY);
    }
    assert_eq!(heap.blocks().len(), 4);
    assert_eq!(heap.rules().missing(7 * RANGE, RANGE), 4);
    assert_eq!(heap.rules().missing(6 * RANGE, RANGE), u32::MAX);
}

// Without it the memory that a stream has left would be taken for that of the next stream with its
// index, and no other could have it before that one has completed something.
#[test]
fn memory_of_gone_streams_is_every_streams() {
    const RANGE: u64 = 4 * LEAST_PAGE;
    let mut heap = Heap::new();
    heap.add_region(PageTable::new(RANGE, RANGE, LEAST_PAGE))
        .unwrap();
    heap.rules_mut().note_streams(2);
    let place = heap.look(LEAST_PAGE, 1, 3).unwrap();
    let block = heap.take(place, 3).unwrap();
    heap.free(block, Stamp::new(3, 7));
    assert_eq!(heap.look(RANGE, 1, 4), None);
    let mut gone = RetiredStreams::default();
    gone.insert(2);
    heap.forget(&gone);
    assert_eq!(heap.look(RANGE, 1, 4), None);
    gone.insert(3);
    heap.forget(&gone);
    assert_eq!(heap.look(RANGE, 1, 4).unwrap().data, Stamp::READY);
}

const ONE: Requester = Requester::new(1);

/// A heap of so many pages for one stream; those of the handles have memory.
pub(super) fn heap_of(pages: u32, handles: impl IntoIterator<Item = Extent>) -> Heap {
    let bytes = u64::from(pages) * LEAST_PAGE;
    let mut region = PageTable::new(BASE, bytes, LEAST_PAGE);
    for extent in handles {
        let pages = extent.first..extent.first + extent.pages;
        pages.clone().for_each(|page| region.begin_map(page));
        region.seal(extent, 7);
        pages.for_each(|page| region.open(page));
    }
    let mut heap = Heap::new();
    heap.add_region(region).unwrap();
    heap
}

/// A handle of one page.
pub(super) fn single(first: u32) -> Extent {
    Extent { first, pages: 1 }
}

/// A heap of 16 pages, of which so many have memory.
fn mapped(pages: u32) -> Heap {
    heap_of(16, (0..pages).map(single))
}

pub(super) const BASE: u64 = 8 * LEAST_PAGE;

/// Blocks of a page each, from the lowest on.
fn blocks<const COUNT: usize>(heap: &mut Heap) -> [Block; COUNT] {
    [(); COUNT].map(|()| heap.allocate_ready(LEAST_PAGE, 1, ONE).unwrap().0)
}

fn idle(heap: &mut Heap) -> Vec<u32> {
    let mut pages: Vec<_> = (heap.idle(usize::MAX).iter())
        .map(|(_, extent)| extent.first)
        .collect();
    pages.sort_unstable();
    pages
}

// Without it a page could be unmapped under work that was put before the first search, or stay
// mapped for the work of its neighbours.
#[test]
fn pages_are_idle_when_what_used_them_is_complete() {
    let mut heap = mapped(2);
    let [first, second] = blocks(&mut heap);
    heap.free(first, Stamp::new(1, 5));
    heap.free(second, Stamp::new(1, 7));
    // No search so far: each page is as old as the piece that it is in.
    assert!(idle(&mut heap).is_empty());
    heap.rules_mut().set_done(1, 5);
    assert!(idle(&mut heap).is_empty());
    heap.rules_mut().set_done(1, 7);
    assert_eq!(idle(&mut heap), [0, 1]);
    let [first, second] = blocks(&mut heap);
    heap.free(first, Stamp::new(1, 8));
    heap.free(second, Stamp::new(1, 9));
    heap.rules_mut().set_done(1, 8);
    assert_eq!(idle(&mut heap), [0]);
}

// Without it a page could be unmapped under work, because a search began while a request had it
// that was given up.
#[test]
fn pages_that_were_out_for_a_moment_are_as_old_as_before() {
    let mut heap = mapped(1);
    let [block] = blocks(&mut heap);
    heap.free(block, Stamp::new(1, 5));
    let (block, was) = heap.allocate_ready(LEAST_PAGE, 1, ONE).unwrap();
    let was = heap.lasting(was);
    assert_eq!(was.stamp(), Stamp::new(1, 5));
    assert!(idle(&mut heap).is_empty());
    heap.undo(block, was);
    assert!(idle(&mut heap).is_empty());
    heap.rules_mut().set_done(1, 5);
    assert_eq!(idle(&mut heap), [0]);
}

// Without it a chunk could be given back under work that was put before the first search.
#[test]
fn addresses_are_taken_out_when_what_used_them_is_complete() {
    let mut heap = mapped(1);
    let [block] = blocks(&mut heap);
    heap.free(block, Stamp::new(1, 5));
    assert_eq!(heap.take_idle_at(BASE, LEAST_PAGE), None);
    heap.rules_mut().set_done(1, 5);
    let taken = heap.take_idle_at(BASE, LEAST_PAGE).unwrap();
    assert_eq!((taken.offset(), taken.size()), (BASE, LEAST_PAGE));
}
