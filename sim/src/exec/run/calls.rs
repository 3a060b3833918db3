//! Calls and returns of a lane group.

use super::frame::{Frame, Unit, registers};
use super::groups::{Group, State};
use super::warp::{Next, Warp, lane_fault};
use crate::exec::ctx::Ctx;
use crate::exec::fault::FaultKind;
use crate::exec::inst::{Callee, Func, Inst};
use crate::exec::lanes::bits;
use crate::exec::memory::CODE_WINDOW;

/// Deepest nesting of calls.
const MAX_DEPTH: u32 = 4096;
/// Most memory for the registers of a warp's frames, in bytes.
const MAX_FRAMES: usize = 128 << 20;
/// What a warp keeps of them from one block to the next.
const KEPT_FRAMES: usize = 1 << 20;
/// Most local memory per thread, over all frames.
const MAX_LOCAL: u64 = 1 << 20;

impl Warp {
    /// Executes the call at a group's pc.
    // Not a part of the interpreter's loop, which would be compiled worse with it.
    #[inline(never)]
    pub(super) fn call(&mut self, cx: &mut Ctx<'_>, at: usize, func: &Func, inst: &Inst) -> Next {
        let group = self.groups[at];
        let mut mask = group.mask;
        let Some(call) = func.calls.get(inst.x as usize) else {
            return Next::Fault(lane_fault(FaultKind::InvalidPc, mask), inst.line);
        };
        let index = match call.callee {
            Callee::Direct(index) => index,
            Callee::Indirect(reg) => {
                // SAFETY: the register is 64-bit and of the current frame.
                let targets = unsafe { cx.reg::<[u64; 32]>(reg).read() };
                let first = targets[mask.trailing_zeros() as usize & 31];
                let same = bits(mask)
                    .filter(|&l| targets[l] == first)
                    .fold(0, |s, l| s | 1u32 << l);
                if same != mask {
                    // The others come back to this call.
                    self.groups.push(Group {
                        mask: mask & !same,
                        yielded: false,
                        ..group
                    });
                    self.groups[at].mask = same;
                    mask = same;
                }
                let number = first.wrapping_sub(CODE_WINDOW);
                match u32::try_from(number / 16) {
                    Ok(index) if number % 16 == 0 => index,
                    _ => return Next::Fault(lane_fault(FaultKind::InvalidPc, mask), inst.line),
                }
            }
            Callee::Printf
            | Callee::AssertFail
            | Callee::Malloc
            | Callee::Free
            | Callee::SetConditional => {
                return self.builtin(cx, at, call, inst);
            }
        };
        let Some(callee) = cx
            .env
            .funcs
            .get(index as usize)
            .filter(|f| !f.code.is_empty())
        else {
            return Next::Fault(lane_fault(FaultKind::InvalidPc, mask), inst.line);
        };
        let caller = &self.frames[group.frame as usize];
        let depth = caller.depth + 1;
        let local_base = caller.local_base + u64::from(func.local_bytes);
        let from = caller.local_base;
        let needed = local_base + u64::from(callee.local_bytes);
        if depth > MAX_DEPTH || needed > MAX_LOCAL {
            return Next::Fault(lane_fault(FaultKind::StackOverflow, mask), inst.line);
        }
        self.grow_local(needed);
        for m in &call.args {
            self.copy_local(
                mask,
                from + u64::from(m.caller),
                local_base + u64::from(m.callee),
                m.size,
            );
        }
        let Some(frame) = self.new_frame(index, callee) else {
            return Next::Fault(lane_fault(FaultKind::StackOverflow, mask), inst.line);
        };
        let f = &mut self.frames[frame as usize];
        f.local_base = local_base;
        f.ret_pc = group.pc + 1;
        f.parent = group.frame;
        f.call = inst.x as u32;
        f.lanes = mask;
        f.depth = depth;
        let g = &mut self.groups[at];
        (g.frame, g.pc, g.state) = (frame, 0, State::Run);
        Next::Reschedule
    }

