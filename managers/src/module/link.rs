//! `ModuleManager::link`: pieces of device code become one binary, by the driver's linker.

use core::ffi::c_void;
use core::ptr;
use std::ffi::CString;

use cupola_sys::driver::{CUjit_option, CUjitInputType, CUlinkState, Driver, DriverError};

use super::{ModuleManager, jit};
use crate::driver::{Kind, RelaxedCapture, forgive_shutdown};
use crate::error::{Cause, Error, Result};

/// What a piece of device code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PieceKind {
    /// Assembly text.
    Ptx,
    /// A binary for one architecture.
    Cubin,
    /// Several of them, and PTX, in one.
    Fatbin,
    /// A host object with device code in it.
    Object,
    /// An archive of such objects.
    Library,
}

/// A piece of device code.
#[derive(Clone, Copy, Debug)]
pub struct LinkPiece<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// What it is.
    pub kind: PieceKind,
    /// Its bytes; a NUL at the end of PTX is not needed.
    pub data: &'a [u8],
}

/// How pieces are linked. The binary is for the context's device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkConfig {
    /// The most registers of a thread, for pieces in PTX (`CU_JIT_MAX_REGISTERS`).
    pub max_registers: Option<u32>,
    /// How much PTX is optimised, 0 to 4 (`CU_JIT_OPTIMIZATION_LEVEL`); the driver takes 4 if it is not
    /// told.
    pub optimization: Option<u32>,
    /// Line numbers for profilers (`CU_JIT_GENERATE_LINE_INFO`).
    pub line_info: bool,
    /// Code for a debugger (`CU_JIT_GENERATE_DEBUG_INFO`).
    pub debug: bool,
    /// More messages (`CU_JIT_LOG_VERBOSE`).
    pub verbose: bool,
}

/// What became of the pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedBinary {
    /// A binary for the context's device, for
    /// [`load_binary`](ModuleManager::load_binary).
    pub image: Vec<u8>,
    /// The linker's messages; empty if it wrote none.
    pub log: String,
}

/// The options of a link, and the buffers that its messages go to. The driver reads and writes them
/// as long as the link's state is there.
struct Options {
    logs: jit::Logs,
    names: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
}

/// A link, ended with this value.
struct State<'d> {
    driver: &'d Driver,
    /// Null once ended.
    raw: CUlinkState,
}

impl Options {
    fn new(config: &LinkConfig) -> Self {
        let mut logs = jit::Logs::new();
        let (names, values) = logs.options();
        let (mut names, mut values) = (names.to_vec(), values.to_vec());
        // The header passes numbers in the place of a pointer.
        let mut add = |name, value: u32| {
            names.push(name);
            values.push(ptr::without_provenance_mut(value as usize));
        };
        if let Some(most) = config.max_registers {
            add(CUjit_option::CU_JIT_MAX_REGISTERS, most);
        }
        if let Some(level) = config.optimization {
            add(CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, level);
        }
        for (wanted, name) in [
            (config.line_info, CUjit_option::CU_JIT_GENERATE_LINE_INFO),
            (config.debug, CUjit_option::CU_JIT_GENERATE_DEBUG_INFO),
            (config.verbose, CUjit_option::CU_JIT_LOG_VERBOSE),
        ] {
            if wanted {
                add(name, 1);
            }
        }
        Self {
            logs,
            names,
            values,
        }
    }
}

impl<'d> State<'d> {
    /// # Safety
    /// A context is current, and `options` outlives the value.
    unsafe fn new(driver: &'d Driver, options: &mut Options) -> Result<Self, DriverError> {
        let mut raw: CUlinkState = ptr::null_mut();
        let count = u32::try_from(options.names.len()).unwrap_or(0);
        // SAFETY: both arrays have `count` elements, and outlive the link by this function's
        // condition, as do the buffers that they name; `raw` outlives the call.
        unsafe {
            driver.cuLinkCreate_v2(
                count,
                options.names.as_mut_ptr(),
                options.values.as_mut_ptr(),
                &raw mut raw,
            )
        }?;
        Ok(Self { driver, raw })
    }

