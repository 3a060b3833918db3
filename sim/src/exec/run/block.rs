//! A block: its warps, barriers and shared memory, stepped in slices.

use super::barrier::Barriers;
use super::frame::Unit;
use super::groups::Group;
use super::warp::{Stop, Warp};
use crate::exec::check::Shadow;
use crate::exec::ctx::{Ctx, Env, WarpIds};
use crate::exec::fault::LaneFault;
use crate::exec::inst::Func;

/// Instructions a warp may run before the next one has its turn.
const SLICE: u64 = 8192;

/// What uninitialised shared memory holds: a value no program expects.
const POISON: u32 = 0xa5a5_a5a5;

/// A resident block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) ctaid: [u32; 3],
    warps: Vec<Warp>,
    shared: Vec<Unit>,
    bars: Barriers,
    next: usize,
    shadow: Option<Box<Shadow>>,
}

/// Why a block stopped.
pub(crate) enum BlockStop {
    Done,
    Slice,
    /// Fault, line, function, thread index.
    Fault(LaneFault, u32, u32, [u32; 3]),
}

impl Block {
    pub(crate) fn new(
        dims: [u32; 3],
        shared_bytes: u32,
        entry: u32,
        funcs: &[Func],
    ) -> Option<Self> {
        let func = funcs.get(entry as usize)?;
        let threads = dims.iter().product::<u32>();
        let warps = (0..threads.div_ceil(32)).map(|w| {
            let in_warp = (threads - w * 32).min(32);
            let thread = |l: u32| w * 32 + l;
            let index = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|l| f(thread(l as u32)));
            let ids = WarpIds {
                tid: [
                    index(&|t| t % dims[0]),
                    index(&|t| t / dims[0] % dims[1]),
                    index(&|t| t / dims[0] / dims[1]),
                ],
                all: u32::MAX >> (32 - in_warp),
                warp: w,
            };
            Warp::new(ids, entry, func)
        });
        Some(Block {
            ctaid: [0; 3],
            warps: warps.collect(),
            shared: vec![Unit([POISON; 32]); (shared_bytes as usize).div_ceil(size_of::<Unit>())],
            bars: Barriers::default(),
            next: 0,
            shadow: None,
        })
    }

    /// Makes a finished block into the one at `ctaid`; `seed` picks the warp
    /// that goes first.
    pub(crate) fn restart(&mut self, ctaid: [u32; 3], seed: u64) {
        self.ctaid = ctaid;
        self.bars = Barriers::default();
        self.shared.fill(Unit([POISON; 32]));
        self.warps.iter_mut().for_each(Warp::restart);
        self.next = (seed % self.warps.len().max(1) as u64) as usize;
    }

    /// Has this warp go first in the next turn, modulo how many there are.
    pub(crate) fn go_first(&mut self, warp: u64) {
        self.next = (warp % self.warps.len().max(1) as u64) as usize;
    }

    /// Begins to follow what happens in shared memory, if the launch is watched.
    pub(crate) fn watch(&mut self, env: &Env<'_>) {
        let shadow = |watch: &dyn crate::exec::Watch| Shadow::new(watch.checks(), env.shared_bytes);
        self.shadow = env.watch.map(shadow);
    }

    /// Bytes this block occupies on the host, roughly.
    pub(crate) fn footprint(&self) -> usize {
        let warp = |w: &Warp| {
            let regs: usize = w.frames.iter().map(|f| f.regs.len()).sum();
            regs * size_of::<Unit>() + w.local.len() * 16
        };
        self.warps.iter().map(warp).sum::<usize>() + self.shared.len() * size_of::<Unit>()
    }

    /// Where its first thread that has not ended is: line, function, index.
    #[cold]
    pub(crate) fn position(&self, funcs: &[Func]) -> Option<(u32, u32, [u32; 3])> {
        let warp = self.warps.iter().find(|warp| warp.live != 0)?;
        let lane = |group: &&Group| group.mask.trailing_zeros();
        let group = warp.groups.iter().min_by_key(lane)?;
        let func = warp.frames.get(group.frame as usize)?.func;
        let inst = funcs.get(func as usize)?.code.get(group.pc as usize);
        let thread = warp.ids.tid.map(|t| t[lane(&group) as usize & 31]);
        Some((inst.map_or(0, |inst| inst.line), func, thread))
    }

    /// Gives every warp a turn, until all have ended or have had one.
    pub(crate) fn run(&mut self, cx: &mut Ctx<'_>, steps: &mut u64, slice: u64) -> BlockStop {
        cx.shadow = self.shadow.take();
        let stop = self.run_warps(cx, steps, slice);
        self.shadow = cx.shadow.take();
        stop
    }

    fn run_warps(&mut self, cx: &mut Ctx<'_>, steps: &mut u64, slice: u64) -> BlockStop {
        cx.shared = self.shared.as_mut_ptr().cast();
        cx.shared_len = u64::from(cx.env.shared_bytes);
        cx.ctaid = self.ctaid;
        let count = self.warps.len();
        // What one turn of every warp may cost. Barriers begin new turns, and a kernel with one
        // in a loop may never leave it.
        let end = steps.saturating_add(slice.min(SLICE).saturating_mul(count as u64));
        loop {
            let (mut sliced, mut done) = (false, 0);
            let (before, first) = self.warps.split_at_mut(self.next);
            for warp in first.iter_mut().chain(before) {
                match warp.run(cx, &mut self.bars, steps, *steps + slice.min(SLICE)) {
                    Stop::Done => done += 1,
                    Stop::Parked => {}
                    Stop::Slice => sliced = true,
                    Stop::Fault(fault, line, func) => {
                        let tid = warp.ids.tid.map(|t| t[fault.lane as usize & 31]);
                        return BlockStop::Fault(fault, line, func, tid);
                    }
                }
            }
            if done == count {
                return BlockStop::Done;
            }
            let released = self.release(cx);
            if sliced || (released && *steps >= end) {
                return BlockStop::Slice;
            }
            if !released {
                return super::deadlock::stop(cx, &self.warps, &self.bars);
            }
        }
    }

    /// Releases the barriers that are complete.
    fn release(&mut self, cx: &mut Ctx<'_>) -> bool {
        if !self.bars.awaited() {
            return false;
        }
        let live = self.warps.iter().map(|w| w.live.count_ones()).sum();
        let mut any = false;
        while let Some(release) = self.bars.release(live) {
            any = true;
            if let Some(shadow) = &mut cx.shadow {
                let ended = self.warps.iter().filter(|warp| warp.live == 0);
                let waiting = self.warps.iter().filter(|w| w.waits_at(release.number));
                let (ended, waiting) = (ended.map(|w| w.ids.warp), waiting.map(|w| w.ids.warp));
                shadow.release(release.number, ended, waiting);
            }
            for warp in &mut self.warps {
                warp.release(cx, &release);
            }
        }
        any
    }
}
