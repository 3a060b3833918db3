//! An NVRTC that lacks newer functions: the real one behind a source that hides them.

use std::ffi::{CStr, c_void};
use std::thread;
use std::time::Duration;

use cupola_kernels::compile::{Cancellation, CompileError, CompileOption, Compiler, Target};
use cupola_sys::driver::ProcAddress;
use cupola_sys::nvrtc::{Nvrtc, SYMBOLS};
use cupola_sys::{ErrorClass, Symbol, SymbolId};

use super::{compiler, long_source, newest, request};

struct Older {
    real: Nvrtc,
    lacks: &'static [&'static CStr],
}

// SAFETY: the addresses are those that the real library gives for the same symbols, and it is loaded
// as long as `real` lives.
unsafe impl ProcAddress for Older {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let place = SYMBOLS.iter().position(|one| one.name == symbol.name);
        match place.and_then(|place| u16::try_from(place).ok()) {
            Some(place) if !self.lacks.contains(&symbol.name) => self
                .real
                .address(SymbolId::new(place))
                .unwrap_or(std::ptr::null()),
            _ => std::ptr::null(),
        }
    }

    fn describe(&self) -> String {
        "an older NVRTC".to_owned()
    }
}

/// The compiler without these functions.
fn older(lacks: &'static [&'static CStr]) -> Option<Compiler> {
    let real = compiler()?.nvrtc()?.library().clone();
    // SAFETY: `Older` keeps the promise of its trait.
    let nvrtc = unsafe { Nvrtc::from_source(Box::new(Older { real, lacks })) };
    Some(Compiler::over(nvrtc).unwrap())
}

// Without it an older compiler could refuse every compile, or give the result of a cancelled one.
#[test]
fn without_the_callback_a_cancelled_compile_ends_and_its_result_is_dropped() {
    let Some(compiler) = older(&[c"nvrtcSetFlowCallback"]) else {
        return;
    };
    compiler.compile(&request(&compiler, "")).unwrap();
    let request = request(&compiler, &long_source(60));
    let cancellation = Cancellation::new();
    thread::scope(|scope| {
        let compile = scope.spawn(|| compiler.compile_until(&request, &cancellation));
        thread::sleep(Duration::from_millis(30));
        cancellation.cancel();
        let ended = compile.join().unwrap();
        assert!(matches!(ended, Err(CompileError::Cancelled)), "{ended:?}");
    });
}

// Without it a missing function could pass for a failure of the source, or for no precompiled header.
#[test]
fn what_an_older_compiler_lacks_is_named() {
    let Some(compiler) = older(&[
        c"nvrtcGetPCHCreateStatus",
        c"nvrtcSetPCHHeapSize",
        c"nvrtcGetPCHHeapSize",
        c"nvrtcGetCUBINSize",
        c"nvrtcGetSupportedArchs",
    ]) else {
        return;
    };
    let whole = super::compiler().expect("the compiler that `older` is of");
    let plain = request(&whole, "__global__ void k() {}");
    let ptx = plain.clone().for_target(Target::Ptx(newest(&whole)));
    compiler.compile(&ptx).unwrap();
    for (refused, function) in [
        (compiler.compile(&plain).err(), "nvrtcGetCUBINSize"),
        (
            compiler.compile(&ptx.with(CompileOption::Pch)).err(),
            "nvrtcGetPCHCreateStatus",
        ),
        (
            compiler.nvrtc().unwrap().set_pch_heap_size(1 << 20).err(),
            "nvrtcSetPCHHeapSize",
        ),
        (
            compiler.nvrtc().unwrap().pch_heap_size().err(),
            "nvrtcGetPCHHeapSize",
        ),
        (compiler.architectures().err(), "nvrtcGetSupportedArchs"),
    ] {
        let error = refused.unwrap();
        let text = error.to_string();
        assert!(matches!(error, CompileError::Unsupported { .. }), "{text}");
        assert_eq!(error.class(), ErrorClass::Unsupported);
        assert!(text.contains(function), "{text}");
    }
}
