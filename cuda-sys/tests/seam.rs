//! The seam: functions from a closure, scopes, missing symbols, without any library.
#![cfg(feature = "std")]

use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_sys::driver::{CUresult, Driver, ProcAddress, SYMBOLS, id, pfn, scope};
use cupola_sys::{CallError, Symbol, Version};

unsafe extern "C" fn version_12_2(version: *mut c_int) -> CUresult {
    // SAFETY: the caller passes a valid pointer, as the function's contract says.
    unsafe { *version = 12020 };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn refuse(_: u32) -> CUresult {
    CUresult::CUDA_ERROR_NO_DEVICE
}

fn driver() -> Driver {
    // SAFETY: both functions have the types of the names that they answer for.
    unsafe {
        Driver::from_proc_address(|base, version, flags| {
            assert_eq!(flags & !3, 0);
            match (base.to_bytes(), version) {
                (b"cuDriverGetVersion", Version(2020)) => {
                    version_12_2 as pfn::cuDriverGetVersion as *const c_void
                }
                (b"cuInit", Version(2000)) => refuse as pfn::cuInit as *const c_void,
                _ => core::ptr::null(),
            }
        })
    }
    .unwrap()
}

/// Without it a code could be lost, or the error could name another function.
#[test]
fn a_code_becomes_an_error_that_names_the_call() {
    // SAFETY: no pointers are passed.
    let error = unsafe { driver().cuInit(0) }.unwrap_err();
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_NO_DEVICE));
    assert_eq!(error.symbol().as_str(), "cuInit");
}

/// Without it a missing function could crash, or lie about which version has it.
#[test]
fn a_missing_function_is_a_value() {
    let driver = driver();
    // SAFETY: the function is missing: nothing is called.
    let error =
        unsafe { driver.cuCtxCreate_v4(core::ptr::null_mut(), core::ptr::null_mut(), 0, 0) };
    assert_eq!(
        error,
        Err(CallError::Missing {
            symbol: id::cuCtxCreate_v4,
            have: Version(12020)
        })
    );
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("cuCtxCreate_v4") && text.contains("12.5") && text.contains("12.2"),
        "{text}"
    );
    assert_eq!(driver.missing().count(), SYMBOLS.len() - 2);
}

struct Counting {
    calls: AtomicUsize,
}

unsafe extern "C" fn count(version: *mut c_int) -> CUresult {
    let state = scope().cast::<Counting>();
    // SAFETY: this function is only handed out by `Source` below, whose scope is the
    // `Counting` that outlives the driver; `version` is valid by contract.
    unsafe {
        (*state).calls.fetch_add(1, Ordering::Relaxed);
        *version = 13050;
    }
    CUresult::CUDA_SUCCESS
}

struct Source(&'static Counting);

// SAFETY: the one function has the type of the name that it answers for.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        if symbol.as_str() == "cuDriverGetVersion" {
            return count as pfn::cuDriverGetVersion as *const c_void;
        }
        core::ptr::null()
    }

    fn scope(&self) -> *const () {
        core::ptr::from_ref(self.0).cast()
    }

    fn describe(&self) -> String {
        "counting".into()
    }
}

/// Without it two machines in one process could see each other's calls.
#[test]
fn functions_find_the_source_they_belong_to() {
    let states: [&'static Counting; 2] = core::array::from_fn(|_| {
        &*Box::leak(Box::new(Counting {
            calls: AtomicUsize::new(0),
        }))
    });
    // SAFETY: `Source` keeps its contract.
    let drivers =
        states.map(|state| unsafe { Driver::from_source(Box::new(Source(state))) }.unwrap());
    let mut version = 0;
    // SAFETY: the pointer is valid.
    unsafe { drivers[1].cuDriverGetVersion(&raw mut version) }.unwrap();
    assert_eq!(version, 13050);
    assert_eq!(states[0].calls.load(Ordering::Relaxed), 1);
    assert_eq!(states[1].calls.load(Ordering::Relaxed), 2);
    assert!(scope().is_null());
}

struct Outer {
    inner: Driver,
    seen: AtomicUsize,
}

unsafe extern "C" fn through(version: *mut c_int) -> CUresult {
    let before = scope();
    // SAFETY: handed out by `Nested` only, whose scope is the `Outer` that outlives it;
    // `version` is valid by contract.
    let outer = unsafe { &*before.cast::<Outer>() };
    // SAFETY: `version` is valid by contract.
    let result = unsafe { outer.inner.cuDriverGetVersion(version) };
    let kept = usize::from(scope() == before);
    outer.seen.fetch_add(kept, Ordering::Relaxed);
    result
        .err()
        .and_then(|error| error.status())
        .unwrap_or(CUresult::CUDA_SUCCESS)
}

