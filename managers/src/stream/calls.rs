//! Calls that name a stream: the driver takes the context from there.

use std::ptr;

use cupola_sys::driver::{CUstream, Driver, DriverError};

use crate::driver::ContextCore;
use crate::error::{Result, Site};

/// `CU_STREAM_LEGACY`.
pub(super) const LEGACY: CUstream = ptr::without_provenance_mut(1);
/// `CU_STREAM_PER_THREAD`.
pub(super) const PER_THREAD: CUstream = ptr::without_provenance_mut(2);

/// Whether each context has a stream of this name, and means its own.
#[inline]
pub(super) fn is_default(stream: CUstream) -> bool {
    stream.addr() <= PER_THREAD.addr()
}

/// Begins a call that names `stream`: the context is healthy, and current where the name alone
/// does not tell whose stream it is.
#[inline]
pub(super) fn enter_for(stream: CUstream, core: &ContextCore, site: Site) -> Result<()> {
    if is_default(stream) && !mutant!("default_stream_of_any_context") {
        return enter(core, site);
    }
    core.healthy()
}

/// Few streams are default ones.
#[cold]
fn enter(core: &ContextCore, site: Site) -> Result<()> {
    core.enter_at(site).map(drop)
}

/// Makes a call that names `stream`. The outer error is of what comes before.
#[inline]
pub(super) fn call_on<T>(
    stream: CUstream,
    core: &ContextCore,
    site: Site,
    mut call: impl FnMut(&Driver, CUstream) -> Result<T, DriverError>,
) -> Result<Result<T, DriverError>> {
    enter_for(stream, core, site)?;
    Ok(core.call(move |driver| call(driver, stream)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sim::Machine;
    use cupola_sys::driver::{CUcontext, CUresult, id};

    use super::*;
    use crate::ops;
    use crate::test_bench::TestBench;

    fn current(driver: &Driver) -> CUcontext {
        let mut raw = ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { driver.cuCtxGetCurrent(&raw mut raw) }.unwrap();
        raw
    }

    fn set(driver: &Driver, context: CUcontext) {
        // SAFETY: null, or a context that is alive.
        unsafe { driver.cuCtxSetCurrent(context) }.unwrap();
    }

    /// What other code may have current: nothing, and a context of its own.
    fn others(driver: &Driver) -> [CUcontext; 2] {
        let (mut raw, mut popped) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuCtxCreate_v2(&raw mut raw, 0, 0).unwrap();
            driver.cuCtxPopCurrent_v2(&raw mut popped).unwrap();
        }
        [ptr::null_mut(), raw]
    }

    const OF_THE_THREAD: [CUresult; 5] = [
        CUresult::CUDA_ERROR_INVALID_CONTEXT,
        CUresult::CUDA_ERROR_INVALID_HANDLE,
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUresult::CUDA_ERROR_INVALID_VALUE,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    ];

    // Without it operations would fail on a driver that wants the stream's context to be current, or
    // where other code's is lost or gone; or a call be made twice that the driver refused for itself.
    #[test]
    fn a_call_that_is_refused_for_the_thread_is_made_in_the_context() {
        let bench = TestBench::on(Machine::builder());
        let (context, faults) = (&bench.context, &bench.faults);
        let driver = context.core().driver();
        let stream = bench.stream();
        let event: crate::Event = context.events().acquire(Default::default()).unwrap();
        let [nothing, other] = others(driver);
        // What a context is lost to is said of none where none is current.
        for (current_then, codes) in [(nothing, &OF_THE_THREAD[..4]), (other, &OF_THE_THREAD)] {
            for &code in codes {
                set(driver, current_then);
                faults.reset();
                faults.fail(id::cuEventRecord, 1, code);
                ops::record(&event, &stream).unwrap();
                assert_eq!(faults.count(id::cuEventRecord), 2, "{code:?}");
                assert_eq!(current(driver), context.as_raw(), "{code:?}");
                assert_eq!(context.poison(), None, "{code:?}");
            }
        }
        let refused = |code| {
            faults.reset();
            faults.fail(id::cuEventRecord, 1, code);
            let error = ops::record(&event, &stream).unwrap_err();
            assert_eq!(error.status(), Some(code));
            assert_eq!(faults.count(id::cuEventRecord), 1);
        };
        // What says nothing of the thread is the call's.
        set(driver, nothing);
        refused(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        // And so is what is said in the context.
        for code in OF_THE_THREAD {
            context.make_current().unwrap();
            refused(code);
        }
        assert!(context.poison().is_some(), "of an illegal address");
    }

    // Without it work for a default stream could be put on that of another context.
    #[test]
    fn a_default_stream_is_that_of_its_own_context() {
        let bench = TestBench::on(Machine::builder());
        let (context, driver) = (&bench.context, bench.context.core().driver());
        let stream = context.streams().legacy_default().unwrap();
        let event: crate::Event = context.events().acquire(Default::default()).unwrap();
        for other in others(driver) {
            set(driver, other);
            ops::record(&event, &stream).unwrap();
            assert_eq!(current(driver), context.as_raw());
            set(driver, other);
            ops::synchronize(&stream).unwrap();
            assert_eq!(current(driver), context.as_raw());
        }
    }
}
