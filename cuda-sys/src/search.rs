//! Where an optional library may be: one description for all of them, as data.
//!
//! A name without a folder goes to the system's dynamic loader. Folders from the
//! environment must be absolute: nothing is ever looked for in the current directory,
//! where another user may have put it.

use core::ffi::{CStr, c_void};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Symbol;
use crate::driver::ProcAddress;
use crate::dynamic::{Attempt, Library, LoadError, first};

/// The folder that `cargo xtask cuda` fills, laid out like a `site-packages`.
const WHEELS: &str = "CUPOLA_WHEELS";

/// Below a toolkit's root.
const TOOLKIT: &[&str] = if cfg!(windows) {
    &["bin/x64", "bin"]
} else {
    &["lib64", "lib"]
};

/// Below a conda environment's root.
const CONDA: &[&str] = if cfg!(windows) {
    &["Library/bin/x64", "Library/bin"]
} else {
    &["lib"]
};

/// A variable of the environment that says something.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// One library.
pub(crate) struct Search {
    /// What people call it.
    pub(crate) library: &'static str,
    /// The environment variable that names the file; nothing else is tried then.
    pub(crate) variable: &'static str,
    /// The folders below a `site-packages` where its wheels put it.
    pub(crate) wheels: &'static [&'static str],
    /// Whether a CUDA toolkit brings it.
    pub(crate) in_toolkit: bool,
    /// File names, newest first; the system's loader is asked for them last.
    pub(crate) names: &'static [&'static str],
    /// A function that every version exports.
    pub(crate) anchor: &'static CStr,
}

impl Search {
    /// The first of the places that has the library.
    pub(crate) fn open(&self) -> Result<Exports, LoadError> {
        if let Some(path) = variable(self.variable) {
            return self.open_at(Path::new(&path));
        }
        let (places, ruled_out) = self.places(&variable);
        first(self.library, places, ruled_out, |library| {
            self.check(library)
        })
    }

    /// Every file or bare name that [`open`](Self::open) would try, in order.
    pub(crate) fn candidates(&self) -> Vec<PathBuf> {
        match variable(self.variable) {
            Some(path) => vec![path.into()],
            None => self.places(&variable).0,
        }
    }

    /// The library at `path`.
    pub(crate) fn open_at(&self, path: &Path) -> Result<Exports, LoadError> {
        self.check(Library::open(path)?)
    }

    fn check(&self, library: Library) -> Result<Exports, LoadError> {
        Exports::new(library, self.anchor, self.library)
    }

    /// Every place to look in order, and those that the environment names in vain.
    fn places(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> (Vec<PathBuf>, Vec<Attempt>) {
        let mut places = Vec::new();
        let mut ruled_out = Vec::new();
        for folder in self.folders(variable) {
            let reason = if !folder.is_absolute() {
                "not an absolute path"
            } else if !folder.is_dir() {
                "no such folder"
            } else {
                places.extend(self.names.iter().map(|name| folder.join(name)));
                continue;
            };
            ruled_out.push(Attempt {
                path: folder,
                reason: reason.into(),
            });
        }
        places.extend(self.names.iter().map(PathBuf::from));
        (places, ruled_out)
    }

    /// The folders that the environment points to, the most deliberate first.
    fn folders(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
        let root = |name| variable(name).map(PathBuf::from);
        let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(root);
        let packages = root(WHEELS)
            .into_iter()
            .chain(environments.flat_map(|root| site_packages(&root)));
        let mut folders: Vec<PathBuf> = packages
            .flat_map(|packages| self.wheels.iter().map(move |folder| packages.join(folder)))
            .collect();
        if self.in_toolkit {
            for (name, below) in [
                ("CONDA_PREFIX", CONDA),
                ("CUDA_PATH", TOOLKIT),
                ("CUDA_HOME", TOOLKIT),
            ] {
                folders.extend(
                    root(name)
                        .into_iter()
                        .flat_map(|root| below.iter().map(move |folder| root.join(folder))),
                );
            }
        }
        folders
    }
}

/// The functions of a library, by their exported names.
pub(crate) struct Exports {
    library: Library,
    /// A function that every version of the library exports.
    anchor: &'static CStr,
}

impl Exports {
    /// Takes the library if it exports `anchor`.
    pub(crate) fn new(
        library: Library,
        anchor: &'static CStr,
        wanted: &'static str,
    ) -> Result<Self, LoadError> {
        if library.symbol(anchor).is_none() {
            return Err(library.lacks(anchor.to_str().unwrap_or("?"), wanted));
        }
        Ok(Self { library, anchor })
    }
}

// SAFETY: these libraries never change the type of an exported name, and the library is
// never unloaded.
unsafe impl ProcAddress for Exports {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        self.library
            .symbol(symbol.name)
            .unwrap_or(core::ptr::null())
    }

