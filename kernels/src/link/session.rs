//! [`Session`]: one `nvJitLinkHandle`, destroyed with the value.

use core::ffi::{c_char, c_void};
use std::ffi::{CStr, CString};
use std::ptr;

use cupola_sys::nvjitlink::{NvJitLink, NvJitLinkError, nvJitLinkHandle, nvJitLinkInputType};

use super::InputKind;
use crate::compile::Target;

/// A link between its creation and its destruction, on one thread.
pub(super) struct Session<'l> {
    library: &'l NvJitLink,
    raw: nvJitLinkHandle,
}

impl<'l> Session<'l> {
    pub(super) fn new(
        library: &'l NvJitLink,
        arguments: &[CString],
    ) -> Result<Self, NvJitLinkError> {
        let pointers: Vec<_> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let count = u32::try_from(pointers.len()).unwrap_or(u32::MAX);
        let mut raw: nvJitLinkHandle = ptr::null_mut();
        // SAFETY: the array has `count` elements or more, each a NUL-terminated text; all of it and
        // `raw` outlive the call.
        unsafe { library.nvJitLinkCreate(&raw mut raw, count, pointers.as_ptr()) }?;
        Ok(Self { library, raw })
    }

    pub(super) fn add(
        &self,
        kind: InputKind,
        name: &CStr,
        data: &[u8],
    ) -> Result<(), NvJitLinkError> {
        let kind = match kind {
            InputKind::Cubin => nvJitLinkInputType::NVJITLINK_INPUT_CUBIN,
            InputKind::Ptx => nvJitLinkInputType::NVJITLINK_INPUT_PTX,
            InputKind::LtoIr => nvJitLinkInputType::NVJITLINK_INPUT_LTOIR,
            InputKind::Fatbin => nvJitLinkInputType::NVJITLINK_INPUT_FATBIN,
            InputKind::Object => nvJitLinkInputType::NVJITLINK_INPUT_OBJECT,
            InputKind::Library => nvJitLinkInputType::NVJITLINK_INPUT_LIBRARY,
        };
        let bytes = data.as_ptr().cast();
        // SAFETY: the link is alive, `data.len()` bytes are readable, and the name is
        // NUL-terminated; both outlive the call.
        unsafe {
            self.library
                .nvJitLinkAddData(self.raw, kind, bytes, data.len(), name.as_ptr())
        }
    }

    pub(super) fn complete(&self) -> Result<(), NvJitLinkError> {
        // SAFETY: the link is alive.
        unsafe { self.library.nvJitLinkComplete(self.raw) }
    }

    /// The linked code; PTX without the NUL at its end.
    pub(super) fn image(&self, target: Target) -> Result<Vec<u8>, NvJitLinkError> {
        let (library, raw) = (self.library, self.raw);
        match target {
            Target::Cubin(_) => read(
                // SAFETY: the link is alive, and `size` outlives the call.
                |size| unsafe { library.nvJitLinkGetLinkedCubinSize(raw, size) },
                // SAFETY: the link is alive, and the buffer has the size that it asked for.
                |buffer| unsafe { library.nvJitLinkGetLinkedCubin(raw, buffer) },
            ),
            Target::LtoIr(_) => read(
                // SAFETY: the link is alive, and `size` outlives the call.
                |size| unsafe { library.nvJitLinkGetLinkedLTOIRSize(raw, size) },
                // SAFETY: the link is alive, and the buffer has the size that it asked for.
                |buffer| unsafe { library.nvJitLinkGetLinkedLTOIR(raw, buffer) },
            ),
            Target::Ptx(_) => {
                let mut text = read(
                    // SAFETY: the link is alive, and `size` outlives the call.
                    |size| unsafe { library.nvJitLinkGetLinkedPtxSize(raw, size) },
                    // SAFETY: the link is alive, and the buffer has the size that it asked for.
                    |buffer| unsafe { library.nvJitLinkGetLinkedPtx(raw, buffer.cast()) },
                )?;
                while text.last() == Some(&0) {
                    text.pop();
                }
                Ok(text)
            }
        }
    }

    /// The linker's messages, the errors first. A log that cannot be had is empty: it goes with an
    /// error or a result that says more.
    pub(super) fn log(&self) -> String {
        let (library, raw) = (self.library, self.raw);
        let errors = read(
            // SAFETY: the link is alive, and `size` outlives the call.
            |size| unsafe { library.nvJitLinkGetErrorLogSize(raw, size) },
            // SAFETY: the link is alive, and the buffer has the size that it asked for.
            |log| unsafe { library.nvJitLinkGetErrorLog(raw, log.cast::<c_char>()) },
        );
        let remarks = read(
            // SAFETY: the link is alive, and `size` outlives the call.
            |size| unsafe { library.nvJitLinkGetInfoLogSize(raw, size) },
            // SAFETY: the link is alive, and the buffer has the size that it asked for.
            |log| unsafe { library.nvJitLinkGetInfoLog(raw, log.cast::<c_char>()) },
        );
        let texts = [errors, remarks].map(|log| {
            let log = log.unwrap_or_default();
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            String::from_utf8_lossy(&log[..end]).trim_end().to_owned()
        });
        match texts {
            [errors, remarks] if errors.is_empty() || remarks.is_empty() => errors + &remarks,
            [errors, remarks] => format!("{errors}\n{remarks}"),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: made by nvJitLinkCreate and not destroyed before.
        let _ = unsafe { self.library.nvJitLinkDestroy(&raw mut self.raw) };
    }
}

/// The bytes that `fill` writes into a buffer of the size that `ask` gives.
fn read(
    ask: impl FnOnce(*mut usize) -> Result<(), NvJitLinkError>,
    fill: impl FnOnce(*mut c_void) -> Result<(), NvJitLinkError>,
) -> Result<Vec<u8>, NvJitLinkError> {
    let mut size = 0;
    ask(&raw mut size)?;
    let mut buffer = vec![0_u8; size];
    if size > 0 {
        fill(buffer.as_mut_ptr().cast())?;
    }
    Ok(buffer)
}
