//! `CachedCompiler`: a compiler that is asked for nothing that its cache has.

mod compiler;
mod failure;
mod identity;
mod lazy;
mod libraries;
mod linker;
mod loading;
mod note;
mod nvjitlink;
mod recompile;
mod request_bytes;
mod tool;

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_sys::Version;

use crate::cache::{
    Cache, CacheConfig, CacheError, CacheStats, CompileInputs, Digest, Entry, Fetched, Header, Key,
    Manifest, Recipe,
};
use crate::compile::{
    Cancellation, CompileError, CompileOption, CompileRequest, Compiled, Compiler, CompilerVersion,
    Dependencies, PlaceState, Target,
};
use identity::Identity;
use lazy::{Lazy, LoadedTool};

pub use failure::{CompileFailure, Failed, LinkFailure};
pub use linker::CachedLinker;
pub use loading::{LoadError, Loaded};
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
        let make = || self.make(identity, request, cancellation);
        self.cache.get_or_compile(&key(identity, request), make)
    }

    /// What the compiler makes of a request whose key is of this identity.
    fn make(
        &self,
        identity: &Identity,
        request: &CompileRequest,
        cancellation: &Cancellation,
    ) -> Result<Entry, CompileFailure> {
        let loaded = self.compiler.load().map_err(CompileFailure::new)?;
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
