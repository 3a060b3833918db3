//! Many items, each with a checksum, through pipelines that are delayed, fail and are cancelled at
//! random: none may be lost, come twice, out of order or wrong, and memory must not grow.
//!
//! `CUPOLA_ITEMS` says how many; 10 000 where it does not. A program of its own, so that what its
//! process has in memory is its own.

#[path = "common/mod.rs"]
mod common;

use std::collections::VecDeque;

use cupola_kernels::{geometry, reference};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Item, ItemError, ItemStage, Pipeline, PipelineConfig, Step};
use cupola_managers::{Context, Error, MemoryPool};
use cupola_random::Random;

use common::{Bench, noise};

/// Most bytes of an item.
const MOST: usize = 1000;

/// An error that is planted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    None,
    TooLong,
    Step,
    TooMuch,
}

impl Plan {
    fn draw(random: &mut Random) -> Self {
        match random.below(150) {
            0 => Self::TooLong,
            1 => Self::Step,
            2 => Self::TooMuch,
            _ => Self::None,
        }
    }

    /// Where the error is found.
    fn stage(self) -> ItemStage {
        match self {
            Self::TooLong => ItemStage::Fill,
            _ => ItemStage::Kernel(0),
        }
    }
}

fn planted() -> Error {
    Error::Full { kind: "test" }
}

/// Puts the CRC of an item, computed so many times, on its stream.
fn put(kernel: &Function, step: Step<'_, u8, u32>, times: u64, plan: Plan) -> Result<usize, Error> {
    let len = step.input.bytes();
    let Step {
        stream,
        input,
        mut output,
        ..
    } = step;
    let grid = geometry::crc32(len, 4);
    let grid = LaunchConfig::linear(grid.blocks, grid.threads);
    for _ in 0..times {
        ops::zero(output.reborrow(), stream)?;
        // SAFETY: the kernel reads the input's bytes and adds to one word of output.
        unsafe { ops::launch(kernel, grid, (input, len, output.reborrow()), stream) }?;
    }
    match plan {
        Plan::Step => Err(planted()),
        Plan::TooMuch => Ok(2),
        Plan::None | Plan::TooLong => Ok(1),
    }
}

struct Traffic<'b> {
    kernel: &'b Function,
    random: Random,
    /// Items so far, each of which has contents of its own.
    sent: u64,
    taken: u64,
    failed: u64,
    dropped: u64,
}

