//! What an executing instruction can reach: the current frame's registers, its
//! warp's and block's memory, and the launch.

use super::Host;
use super::check::{Shadow, Watch};
use super::fault::{FaultAccess, FaultKind, LaneFault};
use super::grid::LaunchConfig;
use super::inst::{Flow, Func};
use super::memory::{GlobalMemory, MemRange};
use std::cell::Cell;

/// Cached ranges; load and store instructions are dealt out over them.
pub(crate) const CACHE: usize = 16;

/// What does not change during a launch.
pub(crate) struct Env<'m> {
    pub(crate) funcs: &'m [Func],
    pub(crate) config: LaunchConfig,
    pub(crate) params: &'m [u8],
    pub(crate) mem: &'m dyn GlobalMemory,
    pub(crate) host: &'m dyn Host,
    pub(crate) watch: Option<&'m dyn Watch>,
    /// Offset of dynamic shared memory.
    pub(crate) dynamic_base: u32,
    /// Bytes of shared memory per block, static and dynamic.
    pub(crate) shared_bytes: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) started: std::time::Instant,
}

impl Env<'_> {
    /// The index of a thread in its block.
    pub(crate) fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.config.block.map(|n| n.max(1));
        [number % x, number / x % y, number / x / y]
    }
}

/// Thread indices of a warp; they do not depend on the block.
#[derive(Debug, Clone)]
pub(crate) struct WarpIds {
    pub(crate) tid: [[u32; 32]; 3],
    /// Lanes that exist.
    pub(crate) all: u32,
    pub(crate) warp: u32,
}

/// The machine state that operations work on.
pub(crate) struct Ctx<'m> {
    /// Register file of the current frame.
    pub(crate) regs: *mut u8,
    pub(crate) shared: *mut u8,
    pub(crate) shared_len: u64,
    /// Local memory of the warp, 16 bytes of each lane in turn.
    pub(crate) local: *mut u8,
    /// Bytes of local memory per lane.
    pub(crate) local_len: u64,
    /// Where the current frame's part begins.
    pub(crate) local_base: u64,
    pub(crate) ids: *const WarpIds,
    pub(crate) ctaid: [u32; 3],
    pub(crate) smid: u32,
    pub(crate) cache: [MemRange; CACHE],
    pub(crate) fault: Option<LaneFault>,
    /// The last access that was refused.
    pub(crate) refused: Option<FaultAccess>,
    /// What is known of the running block's shared memory, if it is watched.
    pub(crate) shadow: Option<Box<Shadow>>,
    /// What clocks show next, in nanoseconds; the host's time if it is not set.
    pub(crate) clock: Cell<Option<u64>>,
    pub(crate) env: &'m Env<'m>,
}

impl<'m> Ctx<'m> {
    pub(crate) fn new(env: &'m Env<'m>, smid: u32) -> Self {
        let null = std::ptr::null_mut();
        Ctx {
            regs: null,
            shared: null,
            shared_len: 0,
            local: null,
            local_len: 0,
            local_base: 0,
            ids: std::ptr::null(),
            ctaid: [0; 3],
            smid,
            cache: [MemRange::EMPTY; CACHE],
            fault: None,
            refused: None,
            shadow: None,
            clock: Cell::new(None),
            env,
        }
    }

    /// Looks every range up anew: one of them may be gone.
    pub(crate) fn forget_ranges(&mut self) {
        self.cache = [MemRange::EMPTY; CACHE];
    }

    /// Records a fault of `lane`.
    #[cold]
    pub(crate) fn fail(&mut self, kind: FaultKind, lane: u32, address: Option<u64>) -> Flow {
        self.fault = Some(LaneFault {
            kind,
            lane,
            address,
            access: self.refused.take(),
        });
        Flow::Fault
    }

    /// Offset in the warp's local memory of byte `at` of `lane`.
    pub(crate) fn local_offset(at: u64, lane: usize) -> usize {
        ((at / 16) * 512 + at % 16) as usize + lane * 16
    }
}