    fn describe(&self) -> String {
        self.library.describe()
    }

    fn file(&self) -> Option<PathBuf> {
        self.library.file(self.anchor)
    }
}

/// The package folders of a Python environment, the newest Python's first.
fn site_packages(root: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![root.join("Lib/site-packages")];
    }
    let mut pythons: Vec<(u32, PathBuf)> = std::fs::read_dir(root.join("lib"))
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let minor = entry
                .file_name()
                .to_str()?
                .strip_prefix("python3.")?
                .parse()
                .ok()?;
            Some((minor, entry.path().join("site-packages")))
        })
        .collect();
    pythons.sort_by_key(|(minor, _)| core::cmp::Reverse(*minor));
    pythons.into_iter().map(|(_, path)| path).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const SEARCH: Search = Search {
        library: "a library",
        variable: "UNUSED",
        wheels: &["nvidia/cu13/lib", "nvidia/old/lib"],
        in_toolkit: true,
        names: &["liba.so.13", "liba.so.12"],
        anchor: c"a",
    };

    fn places(variables: &[(&str, &Path)]) -> (Vec<PathBuf>, Vec<Attempt>) {
        SEARCH.places(&|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, path)| path.into())
        })
    }

    /// Without it a toolkit could hide the wheels, or an old Python a new one.
    #[test]
    fn places_come_in_the_promised_order() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let mut expected = Vec::new();
        for name in [
            "wheels/nvidia/cu13/lib",
            "wheels/nvidia/old/lib",
            "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
            "venv/lib/python3.9/site-packages/nvidia/old/lib",
            "conda/lib/python3.11/site-packages/nvidia/cu13/lib",
            "conda/lib",
            "cuda-13/lib64",
            "cuda-12/lib64",
        ] {
            let folder = folder(name);
            expected.extend(SEARCH.names.iter().map(|name| folder.join(name)));
        }
        expected.extend(SEARCH.names.iter().map(PathBuf::from));
        let variables = [
            ("CUPOLA_WHEELS", "wheels"),
            ("VIRTUAL_ENV", "venv"),
            ("CONDA_PREFIX", "conda"),
            ("CUDA_PATH", "cuda-13"),
            ("CUDA_HOME", "cuda-12"),
        ]
        .map(|(name, path)| (name, root.path().join(path)));
        let variables = variables
            .each_ref()
            .map(|(name, path)| (*name, path.as_path()));
        let (found, ruled_out) = places(&variables);
        assert_eq!(found, expected);
        assert!(
            ruled_out
                .iter()
                .all(|attempt| attempt.reason == "no such folder")
        );
    }

    /// Without it a library planted in the current directory could be loaded.
    #[test]
    fn relative_folders_are_listed_but_not_searched() {
        let (found, ruled_out) = places(&[
            ("CUPOLA_WHEELS", Path::new(".")),
            ("CUDA_HOME", Path::new("src")),
        ]);
        assert_eq!(
            found,
            SEARCH.names.iter().map(PathBuf::from).collect::<Vec<_>>()
        );
        assert_eq!(ruled_out.len(), 4);
        assert!(
            ruled_out
                .iter()
                .all(|attempt| attempt.reason == "not an absolute path")
        );
    }
}
