//! Which pages are idle, against a list of everything that was ever freed.

use quickcheck::QuickCheck;

use super::tests::{BASE, heap_of, single};
use super::*;
use crate::pool::pages::vmm::LEAST_PAGE;
use crate::pool::streams::free_stamp::RetiredStreams;

const PAGES: u32 = 4;
const ALL: u64 = PAGES as u64 * LEAST_PAGE;

/// A block that is out: its stream, and that stream's ticket when it was handed out.
struct Out {
    block: Block,
    stream: StreamIndex,
    since: u64,
}

/// Work that may use these addresses until the ticket of its stream is complete.
struct Use {
    from: u64,
    to: u64,
    stream: StreamIndex,
    ticket: u64,
}

struct Model {
    heap: Heap,
    out: Vec<Out>,
    uses: Vec<Use>,
    /// By stream, from 1: the open ticket, and up to which all is complete. `None`: gone.
    streams: Vec<Option<(u64, u64)>>,
}

impl Model {
    /// All pages have memory, in handles that end where `cuts` has a bit.
    fn new(cuts: u8) -> Self {
        let mut handles = vec![single(0)];
        for page in 1..PAGES {
            match handles.last_mut() {
                Some(last) if cuts >> page & 1 == 0 => last.pages += 1,
                _ => handles.push(single(page)),
            }
        }
        let heap = heap_of(PAGES, handles);
        Self {
            heap,
            out: Vec::new(),
            uses: Vec::new(),
            streams: vec![Some((1, 0))],
        }
    }

    /// One of the streams there are.
    fn stream(&self, pick: u8) -> StreamIndex {
        let there = self.streams.iter().enumerate().filter(|(_, s)| s.is_some());
        let there: Vec<_> = there.map(|(at, _)| at as StreamIndex + 1).collect();
        there[usize::from(pick) % there.len()]
    }

    fn clock(&mut self, stream: StreamIndex) -> &mut (u64, u64) {
        self.streams[usize::from(stream) - 1].as_mut().unwrap()
    }

    /// One operation: its kind, its stream or block, and its size.
    fn step(&mut self, (what, pick, size): (u8, u8, u16)) {
        let stream = self.stream(pick);
        let requester = Requester::new(stream);
        // Quarters of pages, so that pages often are of two blocks, and whole in the rest.
        let bytes = (1 + u64::from(size) % 7) * (LEAST_PAGE / 4);
        match what % 16 {
            0..=4 => {
                if let Some((block, _)) = self.heap.allocate_ready(bytes, 1, requester) {
                    self.hand_out(block, stream);
                }
            }
            5..=8 => self.give_back(pick, size),
            9 => {
                // A request that is given up, with a search for idle pages in between.
                if let Some((block, was)) = self.heap.allocate_ready(bytes, 1, requester) {
                    let was = self.heap.lasting(was);
                    if size % 2 == 0 {
                        self.look();
                    }
                    self.heap.undo(block, was);
                }
            }
            10 => {
                if let Some(at) = self.heap.join_stretch(bytes, 1, stream) {
                    let block = self.heap.take_at(at, bytes, requester).unwrap();
                    self.hand_out(block, stream);
                }
            }
            11 => {
                let place = self.heap.mapped_stretch(bytes, 1, stream);
                if let Some(block) = place.and_then(|at| self.heap.take_at(at, bytes, requester)) {
                    self.hand_out(block, stream);
                }
            }
            12 => {
                let open = self.clock(stream).0;
                let done = u64::from(size) % (open + 1);
                self.complete(stream, done);
                self.clock(stream).0 = open.max(done + 1);
            }
            13 => self.come_or_go(stream, size % 2 == 0),
            _ => self.look(),
        }
    }

    fn hand_out(&mut self, block: Block, stream: StreamIndex) {
        let since = self.clock(stream).0;
        self.out.push(Out {
            block,
            stream,
            since,
        });
    }

    fn give_back(&mut self, pick: u8, size: u16) {
        if self.out.is_empty() {
            return;
        }
        let out = self.out.swap_remove(usize::from(pick) % self.out.len());
        let open = self.clock(out.stream).0;
        // A slab has the stamp of its last use.
        let ticket = out.since + u64::from(size) % (open - out.since + 1);
        let stamp = Stamp::new(out.stream, ticket);
        self.uses.push(Use {
            from: out.block.offset(),
            to: out.block.offset() + out.block.size(),
            stream: out.stream,
            ticket,
        });
        self.heap.rules_mut().note_last(stamp);
        self.heap.free(out.block, stamp);
        if size.is_multiple_of(3) {
            self.clock(out.stream).0 += 1;
        }
    }

