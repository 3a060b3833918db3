//! Semaphores of other APIs: imported by file descriptor, signalled and waited for by streams.

use std::ffi::c_uint;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::memory::{SemaphoreKind, settle};
use crate::device::operations::op::Op;
use crate::device::operations::value::{Compare, Step, Value, Width};

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn missing<T>(call: &Call<'_>, what: &str) -> Reply<T> {
    call.machine.messages.add(format!(
        "{what}: the software device imports opaque and timeline file descriptors alone, of its own exportable memory"
    ));
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// The file descriptor is the driver's if this succeeds, and the caller's still if not.
fn import(
    call: &Call<'_>,
    place: Out<CUexternalSemaphore>,
    description: In<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>,
) -> Reply {
    use CUexternalSemaphoreHandleType_enum as T;
    place.check()?;
    let description = description.get()?;
    call.context()?;
    if description.flags != 0 || description.reserved != [0; 16] {
        return Err(BAD);
    }
    let kind = match description.type_ {
        T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD => SemaphoreKind::Binary,
        T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD => SemaphoreKind::Timeline,
        T(1..=10) => return missing(call, "external semaphores of this kind"),
        _ => return Err(BAD),
    };
    let handle = call.machine.new_handle();
    adopt(call, handle, kind, &description)?;
    place.set(std::ptr::without_provenance_mut(
        usize::try_from(handle).unwrap_or(usize::MAX),
    ))
}

#[cfg(target_os = "linux")]
fn adopt(
    call: &Call<'_>,
    handle: u64,
    kind: SemaphoreKind,
    description: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
) -> Reply {
    use crate::device::api::memory::external::{close, exported_pages};
    use crate::device::memory::import_semaphore;

    let context = call.context()?;
    // SAFETY: every bit pattern is a number, and the type says that the caller has set it.
    let number = unsafe { description.handle.fd };
    let pages = exported_pages(number, context.device.ordinal)?;
    import_semaphore(&context, handle, pages, kind)?;
    close(number);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt(
    call: &Call<'_>,
    _: u64,
    _: SemaphoreKind,
    _: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
) -> Reply {
    missing(call, "external semaphores on this system")
}

fn key(semaphore: CUexternalSemaphore) -> u64 {
    semaphore.addr() as u64
}

/// Puts the steps of all of the semaphores on the stream, or none: a wrong one is an error of the call.
fn submit(
    call: &Call<'_>,
    semaphores: In<CUexternalSemaphore>,
    count: c_uint,
    stream: CUstream,
    steps: impl Fn(usize, Value, SemaphoreKind) -> Reply<Vec<Step>>,
) -> Reply {
    let (context, stream) = call.stream(stream)?;
    let mut all = Vec::new();
    for index in 0..count as usize {
        let semaphore = semaphores.at(index)?;
        let (block, kind) = call.machine.space.externals().semaphore(key(semaphore))?;
        let value = Value {
            address: block.address,
            width: Width::Double,
        };
        all.extend(steps(index, value, kind)?);
    }
    if stream.capture.is_taken() {
        return missing(call, "nodes of external semaphores");
    }
    let mut all = all.into_iter();
    all.try_for_each(|step| context.submit(&stream, Op::Value(step)))
}

fn signal(
    call: &Call<'_>,
    semaphores: In<CUexternalSemaphore>,
    parameters: In<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>,
    count: c_uint,
    stream: CUstream,
) -> Reply {
    submit(call, semaphores, count, stream, |index, to, kind| {
        let parameters = parameters.at(index)?;
        if parameters.flags != 0 {
            return Err(BAD);
        }
        let value = match kind {
            SemaphoreKind::Binary => 1,
            SemaphoreKind::Timeline => parameters.params.fence.value,
        };
        Ok(vec![Step::Write { to, value }])
    })
}

fn wait(
    call: &Call<'_>,
    semaphores: In<CUexternalSemaphore>,
    parameters: In<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>,
    count: c_uint,
    stream: CUstream,
) -> Reply {
    submit(call, semaphores, count, stream, |index, on, kind| {
        let parameters = parameters.at(index)?;
        if parameters.flags != 0 {
            return Err(BAD);
        }
        Ok(match kind {
            // Taken back: the next wait is for the next signal.
            SemaphoreKind::Binary => vec![
                Step::Wait {
                    on,
                    value: 1,
                    compare: Compare::Equal,
                },
                Step::Write { to: on, value: 0 },
            ],
            SemaphoreKind::Timeline => vec![Step::Wait {
                on,
                value: parameters.params.fence.value,
                compare: Compare::AtLeast,
            }],
        })
    })
}

fn destroy(call: &Call<'_>, semaphore: CUexternalSemaphore) -> Reply {
    call.context()?;
    let block = call
        .machine
        .space
        .externals()
        .destroy_semaphore(key(semaphore))?;
    // Else the end of its context has given it back.
    if block.doom() {
        settle(&call.machine.devices[block.device], &block);
        call.machine.space.remove(&block);
    }
    Ok(())
}

functions! {
    Initialized {
        cuImportExternalSemaphore: (place: *mut CUexternalSemaphore,
            description: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) = import;
        cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync_ptsz: (
            semaphores: *const CUexternalSemaphore,
            parameters: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, count: c_uint,
            stream: CUstream) = signal;
        cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync_ptsz: (
            semaphores: *const CUexternalSemaphore,
            parameters: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, count: c_uint,
            stream: CUstream) = wait;
        cuDestroyExternalSemaphore: (semaphore: CUexternalSemaphore) = destroy;
    }
}
