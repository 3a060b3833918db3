//! A launch: blocks dealt out to workers.
//!
//! [`Grid::work`] may be called from any number of threads; each takes blocks
//! until none is left. A worker keeps several blocks resident and gives each a
//! slice, so blocks that wait for each other make progress on one thread.

use super::check::Watch;
use super::ctx::{Ctx, Env};
use super::fault::{Fault, FaultKind};
use super::kernel::Kernel;
use super::memory::GlobalMemory;
use super::run::block::{Block, BlockStop};
use super::{Host, Silent};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

mod step;
pub use step::{Slice, Stepper, Turn};

/// Most shared memory of a block, in bytes, unless told: that of current GPUs.
const MAX_SHARED: u32 = 227 << 10;
/// Blocks that are resident, unless told.
const RESIDENT: u64 = 64;
/// Host memory for the blocks of a launch, unless it is cooperative.
const MAX_FOOTPRINT: usize = 1 << 30;
/// Instructions after which a worker adds its count to the launch's.
const TOLD_AFTER: u64 = 1 << 20;
/// Blocks that `launch` runs itself before it starts helpers.
const ALONE: u64 = 4;
/// Instructions of one block after which helpers are worth their start: some 0.1 ms.
const LONG: u64 = 20_000;

/// Shape of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared: u32,
}

/// How to run a launch.
#[derive(Clone, Copy)]
pub struct LaunchOptions<'m> {
    /// Threads that [`launch`] may use, the caller's included.
    pub workers: usize,
    /// Seed of the schedule. 0 keeps the natural order; others vary slices and
    /// the order of warps, alike in every run with one worker.
    pub seed: u64,
    /// Stops the launch when it becomes true.
    pub cancel: Option<&'m AtomicBool>,
    /// Most instructions, counted once per warp.
    pub budget: u64,
    /// Most time from the launch's start: the host's clock, or what [`Turn::elapsed`] says.
    pub time_limit: Option<Duration>,
    /// All blocks are resident at once, as a cooperative launch promises.
    pub cooperative: bool,
    /// How many blocks are resident at once, as far as the grid has them: blocks that wait for
    /// each other all get their turns, whatever the number of workers. Each worker may have one
    /// more. If they would take more than 1 GiB of the host there are fewer, which
    /// [`Host::remark`] is told.
    pub resident: u64,
    /// `%nsmid`.
    pub multiprocessors: u32,
    /// The multiprocessors that blocks run on, by number; all, if it does not say.
    pub places: Option<&'m [u32]>,
    /// Most shared memory of a block, static and dynamic, in bytes.
    pub max_shared: u32,
    /// Receives what kernels print.
    pub host: &'m dyn Host,
    /// Is asked and told by the checks of a program that was loaded with them.
    pub watch: Option<&'m dyn Watch>,
}

impl Default for LaunchOptions<'_> {
    fn default() -> Self {
        LaunchOptions {
            workers: 1,
            seed: 0,
            cancel: None,
            budget: u64::MAX,
            time_limit: None,
            cooperative: false,
            resident: RESIDENT,
            multiprocessors: 1,
            places: None,
            max_shared: MAX_SHARED,
            host: &Silent,
            watch: None,
        }
    }
}

impl LaunchOptions<'_> {
    /// The multiprocessor of the worker or block with that number: they take turns.
    pub(crate) fn place(&self, index: u64) -> u32 {
        match self.places.filter(|places| !places.is_empty()) {
            Some(places) => places[(index % places.len() as u64) as usize],
            None => (index % u64::from(self.multiprocessors.max(1))) as u32,
        }
    }
}

impl std::fmt::Debug for LaunchOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchOptions")
            .field("workers", &self.workers)
            .field("seed", &self.seed)
            .field("budget", &self.budget)
            .field("cooperative", &self.cooperative)
            .finish_non_exhaustive()
    }
}

/// Why a launch did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The request is not valid for this kernel; nothing ran.
    #[error("invalid launch: {0}")]
    Config(&'static str),
    /// A thread faulted.
    #[error("{0}")]
    Fault(Box<Fault>),
}

/// What a launch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchStats {
    /// Instructions executed, counted once per warp.
    pub instructions: u64,
    /// Blocks executed.
    pub blocks: u64,
}

/// A counter that every worker changes, away from what they only read.
#[repr(align(128))]
struct Alone(AtomicU64);