impl Traffic<'_> {
    /// The contents of the next item.
    fn contents(&mut self) -> Vec<u8> {
        self.sent += 1;
        noise(self.sent, self.random.index(MOST + 1))
    }

    /// Pushes and pulls until so many items were sent, and takes all that are in flight.
    fn push_and_pull(&mut self, pipeline: &mut Pipeline<u8, u32>, items: u64) {
        let mut in_flight = VecDeque::new();
        pipeline.cancel().unwrap();
        let (mut next, end) = (0, self.sent + items);
        while self.sent < end || !in_flight.is_empty() {
            assert_eq!(pipeline.in_flight(), in_flight.len());
            if self.random.one_in(300) {
                let cancelled = pipeline.cancel().unwrap();
                assert_eq!(cancelled.dropped, in_flight.len() as u64);
                self.dropped += cancelled.dropped;
                in_flight.clear();
                next = 0;
            }
            if self.sent < end && !pipeline.is_full() && self.random.below(4) > 0 {
                let data = self.contents();
                let (plan, times) = (Plan::draw(&mut self.random), 1 + self.random.below(3));
                let mut input = pipeline.try_input().expect("it is not full");
                input[..data.len()].copy_from_slice(&data);
                let len = if plan == Plan::TooLong {
                    MOST + 1
                } else {
                    data.len()
                };
                let submitted = input.submit(len, |step| put(self.kernel, step, times, plan));
                match submitted {
                    Ok(index) => {
                        assert_eq!((index, plan), (next, Plan::None));
                        in_flight.push_back((index, reference::crc32(&data)));
                    }
                    Err(error) => {
                        assert_eq!((error.index, error.stage), (next, plan.stage()), "{error}");
                        self.failed += 1;
                    }
                }
                next += 1;
                continue;
            }
            let item = match self.random.one_in(2) {
                true => pipeline.try_output().unwrap(),
                false => pipeline.output().unwrap(),
            };
            if let Some(Item { index, output, .. }) = item {
                let (expected, crc) = in_flight.pop_front().expect("an item that was sent");
                assert_eq!((index, output), (expected, &[crc][..]));
                self.taken += 1;
            }
        }
        assert!(pipeline.output().unwrap().is_none());
    }

    /// Sends so many items through one run, or through an iterator that may be dropped early.
    fn run(&mut self, pipeline: &mut Pipeline<u8, u32>, items: usize, by_iterator: bool) {
        let contents: Vec<_> = (0..items).map(|_| self.contents()).collect();
        let fails = self.random.one_in(4).then(|| self.random.index(items));
        let plan = |index: u64| match fails == Some(index as usize) {
            true => Plan::Step,
            false => Plan::None,
        };
        let kernel = self.kernel;
        let mut taken = 0;
        let mut take = |item: Item<'_, u32>| {
            let data: &Vec<u8> = &contents[taken];
            assert_eq!((item.index, item.input_len), (taken as u64, data.len()));
            assert_eq!(item.output, [reference::crc32(data)]);
            taken += 1;
            Ok(())
        };
        let mut inputs = contents.iter();
        let fill = |data: &Vec<u8>, slot: &mut [u8]| {
            slot[..data.len()].copy_from_slice(data);
            Ok::<_, Error>(data.len())
        };
        let step = |step: Step<'_, u8, u32>| {
            let plan = plan(step.index);
            put(kernel, step, 1, plan)
        };
        let wanted = match by_iterator {
            true => 1 + self.random.index(items),
            false => items,
        };
        let outcome = match by_iterator {
            true => pipeline
                .iter(inputs, fill, step, &mut take)
                .take(wanted)
                .collect::<Result<(), _>>(),
            false => pipeline
                .run(
                    |slot| inputs.next().map(|data| fill(data, slot)).transpose(),
                    step,
                    &mut take,
                )
                .map(drop),
        };
        match outcome {
            Ok(()) => assert_eq!(taken, wanted),
            Err(ItemError { index, stage, .. }) => {
                assert_eq!((Some(index as usize), stage), (fails, ItemStage::Kernel(0)));
                assert!(taken as u64 <= index);
                self.failed += 1;
            }
        }
        self.taken += taken as u64;
        self.dropped += (items - taken) as u64 - u64::from(outcome.is_err());
        assert_eq!(pipeline.in_flight(), 0);
    }

    /// A pipeline of some depth and with some memory.
    fn pipeline(&mut self, context: &Context, pool: &MemoryPool) -> Pipeline<u8, u32> {
        let mut config = PipelineConfig::new(MOST, 1).depth(1 + self.random.index(5));
        if self.random.one_in(2) {
            let (input, output) = (1 + self.random.index(3), 1 + self.random.index(3));
            config = config.split(input, output);
        }
        Pipeline::new(context, pool, config).unwrap()
    }
}

/// Bytes of the process in memory; `None` where the system does not say.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

// Without it a race of slots, a late completion or an error at a bad moment could lose, repeat or
// mix up an item in a way that shorter tests do not meet; or each item could leave memory behind.
#[test]
fn no_item_is_lost_repeated_overtaken_or_wrong() {
    let items = std::env::var("CUPOLA_ITEMS").map_or(10_000, |items| items.parse().unwrap());
    #[cfg(feature = "sim")]
    let bench = Bench::with_device(
        cupola_sim::DeviceConfig::new().jitter(std::time::Duration::from_micros(20), 7),
    );
    #[cfg(not(feature = "sim"))]
    let bench = Bench::open();
    let kernel = bench.kernel("cupola_crc32");
    let mut traffic = Traffic {
        kernel: &kernel,
        random: Random::new(items),
        sent: 0,
        taken: 0,
        failed: 0,
        dropped: 0,
    };
    let mut early = None;
    while traffic.sent < items {
        let mut pipeline = traffic.pipeline(&bench.context, &bench.pool);
        let end = (traffic.sent + 1 + items / 16).min(items);
        while traffic.sent < end {
            let most = (end - traffic.sent).min(300);
            let batch = 1 + traffic.random.below(most);
            match traffic.random.below(4) {
                0 => traffic.run(&mut pipeline, batch as usize, false),
                1 => traffic.run(&mut pipeline, batch as usize, true),
                _ => traffic.push_and_pull(&mut pipeline, batch),
            }
        }
        if early.is_none() && traffic.sent >= items / 4 {
            early = resident();
        }
    }
    let Traffic {
        sent,
        taken,
        failed,
        dropped,
        ..
    } = traffic;
    println!("{sent} items: {taken} taken, {failed} failed, {dropped} dropped");
    assert_eq!((sent, taken + failed + dropped), (items, items));
    assert!(failed > 0 && dropped > 0 && taken > items / 2);
    if let (Some(early), Some(now)) = (early, resident()) {
        println!("{early} bytes resident after a quarter, {now} at the end");
        assert!(now < early + (16 << 20), "{early} bytes, and then {now}");
    }
    drop(kernel);
    bench.finish();
}