    fn complete(&mut self, stream: StreamIndex, done: u64) {
        let clock = self.clock(stream);
        clock.1 = clock.1.max(done);
        let done = clock.1;
        if self.heap.rules_mut().set_done(stream, done) {
            self.heap.sweep();
        }
    }

    /// A stream comes, or one goes that has nothing out: as the pool does it.
    fn come_or_go(&mut self, stream: StreamIndex, comes: bool) {
        let there = self.streams.iter().flatten().count();
        if comes && there < 4 {
            self.streams.push(Some((1, 0)));
            self.heap.rules_mut().note_streams(2);
        } else if there > 1 && self.out.iter().all(|out| out.stream != stream) {
            self.heap.rules_mut().set_done(stream, u64::MAX);
            self.streams[usize::from(stream) - 1] = None;
            let mut gone = RetiredStreams::default();
            gone.insert(stream);
            self.heap.forget(&gone);
            self.heap.rules_mut().note_streams(there - 1);
        }
    }

    /// A search for idle pages: nothing that runs may use one.
    fn look(&mut self) {
        for (address, extent) in self.heap.idle(usize::MAX) {
            let end = address + u64::from(extent.pages) * LEAST_PAGE;
            let meets = |from: u64, to: u64| from < end && address < to;
            for busy in &self.uses {
                let done = self.streams[usize::from(busy.stream) - 1].map(|clock| clock.1);
                let runs = done.is_some_and(|done| done < busy.ticket);
                assert!(
                    !runs || !meets(busy.from, busy.to),
                    "page {} of work on stream {}",
                    extent.first,
                    busy.stream
                );
            }
            for out in &self.out {
                let (from, bytes) = (out.block.offset(), out.block.size());
                assert!(!meets(from, from + bytes), "page {} is out", extent.first);
            }
        }
    }
}

// Without it a page could be unmapped under work of one stream, because another one that freed
// next to it is complete or gone, or was joined with it.
#[test]
fn no_idle_page_is_in_use() {
    fn property(cuts: u8, steps: Vec<(u8, u8, u16)>) -> bool {
        let mut model = Model::new(cuts);
        steps.into_iter().for_each(|step| model.step(step));
        model.look();
        true
    }
    QuickCheck::new()
        .max_tests(1 << 20)
        .tests(if cfg!(miri) { 20 } else { 20000 })
        .rng(quickcheck::Gen::new(200))
        .quickcheck(property as fn(u8, Vec<(u8, u8, u16)>) -> bool);
}

// Without it a request could be refused for a place that misses more pages than another one.
#[test]
fn the_cheapest_place_is_the_cheapest_there_is() {
    fn property(pages: u16, ends: Vec<(u16, bool)>, bytes: u16, align: u8) -> bool {
        let there = (0..PAGES).filter(|page| pages >> page & 1 == 1);
        let mut heap = heap_of(PAGES, there.map(single));
        heap.rules_mut().note_streams(2);
        // Pieces that others use, or that the stream itself does.
        for (at, own) in ends {
            let at = BASE + u64::from(at) % (ALL / GRANULE) * GRANULE;
            if let Some(block) = heap.take_idle_at(at, (ALL + BASE - at).min(LEAST_PAGE / 2)) {
                heap.free(block, Stamp::new(if own { 1 } else { 2 }, 1));
            }
        }
        // In an eighth of a page, for the oracle's sake.
        let bytes = (1 + u64::from(bytes) % u64::from(8 * PAGES)) * (LEAST_PAGE / 8);
        let align = GRANULE << (align % 13);
        let found = heap.cheapest(bytes, align, 1, u64::MAX);
        let mut least = None;
        for piece in heap.pieces() {
            if piece.size < bytes || !heap.rules().is_usable(Requester::new(1), piece.data) {
                continue;
            }
            let mut at = piece.offset.next_multiple_of(align);
            while at + bytes <= piece.offset + piece.size {
                let missing = u64::from(heap.rules().missing(at, bytes));
                least = Some(least.map_or(missing, |least: u64| least.min(missing)));
                at += align.max(4 * GRANULE);
            }
        }
        let Some((at, missing)) = found else {
            return least.is_none();
        };
        let right = at.is_multiple_of(align)
            && u64::from(heap.rules().missing(at, bytes)) == missing
            && least.is_some_and(|least| missing <= least);
        right && heap.take_usable_at(at, bytes, 1).is_some()
    }
    QuickCheck::new()
        .max_tests(1 << 20)
        .tests(if cfg!(miri) { 20 } else { 2000 })
        .quickcheck(property as fn(u16, Vec<(u16, bool)>, u16, u8) -> bool);
}