/// A launch in progress.
pub struct Grid<'m> {
    env: Env<'m>,
    kernel: &'m Kernel,
    options: LaunchOptions<'m>,
    blocks: u64,
    next: Alone,
    steps: AtomicU64,
    done: AtomicU64,
    workers: AtomicU64,
    /// Blocks that have outlasted a slice and not ended.
    waiting: Alone,
    /// Whether the host was told that not all can be resident.
    crowded: AtomicBool,
    stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl std::fmt::Debug for Grid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grid")
            .field("kernel", &self.kernel.name)
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}

impl<'m> Grid<'m> {
    /// Checks a launch. Nothing runs until [`Grid::work`].
    ///
    /// # Errors
    /// [`LaunchError::Config`] names the first limit that is exceeded.
    pub fn new(
        kernel: &'m Kernel,
        config: LaunchConfig,
        params: &'m [u8],
        mem: &'m dyn GlobalMemory,
        options: LaunchOptions<'m>,
    ) -> Result<Self, LaunchError> {
        let bad = |text| Err(LaunchError::Config(text));
        let [gx, gy, gz] = config.grid;
        let [bx, by, bz] = config.block;
        if config.grid.contains(&0) || config.block.contains(&0) {
            return bad("a dimension is zero");
        }
        if gx > i32::MAX.cast_unsigned() || gy > 65535 || gz > 65535 {
            return bad("the grid exceeds 2147483647 x 65535 x 65535 blocks");
        }
        if bx > 1024 || by > 1024 || bz > 64 {
            return bad("the block exceeds 1024 x 1024 x 64 threads");
        }
        if u64::from(bx) * u64::from(by) * u64::from(bz) > u64::from(kernel.max_threads) {
            return bad("the block has more threads than the kernel allows");
        }
        if kernel.required_block.is_some_and(|r| r != config.block) {
            return bad("the block is not of the shape that .reqntid demands");
        }
        let (fixed, dynamic) = (kernel.static_shared, config.dynamic_shared);
        if u64::from(fixed) + u64::from(dynamic) > u64::from(options.max_shared) {
            return bad("the block needs more shared memory than the device has for one");
        }
        let dynamic_base = u64::from(fixed).next_multiple_of(u64::from(kernel.dynamic_align));
        let shared = dynamic_base + u64::from(dynamic);
        if u32::try_from(shared).is_err() {
            return bad("dynamic shared memory is aligned beyond what a block can have");
        }
        if params.len() < kernel.param_bytes as usize {
            return bad("the parameter buffer is shorter than the kernel's parameters");
        }
        let env = Env {
            funcs: &kernel.funcs,
            config,
            params,
            mem,
            host: options.host,
            watch: options.watch,
            dynamic_base: dynamic_base as u32,
            shared_bytes: shared as u32,
            multiprocessors: options.multiprocessors,
            started: Instant::now(),
        };
        Ok(Grid {
            env,
            kernel,
            options,
            blocks: u64::from(gx) * u64::from(gy) * u64::from(gz),
            next: Alone(AtomicU64::new(0)),
            steps: AtomicU64::new(0),
            done: AtomicU64::new(0),
            workers: AtomicU64::new(0),
            waiting: Alone(AtomicU64::new(0)),
            crowded: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            fault: Mutex::new(None),
        })
    }

    /// Runs blocks until none is left to start and this caller's have ended, or
    /// something faulted.
    pub fn work(&self) {
        self.work_then(&mut || {});
    }

