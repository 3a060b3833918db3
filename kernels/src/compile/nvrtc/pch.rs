//! Precompiled headers: what became of them, and their heap.
//!
//! NVRTC 12.8 and later keeps what it has read of headers, and takes it in the next compile of the
//! same process. Another process cannot: the file holds addresses of a heap that is where it was in
//! the first one only. So they make a second compile of this process faster (2 s to 0.6 s with
//! CUB's headers) and are no cache; binaries are to be kept, not these.
//!
//! The heap is one for the process, 256 MiB unless it is set, and large headers need more. Then
//! the compiler says how much and makes the code without.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_sys::nvrtc::{Nvrtc, NvrtcError, nvrtcResult};

use super::NvrtcCompiler;
use super::program::Program;
use crate::compile::CompileError;

/// What became of the precompiled header of a compile that asked for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PchOutcome {
    /// It was made. The heap was given so many bytes for it, when it had too few.
    Created {
        /// The heap's new size, if the compile was done twice for it.
        heap_raised_to: Option<usize>,
    },
    /// None was made: one was taken that was there, or none was worth it. The log says which.
    NotNeeded,
    /// The heap was too small, and still was after it was given what the compiler asked for.
    HeapTooSmall,
    /// None could be made; the code is there all the same. The call says why.
    Failed(NvrtcError),
}

/// Held by compiles with precompiled headers, and while their heap is sized: NVRTC has one heap,
/// gives its old memory back when it is sized, and promises nothing about two threads there.
static HEAP: Mutex<()> = Mutex::new(());

/// Exclusive use of the heap.
pub(super) fn lock_heap() -> MutexGuard<'static, ()> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be done after a compile.
#[derive(Clone, Copy)]
pub(super) enum After {
    /// Nothing.
    Done(PchOutcome),
    /// The heap has been given so many bytes: compile again.
    Again(usize),
}

/// What became of the header, and a larger heap if it was too small. The caller has the heap.
pub(super) fn look(nvrtc: &Nvrtc, program: &Program<'_>) -> Result<After, CompileError> {
    let asked = program.pch_status();
    let status = asked.map_err(|call| CompileError::of_call(call, "a precompiled header"))?;
    Ok(match status {
        nvrtcResult::NVRTC_SUCCESS => After::Done(PchOutcome::Created {
            heap_raised_to: None,
        }),
        nvrtcResult::NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED => After::Done(PchOutcome::NotNeeded),
        nvrtcResult::NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED => {
            let required = program
                .pch_heap_required()
                .and_then(|bytes| set(nvrtc, bytes).map(|()| bytes));
            match required {
                Ok(bytes) => After::Again(bytes),
                Err(call) => After::Done(PchOutcome::Failed(call)),
            }
        }
        code => After::Done(PchOutcome::Failed(NvrtcError::Failed {
            symbol: cupola_sys::nvrtc::id::nvrtcGetPCHCreateStatus,
            code,
        })),
    })
}

/// The caller has the heap.
fn set(nvrtc: &Nvrtc, bytes: usize) -> Result<(), NvrtcError> {
    // SAFETY: takes a number. No compile uses the heap: the caller holds its lock.
    unsafe { nvrtc.nvrtcSetPCHHeapSize(bytes) }
}

impl NvrtcCompiler {
    /// The bytes of heap that precompiled headers have, in the whole process
    /// (`nvrtcGetPCHHeapSize`).
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] by NVRTC before CUDA 12.8; what the call returned.
    pub fn pch_heap_size(&self) -> Result<usize, CompileError> {
        let mut bytes = 0;
        // SAFETY: `bytes` outlives the call.
        unsafe { self.library().nvrtcGetPCHHeapSize(&raw mut bytes) }
            .map_err(|call| CompileError::of_call(call, "a precompiled header"))?;
        Ok(bytes)
    }

    /// Gives precompiled headers so many bytes of heap (`nvrtcSetPCHHeapSize`). Waits for the
    /// compiles with precompiled headers that are under way. Headers that were made before are
    /// not taken any more. A compile whose heap is too small does this by itself, once.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] by NVRTC before CUDA 12.8; what the call returned.
    pub fn set_pch_heap_size(&self, bytes: usize) -> Result<(), CompileError> {
        let _alone = lock_heap();
        set(self.library(), bytes)
            .map_err(|call| CompileError::of_call(call, "a precompiled header"))
    }
}
