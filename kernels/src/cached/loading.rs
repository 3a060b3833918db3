//! What the cache gives, loaded into a context.

use cupola_managers::module::Module;
use cupola_managers::{Context, Error};
use cupola_sys::driver::CUresult;

use super::{CachedCompiler, CompileFailure};
use crate::cache::{CacheError, Entry, EntryKind, Fetched, RejectedTwice, Source};
use crate::compile::{CompileRequest, ImageKind};

impl CachedCompiler {
    /// What the request asks for, loaded into a context. An entry that the driver rejects is dropped and
    /// compiled once more.
    ///
    /// # Errors
    /// Those of [`compile`](Self::compile), and what the driver returned when it loaded the code:
    /// [`Error::Load`] has its log. [`LoadError::NotLoadable`] for a request of LTO-IR.
    ///
    /// # Safety
    /// What is kept under the keys of this compiler was compiled by one: no code puts other entries under these
    /// into its [`cache`](Self::cache) or its folders. The driver reads a binary as far as its headers say.
    #[track_caller]
    pub unsafe fn load(
        &self,
        context: &Context,
        request: &CompileRequest,
    ) -> Result<Loaded, LoadError> {
        let mut fetched = self.compile(request)?;
        // SAFETY: a compiler made the entry, by this function's condition.
        let first = match unsafe { load(context, &fetched.entry) } {
            Err(LoadError::Driver(error))
                if fetched.source != Source::Compiled && is_of_the_image(&error) =>
            {
                error
            }
            loaded => return loaded.map(|module| Loaded { module, fetched }),
        };
        tracing::debug!(error = %first, "a kernel's entry is not what this driver loads");
        self.cache.reject(&self.key(request), &fetched)?;
        fetched = self.compile(request)?;
        // No closure, which would not know this function's caller.
        // SAFETY: as above.
        let module = unsafe { load(context, &fetched.entry) }?;
        Ok(Loaded { module, fetched })
    }
}

/// Code that is loaded, and where it came from.
#[derive(Debug)]
pub struct Loaded {
    /// The module.
    pub module: Module,
    /// The entry, with the lowered names and the compiler's log.
    pub fetched: Fetched,
}

/// Why code was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is none.
    #[error(transparent)]
    Compile(#[from] CacheError<CompileFailure>),
    /// The driver rejected it, also what was compiled anew.
    #[error(transparent)]
    Rejected(#[from] RejectedTwice),
    /// The driver did not load it.
    #[error(transparent)]
    Driver(#[from] Error),
    /// It is not what a driver loads.
    #[error("{0} is no code that a driver loads; LTO-IR is linked first (`cupola_kernels::link`)")]
    NotLoadable(EntryKind),
}

/// # Safety
/// A compiler made the entry.
#[track_caller]
unsafe fn load(context: &Context, entry: &Entry) -> Result<Module, LoadError> {
    let modules = context.modules();
    match entry.kind {
        EntryKind::Image(ImageKind::Ptx) => {
            Ok(modules.load_ptx(&String::from_utf8_lossy(&entry.payload))?)
        }
        EntryKind::Image(ImageKind::Cubin | ImageKind::Fatbin) => {
            // SAFETY: it is whole, as the compiler made it, by this function's condition; of what was kept a
            // checksum tells.
            Ok(unsafe { modules.load_binary(&entry.payload) }?)
        }
        EntryKind::Image(ImageKind::LtoIr)
        | EntryKind::Tuning
        | EntryKind::Compiler
        | EntryKind::Linker => Err(LoadError::NotLoadable(entry.kind)),
    }
}

/// Whether an error says that the driver does not take the code.
fn is_of_the_image(error: &Error) -> bool {
    use CUresult as Code;
    matches!(
        error.status(),
        Some(
            Code::CUDA_ERROR_INVALID_IMAGE
                | Code::CUDA_ERROR_NO_BINARY_FOR_GPU
                | Code::CUDA_ERROR_INVALID_PTX
                | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                | Code::CUDA_ERROR_INVALID_SOURCE
        )
    )
}
