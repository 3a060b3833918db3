//! Where the software device's library is.

use std::env;
use std::path::{Path, PathBuf};

use crate::cli::exit::{Exit, Failure};

/// Names the library, if it is not where the build puts it.
const VARIABLE: &str = "CUPOLA_SIM_LIBRARY";

#[cfg(target_os = "macos")]
const NAME: &str = "libcupola_libcuda.dylib";
#[cfg(not(target_os = "macos"))]
const NAME: &str = "libcupola_libcuda.so";

/// The library: the one that the environment names, else the one that was built with this
/// program, which cargo puts into `deps`, else one beside this program.
pub(super) fn find() -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return path
            .canonicalize()
            .map_err(|error| Failure::file(&path, error));
    }
    let program = env::current_exe().and_then(|path| path.canonicalize());
    let folder = program
        .ok()
        .and_then(|path| path.parent().map(Path::to_path_buf));
    let tried: Vec<_> = folder
        .iter()
        .flat_map(|folder| [folder.join("deps").join(NAME), folder.join(NAME)])
        .collect();
    if let Some(found) = tried.iter().find(|path| path.is_file()) {
        return Ok(found.clone());
    }
    let tried: Vec<_> = tried
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(Failure::new(
        Exit::File,
        format!(
            "the software device's library is not there (tried {}): build it with \
             `cargo build --release --package cupola-libcuda`, or name it in {VARIABLE}",
            tried.join(", ")
        ),
    ))
}
