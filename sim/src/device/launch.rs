//! Kernel launches: the adapter between streams and the execution engine.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, RwLock};
use std::time::Instant;

use cupola_sys::driver::CUresult;

use super::args::Reply;
use super::health::{Fault, Health};
use super::machine::Device;
use super::memory::{Place, Space, sleep_until};
use super::module::Function;
use super::sync::{read, write};
use crate::exec::{
    self, FaultKind, GlobalMemory, Grid, LaunchConfig, LaunchError, LaunchOptions, MemRange,
};

/// A kernel with its arguments and its grid.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) function: Arc<Function>,
    pub(super) config: LaunchConfig,
    pub(super) params: Vec<u8>,
    pub(super) cooperative: bool,
}

impl Launch {
    /// Has the engine check the launch, so that a bad one is an error of the call.
    ///
    /// # Errors
    /// An invalid value; the text says which limit it is.
    pub(super) fn check(&self) -> Result<(), (CUresult, String)> {
        let nothing = Nothing;
        let options = LaunchOptions::default();
        let kernel = &self.function.kernel;
        let grid = Grid::new(kernel, self.config, &self.params, &nothing, options);
        grid.map(drop)
            .map_err(|error| (CUresult::CUDA_ERROR_INVALID_VALUE, error.to_string()))
    }

    pub(super) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        let started = Instant::now();
        let memory = Memory {
            space: &device.space,
            held: RwLock::default(),
        };
        let options = LaunchOptions {
            workers: device.workers,
            cancel: Some(health.stop_flag()),
            cooperative: self.cooperative,
            multiprocessors: device.config.multiprocessors,
            host: &device.output,
            ..LaunchOptions::default()
        };
        let kernel = &self.function.kernel;
        let result = exec::launch(kernel, self.config, &self.params, &memory, options);
        sleep_until(started, device.engines.pace.launch);
        result.map(drop).map_err(|error| {
            let code = match &error {
                LaunchError::Fault(fault) => code(&fault.kind),
                _ => CUresult::CUDA_ERROR_LAUNCH_FAILED,
            };
            Fault {
                code,
                text: error.to_string(),
            }
        })
    }
}

/// The sticky code of a kernel's fault.
fn code(kind: &FaultKind) -> CUresult {
    match kind {
        FaultKind::IllegalAddress => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        FaultKind::MisalignedAddress => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        FaultKind::IllegalInstruction => CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        FaultKind::InvalidPc => CUresult::CUDA_ERROR_INVALID_PC,
        FaultKind::StackOverflow => CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
        FaultKind::Assert(_) => CUresult::CUDA_ERROR_ASSERT,
        FaultKind::Deadlock | FaultKind::Budget => CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
        _ => CUresult::CUDA_ERROR_LAUNCH_FAILED,
    }
}

/// The memory that a running kernel sees. Whatever it has touched stays until it ends,
/// even if the program frees it meanwhile.
struct Memory<'a> {
    space: &'a Space,
    held: RwLock<BTreeMap<u64, Place>>,
}

// SAFETY: a range's place is kept in `held`, which lives as long as `self`, and so does
// its memory. Device blocks start at multiples of 512 with host memory aligned to 16;
// page-locked memory is at its own address. Copies access the bytes through raw pointers.
unsafe impl GlobalMemory for Memory<'_> {
    fn lookup(&self, address: u64) -> Option<MemRange> {
        let below = (Bound::Unbounded, Bound::Included(address));
        let known = read(&self.held)
            .range(below)
            .next_back()
            .map(|(_, place)| range(place));
        if let Some(known) = known
            && address - known.base < known.len
        {
            return Some(known);
        }
        let place = self.space.find(address)?;
        let found = range(&place);
        write(&self.held).insert(found.base, place);
        Some(found)
    }
}

fn range(place: &Place) -> MemRange {
    match place {
        Place::Device(block) => MemRange {
            base: block.address,
            len: block.len,
            host: block.host(block.address),
            writable: !block.constant,
        },
        Place::Pinned(range) => MemRange {
            base: range.address,
            len: range.len,
            host: range.host(range.address),
            writable: true,
        },
    }
}

/// No memory, for checks that run nothing.
struct Nothing;

// SAFETY: there is no range.
unsafe impl GlobalMemory for Nothing {
    fn lookup(&self, _: u64) -> Option<MemRange> {
        None
    }
}

/// The parameter buffer from `kernelParams`: one pointer for each parameter.
///
/// # Safety
/// A non-null `pointers` has an element for each parameter, and each non-null element
/// points to as many bytes as its parameter has.
pub(super) unsafe fn gather(function: &Function, pointers: *const *mut u8) -> Reply<Vec<u8>> {
    let kernel = &function.kernel;
    let mut buffer = vec![0; kernel.param_bytes as usize];
    for (index, param) in kernel.params.iter().enumerate() {
        if pointers.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: there is an element for each parameter.
        let pointer = unsafe { pointers.add(index).read() };
        if pointer.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let (offset, size) = (param.offset as usize, param.size as usize);
        // SAFETY: the element points to the parameter's bytes.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, size) };
        let place = buffer.get_mut(offset..offset + size);
        place
            .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?
            .copy_from_slice(bytes);
    }
    Ok(buffer)
}
