//! `CachedCompiler`: a compiler that is asked for nothing that its cache has.

mod compiler;
mod identity;
mod lazy;
mod libraries;
mod linker;
mod note;
mod nvjitlink;
mod recompile;
mod request_bytes;
mod tool;

use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_managers::module::Module;
use cupola_managers::{Context, Error};
use cupola_sys::Version;
use cupola_sys::driver::CUresult;

use crate::cache::{
    Cache, CacheConfig, CacheError, CacheStats, CompileInputs, Digest, Entry, EntryKind, Failure,
    Fault, Fetched, Header, Key, Manifest, Recipe, RejectedTwice, Source,
};
use crate::compile::{
    Cancellation, CompileError, CompileOption, CompileRequest, Compiled, Compiler, CompilerVersion,
    Dependencies, ImageKind, PlaceState, Target,
};
use identity::Identity;
use lazy::{Lazy, LoadedTool};

pub use linker::{CachedLinker, LinkFailure};
pub use recompile::Recompiled;

/// A compiler, and what it made before: in memory, on disk, and in a shared folder
/// ([`CacheConfig`]). Threads share one.
///
/// ```no_run
/// use cupola_kernels::CachedCompiler;
/// use cupola_kernels::cache::CacheConfig;
/// use cupola_kernels::compile::{CompileRequest, Target};
/// use cupola_managers::backend::BackendKind;
///
/// let compiler = CachedCompiler::for_backend(BackendKind::Real, CacheConfig::default())?;
/// let source = "template<class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }";
/// let request = CompileRequest::new("scale.cu", source, Target::Cubin("sm_90a".parse()?))
///     .name_expression("scale<float>");
/// let fetched = compiler.compile(&request)?;
/// println!("{:?}: {} bytes", fetched.source, fetched.entry.payload.len());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CachedCompiler {
    compiler: Lazy<Compiler>,
    cache: Cache<CompileFailure>,
}

impl CachedCompiler {
    /// The [compiler of a kind of devices](Compiler::for_backend) with a cache: NVRTC for GPUs, clang for
    /// the software device.
    ///
    /// It is not loaded (NVRTC takes 30 to 110 ms for that, clang is started some times) if the private folder
    /// has a note of it: from the first process on that found it, until one of its files, or a place that is
    /// looked at before it, changes. A request that the cache has is then answered without a compiler; the
    /// first that it has not loads it. There is no note of a compiler that only the system's loader finds by
    /// its name (`CUPOLA_NVRTC_LIBRARY`, `CUDA_PATH` or a Python environment name its folder), of a clang
    /// that a script or a wrapper starts, and of files that changed within the last minute.
    ///
    /// # Errors
    /// Those of [`Compiler::for_backend`], which say how to get what is not there.
    pub fn for_backend(kind: BackendKind, config: CacheConfig) -> Result<Self, CompileError> {
        let cache = Cache::new(config.clone());
        match Lazy::find(&cache, kind)? {
            Lazy::Loaded(loaded) if !loaded.identity.is_known() => Ok(Self::over(loaded, config)),
            compiler => Ok(Self { compiler, cache }),
        }
    }

    /// A compiler with a cache. Where the files of the compiler cannot be read, so that another
    /// version of them would not be told from these, entries are kept in memory alone.
    #[must_use]
    pub fn new(compiler: Compiler, config: CacheConfig) -> Self {
        Self::over(LoadedTool::new(compiler), config)
    }

    fn over(loaded: LoadedTool<Compiler>, config: CacheConfig) -> Self {
        let config = match loaded.identity.is_known() {
            true => config,
            false => CacheConfig {
                folder: None,
                shared: None,
                ..config
            },
        };
        Self {
            compiler: Lazy::Loaded(loaded),
            cache: Cache::new(config),
        }
    }

    /// The compiler, which is loaded for it if it was not yet.
    ///
    /// # Errors
    /// Those of [`Compiler::for_backend`]; none of a compiler that was [given](Self::new).
    pub fn compiler(&self) -> Result<&Compiler, CompileError> {
        self.compiler.load().map(|loaded| &loaded.tool)
    }

    /// Which compiler it is, loaded or not.
    #[must_use]
    pub fn version(&self) -> CompilerVersion {
        self.compiler.version()
    }

    /// What to make for a device of this architecture under a driver for this CUDA, as
    /// [`Compiler::target_for`]; it loads no compiler.
    ///
    /// # Errors
    /// As [`Compiler::target_for`].
    pub fn target_for(
        &self,
        device: Architecture,
        driver: Version,
    ) -> Result<Target, CompileError> {
        self.compiler.target_for(device, driver)
    }

    /// The cache.
    #[must_use]
    pub fn cache(&self) -> &Cache<CompileFailure> {
        &self.cache
    }

