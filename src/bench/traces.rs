//! The allocation traces that suites replay, by name.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::trace::{EMBED13, Trace, TraceError};

/// A trace that cannot be read, and why.
pub(super) type Unread = (String, TraceError);

/// The bundled trace.
pub(super) fn bundled() -> Result<(String, Trace), Unread> {
    let name = "embed13".to_owned();
    match Trace::read(EMBED13) {
        Ok(trace) => Ok((name, trace)),
        Err(error) => Err((name, error)),
    }
}

/// The traces in these files, each called as its file is, up to the first dot.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<(String, Trace)>, Unread> {
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<(String, Trace), Unread> {
    let file = File::open(path).map_err(TraceError::from);
    let trace = file.and_then(Trace::read).and_then(Trace::not_empty);
    let trace = trace.map_err(|error| (path.display().to_string(), error))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let name = name.split('.').next().unwrap_or(&name).to_owned();
    Ok((name, trace))
}
