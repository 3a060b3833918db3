//! `Places`: where a compiler or a linker will be looked for, and which files tell that it is the one that an
//! earlier process found there. All of it without loading one.

use std::path::{Path, PathBuf};

/// The files that a search for a tool tries, in order, up to the first that it leaves to the system.
#[derive(Debug)]
pub(crate) struct Places {
    tool: &'static str,
    files: Vec<PathBuf>,
}

/// The files of a tool, by which a later process may know it.
#[derive(Debug)]
pub(crate) struct Evidence<'p> {
    /// Those that were not there: else the search had not come to it.
    pub(crate) absent: &'p [PathBuf],
    /// Those that it is of, and those that decide which these are.
    pub(crate) present: Vec<PathBuf>,
}

impl Places {
    /// The first of what a search for this tool tries.
    pub(crate) fn new(tool: &'static str, candidates: Vec<PathBuf>) -> Self {
        // What a bare name leads to, only the system's loader knows; a relative one depends on the folder.
        let files = candidates
            .into_iter()
            .take_while(|file| file.is_absolute())
            .collect();
        Self { tool, files }
    }

    /// What is looked for.
    pub(crate) fn tool(&self) -> &'static str {
        self.tool
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The evidence of a tool that was found here and is of the files that are `present`; `None` where it
    /// was found elsewhere.
    pub(crate) fn evidence(
        &self,
        found: PathBuf,
        mut present: Vec<PathBuf>,
    ) -> Option<Evidence<'_>> {
        let at = self.files.iter().position(|file| *file == found)?;
        present.push(found);
        Some(Evidence {
            absent: &self.files[..at],
            present,
        })
    }

    /// The same of a library that this process has loaded: `None` also where other files have taken the
    /// places of those that it has loaded.
    pub(crate) fn evidence_of_library(
        &self,
        found: PathBuf,
        files: Vec<PathBuf>,
    ) -> Option<Evidence<'_>> {
        match files.iter().all(|file| is_mapped(file)) {
            true => self.evidence(found, files),
            false => None,
        }
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
