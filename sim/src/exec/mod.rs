//! Running PTX on the CPU.
//!
//! [`Program::load`] places a module's variables and decodes its functions;
//! [`Program::kernel`] looks one up; [`Grid`] (or [`launch`], which drives one)
//! runs it. A warp is a list of lane groups, each with a frame, a pc and a mask.
//! The group with the deepest frame and the lowest pc runs; groups that meet
//! merge; a group that loops for long while others wait gives way. Blocks are
//! plain data, so any number of them can be suspended and resumed by any number
//! of workers.

mod access;
mod check;
mod ctx;
mod decode;
mod fault;
mod grid;
mod inst;
mod kernel;
mod lanes;
mod loader;
mod memory;
mod num;
mod place;
mod pointers;
mod printf;
mod program;
mod run;

pub use check::{Checks, Observation, Observed, Touch, Watch};
pub use fault::{Fault, FaultAccess, FaultKind, FaultSpace};
pub use grid::{
    Grid, LaunchConfig, LaunchError, LaunchOptions, LaunchStats, Slice, Stepper, Turn, launch,
};
pub use kernel::{Kernel, KernelError, ParamInfo};
pub use memory::{
    BadFree, CODE_WINDOW, GlobalMemory, LOCAL_WINDOW, MemRange, PARAM_WINDOW, SHARED_WINDOW,
    WINDOW_SIZE, WINDOWS_END, WINDOWS_START,
};
pub use place::{LoadError, Placement, VarSpace};
pub use program::{LoadOptions, Program, Undecodable};

/// What kernels ask of the world besides memory.
pub trait Host: Sync {
    /// Output of device-side `printf`, in whole calls, in the order made.
    fn print(&self, text: &[u8]);

    /// `cudaGraphSetConditional`: gives the value of that handle of a graph's conditional node to
    /// the device. Whether there is one.
    fn set_conditional(&self, handle: u64, value: u32) -> bool {
        let _ = (handle, value);
        false
    }

    /// What a launch cannot do as the device would, in words.
    fn remark(&self, text: &str) {
        let _ = text;
    }
}

/// A [`Host`] that drops all output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Host for Silent {
    fn print(&self, _: &[u8]) {}
}