    /// A frame for `func`: a used one of the same function if there is one. `None` if the
    /// warp's frames would need too much memory.
    fn new_frame(&mut self, index: u32, func: &Func) -> Option<u32> {
        let frames = &self.frames;
        let same = self
            .free
            .iter()
            .rposition(|&f| frames[f as usize].func == index);
        if let Some(k) = same {
            return Some(self.free.swap_remove(k));
        }
        let bytes = func.frame_bytes as usize;
        while self.frame_bytes + bytes > MAX_FRAMES
            && let Some(spare) = self.free.pop()
        {
            self.places.push(spare);
            let regs = std::mem::take(&mut self.frames[spare as usize].regs);
            self.frame_bytes -= regs.len() * size_of::<Unit>();
        }
        if self.frame_bytes + bytes > MAX_FRAMES {
            return None;
        }
        let frame = Frame {
            func: index,
            regs: registers(func),
            local_base: 0,
            ret_pc: 0,
            parent: 0,
            call: 0,
            lanes: 0,
            depth: 0,
        };
        self.frame_bytes += frame.regs.len() * size_of::<Unit>();
        if self.free.len() > 64
            && let Some(slot) = self.free.pop()
        {
            let old = std::mem::replace(&mut self.frames[slot as usize], frame);
            self.frame_bytes -= old.regs.len() * size_of::<Unit>();
            return Some(slot);
        }
        if let Some(slot) = self.places.pop() {
            self.frames[slot as usize] = frame;
            return Some(slot);
        }
        self.frames.push(frame);
        Some(self.frames.len() as u32 - 1)
    }

    /// Between blocks, when only the first frame is in use: lets go of what recursion has left.
    pub(super) fn trim(&mut self) {
        if self.frame_bytes > KEPT_FRAMES {
            self.frames.truncate(1);
            self.free.clear();
            self.places.clear();
            self.frame_bytes = 0;
        }
    }

    /// Returns a group to its caller.
    // Not a part of the interpreter's loop, which would be compiled worse with it.
    #[inline(never)]
    pub(super) fn ret(&mut self, cx: &mut Ctx<'_>, at: usize) -> Next {
        let group = self.groups[at];
        let frame = &mut self.frames[group.frame as usize];
        frame.lanes &= !group.mask;
        let (parent, ret_pc, site, from) =
            (frame.parent, frame.ret_pc, frame.call, frame.local_base);
        if frame.lanes == 0 {
            self.free.push(group.frame);
        }
        let caller = &self.frames[parent as usize];
        let to = caller.local_base;
        let call = cx
            .env
            .funcs
            .get(caller.func as usize)
            .and_then(|f| f.calls.get(site as usize));
        for m in call.map_or(&[][..], |c| &c.rets[..]) {
            self.copy_local(
                group.mask,
                from + u64::from(m.callee),
                to + u64::from(m.caller),
                m.size,
            );
        }
        let g = &mut self.groups[at];
        (g.frame, g.pc, g.state) = (parent, ret_pc, State::Run);
        Next::Reschedule
    }

    /// Copies `size` bytes of each lane's local memory. Both ends are within
    /// it: offsets were laid out by the decoder, and `call` made room.
    fn copy_local(&mut self, mask: u32, from: u64, to: u64, size: u32) {
        for lane in bits(mask) {
            for k in 0..u64::from(size) {
                let byte = self.local_byte(from + k, lane);
                self.set_local_byte(to + k, lane, byte);
            }
        }
    }

    pub(super) fn local_byte(&self, at: u64, lane: usize) -> u8 {
        let word = self
            .local
            .get((at / 16) as usize * 32 + lane)
            .copied()
            .unwrap_or(0);
        word.to_ne_bytes()[(at % 16) as usize]
    }

    pub(super) fn set_local_byte(&mut self, at: u64, lane: usize, byte: u8) {
        if let Some(word) = self.local.get_mut((at / 16) as usize * 32 + lane) {
            let mut bytes = word.to_ne_bytes();
            bytes[(at % 16) as usize] = byte;
            *word = u128::from_ne_bytes(bytes);
        }
    }

    /// A little-endian value in a lane's local memory.
    pub(super) fn local_value(&self, at: u64, size: u32, lane: usize) -> u64 {
        (0..u64::from(size.min(8))).fold(0, |v, k| {
            v | u64::from(self.local_byte(at + k, lane)) << (8 * k)
        })
    }
}
