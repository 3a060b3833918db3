//! Streams that come at the addresses of others. The software device gives no address again: so its library's
//! `cuStreamGetId` is put behind one that tells what a test wants.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_managers::ExecutionManager;
use cupola_sys::driver::{CUresult, CUstream, Driver, ProcAddress, SYMBOLS};
use cupola_sys::{Symbol, SymbolId};

use super::*;

static NUMBER: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn number(_: CUstream, id: *mut c_ulonglong) -> CUresult {
    // SAFETY: the caller's place.
    unsafe { id.write(NUMBER.load(Ordering::Relaxed)) };
    CUresult::CUDA_SUCCESS
}

/// The library, but for `cuStreamGetId`.
struct OtherNumbers {
    library: Driver,
    has_numbers: bool,
}

// SAFETY: the addresses are the library's, which stays as long, or that of a function of the same type.
unsafe impl ProcAddress for OtherNumbers {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        if symbol.as_str() == "cuStreamGetId" {
            let number: unsafe extern "C" fn(CUstream, *mut c_ulonglong) -> CUresult = number;
            return match self.has_numbers {
                true => number as *const c_void,
                false => ptr::null(),
            };
        }
        let at = SYMBOLS.iter().position(|row| row == symbol);
        let id = at.and_then(|at| u16::try_from(at).ok()).map(SymbolId::new);
        let address = id.and_then(|id| self.library.address(id).ok());
        address.unwrap_or(ptr::null())
    }

    fn describe(&self) -> String {
        "the software device with other numbers of streams".into()
    }
}

/// Does the work with a context that is current, and a stream in it.
fn with_stream(has_numbers: bool, work: impl FnOnce(&Context, CUstream)) {
    let program = std::env::current_exe().unwrap();
    let library = program.parent().unwrap().join("libcupola_libcuda.so");
    let library = Driver::load_from(&library).unwrap();
    let source = OtherNumbers {
        library,
        has_numbers,
    };
    // SAFETY: `OtherNumbers` keeps the promise of its trait.
    let driver = unsafe { Driver::from_source(Box::new(source)) }.unwrap();
    let execution = ExecutionManager::new(driver).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let _current = context.enter().unwrap();
    let mut raw = ptr::null_mut();
    // SAFETY: the place outlives the call, and the context is current.
    unsafe { context.driver().cuStreamCreate(&raw mut raw, 1) }.unwrap();
    work(&context, raw);
    // SAFETY: it is used no more.
    unsafe { context.driver().cuStreamDestroy_v2(raw) }.unwrap();
}

// Without it a stream at the address of a destroyed one could be given what that one's work still uses, or
// the first be forgotten while blocks of it are alive.
#[test]
fn another_number_at_an_address_is_another_stream() {
    with_stream(true, |context, raw| {
        let streams = ForeignStreams::default();
        let settled = Cell::new(0);
        let get = || {
            // SAFETY: the stream is alive.
            let found = unsafe {
                streams.get(context, raw, || {
                    settled.set(settled.get() + 1);
                    Ok(())
                })
            };
            found.unwrap()
        };
        let first = get();
        assert!(Arc::ptr_eq(&first, &get()));
        NUMBER.store(1, Ordering::Relaxed);
        // Where the work cannot be waited for nothing is known to be over.
        // SAFETY: the stream is alive.
        let refused = unsafe { streams.get(context, raw, || Err(Failure::PerThreadStream)) };
        assert!(refused.is_err());
        assert_eq!(settled.get(), 0);
        let second = get();
        assert_eq!(settled.get(), 1);
        assert_ne!(second.stream().serial(), first.stream().serial());
        assert!(Arc::ptr_eq(&second, &get()));
        assert!(first.is_called(raw) && second.is_called(raw));
        // The first one's blocks keep it, and not the second.
        assert!(streams.release(context, raw).is_err());
        drop(second);
        streams.release(context, raw).unwrap();
        assert!(matches!(
            streams.release(context, raw),
            Err(Failure::UnknownStream(_))
        ));
        assert_eq!(settled.get(), 1);
    });
}

// Without it a driver before CUDA 12 could serve no stream.
#[test]
fn a_driver_without_numbers_tells_streams_by_their_addresses() {
    with_stream(false, |context, raw| {
        let streams = ForeignStreams::default();
        let settle = || panic!("nothing is replaced");
        // SAFETY: the stream is alive.
        let get = || unsafe { streams.get(context, raw, settle) }.unwrap();
        assert!(Arc::ptr_eq(&get(), &get()));
        streams.release(context, raw).unwrap();
    });
}
