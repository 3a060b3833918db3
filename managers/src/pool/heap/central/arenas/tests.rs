use std::ptr;

use quickcheck::QuickCheck;

use super::*;
use crate::pool::heap::best_fit::GRANULE;
use crate::pool::heap::central::HeapRequest;
use crate::pool::pages::page_table::{Extent, PageTable};
use crate::pool::pages::vmm::LEAST_PAGE;

const PAGES: u32 = 64;
const BASE: u64 = LEAST_PAGE;
const SPAN: u64 = 4 * LEAST_PAGE;
const NO_POOL: PoolRef = PoolRef::new(ptr::null());
/// The stream of the arena, and another one.
const OWN: StreamIndex = 1;
const OTHER: StreamIndex = 2;

/// A block that is alive: where it is, and the stream that has it.
type Live = (NonNull<BlockHeader>, u64, u64, StreamIndex);

/// A heap, an arena, and the plainest account of both.
struct World {
    central: Central,
    arena: Option<Box<Arena>>,
    live: Vec<Live>,
    /// From, to, and the stamp, of what was freed under work.
    pending: Vec<(u64, u64, Stamp)>,
    /// The open batch of each stream, and the last that is complete.
    open: [u64; 3],
    done: [u64; 3],
}

impl World {
    fn new() -> Self {
        let mut region = PageTable::new(BASE, u64::from(PAGES) * LEAST_PAGE, LEAST_PAGE);
        for page in 0..PAGES {
            region.begin_map(page);
            let extent = Extent {
                first: page,
                pages: 1,
            };
            region.seal(extent, 7);
            region.open(page);
        }
        let mut central = Central::new();
        central.add_region(region).unwrap();
        central.add_stream(OWN, 1);
        central.add_stream(OTHER, 2);
        let arena = central.open_arena();
        Self {
            central,
            arena,
            live: Vec::new(),
            pending: Vec::new(),
            open: [1; 3],
            done: [0; 3],
        }
    }

    fn stamp(&self, stream: StreamIndex) -> Stamp {
        Stamp::new(stream, self.open[usize::from(stream)])
    }

    fn begin(&mut self, piece: NonNull<BlockHeader>, stream: StreamIndex) {
        // SAFETY: the header is of a block that was just allocated.
        let header = unsafe { piece.as_ref() };
        let (from, to) = (header.address(), header.address() + header.bytes());
        for (_, other, end, _) in &self.live {
            assert!(to <= *other || *end <= from, "two blocks overlap");
        }
        for (start, end, stamp) in &self.pending {
            let is_over = stamp.ticket() <= self.done[usize::from(stamp.stream())];
            let is_early = from < *end && *start < to && stamp.stream() != stream && !is_over;
            assert!(!is_early, "another stream's work still uses it");
        }
        // From now on the stream answers for it.
        let before = std::mem::take(&mut self.pending).into_iter();
        let outside = before.flat_map(|(start, end, freed)| {
            [(start, end.min(from), freed), (start.max(to), end, freed)]
        });
        self.pending
            .extend(outside.filter(|place| place.0 < place.1));
        header.go_live(header.bytes(), None, (0, false));
        self.live.push((piece, from, to, stream));
    }

    fn end(&mut self, which: usize) -> Option<Live> {
        if self.live.is_empty() {
            return None;
        }
        let live = self.live.swap_remove(which % self.live.len());
        // SAFETY: the block is alive, and ours.
        unsafe { live.0.as_ref() }.end_life();
        Some(live)
    }

