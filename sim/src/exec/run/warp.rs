//! The scheduler of one warp.

use super::barrier::Barriers;
use super::frame::{Frame, registers};
use super::groups::{Group, State};
use crate::exec::ctx::{Ctx, WarpIds};
use crate::exec::fault::{FaultKind, LaneFault};
use crate::exec::inst::{Flow, Func, Inst, Kind, NONE};
use crate::exec::run::inner_loop::{self, Bounds, Pause};

/// Backward branches after which a group gives way to others of its warp.
const PATIENCE: u32 = 1000;

/// Why a warp stopped running.
#[derive(Debug)]
pub(crate) enum Stop {
    /// All threads have ended.
    Done,
    /// Every group waits.
    Parked,
    /// The slice is used up.
    Slice,
    /// A lane faulted at an instruction of this line, in this function.
    Fault(LaneFault, u32, u32),
}

/// A warp.
#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) ids: WarpIds,
    pub(crate) frames: Vec<Frame>,
    /// Frames free for reuse.
    pub(crate) free: Vec<u32>,
    /// Frames without registers, free to become any function's.
    pub(super) places: Vec<u32>,
    /// Bytes of registers of all frames but the first.
    pub(super) frame_bytes: usize,
    pub(crate) groups: Vec<Group>,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    /// Local memory of all lanes.
    pub(crate) local: Vec<u128>,
    pub(crate) local_len: u64,
    /// Backward branches left until the group that makes them gives way.
    patience: u32,
}

/// How the run of one group ended.
pub(super) enum Next {
    /// Choose a group again.
    Reschedule,
    Slice,
    Fault(LaneFault, u32),
}

impl Warp {
    pub(crate) fn new(ids: WarpIds, entry: u32, func: &Func) -> Self {
        let frame = Frame {
            func: entry,
            regs: registers(func),
            local_base: 0,
            ret_pc: 0,
            parent: NONE,
            call: 0,
            lanes: ids.all,
            depth: 0,
        };
        let mut warp = Warp {
            live: 0,
            frames: vec![frame],
            free: Vec::new(),
            places: Vec::new(),
            frame_bytes: 0,
            groups: Vec::new(),
            local: Vec::new(),
            local_len: 0,
            patience: PATIENCE,
            ids,
        };
        warp.grow_local(u64::from(func.local_bytes));
        warp.restart();
        warp
    }

    /// Prepares for another block. Registers keep old values, as on a GPU.
    pub(crate) fn restart(&mut self) {
        self.trim();
        self.live = self.ids.all;
        self.frames[0].lanes = self.ids.all;
        self.groups.clear();
        self.groups.push(Group {
            frame: 0,
            pc: 0,
            mask: self.ids.all,
            state: State::Run,
            yielded: false,
        });
    }

    pub(super) fn grow_local(&mut self, bytes: u64) {
        let bytes = bytes.next_multiple_of(16);
        if bytes > self.local_len {
            self.local_len = bytes;
            self.local.resize(bytes as usize * 32 / 16, 0);
        }
    }

    /// Runs until everything waits, ends, or `steps` reaches `end`.
    pub(crate) fn run(
        &mut self,
        cx: &mut Ctx<'_>,
        bars: &mut Barriers,
        steps: &mut u64,
        end: u64,
    ) -> Stop {
        cx.ids = &raw const self.ids;
        while let Some(at) = self.pick() {
            // Groups move when they join.
            let frame = self.groups[at].frame;
            match self.run_group(cx, bars, at, steps, end) {
                Next::Reschedule if *steps >= end && !self.groups.is_empty() => return Stop::Slice,
                Next::Reschedule => {}
                Next::Slice => return Stop::Slice,
                Next::Fault(fault, line) => {
                    let func = self.frames.get(frame as usize).map_or(0, |f| f.func);
                    return Stop::Fault(fault, line, func);
                }
            }
        }
        if self.groups.is_empty() {
            Stop::Done
        } else {
            Stop::Parked
        }
    }

