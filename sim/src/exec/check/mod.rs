//! Checks that cost too much to be always on: reads of memory that was never written, and
//! races in shared memory.
//!
//! A program that is loaded with [`LoadOptions::checked`](super::LoadOptions) has an
//! instruction of its own before every access, so the accesses themselves are the same
//! as in any other program. What the checks find goes to the launch's [`Watch`], and the
//! kernel goes on.

mod shared;

pub(crate) use shared::Shadow;

use super::access::{MemSpace, outside_windows, within};
use super::ctx::Ctx;
use super::decode::Cx;
use super::fault::{FaultAccess, FaultSpace};
use super::inst::{Class, Flow, Inst, Need, Shape};
use super::lanes::{Body, Twin, bits};
use super::memory::SHARED_WINDOW;
use shared::{By, Seen};

/// What a launch is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checks {
    /// Reads of device and shared memory that was never written.
    pub uninitialised: bool,
    /// Accesses of shared memory by two warps, one of them a write, that no barrier and no
    /// atomic operation puts in order.
    pub races: bool,
    /// Which bytes of device memory the launch reads and writes.
    pub streams: bool,
}

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// This byte of those that are read was never written.
    Unwritten {
        /// Its address, or its offset in shared memory.
        at: u64,
    },
    /// Another warp's access is not in order with this one.
    Race {
        /// Line of the PTX text.
        line: u32,
        /// The thread that made it.
        thread: [u32; 3],
        /// Whether it was a write.
        write: bool,
    },
    /// It leaves what the launch may touch, where there is memory all the same.
    Stray,
}

/// An access that a check objects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// What is wrong with it.
    pub observed: Observed,
    /// Function that is executing.
    pub function: String,
    /// Line of the PTX text.
    pub line: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
    /// The access.
    pub access: FaultAccess,
}

/// Bytes of device memory that a thread reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The first one's address.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// By an atomic operation, or by an access that others may make at the same time.
    pub strong: bool,
}

/// What checks ask and tell.
pub trait Watch: Sync {
    /// What to check.
    fn checks(&self) -> Checks;
    /// A kernel reads: the first of the bytes that was never written, if that is known.
    fn read(&self, touch: Touch) -> Option<u64>;
    /// A kernel writes.
    fn wrote(&self, touch: Touch);
    /// A check objects.
    fn observe(&self, observation: Observation);
}

const READS: u32 = 1;
const WRITES: u32 = 2;
/// An atomic operation, or an access that others may make at the same time.
const STRONG: u32 = 4;

/// What kind of access is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode(u32);

impl Mode {
    pub(crate) fn load(strong: bool) -> Self {
        Self(READS | if strong { STRONG } else { 0 })
    }

    pub(crate) fn store(strong: bool) -> Self {
        Self(WRITES | if strong { STRONG } else { 0 })
    }

    pub(crate) fn atomic() -> Self {
        Self(READS | WRITES | STRONG)
    }

    fn reads(self) -> bool {
        self.0 & READS != 0
    }

    fn writes(self) -> bool {
        self.0 & WRITES != 0
    }

    fn is_strong(self) -> bool {
        self.0 & STRONG != 0
    }
}

impl Cx<'_, '_> {
    /// Before an access of `bytes` bytes at register `base` plus `offset`.
    pub(crate) fn check(
        &mut self,
        mode: Mode,
        space: MemSpace,
        base: u32,
        offset: u64,
        bytes: u32,
    ) {
        if self.checked && space != MemSpace::Local {
            let mut inst = self.blank(Twin::single::<Check>());
            (inst.a, inst.b, inst.c, inst.x) = (base, bytes, mode.0, offset);
            inst.e = self.index;
            inst.p = u32::from(space == MemSpace::Shared);
            self.push(inst);
        }
    }
}

/// `a` is the address register, `x` the offset, `b` the bytes, `c` the [`Mode`], `e` the
/// function's index, and `p` is 1 for an address in shared memory.
struct Check;

impl Body for Check {
    const SHAPE: Shape = Shape {
        a: Need::Reg(Class::W64),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        if cx.env.watch.is_some() {
            for lane in bits(m) {
                // SAFETY: a is a 64-bit register.
                let address = unsafe { cx.reg::<u64>(i.a).add(lane).read() }.wrapping_add(i.x);
                // SAFETY: the context's pointers are those of the running warp.
                unsafe { check(cx, i, lane, address) };
            }
        }
        Flow::Next
    }
}

/// # Safety
/// `cx.ids` must point to the running warp's.
unsafe fn check(cx: &mut Ctx<'_>, i: &Inst, lane: usize, address: u64) {
    let Some(watch) = cx.env.watch else { return };
    let (mode, bytes) = (Mode(i.c), u64::from(i.b));
    // SAFETY: by contract.
    let ids = unsafe { &*cx.ids };
    let offset = match i.p {
        1 => Some(address),
        _ => within(address, SHARED_WINDOW).then(|| address.wrapping_sub(SHARED_WINDOW)),
    };
    let by = By {
        warp: ids.warp,
        lane: lane as u32,
        line: i.line,
        strong: mode.is_strong(),
    };
    let mut seen = Seen::default();
    if let Some(offset) = offset {
        if let Some(shadow) = &mut cx.shadow {
            seen = shadow.access(by, offset, bytes, mode);
        }
    } else if outside_windows(address) {
        let checks = watch.checks();
        if checks.uninitialised || checks.streams {
            let touch = Touch {
                address,
                bytes,
                strong: mode.is_strong(),
            };
            if mode.reads() {
                seen.unwritten = watch.read(touch);
            }
            if mode.writes() {
                watch.wrote(touch);
            }
        }
        if let Some(shadow) = cx.shadow.as_mut().filter(|_| mode.is_strong()) {
            shadow.synchronize(by, address, mode);
        }
    }
    let unwritten = seen.unwritten.map(|at| Observed::Unwritten { at });
    let race = seen.race.map(|other| Observed::Race {
        line: other.line,
        thread: cx.env.thread(other.warp * 32 + other.lane),
        write: other.write,
    });
    for observed in [unwritten, race].into_iter().flatten() {
        let function = cx.env.funcs.get(i.e as usize);
        watch.observe(Observation {
            observed,
            function: function.map_or_else(String::new, |f| f.name.clone()),
            line: i.line,
            block: cx.ctaid,
            thread: ids.tid.map(|axis| axis[lane]),
            access: FaultAccess {
                bytes,
                write: mode.writes(),
                space: match offset {
                    Some(_) => FaultSpace::Shared { len: cx.shared_len },
                    None => FaultSpace::Global,
                },
                offset: offset.unwrap_or(address),
            },
        });
    }
}