    fn step(&mut self, (what, which, size): (u8, u8, u16)) {
        let bytes = (u64::from(size) + 1) * GRANULE;
        match what % 16 {
            0..5 => {
                let arena = self.arena.as_mut();
                if let Some(piece) = arena.and_then(|arena| arena.allocate(bytes, Slot::NONE)) {
                    self.begin(piece, OWN);
                }
            }
            5 => {
                let stream = if which % 2 == 0 { OWN } else { OTHER };
                let want = HeapRequest {
                    bytes,
                    align: GRANULE,
                    stream,
                };
                if let Some(piece) = self.central.wrap_ready(NO_POOL, want, Slot::NONE) {
                    self.begin(piece, stream);
                }
            }
            // Back to the arena by its own thread, or by others: on its stream or another.
            6..9 => {
                if let Some((piece, from, to, _)) = self.end(which.into()) {
                    // SAFETY: the header is of a block that is ours.
                    let header = unsafe { piece.as_ref() };
                    self.pending.push((from, to, self.stamp(OWN)));
                    match &mut self.arena {
                        Some(arena) if arena.owns(header) => arena.free(piece),
                        _ => self.central.put(piece, self.stamp(OWN)),
                    }
                }
            }
            9..12 => {
                let stream = if what % 16 == 9 { OWN } else { OTHER };
                if let Some((piece, from, to, _)) = self.end(which.into()) {
                    self.pending.push((from, to, self.stamp(stream)));
                    self.central.put(piece, self.stamp(stream));
                }
            }
            12 => {
                let stream = if which % 2 == 0 { OWN } else { OTHER };
                let at = usize::from(stream);
                self.done[at] = self.open[at];
                self.open[at] += 1;
                self.central.note_done([(stream, self.done[at])]);
            }
            13 => {
                if let Some(arena) = &mut self.arena {
                    self.central.collect(arena, OWN);
                }
            }
            14 => {
                let span = HeapRequest {
                    bytes: SPAN,
                    align: GRANULE,
                    stream: OWN,
                };
                if let Some(arena) = &mut self.arena
                    && let Some(found) = self.central.ready(span)
                {
                    self.central.extend_arena(arena, NO_POOL, found);
                }
            }
            _ => match self.arena.take() {
                Some(arena) if which % 4 == 0 => self.central.dissolve(arena, self.stamp(OWN)),
                Some(arena) => self.arena = Some(arena),
                None => self.arena = self.central.open_arena(),
            },
        }
    }

    /// Every byte is a block's, in a span or free, once.
    fn check(&self) {
        let in_spans = |from: u64| {
            let spans = self.arena.iter().flat_map(|arena| arena.spans());
            spans
                .into_iter()
                .any(|span| from.wrapping_sub(span.offset()) < span.size())
        };
        let mut in_heap = 0;
        for (piece, from, to, _) in &self.live {
            // SAFETY: the block is alive, and ours.
            let header = unsafe { piece.as_ref() };
            assert_eq!((header.address(), header.bytes()), (*from, to - from));
            assert_eq!(header.arena() != 0, in_spans(*from));
            in_heap += if in_spans(*from) { 0 } else { to - from };
        }
        let spans = self.arena.iter().flat_map(|arena| arena.spans());
        let in_arena: u64 = spans.map(|span| span.size()).sum();
        assert_eq!(self.central.heap().used_bytes(), in_heap + in_arena);
        if let Some(arena) = &self.arena {
            let mail = self.central.mail_bytes();
            let of_arena = self.live.iter().filter(|(_, from, ..)| in_spans(*from));
            let alive: u64 = of_arena.map(|(_, from, to, _)| to - from).sum();
            assert_eq!(arena.free_bytes(), in_arena - alive - mail.0 - mail.1);
        }
    }

    fn finish(mut self) {
        while let Some((piece, ..)) = self.end(0) {
            self.central.put(piece, self.stamp(OWN));
        }
        if let Some(arena) = self.arena.take() {
            self.central.dissolve(arena, self.stamp(OWN));
        }
        assert_eq!(
            (self.central.heap().used_bytes(), self.central.outstanding()),
            (0, 0)
        );
        assert_eq!(self.central.headers().in_use().count(), 0);
        self.central
            .note_done([(OWN, u64::MAX >> 16), (OTHER, u64::MAX >> 16)]);
        self.central.sweep();
        assert_eq!(self.central.heap().pieces().count(), 1);
    }
}

// Without it a block could be handed out twice, or under another stream's work; or the memory of an
// arena be lost, when its blocks come back by other threads, leave it or become the heap's.
#[test]
fn any_order_of_calls_keeps_every_byte() {
    fn property(steps: Vec<(u8, u8, u16)>) -> bool {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.check();
        }
        world.finish();
        true
    }
    QuickCheck::new()
        .max_tests(1 << 20)
        .tests(if cfg!(miri) { 20 } else { 2000 })
        .rng(quickcheck::Gen::new(200))
        .quickcheck(property as fn(Vec<(u8, u8, u16)>) -> bool);
}
