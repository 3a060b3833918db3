//! Register files and the frames that own them.

use crate::exec::inst::{Class, Func};

/// One 32-lane register of 32 bits.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Unit(pub(crate) [u32; 32]);

/// A function activation of some lanes.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Index of the function.
    pub(crate) func: u32,
    pub(crate) regs: Vec<Unit>,
    /// Start of its local memory.
    pub(crate) local_base: u64,
    /// Where in the caller to go on.
    pub(crate) ret_pc: u32,
    /// The caller's frame.
    pub(crate) parent: u32,
    /// The call site in the caller.
    pub(crate) call: u32,
    /// Lanes that have not returned.
    pub(crate) lanes: u32,
    pub(crate) depth: u32,
}

/// A register file for `func`, constants filled in.
pub(crate) fn registers(func: &Func) -> Vec<Unit> {
    let units = (func.frame_bytes as usize).div_ceil(size_of::<Unit>());
    let mut regs = vec![Unit([0; 32]); units];
    for &(at, class, value) in &func.consts {
        let unit = at as usize / size_of::<Unit>();
        match class {
            Class::W32 => regs[unit] = Unit([value as u32; 32]),
            // Constants of 128 bits are not made.
            Class::W64 | Class::W128 => {
                // Little-endian lanes: each takes two words.
                for half in 0..2 {
                    regs[unit + half] = Unit(std::array::from_fn(|k| {
                        if cfg!(target_endian = "little") == (k % 2 == 0) {
                            value as u32
                        } else {
                            (value >> 32) as u32
                        }
                    }));
                }
            }
            Class::Pred => regs[unit].0[at as usize % size_of::<Unit>() / 4] = value as u32,
        }
    }
    regs
}
