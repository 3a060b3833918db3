//! `Description`: what tells which compiler is there, without its being loaded.

use std::path::PathBuf;

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_sys::Version;
use cupola_sys::nvrtc::Nvrtc;

use super::clang::{self, ClangCompiler};
use super::{CompileError, Compiler, CompilerVersion, Target, TargetArchitecture, nvrtc, ptx};
use crate::places::{Evidence, Places};

/// What the loader has resolved bare names to: where it changes, so may the libraries of a program.
const LOADER_CACHE: &str = "/etc/ld.so.cache";

impl Compiler {
    /// Where [`for_backend`](Self::for_backend) looks, as the environment is now.
    pub(crate) fn places(kind: BackendKind) -> Places {
        match kind {
            BackendKind::Real => Places::new("NVRTC", Nvrtc::candidates()),
            // Then its libraries may lie in folders of which nothing is known.
            BackendKind::Software if clang::loads_from_elsewhere() => {
                Places::new("clang", Vec::new())
            }
            BackendKind::Software => Places::new("clang", clang::candidates()),
        }
    }

    /// The evidence of this compiler, which was found in one of these places; `None` where its files do not
    /// tell it.
    pub(crate) fn evidence<'p>(&self, places: &'p Places) -> Option<Evidence<'p>> {
        match self {
            Self::Nvrtc(nvrtc) => {
                let library = nvrtc.library();
                // Built-in headers from elsewhere would not be among the files.
                library.builtins()?;
                let found = PathBuf::from(library.describe());
                places.evidence_of_library(found, self.files())
            }
            Self::Clang(clang) => {
                // A script may start any program.
                if !clang.is_told_by_its_files() {
                    return None;
                }
                let mut present = self.files();
                let program = clang.program();
                present.push(LOADER_CACHE.into());
                // Where a program looks first for libraries of its own: one that appears there is loaded.
                let folders = program.canonicalize().ok()?;
                present.push(folders.parent()?.parent()?.join("lib"));
                places.evidence(program.to_owned(), present)
            }
        }
    }
}

/// What is told of a compiler: enough to name it in keys and to choose a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) version: CompilerVersion,
    /// The line with clang's version; of NVRTC nothing.
    pub(crate) banner: String,
    pub(crate) architectures: Vec<TargetArchitecture>,
}

impl Description {
    /// That of a compiler.
    ///
    /// # Errors
    /// It does not tell its architectures.
    pub(crate) fn of(compiler: &Compiler) -> Result<Self, CompileError> {
        Ok(Self {
            version: compiler.version(),
            banner: match compiler {
                Compiler::Nvrtc(_) => String::new(),
                Compiler::Clang(clang) => clang.banner().to_owned(),
            },
            architectures: compiler.architectures()?,
        })
    }

    /// As [`Compiler::identity`] of the compiler.
    pub(crate) fn identity(&self) -> String {
        match self.version {
            CompilerVersion::Nvrtc(version) => nvrtc::identity(version),
            CompilerVersion::Clang(_) => ClangCompiler::identity_of(&self.banner),
        }
    }

    /// As [`Compiler::target_for`] of the compiler.
    pub(crate) fn target_for(
        &self,
        device: Architecture,
        driver: Version,
    ) -> Result<Target, CompileError> {
        ptx::target_for(self.version, &self.architectures, device, driver)
    }
}
