//! `LazyCompiler`: a compiler that is loaded when it has something to compile.

use std::sync::OnceLock;

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_sys::Version;

use super::identity::{Identity, Note};
use crate::cache::Stamp;
use crate::compile::{CompileError, Compiler, CompilerVersion, Target};

/// A compiler, or what an earlier process noted of it.
#[derive(Debug)]
pub(super) enum LazyCompiler {
    /// It was loaded.
    Loaded(LoadedCompiler),
    /// It is loaded when it is needed.
    Noted {
        kind: BackendKind,
        note: Note,
        loaded: OnceLock<LoadedCompiler>,
    },
}

/// A compiler and what it is.
#[derive(Debug)]
pub(super) struct LoadedCompiler {
    pub(super) compiler: Compiler,
    pub(super) identity: Identity,
    /// Of its files, from before the identity was made.
    stamps: Vec<Option<Stamp>>,
}

impl LoadedCompiler {
    pub(super) fn new(compiler: Compiler) -> Self {
        let stamps = stamps(&compiler);
        Self {
            identity: Identity::of(&compiler),
            compiler,
            stamps,
        }
    }

    /// Whether what compiles now is what has this identity. A library stays what was loaded; a program is
    /// read again each time that it is started, and may have been replaced.
    pub(super) fn is_as_it_was(&self) -> bool {
        match self.compiler {
            Compiler::Nvrtc(_) => true,
            Compiler::Clang(_) => stamps(&self.compiler) == self.stamps,
        }
    }
}

fn stamps(compiler: &Compiler) -> Vec<Option<Stamp>> {
    let files = compiler.files();
    files.iter().map(|file| Stamp::at(file).ok()).collect()
}

impl LazyCompiler {
    /// The compiler of this kind, of which this was noted.
    pub(super) fn noted(kind: BackendKind, note: Note) -> Self {
        let loaded = OnceLock::new();
        Self::Noted { kind, note, loaded }
    }

    /// The compiler, if it is loaded.
    fn loaded(&self) -> Result<&LoadedCompiler, &Note> {
        match self {
            Self::Loaded(loaded) => Ok(loaded),
            Self::Noted { note, loaded, .. } => loaded.get().ok_or(note),
        }
    }

    /// The compiler, which is loaded now if it was not yet.
    ///
    /// # Errors
    /// Those of [`Compiler::for_backend`].
    pub(super) fn load(&self) -> Result<&LoadedCompiler, CompileError> {
        match self {
            Self::Loaded(loaded) => Ok(loaded),
            Self::Noted { kind, loaded, .. } => match loaded.get() {
                Some(loaded) => Ok(loaded),
                None => {
                    // Two threads may load the same: the one that comes first stays.
                    let compiler = LoadedCompiler::new(Compiler::for_backend(*kind)?);
                    Ok(loaded.get_or_init(|| compiler))
                }
            },
        }
    }

    /// Which compiler it is: as noted, until it is loaded.
    pub(super) fn identity(&self) -> &Identity {
        match self.loaded() {
            Ok(loaded) => &loaded.identity,
            Err(note) => &note.identity,
        }
    }

    /// Its version.
    pub(super) fn version(&self) -> CompilerVersion {
        match self.loaded() {
            Ok(loaded) => loaded.compiler.version(),
            Err(note) => note.description.version,
        }
    }

    /// As [`Compiler::target_for`].
    pub(super) fn target_for(
        &self,
        device: Architecture,
        driver: Version,
    ) -> Result<Target, CompileError> {
        match self.loaded() {
            Ok(loaded) => loaded.compiler.target_for(device, driver),
            Err(note) => note.description.target_for(device, driver),
        }
    }
}
