//! A warp at block barriers.

use super::barrier::{Barriers, Release};
use super::groups::State;
use super::warp::{Warp, uniform};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{BarKind, Inst, Kind, NONE};

impl Warp {
    /// Arrives at a block barrier; the number, and the state that follows.
    ///
    /// # Safety
    /// `cx` must hold the frame that `inst` belongs to.
    pub(super) unsafe fn arrive(
        &self,
        cx: &Ctx<'_>,
        bars: &mut Barriers,
        inst: &Inst,
        mask: u32,
    ) -> (u32, State) {
        // SAFETY: a and b are 32-bit registers, p a predicate.
        let (number, count, yes) = unsafe {
            let count = (inst.b != NONE).then(|| uniform(cx, inst.b, mask));
            let yes = (inst.p != NONE).then(|| {
                let p = cx.pred(inst.p) ^ 0u32.wrapping_sub((inst.x & 1) as u32);
                (p & mask).count_ones()
            });
            (uniform(cx, inst.a, mask), count, yes)
        };
        if number > 15 {
            return (number, State::Bar(0));
        }
        // Counts are of whole warps: lanes that never existed come along with
        // the lowest one that does.
        let mut threads = mask.count_ones();
        if count.is_some() && mask & (self.ids.all & self.ids.all.wrapping_neg()) != 0 {
            threads += 32 - self.ids.all.count_ones();
        }
        bars.arrive(number as usize, threads, count, yes);
        let state = if inst.bar == BarKind::Arrive {
            State::Run
        } else {
            State::Bar(number as u8)
        };
        (number, state)
    }

    /// Whether any thread waits at the barrier.
    pub(crate) fn waits_at(&self, number: usize) -> bool {
        let state = State::Bar(number as u8);
        self.groups.iter().any(|group| group.state == state)
    }

    /// Lets the groups at a released barrier go on.
    pub(crate) fn release(&mut self, cx: &mut Ctx<'_>, release: &Release) {
        for i in 0..self.groups.len() {
            let g = self.groups[i];
            if g.state != State::Bar(release.number as u8) {
                continue;
            }
            self.groups[i].state = State::Run;
            if !release.reduces() {
                continue;
            }
            let frame = &mut self.frames[g.frame as usize];
            let func = cx.env.funcs.get(frame.func as usize);
            let inst = func.and_then(|f| f.code.get(g.pc as usize - 1));
            let Some(&Inst {
                kind: Kind::Bar,
                bar: kind,
                d,
                ..
            }) = inst
            else {
                continue;
            };
            if !matches!(kind, BarKind::Popc | BarKind::And | BarKind::Or) {
                continue;
            }
            cx.regs = frame.regs.as_mut_ptr().cast();
            let value = release.value(kind);
            // SAFETY: the registers are those of the barrier's frame; d is of
            // the class that its kind implies.
            unsafe {
                if kind == BarKind::Popc {
                    for lane in crate::exec::lanes::bits(g.mask) {
                        cx.reg::<u32>(d).add(lane).write(value);
                    }
                } else {
                    cx.set_pred(d, g.mask, value);
                }
            }
        }
    }
}