    #[allow(clippy::too_many_lines, reason = "the interpreter's one loop")]
    fn run_group(
        &mut self,
        cx: &mut Ctx<'_>,
        bars: &mut Barriers,
        mut at: usize,
        steps: &mut u64,
        end: u64,
    ) -> Next {
        // Field by field: the CPU is slow to read as one what was just written in parts.
        let group = Group {
            frame: self.groups[at].frame,
            mask: self.groups[at].mask,
            pc: self.groups[at].pc,
            state: State::Run,
            yielded: false,
        };
        let frame = &mut self.frames[group.frame as usize];
        cx.regs = frame.regs.as_mut_ptr().cast();
        cx.local_base = frame.local_base;
        cx.local = self.local.as_mut_ptr().cast();
        cx.local_len = self.local_len;
        let env = cx.env;
        let Some(func) = env.funcs.get(frame.func as usize) else {
            return Next::Fault(lane_fault(FaultKind::InvalidPc, group.mask), 0);
        };
        let code = &func.code[..];
        let mut pc = group.pc;
        let mut mask = group.mask;
        let mut others = self.groups.len() > 1;
        let mut count = *steps;
        // A slice ends in straight code too, so that other blocks can come between any two
        // instructions.
        let mut limit = self.meeting(at, pc).min(cut(pc, count, end));
        macro_rules! done {
            ($next:expr) => {{
                *steps = count;
                return $next;
            }};
        }
        macro_rules! leave {
            ($state:expr, $next:expr) => {{
                let g = &mut self.groups[at];
                (g.pc, g.mask, g.state) = (pc, mask, $state);
                done!($next)
            }};
        }
        loop {
            let bounds = Bounds {
                limit,
                end,
                alone: !others,
            };
            // SAFETY: cx holds the frame and the memories of this warp, and the code is the
            // frame's function's; wide twins were chosen only if the CPU has them.
            let pause = unsafe { inner_loop::run(cx, code, (&mut pc, &mut count), mask, bounds) };
            let m = match pause {
                Pause::Limit => {
                    self.groups[at].mask = mask;
                    if count >= end || !self.join(at, pc) {
                        leave!(State::Run, Next::Reschedule);
                    }
                    // It is the only one now, and so the first.
                    (at, mask) = (0, self.groups[0].mask);
                    (limit, others) = (cut(pc, count, end), false);
                    continue;
                }
                Pause::Slice => leave!(State::Run, Next::Slice),
                Pause::Fault(inst, m) => done!(faulted(cx, inst, m)),
                Pause::Backward => {
                    if self.tired(at) {
                        leave!(State::Run, Next::Reschedule);
                    }
                    continue;
                }
                Pause::Split(target, m) => {
                    self.groups.push(Group {
                        pc: target,
                        mask: m,
                        yielded: false,
                        ..group
                    });
                    mask &= !m;
                    pc += 1;
                    others = true;
                    if target < pc {
                        leave!(State::Run, Next::Reschedule);
                    }
                    limit = limit.min(target);
                    continue;
                }
                Pause::Control(m) => m,
            };
            let Some(inst) = code.get(pc as usize) else {
                done!(Next::Fault(lane_fault(FaultKind::InvalidPc, mask), 0));
            };
            // Everything else acts on whole groups: set apart the lanes that
            // the guard excludes.
            if m != mask {
                self.groups.push(Group {
                    pc: pc + 1,
                    mask: mask & !m,
                    yielded: false,
                    ..group
                });
                mask = m;
                others = true;
                limit = limit.min(pc + 1);
            }
            match inst.kind {
                Kind::Op | Kind::Bra | Kind::OpBra => pc += 1,
                Kind::WarpOp => {
                    // SAFETY: e is a 32-bit register of this frame.
                    let Some((same, _)) = (unsafe { gathered(cx, inst.e, mask, mask, self.live) })
                    else {
                        leave!(State::Gather, Next::Reschedule);
                    };
                    let parted = same != mask;
                    if parted {
                        // The others have their own members, and come back to this instruction.
                        self.groups.push(Group {
                            pc,
                            mask: mask & !same,
                            yielded: false,
                            ..group
                        });
                        mask = same;
                    }
                    // SAFETY: as for other operations.
                    let flow = unsafe { (inst.f)(cx, inst, mask) };
                    if flow == Flow::Fault {
                        done!(faulted(cx, inst, mask));
                    }
                    pc += 1;
                    if parted {
                        leave!(State::Run, Next::Reschedule);
                    }
                }
                Kind::WarpBar => {
                    let here = self.groups.iter().enumerate();
                    let arrived = here
                        .filter(|(i, g)| *i != at && g.state == State::WarpBar)
                        .fold(mask, |all, (_, g)| all | g.mask);
                    // SAFETY: e is a 32-bit register of this frame.
                    let Some((same, members)) =
                        (unsafe { gathered(cx, inst.e, mask, arrived, self.live) })
                    else {
                        leave!(State::WarpBar, Next::Reschedule);
                    };
                    for i in 0..self.groups.len() {
                        let g = self.groups[i];
                        if i == at || g.state != State::WarpBar || g.mask & members == 0 {
                            continue;
                        }
                        if g.mask & !members != 0 {
                            // They wait for lanes of their own.
                            self.groups.push(Group {
                                mask: g.mask & !members,
                                ..g
                            });
                        }
                        let g = &mut self.groups[i];
                        g.mask &= members;
                        (g.pc, g.state) = (g.pc + 1, State::Run);
                    }
                    if same != mask {
                        self.groups.push(Group {
                            pc,
                            mask: mask & !same,
                            yielded: false,
                            ..group
                        });
                        mask = same;
                    }
                    pc += 1;
                    leave!(State::Run, Next::Reschedule);
                }
                Kind::Bar => {
                    // SAFETY: the operands are registers of this frame.
                    let (number, state) = unsafe { self.arrive(cx, bars, inst, mask) };
                    if let Some(shadow) = &mut cx.shadow {
                        shadow.arrive(self.ids.warp, number);
                    }
                    pc += 1;
                    if state == State::Run {
                        continue;
                    }
                    if number > 15 {
                        done!(Next::Fault(
                            lane_fault(FaultKind::IllegalInstruction, mask),
                            inst.line,
                        ));
                    }
                    leave!(state, Next::Reschedule);
                }
                Kind::Brx => {
                    // SAFETY: a is a 32-bit register of this frame.
                    let index = unsafe { cx.reg::<[u32; 32]>(inst.a).read() };
                    let Some(table) = func.tables.get(inst.x as usize) else {
                        done!(Next::Fault(
                            lane_fault(FaultKind::InvalidPc, mask),
                            inst.line
                        ));
                    };
                    let first = index[mask.trailing_zeros() as usize & 31];
                    let same = crate::exec::lanes::bits(mask)
                        .filter(|&l| index[l] == first)
                        .fold(0, |s, l| s | 1u32 << l);
                    let Some(&target) = table.get(first as usize) else {
                        done!(Next::Fault(
                            lane_fault(FaultKind::InvalidPc, same),
                            inst.line
                        ));
                    };
                    if same != mask {
                        // The others come back to this instruction.
                        self.groups.push(Group {
                            pc,
                            mask: mask & !same,
                            yielded: false,
                            ..group
                        });
                        mask = same;
                    }
                    // The scheduler prefers low addresses, and so would choose this group for ever.
                    if target <= pc {
                        self.tired(at);
                    }
                    pc = target;
                    if count >= end {
                        leave!(State::Run, Next::Slice);
                    }
                    leave!(State::Run, Next::Reschedule);
                }
                Kind::Call => {
                    (self.groups[at].pc, self.groups[at].mask) = (pc, mask);
                    let next = self.call(cx, at, func, inst);
                    if count >= end && matches!(next, Next::Reschedule) {
                        done!(Next::Slice);
                    }
                    done!(next);
                }
                Kind::Ret if self.frames[group.frame as usize].parent != NONE => {
                    self.groups[at].mask = mask;
                    done!(self.ret(cx, at));
                }
                Kind::Ret | Kind::Exit => {
                    self.exit(at, mask);
                    done!(Next::Reschedule);
                }
                Kind::Trap => {
                    done!(Next::Fault(lane_fault(FaultKind::Trap, mask), inst.line));
                }
                Kind::Yield => {
                    pc += 1;
                    self.groups[at].yielded = true;
                    leave!(State::Run, Next::Slice);
                }
            }
        }
    }

