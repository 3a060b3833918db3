//! [`Program`]: one `nvrtcProgram`, destroyed with the value.

use core::ffi::{c_char, c_int, c_void};
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_sys::nvrtc::{Nvrtc, NvrtcError, nvrtcProgram, nvrtcResult};

use crate::compile::Target;

/// A header as NVRTC takes it.
pub(super) struct Header {
    pub(super) name: CString,
    pub(super) text: CString,
}

/// A program between its creation and its destruction, on one thread. The flag of its callback
/// outlives it.
pub(super) struct Program<'a> {
    nvrtc: &'a Nvrtc,
    raw: nvrtcProgram,
    flag: PhantomData<&'a AtomicBool>,
}

/// What NVRTC calls between its steps: 1 stops the compile.
///
/// # Safety
/// `flag` is the address of an `AtomicBool` that is alive.
unsafe extern "C" fn is_cancelled(flag: *mut c_void, _reserved: *mut c_void) -> c_int {
    // SAFETY: an address of a live AtomicBool, by this function's condition; it is only read.
    let flag = unsafe { &*flag.cast::<AtomicBool>() };
    c_int::from(flag.load(Ordering::Relaxed))
}

impl<'a> Program<'a> {
    pub(super) fn new(
        nvrtc: &'a Nvrtc,
        source: &CStr,
        name: &CStr,
        headers: &[Header],
    ) -> Result<Self, NvrtcError> {
        let texts: Vec<_> = headers.iter().map(|header| header.text.as_ptr()).collect();
        let names: Vec<_> = headers.iter().map(|header| header.name.as_ptr()).collect();
        let count = c_int::try_from(headers.len()).unwrap_or(c_int::MAX);
        let mut raw: nvrtcProgram = ptr::null_mut();
        // SAFETY: the texts are NUL-terminated; both arrays have `count` elements or more; all of
        // it outlives the call, which copies it.
        unsafe {
            nvrtc.nvrtcCreateProgram(
                &raw mut raw,
                source.as_ptr(),
                name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        }?;
        Ok(Self {
            nvrtc,
            raw,
            flag: PhantomData,
        })
    }

    pub(super) fn add_name(&self, expression: &CStr) -> Result<(), NvrtcError> {
        // SAFETY: the program is alive, and the text is NUL-terminated.
        unsafe {
            self.nvrtc
                .nvrtcAddNameExpression(self.raw, expression.as_ptr())
        }
    }

    /// Stops the compile when the flag is true.
    pub(super) fn stop_by(&self, flag: &'a AtomicBool) -> Result<(), NvrtcError> {
        let payload = ptr::from_ref(flag).cast_mut().cast();
        // SAFETY: the program is alive. The callback's condition: the flag lives for 'a, and so
        // longer than the program, whose compile alone calls back.
        unsafe {
            self.nvrtc
                .nvrtcSetFlowCallback(self.raw, Some(is_cancelled), payload)
        }
    }

    pub(super) fn compile(&self, arguments: &[CString]) -> Result<(), NvrtcError> {
        let pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program is alive; the array has `count` elements or more, each a
        // NUL-terminated text, and outlives the call.
        unsafe {
            self.nvrtc
                .nvrtcCompileProgram(self.raw, count, pointers.as_ptr())
        }
    }

    /// The compiler's messages.
    pub(super) fn log(&self) -> Result<String, NvrtcError> {
        // SAFETY: the program is alive, and `size` outlives the call.
        let ask = |size: *mut usize| unsafe { self.nvrtc.nvrtcGetProgramLogSize(self.raw, size) };
        // SAFETY: the program is alive, and the buffer has the size that NVRTC asked for.
        let fill = |log: *mut c_char| unsafe { self.nvrtc.nvrtcGetProgramLog(self.raw, log) };
        let mut log = read(ask, fill)?;
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        log.truncate(end);
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// The device code; PTX without the NUL at its end.
    pub(super) fn image(&self, target: Target) -> Result<Vec<u8>, NvrtcError> {
        let (nvrtc, raw) = (self.nvrtc, self.raw);
        match target {
            Target::Cubin(_) => read(
                // SAFETY: the program is alive, and `size` outlives the call.
                |size| unsafe { nvrtc.nvrtcGetCUBINSize(raw, size) },
                // SAFETY: the program is alive, and the buffer has the size that it asked for.
                |buffer| unsafe { nvrtc.nvrtcGetCUBIN(raw, buffer) },
            ),
            Target::LtoIr(_) => read(
                // SAFETY: the program is alive, and `size` outlives the call.
                |size| unsafe { nvrtc.nvrtcGetLTOIRSize(raw, size) },
                // SAFETY: the program is alive, and the buffer has the size that it asked for.
                |buffer| unsafe { nvrtc.nvrtcGetLTOIR(raw, buffer) },
            ),
            Target::Ptx(_) => {
                let mut text = read(
                    // SAFETY: the program is alive, and `size` outlives the call.
                    |size| unsafe { nvrtc.nvrtcGetPTXSize(raw, size) },
                    // SAFETY: the program is alive, and the buffer has the size that it asked for.
                    |buffer| unsafe { nvrtc.nvrtcGetPTX(raw, buffer) },
                )?;
                while text.last() == Some(&0) {
                    text.pop();
                }
                Ok(text)
            }
        }
    }

    /// The symbol of an expression that was added before the compile.
    pub(super) fn lowered_name(&self, expression: &CStr) -> Result<String, NvrtcError> {
        let mut name = ptr::null();
        // SAFETY: the program is alive, the text is NUL-terminated, and `name` outlives the call.
        unsafe {
            self.nvrtc
                .nvrtcGetLoweredName(self.raw, expression.as_ptr(), &raw mut name)
        }?;
        if name.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the call succeeded, so it is a NUL-terminated text that lives with the program.
        let name = unsafe { CStr::from_ptr(name) };
        Ok(name.to_string_lossy().into_owned())
    }

    /// What became of the precompiled header of the compile.
    pub(super) fn pch_status(&self) -> Result<nvrtcResult, NvrtcError> {
        // SAFETY: the program is alive.
        match unsafe { self.nvrtc.nvrtcGetPCHCreateStatus(self.raw) } {
            Ok(()) => Ok(nvrtcResult::NVRTC_SUCCESS),
            Err(error) => error.status().ok_or(error),
        }
    }

    /// The bytes of heap that the precompiled header needs.
    pub(super) fn pch_heap_required(&self) -> Result<usize, NvrtcError> {
        let mut size = 0;
        // SAFETY: the program is alive, and `size` outlives the call.
        unsafe {
            self.nvrtc
                .nvrtcGetPCHHeapSizeRequired(self.raw, &raw mut size)
        }?;
        Ok(size)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: made by nvrtcCreateProgram and not destroyed before.
        let _ = unsafe { self.nvrtc.nvrtcDestroyProgram(&raw mut self.raw) };
    }
}

/// The bytes that `fill` writes into a buffer of the size that `ask` gives.
fn read(
    ask: impl FnOnce(*mut usize) -> Result<(), NvrtcError>,
    fill: impl FnOnce(*mut c_char) -> Result<(), NvrtcError>,
) -> Result<Vec<u8>, NvrtcError> {
    let mut size = 0;
    ask(&raw mut size)?;
    let mut buffer = vec![0_u8; size];
    if size > 0 {
        fill(buffer.as_mut_ptr().cast())?;
    }
    Ok(buffer)
}
