//! The way of a launch to the driver.
//!
//! Most launches have nothing to ask and nothing to prepare: [`put`] is all of them, in line with the caller. All
//! others go by [`put_any`].

use std::ffi::c_void;
use std::ptr;

use cupola_sys::driver::{Driver, DriverError, id};

use super::args::{LaunchId, List};
use super::attributes::launch_ex;
use super::{LaunchAttributes, LaunchConfig};
use crate::error::{ArgumentMismatch, Error, Result};
use crate::module::Function;
use crate::stream::Stream;
use crate::stream::submit::BegunLaunch;

/// Refuses sizes that are not those which the kernel declares, where the driver can tell.
#[inline]
#[track_caller]
pub(super) fn check_sizes(function: &Function, given: &[usize]) -> Result<()> {
    let Some(declared) = function.parameters() else {
        return Ok(());
    };
    let pairs = given.iter().zip(declared);
    if given.len() == declared.len()
        && pairs.fold(true, |all, (given, it)| all & (*given == it.size))
    {
        return Ok(());
    }
    Err(mismatch(function, given))
}

#[cold]
fn mismatch(function: &Function, given: &[usize]) -> Error {
    let declared = function.parameters().unwrap_or_default();
    Error::Arguments {
        function: function.name().to_string_lossy().into_owned(),
        mismatch: ArgumentMismatch {
            declared: declared.iter().map(|parameter| parameter.size).collect(),
            given: given.into(),
        },
    }
}

/// Refuses a kernel of another context than the stream's, and a shape that it cannot have.
#[inline]
#[track_caller]
pub(super) fn check(function: &Function, config: &LaunchConfig, stream: &Stream) -> Result<()> {
    if !function.is_in_context_of(stream) {
        return Err(Error::WrongContext { what: "the kernel" });
    }
    config.check(function)
}

/// Checks a launch, and makes the memory among its arguments ready.
#[inline]
#[track_caller]
fn prepare<L: List>(
    function: &Function,
    config: &LaunchConfig,
    arguments: &L,
    stream: &Stream,
) -> Result<()> {
    check(function, config, stream)?;
    arguments.prepare(stream)
}

/// Launches a kernel (`cuLaunchKernel`): all launches without attributes come by here, but for those with raw
/// pointers. Most have nothing to ask or to
/// prepare: of them this is all, in line with the caller, who has shape and arguments in registers.
///
/// # Safety
/// The arguments are of the types that the kernel declares, and with them it touches only memory that
/// it may; memory among them is alive.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn put<L: List>(
    function: &Function,
    config: &LaunchConfig,
    arguments: L,
    stream: &Stream,
) -> Result<()> {
    if stream.lets_launches_begin()
        && function.is_noted(stream)
        && config.is_known_to_fit(function)
        && match arguments.is_ready(stream) {
            Ok(ready) => ready,
            Err(refused) => {
                let launch = LaunchId { function, config };
                // SAFETY: memory among the arguments is alive, which is a condition of this function.
                return unsafe { end_failed(&arguments, stream, refused, launch) };
            }
        }
    {
        let mut values = arguments.values();
        let mut pointers = arguments.pointers(&mut values);
        let pointers = pointers.as_mut().as_mut_ptr();
        // Once more: an argument may be of a type of the caller's, whose code could change the answer.
        if stream.lets_launches_begin() {
            let launch = stream.begin_launch_at_once(function.number());
            // SAFETY: the conditions of this function; the pointers lead to the values, and memory among
            // these is ready.
            let launched = unsafe { call(function, config, pointers, stream) };
            let Err(refused) = launched else {
                stream.launches().put_as_owner(launch);
                return Ok(());
            };
            // SAFETY: as above.
            return unsafe {
                put_again(
                    function, *config, &arguments, pointers, stream, launch, refused,
                )
            };
        }
    }
    // SAFETY: the conditions of this function.
    unsafe { put_any(function, *config, arguments, stream) }
}

