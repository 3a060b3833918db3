//! `Places`: where a compiler will be looked for, and which files tell that it is the one that an earlier
//! process found there. All of it without loading one.

use std::path::{Path, PathBuf};

use cupola_managers::backend::BackendKind;
use cupola_managers::device::Architecture;
use cupola_sys::Version;
use cupola_sys::nvrtc::Nvrtc;

use super::clang::{self, ClangCompiler};
use super::{CompileError, Compiler, CompilerVersion, Target, TargetArchitecture, nvrtc, ptx};

/// What the loader has resolved bare names to: where it changes, so may the libraries of a program.
const LOADER_CACHE: &str = "/etc/ld.so.cache";

/// The files that a search for a compiler tries, in order, up to the first that it leaves to the system.
#[derive(Debug)]
pub(crate) struct Places {
    kind: BackendKind,
    files: Vec<PathBuf>,
}

/// The files of a compiler, by which a later process may know it.
#[derive(Debug)]
pub(crate) struct Evidence<'p> {
    /// Those that were not there: else the search had not come to it.
    pub(crate) absent: &'p [PathBuf],
    /// Those that it is of, and those that decide which these are.
    pub(crate) present: Vec<PathBuf>,
}

impl Places {
    /// Where [`Compiler::for_backend`] looks, as the environment is now.
    pub(crate) fn of(kind: BackendKind) -> Self {
        let candidates = match kind {
            BackendKind::Real => Nvrtc::candidates(),
            // Then its libraries may lie in folders of which nothing is known.
            BackendKind::Software if clang::loads_from_elsewhere() => Vec::new(),
            BackendKind::Software => clang::candidates(),
        };
        // What a bare name leads to, only the system's loader knows; a relative one depends on the folder.
        let files = candidates
            .into_iter()
            .take_while(|file| file.is_absolute())
            .collect();
        Self { kind, files }
    }

    /// Which compiler is looked for.
    pub(crate) fn kind(&self) -> BackendKind {
        self.kind
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The evidence of a compiler that was found in one of these places; `None` where its files do not
    /// tell it.
    pub(crate) fn evidence(&self, compiler: &Compiler) -> Option<Evidence<'_>> {
        let mut present = compiler.files();
        let found = match compiler {
            Compiler::Nvrtc(nvrtc) => {
                let library = nvrtc.library();
                // Built-in headers from elsewhere would not be among the files.
                library.builtins()?;
                // The process may have loaded what lay there before.
                if !present.iter().all(|file| is_mapped(file)) {
                    return None;
                }
                PathBuf::from(library.describe())
            }
            Compiler::Clang(clang) => {
                // A script may start any program.
                if !clang.is_told_by_its_files() {
                    return None;
                }
                let program = clang.program();
                present.push(LOADER_CACHE.into());
                // Where a program looks first for libraries of its own: one that appears there is loaded.
                let folders = program.canonicalize().ok()?;
                present.push(folders.parent()?.parent()?.join("lib"));
                program.to_owned()
            }
        };
        let at = self.files.iter().position(|file| *file == found)?;
        present.push(found);
        Some(Evidence {
            absent: &self.files[..at],
            present,
        })
    }
}

/// Whether the file that has this path now is one that this process has mapped: not one that has taken
/// the place of it. Only Linux tells.
fn is_mapped(file: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let Ok(file) = file.canonicalize() else {
        return false;
    };
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    let file = file.as_os_str().as_bytes();
    maps.split(|byte| *byte == b'\n').any(|line| {
        // A path is last; of a file that was replaced or removed it ends in " (deleted)".
        let path = line.iter().position(|byte| *byte == b'/');
        path.is_some_and(|at| &line[at..] == file)
    })
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
