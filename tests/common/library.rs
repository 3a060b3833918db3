//! The software device's shared library, under the names that programs look for.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The library that cargo built beside this test program.
pub(crate) fn path() -> PathBuf {
    let program = std::env::current_exe().expect("this program's path");
    let folder = program.parent().expect("its folder");
    let library = folder.join("libcupola_libcuda.so");
    assert!(library.is_file(), "{} is not built", library.display());
    library
}

/// A folder with links to the library, for `LD_LIBRARY_PATH`.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for name in ["libcuda.so.1", "libcuda.so"] {
        std::os::unix::fs::symlink(path(), folder.path().join(name)).expect("a link");
    }
    folder
}

/// A program that finds the library, and nothing of the caller's settings.
pub(crate) fn command(program: impl AsRef<Path>, folder: &TempDir) -> Command {
    let mut command = Command::new(program.as_ref());
    for (name, _) in cupola_sim::settings::VARIABLES {
        command.env_remove(name);
    }
    command.env("LD_LIBRARY_PATH", folder.path());
    command
}