/// A launch that the driver has refused at first: it may be that the context is to be current.
///
/// # Safety
/// As [`put`]; the pointers lead to the arguments' values.
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn put_again<L: List>(
    function: &Function,
    config: LaunchConfig,
    arguments: &L,
    pointers: *mut *mut c_void,
    stream: &Stream,
    launch: u64,
    refused: DriverError,
) -> Result<()> {
    let begun = BegunLaunch::AtOnce(launch);
    // SAFETY: the conditions of this function.
    let launched = unsafe { end(function, &config, pointers, stream, begun, Err(refused)) };
    let launch = LaunchId {
        function,
        config: &config,
    };
    // SAFETY: as above.
    unsafe { arguments.end(stream, &launched, launch) };
    launched
}

/// Launches a kernel after all questions and preparations.
///
/// # Safety
/// As [`put`].
#[expect(
    clippy::needless_pass_by_value,
    reason = "a launch uses its borrows up"
)]
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn put_any<L: List>(
    function: &Function,
    config: LaunchConfig,
    arguments: L,
    stream: &Stream,
) -> Result<()> {
    let config = &config;
    let launch = LaunchId { function, config };
    if let Err(refused) = prepare(function, config, &arguments, stream) {
        // SAFETY: memory among the arguments is alive, which is a condition of this function.
        return unsafe { end_failed(&arguments, stream, refused, launch) };
    }
    let mut values = arguments.values();
    let mut pointers = arguments.pointers(&mut values);
    // SAFETY: the conditions of this function; the pointers lead to the values, and memory among these is
    // ready.
    let launched = unsafe { put_pointers(function, config, pointers.as_mut(), stream) };
    if let Err(failed) = launched {
        // SAFETY: as above.
        return unsafe { end_failed(&arguments, stream, failed, launch) };
    }
    // SAFETY: as above.
    unsafe { arguments.end(stream, &Ok(()), launch) };
    Ok(())
}

/// # Safety
/// As [`put`]; each pointer leads to a value of the kernel's parameter, and device memory among them is
/// ready for work on the stream.
#[track_caller]
pub(super) unsafe fn put_pointers(
    function: &Function,
    config: &LaunchConfig,
    pointers: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    let pointers = pointers.as_mut_ptr();
    note_use(function, stream);
    let begun = stream.begin_launch(function.number())?;
    // SAFETY: the conditions of this function, and of the call.
    let launched = unsafe { call(function, config, pointers, stream) };
    if launched.is_ok() {
        return stream.end_launch(begun, id::cuLaunchKernel, launched);
    }
    // SAFETY: as above.
    unsafe { end(function, config, pointers, stream, begun, launched) }
}

/// `cuLaunchKernel`.
///
/// # Safety
/// As [`put_pointers`].
#[inline(always)]
unsafe fn call(
    function: &Function,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    stream: &Stream,
) -> Result<(), DriverError> {
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    let (shared, none) = (config.shared_bytes, ptr::null_mut());
    let (kernel, driver, raw) = (function.raw(), stream.driver(), stream.raw());
    // SAFETY: function and stream are alive and of one context; the driver copies the values, to which the
    // pointers lead, before it returns; their types, and the memory that the kernel touches, are conditions
    // of this function.
    unsafe { driver.cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, raw, pointers, none) }
}

/// Ends a launch. One that the driver has refused is made in the context, if it was not.
///
/// # Safety
/// As [`put_pointers`].
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn end(
    function: &Function,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    stream: &Stream,
    begun: BegunLaunch,
    launched: Result<(), DriverError>,
) -> Result<()> {
    // SAFETY: the conditions of this function.
    let again = |_: &Driver| unsafe { call(function, config, pointers, stream) };
    let launched = launched.or_else(|refused| stream.core().call_again(refused, again));
    let is_put = launched.is_ok();
    let ended = stream.end_launch(begun, id::cuLaunchKernel, launched);
    match is_put {
        // What a wait for it has found has another cause than its shape.
        true => ended,
        false => ended.map_err(|error| explain(error, function, *config)),
    }
}

