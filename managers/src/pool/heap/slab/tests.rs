use std::ptr;

use super::*;
use crate::pool::cache::size_class::MOST_PIECES;
use crate::pool::pages::page_table::PageTable;
use crate::pool::pages::vmm::LEAST_PAGE;

const STREAMS: u16 = 4;

struct Bench {
    heap: Heap,
    headers: BlockHeaders,
    slabs: Slabs,
    /// Slots in use, with the address of each.
    taken: Vec<NonNull<BlockHeader>>,
}

impl Bench {
    fn new() -> Self {
        let mut heap = Heap::new();
        let region = PageTable::new(LEAST_PAGE, 1 << 30, LEAST_PAGE);
        heap.add_region(region).unwrap();
        // Several streams: memory that one has freed does not become part of all that is free.
        heap.rules_mut().note_streams(2);
        Self {
            heap,
            headers: BlockHeaders::default(),
            slabs: Slabs::default(),
            taken: Vec::new(),
        }
    }

    /// Takes slots, of a new slab where there are none.
    fn take(&mut self, stream: StreamIndex, bytes: u64) {
        let (slot, bytes) = Slot::of(bytes).unwrap();
        let want = MOST_PIECES as u32 / 4;
        let taken = &mut self.taken;
        let mut give = |header| taken.push(header);
        let count = self.slabs.take(&self.heap, slot, stream, want, &mut give);
        if count == 0 {
            let size = u64::from(slots_of_slab(bytes)) * bytes;
            let place = self.heap.look(size, 1, stream).unwrap();
            let block = self.heap.take(place, stream).unwrap();
            let (what, whose) = ((block, slot, bytes), (stream, Stamp::READY));
            self.slabs
                .add(&mut self.headers, PoolRef::new(ptr::null()), what, whose);
        }
    }

    fn put(&mut self, at: usize, stamp: Stamp) {
        let at = at % self.taken.len();
        let header = self.taken.swap_remove(at);
        // SAFETY: the headers are here, and a slot in use is the test's.
        let Home::Slab { slab, slot } = unsafe { header.as_ref() }.home() else {
            panic!("not of a slab");
        };
        let place = (slab, slot);
        self.slabs
            .put(&mut self.heap, &mut self.headers, place, stamp);
    }

    fn check(&self) {
        let there = || self.slabs.slabs.iter().flatten();
        let used: u32 = there()
            .map(|slab| (slab.all & !slab.free).count_ones())
            .sum();
        assert_eq!(used as usize, self.taken.len());
        assert_eq!(
            self.slabs.count(),
            (u64::from(used), there().count() as u64)
        );
        assert_eq!(self.heap.used_blocks(), there().count() as u64);
        for slab in there() {
            assert_eq!(slab.foreign & !slab.free, 0);
            assert_eq!(slab.listed.is_some(), slab.free != 0);
        }
        let mut listed = 0;
        for at in 0..self.slabs.lists.len() {
            let (mut newer, mut next) = (END, self.slabs.lists[at]);
            while next != END {
                let slab = self.slabs.slabs[next as usize].as_ref().unwrap();
                let links = slab.listed.unwrap();
                assert_eq!((list_of(slab.stream, slab.slot), links.newer), (at, newer));
                (newer, next) = (next, links.older);
                listed += 1;
            }
        }
        assert_eq!(listed, there().filter(|slab| slab.free != 0).count());
    }
}

// Without it a pool could end with pieces in use or never, no search find a slab, or a slot be
// handed out before another stream's use of it is complete.
#[test]
fn slabs_are_counted_and_found() {
    fn property(steps: Vec<(u8, u8, u16)>) -> bool {
        let mut bench = Bench::new();
        let mut ticket = 1;
        for (what, stream, more) in steps {
            let stream = u16::from(stream) % STREAMS + 1;
            match what % 8 {
                0..3 => bench.take(stream, [40, 500, 8000][usize::from(more) % 3]),
                3..6 if !bench.taken.is_empty() => {
                    ticket += 1;
                    bench.put(usize::from(more), Stamp::new(stream, ticket));
                }
                6 => {
                    bench.heap.rules_mut().set_done(stream, ticket);
                    if more % 4 == 0 {
                        bench.slabs.release_all(&mut bench.heap, &mut bench.headers);
                    }
                }
                7 => {
                    let mut gone = RetiredStreams::default();
                    gone.insert(stream);
                    bench
                        .slabs
                        .forget(&mut bench.heap, &mut bench.headers, &gone);
                    bench.heap.forget(&gone);
                    let stamps = bench.slabs.slabs.iter().flatten();
                    assert!(stamps.clone().all(|slab| slab.stream != stream));
                    for slab in stamps {
                        let of = |number| slab.freed_of(number).stream();
                        assert!(bits(slab.foreign).all(|number| of(number) != stream));
                    }
                }
                _ => {}
            }
            bench.check();
        }
        (1..=STREAMS).for_each(|stream| {
            bench.heap.rules_mut().set_done(stream, ticket);
        });
        while !bench.taken.is_empty() {
            bench.put(0, Stamp::READY);
        }
        bench.slabs.release_all(&mut bench.heap, &mut bench.headers);
        bench.check();
        bench.slabs.count() == (0, 0)
    }
    quickcheck::quickcheck(property as fn(Vec<(u8, u8, u16)>) -> bool);
}

// Without it every stream would make slabs of its own, while those of streams that are gone have
// free slots.
#[test]
fn a_stream_adopts_what_another_has_left() {
    let mut bench = Bench::new();
    bench.take(1, 500);
    bench.take(1, 500);
    while bench.taken.len() > 1 {
        bench.put(1, Stamp::new(1, 7));
    }
    let mut gone = RetiredStreams::default();
    gone.insert(1);
    bench
        .slabs
        .forget(&mut bench.heap, &mut bench.headers, &gone);
    bench.check();
    bench.take(2, 500);
    assert!(bench.taken.len() > 1);
    assert_eq!(bench.slabs.count().1, 1);
    // Its new stream has the slots that it frees again at once.
    while !bench.taken.is_empty() {
        bench.put(0, Stamp::new(2, 9));
    }
    bench.take(2, 500);
    assert!(!bench.taken.is_empty());
    assert_eq!(bench.slabs.count().1, 1);
    bench.check();
}
