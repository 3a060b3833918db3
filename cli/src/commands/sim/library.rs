//! Where the software device's library is.

use std::env;
use std::path::{Path, PathBuf};

use super::cache;
use crate::commands::exit::{Exit, Failure};

/// Names the library, if it is not where the build puts it.
const VARIABLE: &str = "CUPOLA_SIM_LIBRARY";

#[cfg(target_os = "macos")]
const NAME: &str = "libcupola_libcuda.dylib";
#[cfg(not(target_os = "macos"))]
const NAME: &str = "libcupola_libcuda.so";

/// The library as it was built with this program: a program that is installed has nothing beside
/// it. None where the build has put it elsewhere.
static EMBEDDED: Option<&[u8]> = cupola_sim_embed::library!();

/// The library: the one that the environment names, else the one that was built with this
/// program, which cargo puts into `deps`, else one beside this program, else the one inside of
/// this program. That is kept in the user's cache, or else written to `folder`, which is private.
pub(super) fn find(folder: &Path) -> Result<PathBuf, Failure> {
    match (outside()?, EMBEDDED) {
        (Ok(found), _) => Ok(found),
        (Err(_), Some(library)) => {
            if let Some(kept) = cache::file(NAME, library, folder) {
                return Ok(kept);
            }
            let path = folder.join(NAME);
            std::fs::write(&path, library).map_err(|error| Failure::file(&path, error))?;
            Ok(path)
        }
        (Err(tried), None) => Err(Failure::new(
            Exit::File,
            format!(
                "the software device's library is not there (tried {tried}): build it with \
                 `cargo build --release --package cupola-libcuda`, or name it in {VARIABLE}"
            ),
        )),
    }
}

/// Where the library is, for people.
pub(super) fn describe() -> String {
    match outside() {
        Ok(Ok(path)) => path.display().to_string(),
        Ok(Err(_)) if EMBEDDED.is_some() => "inside of this program".into(),
        Ok(Err(_)) => "not built".into(),
        Err(failure) => failure.to_string(),
    }
}

/// The library in a file of its own, or where it was looked for.
fn outside() -> Result<Result<PathBuf, String>, Failure> {
    if let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let found = path.canonicalize();
        return found.map(Ok).map_err(|error| Failure::file(&path, error));
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
        return Ok(Ok(found.clone()));
    }
    let tried: Vec<_> = tried
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Ok(Err(tried.join(", ")))
}