struct Nested(&'static Outer);

// SAFETY: the one function has the type of the name that it answers for.
unsafe impl ProcAddress for Nested {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        if symbol.as_str() == "cuDriverGetVersion" {
            return through as pfn::cuDriverGetVersion as *const c_void;
        }
        core::ptr::null()
    }

    fn scope(&self) -> *const () {
        core::ptr::from_ref(self.0).cast()
    }

    fn describe(&self) -> String {
        "nested".into()
    }
}

/// Without it a wrapper's functions could lose their scope when they call the driver that
/// they wrap.
#[test]
fn the_outer_scope_comes_back() {
    let state = &*Box::leak(Box::new(Counting {
        calls: AtomicUsize::new(0),
    }));
    // SAFETY: `Source` keeps its contract.
    let inner = unsafe { Driver::from_source(Box::new(Source(state))) }.unwrap();
    let outer = &*Box::leak(Box::new(Outer {
        inner,
        seen: AtomicUsize::new(0),
    }));
    // SAFETY: `Nested` keeps its contract.
    let driver = unsafe { Driver::from_source(Box::new(Nested(outer))) }.unwrap();
    assert_eq!(driver.driver_version(), Version(13050));
    assert_eq!(outer.seen.load(Ordering::Relaxed), 1);
    assert!(scope().is_null());
}

/// Without it a function called through a source without a scope could take the state of
/// the call around it for its own, of whatever type that is.
#[test]
fn a_source_without_a_scope_hides_the_outer_one() {
    struct Outer {
        inner: Driver,
        seen: AtomicUsize,
    }
    unsafe extern "C" fn look(version: *mut c_int) -> CUresult {
        // SAFETY: `version` is valid by contract.
        unsafe { *version = i32::from(!scope().is_null()) };
        CUresult::CUDA_SUCCESS
    }
    unsafe extern "C" fn call_inner(version: *mut c_int) -> CUresult {
        // SAFETY: only handed out by `OuterSource`, whose scope is the leaked `Outer`.
        let outer = unsafe { &*scope().cast::<Outer>() };
        let mut seen = 0;
        // SAFETY: the pointer is valid.
        if unsafe { outer.inner.cuDriverGetVersion(&raw mut seen) }.is_err() {
            return CUresult::CUDA_ERROR_UNKNOWN;
        }
        outer.seen.fetch_add(seen as usize, Ordering::Relaxed);
        // The outer scope is back.
        assert!(core::ptr::eq(scope().cast(), outer));
        // SAFETY: `version` is valid by contract.
        unsafe { *version = 13_000 };
        CUresult::CUDA_SUCCESS
    }
    struct OuterSource(&'static Outer);
    // SAFETY: the one function has the type of the name that it answers for.
    unsafe impl ProcAddress for OuterSource {
        fn proc_address(&self, symbol: &Symbol) -> *const c_void {
            if symbol.as_str() == "cuDriverGetVersion" {
                return call_inner as pfn::cuDriverGetVersion as *const c_void;
            }
            core::ptr::null()
        }

        fn scope(&self) -> *const () {
            core::ptr::from_ref(self.0).cast()
        }

        fn describe(&self) -> String {
            "outer".into()
        }
    }
    // SAFETY: the one function has the type of the name that it answers for.
    let inner = unsafe {
        Driver::from_proc_address(|base, _, _| {
            if base.to_bytes() == b"cuDriverGetVersion" {
                return look as pfn::cuDriverGetVersion as *const c_void;
            }
            core::ptr::null()
        })
    }
    .unwrap();
    let outer: &'static Outer = Box::leak(Box::new(Outer {
        inner,
        seen: AtomicUsize::new(0),
    }));
    // SAFETY: `OuterSource` keeps its contract.
    unsafe { Driver::from_source(Box::new(OuterSource(outer))) }.unwrap();
    assert_eq!(outer.seen.load(Ordering::Relaxed), 0);
}

/// Without it a position beyond the table could panic, or name a function that it is not. (That an
/// id of another library is refused is a matter of types: see `SymbolId`.)
#[test]
fn an_id_beyond_the_table_is_missing() {
    let driver = driver();
    let beyond = cupola_sys::SymbolId::new(u16::MAX);
    assert!(!driver.has(beyond));
    let error = driver.address(beyond).unwrap_err();
    assert!(matches!(error, CallError::Missing { .. }));
    assert!(!error.to_string().is_empty());
}