    /// What the cache did so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.cache.stats()
    }

    /// The key of a request: of all that its result depends on, but for the files that it includes, which
    /// are in the manifest of the entry.
    #[must_use]
    pub fn key(&self, request: &CompileRequest) -> Key {
        key(self.compiler.identity(), request)
    }

    /// What the request asks for: from the cache, or compiled and kept.
    ///
    /// # Errors
    /// As [`compile_until`](Self::compile_until).
    pub fn compile(&self, request: &CompileRequest) -> Result<Fetched, CacheError<CompileFailure>> {
        self.compile_until(request, &Cancellation::new())
    }

    /// The same, until another thread cancels it. Threads that wait for this compile do not end with it: one
    /// of them compiles.
    ///
    /// A result is not kept whose files are not all known
    /// ([`Dependencies::is_complete`]), or changed during the compile.
    ///
    /// # Errors
    /// [`CacheError::Compile`] as [`Compiler::compile_until`]; [`CacheError::NotListed`] for a binary that
    /// the [policy](CacheConfig::policy) does not list.
    pub fn compile_until(
        &self,
        request: &CompileRequest,
        cancellation: &Cancellation,
    ) -> Result<Fetched, CacheError<CompileFailure>> {
        let identity = self.compiler.identity();
        let compile = || {
            let loaded = self.compiler.load().map_err(|error| {
                let manifest = Manifest::new();
                CompileFailure { error, manifest }
            })?;
            let compiler = &loaded.tool;
            let dependencies = Dependencies::scan(request);
            let mut manifest = manifest_of(&dependencies);
            if loaded.identity != *identity
                || !loaded.identity.is_known() && self.cache.folder().is_some()
            {
                // It was replaced since it was noted: the key is that of the other. Or nothing would tell it
                // from the next.
                manifest.note_unknown();
            }
            if request.options().iter().any(CompileOption::has_effects)
                || compiler.has_hidden_inputs(request)
            {
                // A hit would not have the effects, and not see that an input changed.
                manifest.note_unknown();
            }
            match compiler.compile_scanned(request, dependencies, cancellation) {
                Ok(compiled) => {
                    if !compiled.dependencies().is_complete() || !loaded.is_as_it_was() {
                        manifest.note_unknown();
                    }
                    let folder = current_folder_of(request);
                    let recipe = Recipe::of(identity.name.clone(), folder, request);
                    Ok(entry_of(compiled, manifest, recipe))
                }
                Err(error) => Err(CompileFailure { error, manifest }),
            }
        };
        self.cache.get_or_compile(&key(identity, request), compile)
    }

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

/// A compile that failed, with the files that it depended on.
#[derive(Clone, Debug)]
pub struct CompileFailure {
    /// Why.
    pub error: CompileError,
    /// The files: while they are as they were, the same compile fails again.
    pub manifest: Manifest,
}

impl fmt::Display for CompileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CompileFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Its text is this error's own.
        self.error.source()
    }
}

impl Failure for CompileFailure {
    fn fault(&self) -> Fault<'_> {
        match self.error {
            CompileError::Source { .. }
            | CompileError::Option { .. }
            | CompileError::Architecture { .. }
            | CompileError::Name { .. }
            | CompileError::NotInClang { .. }
            | CompileError::Nul { .. } => Fault::Inputs(&self.manifest),
            CompileError::Cancelled => Fault::GivenUp,
            _ => Fault::Machine,
        }
    }
}

/// The key of a request to this compiler.
fn key(identity: &Identity, request: &CompileRequest) -> Key {
    let target = request.target();
    let arguments = request.arguments();
    let arguments: Vec<_> = arguments.iter().map(|it| it.as_bytes()).collect();
    let headers = request.headers().iter().map(|header| Header {
        name: &header.name,
        text: header.text.as_bytes(),
    });
    let headers: Vec<_> = headers.collect();
    let expressions = request.name_expressions().iter();
    let expressions: Vec<_> = expressions.map(String::as_str).collect();
    let folder = current_folder_of(request);
    let inputs = CompileInputs {
        compiler: &identity.name,
        libraries: &identity.files,
        architecture: &target.architecture().to_string(),
        output: target.kind(),
        options: &arguments,
        name: &request.source().name,
        source: request.source().text.as_bytes(),
        headers: &headers,
        expressions: &expressions,
        // No variable is known that changes what NVRTC makes, and clang is given none.
        environment: &[],
        folder: folder.as_deref(),
    };
    inputs.key()
}

/// The places of a scan as the files of an entry, with what spares reading them at each hit.
fn manifest_of(dependencies: &Dependencies) -> Manifest {
    let mut manifest = Manifest::new();
    if !dependencies.is_complete() {
        manifest.note_unknown();
    }
    for place in dependencies.places() {
        let is_same = match (place.state, manifest.read(&place.path)) {
            (PlaceState::NoFile, Ok(None)) => true,
            (PlaceState::File { sha256 }, Ok(Some(text))) => {
                Digest::of(&text) == Digest::from_bytes(sha256)
            }
            // Something that cannot be read, or that changed since.
            _ => false,
        };
        if !is_same {
            manifest.note_unknown();
        }
    }
    manifest
}

fn entry_of(compiled: Compiled, manifest: Manifest, recipe: Option<Recipe>) -> Entry {
    Entry {
        kind: compiled.target().kind().into(),
        names: compiled.lowered_names().to_vec(),
        log: compiled.log().to_owned(),
        payload: compiled.into_image(),
        manifest,
        recipe,
    }
}

/// The folder that relative names start from, if the result of a request may depend on it.
fn current_folder_of(request: &CompileRequest) -> Option<PathBuf> {
    let texts = request.headers().iter().chain([request.source()]);
    // The compiler looks for what is included in the current folder too.
    let includes = texts.into_iter().any(|text| text.text.contains("include"));
    let names = request
        .options()
        .iter()
        .any(CompileOption::may_name_folders);
    let is_relative = includes || names;
    is_relative.then(|| std::env::current_dir().unwrap_or_default())
}