    fn add(&self, kind: PieceKind, name: &CString, data: &[u8]) -> Result<(), DriverError> {
        let kind = match kind {
            PieceKind::Ptx => CUjitInputType::CU_JIT_INPUT_PTX,
            PieceKind::Cubin => CUjitInputType::CU_JIT_INPUT_CUBIN,
            PieceKind::Fatbin => CUjitInputType::CU_JIT_INPUT_FATBINARY,
            PieceKind::Object => CUjitInputType::CU_JIT_INPUT_OBJECT,
            PieceKind::Library => CUjitInputType::CU_JIT_INPUT_LIBRARY,
        };
        // SAFETY: the link is open; the driver reads `data.len()` bytes and the name, and keeps
        // neither; there are no options.
        unsafe {
            self.driver.cuLinkAddData_v2(
                self.raw,
                kind,
                data.as_ptr().cast_mut().cast(),
                data.len(),
                name.as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    }

    fn complete(&self) -> Result<Vec<u8>, DriverError> {
        let (mut image, mut size) = (ptr::null_mut(), 0);
        // SAFETY: the link is open, and both outlive the call.
        unsafe {
            self.driver
                .cuLinkComplete(self.raw, &raw mut image, &raw mut size)
        }?;
        if image.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the call succeeded, so there are `size` bytes, which the link owns until it ends.
        Ok(unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) }.to_vec())
    }

    fn end(&mut self) -> Result<(), DriverError> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: made by cuLinkCreate, and this was the only copy.
        forgive_shutdown(unsafe { self.driver.cuLinkDestroy(raw) })
    }
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl ModuleManager {
    /// Links pieces of device code to a binary for the context's device, by the driver's linker
    /// (`cuLinkCreate`, `cuLinkAddData`, `cuLinkComplete`). Nothing is loaded.
    ///
    /// # Errors
    /// [`Error::Load`] with the linker's messages; [`Error::Invalid`] when a name or PTX has a NUL
    /// inside; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuLinkCreate")]
    #[doc(alias = "cuLinkAddData")]
    #[doc(alias = "cuLinkComplete")]
    #[track_caller]
    pub fn link(&self, pieces: &[LinkPiece<'_>], config: &LinkConfig) -> Result<LinkedBinary> {
        let mut names = Vec::with_capacity(pieces.len());
        let mut texts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            names.push(without_nul("name", piece.name.as_bytes())?);
            texts.push(match piece.kind {
                // The linker reads PTX up to a NUL.
                PieceKind::Ptx => Some(without_nul("ptx", piece.data)?),
                _ => None,
            });
        }
        let driver = self.core.enter()?;
        let site = self.core.site();
        // Before the state: it is there longer.
        let mut options = Options::new(config);
        let refused = |call, logs: &jit::Logs| self.refused(Cause::new(call, site), logs);
        let _relaxed = RelaxedCapture::uncounted(driver);
        // SAFETY: the context is current, and `options` is declared before the state.
        let state = unsafe { State::new(driver, &mut options) };
        let mut state = state.map_err(|call| refused(call, &options.logs))?;
        let link = || {
            for ((piece, name), text) in pieces.iter().zip(&names).zip(&texts) {
                let text = text.as_ref().map(CString::as_bytes_with_nul);
                state.add(piece.kind, name, text.unwrap_or(piece.data))?;
            }
            state.complete()
        };
        let linked = link();
        let ended = state.end();
        if ended.is_err() {
            self.core.ledger().add(Kind::Abandoned, 1);
        }
        let image = linked.map_err(|call| refused(call, &options.logs))?;
        self.core.check(ended)?;
        Ok(LinkedBinary {
            image,
            log: options.logs.remarks(),
        })
    }
}

/// The text with a NUL at its end and none inside.
fn without_nul(field: &'static str, text: &[u8]) -> Result<CString> {
    let end = text.iter().rposition(|&byte| byte != 0);
    let text = &text[..end.map_or(0, |last| last + 1)];
    CString::new(text)
        .map_err(|nul| Error::invalid(field, format!("a NUL at byte {}", nul.nul_position())))
}