    /// Result after every caller of [`Grid::work`] has returned.
    ///
    /// # Errors
    /// The first fault, if there was one.
    pub fn finish(self) -> Result<LaunchStats, LaunchError> {
        let fault = self
            .fault
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(fault) => Err(LaunchError::Fault(Box::new(fault))),
            None => Ok(LaunchStats {
                instructions: self.steps.into_inner(),
                blocks: self.done.into_inner(),
            }),
        }
    }

    /// Whether blocks are left to start.
    #[must_use]
    pub fn pending(&self) -> bool {
        self.next.0.load(Relaxed) < self.blocks && !self.stop.load(Relaxed)
    }

    fn take(&self) -> Option<[u32; 3]> {
        if self.next.0.load(Relaxed) >= self.blocks {
            return None;
        }
        let index = self.next.0.fetch_add(1, Relaxed);
        (index < self.blocks).then(|| self.place(index))
    }

    /// Where in the grid a block is, by its linear index.
    fn place(&self, index: u64) -> [u32; 3] {
        let [gx, gy, _] = self.env.config.grid.map(u64::from);
        [
            (index % gx) as u32,
            (index / gx % gy) as u32,
            (index / gx / gy) as u32,
        ]
    }

    fn start(&self, ctaid: [u32; 3], idle: &mut Vec<Block>, seed: u64) -> Option<Block> {
        let block = idle.pop().or_else(|| {
            let shape = self.env.config.block;
            Block::new(
                shape,
                self.env.shared_bytes,
                self.kernel.index,
                self.env.funcs,
            )
        });
        block.map(|mut b| {
            b.restart(ctaid, seed);
            b.watch(&self.env);
            b
        })
    }

    /// How many blocks like this may be resident.
    fn room(&self, block: &Block) -> u64 {
        if self.options.cooperative {
            return u64::MAX;
        }
        let wanted = self.options.resident.max(1);
        let footprint = block.footprint().max(1);
        let memory = (MAX_FOOTPRINT / footprint).max(1) as u64;
        let fitting = wanted.min(self.blocks);
        if memory < fitting && !self.crowded.swap(true, Relaxed) {
            self.options.host.remark(&format!(
                "kernel {}: {memory} blocks are resident and not {fitting}, because each takes \
                 {footprint} bytes of the host: blocks that wait for others may wait for ever",
                self.kernel.name
            ));
        }
        wanted.min(memory)
    }

    /// [`Grid::work`], calling `long` once if there turns out to be work for
    /// more than this thread.
    fn work_then(&self, long: &mut dyn FnMut()) {
        let mut started = 0;
        let smid = self.workers.fetch_add(1, Relaxed) as u32;
        let mut cx = Ctx::new(&self.env, self.options.place(u64::from(smid)));
        let mut rng = Rng::of(self.options.seed, smid);
        let mut tally = Tally {
            grid: self,
            steps: 0,
            done: 0,
        };
        let mut idle = Vec::new();
        let mut resident: VecDeque<Block> = VecDeque::new();
        // Blocks may wait for each other only if one has outlasted its slice.
        let mut room = 0;
        while !self.stop.load(Relaxed) {
            let mut fresh = None;
            if resident.is_empty() || self.waiting.0.load(Relaxed) < room {
                fresh = self
                    .take()
                    .and_then(|c| self.start(c, &mut idle, rng.next()));
                started += 1;
                if started == ALONE {
                    long();
                }
            }
            let waited = fresh.is_none();
            let Some(mut block) = fresh.or_else(|| resident.pop_front()) else {
                return;
            };
            // Here too, for grids whose blocks all end within their first slice.
            if let Some(kind) = self.over(None) {
                return self.abort(kind, Some(&block));
            }
            let mut steps = 0;
            let stop = block.run(&mut cx, &mut steps, rng.slice());
            tally.add(steps);
            match stop {
                BlockStop::Done => {
                    tally.done += 1;
                    if waited {
                        self.waiting.0.fetch_sub(1, Relaxed);
                    }
                    if started < ALONE && steps > LONG {
                        started = ALONE;
                        long();
                    }
                    idle.push(block);
                }
                BlockStop::Slice => {
                    if started < ALONE {
                        started = ALONE;
                        long();
                    }
                    if !waited {
                        self.waiting.0.fetch_add(1, Relaxed);
                    }
                    room = self.room(&block);
                    if let Some(kind) = self.over(None) {
                        self.abort(kind, Some(&block));
                    }
                    resident.push_back(block);
                }
                BlockStop::Fault(fault, line, func, thread) => {
                    let function = self.env.funcs.get(func as usize);
                    self.report(Fault {
                        kind: fault.kind,
                        kernel: self.kernel.name.clone(),
                        function: function.map_or_else(String::new, |f| f.name.clone()),
                        line,
                        block: block.ctaid,
                        thread,
                        address: fault.address,
                        access: fault.access,
                    });
                }
            }
        }
    }

    /// Why no more may run: the launch was cancelled, or has used up its budget or its time,
    /// by the host's clock unless told how much it has used.
    fn over(&self, elapsed: Option<Duration>) -> Option<FaultKind> {
        if self.options.cancel.is_some_and(|c| c.load(Relaxed)) {
            return Some(FaultKind::Cancelled);
        }
        if let Some(limit) = self.options.time_limit
            && elapsed.unwrap_or_else(|| self.env.started.elapsed()) > limit
        {
            return Some(FaultKind::TimeLimit(limit));
        }
        (self.steps.load(Relaxed) > self.options.budget).then_some(FaultKind::Budget)
    }

    /// Ends the launch from outside. The fault says where a thread of the block is; before
    /// any block has started, there is no line.
    #[cold]
    fn abort(&self, kind: FaultKind, block: Option<&Block>) {
        let position = block.and_then(|block| block.position(self.env.funcs));
        let (line, func, thread) = position.unwrap_or((0, self.kernel.index, [0; 3]));
        let function = self.env.funcs.get(func as usize);
        self.report(Fault {
            kind,
            kernel: self.kernel.name.clone(),
            function: function.map_or_else(String::new, |f| f.name.clone()),
            line,
            block: block.map_or([0; 3], |block| block.ctaid),
            thread,
            address: None,
            access: None,
        });
    }

    /// Keeps the first fault and stops all workers.
    fn report(&self, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(fault);
        }
        self.stop.store(true, Relaxed);
    }
}

