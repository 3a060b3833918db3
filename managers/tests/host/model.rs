//! Random operations on a pinned pool beside a naive account of what is alive.

use std::time::Duration;

use cupola_managers::host::{PinnedPool, PinnedPoolConfig};
use cupola_managers::{Error, HostMemoryError, PinnedBuffer, ops};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{PROFILES, PoolBench, bench_of};

const LIMIT: u64 = 2 << 20;
const REGION: u64 = 256 << 10;
const QUANTUM: u64 = 64 << 10;

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate(u32),
    /// Of the buffers that are alive, whichever the number falls on.
    Drop(usize),
    CopyAndDrop(usize),
    Synchronize,
    Trim,
    Limit(u32),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 16 {
            0..7 => {
                let magnitude = u32::arbitrary(g) % 20;
                Self::Allocate(1 + u32::arbitrary(g) % (1 << magnitude))
            }
            7..11 => Self::Drop(usize::arbitrary(g)),
            11..13 => Self::CopyAndDrop(usize::arbitrary(g)),
            13 => Self::Synchronize,
            14 => Self::Trim,
            _ => Self::Limit(u32::arbitrary(g) % (3 << 20)),
        }
    }
}

/// A buffer whose bytes are all the mark.
struct Marked {
    buffer: PinnedBuffer<u8>,
    mark: u8,
}

impl Marked {
    fn range(&self) -> std::ops::Range<usize> {
        let start = self.buffer.as_ptr().addr();
        start..start + self.buffer.len()
    }
}

struct Model<'b> {
    bench: &'b PoolBench,
    host: PinnedPool,
    limit: u64,
    alive: Vec<Marked>,
    marks: u8,
}

impl Model<'_> {
    fn take_out(&mut self, number: usize) -> Option<Marked> {
        let len = self.alive.len();
        let marked = (len > 0).then(|| self.alive.swap_remove(number % len))?;
        let bytes = marked.buffer.as_slice().unwrap();
        assert!(
            bytes.iter().all(|&byte| byte == marked.mark),
            "written by another"
        );
        Some(marked)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Allocate(bytes) => self.allocate(bytes as usize),
            Step::Drop(number) => drop(self.take_out(number)),
            Step::CopyAndDrop(number) => {
                let Some(marked) = self.take_out(number) else {
                    return;
                };
                let (bench, len) = (self.bench, marked.buffer.len());
                let mut there = bench.pool.allocate::<u8>(len, &bench.stream).unwrap();
                ops::copy_to_device(&marked.buffer, &mut there, &bench.stream).unwrap();
                let mark = marked.mark;
                drop(marked);
                // What comes next in its place must not be what is copied.
                self.allocate(len);
                let seen = there.to_vec(&bench.stream).unwrap();
                assert!(
                    seen.iter().all(|&byte| byte == mark),
                    "used again too early"
                );
            }
            Step::Synchronize => ops::synchronize(&self.bench.stream).unwrap(),
            Step::Trim => drop(self.host.trim().unwrap()),
            Step::Limit(bytes) => {
                self.limit = u64::from(bytes);
                self.host.set_limit(self.limit).unwrap();
            }
        }
    }

    fn allocate(&mut self, bytes: usize) {
        let before = self.host.usage().unwrap();
        match self.host.allocate::<u8>(bytes) {
            Ok(mut buffer) => {
                self.marks = self.marks.wrapping_add(1);
                buffer.as_mut_slice().unwrap().fill(self.marks);
                let marked = Marked {
                    buffer,
                    mark: self.marks,
                };
                let range = marked.range();
                for other in self.alive.iter().map(Marked::range) {
                    assert!(
                        range.end <= other.start || other.end <= range.start,
                        "shared"
                    );
                }
                self.alive.push(marked);
            }
            Err(Error::Host(refusal)) => {
                assert!(matches!(*refusal, HostMemoryError::OverLimit { .. }));
                let least = (bytes as u64).next_multiple_of(QUANTUM);
                assert!(
                    before.locked + least > self.limit,
                    "there was room: {before:?}"
                );
                assert!(
                    before.largest < bytes as u64,
                    "there was memory: {before:?}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn check(&self, before: u64) {
        let usage = self.host.usage().unwrap();
        let rounded = |marked: &Marked| (marked.buffer.len() as u64).next_multiple_of(64);
        assert_eq!(usage.live, self.alive.iter().map(rounded).sum::<u64>());
        assert_eq!(usage.blocks, self.alive.len());
        assert_eq!(usage.locked, usage.live + usage.pending + usage.free);
        assert!(usage.locked <= self.limit.max(before), "{usage:?}");
        assert_eq!(usage.limit, self.limit);
        let machine = self.bench.base.machine.usage();
        assert_eq!(
            machine.registrations + machine.host_allocations,
            usage.regions
        );
        let live = self.bench.base.execution.live();
        let bytes = self.alive.iter().map(|marked| marked.buffer.len() as u64);
        assert_eq!(
            (live.pinned, live.pinned_bytes),
            (usage.blocks as u64, bytes.sum())
        );
    }
}

// Without it some order of allocations, drops, copies and limits could hand memory out twice, pass
// the limit, refuse what fits, or leave something behind.
#[test]
fn random_operations_keep_the_account() {
    fn property(profile: usize, steps: Vec<Step>) -> bool {
        let bench = bench_of(PROFILES[profile % PROFILES.len()]);
        let config = PinnedPoolConfig::limit(LIMIT).region_bytes(REGION);
        let host = bench
            .base
            .context
            .pinned_pool(config.wait(Duration::ZERO))
            .unwrap();
        let mut model = Model {
            bench: &bench,
            host,
            limit: LIMIT,
            alive: Vec::new(),
            marks: 0,
        };
        for step in steps {
            let before = model.host.usage().unwrap().locked;
            model.step(step);
            model.check(before);
        }
        drop(model);
        bench.finish();
        true
    }
    QuickCheck::new()
        .rng(Gen::new(120))
        .tests(60)
        .quickcheck(property as fn(usize, Vec<Step>) -> bool);
}