    /// Notes that a group went backward; whether it now gives way to others.
    fn tired(&mut self, at: usize) -> bool {
        self.patience = self.patience.saturating_sub(1);
        let tired = self.patience == 0;
        if tired {
            self.patience = PATIENCE;
            self.groups[at].yielded = true;
        }
        tired
    }

    /// Ends the lanes of a group. Those who waited for them look again.
    // Not a part of the interpreter's loop, which would be compiled worse with it.
    #[inline(never)]
    pub(super) fn exit(&mut self, at: usize, mask: u32) {
        self.live &= !mask;
        let mut frame = self.groups[at].frame;
        while let Some(f) = self.frames.get_mut(frame as usize) {
            f.lanes &= !mask;
            let parent = f.parent;
            if f.lanes == 0 && parent != NONE {
                self.free.push(frame);
            }
            frame = parent;
        }
        self.groups.swap_remove(at);
        for g in &mut self.groups {
            if matches!(g.state, State::Gather | State::WarpBar) {
                g.state = State::Run;
            }
        }
    }
}

/// Where straight code from `pc` on has used up a slice.
fn cut(pc: u32, count: u64, end: u64) -> u32 {
    let rest = u32::try_from(end.saturating_sub(count)).unwrap_or(u32::MAX);
    pc.saturating_add(rest)
}