/// What one worker has done and not yet told the others: workers that write the same memory
/// after each block are in each other's way.
struct Tally<'g, 'm> {
    grid: &'g Grid<'m>,
    steps: u64,
    done: u64,
}

impl Tally<'_, '_> {
    fn add(&mut self, steps: u64) {
        self.steps += steps;
        if self.steps > TOLD_AFTER || self.grid.options.budget != u64::MAX {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.grid.steps.fetch_add(self.steps, Relaxed);
        self.grid.done.fetch_add(self.done, Relaxed);
        (self.steps, self.done) = (0, 0);
    }
}

impl Drop for Tally<'_, '_> {
    fn drop(&mut self) {
        self.tell();
    }
}

/// A small generator for seeded schedules.
struct Rng(u64);

impl Rng {
    /// The worker's own sequence; that of seed 0 is zeros, for every worker.
    fn of(seed: u64, worker: u32) -> Self {
        if seed == 0 {
            return Rng(0);
        }
        // SplitMix64, so that seeds and workers near each other are not alike.
        let mut z = seed.wrapping_add(u64::from(worker).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Rng((z ^ z >> 31).max(1))
    }

    fn next(&mut self) -> u64 {
        if self.0 == 0 {
            return 0;
        }
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Length of a warp's next slice.
    fn slice(&mut self) -> u64 {
        match self.next() {
            0 => u64::MAX,
            n => 16 + n % 4096,
        }
    }
}

/// Runs a kernel to its end. Helper threads start only if more than a few
/// blocks are left after the caller has run some.
///
/// # Errors
/// The request is not valid, or a thread faulted.
pub fn launch<'m>(
    kernel: &'m Kernel,
    config: LaunchConfig,
    params: &'m [u8],
    mem: &'m dyn GlobalMemory,
    options: LaunchOptions<'m>,
) -> Result<LaunchStats, LaunchError> {
    let grid = Grid::new(kernel, config, params, mem, options)?;
    let helpers = options
        .workers
        .min(grid.blocks.min(usize::MAX as u64) as usize)
        .saturating_sub(1);
    std::thread::scope(|scope| {
        grid.work_then(&mut || {
            if grid.pending() {
                for _ in 0..helpers {
                    scope.spawn(|| grid.work());
                }
            }
        });
    });
    grid.finish()
}

#[cfg(test)]
mod tests {
    use super::Rng;

    /// Without it, seed 0 could vary the schedule of every worker but the first, and two seeds
    /// could be the same schedule with the workers exchanged.
    #[test]
    fn seed_zero_is_the_natural_order_for_every_worker() {
        let first = |seed, worker| {
            let mut rng = Rng::of(seed, worker);
            std::array::from_fn::<u64, 4, _>(|_| rng.next())
        };
        for worker in 0..64 {
            assert_eq!(first(0, worker), [0; 4]);
            assert_eq!(Rng::of(0, worker).slice(), u64::MAX);
            assert!(!first(1, worker).contains(&0));
        }
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 1), first(1 << 32, 0));
        assert_ne!(first(1 << 32 | 1, 0), first(1, 1));
    }
}
