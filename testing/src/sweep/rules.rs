//! What a failed driver call may leave behind, and which failures may go unreported.

use cupola_sim::{FindingKind, Usage};
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, id};

/// What a failed call of a destroying function may leave: the thing it did not destroy.
pub(super) fn may_remain(function: SymbolId) -> Option<fn(&Usage) -> bool> {
    // A pool lives as long as a block of it; a context takes all with it.
    match function {
        id::cuStreamDestroy_v2 => Some(|u| Usage { streams: 0, ..*u }.is_empty() && u.streams <= 1),
        id::cuEventDestroy_v2 => Some(|u| Usage { events: 0, ..*u }.is_empty() && u.events <= 1),
        id::cuModuleUnload => Some(|u| Usage { modules: 0, ..*u }.is_empty() && u.modules <= 1),
        id::cuLinkDestroy => Some(|u| Usage { links: 0, ..*u }.is_empty() && u.links <= 1),
        id::cuGraphDestroy => Some(|u| Usage { graphs: 0, ..*u }.is_empty() && u.graphs <= 1),
        id::cuGraphExecDestroy => Some(|u| {
            Usage {
                executables: 0,
                ..*u
            }
            .is_empty()
                && u.executables <= 1
        }),
        id::cuMemPoolDestroy => Some(|u| Usage { pools: 0, ..*u }.is_empty() && u.pools <= 1),
        id::cuMemFreeAsync | id::cuMemFree_v2 => Some(|u| {
            Usage {
                device_allocations: 0,
                device_bytes: 0,
                pools: 0,
                ..*u
            }
            .is_empty()
                && u.device_allocations <= 1
                && u.pools <= 1
        }),
        // A page that stays mapped keeps its addresses.
        id::cuMemUnmap | id::cuMemRelease | id::cuMemAddressFree => Some(|u| {
            Usage {
                reservations: 0,
                physical_allocations: 0,
                physical_bytes: 0,
                ..*u
            }
            .is_empty()
                && u.reservations <= 1
                && u.physical_allocations <= 1
        }),
        id::cuDestroyExternalMemory => Some(|u| {
            Usage {
                external_memories: 0,
                ..*u
            }
            .is_empty()
                && u.external_memories <= 1
        }),
        id::cuDestroyExternalSemaphore => Some(|u| {
            Usage {
                external_semaphores: 0,
                ..*u
            }
            .is_empty()
                && u.external_semaphores <= 1
        }),
        id::cuMemFreeHost => Some(|u| {
            Usage {
                host_allocations: 0,
                host_bytes: 0,
                ..*u
            }
            .is_empty()
                && u.host_allocations <= 1
        }),
        id::cuMemHostUnregister => Some(|u| {
            Usage {
                registrations: 0,
                ..*u
            }
            .is_empty()
                && u.registrations <= 1
        }),
        id::cuCtxDestroy_v2 | id::cuDevicePrimaryCtxRelease_v2 | id::cuGreenCtxDestroy => {
            Some(|u| Usage { contexts: 0, ..*u }.is_empty() && u.contexts <= 1)
        }
        _ => None,
    }
}

/// Whether what a failed call of this function did not give back may be given back by a later
/// one: the memory of a pool, which the pool's end gives back again.
pub(super) fn tries_again(function: SymbolId) -> bool {
    [
        id::cuMemUnmap,
        id::cuMemRelease,
        id::cuMemAddressFree,
        id::cuMemFree_v2,
    ]
    .contains(&function)
}

/// Whether the number of calls of this function depends on how long work takes.
pub(super) fn polls(function: SymbolId) -> bool {
    // Each question asks for the context before, and lets itself through a capture.
    [
        id::cuEventQuery,
        id::cuCtxGetCurrent,
        id::cuThreadExchangeStreamCaptureMode,
    ]
    .contains(&function)
}

/// Whether a failed call of this function may go unreported: cleanup, which has no caller
/// to tell, and waits that are made again.
pub(super) fn may_absorb(function: SymbolId, code: CUresult) -> bool {
    // An answer rather than a failure.
    let query = [id::cuStreamQuery, id::cuEventQuery].contains(&function)
        && code == CUresult::CUDA_ERROR_NOT_READY;
    // Asked again after unused memory was given back.
    let allocation = [
        id::cuMemCreate,
        id::cuMemMap,
        id::cuMemSetAccess,
        id::cuMemGetInfo_v2,
        id::cuMemAlloc_v2,
    ]
    .contains(&function)
        && code == CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let cleanup = [
        // Asked and set for cleanup, and again when that fails.
        id::cuCtxGetCurrent,
        id::cuCtxSetCurrent,
        // Takes a created context off the thread, or a guard's; the next operation sets its own.
        id::cuCtxPopCurrent_v2,
        // Before a module is unloaded, and when pinned memory is dropped: tried three times, or
        // by another call.
        id::cuCtxSynchronize,
        id::cuEventSynchronize,
        id::cuStreamSynchronize,
        // Order a free behind other streams: tried twice, then waited for on the host.
        id::cuEventCreate,
        id::cuEventRecord,
        id::cuStreamWaitEvent,
        // Fewer addresses are tried.
        id::cuMemAddressReserve,
        // Asked to see what a pool's end has to wait for: tried twice, then waited for.
        id::cuEventQuery,
        id::cuStreamIsCapturing,
        // What the driver says of an error that is told without it.
        id::cuLogsDumpToMemory,
        // Lets what a pool does through a capture, and back.
        id::cuThreadExchangeStreamCaptureMode,
    ];
    // A call that sees the code of a lost context tells it, or latches it. Not so a context that is
    // only made current again, or taken off the thread before its end: it is not the operation's.
    // Nor is the mode of a thread of any context.
    let of_the_thread = [
        id::cuCtxGetCurrent,
        id::cuCtxSetCurrent,
        id::cuThreadExchangeStreamCaptureMode,
    ];
    let lost = code.is_sticky() && !of_the_thread.contains(&function);
    query || allocation || (cleanup.contains(&function) && !lost)
}

/// Whether a finding of this kind comes of the fault itself.
pub(super) fn explained(kind: FindingKind, code: CUresult) -> bool {
    // A code after which the context is lost says that nothing runs in it any more, so
    // nothing is waited for. The software device goes on where only the code was injected.
    let goes_on = [
        FindingKind::FreeInUse,
        FindingKind::DestroyInUse,
        FindingKind::UnorderedUse,
        FindingKind::UseAfterFree,
        FindingKind::UnmappedAccess,
    ];
    // What a failed call left is reported as leaked when its context ends.
    kind == FindingKind::Leak || (code.is_sticky() && goes_on.contains(&kind))
}
