//! [`Workspace`]: the private folder of one compile.

use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

/// A folder that this user alone may look into, removed with all that is in it when this is dropped.
/// A process that is killed leaves it in the system's folder for temporaries.
#[derive(Debug)]
pub(super) struct Workspace {
    folder: PathBuf,
}

impl Workspace {
    /// A new folder.
    pub(super) fn create() -> io::Result<Self> {
        let base = std::path::absolute(std::env::temp_dir())?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        loop {
            let random = RandomState::new().hash_one(std::process::id());
            let folder = base.join(format!("cupola-clang-{random:016x}"));
            match builder.create(&folder) {
                Ok(()) => return Ok(Self { folder }),
                // Of another process: a folder that exists is never taken.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a new file, with the folders that lead to it.
    pub(super) fn write(&self, name: &Path, text: &str) -> io::Result<PathBuf> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        File::create_new(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "the folder of a compile stays");
        }
    }
}

/// How many folders deep a name is in the one that it is joined to; none for a name that leads out of
/// that, or to no file.
pub(super) fn depth(name: &str) -> Option<usize> {
    let mut parts = Path::new(name).components();
    let is_plain = parts
        .clone()
        .all(|part| matches!(part, Component::Normal(_)));
    parts.next_back().filter(|_| is_plain)?;
    // That of the file in its folder, which is one.
    Some(parts.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a compile could leave files behind, or another user read its source.
    #[test]
    fn the_folder_is_private_and_goes() {
        let workspace = Workspace::create().unwrap();
        let folder = workspace.folder().to_owned();
        let file = workspace.write(Path::new("a/b.h"), "text").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "text");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = folder.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert!(workspace.write(Path::new("a/b.h"), "other").is_err());
        drop(workspace);
        assert!(!folder.exists());
    }

    // Without it the name of a header could lead out of the folder.
    #[test]
    fn names_stay_within_the_folder() {
        assert_eq!(depth("a.h"), Some(1));
        assert_eq!(depth("a/b/c.h"), Some(3));
        for name in ["", "/a.h", "../a.h", "a/../../b.h", "."] {
            assert_eq!(depth(name), None, "{name}");
        }
    }
}
