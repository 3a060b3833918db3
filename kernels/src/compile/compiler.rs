//! [`Compiler`]: NVRTC or clang, behind one interface.

use std::path::{Path, PathBuf};

use cupola_managers::backend::BackendKind;
use cupola_sys::nvrtc::Nvrtc;

use super::{
    Cancellation, ClangCompiler, CompileError, CompileRequest, Compiled, CompilerVersion,
    Dependencies, NvrtcCompiler, TargetArchitecture, nvrtc,
};

/// A compiler of CUDA C++. Cheap to clone, and shared by threads.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// NVIDIA's, which makes everything for NVIDIA's GPUs.
    Nvrtc(NvrtcCompiler),
    /// LLVM's, which makes PTX, for the software device above all.
    Clang(ClangCompiler),
}

impl Compiler {
    /// The compiler for a kind of devices: NVRTC for GPUs, clang for the software device.
    ///
    /// # Errors
    /// Those of [`load`](Self::load) or of [`find_clang`](Self::find_clang). Neither stands in for
    /// the other.
    pub fn for_backend(kind: BackendKind) -> Result<Self, CompileError> {
        match kind {
            BackendKind::Real => Self::load(),
            BackendKind::Software => Self::find_clang(),
        }
    }

    /// Loads NVRTC from where [`Nvrtc::load`] looks.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] says what was tried and how to get it; [`CompileError::Call`] when
    /// it does not tell its version.
    pub fn load() -> Result<Self, CompileError> {
        NvrtcCompiler::load().map(Self::Nvrtc)
    }

    /// Loads the NVRTC at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(path: &Path) -> Result<Self, CompileError> {
        NvrtcCompiler::load_from(path).map(Self::Nvrtc)
    }

    /// The compiler of an NVRTC that is loaded (`nvrtcVersion`).
    ///
    /// # Errors
    /// [`CompileError::Call`] when it does not tell its version.
    pub fn over(nvrtc: Nvrtc) -> Result<Self, CompileError> {
        NvrtcCompiler::over(nvrtc).map(Self::Nvrtc)
    }

    /// The clang of this machine, as [`ClangCompiler::find`] looks for it.
    ///
    /// # Errors
    /// [`CompileError::ClangNotFound`] says what was tried and how to get it.
    pub fn find_clang() -> Result<Self, CompileError> {
        ClangCompiler::find().map(Self::Clang)
    }

    /// NVRTC, if it is that.
    #[must_use]
    pub fn nvrtc(&self) -> Option<&NvrtcCompiler> {
        match self {
            Self::Nvrtc(nvrtc) => Some(nvrtc),
            Self::Clang(_) => None,
        }
    }

    /// Which compiler it is.
    #[must_use]
    pub fn version(&self) -> CompilerVersion {
        match self {
            Self::Nvrtc(nvrtc) => CompilerVersion::Nvrtc(nvrtc.version()),
            Self::Clang(clang) => CompilerVersion::Clang(clang.version()),
        }
    }

    /// The architectures that it makes code for, without those of their features.
    ///
    /// # Errors
    /// As [`NvrtcCompiler::architectures`]; clang told them when it was found.
    pub fn architectures(&self) -> Result<Vec<TargetArchitecture>, CompileError> {
        match self {
            Self::Nvrtc(nvrtc) => nvrtc.architectures(),
            Self::Clang(clang) => Ok(clang.architectures()),
        }
    }

    /// Compiles on this thread.
    ///
    /// # Errors
    /// [`CompileError::Source`] with the messages about the source; [`CompileError::Option`],
    /// [`CompileError::Architecture`], [`CompileError::Name`], [`CompileError::Nul`] about the
    /// request. By NVRTC [`CompileError::Builtins`] about the installation, and
    /// [`CompileError::Unsupported`] when this version lacks a function that the request needs. By
    /// clang [`CompileError::NotInClang`] for what it has no equivalent of,
    /// [`CompileError::TimedOut`], and [`CompileError::Process`].
    #[doc(alias = "nvrtcCompileProgram")]
    pub fn compile(&self, request: &CompileRequest) -> Result<Compiled, CompileError> {
        self.compile_until(request, &Cancellation::new())
    }

    /// Compiles on this thread, until another one cancels it.
    ///
    /// # Errors
    /// [`CompileError::Cancelled`]; those of [`compile`](Self::compile).
    pub fn compile_until(
        &self,
        request: &CompileRequest,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        if cancellation.is_cancelled() {
            return Err(CompileError::Cancelled);
        }
        // Before the compile: a file that changes during it is then not as it was here.
        let dependencies = Dependencies::scan(request);
        self.compile_scanned(request, dependencies, cancellation)
    }

    /// The same, of a request whose files were looked for just now.
    pub(crate) fn compile_scanned(
        &self,
        request: &CompileRequest,
        dependencies: Dependencies,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        match self {
            Self::Nvrtc(nvrtc) => nvrtc.compile_scanned(request, dependencies, cancellation),
            Self::Clang(clang) => clang.compile_scanned(request, dependencies, cancellation),
        }
    }

    /// Names the compiler for a key of kept results, together with [`files`](Self::files).
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "the cache asks, which is for Unix")
    )]
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Nvrtc(compiler) => nvrtc::identity(compiler.version()),
            Self::Clang(clang) => clang.identity(),
        }
    }

    /// The files that the compiler is made of; none where they are not known.
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "the cache asks, which is for Unix")
    )]
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Nvrtc(nvrtc) => {
                let library = nvrtc.library();
                let files = [library.path(), library.builtins()];
                files.into_iter().flatten().collect()
            }
            Self::Clang(clang) => clang.files().to_vec(),
        }
    }

    /// Whether the request has the compiler take something that neither the request nor its
    /// [`Dependencies`] tell of.
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "the cache asks, which is for Unix")
    )]
    pub(crate) fn has_hidden_inputs(&self, request: &CompileRequest) -> bool {
        match self {
            Self::Nvrtc(_) => false,
            Self::Clang(_) => ClangCompiler::has_hidden_inputs(request),
        }
    }
}

impl From<NvrtcCompiler> for Compiler {
    fn from(nvrtc: NvrtcCompiler) -> Self {
        Self::Nvrtc(nvrtc)
    }
}

impl From<ClangCompiler> for Compiler {
    fn from(clang: ClangCompiler) -> Self {
        Self::Clang(clang)
    }
}
