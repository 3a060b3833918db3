//! Any order of requests, frees, held streams and trims, against an oracle that knows which
//! memory is alive and which is waited for.

use std::sync::mpsc::Sender;

use cupola_managers::Error;
use cupola_managers::pool::Backing;

use crate::*;

const STREAMS: usize = 3;

/// What is known of addresses: from, to, and the stream.
type Place = (u64, u64, usize);

struct Oracle {
    bench: TestBench,
    pool: MemoryPool,
    /// Its limit.
    most: u64,
    streams: [Stream; STREAMS],
    /// While a sender is there, nothing of the stream completes.
    held: [Option<Sender<()>>; STREAMS],
    /// Behind which other streams a stream waits on the device.
    waits: [bool; STREAMS],
    live: Vec<(RawBlock, u64, usize)>,
    /// Freed on a stream that is held, or waits for one that is.
    pending: Vec<Place>,
}

impl Oracle {
    /// A pool of 24 pages, which may have them in handles of several pages at first. With arenas of
    /// more, because none is made for less.
    fn new(backing: Backing, large: bool, arenas: bool) -> Self {
        let mut bench = bench_with(backing, 128 << 30);
        let most = if arenas { 160 } else { 24 } * PAGE;
        if arenas {
            bench = bench.arenas(Arenas::Always);
        }
        // Nothing that is held ends while the pool waits.
        let pool = bench.impatient(if large { 128 << 30 } else { most });
        if large && !arenas && backing == Backing::Pages {
            let stream = bench.stream();
            let blocks = [5, 6, 13].map(|pages| pool.allocate_raw(pages * PAGE, 256, &stream));
            blocks
                .into_iter()
                .for_each(|block| free(block.unwrap(), &stream));
            ops::synchronize(&stream).unwrap();
            assert!(pool.usage().unwrap().calls.create < 24);
        }
        pool.set_limit(most).unwrap();
        Self {
            pool,
            most,
            streams: [(); STREAMS].map(|()| bench.stream()),
            held: [const { None }; STREAMS],
            waits: [false; STREAMS],
            live: Vec::new(),
            pending: Vec::new(),
            bench,
        }
    }

    fn is_behind(&self, stream: usize) -> bool {
        self.held[stream].is_some() || self.waits[stream]
    }

    fn allocate(&mut self, stream: usize, bytes: u64, align: u64) {
        let waits = self.pool.usage().unwrap().device_waits;
        let taken = self.pool.allocate_raw(bytes, align, &self.streams[stream]);
        let waited = self.pool.usage().unwrap().device_waits > waits;
        let block = match taken {
            Ok(block) => block,
            Err(Error::OverLimit(account)) => {
                assert!(account.mapped <= account.limit, "{account}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert!(block.bytes() >= bytes && block.address() % align == 0);
        let (from, to) = (block.address(), block.address() + block.bytes());
        for (other, _, _) in &self.live {
            let end = other.address() + other.bytes();
            assert!(
                to <= other.address() || end <= from,
                "{block:?} in {other:?}"
            );
        }
        let early = |&&(start, end, freed): &&Place| from < end && start < to && freed != stream;
        if self.pending.iter().any(|place| early(&place)) {
            assert!(
                waited,
                "{block:?} too early on stream {stream}: {:x?}",
                self.pending
            );
            self.waits[stream] = true;
        }
        // From now on the stream answers for it.
        let before = std::mem::take(&mut self.pending);
        let outside = before.into_iter().flat_map(|(start, end, freed)| {
            [(start, end.min(from), freed), (start.max(to), end, freed)]
        });
        self.pending
            .extend(outside.filter(|place| place.0 < place.1));
        self.live.push((block, bytes, stream));
    }

    fn free(&mut self, which: usize, to: usize) {
        if self.live.is_empty() {
            return;
        }
        let (block, _, home) = self.live.swap_remove(which % self.live.len());
        if to != home {
            ops::order(&self.streams[home], &self.streams[to]).unwrap();
            self.waits[to] |= self.is_behind(home);
        }
        if self.is_behind(to) {
            let end = block.address() + block.bytes();
            self.pending.push((block.address(), end, to));
        }
        // SAFETY: nothing uses it, and the stream waits for the block's own.
        unsafe { block.free(&self.streams[to]) }.unwrap();
    }

    /// Everything that is held goes on, and completes.
    fn release(&mut self) {
        self.held = [const { None }; STREAMS];
        for stream in &self.streams {
            ops::synchronize(stream).unwrap();
        }
        self.waits = [false; STREAMS];
        self.pending.clear();
    }

    fn check(&self) {
        let usage = self.pool.usage().unwrap();
        let live: u64 = self.live.iter().map(|(_, bytes, _)| bytes).sum();
        assert_eq!((usage.live, usage.blocks), (live, self.live.len() as u64));
        assert!(usage.mapped <= usage.limit, "{usage:?}");
        assert!(usage.live <= usage.mapped, "{usage:?}");
        assert_eq!(usage.mapped, self.bench.on_device(), "{usage:?}");
    }

    fn step(&mut self, (what, which, size): (u8, u8, u32)) {
        let stream = usize::from(which) % STREAMS;
        let size = u64::from(size);
        match what % 16 {
            0..=6 => {
                let bytes = 1 + ((size % (6 * PAGE)) >> (which / 3 % 16));
                let align = 1 << [0, 8, 8, 8, 9, 12, 16, 21][usize::from(which) / 8 % 8];
                self.allocate(stream, bytes, align);
            }
            7..=11 => {
                let home = self.live.len().max(1);
                let at = size as usize % home;
                let home = self.live.get(at).map_or(0, |(_, _, home)| *home);
                self.free(at, if what % 16 == 11 { stream } else { home });
            }
            // A chunk that goes back (`cuMemFree`) waits for all work of the context.
            12 if self.held[stream].is_none() && self.pool.backing() == Backing::Pages => {
                self.held[stream] = Some(hold(&self.streams[stream]));
            }
            13 => self.release(),
            14 => drop(self.pool.trim().unwrap()),
            15 => {
                let limit = (8 + size % 24) * PAGE;
                self.pool.set_limit(limit).unwrap();
                self.pool.set_limit(self.most).unwrap();
            }
            _ => {}
        }
    }

    fn finish(mut self) {
        self.release();
        for (block, _, home) in std::mem::take(&mut self.live) {
            free(block, &self.streams[home]);
        }
        self.check();
        self.release();
        trim_to(&self.pool, 0);
        assert_eq!(self.bench.on_device(), 0);
        let Self {
            bench,
            pool,
            streams,
            ..
        } = self;
        drop((pool, streams));
        bench.finish();
    }
}

// Without it some order of calls could hand out memory twice or too early, lose it, or count it
// wrongly.
#[test]
fn any_order_of_calls_agrees_with_the_oracle() {
    fn property(kind: u8, steps: Vec<(u8, u8, u32)>) -> bool {
        let (large, kind) = (kind % 2 == 1, kind / 2 % 3);
        let backing = match kind {
            0 => Backing::Chunks,
            _ => Backing::Pages,
        };
        let mut oracle = Oracle::new(backing, large, kind == 2);
        for step in steps {
            oracle.step(step);
            oracle.check();
        }
        oracle.finish();
        true
    }
    quickcheck::QuickCheck::new()
        .tests(225)
        .rng(quickcheck::Gen::new(400))
        .quickcheck(property as fn(u8, Vec<(u8, u8, u32)>) -> bool);
}
