//! `CacheConfig`: where entries are kept, and how many.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use super::policy::LoadPolicy;

/// The variable that names the private folder.
pub const FOLDER_VARIABLE: &str = "CUPOLA_CACHE_DIR";

/// How a [`Cache`](super::Cache) keeps entries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheConfig {
    /// The private folder; `None` keeps entries in memory alone. [`default_folder`] by default.
    pub folder: Option<PathBuf>,
    /// A folder below it that is only read.
    pub shared: Option<SharedLayer>,
    /// The most bytes in the private folder: 1 GiB by default. Each writer may pass it by the one
    /// entry that it is about to make room for.
    pub disk_limit: u64,
    /// The most bytes of entries in memory: 64 MiB by default.
    pub memory_limit: u64,
    /// How long to wait for another process that compiles the same: 30 s by default. Then this one
    /// compiles too.
    pub lock_timeout: Duration,
    /// Which binaries may be loaded.
    pub policy: LoadPolicy,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            folder: default_folder(),
            shared: None,
            disk_limit: 1 << 30,
            memory_limit: 64 << 20,
            lock_timeout: Duration::from_secs(30),
            policy: LoadPolicy::Any,
        }
    }
}

/// A folder of entries that others made, such as one of an image or of a cluster. It is read and
/// never written; its files are those of a private folder.
#[derive(Clone, Debug)]
pub struct SharedLayer {
    /// Where it is.
    pub folder: PathBuf,
    /// The user who may own the folder and its files besides root and this process's own.
    pub owner: Option<u32>,
}

/// The private folder of this user: `CUPOLA_CACHE_DIR`, or `cupola/kernels` in `XDG_CACHE_HOME` or
/// `~/.cache`. `None` where none of these is set. A relative path is no answer, as
/// <https://specifications.freedesktop.org/basedir-spec/latest/> has it.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    folder(FOLDER_VARIABLE).or_else(|| {
        let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        Some(base?.join("cupola/kernels"))
    })
}
