//! Every driver call of a pool's life fails once, each with codes of three kinds. There is a life
//! for each way in which a pool comes to ask the driver.

mod ways;

use std::collections::BTreeSet;

use cupola_managers::Result;
use cupola_managers::pool::{Backing, DeviceLimit};
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, SYMBOLS};

use self::ways::LIVES;
use crate::*;

const CODES: [CUresult; 3] = [
    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    CUresult::CUDA_ERROR_OPERATING_SYSTEM,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
];

/// What a life has, and what it does with it.
struct Life {
    name: &'static str,
    backing: Backing,
    /// Bytes of the device.
    device: u64,
    set_up: fn(&TestBench) -> World<'_>,
    live: fn(&World<'_>) -> Result<()>,
    /// Looks after a life without an error whether it was what it is there for.
    proof: fn(&World<'_>),
    /// The driver functions that it asks, no more and no fewer.
    functions: &'static [&'static [SymbolId]],
    /// How often it asks some of them depends on the time that work takes.
    polls: bool,
    /// A part of it ends within it: what the driver does not take back then is left for good.
    ends: bool,
}

struct World<'b> {
    bench: &'b TestBench,
    shared: Option<DeviceLimit>,
    pools: Vec<MemoryPool>,
    /// A part of the life ends within it.
    part_ends: bool,
    one: Stream,
    two: Stream,
}

impl<'b> World<'b> {
    fn new(bench: &'b TestBench, configs: impl IntoIterator<Item = PoolConfig>) -> Self {
        let pool = |config| bench.context.memory_pool(config).unwrap();
        Self {
            bench,
            shared: None,
            part_ends: false,
            pools: configs.into_iter().map(pool).collect(),
            one: bench.stream(),
            two: bench.stream(),
        }
    }

    fn pool(&self) -> &MemoryPool {
        &self.pools[0]
    }

    /// What came of a step. After each the pools have what the device says, whatever failed.
    #[track_caller]
    fn after<T>(&self, step: Result<T>) -> Result<T> {
        if self.part_ends && self.bench.context.poison().is_some() {
            // Of what ended in a lost context nothing counts.
            return step;
        }
        let mapped: u64 = self.pools.iter().map(MemoryPool::mapped).sum();
        assert_eq!(mapped, self.bench.on_device(), "{:?}", step.as_ref().err());
        if let Some(shared) = &self.shared {
            assert_eq!(shared.used(), mapped, "{:?}", step.as_ref().err());
        }
        step
    }

    fn take<'w>(&'w self, pool: usize, bytes: u64, stream: &'w Stream) -> Result<Kept<'w>> {
        let block = self.after(self.pools[pool].allocate_raw(bytes, 256, stream))?;
        Ok(Kept(Some(block), self, stream))
    }
}

/// A block that is freed whatever happens.
struct Kept<'w>(Option<RawBlock>, &'w World<'w>, &'w Stream);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            free(block, self.2);
            if !std::thread::panicking() {
                let _ = self.1.after(Ok(()));
            }
        }
    }
}

/// How many calls of a function fail whose number depends on time, or that come before each call.
const POLLS: u64 = 6;

fn name(function: SymbolId) -> &'static str {
    SYMBOLS[usize::from(function.0)].as_str()
}

impl Life {
    fn bench(&self) -> TestBench {
        bench_with(self.backing, self.device)
    }

    /// Without an error: the calls that it makes.
    fn count(&self) -> Vec<(SymbolId, u64)> {
        let bench = self.bench();
        let mut world = (self.set_up)(&bench);
        world.part_ends = self.ends;
        bench.faults.reset();
        (self.live)(&world).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let counts = bench.faults.counts().into_iter().collect();
        (self.proof)(&world);
        drop(world);
        bench.finish();
        counts
    }

    fn sweep(&self) {
        let counts = self.count();
        // What is current is asked before each call.
        let calls = counts.iter().map(|&(function, _)| function);
        let calls = calls.filter(|&function| function != id::cuCtxGetCurrent);
        let asked: BTreeSet<_> = calls.map(name).collect();
        let expected = self.functions.iter().copied().flatten();
        let expected: BTreeSet<_> = expected.map(|&function| name(function)).collect();
        assert_eq!(asked, expected, "{} on {}", self.name, self.backing);
        for (function, count) in counts {
            let varies = [id::cuEventQuery, id::cuThreadExchangeStreamCaptureMode];
            let asks = function == id::cuCtxGetCurrent;
            let most = if asks || self.polls && varies.contains(&function) {
                count.min(POLLS)
            } else {
                count
            };
            for k in 1..=most {
                for code in CODES {
                    self.case(function, k, code);
                }
            }
        }
    }

    /// One life with the error, then one without.
    fn case(&self, function: SymbolId, k: u64, code: CUresult) {
        let bench = self.bench();
        let mut world = (self.set_up)(&bench);
        world.part_ends = self.ends;
        bench.faults.reset();
        bench.faults.fail(function, k, code);
        let outcome = (self.live)(&world);
        let what = format!(
            "{} on {}, {} call {k} {code:?}: {outcome:?}",
            self.name,
            self.backing,
            name(function)
        );
        if let Err(error) = &outcome {
            assert_eq!(error.status(), Some(code), "{what}");
        }
        bench.faults.reset();
        world.after(Ok(())).unwrap();
        let is_lost = bench.context.poison().is_some();
        // What a part that ended could not give back has no owner any more.
        let stays = self.ends && GIVES_BACK.contains(&function);
        if is_lost {
            let refused = world.pool().allocate_raw(1, 1, &world.one);
            assert!(refused.is_err(), "{what}");
        } else {
            for pool in &world.pools {
                assert_eq!(pool.usage().unwrap().live, 0, "{what}");
            }
            (self.live)(&world).unwrap_or_else(|error| panic!("{what}: then {error}"));
            world.after(Ok(())).unwrap();
        }
        drop(world);
        let left = bench.on_device();
        assert!(left == 0 || stays, "{what}: {left} bytes");
        let watch = bench.execution.watch();
        let TestBench {
            context,
            execution,
            faults,
            machine,
            ..
        } = bench;
        drop((context, execution, faults));
        let mut live = watch.live();
        if stays {
            (live.abandoned, live.abandoned_bytes) = (0, 0);
        }
        assert!(live.is_empty(), "{what}: {live:?}");
        assert!(
            machine.leaks().is_none() || stays,
            "{what}: {:?}",
            machine.leaks()
        );
    }
}

const GIVES_BACK: [SymbolId; 4] = [
    id::cuMemUnmap,
    id::cuMemRelease,
    id::cuMemAddressFree,
    id::cuMemFree_v2,
];

// Without it a path that runs only when something fails could leak memory, charge it twice or
// not at all, or leave a pool that works no more.
#[test]
fn every_call_of_a_pool_may_fail() {
    std::thread::scope(|scope| {
        let sweeps = LIVES.map(|life| scope.spawn(move || life.sweep()));
        for sweep in sweeps {
            sweep.join().unwrap();
        }
    });
}