/// Keeps the kernel for as long as a launch on the stream, which is made next, may run.
#[inline]
#[track_caller]
pub(super) fn note_use(function: &Function, stream: &Stream) {
    if stream.is_captured() {
        note_captured(function, stream);
    } else {
        function.note_use(stream);
    }
}

#[cold]
fn note_captured(function: &Function, stream: &Stream) {
    if let Some(graph) = stream.captured() {
        graph.keep_one(function.raw().addr(), function);
    }
}

/// As [`put`], with attributes.
///
/// # Safety
/// The conditions of [`put`].
#[inline]
#[track_caller]
pub(super) unsafe fn put_with<L: List>(
    function: &Function,
    config: &LaunchConfig,
    attributes: LaunchAttributes,
    arguments: L,
    stream: &Stream,
) -> Result<()> {
    if attributes == LaunchAttributes::new() {
        // SAFETY: the conditions of this function.
        return unsafe { put(function, config, arguments, stream) };
    }
    attributes.check(*config, function)?;
    let launch = LaunchId { function, config };
    if let Err(refused) = prepare(function, config, &arguments, stream) {
        // SAFETY: memory among the arguments is alive, which is a condition of this function.
        return unsafe { end_failed(&arguments, stream, refused, launch) };
    }
    let mut values = arguments.values();
    let mut pointers = arguments.pointers(&mut values);
    let pointers = pointers.as_mut();
    // SAFETY: the conditions of this function; the pointers lead to the values.
    let launched = unsafe { launch_ex(function, *config, attributes, pointers, stream) };
    if let Err(failed) = launched {
        // SAFETY: as above.
        return unsafe { end_failed(&arguments, stream, failed, launch) };
    }
    // SAFETY: as above.
    unsafe { arguments.end(stream, &Ok(()), launch) };
    Ok(())
}

/// Tells memory among the arguments that a launch has failed. What ends well does not come by here, and no
/// result is handed on: a good one would be copied, of which all but a word was never written.
///
/// # Safety
/// Memory among the arguments is alive.
#[cold]
unsafe fn end_failed<L: List>(
    arguments: &L,
    stream: &Stream,
    failed: Error,
    launch: LaunchId<'_>,
) -> Result<()> {
    let failed = Err(failed);
    // SAFETY: the condition of this function.
    unsafe { arguments.end(stream, &failed, launch) };
    failed
}

/// A launch that may have failed because of its shared memory says so.
#[cold]
pub(super) fn explain(error: Error, function: &Function, config: LaunchConfig) -> Error {
    use cupola_sys::driver::CUresult;
    let is_of_a_value = error.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE);
    if config.shared_bytes == 0 || !is_of_a_value {
        return error;
    }
    function
        .too_much_shared(config.shared_bytes)
        .unwrap_or(error)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ops;
    use crate::test_bench::TestBench;

    // Without it launches could go the long way for ever, or the short one where they are to be checked.
    #[test]
    fn launches_ask_nothing_after_the_first() {
        let bench = TestBench::new();
        let ptx =
            ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
        let module = bench.context.modules().load_ptx(ptx).unwrap();
        let function = module.function("nothing").unwrap();
        let launch = |stream: &Stream| {
            // SAFETY: the kernel has no parameters and touches nothing.
            unsafe { ops::launch(&function, LaunchConfig::linear(1, 1), (), stream) }.unwrap();
            stream.lets_launches_begin() && function.is_noted(stream)
        };
        let stream = bench.stream();
        assert!(!stream.lets_launches_begin());
        assert!(launch(&stream));
        bench.context.set_checked(true);
        assert!(!stream.lets_launches_begin() && !launch(&stream));
        bench.context.set_checked(false);
        assert!(launch(&stream));
        bench.context.set_tracking(false);
        assert!(!launch(&stream));
        bench.context.set_tracking(true);
        assert!(launch(&stream));
        // A default stream needs its context to be current.
        assert!(!launch(&bench.context.streams().legacy_default().unwrap()));
    }
}