/// The fault that an operation left in `cx`.
#[cold]
fn faulted(cx: &mut Ctx<'_>, inst: &Inst, mask: u32) -> Next {
    let fault = cx.fault.take();
    Next::Fault(
        fault.unwrap_or_else(|| lane_fault(FaultKind::IllegalInstruction, mask)),
        inst.line,
    )
}

pub(super) fn lane_fault(kind: FaultKind, mask: u32) -> LaneFault {
    LaneFault {
        kind,
        lane: mask.trailing_zeros() & 31,
        address: None,
        access: None,
    }
}

/// Lanes of `mask` that name the same members, all of them among `arrived` as far as they
/// live; and those members. Tiles of a warp execute one instruction with a mask each.
///
/// # Safety
/// `reg` must be a 32-bit register of the current frame.
unsafe fn gathered(
    cx: &Ctx<'_>,
    reg: u32,
    mask: u32,
    arrived: u32,
    live: u32,
) -> Option<(u32, u32)> {
    // SAFETY: by contract.
    let named = unsafe { cx.reg::<[u32; 32]>(reg).read() };
    let complete = |members: u32| members & live & !arrived == 0;
    // The usual case is a constant.
    if named == [named[0]; 32] {
        return complete(named[0]).then_some((mask, named[0]));
    }
    let mut left = mask;
    while left != 0 {
        let members = named[left.trailing_zeros() as usize & 31];
        let same = crate::exec::lanes::bits(left)
            .filter(|&lane| named[lane] == members)
            .fold(0, |all, lane| all | 1u32 << lane);
        if complete(members) {
            return Some((same, members));
        }
        left &= !same;
    }
    None
}

/// A 32-bit register's value in the lowest lane of `mask`.
///
/// # Safety
/// `reg` must be a 32-bit register of the current frame.
pub(super) unsafe fn uniform(cx: &Ctx<'_>, reg: u32, mask: u32) -> u32 {
    // SAFETY: by contract.
    unsafe {
        cx.reg::<u32>(reg)
            .add((mask.trailing_zeros() & 31) as usize)
            .read()
    }
}
